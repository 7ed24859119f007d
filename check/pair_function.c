/* Norms and margins of functions of pairs, by one row of K S at a time. */
#include "check/pair_function.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- the matrix ---- */

struct matrix_work {
    struct pair_kernel *kernel;
    double *x; /* (workers, width) */
};

static void evaluate_row(void *argument, size_t p, size_t worker) {
    const struct matrix_work *work = argument;
    const struct points *points = work->kernel->points;
    double *x = work->x + worker * points->width;
    points_load(points, p, x);
    for (size_t q = 0; q < points->n_all; q++) {
        struct ball value = points_kernel(points, p, x, q);
        work->kernel->K[p * points->n_all + q] = ball_scale(value, points->half_unit);
    }
}

int pair_kernel_create(struct pair_kernel *kernel, const struct points *points,
                       struct threads *threads, struct error *err) {
    size_t n = points->n_all, workers = threads_count(threads);
    *kernel = (struct pair_kernel){.points = points, .threads = threads};
    kernel->K = memory_array(n, n * sizeof *kernel->K, "the kernel matrix", err);
    struct matrix_work work = {.kernel = kernel};
    work.x = memory_array(workers, points->width * sizeof *work.x, "rows", err);
    int status = kernel->K && work.x ? 0 : -1;
    if (status == 0) {
        threads_run(threads, n, evaluate_row, &work);
    }
    free(work.x);
    return status;
}

void pair_kernel_free(struct pair_kernel *kernel) {
    free(kernel->K);
    *kernel = (struct pair_kernel){0};
}

/* ---- pairs ---- */

static int compare_pairs(const void *a, const void *b) {
    const struct point_pair *x = a, *y = b;
    return x->p != y->p ? (x->p > y->p) - (x->p < y->p) : (x->q > y->q) - (x->q < y->q);
}

/* Merges the pairs: each once, with p < q, and equal points as one. Returns how many are left. */
static size_t merge(const struct points *points, struct point_pair *pair, size_t n) {
    size_t n_left = 0;
    for (size_t i = 0; i < n; i++) {
        struct point_pair own = {points->first[pair[i].p], points->first[pair[i].q], pair[i].b};
        if (own.p > own.q) {
            own = (struct point_pair){own.q, own.p, ball_negative(own.b)};
        }
        pair[n_left] = own;
        n_left += own.p < own.q; /* the pair of a point with itself is 0 */
    }
    n = n_left;
    if (n > 0) {
        qsort(pair, n, sizeof *pair, compare_pairs);
    }
    n_left = 0;
    for (size_t i = 0; i < n; i++) {
        struct point_pair *last = n_left > 0 ? &pair[n_left - 1] : NULL;
        if (last && compare_pairs(last, &pair[i]) == 0) {
            last->b = ball_add(last->b, pair[i].b);
        } else {
            pair[n_left++] = pair[i];
        }
    }
    return n_left;
}

/* ---- margins ---- */

struct margins_work {
    const struct pair_kernel *kernel;
    const struct point_pair *pair;
    size_t n_pairs;
    const struct margin_visitor *visitor;
    struct ball_sum *sum; /* one row of K S */
    struct ball *row;     /* (workers, 2 n_all) the row, and the margins */
    struct ball *norm;    /* (n_all) contribution of each point to |f|^2 */
    /* (n_pairs, 2) contribution of each pair to the derivative at p and at q; NULL: not needed */
    struct ball *part;
};

/* The margin 2 (K S K) of p and q, from the row of K S of p. */
static struct ball margin(const struct margins_work *work, const struct ball *row, size_t q) {
    size_t n = work->kernel->points->n_all;
    const struct ball *K = work->kernel->K + q * n;
    struct ball_sum sum = {{0, 0}, 0, 0};
    for (size_t c = 0; c < n; c++) {
        ball_sum_product(&sum, row[c], K[c]);
    }
    return ball_multiply(ball_of(2), ball_sum_end(&sum));
}

static void multiply_left(const struct margins_work *work, const struct ball *K,
                          struct ball_sum *sum, struct ball *row) {
    size_t n = work->kernel->points->n_all;
    memset(sum, 0, n * sizeof *sum);
    for (size_t i = 0; i < work->n_pairs; i++) {
        struct point_pair pair = work->pair[i];
        ball_sum_product(&sum[pair.q], K[pair.p], pair.b);
        ball_sum_product(&sum[pair.p], K[pair.q], ball_negative(pair.b));
    }
    for (size_t c = 0; c < n; c++) {
        row[c] = ball_sum_end(&sum[c]);
    }
}

static void evaluate_margins(void *argument, size_t p, size_t worker) {
    struct margins_work *work = argument;
    const struct points *points = work->kernel->points;
    size_t n = points->n_all;
    struct ball *row = work->row + worker * 2 * n, *F = row + n;
    multiply_left(work, work->kernel->K + p * n, work->sum + worker * n, row);
    for (size_t i = 0; i < work->n_pairs; i++) {
        struct point_pair pair = work->pair[i];
        if (pair.p == p) {
            struct ball part = ball_multiply(pair.b, margin(work, row, pair.q));
            work->norm[p] = ball_add(work->norm[p], part);
        }
        if (work->part && pair.p == p) {
            work->part[2 * i + 1] = ball_multiply(pair.b, row[pair.q]);
        } else if (work->part && pair.q == p) {
            work->part[2 * i] = ball_negative(ball_multiply(pair.b, row[pair.p]));
        }
    }
    if (!work->visitor || p >= points->n) {
        return;
    }
    for (size_t q = 0; q < n; q++) {
        bool wanted = work->visitor->wants(work->visitor->context, p, q);
        F[q] = wanted ? margin(work, row, q) : ball_of(0);
    }
    work->visitor->visit(work->visitor->context, p, F);
}

int pair_function_evaluate(const struct pair_kernel *kernel, struct point_pair *pair,
                           size_t *n_pairs, const struct margin_visitor *visitor, struct ball *norm,
                           struct ball *slope, struct error *err) {
    size_t n = kernel->points->n_all, workers = threads_count(kernel->threads);
    struct margins_work work = {.kernel = kernel, .pair = pair, .visitor = visitor};
    *n_pairs = work.n_pairs = merge(kernel->points, pair, *n_pairs);
    void *block = ARRAYS_CREATE("margins", err, ARRAYS(workers * n, struct ball_sum, &work.sum),
                                ARRAYS(workers * 2 * n, struct ball, &work.row),
                                ARRAYS(n, struct ball, &work.norm),
                                ARRAYS(slope ? 2 * *n_pairs : 0, struct ball, &work.part));
    if (!block) {
        return -1;
    }
    work.part = slope ? work.part : NULL;
    threads_run(kernel->threads, n, evaluate_margins, &work);
    *norm = ball_of(0);
    for (size_t p = 0; p < n; p++) {
        *norm = ball_add(*norm, work.norm[p]);
    }
    for (size_t i = 0; slope && i < *n_pairs; i++) {
        slope[pair[i].p] = ball_add(slope[pair[i].p], work.part[2 * i]);
        slope[pair[i].q] = ball_add(slope[pair[i].q], work.part[2 * i + 1]);
    }
    free(block);
    return 0;
}

/* With K + E: <S, K S K> + 2 <S, K S E> + <S, E S E>. */
struct ball pair_function_increase(const struct pair_kernel *kernel, const struct point_pair *pair,
                                   size_t n_pairs, const struct ball *slope, const double *shift) {
    const struct points *points = kernel->points;
    struct ball sum = ball_of(0);
    for (size_t p = 0; p < points->n_all; p++) {
        struct ball own = ball_scale(ball_of(shift[p]), points->half_unit);
        sum = ball_add(sum, ball_multiply(own, slope[p]));
    }
    for (size_t i = 0; i < n_pairs; i++) {
        struct ball square = ball_multiply(pair[i].b, pair[i].b);
        struct ball both = ball_multiply(ball_of(shift[pair[i].p]), ball_of(shift[pair[i].q]));
        both = ball_scale(both, 2 * points->half_unit);
        sum = ball_add(sum, ball_multiply(square, both));
    }
    return ball_add(sum, sum);
}
