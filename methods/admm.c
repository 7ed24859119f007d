/* The iterations of ADMM, the choice of rho, and the factors. */
#include "methods/admm.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/cholesky.h"
#include "methods/anderson.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 16,     /* of a task of products */
    TASK_ROWS = 64,   /* of a task of steps */
    BALANCE = 20,     /* iterations between checks of rho, at first */
    DIFFERENCES = 10, /* of the acceleration, at most */
    SEQUENCES = 8     /* arrays of the size of U, those of the caller included */
};

/* The fraction of the kernel matrix's memory that the solver may use. */
static const double MEMORY = 0.5;
static const double RELAX = 1.6; /* over-relaxation r */
/* The first rho, divided by the ratio of scores (or of margins of 1, if larger) to coefficients.
 * Measured for mc on 3,000 rows of letter, llw and ats, C = 1000: 60 iterations to 1e-3; with 1 it
 * takes 70, with .1 it takes 80. With a far smaller rho a free bias diverges. */
static const double START = 0.3;
/* rho is changed if it is out of balance by more than UNBALANCED, or by LATER_UNBALANCED once the
 * iterations with its factor have cost as much as the factorisation (n / 6 k iterations for K). It
 * is balanced if the relative primal residual |U - Z| is RATIO times the relative change of Z.
 * Measured for mc: 680 rows of 26 random classes, ww and cs at C = 1e6, and 1,000 rows of letter,
 * llw, atm, ww, cs, take the fewest iterations with ratios from .3 to 1. */
static const double UNBALANCED = 4, LATER_UNBALANCED = 1.3, RATIO = 0.5;
static const double MAX_CHANGE = 100; /* largest factor of one change of rho */
static const double GROWTH = 1.3;     /* of the wait between checks, so that rho settles */

/* Squared norms of the residuals and the sequences. */
struct splitting_residuals {
    double primal, dual; /* of U - Z and of the change of Z */
    double u, z, w;
};

static size_t row_tasks(const struct splitting *splitting) {
    return (splitting->problem.n + TASK_ROWS - 1) / TASK_ROWS;
}

/* The number of differences of the acceleration, limited so that they take no more memory than K;
 * 0: no acceleration. Measured for mc on 3,000 rows of letter, ww, C = 1000: 540 iterations with
 * 10, 510 with 20, 690 with 5, 1370 without. */
static size_t differences(size_t n, size_t k) {
    size_t limit = n / (2 * k);
    return limit < 2 ? 0 : smaller(limit, DIFFERENCES);
}

bool splitting_fits(size_t n, size_t k, const struct low_rank_goal *low, size_t cache_bytes) {
    size_t memory = differences(n, k), more = memory > 0 ? anderson_arrays(memory) + 1 : 0;
    double bytes = low ? low_rank_bytes(n, low) : (double)n * (double)n * sizeof(double);
    bytes += (double)(SEQUENCES + more) * (double)n * (double)k * sizeof(double);
    return bytes <= MEMORY * (double)cache_bytes;
}

int splitting_create(struct splitting *splitting, const struct splitting_problem *problem,
                     struct error *err) {
    size_t n = problem->n, k = problem->k, memory = differences(n, k);
    *splitting = (struct splitting){.problem = *problem, .rho = 1, .wait = BALANCE};
    splitting->K = problem->low ? NULL : memory_array(n, n * sizeof(double), "a factor", err);
    const struct array_part parts[] = {{&splitting->U, n * k},
                                       {&splitting->Z, n * k},
                                       {&splitting->W, n * k},
                                       {&splitting->S, n * k},
                                       {&splitting->Y, memory > 0 ? n * k : 0},
                                       {&splitting->diagonal, n},
                                       {&splitting->spread, n},
                                       {&splitting->bias, k},
                                       {&splitting->before, threads_count(problem->threads) * k}};
    splitting->block = arrays_create(parts, sizeof parts / sizeof parts[0], "coefficients", err);
    splitting->parts =
        memory_zeros(row_tasks(splitting), sizeof *splitting->parts, "coefficients", err);
    if (!splitting->block || (!splitting->K && !problem->low) || !splitting->parts ||
        (memory > 0 && anderson_create(&splitting->anderson, n * k, memory, err) < 0)) {
        splitting_free(splitting);
        return -1;
    }
    return 0;
}

void splitting_free(struct splitting *splitting) {
    free(splitting->K);
    low_rank_free(&splitting->low);
    free(splitting->block);
    free(splitting->parts);
    anderson_free(splitting->anderson);
    *splitting = (struct splitting){0};
}

/* ---- the matrix ---- */

int splitting_fill(struct splitting *splitting, const struct gram *gram, const uint32_t *rows,
                   struct error *err) {
    size_t n = splitting->problem.n;
    uint32_t *index = memory_array(n, sizeof *index, "rows", err);
    for (size_t i = 0; index && i < n; i++) {
        index[i] = rows ? rows[i] : (uint32_t)i;
    }
    int status = index ? gram_block_exact(gram, index, n, index, n, splitting->K, err) : -1;
    free(index);
    return status;
}

int splitting_fill_surrogate(struct splitting *splitting, const struct gram *gram,
                             const uint32_t *rows, const double *diagonal, struct error *err) {
    const struct splitting_problem *problem = &splitting->problem;
    return low_rank_create(&splitting->low, gram, rows, problem->n, diagonal, problem->low,
                           problem->threads, err);
}

/* A product of K with some columns. */
struct columns {
    const struct splitting *splitting;
    const double *in;
    double *out;
};

static void multiply_columns(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct columns *columns = argument;
    size_t n = columns->splitting->problem.n, k = columns->splitting->problem.k;
    size_t first = task * COLUMNS, m = smaller(COLUMNS, k - first);
    cblas_dsymm(CblasRowMajor, CblasLeft, CblasUpper, (int)n, (int)m, 1, columns->splitting->K,
                (int)n, columns->in + first, (int)k, 0, columns->out + first, (int)k);
}

/* Exchanges the diagonals of K and of its factor. */
static void swap_diagonal(const struct splitting *splitting) {
    size_t n = splitting->problem.n;
    for (size_t i = 0; i < n; i++) {
        double value = splitting->K[i * n + i];
        splitting->K[i * n + i] = splitting->diagonal[i];
        splitting->diagonal[i] = value;
    }
}

/* The product must use K's diagonal, not the factor's, which contains sqrt(rho): subtracting it
 * afterwards would cancel K's. */
void splitting_product(const struct splitting *splitting, const double *in, double *out) {
    struct columns columns = {splitting, in, out};
    size_t tasks = (splitting->problem.k + COLUMNS - 1) / COLUMNS;
    swap_diagonal(splitting);
    threads_run(splitting->problem.threads, tasks, multiply_columns, &columns);
    swap_diagonal(splitting);
}

/* Factors K + rho I. */
static int factor_once(struct splitting *splitting) {
    size_t n = splitting->problem.n;
    if (splitting->problem.low) {
        return low_rank_factor(&splitting->low, splitting->rho);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            splitting->K[i * n + j] = splitting->K[j * n + i];
        }
        splitting->K[i * n + i] = splitting->diagonal[i] + splitting->rho;
    }
    return cholesky_factor_blocks(splitting->K, n, splitting->problem.threads);
}

/* Factors K + rho I, with a larger rho if rounding leaves no factor. */
static int factor(struct splitting *splitting) {
    size_t n = splitting->problem.n;
    for (int trial = 0; trial < 10; trial++, splitting->rho *= 10) {
        if (factor_once(splitting) < 0) {
            continue;
        }
        splitting->factored = 0;
        if (splitting->problem.free_bias) {
            splitting->spread_sum = 0;
            for (size_t i = 0; i < n; i++) {
                splitting->spread[i] = 1;
            }
            cholesky_solve(splitting->K, n, splitting->spread);
            for (size_t i = 0; i < n; i++) {
                splitting->spread_sum += splitting->spread[i];
            }
        }
        return 0;
    }
    return -1;
}

/* ---- iterations ---- */

int splitting_start(struct splitting *splitting, double constant, const double *diagonal,
                    const double *scores) {
    size_t n = splitting->problem.n, size = n * splitting->problem.k;
    if (splitting->problem.low) {
        low_rank_add(&splitting->low, constant);
    }
    for (size_t j = 0; splitting->K && constant > 0 && j < n * n; j++) {
        splitting->K[j] += constant;
    }
    for (size_t i = 0; splitting->K && i < n; i++) {
        splitting->diagonal[i] = diagonal ? diagonal[i] : splitting->K[i * n + i];
    }
    double z = array_dot(splitting->Z, splitting->Z, size), s = array_dot(scores, scores, size);
    splitting->rho = z > 0 && s > 0 && isfinite(s) ? START * sqrt(fmax(s, (double)size) / z) : 1;
    if (factor(splitting) < 0) {
        return -1;
    }
    for (size_t j = 0; j < size; j++) {
        splitting->W[j] = isfinite(scores[j]) ? -scores[j] / splitting->rho : 0;
    }
    return 0;
}

/* Computes U, its scores, and b. */
static void solve(struct splitting *splitting) {
    size_t n = splitting->problem.n, k = splitting->problem.k, size = n * k;
    double *U = splitting->U, *S = splitting->S;
    for (size_t j = 0; j < size; j++) {
        S[j] = splitting->rho * (splitting->Z[j] - splitting->W[j]);
    }
    memcpy(U, S, size * sizeof *U);
    if (splitting->problem.low) {
        low_rank_solve(&splitting->low, U);
    } else {
        cholesky_solve_columns(splitting->K, n, U, k, splitting->problem.threads);
    }
    if (splitting->problem.free_bias) {
        memset(splitting->bias, 0, k * sizeof *splitting->bias);
        for (size_t i = 0; i < n; i++) {
            array_add(splitting->bias, 1 / splitting->spread_sum, U + i * k, k);
        }
        for (size_t i = 0; i < n; i++) {
            array_add(U + i * k, -splitting->spread[i], splitting->bias, k);
        }
    }
    array_add(S, -splitting->rho, U, size);
}

/* W becomes the accelerated V + W. */
static void advance(struct splitting *splitting) {
    size_t size = splitting->problem.n * splitting->problem.k;
    const double *U = splitting->U, *Z = splitting->Z;
    for (size_t j = 0; splitting->anderson && j < size; j++) {
        splitting->Y[j] = Z[j] + splitting->W[j];
    }
    for (size_t j = 0; j < size; j++) {
        splitting->W[j] += RELAX * U[j] + (1 - RELAX) * Z[j];
    }
    if (splitting->anderson) {
        anderson_next(splitting->anderson, splitting->Y, splitting->W);
    }
}

/* Z and W of the rows of a task, from V + W. */
static void step_rows(void *argument, size_t task, size_t worker) {
    struct splitting *splitting = argument;
    const struct splitting_problem *problem = &splitting->problem;
    size_t k = problem->k, end = smaller((task + 1) * TASK_ROWS, problem->n);
    double *before = splitting->before + worker * k;
    struct splitting_residuals sum = {0};
    for (size_t i = task * TASK_ROWS; i < end; i++) {
        double *U = splitting->U + i * k, *Z = splitting->Z + i * k, *W = splitting->W + i * k;
        memcpy(before, Z, k * sizeof *before);
        problem->step(problem->context, i, worker, splitting->rho, W, Z);
        for (size_t c = 0; c < k; c++) {
            double primal = U[c] - Z[c], change = Z[c] - before[c];
            W[c] -= Z[c];
            sum.primal += primal * primal;
            sum.dual += change * change;
            sum.u += U[c] * U[c];
            sum.z += Z[c] * Z[c];
            sum.w += W[c] * W[c];
        }
    }
    splitting->parts[task] = sum;
}

/* Whether the iterations since the factorisation have cost less than it did. */
static bool is_fresh(const struct splitting *splitting) {
    size_t served = splitting->factored * splitting->problem.k;
    return splitting->problem.low ? served * 4 < splitting->low.rank
                                  : served * 6 < splitting->problem.n;
}

/* Changes rho if the residuals are out of balance. */
static int balance(struct splitting *splitting) {
    size_t tasks = row_tasks(splitting), size = splitting->problem.n * splitting->problem.k;
    struct splitting_residuals sum = {0};
    for (size_t t = 0; t < tasks; t++) {
        const struct splitting_residuals *part = &splitting->parts[t];
        sum.primal += part->primal;
        sum.dual += part->dual;
        sum.u += part->u;
        sum.z += part->z;
        sum.w += part->w;
    }
    double primal = sqrt(sum.primal / fmax(sum.u, sum.z)), dual = sqrt(sum.dual / sum.w);
    double change = sqrt(RATIO * primal / dual), before = splitting->rho;
    double tolerance = is_fresh(splitting) ? UNBALANCED : LATER_UNBALANCED;
    splitting->since = 0;
    if (!(change > tolerance || change < 1 / tolerance) || !isfinite(change)) {
        return 0;
    }
    splitting->wait = (unsigned)(GROWTH * splitting->wait);
    splitting->rho *= fmin(fmax(change, 1 / MAX_CHANGE), MAX_CHANGE);
    int status = factor(splitting);
    for (size_t j = 0; j < size; j++) {
        splitting->W[j] *= before / splitting->rho;
    }
    if (splitting->anderson) {
        anderson_restart(splitting->anderson);
    }
    return status;
}

int splitting_iterate(struct splitting *splitting) {
    if (++splitting->since > splitting->wait && balance(splitting) < 0) {
        return -1;
    }
    splitting->factored++;
    solve(splitting);
    advance(splitting);
    threads_run(splitting->problem.threads, row_tasks(splitting), step_rows, splitting);
    return 0;
}
