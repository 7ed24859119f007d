#include "solvers/methods/stacked.h"

#include "common/base/memory.h"

#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern void dgeqp3_(const int *m, const int *n, double *a, const int *lda, int *pivot, double *tau,
                    double *work, const int *n_work, int *info);
extern void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau,
                    double *work, const int *n_work, int *info);

/* A row, or a column, by its largest entry. */
struct place {
    double size;
    size_t at;
};

struct stacked {
    size_t rows, n;
    bool once;
    double *A; /* (rows, n) row-major, the caller's */
    double *R; /* (rows, n) column-major: R in its upper half */
    double *tau, *work, *x;
    int n_work, *pivot;  /* (n) from 1 */
    struct place *place; /* (rows), then (n) of the columns */
};

int stacked_create(struct stacked **stacked, size_t rows, size_t n, bool once, struct error *err) {
    struct stacked *made = memory_zeros(1, sizeof *made, "a system", err);
    *stacked = NULL;
    if (!made) {
        return -1;
    }
    if (rows > INT_MAX || n > INT_MAX / 64) {
        free(made);
        return error_set(err, ERROR_RUNTIME, "a matrix of %zu rows is too large to be factored",
                         rows);
    }
    made->rows = rows;
    made->n = n;
    made->once = once;
    made->n_work = (int)(32 * (n + 1) + 2 * n);
    made->A = memory_zeros(rows, n * sizeof(double), "a system", err);
    made->R = memory_array(rows, n * sizeof(double), "a system", err);
    made->tau = memory_array(n, 2 * sizeof(double), "a system", err);
    made->work = memory_array((size_t)made->n_work, sizeof(double), "a system", err);
    made->pivot = memory_array(n, sizeof *made->pivot, "a system", err);
    made->place = memory_array(rows + n, sizeof *made->place, "a system", err);
    if (!made->A || !made->R || !made->tau || !made->work || !made->pivot || !made->place) {
        stacked_free(made);
        return -1;
    }
    made->x = made->tau + n;
    *stacked = made;
    return 0;
}

void stacked_free(struct stacked *stacked) {
    if (stacked) {
        free(stacked->A);
        free(stacked->R);
        free(stacked->tau);
        free(stacked->work);
        free(stacked->pivot);
        free(stacked->place);
        free(stacked);
    }
}

void stacked_clear(struct stacked *stacked) {
    memset(stacked->A, 0, stacked->rows * stacked->n * sizeof *stacked->A);
}

double *stacked_row(struct stacked *stacked, size_t i) {
    return stacked->A + i * stacked->n;
}

/* Largest first; of equals the first. */
static int compare(const void *a, const void *b) {
    const struct place *one = a, *other = b;
    if (one->size != other->size) {
        return one->size > other->size ? -1 : 1;
    }
    return one->at < other->at ? -1 : one->at > other->at;
}

/* R = A with its rows by size, and where these are sorted `once`, its columns. */
static void sort(struct stacked *stacked) {
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
    if (stacked->once) {
        qsort(column, n, sizeof *column, compare);
    }
    for (size_t i = 0; i < rows; i++) {
        const double *from = stacked->A + row[i].at * n;
        for (size_t k = 0; k < n; k++) {
            stacked->R[k * rows + i] = from[column[k].at];
        }
    }
}

int stacked_factor(struct stacked *stacked) {
    size_t rows = stacked->rows, n = stacked->n;
    int m = (int)rows, order = (int)n, info = 0;
    sort(stacked);
    if (stacked->once) {
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

void stacked_solve(const struct stacked *stacked, double *x) {
    size_t n = stacked->n;
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
