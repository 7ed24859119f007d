#include "solvers/methods/cholesky.h"

#include "common/base/memory.h"

#include <cblas.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* LAPACK, column-major: its upper half is our lower one. */
extern void dpotrf_(const char *half, const int *n, double *a, const int *lda, int *info);
extern void dpstrf_(const char *half, const int *n, double *a, const int *lda, int *pivot,
                    int *rank, const double *least, double *work, int *info);

int cholesky_factor(double *A, size_t n) {
    if (n == 0) {
        return 0;
    }
    if (n > INT_MAX) {
        return -1;
    }
    int order = (int)n, info = 0;
    dpotrf_("U", &order, A, &order, &info);
    return info == 0 ? 0 : -1;
}

void cholesky_solve(const double *L, size_t n, double *x) {
    if (n > 0) {
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, L, (int)n, x, 1);
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)n, L, (int)n, x, 1);
    }
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
        dpstrf_("U", &order, A, &order, from, &found, &least, work, &info);
        *rank = (size_t)found;
        for (size_t i = 0; i < n; i++) {
            pivot[i] = (uint32_t)from[i] - 1;
        }
    }
    free(from);
    free(work);
    return status;
}
