#include "solvers/methods/stacked.h"

#include "common/base/memory.h"

#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern void dgeqp3_(const int *m, const int *n, double *a, const int *lda, int *pivot, double *tau,
                    double *work, const int *n_work, int *info);

/* A row, by its largest entry. */
struct place {
    double size;
    size_t row;
};

struct stacked {
    size_t rows, n;
    double *A; /* (rows, n) row-major, the caller's */
    double *R; /* (rows, n) column-major: R in its upper half */
    double *tau, *work, *x;
    int n_work, *pivot; /* (n) from 1 */
    struct place *place;
};

int stacked_create(struct stacked **stacked, size_t rows, size_t n, struct error *err) {
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
    made->n_work = (int)(32 * (n + 1) + 2 * n);
    made->A = memory_zeros(rows, n * sizeof(double), "a system", err);
    made->R = memory_array(rows, n * sizeof(double), "a system", err);
    made->tau = memory_array(n, 2 * sizeof(double), "a system", err);
    made->work = memory_array((size_t)made->n_work, sizeof(double), "a system", err);
    made->pivot = memory_array(n, sizeof *made->pivot, "a system", err);
    made->place = memory_array(rows, sizeof *made->place, "a system", err);
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
    return one->row < other->row ? -1 : one->row > other->row;
}

int stacked_factor(struct stacked *stacked) {
    size_t rows = stacked->rows, n = stacked->n;
    for (size_t i = 0; i < rows; i++) {
        double size = 0;
        for (size_t k = 0; k < n; k++) {
            size = fmax(size, fabs(stacked->A[i * n + k]));
        }
        stacked->place[i] = (struct place){size, i};
    }
    qsort(stacked->place, rows, sizeof *stacked->place, compare);
    for (size_t i = 0; i < rows; i++) {
        const double *row = stacked->A + stacked->place[i].row * n;
        for (size_t k = 0; k < n; k++) {
            stacked->R[k * rows + i] = row[k];
        }
    }
    memset(stacked->pivot, 0, n * sizeof *stacked->pivot);
    int m = (int)rows, order = (int)n, info = 0;
    dgeqp3_(&m, &order, stacked->R, &m, stacked->pivot, stacked->tau, stacked->work,
            &stacked->n_work, &info);
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
