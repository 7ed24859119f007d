/* The features, pairs, scores and systems of the interior-point method of ml, and its runs
 * (interior_point.h). */
#include "families/ml/solver/interior_point.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/kernel/gram.h"
#include "common/linear_algebra/cholesky.h"
#include "fit/work.h"
#include "methods/interior_point.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_ROWS = 4096,     /* of a factored kernel matrix */
    MAX_PAIRS = 1 << 21, /* a dozen numbers each: 200 MB */
    MAX_VALUES = 1 << 25,
    TYPICAL_STEPS = 20,
    SYSTEMS_A_STEP = 5, /* solves per iteration, with corrections */
    BATCH_ROWS = 128,   /* rows weighted at once for a product */
    TASK_ROWS = 256     /* rows per task of scores */
};

/* Largest residual of the factorisation relative to K's diagonal; rounding leaves less. */
static const double INDEFINITE = 1e-9;

struct ml_interior {
    const struct problem *problem;
    const struct ml_rows *rows;
    enum ml_loss loss;
    double cost;
    bool own_features; /* the first columns of F are the data's own features */
    bool free_bias;
    double bias;    /* value of the constant feature, F's last column; 1 for a free bias; or 0 */
    size_t n, q, m; /* rows with a loss, labels, columns of F */
    double *F;      /* (n, m) */

    /* the pairs, row by row: relevant labels times others */
    size_t n_pairs;
    uint64_t *start;          /* (n + 1) */
    uint32_t *row;            /* (n_pairs) */
    uint32_t *first, *second; /* (n_pairs) relevant label, other label */
    uint64_t *group_start;    /* (q (q-1)/2 + 2) pairs grouped by their two labels: high, low */
    uint32_t *group;          /* (n_pairs) pairs, group by group */
    double *lambda;           /* (n_pairs) cost of each pair */
    double *S, *beta;         /* (n, q) */
    double *H;                /* (m (q-1), m (q-1)) index label * m + feature, lower half */
    double *reduced;          /* (m (q-1)) */
    double *batch;            /* (workers, BATCH_ROWS, m) */
    double *bias_out;         /* (q) */
    void *block, *pairs;      /* all arrays except F and H; those of the pairs are in `pairs` */
    const double *theta;      /* of the present system */
    const double *w;          /* of the present scores */
    struct interior *interior;
    bool damped; /* steps, as a run at this cost has stalled: the next one would do the same */
    struct interior_fit fit;
};

/* ---- sizes ---- */

static size_t count_pairs(const struct ml_rows *rows) {
    size_t pairs = 0;
    for (size_t i = 0; i < rows->n; i++) {
        struct ml_block block = ml_rows_block(rows, i, ML_HINGE, 1);
        pairs += (size_t)block.n_relevant * (block.q - block.n_relevant);
    }
    return pairs;
}

/* Whether the first columns of F are the data's own features; otherwise they are a factor of K, for
 * which all rows must be in this process. */
static bool has_own_features(const struct problem *problem, const struct ml_rows *rows) {
    return !problem->gram && (problem->cluster || problem->data->n_features <= rows->n);
}

double ml_interior_work(const struct problem *problem, const struct ml_rows *rows) {
    bool factored = !has_own_features(problem, rows);
    double n = (double)rows->n_everywhere, q = (double)rows->q, d = problem->data->n_features;
    double rank = problem->gram ? kernel_max_rank(gram_rows(problem->gram)->kernel, d) : n;
    double m = 1 + (factored ? fmin(rank, n) : d), unknowns = m * (q - 1);
    double pairs = cluster_total(rows->cluster, (double)count_pairs(rows));
    if (unknowns > ML_INTERIOR_MAX_UNKNOWNS || (factored && n > MAX_ROWS) || pairs > MAX_PAIRS ||
        n * m > MAX_VALUES) {
        return INFINITY;
    }
    double square = unknowns * unknowns, system = work_blas3(pairs * m * m / 2);
    double products = SYSTEMS_A_STEP * (work_blas3(2 * n * m * q) + work_scalar(square));
    double features = factored ? work_blas3(n * n * m / 2) + work_scalar(50 * n * n) : 0;
    return features + TYPICAL_STEPS * (system + work_cholesky(unknowns) + products +
                                       work_scalar(50 * pairs + square / 2));
}

/* ---- features ---- */

/* Whether K, given by its lower half, minus F F' for the factor F (n, rank) is rounding error. */
static bool is_definite(const double *K, const double *F, size_t n, size_t rank, size_t width) {
    double max_diagonal = 0;
    for (size_t i = 0; i < n; i++) {
        max_diagonal = fmax(max_diagonal, fabs(K[i * n + i]));
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double residual = K[i * n + j];
            residual -= cblas_ddot((int)rank, F + i * width, 1, F + j * width, 1);
            if (!(fabs(residual) <= INDEFINITE * max_diagonal)) {
                return false;
            }
        }
    }
    return true;
}

/* F (n, rank + bias) with F F' = K, by pivoted Cholesky factorisation; *possible: whether it
 * exists. */
static int factor_products(struct ml_interior *ml, bool *possible, struct error *err) {
    size_t n = ml->n, rank = 0;
    double *K = memory_zeros(n, 2 * n * sizeof(double), "a kernel matrix", err);
    uint32_t *pivot = memory_array(n, sizeof *pivot, "a factor", err);
    int status = K && pivot ? problem_matrix(ml->problem, ml->rows->row, n, K, err) : -1;
    if (status == 0) {
        double *L = K + n * n;
        memcpy(L, K, n * n * sizeof *L);
        status = cholesky_pivoted(L, n, 0, &rank, pivot, err);
        ml->m = rank + (ml->bias > 0);
        *possible = ml->m > 0 && ml->m * (ml->q - 1) <= ML_INTERIOR_MAX_UNKNOWNS;
        ml->F = status == 0 && *possible ? memory_zeros(n, ml->m * sizeof(double), "features", err)
                                         : NULL;
        status = ml->F || !*possible ? status : -1;
        for (size_t i = 0; ml->F && i < n; i++) {
            memcpy(ml->F + pivot[i] * ml->m, L + i * n, smaller(i + 1, rank) * sizeof *L);
        }
        *possible = *possible && ml->F && is_definite(K, ml->F, n, rank, ml->m);
    }
    free(K);
    free(pivot);
    return status;
}

/* Sets F and m. *possible is false, and F unusable, if K is not positive semidefinite or F would
 * have no column. */
static int create_features(struct ml_interior *ml, bool *possible, struct error *err) {
    *possible = true;
    if (ml->own_features) {
        size_t d = ml->problem->data->n_features;
        ml->m = d + (ml->bias > 0);
        ml->F = memory_array(ml->n, ml->m * sizeof(double), "features", err);
        for (size_t i = 0; ml->F && i < ml->n; i++) {
            data_row_dense(ml->problem->data, ml_rows_index(ml->rows, ml->problem, i), d,
                           ml->F + i * ml->m);
        }
    } else if (factor_products(ml, possible, err) < 0) {
        return -1;
    }
    for (size_t i = 0; ml->F && ml->bias > 0 && i < ml->n; i++) {
        ml->F[i * ml->m + ml->m - 1] = ml->bias;
    }
    return ml->F || !*possible ? 0 : -1;
}

/* ---- pairs ---- */

static size_t group_of(uint32_t a, uint32_t b) {
    size_t high = a > b ? a : b, low = a > b ? b : a;
    return high * (high - 1) / 2 + low;
}

/* Sets the pairs, by rows and by groups of labels. */
static int create_pairs(struct ml_interior *ml, struct error *err) {
    size_t n = ml->n, q = ml->q, n_groups = q * (q - 1) / 2, at = 0;
    ml->n_pairs = count_pairs(ml->rows);
    ml->pairs = ARRAYS_CREATE(
        "pairs", err, ARRAYS(n + 1, uint64_t, &ml->start),
        ARRAYS(ml->n_pairs, uint32_t, &ml->row, &ml->first, &ml->second, &ml->group),
        ARRAYS(n_groups + 2, uint64_t, &ml->group_start), ARRAYS(ml->n_pairs, double, &ml->lambda));
    if (!ml->pairs) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        struct ml_block block = ml_rows_block(ml->rows, i, ML_HINGE, 1);
        ml->start[i] = at;
        for (uint32_t p = 0; p < block.n_relevant; p++) {
            uint32_t next = 0;
            for (uint32_t r = 0; r < block.q; r++) {
                if (next < block.n_relevant && block.relevant[next] == r) {
                    next++;
                    continue;
                }
                ml->row[at] = (uint32_t)i;
                ml->first[at] = block.relevant[p];
                ml->second[at++] = r;
                ml->group_start[group_of(block.relevant[p], r) + 2]++;
            }
        }
    }
    ml->start[n] = at;
    for (size_t g = 2; g < n_groups + 2; g++) {
        ml->group_start[g] += ml->group_start[g - 1];
    }
    /* group_start[g + 1] moves from the start of group g to its end */
    for (size_t j = 0; j < at; j++) {
        ml->group[ml->group_start[group_of(ml->first[j], ml->second[j]) + 1]++] = (uint32_t)j;
    }
    return 0;
}

/* ---- callbacks of the interior-point method ---- */

static void scores_task(void *argument, size_t task, size_t worker) {
    struct ml_interior *ml = argument;
    size_t first = task * TASK_ROWS, rows = smaller(TASK_ROWS, ml->n - first);
    (void)worker;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)ml->q, (int)ml->m, 1,
                ml->F + first * ml->m, (int)ml->m, ml->w, (int)ml->q, 0, ml->S + first * ml->q,
                (int)ml->q);
}

static void scores(void *context, const double *w, double *v) {
    struct ml_interior *ml = context;
    ml->w = w;
    threads_run(ml->problem->threads, (ml->n + TASK_ROWS - 1) / TASK_ROWS, scores_task, ml);
    for (size_t j = 0; j < ml->n_pairs; j++) {
        const double *s = ml->S + ml->row[j] * ml->q;
        v[j] = s[ml->first[j]] - s[ml->second[j]];
    }
}

/* beta = the coefficients of the pairs' a. */
static void set_beta(struct ml_interior *ml, const double *a) {
    memset(ml->beta, 0, ml->n * ml->q * sizeof *ml->beta);
    for (size_t j = 0; j < ml->n_pairs; j++) {
        double *beta = ml->beta + ml->row[j] * ml->q;
        beta[ml->first[j]] += a[j];
        beta[ml->second[j]] -= a[j];
    }
}

static void adjoint(void *context, const double *a, double *g) {
    struct ml_interior *ml = context;
    set_beta(ml, a);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)ml->m, (int)ml->q, (int)ml->n, 1,
                ml->F, (int)ml->m, ml->beta, (int)ml->q, 0, g, (int)ml->q);
    cluster_sum(ml->rows->cluster, g, ml->m * ml->q);
}

/* Block of H of labels a and b. */
static double *block_of(const struct ml_interior *ml, size_t a, size_t b) {
    size_t size = ml->m * (ml->q - 1);
    return ml->H + a * ml->m * size + b * ml->m;
}

/* The product of the rows of two labels, both halves, in its block: off the diagonal with its sign.
 * A product with the last label initialises the other label's diagonal block. */
static void group_task(void *argument, size_t task, size_t worker) {
    struct ml_interior *ml = argument;
    size_t m = ml->m, size = m * (ml->q - 1), high = 1;
    while ((high + 1) * high / 2 <= task) {
        high++;
    }
    size_t low = task - high * (high - 1) / 2;
    bool last = high == ml->q - 1;
    double *block = block_of(ml, last ? low : high, low);
    double *batch = ml->batch + worker * (BATCH_ROWS * m), sign = last ? 1 : -1;
    for (size_t f = 0; f < m; f++) {
        memset(block + f * size, 0, m * sizeof *block);
    }
    size_t end = (size_t)ml->group_start[task + 1];
    for (size_t at = (size_t)ml->group_start[task]; at < end; at += BATCH_ROWS) {
        size_t rows = smaller(BATCH_ROWS, end - at);
        for (size_t k = 0; k < rows; k++) {
            size_t pair = ml->group[at + k];
            const double *x = ml->F + ml->row[pair] * m;
            double root = sqrt(ml->theta[pair]);
            for (size_t f = 0; f < m; f++) {
                batch[k * m + f] = root * x[f];
            }
        }
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)m, (int)rows, sign, batch, (int)m,
                    1, block, (int)size);
    }
    for (size_t f = 0; f < m; f++) {
        for (size_t g = 0; g < f; g++) {
            block[g * size + f] = block[f * size + g];
        }
    }
}

/* A diagonal block minus the blocks of its row and column. */
static void diagonal_task(void *argument, size_t task, size_t worker) {
    struct ml_interior *ml = argument;
    size_t m = ml->m, q = ml->q, size = m * (q - 1);
    double *block = block_of(ml, task, task);
    (void)worker;
    for (size_t other = 0; other < q - 1; other++) {
        if (other == task) {
            continue;
        }
        double *off_diagonal = block_of(ml, larger(task, other), smaller(task, other));
        for (size_t f = 0; f < m; f++) {
            for (size_t g = 0; g <= f; g++) {
                block[f * size + g] -= off_diagonal[f * size + g];
            }
        }
    }
}

static void add_norm(struct ml_interior *ml) {
    size_t m = ml->m, size = m * (ml->q - 1);
    for (size_t a = 0; a < ml->q - 1; a++) {
        for (size_t f = 0; f < m; f++) {
            double counted = ml->free_bias && f + 1 == m ? 0 : 1;
            for (size_t b = 0; b <= a; b++) {
                block_of(ml, a, b)[f * size + f] -= counted / (double)ml->q;
            }
            block_of(ml, a, a)[f * size + f] += counted;
        }
    }
}

static int factor(void *context, const double *theta) {
    struct ml_interior *ml = context;
    struct threads *threads = ml->problem->threads;
    ml->theta = theta;
    size_t size = ml->m * (ml->q - 1);
    threads_run(threads, ml->q * (ml->q - 1) / 2, group_task, ml);
    cluster_sum(ml->rows->cluster, ml->H, size * size);
    threads_run(threads, ml->q - 1, diagonal_task, ml);
    add_norm(ml);
    return cholesky_regularised(ml->H, size, ml->reduced);
}

/* x sums to 0 over labels, and so does the solution. */
static void solve(void *context, double *x) {
    struct ml_interior *ml = context;
    size_t m = ml->m, q = ml->q;
    for (size_t a = 0; a < q - 1; a++) {
        for (size_t f = 0; f < m; f++) {
            ml->reduced[a * m + f] = x[f * q + a];
        }
    }
    cholesky_solve(ml->H, m * (q - 1), ml->reduced);
    for (size_t f = 0; f < m; f++) {
        double mean = 0;
        for (size_t a = 0; a < q - 1; a++) {
            mean += ml->reduced[a * m + f] / (double)q;
        }
        for (size_t a = 0; a < q; a++) {
            x[f * q + a] = (a < q - 1 ? ml->reduced[a * m + f] : 0) - mean;
        }
    }
}

/* ---- creation ---- */

static int allocate(struct ml_interior *ml, struct error *err) {
    size_t n = ml->n, q = ml->q, m = ml->m, size = m * (q - 1);
    size_t workers = threads_count(ml->problem->threads);
    ml->block = ARRAYS_CREATE(
        "scores", err, ARRAYS(n * q, double, &ml->S, &ml->beta), ARRAYS(size, double, &ml->reduced),
        ARRAYS(workers * BATCH_ROWS * m, double, &ml->batch), ARRAYS(q, double, &ml->bias_out));
    /* zeros: H is summed over processes as a whole */
    ml->H = memory_zeros(size, size * sizeof(double), "a system", err);
    return ml->block && ml->H ? 0 : -1;
}

int ml_interior_create(struct ml_interior **interior, const struct problem *problem,
                       const struct ml_rows *rows, double bias, bool free_bias, struct error *err) {
    struct ml_interior *ml = memory_zeros(1, sizeof *ml, "a solver", err);
    *interior = NULL;
    if (!ml) {
        return -1;
    }
    ml->problem = problem;
    ml->rows = rows;
    ml->n = rows->n;
    ml->q = rows->q;
    ml->own_features = has_own_features(problem, rows);
    ml->free_bias = free_bias;
    ml->bias = free_bias ? 1 : bias;
    bool possible;
    int status = create_features(ml, &possible, err);
    if (status == 0 && possible) {
        status = create_pairs(ml, err) < 0 || allocate(ml, err) < 0 ? -1 : 0;
    }
    if (status < 0 || !possible) {
        ml_interior_free(ml);
        return status;
    }
    *interior = ml;
    return 0;
}

void ml_interior_free(struct ml_interior *ml) {
    if (!ml) {
        return;
    }
    interior_close(ml->interior);
    free(ml->F);
    free(ml->pairs);
    free(ml->block);
    free(ml->H);
    free(ml);
}

/* ---- solving ---- */

int ml_interior_start(struct ml_interior *ml, enum ml_loss loss, double cost, struct error *err) {
    bool again = ml->interior && ml->loss == loss && ml->cost == cost;
    ml->damped = again && (ml->damped || ml->fit.stop == STOP_ROUNDING);
    ml->loss = loss;
    ml->cost = cost;
    for (size_t i = 0; i < ml->n; i++) {
        struct ml_block block = ml_rows_block(ml->rows, i, loss, cost);
        for (uint64_t j = ml->start[i]; j < ml->start[i + 1]; j++) {
            ml->lambda[j] = block.lambda;
        }
    }
    const struct interior_problem problem = {.cluster = ml->rows->cluster,
                                             .n = ml->n_pairs,
                                             .dimension = ml->m * ml->q,
                                             .cost = ml->lambda,
                                             .n_free = ml->free_bias ? ml->q : 0,
                                             .squared = loss == ML_SQUARED_HINGE,
                                             .damped = ml->damped,
                                             .context = ml,
                                             .scores = scores,
                                             .adjoint = adjoint,
                                             .factor = factor,
                                             .solve = solve};
    if (interior_open(&ml->interior, &problem, err) < 0) {
        return -1;
    }
    if (!ml->own_features) {
        interior_evaluate_primal_at_dual(ml->interior, true);
    }
    return 0;
}

static void row_alpha(const void *context, size_t i, const struct ml_block *block, double *alpha) {
    const struct ml_interior *ml = context;
    (void)block;
    memcpy(alpha, ml->fit.alpha + ml->start[i],
           (size_t)(ml->start[i + 1] - ml->start[i]) * sizeof *alpha);
}

void ml_interior_run(struct ml_interior *ml, double epsilon, double min_scale,
                     const struct monitor *monitor, struct ml_fit *fit) {
    interior_run(ml->interior, epsilon, min_scale, monitor, &ml->fit);
    if (!ml->own_features && !ml->fit.stop) {
        interior_round_to_zero(ml->interior, epsilon * fmax(ml->fit.primal, min_scale), &ml->fit);
    }
    if (!ml->own_features) {
        set_beta(ml, ml->fit.tied);
    }
    for (size_t a = 0; ml->bias > 0 && a < ml->q; a++) {
        ml->bias_out[a] = ml->bias * ml->fit.w[(ml->m - 1) * ml->q + a];
    }
    *fit = (struct ml_fit){.alphas = {ml->rows, ml->loss, ml->cost, ml, row_alpha},
                           .weights = ml->own_features ? ml->fit.w : NULL,
                           .coefficients = ml->own_features ? NULL : ml->beta,
                           .dual_first = !ml->own_features,
                           .bias = ml->bias_out,
                           .primal = ml->fit.primal,
                           .dual = ml->fit.dual,
                           .iterations = ml->fit.iterations,
                           .stop = ml->fit.stop};
}
