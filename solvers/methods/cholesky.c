#include "solvers/methods/cholesky.h"

#include <cblas.h>
#include <limits.h>

/* LAPACK, column-major: its upper half is our lower one. */
extern void dpotrf_(const char *half, const int *n, double *a, const int *lda, int *info);

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
