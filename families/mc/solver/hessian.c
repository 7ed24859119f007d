/* The sums of the Hessian, a batch of rows at a time, its projection, curvature for its null space,
 * and its factorisation. */
#include "families/mc/solver/hessian.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/base/threads.h"
#include "common/linear_algebra/cholesky.h"
#include "fit/work.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 256,           /* terms of a product */
    MAX_ROWS = 4096,       /* of a batch, */
    MAX_VALUES = 1 << 21,  /* and their values */
    BATCH_TERMS = 1 << 16, /* of a batch, and PAIR_TERMS more for each pair of classes */
    PAIR_TERMS = 4,
    MAX_TASKS = 256,
    MAX_ORDER = 2048, /* of a diagonal block of H */
    /* With so few weights one matrix of centred scores is cheap. It is also more accurate: where
     * curvatures of classes differ by 1e12, multipliers lose four digits of the step. */
    FEW_CENTRED = 128
};

/* Limit of the numbers of all diagonal blocks. */
static const double MAX_NUMBERS = 1 << 24;

/* ---- sizes ---- */

/* The number of diagonal blocks of H. */
static size_t count_blocks(const struct mc_shape *shape, double d) {
    bool one = shape->form->centred && (double)shape->k * d <= FEW_CENTRED;
    return mc_is_separable(shape) && !one ? shape->k : 1;
}

/* Whether the blocks are coupled by scores that are centred. */
static bool has_multipliers(const struct mc_shape *shape, size_t n_blocks) {
    return n_blocks > 1 && shape->form->centred;
}

size_t mc_hessian_max_features(const struct mc_shape *shape) {
    return mc_is_separable(shape) ? smaller(MAX_ORDER, (size_t)sqrt(MAX_NUMBERS / (double)shape->k))
                                  : MAX_ORDER / shape->k;
}

double mc_hessian_factor_work(const struct mc_shape *shape, double d) {
    size_t n_blocks = count_blocks(shape, d);
    double k = (double)shape->k, blocks = (double)n_blocks;
    double inversions = has_multipliers(shape, n_blocks) ? work_blas3(2 * k * d * d * d / 3) : 0;
    return blocks * work_cholesky(d * k / blocks) + inversions;
}

/* ---- creation ---- */

int mc_hessian_create(struct mc_hessian *hessian, const struct mc_task *task, size_t d,
                      struct error *err) {
    size_t k = task->shape.k, n_blocks = count_blocks(&task->shape, (double)d);
    size_t pairs = n_blocks > 1 ? k : k * (k + 1) / 2;
    size_t order = k * d / n_blocks, sums = has_multipliers(&task->shape, n_blocks) ? d * d : 0;
    size_t workers = threads_count(task->problem->threads),
           max_terms = PAIR_TERMS * pairs + BATCH_TERMS;
    size_t max_rows = larger(CHUNK, smaller(MAX_ROWS, MAX_VALUES / larger(d, 1)));
    *hessian = (struct mc_hessian){.task = task,
                                   .k = k,
                                   .n_pairs = pairs,
                                   .n_blocks = n_blocks,
                                   .max_rows = max_rows,
                                   .max_terms = max_terms};
    hessian->block =
        ARRAYS_CREATE("a system", err, ARRAYS(max_rows * d, double, &hessian->rows),
                      ARRAYS(max_terms, struct mc_hessian_term, &hessian->term, &hessian->by_pair),
                      ARRAYS(pairs + 1, size_t, &hessian->start),
                      ARRAYS(workers * order, double, &hessian->vector),
                      ARRAYS(sums, double, &hessian->sum, &hessian->inverse),
                      ARRAYS(workers * 2 * CHUNK * d, double, &hessian->work));
    hessian->H = memory_array(n_blocks * order, order * sizeof(double), "a system", err);
    return hessian->block && hessian->H ? 0 : -1;
}

void mc_hessian_free(struct mc_hessian *hessian) {
    free(hessian->block);
    free(hessian->H);
    *hessian = (struct mc_hessian){0};
}

/* ---- sums ---- */

/* Adds m terms, at most CHUNK, of a pair of classes to their block of H; work (2 CHUNK d). */
static void add_chunk(const struct mc_hessian *hessian, const struct mc_hessian_term *term,
                      size_t m, double *work) {
    size_t d = hessian->d, order = hessian->order;
    double *rows = work, *weighted = rows + CHUNK * d;
    double *block =
        hessian->H + term->high * d * order + (hessian->n_blocks > 1 ? 0 : term->low * d);
    bool square = term->high == term->low; /* a sum of positive terms, whose lower half is needed */
    for (size_t t = 0; t < m; t++) {
        const double *x = hessian->rows + term[t].row * d;
        double factor = square ? sqrt(term[t].weight) : term[t].weight;
        for (size_t f = 0; f < d; f++) {
            weighted[t * d + f] = factor * x[f];
        }
        if (!square) {
            memcpy(rows + t * d, x, d * sizeof *x);
        }
    }
    if (square) {
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)d, (int)m, 1, weighted, (int)d, 1,
                    block, (int)order);
    } else {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)d, (int)d, (int)m, 1, weighted,
                    (int)d, rows, (int)d, 1, block, (int)order);
    }
}

static void pairs_task(void *argument, size_t task, size_t worker) {
    const struct mc_hessian *hessian = argument;
    const size_t *start = hessian->start;
    size_t pairs = hessian->n_pairs, part = pairs / MAX_TASKS + 1;
    double *work = hessian->work + worker * (2 * CHUNK * hessian->d);
    for (size_t pair = task * part; pair < smaller((task + 1) * part, pairs); pair++) {
        for (size_t t = start[pair]; t < start[pair + 1]; t += CHUNK) {
            add_chunk(hessian, hessian->by_pair + t, smaller(CHUNK, start[pair + 1] - t), work);
        }
    }
}

static size_t pair_of(const struct mc_hessian *hessian, const struct mc_hessian_term *term) {
    return hessian->n_blocks > 1 ? term->high
                                 : (size_t)term->high * (term->high + (size_t)1) / 2 + term->low;
}

/* Adds the batch of rows. */
static void add_batch(struct mc_hessian *hessian) {
    size_t pairs = hessian->n_pairs, *start = hessian->start, total = 0;
    memset(start, 0, (pairs + 1) * sizeof *start);
    for (size_t t = 0; t < hessian->n_terms; t++) {
        start[pair_of(hessian, &hessian->term[t])]++;
    }
    for (size_t p = 0; p <= pairs; p++) {
        total += start[p];
        start[p] = total; /* the end, from which the terms are filled in */
    }
    for (size_t t = hessian->n_terms; t-- > 0;) {
        hessian->by_pair[--start[pair_of(hessian, &hessian->term[t])]] = hessian->term[t];
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
    hessian->order = hessian->k * d / hessian->n_blocks;
    memset(hessian->H, 0, hessian->n_blocks * hessian->order * hessian->order * sizeof *hessian->H);
    hessian->n_rows = hessian->n_terms = 0;
}

void mc_hessian_add(struct mc_hessian *hessian, const double *x, size_t y, const uint32_t *class,
                    size_t n, const double *theta, bool joint, double rest) {
    const struct mc_shape *shape = &hessian->task->shape;
    bool relative = shape->form->relative;
    size_t before = hessian->n_terms, most = joint ? n * (n + 1) / 2 + n + 1 : 2 * n + 1;
    double square = shape->margin * shape->margin, sum = rest, own = 0;
    if (hessian->n_rows == hessian->max_rows || hessian->max_terms - before < most) {
        add_batch(hessian);
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
    size_t order = hessian->order;
    add_batch(hessian);
    for (size_t c = 0; c < hessian->n_blocks; c++) {
        cluster_sum_lower(hessian->task->problem->cluster, hessian->H + c * order * order, order);
    }
    if (hessian->n_blocks == 1 && shape->form->centred) {
        centre(hessian->k, hessian->d, hessian->H);
    }
    if (hessian->n_blocks == 1 && (shape->form->centred || shape->form->relative)) {
        add_mean(hessian->k, hessian->d, hessian->H);
    }
    for (size_t j = 0; j < hessian->n_blocks * order; j++) {
        hessian->H[j * order + j % order] += 1;
    }
}

/* ---- the linear system ---- */

/* The argument of factor_task. */
struct factors {
    const struct mc_hessian *hessian;
    bool ridge;
};

/* Task: factors a block. Blocks that cannot be factored begin with 0. */
static void factor_task(void *argument, size_t task, size_t worker) {
    const struct factors *factors = argument;
    const struct mc_hessian *hessian = factors->hessian;
    size_t order = hessian->order;
    double *A = hessian->H + task * order * order;
    int status = factors->ridge ? cholesky_regularised(A, order, hessian->vector + worker * order)
                                : cholesky_factor(A, order);
    A[0] = status < 0 ? 0 : A[0];
}

/* Adds A_c^-1 of a factored block to the sum. */
static int add_inverse(struct mc_hessian *hessian, const double *L) {
    size_t numbers = hessian->d * hessian->d;
    memcpy(hessian->inverse, L, numbers * sizeof *L);
    if (cholesky_invert(hessian->inverse, hessian->d) < 0) {
        return -1;
    }
    array_add(hessian->sum, 1, hessian->inverse, numbers);
    return 0;
}

int mc_hessian_factor(struct mc_hessian *hessian, bool ridge) {
    size_t order = hessian->order, d = hessian->d;
    bool multipliers = has_multipliers(&hessian->task->shape, hessian->n_blocks);
    if (order == 0) {
        return 0; /* rows without features */
    }
    struct factors factors = {hessian, ridge};
    threads_run(hessian->task->problem->threads, hessian->n_blocks, factor_task, &factors);
    memset(hessian->sum, 0, (multipliers ? d * d : 0) * sizeof *hessian->sum);
    for (size_t c = 0; c < hessian->n_blocks; c++) {
        const double *L = hessian->H + c * order * order;
        if (L[0] == 0 || (multipliers && add_inverse(hessian, L) < 0)) {
            return -1;
        }
    }
    return multipliers ? cholesky_regularised(hessian->sum, d, hessian->vector) : 0;
}

/* Each class of x (k, d) becomes A_c^-1 x_c. */
static void solve_blocks(const struct mc_hessian *hessian, double *x) {
    size_t order = hessian->order;
    for (size_t c = 0; c < hessian->n_blocks; c++) {
        cholesky_solve(hessian->H + c * order * order, order, x + c * order);
    }
}

void mc_hessian_solve(struct mc_hessian *hessian, double *x) {
    size_t d = hessian->d;
    double *v = hessian->vector;
    solve_blocks(hessian, x);
    if (!has_multipliers(&hessian->task->shape, hessian->n_blocks)) {
        return;
    }
    for (int round = 0; round < 2; round++) { /* the second one corrects rounding */
        memset(v, 0, d * sizeof *v);
        for (size_t c = 0; c < hessian->k; c++) {
            array_add(v, 1, x + c * d, d);
        }
        cholesky_solve(hessian->sum, d, v);
        for (size_t c = 0; c < hessian->k; c++) {
            memcpy(hessian->inverse, v, d * sizeof *v);
            cholesky_solve(hessian->H + c * d * d, d, hessian->inverse);
            array_add(x + c * d, -1, hessian->inverse, d);
        }
    }
}
