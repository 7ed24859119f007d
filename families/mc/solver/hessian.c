/* The sums of the Hessian, a block of rows at a time, its projection, and curvature for its null
 * space. */
#include "families/mc/solver/hessian.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/base/threads.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_ROWS = 256,
    BLOCK_TERMS = 1 << 16, /* of a block, and PAIR_TERMS more for each pair of classes */
    PAIR_TERMS = 4,
    MAX_TASKS = 256
};

/* ---- creation ---- */

int mc_hessian_create(struct mc_hessian *hessian, const struct mc_task *task, size_t d,
                      struct error *err) {
    size_t k = task->shape.k, pairs = k * (k + 1) / 2;
    size_t workers = threads_count(task->problem->threads),
           max_terms = PAIR_TERMS * pairs + BLOCK_TERMS;
    *hessian = (struct mc_hessian){.task = task, .k = k, .max_terms = max_terms};
    hessian->block =
        ARRAYS_CREATE("a system", err, ARRAYS(BLOCK_ROWS * d, double, &hessian->rows),
                      ARRAYS(max_terms, struct mc_hessian_term, &hessian->term, &hessian->order),
                      ARRAYS(pairs + 1, size_t, &hessian->start),
                      ARRAYS(workers * 2 * BLOCK_ROWS * d, double, &hessian->work));
    hessian->H = memory_array(k * d, k * d * sizeof(double), "a system", err);
    return hessian->block && hessian->H ? 0 : -1;
}

void mc_hessian_free(struct mc_hessian *hessian) {
    free(hessian->block);
    free(hessian->H);
    *hessian = (struct mc_hessian){0};
}

/* ---- sums ---- */

/* Adds m terms of a pair of classes to their block of H; work (2 BLOCK_ROWS d). */
static void add_pair(const struct mc_hessian *hessian, const struct mc_hessian_term *term, size_t m,
                     double *work) {
    size_t d = hessian->d, size = hessian->size;
    double *rows = work, *weighted = rows + BLOCK_ROWS * d;
    double *block = hessian->H + term->high * d * size + term->low * d;
    for (size_t t = 0; t < m; t++) {
        const double *x = hessian->rows + term[t].row * d;
        for (size_t f = 0; f < d; f++) {
            rows[t * d + f] = x[f];
            weighted[t * d + f] = term[t].weight * x[f];
        }
    }
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)d, (int)d, (int)m, 1, weighted,
                (int)d, rows, (int)d, 1, block, (int)size);
}

static void pairs_task(void *argument, size_t task, size_t worker) {
    const struct mc_hessian *hessian = argument;
    const size_t *start = hessian->start;
    size_t pairs = hessian->k * (hessian->k + 1) / 2, part = pairs / MAX_TASKS + 1;
    double *work = hessian->work + worker * (2 * BLOCK_ROWS * hessian->d);
    for (size_t pair = task * part; pair < smaller((task + 1) * part, pairs); pair++) {
        if (start[pair + 1] > start[pair]) {
            add_pair(hessian, hessian->order + start[pair], start[pair + 1] - start[pair], work);
        }
    }
}

static size_t pair_of(const struct mc_hessian_term *term) {
    return (size_t)term->high * (term->high + (size_t)1) / 2 + term->low;
}

/* Adds the block of rows. */
static void add_block(struct mc_hessian *hessian) {
    size_t pairs = hessian->k * (hessian->k + 1) / 2, *start = hessian->start, total = 0;
    memset(start, 0, (pairs + 1) * sizeof *start);
    for (size_t t = 0; t < hessian->n_terms; t++) {
        start[pair_of(&hessian->term[t])]++;
    }
    for (size_t p = 0; p <= pairs; p++) {
        total += start[p];
        start[p] = total; /* the end, from which the terms are filled in */
    }
    for (size_t t = hessian->n_terms; t-- > 0;) {
        hessian->order[--start[pair_of(&hessian->term[t])]] = hessian->term[t];
    }
    threads_run(hessian->task->problem->threads, smaller(pairs, MAX_TASKS), pairs_task, hessian);
    hessian->n_rows = hessian->n_terms = 0;
}

static void add_term(struct mc_hessian *hessian, size_t a, size_t b, double weight) {
    if (weight != 0) {
        hessian->term[hessian->n_terms++] = (struct mc_hessian_term){
            (uint32_t)larger(a, b), (uint32_t)smaller(a, b), (uint32_t)hessian->n_rows, weight};
    }
}

void mc_hessian_begin(struct mc_hessian *hessian, size_t d) {
    hessian->d = d;
    hessian->size = hessian->k * d;
    /* both halves, which cluster_sum reads */
    memset(hessian->H, 0, hessian->size * hessian->size * sizeof *hessian->H);
    hessian->n_rows = hessian->n_terms = 0;
}

void mc_hessian_add(struct mc_hessian *hessian, const double *x, size_t y, const uint32_t *class,
                    size_t n, const double *theta, bool joint, double rest) {
    const struct mc_shape *shape = &hessian->task->shape;
    bool relative = shape->form->relative;
    size_t before = hessian->n_terms, most = joint ? n * (n + 1) / 2 + n + 1 : 2 * n + 1;
    double square = shape->margin * shape->margin, sum = rest, own = 0;
    if (hessian->n_rows == BLOCK_ROWS || hessian->max_terms - before < most) {
        add_block(hessian);
        before = 0;
    }
    for (size_t p = 0; p < n; p++) {
        sum += theta[p];
    }
    if (sum == 0) {
        return; /* no curvature: theta / sum is not a number */
    }
    for (size_t p = 0; p < n; p++) {
        double others = rest; /* sum - theta[p], without cancellation */
        for (size_t q = 0; joint && q < n; q++) {
            others += q == p ? 0 : theta[q];
        }
        add_term(hessian, class[p], class[p],
                 square * (joint ? theta[p] / sum * others : theta[p]));
        for (size_t q = 0; joint && q < p; q++) {
            bool against = !relative && (class[p] == y) != (class[q] == y);
            add_term(hessian, class[p], class[q],
                     (against ? square : -square) * (theta[p] / sum * theta[q]));
        }
        double alone = square * (joint ? theta[p] / sum * rest : theta[p]);
        own += alone;
        if (relative) {
            add_term(hessian, class[p], y, -alone);
        }
    }
    if (relative) {
        add_term(hessian, y, y, own);
    }
    if (hessian->n_terms > before) {
        memcpy(hessian->rows + hessian->n_rows++ * hessian->d, x, hessian->d * sizeof *x);
    }
}

/* ---- the null space ---- */

/* Subtracts the mean from k numbers that are `step` apart. */
static void take_mean_off(double *number, size_t k, size_t step) {
    double sum = 0;
    for (size_t c = 0; c < k; c++) {
        sum += number[c * step];
    }
    for (size_t c = 0; c < k; c++) {
        number[c * step] -= sum / (double)k;
    }
}

static void centre(size_t k, size_t d, double *H) {
    size_t size = k * d;
    for (size_t i = 0; i < size; i++) {
        for (size_t j = i + 1; j < size; j++) {
            H[i * size + j] = H[j * size + i];
        }
    }
    for (size_t i = 0; i < size; i++) { /* H P */
        for (size_t f = 0; f < d; f++) {
            take_mean_off(H + i * size + f, k, d);
        }
    }
    for (size_t f = 0; f < d; f++) { /* P H P */
        for (size_t j = 0; j < size; j++) {
            take_mean_off(H + f * size + j, k, d * size);
        }
    }
}

static void add_mean(size_t k, size_t d, double *H) {
    size_t size = k * d;
    for (size_t f = 0; f < d; f++) {
        double mean = 0;
        for (size_t c = 0; c < k; c++) {
            mean += H[(c * d + f) * (size + 1)] / (double)k;
        }
        for (size_t a = 0; a < k; a++) {
            for (size_t b = 0; b <= a; b++) {
                H[(a * d + f) * size + b * d + f] += mean / (double)k;
            }
        }
    }
}

void mc_hessian_end(struct mc_hessian *hessian) {
    const struct mc_shape *shape = &hessian->task->shape;
    size_t size = hessian->size;
    add_block(hessian);
    cluster_sum(hessian->task->problem->cluster, hessian->H, size * size);
    if (shape->form->centred) {
        centre(hessian->k, hessian->d, hessian->H);
    }
    if (shape->form->centred || shape->form->relative) {
        add_mean(hessian->k, hessian->d, hessian->H);
    }
    for (size_t j = 0; j < size; j++) {
        hessian->H[j * size + j] += 1;
    }
}
