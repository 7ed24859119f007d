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
/* rho is changed if it is out of balance by more than UNBALANCED. It is balanced if the relative
 * primal residual |U - Z| is RATIO times the relative change of Z. Measured for mc: 680 rows of 26
 * random classes, ww and cs at C = 1e6, and 1,000 rows of letter, llw, atm, ww, cs, take the fewest
 * iterations with ratios from .3 to 1. */
static const double UNBALANCED = 1.3, RATIO = 0.5;
static const double MAX_CHANGE = 100; /* largest factor of one change; a residual may be 0 */
static const double GROWTH = 1.3;     /* of the wait between checks: a fit of ml stalls without */

/* Squared norms of the residuals and the sequences. */
struct admm_residuals {
    double primal, dual; /* of U - Z and of the change of Z */
    double u, z, w;
};

static size_t row_tasks(const struct admm *admm) {
    return (admm->problem.n + TASK_ROWS - 1) / TASK_ROWS;
}

/* The number of differences of the acceleration, limited so that they take no more memory than K;
 * 0: no acceleration. Measured for mc on 3,000 rows of letter, ww, C = 1000: 540 iterations with
 * 10, 510 with 20, 690 with 5, 1370 without. */
static size_t differences(size_t n, size_t k) {
    size_t limit = n / (2 * k);
    return limit < 2 ? 0 : smaller(limit, DIFFERENCES);
}

bool admm_fits(size_t n, size_t k, const struct landmarks_goal *low, size_t cache_bytes) {
    size_t memory = differences(n, k), more = memory > 0 ? anderson_arrays(memory) + 1 : 0;
    double bytes = low ? low_rank_bytes(n, k, low) : (double)n * (double)n * sizeof(double);
    bytes += (double)(SEQUENCES + more) * (double)n * (double)k * sizeof(double);
    return bytes <= MEMORY * (double)cache_bytes;
}

int admm_create(struct admm *admm, const struct admm_problem *problem, struct error *err) {
    size_t n = problem->n, k = problem->k, memory = differences(n, k);
    *admm = (struct admm){.problem = *problem, .rho = 1, .wait = BALANCE};
    admm->K = problem->low ? NULL : memory_array(n, n * sizeof(double), "a factor", err);
    admm->block = ARRAYS_CREATE(
        "coefficients", err, ARRAYS(n * k, double, &admm->U, &admm->Z, &admm->W, &admm->S),
        ARRAYS(memory > 0 ? n * k : 0, double, &admm->Y),
        ARRAYS(n, double, &admm->diagonal, &admm->spread), ARRAYS(k, double, &admm->bias),
        ARRAYS(threads_count(problem->threads) * k, double, &admm->before));
    admm->parts = memory_zeros(row_tasks(admm), sizeof *admm->parts, "coefficients", err);
    if (!admm->block || (!admm->K && !problem->low) || !admm->parts ||
        (memory > 0 && anderson_create(&admm->anderson, n * k, memory, err) < 0)) {
        admm_free(admm);
        return -1;
    }
    return 0;
}

void admm_free(struct admm *admm) {
    free(admm->K);
    low_rank_free(&admm->low);
    free(admm->block);
    free(admm->parts);
    anderson_free(admm->anderson);
    *admm = (struct admm){0};
}

/* ---- the matrix ---- */

/* A product of K with some columns. */
struct columns {
    const struct admm *admm;
    const double *in;
    double *out;
};

static void multiply_columns(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct columns *columns = argument;
    size_t n = columns->admm->problem.n, k = columns->admm->problem.k;
    size_t first = task * COLUMNS, m = smaller(COLUMNS, k - first);
    cblas_dsymm(CblasRowMajor, CblasLeft, CblasUpper, (int)n, (int)m, 1, columns->admm->K, (int)n,
                columns->in + first, (int)k, 0, columns->out + first, (int)k);
}

/* Exchanges the diagonals of K and of its factor. */
static void swap_diagonal(const struct admm *admm) {
    size_t n = admm->problem.n;
    for (size_t i = 0; i < n; i++) {
        double value = admm->K[i * n + i];
        admm->K[i * n + i] = admm->diagonal[i];
        admm->diagonal[i] = value;
    }
}

/* The product must use K's diagonal, not the factor's, which contains sqrt(rho): subtracting it
 * afterwards would cancel K's. */
void admm_product(const struct admm *admm, const double *in, double *out) {
    struct columns columns = {admm, in, out};
    size_t tasks = (admm->problem.k + COLUMNS - 1) / COLUMNS;
    swap_diagonal(admm);
    threads_run(admm->problem.threads, tasks, multiply_columns, &columns);
    swap_diagonal(admm);
}

/* Factors K + rho I. */
static int factor_once(struct admm *admm) {
    size_t n = admm->problem.n;
    if (admm->problem.low) {
        return low_rank_factor(&admm->low, admm->rho);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            admm->K[i * n + j] = admm->K[j * n + i];
        }
        admm->K[i * n + i] = admm->diagonal[i] + admm->rho;
    }
    return cholesky_factor_blocks(admm->K, n, admm->problem.threads);
}

/* Factors K + rho I, with a larger rho if rounding leaves no factor. */
static int factor(struct admm *admm) {
    size_t n = admm->problem.n;
    for (int trial = 0; trial < 10; trial++, admm->rho *= 10) {
        if (factor_once(admm) < 0) {
            continue;
        }
        if (admm->problem.free_bias) {
            admm->spread_sum = 0;
            for (size_t i = 0; i < n; i++) {
                admm->spread[i] = 1;
            }
            cholesky_solve(admm->K, n, admm->spread);
            for (size_t i = 0; i < n; i++) {
                admm->spread_sum += admm->spread[i];
            }
        }
        return 0;
    }
    return -1;
}

/* ---- iterations ---- */

int admm_start(struct admm *admm, double constant, const double *diagonal, const double *scores) {
    size_t n = admm->problem.n, size = n * admm->problem.k;
    for (size_t j = 0; admm->K && constant > 0 && j < n * n; j++) {
        admm->K[j] += constant;
    }
    for (size_t i = 0; admm->K && i < n; i++) {
        admm->diagonal[i] = diagonal ? diagonal[i] : admm->K[i * n + i];
    }
    double z = array_dot(admm->Z, admm->Z, size), s = array_dot(scores, scores, size);
    admm->rho = z > 0 && s > 0 && isfinite(s) ? START * sqrt(fmax(s, (double)size) / z) : 1;
    if (factor(admm) < 0) {
        return -1;
    }
    for (size_t j = 0; j < size; j++) {
        admm->W[j] = isfinite(scores[j]) ? -scores[j] / admm->rho : 0;
    }
    return 0;
}

/* Computes U, its scores, and b. */
static void solve(struct admm *admm) {
    size_t n = admm->problem.n, k = admm->problem.k, size = n * k;
    double *U = admm->U, *S = admm->S;
    for (size_t j = 0; j < size; j++) {
        S[j] = admm->rho * (admm->Z[j] - admm->W[j]);
    }
    memcpy(U, S, size * sizeof *U);
    if (admm->problem.low) {
        low_rank_solve(&admm->low, U);
    } else {
        cholesky_solve_columns(admm->K, n, U, k, admm->problem.threads);
    }
    if (admm->problem.free_bias) {
        memset(admm->bias, 0, k * sizeof *admm->bias);
        for (size_t i = 0; i < n; i++) {
            array_add(admm->bias, 1 / admm->spread_sum, U + i * k, k);
        }
        for (size_t i = 0; i < n; i++) {
            array_add(U + i * k, -admm->spread[i], admm->bias, k);
        }
    }
    array_add(S, -admm->rho, U, size);
}

/* W becomes the accelerated V + W. */
static void advance(struct admm *admm) {
    size_t size = admm->problem.n * admm->problem.k;
    const double *U = admm->U, *Z = admm->Z;
    for (size_t j = 0; admm->anderson && j < size; j++) {
        admm->Y[j] = Z[j] + admm->W[j];
    }
    for (size_t j = 0; j < size; j++) {
        admm->W[j] += RELAX * U[j] + (1 - RELAX) * Z[j];
    }
    if (admm->anderson) {
        anderson_next(admm->anderson, admm->Y, admm->W);
    }
}

/* Z and W of the rows of a task, from V + W. */
static void step_rows(void *argument, size_t task, size_t worker) {
    struct admm *admm = argument;
    const struct admm_problem *problem = &admm->problem;
    size_t k = problem->k, end = smaller((task + 1) * TASK_ROWS, problem->n);
    double *before = admm->before + worker * k;
    struct admm_residuals sum = {0};
    for (size_t i = task * TASK_ROWS; i < end; i++) {
        double *U = admm->U + i * k, *Z = admm->Z + i * k, *W = admm->W + i * k;
        memcpy(before, Z, k * sizeof *before);
        problem->step(problem->context, i, worker, admm->rho, W, Z);
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
    admm->parts[task] = sum;
}

/* Changes rho if the residuals are out of balance. */
static int balance(struct admm *admm) {
    size_t tasks = row_tasks(admm), size = admm->problem.n * admm->problem.k;
    struct admm_residuals sum = {0};
    for (size_t t = 0; t < tasks; t++) {
        const struct admm_residuals *part = &admm->parts[t];
        sum.primal += part->primal;
        sum.dual += part->dual;
        sum.u += part->u;
        sum.z += part->z;
        sum.w += part->w;
    }
    double primal = sqrt(sum.primal / fmax(sum.u, sum.z)), dual = sqrt(sum.dual / sum.w);
    double change = sqrt(RATIO * primal / dual), before = admm->rho;
    admm->since = 0;
    if (!(change > UNBALANCED || change < 1 / UNBALANCED) || !isfinite(change)) {
        return 0;
    }
    admm->wait = (unsigned)(GROWTH * admm->wait);
    admm->rho *= fmin(fmax(change, 1 / MAX_CHANGE), MAX_CHANGE);
    int status = factor(admm);
    array_scale(admm->W, before / admm->rho, size);
    if (admm->anderson) {
        anderson_restart(admm->anderson);
    }
    return status;
}

int admm_iterate(struct admm *admm) {
    if (++admm->since > admm->wait && balance(admm) < 0) {
        return -1;
    }
    solve(admm);
    advance(admm);
    threads_run(admm->problem.threads, row_tasks(admm), step_rows, admm);
    return 0;
}
