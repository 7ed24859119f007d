/* Randomly pivoted Cholesky factorisation by blocks, and systems by the Woodbury formula. */
#include "common/kernel/low_rank.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/cholesky.h"

#include <cblas.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 64,  /* pivots that are processed together */
    CHUNK = 512, /* rows of a task */
    PARTS = 16   /* partial sums over rows, added in a fixed order */
};

/* A pivot of a block is used if the others leave it at least this fraction of the largest. */
static const double MIN_PIVOT = 1e-3;

enum { RANDOM_STREAM = 12 }; /* of the seed, different from the solvers' own uses */

static size_t n_chunks(const struct low_rank *low) {
    return (low->n + CHUNK - 1) / CHUNK;
}

/* ---- the columns ---- */

/* A block of new columns. */
struct growth {
    struct low_rank *low;
    const struct gram *gram;
    const uint32_t *rows;  /* (n) of the gram */
    uint32_t pivot[BLOCK]; /* rows of the problem */
    uint32_t index[BLOCK]; /* of the gram */
    size_t m;              /* columns of the block */
    size_t max_m;          /* its maximum, at most BLOCK */
    double *own;           /* (m, rank) rows of L at the pivots */
    double *T; /* (BLOCK, BLOCK) lower triangle: the Schur complement at the pivots is T T' */
    double *K; /* (n, BLOCK) columns of K */
    struct error *error; /* of the workers */
    atomic_bool failed;
};

/* Draws up to max_m different rows, in ascending order, with probabilities proportional to rest
 * (stratified). */
static void draw(struct growth *growth, double total, struct random *random) {
    const struct low_rank *low = growth->low;
    double at[BLOCK], sum = 0;
    size_t max_m = growth->max_m;
    growth->m = 0;
    for (size_t b = 0; b < max_m; b++) {
        at[b] = ((double)b + random_unit(random)) / (double)max_m * total;
    }
    for (size_t i = 0, b = 0; i < low->n && b < max_m; i++) {
        sum += low->rest[i];
        bool taken = sum > at[b] && low->rest[i] > 0;
        if (taken) {
            growth->pivot[growth->m] = (uint32_t)i;
            growth->index[growth->m++] = growth->rows[i];
        }
        while (b < max_m && sum > at[b]) {
            b++;
        }
    }
}

/* own = the rows of L at the pivots. */
static void copy_pivot_rows(struct growth *growth) {
    const struct low_rank *low = growth->low;
    for (size_t a = 0; a < growth->m; a++) {
        memcpy(growth->own + a * low->rank, low->L + growth->pivot[a] * low->width,
               low->rank * sizeof *growth->own);
    }
}

/* K (n, m) -= L own': the Schur complement at n rows. */
static void subtract(const struct growth *growth, size_t n, const double *L, size_t width,
                     double *K) {
    const struct low_rank *low = growth->low;
    if (low->rank > 0) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)growth->m, (int)low->rank,
                    -1, L, (int)width, growth->own, (int)low->rank, 1, K, (int)growth->m);
    }
}

/* Computes T, and removes the pivots that the others leave too small an entry. */
static int factor_pivots(struct growth *growth, struct error *err) {
    size_t m = growth->m, n_used;
    uint32_t order[BLOCK], pivot[BLOCK], index[BLOCK];
    double largest = 0;
    copy_pivot_rows(growth);
    if (gram_block_exact(growth->gram, growth->index, m, growth->index, m, growth->T, err) < 0) {
        return -1;
    }
    subtract(growth, m, growth->own, growth->low->rank, growth->T);
    for (size_t a = 0; a < m; a++) {
        largest = fmax(largest, growth->T[a * m + a]);
    }
    if (cholesky_pivoted(growth->T, m, MIN_PIVOT * largest, &n_used, order, err) < 0) {
        return -1;
    }
    for (size_t a = 0; a < n_used; a++) {
        pivot[a] = growth->pivot[order[a]];
        index[a] = growth->index[order[a]];
        memmove(growth->T + a * n_used, growth->T + a * m, n_used * sizeof *growth->T);
    }
    memcpy(growth->pivot, pivot, n_used * sizeof *pivot);
    memcpy(growth->index, index, n_used * sizeof *index);
    growth->m = n_used;
    copy_pivot_rows(growth);
    return 0;
}

/* Task: the new columns at some rows. */
static void extend(void *argument, size_t task, size_t worker) {
    struct growth *growth = argument;
    struct low_rank *low = growth->low;
    size_t first = task * CHUNK, n = smaller(CHUNK, low->n - first), m = growth->m;
    double *K = growth->K + first * m;
    if (atomic_load(&growth->failed) ||
        gram_block_exact(growth->gram, growth->rows + first, n, growth->index, m, K,
                         &growth->error[worker]) < 0) {
        atomic_store(&growth->failed, true);
        return;
    }
    subtract(growth, n, low->L + first * low->width, low->width, K);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)n, (int)m, 1,
                growth->T, (int)m, K, (int)m);
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        memcpy(low->L + (first + i) * low->width + low->rank, K + i * m, m * sizeof *K);
        for (size_t a = 0; a < m; a++) {
            square += K[i * m + a] * K[i * m + a];
        }
        low->rest[first + i] = fmax(0, low->rest[first + i] - square);
    }
}

static double sum_of(const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
    }
    return sum;
}

static int grow(struct growth *growth, const struct low_rank_goal *goal, struct error *err) {
    struct low_rank *low = growth->low;
    struct random random;
    double total_trace = sum_of(low->rest, low->n), remaining = total_trace;
    random_start(&random, goal->seed, RANDOM_STREAM);
    while (low->rank + (goal->fill ? 1 : BLOCK) <= goal->max_rank &&
           remaining > goal->residual * total_trace) {
        growth->max_m = smaller(BLOCK, goal->max_rank - low->rank);
        draw(growth, remaining, &random);
        if (growth->m > 0 && factor_pivots(growth, err) < 0) {
            return -1;
        }
        if (growth->m == 0) { /* the Schur complement is only rounding */
            return 0;
        }
        threads_run(low->threads, n_chunks(low), extend, growth);
        if (error_first(growth->error, threads_count(low->threads), err) < 0) {
            return -1;
        }
        for (size_t a = 0; a < growth->m; a++) {
            low->rest[growth->pivot[a]] = 0;
            low->pivot[low->rank + a] = growth->pivot[a];
        }
        low->rank += growth->m;
        remaining = sum_of(low->rest, low->n);
    }
    return 0;
}

static int make_columns(struct low_rank *low, const struct gram *gram, const uint32_t *rows,
                        const struct low_rank_goal *goal, struct error *err) {
    struct growth growth = {.low = low, .gram = gram};
    uint32_t *index = memory_array(low->n, sizeof *index, "columns", err);
    const struct arrays arrays[] = {ARRAYS(BLOCK * low->width, double, &growth.own),
                                    ARRAYS((size_t)BLOCK * BLOCK, double, &growth.T),
                                    ARRAYS(low->n * BLOCK, double, &growth.K)};
    double *block = arrays_create(arrays, sizeof arrays / sizeof arrays[0], "columns", err);
    growth.error = memory_zeros(threads_count(low->threads), sizeof *growth.error, "columns", err);
    growth.rows = index;
    int status = index && block && growth.error ? 0 : -1;
    for (size_t i = 0; status == 0 && i < low->n; i++) {
        index[i] = rows ? rows[i] : (uint32_t)i;
    }
    status = status < 0 ? -1 : grow(&growth, goal, err);
    free(index);
    free(block);
    free(growth.error);
    return status;
}

double low_rank_bytes(size_t n, const struct low_rank_goal *goal) {
    double width = (double)goal->max_rank + 1, k = (double)goal->k;
    double wide = ((double)n + width + k) * width + (BLOCK + 2) * (double)n;
    double narrow = ((double)n + PARTS * k) * width + (double)n * k;
    return wide * sizeof(double) + narrow * sizeof(float);
}

int low_rank_create(struct low_rank *low, const struct gram *gram, const uint32_t *rows, size_t n,
                    const double *diagonal, const struct low_rank_goal *goal,
                    struct threads *threads, struct error *err) {
    size_t width = goal->max_rank + 1; /* one more for a constant */
    *low = (struct low_rank){.n = n, .width = width, .k = goal->k, .threads = threads};
    const struct arrays arrays[] = {
        ARRAYS(n * width, double, &low->L), ARRAYS(n, double, &low->rest, &low->inverse),
        ARRAYS(width * width, double, &low->M),
        ARRAYS(threads_count(threads) * CHUNK * BLOCK, double, &low->scaled),
        ARRAYS(width * goal->k, double, &low->sum)};
    low->block = arrays_create(arrays, sizeof arrays / sizeof arrays[0], "columns", err);
    low->pivot = memory_array(width, sizeof *low->pivot, "columns", err);
    low->narrow = memory_array(goal->k > 0 ? n : 0, width * sizeof(float), "columns", err);
    low->right = memory_array(n, goal->k * sizeof(float), "columns", err);
    low->part = memory_array(width, PARTS * goal->k * sizeof(float), "columns", err);
    if (!low->block || !low->pivot || !low->narrow || !low->right || !low->part) {
        low_rank_free(low);
        return -1;
    }
    memcpy(low->rest, diagonal, n * sizeof *diagonal);
    if (make_columns(low, gram, rows, goal, err) < 0) {
        low_rank_free(low);
        return -1;
    }
    return 0;
}

void low_rank_free(struct low_rank *low) {
    free(low->block);
    free(low->pivot);
    free(low->narrow);
    free(low->right);
    free(low->part);
    *low = (struct low_rank){0};
}

double low_rank_remaining_trace(const struct low_rank *low) {
    double remaining = 0, total_trace = 0;
    for (size_t i = 0; i < low->n; i++) {
        const double *row = low->L + i * low->width;
        remaining += low->rest[i];
        total_trace += low->rest[i] + cblas_ddot((int)low->rank, row, 1, row, 1);
    }
    return total_trace > 0 ? remaining / total_trace : 0;
}

void low_rank_coefficients(const struct low_rank *low, double *w, size_t k) {
    for (size_t a = low->rank; a-- > 0;) {
        const double *row = low->L + low->pivot[a] * low->width;
        for (size_t c = 0; c < k; c++) {
            w[a * k + c] /= row[a];
        }
        for (size_t b = 0; b < a; b++) {
            cblas_daxpy((int)k, -row[b], w + a * k, 1, w + b * k, 1);
        }
    }
}

void low_rank_add(struct low_rank *low, double constant) {
    if (constant > 0) {
        for (size_t i = 0; i < low->n; i++) {
            low->L[i * low->width + low->rank] = sqrt(constant);
        }
        low->rank++;
    }
}

/* ---- systems ---- */

/* Task: some rows of L' diag(inverse) L, up to the diagonal block. */
static void multiply_block(void *argument, size_t task, size_t worker) {
    const struct low_rank *low = argument;
    size_t first = task * BLOCK, m = smaller(BLOCK, low->rank - first);
    double *scaled = low->scaled + worker * CHUNK * BLOCK;
    for (size_t from = 0; from < low->n; from += CHUNK) {
        size_t n = smaller(CHUNK, low->n - from);
        for (size_t i = 0; i < n; i++) {
            const double *row = low->L + (from + i) * low->width + first;
            for (size_t a = 0; a < m; a++) {
                scaled[i * m + a] = low->inverse[from + i] * row[a];
            }
        }
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)m, (int)(first + m), (int)n, 1,
                    scaled, (int)m, low->L + from * low->width, (int)low->width, from > 0,
                    low->M + first * low->rank, (int)low->rank);
    }
}

int low_rank_factor(struct low_rank *low, double ridge) {
    for (size_t i = 0; i < low->n; i++) {
        low->inverse[i] = 1 / (low->rest[i] + ridge);
        for (size_t a = 0; a < low->rank; a++) {
            low->narrow[i * low->width + a] = (float)low->L[i * low->width + a];
        }
    }
    threads_run(low->threads, (low->rank + BLOCK - 1) / BLOCK, multiply_block, low);
    for (size_t a = 0; a < low->rank; a++) {
        low->M[a * low->rank + a] += 1;
    }
    return cholesky_factor(low->M, low->rank);
}

/* A solution in progress. */
struct solving {
    const struct low_rank *low;
    double *B; /* (n, k) */
};

static size_t part_start(const struct solving *solving, size_t part) {
    return solving->low->n * part / PARTS;
}

/* Task: B = diag(inverse) B at some rows, and their part of L'B. */
static void project(void *argument, size_t part, size_t worker) {
    (void)worker;
    const struct solving *solving = argument;
    const struct low_rank *low = solving->low;
    size_t first = part_start(solving, part), end = part_start(solving, part + 1), k = low->k;
    double *B = solving->B + first * k;
    float *right = low->right + first * k;
    for (size_t j = 0; j < (end - first) * k; j++) {
        B[j] *= low->inverse[first + j / k];
        right[j] = (float)B[j];
    }
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)low->rank, (int)k, (int)(end - first),
                1, low->narrow + first * low->width, (int)low->width, right, (int)k, 0,
                low->part + part * low->rank * k, (int)k);
}

/* Task: B -= diag(inverse) L sum at some rows. */
static void subtract_correction(void *argument, size_t chunk, size_t worker) {
    (void)worker;
    const struct solving *solving = argument;
    const struct low_rank *low = solving->low;
    size_t first = chunk * CHUNK, n = smaller(CHUNK, low->n - first), k = low->k;
    double *B = solving->B + first * k;
    float *right = low->right + first * k;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)k, (int)low->rank, 1,
                low->narrow + first * low->width, (int)low->width, low->part, (int)k, 0, right,
                (int)k);
    for (size_t j = 0; j < n * k; j++) {
        B[j] -= low->inverse[first + j / k] * (double)right[j];
    }
}

void low_rank_solve(const struct low_rank *low, double *B) {
    size_t k = low->k, size = low->rank * k;
    struct solving solving = {low, B};
    threads_run(low->threads, PARTS, project, &solving);
    for (size_t j = 0; j < size; j++) {
        low->sum[j] = 0;
        for (size_t part = 0; part < PARTS; part++) {
            low->sum[j] += (double)low->part[part * size + j];
        }
    }
    const enum CBLAS_TRANSPOSE half[] = {CblasNoTrans, CblasTrans};
    for (int h = 0; h < 2 && low->rank > 0; h++) {
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, half[h], CblasNonUnit, (int)low->rank,
                    (int)k, 1, low->M, (int)low->rank, low->sum, (int)k);
    }
    for (size_t j = 0; j < size; j++) {
        low->part[j] = (float)low->sum[j];
    }
    threads_run(low->threads, n_chunks(low), subtract_correction, &solving);
}
