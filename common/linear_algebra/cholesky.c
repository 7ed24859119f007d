/* Factorisations and solutions, blocked for several threads. */
#include "common/linear_algebra/cholesky.h"

#include "common/base/flush.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"

#include <cblas.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 256,      /* columns of L that are computed together */
    TASK_ROWS = 512,  /* rows of the remaining matrix that one task updates */
    SERIAL = 1 << 23, /* fewer products than this run on one thread */
    TILE = 64         /* rows and columns of a tile that is mirrored */
};

/* The first ridge, the factor to the next, and the largest. */
static const double RIDGE_FIRST = 1e-15, RIDGE_GROWTH = 100, RIDGE_MAX = 1e-3;

/* LAPACK, column-major: its upper half is our lower one. */
extern void dpotrf_(const char *half, const int *n, double *a, const int *lda, int *info);
extern void dpotri_(const char *half, const int *n, double *a, const int *lda, int *info);
extern void dpstrf_(const char *half, const int *n, double *a, const int *lda, int *pivot,
                    int *rank, const double *least, double *work, int *info);

typedef void lapack_in_place(const char *half, const int *n, double *a, const int *lda, int *info);

static int run_in_place(lapack_in_place *routine, double *A, size_t n) {
    if (n == 0) {
        return 0;
    }
    if (n > INT_MAX) {
        return -1;
    }
    int order = (int)n, info = 0;
    unsigned mode = flush_begin();
    routine("U", &order, A, &order, &info);
    flush_set_mode(mode);
    return info == 0 ? 0 : -1;
}

int cholesky_factor(double *A, size_t n) {
    return run_in_place(dpotrf_, A, n);
}

/* ---- regularised ---- */

double cholesky_next_ridge(double ridge) {
    double next = ridge > 0 ? RIDGE_GROWTH * ridge : RIDGE_FIRST;
    return next <= RIDGE_MAX ? next : INFINITY;
}

void cholesky_mirror(double *A, size_t n, bool from_lower) {
    for (size_t top = 0; top < n; top += TILE) {
        for (size_t left = 0; left <= top; left += TILE) {
            for (size_t i = top; i < smaller(n, top + TILE); i++) {
                for (size_t j = left; j < smaller(i, left + TILE); j++) {
                    *(from_lower ? A + j * n + i : A + i * n + j) =
                        A[from_lower ? i * n + j : j * n + i];
                }
            }
        }
    }
}

/* Saves the strict lower triangle of A in the strict upper one, row j in row n - 1 - j; or with
 * `back` restores it. */
static void save_lower(double *A, size_t n, bool back) {
    for (size_t j = 1; j < n; j++) {
        double *row = A + j * n, *saved = A + (n - 1 - j) * n + n - j;
        memcpy(back ? row : saved, back ? saved : row, j * sizeof *A);
    }
}

int cholesky_regularised(double *A, size_t n, double *diagonal) {
    for (size_t i = 0; i < n; i++) {
        diagonal[i] = A[i * n + i];
    }
    save_lower(A, n, false);
    double ridge = 0;
    while (cholesky_factor(A, n) < 0) {
        ridge = cholesky_next_ridge(ridge);
        if (ridge == INFINITY) {
            return -1;
        }
        save_lower(A, n, true);
        for (size_t i = 0; i < n; i++) {
            A[i * n + i] = diagonal[i] * (1 + ridge);
        }
    }
    return 0;
}

/* ---- by blocks ---- */

/* A block of columns of L, and the matrix or solution that it updates. */
struct block {
    double *A;            /* (n, n) of a factorisation */
    const double *L;      /* (n, n) of a solution */
    size_t n, first, end; /* columns of the block, and rows of its diagonal part */
    double *X;            /* (n, k) of a solution */
    size_t k;
};

static size_t row_tasks(size_t rows) {
    return (rows + TASK_ROWS - 1) / TASK_ROWS;
}

/* Runs a task over `rows` rows, each of which takes `each` products per column of the block. */
static void run_rows(struct threads *threads, struct block *block, size_t rows, size_t each,
                     threads_task task) {
    double products = (double)rows * (double)(block->end - block->first) * (double)each;
    threads_run(products < SERIAL ? NULL : threads, row_tasks(rows), task, block);
}

/* Task: rows of L below the diagonal block. */
static void divide_rows(void *argument, size_t task, size_t worker) {
    const struct block *block = argument;
    size_t n = block->n, row = block->end + task * TASK_ROWS, rows = smaller(TASK_ROWS, n - row);
    (void)worker;
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)rows,
                (int)(block->end - block->first), 1, block->A + block->first * n + block->first,
                (int)n, block->A + row * n + block->first, (int)n);
}

/* Task: updates rows of the remaining matrix (the Schur complement), the longest rows first. */
static void reduce_rows(void *argument, size_t task, size_t worker) {
    const struct block *block = argument;
    size_t n = block->n, first = block->first, end = block->end;
    size_t row = end + (row_tasks(n - end) - 1 - task) * TASK_ROWS;
    int rows = (int)smaller(TASK_ROWS, n - row), width = (int)(end - first);
    double *A = block->A;
    (void)worker;
    if (row > end) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, (int)(row - end), width, -1,
                    A + row * n + first, (int)n, A + end * n + first, (int)n, 1, A + row * n + end,
                    (int)n);
    }
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, rows, width, -1, A + row * n + first,
                (int)n, 1, A + row * n + row, (int)n);
}

int cholesky_factor_blocks(double *A, size_t n, struct threads *threads) {
    if (n > INT_MAX) {
        return -1;
    }
    int info = 0;
    unsigned mode = flush_begin();
    for (size_t first = 0; info == 0 && first < n; first += BLOCK) {
        struct block block = {.A = A, .n = n, .first = first, .end = smaller(n, first + BLOCK)};
        int order = (int)(block.end - first), stride = (int)n;
        dpotrf_("U", &order, A + first * n + first, &stride, &info);
        if (info == 0) {
            run_rows(threads, &block, n - block.end, BLOCK / 2, divide_rows);
            run_rows(threads, &block, n - block.end, (n - block.end) / 2, reduce_rows);
        }
    }
    flush_set_mode(mode);
    return info == 0 ? 0 : -1;
}

/* Task of forward substitution: subtracts the block's solution from the rows below it. */
static void forward_rows(void *argument, size_t task, size_t worker) {
    const struct block *block = argument;
    size_t n = block->n, row = block->end + task * TASK_ROWS;
    int k = (int)block->k;
    (void)worker;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)smaller(TASK_ROWS, n - row), k,
                (int)(block->end - block->first), -1, block->L + row * n + block->first, (int)n,
                block->X + block->first * block->k, k, 1, block->X + row * block->k, k);
}

/* Task of back substitution with L': subtracts it from the rows above it. */
static void backward_rows(void *argument, size_t task, size_t worker) {
    const struct block *block = argument;
    size_t n = block->n, row = task * TASK_ROWS;
    int k = (int)block->k;
    (void)worker;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans,
                (int)smaller(TASK_ROWS, block->first - row), k, (int)(block->end - block->first),
                -1, block->L + block->first * n + row, (int)n, block->X + block->first * block->k,
                k, 1, block->X + row * block->k, k);
}

/* Solves the block's own rows. */
static void solve_block(const struct block *block, enum CBLAS_TRANSPOSE half) {
    size_t n = block->n, first = block->first;
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, half, CblasNonUnit, (int)(block->end - first),
                (int)block->k, 1, block->L + first * n + first, (int)n, block->X + first * block->k,
                (int)block->k);
}

void cholesky_solve_columns(const double *L, size_t n, double *X, size_t k,
                            struct threads *threads) {
    struct block block = {.L = L, .n = n, .X = X, .k = k};
    unsigned mode = flush_begin();
    for (; block.first < n; block.first += BLOCK) {
        block.end = smaller(n, block.first + BLOCK);
        solve_block(&block, CblasNoTrans);
        run_rows(threads, &block, n - block.end, k, forward_rows);
    }
    while (block.first > 0) {
        block.first -= BLOCK;
        block.end = smaller(n, block.first + BLOCK);
        solve_block(&block, CblasTrans);
        run_rows(threads, &block, block.first, k, backward_rows);
    }
    flush_set_mode(mode);
}

/* ---- one thread ---- */

void cholesky_solve(const double *L, size_t n, double *x) {
    unsigned mode = flush_begin();
    if (n > 0) {
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, L, (int)n, x, 1);
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)n, L, (int)n, x, 1);
    }
    flush_set_mode(mode);
}

int cholesky_invert(double *L, size_t n) {
    return run_in_place(dpotri_, L, n);
}

int cholesky_pivoted(double *A, size_t n, double least, size_t *rank, uint32_t *pivot,
                     struct error *err) {
    *rank = 0;
    if (n > INT_MAX) {
        return error_set(err, ERROR_RUNTIME, "a matrix of %zu rows is too large to be factored", n);
    }
    int *from = memory_array(n, sizeof *from, "a factor", err);
    double *work = memory_array(n, 2 * sizeof *work, "a factor", err);
    int status = from && work ? 0 : -1;
    if (status == 0 && n > 0) {
        double largest = 0;
        for (size_t i = 0; i < n; i++) {
            largest = fmax(largest, A[i * n + i]);
        }
        least = fmax(least, (double)n * (DBL_EPSILON / 2) * largest);
        int order = (int)n, found = 0, info = 0;
        unsigned mode = flush_begin();
        dpstrf_("U", &order, A, &order, from, &found, &least, work, &info);
        flush_set_mode(mode);
        *rank = (size_t)found;
        for (size_t i = 0; i < n; i++) {
            pivot[i] = (uint32_t)from[i] - 1;
        }
    }
    free(from);
    free(work);
    return status;
}
