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
    COLUMNS = 16,     /* that one task multiplies */
    TASK_ROWS = 64,   /* of a task of steps */
    BALANCE = 20,     /* iterations from one look at rho to the next, at first */
    DIFFERENCES = 10, /* that the acceleration has, at the most */
    SEQUENCES = 8     /* of the size of U, with those of the caller */
};

/* The part of the kernel matrix's memory that all this may take. */
static const double MEMORY = 0.5;
static const double RELAX = 1.6; /* r */
/* rho at first, over the ratio of scores, or of the margins of 1 where these are larger, and
 * coefficients (mc, 3,000 rows of letter, llw and ats at C = 1000: 60 iterations to 1e-3; 1 takes
 * 70, .1 takes 80). With a rho far below, a free bias runs away. */
static const double START = 0.3;
/* rho is changed where it is out by more than the first of these factors, or by more than the
 * second if the iterations with it have cost as much as its factor did, n / 6 k of them for K's.
 * It is right where U and Z are half as far apart as Z moves, both relative: mc, 680 rows of 26
 * classes at random, ww and cs at C = 1e6, and 1,000 rows of letter, llw, atm, ww, cs, take the
 * fewest iterations from .3 to 1. */
static const double UNBALANCED = 4, LATER_UNBALANCED = 1.3, APART = 0.5;
static const double MOST = 100;   /* rho is changed by no more than this factor */
static const double GROWTH = 1.3; /* of the wait: a rho that changes for ever leads nowhere */

/* How far the sequences are from one another, squared, and how large they are. */
struct splitting_residuals {
    double apart, moved; /* U - Z; the change of Z */
    double u, z, w;
};

static size_t row_tasks(const struct splitting *splitting) {
    return (splitting->problem.n + TASK_ROWS - 1) / TASK_ROWS;
}

/* The differences that the acceleration has: no more than the matrix has room for. 0: there is
 * none. (mc, 3,000 rows of letter, ww at C = 1000: 540 iterations with 10, 510 with 20, 690 with 5,
 * 1370 without.) */
static size_t differences(size_t n, size_t k) {
    size_t room = n / (2 * k);
    return room < 2 ? 0 : smaller(room, DIFFERENCES);
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

int splitting_fill_low(struct splitting *splitting, const struct gram *gram, const uint32_t *rows,
                       const double *diagonal, struct error *err) {
    const struct splitting_problem *problem = &splitting->problem;
    return low_rank_create(&splitting->low, gram, rows, problem->n, diagonal, problem->low,
                           problem->threads, err);
}

/* A task of columns. */
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

/* K's own diagonal takes the place of its factor's, or the other way round. */
static void swap_diagonal(const struct splitting *splitting) {
    size_t n = splitting->problem.n;
    for (size_t i = 0; i < n; i++) {
        double value = splitting->K[i * n + i];
        splitting->K[i * n + i] = splitting->diagonal[i];
        splitting->diagonal[i] = value;
    }
}

/* The factor's diagonal must not take part: it has sqrt(rho), beside which K's may be as nothing,
 * and what is taken off again is lost. */
void splitting_product(const struct splitting *splitting, const double *in, double *out) {
    struct columns columns = {splitting, in, out};
    size_t tasks = (splitting->problem.k + COLUMNS - 1) / COLUMNS;
    swap_diagonal(splitting);
    threads_run(splitting->problem.threads, tasks, multiply_columns, &columns);
    swap_diagonal(splitting);
}

/* A factor of K + rho I, if there is one. */
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

/* Factors K + rho I, with a larger rho where rounding asks for one. */
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

/* U, its scores, and b. */
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

/* W becomes V + W, accelerated. */
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

/* Z and W of some rows, from V + W. */
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
            double apart = U[c] - Z[c], change = Z[c] - before[c];
            W[c] -= Z[c];
            sum.apart += apart * apart;
            sum.moved += change * change;
            sum.u += U[c] * U[c];
            sum.z += Z[c] * Z[c];
            sum.w += W[c] * W[c];
        }
    }
    splitting->parts[task] = sum;
}

/* Whether the factor has not served for as many iterations yet as cost what it did. */
static bool is_fresh(const struct splitting *splitting) {
    size_t served = splitting->factored * splitting->problem.k;
    return splitting->problem.low ? served * 4 < splitting->low.rank
                                  : served * 6 < splitting->problem.n;
}

/* Another rho, where Z moves too fast for what is between it and U, or too slowly. */
static int balance(struct splitting *splitting) {
    size_t tasks = row_tasks(splitting), size = splitting->problem.n * splitting->problem.k;
    struct splitting_residuals sum = {0};
    for (size_t t = 0; t < tasks; t++) {
        const struct splitting_residuals *part = &splitting->parts[t];
        sum.apart += part->apart;
        sum.moved += part->moved;
        sum.u += part->u;
        sum.z += part->z;
        sum.w += part->w;
    }
    double apart = sqrt(sum.apart / fmax(sum.u, sum.z)), moved = sqrt(sum.moved / sum.w);
    double change = sqrt(APART * apart / moved), before = splitting->rho;
    double most = is_fresh(splitting) ? UNBALANCED : LATER_UNBALANCED;
    splitting->since = 0;
    if (!(change > most || change < 1 / most) || !isfinite(change)) {
        return 0;
    }
    splitting->wait = (unsigned)(GROWTH * splitting->wait);
    splitting->rho *= fmin(fmax(change, 1 / MOST), MOST);
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
