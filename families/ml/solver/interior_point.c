/* Scores, systems and runs of the interior-point method of ml (interior_point.h). */
#include "families/ml/solver/interior_point_private.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/cholesky.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH_ROWS = 128, /* rows weighted at once for a product */
    TASK_ROWS = 256   /* rows per task of scores */
};

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
            double counted = ml->counted[f * ml->q];
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
    ml->S = memory_array(n, q * sizeof(double), "scores", err);
    ml->beta = memory_array(n, q * sizeof(double), "scores", err);
    ml->counted = memory_array(m, q * sizeof(double), "weights", err);
    /* zeros: H is summed over processes as a whole */
    ml->H = memory_zeros(size, size * sizeof(double), "a system", err);
    ml->reduced = memory_array(size, sizeof(double), "a system", err);
    ml->batch = memory_array(workers, BATCH_ROWS * m * sizeof(double), "a system", err);
    ml->bias_out = memory_zeros(q, sizeof(double), "weights", err);
    if (!ml->S || !ml->beta || !ml->counted || !ml->H || !ml->reduced || !ml->batch ||
        !ml->bias_out) {
        return -1;
    }
    for (size_t k = 0; k < m * q; k++) {
        ml->counted[k] = ml->free_bias && k >= (m - 1) * q ? 0 : 1;
    }
    return 0;
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
    ml->own_features = ml_interior_own_features(problem, rows);
    ml->free_bias = free_bias;
    ml->bias = free_bias ? 1 : bias;
    bool possible;
    int status = ml_interior_features(ml, &possible, err);
    if (status == 0 && possible) {
        status = ml_interior_pairs(ml, err) < 0 || allocate(ml, err) < 0 ? -1 : 0;
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
    free(ml->start);
    free(ml->row);
    free(ml->group_start);
    free(ml->lambda);
    free(ml->counted);
    free(ml->S);
    free(ml->beta);
    free(ml->H);
    free(ml->reduced);
    free(ml->batch);
    free(ml->bias_out);
    free(ml);
}

/* ---- solving ---- */

int ml_interior_start(struct ml_interior *ml, enum ml_loss loss, double cost, struct error *err) {
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
                                             .counted = ml->counted,
                                             .squared = loss == ML_SQUARED_HINGE,
                                             .context = ml,
                                             .scores = scores,
                                             .adjoint = adjoint,
                                             .factor = factor,
                                             .solve = solve};
    interior_close(ml->interior);
    ml->interior = NULL;
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
    const double gap_share = 0.5; /* the rest is left to sparsifying alpha */
    interior_run(ml->interior, gap_share * epsilon, min_scale, monitor, &ml->fit);
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
