/* QR by LAPACK, or Cholesky where the condition number permits. */
#include "common/linear_algebra/least_squares.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/linear_algebra/cholesky.h"

#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern void dgeqp3_(const int *m, const int *n, double *a, const int *lda, int *pivot, double *tau,
                    double *work, const int *n_work, int *info);
extern void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau,
                    double *work, const int *n_work, int *info);

extern void dpocon_(const char *half, const int *n, const double *a, const int *lda,
                    const double *norm, double *condition, double *work, int *whole, int *info);

/* The least reciprocal condition number with which the sum is factored: each refinement then gains
 * three digits. */
static const double MIN_RECIPROCAL_CONDITION = 1e-12;

/* A row or column with its largest entry, for sorting. */
struct place {
    double size;
    size_t at;
};

struct least_squares {
    size_t rows, n; /* rows: those of E included */
    size_t ones;
    bool refined;
    bool summed;   /* R is (n, n), row-major: the Cholesky factor of the sum, in its lower half */
    double *block; /* all arrays of doubles */
    double *A;     /* (rows, n) row-major, the caller's, then the rows of E */
    double *R;     /* (rows, n) column-major: R in its upper half */
    double *tau, *x, *scale; /* (n); scale: of the columns of a sum */
    double *work;            /* (n_work) */
    int n_work, *pivot;      /* (n) from 1 */
    struct place *place;     /* (rows), then (n) of the columns */
};

int least_squares_create(struct least_squares **stacked, size_t rows, size_t n, size_t ones,
                         bool refined, struct error *err) {
    struct least_squares *made = memory_zeros(1, sizeof *made, "a system", err);
    *stacked = NULL;
    if (!made) {
        return -1;
    }
    if (rows > INT_MAX / 2 || n > INT_MAX / 64) {
        free(made);
        return error_set(err, ERROR_RUNTIME, "a matrix of %zu rows is too large to be factored",
                         rows);
    }
    rows += ones;
    made->rows = rows;
    made->n = n;
    made->ones = ones;
    made->refined = refined;
    made->n_work = (int)(32 * (n + 1) + 2 * n);
    made->block = ARRAYS_CREATE("a system", err, ARRAYS(rows * n, double, &made->A, &made->R),
                                ARRAYS(n, double, &made->tau, &made->x, &made->scale),
                                ARRAYS((size_t)made->n_work, double, &made->work));
    made->pivot = memory_array(n, sizeof *made->pivot, "a system", err);
    made->place = memory_array(rows + n, sizeof *made->place, "a system", err);
    if (!made->block || !made->pivot || !made->place) {
        least_squares_free(made);
        return -1;
    }
    for (size_t k = 0; k < ones; k++) {
        least_squares_row(made, rows - ones + k)[k] = 1;
    }
    *stacked = made;
    return 0;
}

void least_squares_free(struct least_squares *stacked) {
    if (stacked) {
        free(stacked->block);
        free(stacked->pivot);
        free(stacked->place);
        free(stacked);
    }
}

double *least_squares_row(struct least_squares *stacked, size_t i) {
    return stacked->A + i * stacked->n;
}

/* Descending by size, then ascending by index. */
static int compare(const void *a, const void *b) {
    const struct place *one = a, *other = b;
    if (one->size != other->size) {
        return one->size > other->size ? -1 : 1;
    }
    return one->at < other->at ? -1 : one->at > other->at;
}

/* R = A with its rows sorted by size, and its columns if `refined`. */
static void sort(struct least_squares *stacked) {
    size_t rows = stacked->rows, n = stacked->n;
    struct place *row = stacked->place, *column = row + rows;
    for (size_t k = 0; k < n; k++) {
        column[k] = (struct place){0, k};
    }
    for (size_t i = 0; i < rows; i++) {
        row[i] = (struct place){0, i};
        for (size_t k = 0; k < n; k++) {
            double size = fabs(stacked->A[i * n + k]);
            row[i].size = size > row[i].size ? size : row[i].size;
            column[k].size = size > column[k].size ? size : column[k].size;
        }
    }
    qsort(row, rows, sizeof *row, compare);
    if (stacked->refined) {
        qsort(column, n, sizeof *column, compare);
    }
    for (size_t i = 0; i < rows; i++) {
        const double *from = stacked->A + row[i].at * n;
        for (size_t k = 0; k < n; k++) {
            stacked->R[k * rows + i] = from[column[k].at];
        }
    }
}

/* R = A'A + E with columns scaled to length 1; *norm: its 1-norm. False if it is not finite or a
 * column is 0. */
static bool form_sum(struct least_squares *stacked, double *norm) {
    size_t n = stacked->n;
    double *R = stacked->R, *scale = stacked->scale, *sum = stacked->x;
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)n, (int)(stacked->rows - stacked->ones),
                1, stacked->A, (int)n, 0, R, (int)n);
    for (size_t k = 0; k < n; k++) {
        R[k * n + k] += k < stacked->ones ? 1 : 0;
        scale[k] = 1 / sqrt(R[k * n + k]);
        sum[k] = 0;
    }
    for (size_t k = 0; k < n; k++) {
        for (size_t l = 0; l <= k; l++) {
            R[k * n + l] *= scale[k] * scale[l];
            sum[k] += fabs(R[k * n + l]);
            sum[l] += l < k ? fabs(R[k * n + l]) : 0;
        }
    }
    bool finite = true;
    *norm = 0;
    for (size_t k = 0; k < n; k++) {
        *norm = fmax(*norm, sum[k]);
        finite = finite && isfinite(sum[k]);
    }
    return finite;
}

static bool factor_sum(struct least_squares *stacked) {
    double norm, condition = 0;
    int order = (int)stacked->n, info;
    if (!form_sum(stacked, &norm) || cholesky_factor(stacked->R, stacked->n) < 0) {
        return false;
    }
    dpocon_("U", &order, stacked->R, &order, &norm, &condition, stacked->work, stacked->pivot,
            &info);
    return info == 0 && condition >= MIN_RECIPROCAL_CONDITION;
}

int least_squares_factor(struct least_squares *stacked) {
    size_t rows = stacked->rows, n = stacked->n;
    int m = (int)rows, order = (int)n, info = 0;
    stacked->summed = stacked->refined && factor_sum(stacked);
    if (stacked->summed) {
        return 0;
    }
    sort(stacked);
    if (stacked->refined) {
        for (size_t k = 0; k < n; k++) {
            stacked->pivot[k] = (int)stacked->place[rows + k].at + 1;
        }
        dgeqrf_(&m, &order, stacked->R, &m, stacked->tau, stacked->work, &stacked->n_work, &info);
    } else {
        memset(stacked->pivot, 0, n * sizeof *stacked->pivot);
        dgeqp3_(&m, &order, stacked->R, &m, stacked->pivot, stacked->tau, stacked->work,
                &stacked->n_work, &info);
    }
    for (size_t k = 0; info == 0 && k < n; k++) {
        double diagonal = fabs(stacked->R[k * rows + k]);
        info = diagonal > 0 && isfinite(diagonal) ? 0 : 1;
    }
    return info == 0 ? 0 : -1;
}

void least_squares_solve(const struct least_squares *stacked, double *x) {
    size_t n = stacked->n;
    for (size_t k = 0; stacked->summed && k < n; k++) {
        x[k] *= stacked->scale[k];
    }
    if (stacked->summed) {
        cholesky_solve(stacked->R, n, x);
        for (size_t k = 0; k < n; k++) {
            x[k] *= stacked->scale[k];
        }
        return;
    }
    for (size_t k = 0; k < n; k++) {
        stacked->x[k] = x[stacked->pivot[k] - 1];
    }
    const enum CBLAS_TRANSPOSE half[] = {CblasTrans, CblasNoTrans};
    for (int h = 0; h < 2; h++) {
        cblas_dtrsv(CblasColMajor, CblasUpper, half[h], CblasNonUnit, (int)n, stacked->R,
                    (int)stacked->rows, stacked->x, 1);
    }
    for (size_t k = 0; k < n; k++) {
        x[stacked->pivot[k] - 1] = stacked->x[k];
    }
}
