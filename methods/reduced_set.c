/* Least squares over the points of a kernel model, by variable projection and L-BFGS. */
#include "methods/reduced_set.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/cholesky.h"
#include "methods/lbfgs.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_POINTS = 2048,
    MAX_POINT_VALUES = 1 << 21, /* L-BFGS then takes 0.5 GB */
    MAX_VALUES = 1 << 24,       /* of dense rows, of their kernel values, and of their scores */
    MIN_ROWS = 4,               /* for each point, or all */
    MAX_STEPS = 100,
    PAIRS = 10, /* steps that L-BFGS remembers, at most LBFGS_MAX_PAIRS */
    PARTS = 8,  /* of the rows; their sums are added in order */
    HALVINGS = 30
};

/* Multiplications of a step: it then takes about a second. */
static const double STEP_WORK = 2e10;
/* On the squared coefficients: kernel values are at most 1, and their products are summed over the
 * rows in float. */
static const double MIN_RIDGE = 1e-3, RIDGE_PER_ROW = 8 * FLT_EPSILON;
/* The first step moves a value by at most this part of the kernel's width. */
static const double FIRST_STEP = 0.1;
/* A step must lower the objective by this part of its slope (Armijo). */
static const double SUFFICIENT_DECREASE = 1e-4;
/* A step and its change of the gradient are remembered if their cosine is above this. */
static const double MIN_COSINE = 1e-10;
/* The search ends when PAIRS steps have lowered the objective by less than this part. */
static const double MIN_DECREASE = 1e-3;

struct search {
    struct threads *threads;
    struct kernel_rows x, z; /* rows, points */
    size_t n, m, d, k;
    double ridge;
    const float *target; /* (n, k) */
    float *K, *M;        /* (n, m) kernel values; these times residuals times coefficients */
    float *R;            /* (n, k) residuals */
    float *G, *P;        /* (PARTS, m, m) K'K and (PARTS, m, k) K'target of parts of the rows */
    float *Q;            /* (PARTS, m, d) M'X */
    float *b;            /* (m, k) coefficients */
    double *A, *B;       /* (m, m), (m, k) normal equations */
    double value[PARTS];
    struct kernel_worker *worker;
};

size_t reduced_set_rows(const struct kernel *kernel, size_t n, size_t d, size_t m, size_t k) {
    double work = STEP_WORK / ((double)m * (double)(2 * d + m + 3 * k));
    double rows = fmin((double)n, fmin(work, (double)MAX_VALUES / (double)larger(k, larger(d, m))));
    bool applies = kernel->type == KERNEL_RBF && kernel->gamma > 0 && m <= MAX_POINTS && d > 0 &&
                   m * d <= MAX_POINT_VALUES;
    return applies && rows >= fmin((double)n, MIN_ROWS * (double)m) ? (size_t)rows : 0;
}

/* ---- the objective ---- */

static size_t part_start(const struct search *search, size_t part) {
    return search->n * part / PARTS;
}

/* Task: kernel values of a part of the rows, and its part of the normal equations. */
static void multiply_part(void *argument, size_t part, size_t worker) {
    struct search *search = argument;
    size_t first = part_start(search, part), n = part_start(search, part + 1) - first;
    size_t m = search->m, k = search->k;
    float *K = search->K + first * m;
    if (kernel_block_float(&search->x, first, n, &search->z, 0, m, K, m,
                           search->worker[worker].scratch, &search->worker[worker].error) < 0) {
        return;
    }
    cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, (int)m, (int)n, 1, K, (int)m, 0,
                search->G + part * m * m, (int)m);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)m, (int)k, (int)n, 1, K, (int)m,
                search->target + first * k, (int)k, 0, search->P + part * m * k, (int)k);
}

/* b = the best coefficients. -1 if rounding leaves no factor. */
static int solve_coefficients(struct search *search) {
    size_t m = search->m, k = search->k;
    for (size_t j = 0; j < m * m; j++) {
        search->A[j] = j % (m + 1) == 0 ? search->ridge : 0;
        for (size_t part = 0; part < PARTS; part++) {
            search->A[j] += (double)search->G[part * m * m + j];
        }
    }
    for (size_t j = 0; j < m * k; j++) {
        search->B[j] = 0;
        for (size_t part = 0; part < PARTS; part++) {
            search->B[j] += (double)search->P[part * m * k + j];
        }
    }
    if (cholesky_factor_blocks(search->A, m, search->threads) < 0) {
        return -1;
    }
    cholesky_solve_columns(search->A, m, search->B, k, search->threads);
    array_narrow(search->b, search->B, m * k);
    return 0;
}

/* Task: a part's residuals, their squares, and its part of the gradient. */
static void differentiate_part(void *argument, size_t part, size_t worker) {
    struct search *search = argument;
    size_t first = part_start(search, part), n = part_start(search, part + 1) - first;
    size_t m = search->m, k = search->k, d = search->d;
    float *K = search->K + first * m, *M = search->M + first * m, *R = search->R + first * k;
    double value = 0;
    (void)worker;
    memcpy(R, search->target + first * k, n * k * sizeof *R);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)k, (int)m, 1, K, (int)m,
                search->b, (int)k, -1, R, (int)k);
    for (size_t j = 0; j < n * k; j++) {
        value += 0.5 * (double)R[j] * (double)R[j];
    }
    search->value[part] = value;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)m, (int)k, 1, R, (int)k,
                search->b, (int)k, 0, M, (int)m);
    for (size_t j = 0; j < n * m; j++) {
        M[j] *= K[j];
    }
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)m, (int)d, (int)n, 1, M, (int)m,
                search->x.data->value + first * d, (int)d, 0, search->Q + part * m * d, (int)d);
}

/* *value and gradient (m, d) of the objective at the points `at` (m, d), which become those of the
 * search. *value is INFINITY if rounding leaves no coefficients. */
static int evaluate(struct search *search, const double *at, double *value, double *gradient,
                    struct error *err) {
    size_t size = search->m * search->d;
    float *z = search->z.data->value;
    const struct data *points = search->z.data;
    array_narrow(z, at, size);
    kernel_squares(points, search->z.norm);
    threads_run(search->threads, PARTS, multiply_part, search);
    if (kernel_workers_error(search->worker, threads_count(search->threads), err) < 0) {
        return -1;
    }
    *value = INFINITY;
    if (solve_coefficients(search) < 0) {
        return 0;
    }
    threads_run(search->threads, PARTS, differentiate_part, search);
    *value = 0.5 * search->ridge * array_dot(search->B, search->B, search->m * search->k);
    for (size_t part = 0; part < PARTS; part++) {
        *value += search->value[part];
    }
    /* 2 gamma sum_i M_ia (x_i - z_a), and K'R = -ridge b, since b is optimal */
    double slope = 2 * search->x.kernel->gamma;
    for (size_t j = 0; j < size; j++) {
        const double *b = search->B + j / search->d * search->k;
        double product = search->ridge * array_dot(b, b, search->k) * (double)z[j];
        for (size_t part = 0; part < PARTS; part++) {
            product += (double)search->Q[part * size + j];
        }
        gradient[j] = slope * product;
    }
    return 0;
}

/* ---- the search ---- */

/* Moves the points from `at`; the other arrays (size) are work. */
static int descend(struct search *search, struct lbfgs *lbfgs, double *at, double *next,
                   double *gradient, double *next_gradient, double *direction,
                   const struct monitor *monitor, struct error *err) {
    size_t size = lbfgs->size;
    double value, next_value, value_before = INFINITY; /* the last: PAIRS steps ago */
    if (evaluate(search, at, &value, gradient, err) < 0) {
        return -1;
    }
    for (size_t step = 0; step < MAX_STEPS && !monitor_past_deadline(monitor); step++) {
        if (step % PAIRS == 0) {
            if (!(value < (1 - MIN_DECREASE) * value_before)) {
                break;
            }
            value_before = value;
        }
        lbfgs_direction(lbfgs, gradient, direction);
        double slope = array_dot(gradient, direction, size), length = 1;
        if (!(slope < 0)) {
            break;
        }
        if (lbfgs->n == 0) {
            double width = 1 / sqrt(2 * search->x.kernel->gamma);
            length = FIRST_STEP * width / array_largest(gradient, size);
        }
        int halvings = 0;
        do {
            for (size_t j = 0; j < size; j++) {
                next[j] = at[j] + length * direction[j];
            }
            if (evaluate(search, next, &next_value, next_gradient, err) < 0) {
                return -1;
            }
            length /= 2;
        } while (!(next_value <= value + 2 * length * SUFFICIENT_DECREASE * slope) &&
                 ++halvings < HALVINGS);
        if (halvings == HALVINGS) {
            break;
        }
        lbfgs_store(lbfgs, at, next, gradient, next_gradient, MIN_COSINE);
        memcpy(at, next, size * sizeof *at);
        memcpy(gradient, next_gradient, size * sizeof *gradient);
        value = next_value;
    }
    return 0;
}

static int search_points(struct search *search, struct data *points, const struct monitor *monitor,
                         struct error *err) {
    size_t size = search->m * search->d;
    struct lbfgs lbfgs = {.size = size, .max = PAIRS};
    double *at, *next, *gradient, *next_gradient, *direction;
    void *block = ARRAYS_CREATE(
        "points", err, ARRAYS(size, double, &at, &next, &gradient, &next_gradient, &direction),
        ARRAYS(PAIRS * size, double, &lbfgs.step, &lbfgs.change));
    if (!block) {
        return -1;
    }
    for (size_t j = 0; j < size; j++) {
        at[j] = (double)points->value[j];
    }
    int status =
        descend(search, &lbfgs, at, next, gradient, next_gradient, direction, monitor, err);
    array_narrow(points->value, at, size);
    free(block);
    return status;
}

int reduced_set_move(struct data *points, const struct kernel_rows *x, const double *target,
                     size_t k, struct threads *threads, const struct monitor *monitor,
                     struct error *err) {
    size_t n = x->data->n_rows, m = points->n_rows, d = points->n_features;
    size_t workers = threads_count(threads);
    struct search search = {.threads = threads,
                            .x = *x,
                            .n = n,
                            .m = m,
                            .d = d,
                            .k = k,
                            .ridge = fmax(MIN_RIDGE, RIDGE_PER_ROW * (double)n)};
    float *scores = NULL;
    void *block = ARRAYS_CREATE(
        "points", err, ARRAYS(n * k, float, &scores, &search.R),
        ARRAYS(n * m, float, &search.K, &search.M), ARRAYS(PARTS * m * m, float, &search.G),
        ARRAYS(PARTS * m * k, float, &search.P), ARRAYS(PARTS * m * d, float, &search.Q),
        ARRAYS(m * k, float, &search.b), ARRAYS(m * m, double, &search.A),
        ARRAYS(m * k, double, &search.B));
    search.worker = kernel_workers_create(workers, 0, err);
    int status = block && search.worker ? 0 : -1;
    for (size_t j = 0; status == 0 && j < n * k; j++) {
        scores[j] = (float)target[j];
    }
    search.target = scores;
    status = status < 0 || kernel_rows_create(&search.z, x->kernel, points, err) < 0
                 ? -1
                 : search_points(&search, points, monitor, err);
    kernel_rows_free(&search.z);
    kernel_workers_free(search.worker, workers);
    free(block);
    return status;
}
