/* The calls of LAPACK. */
#include "common/linear_algebra/svd.h"

#include "common/base/memory.h"

#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* LAPACK is column-major: it sees A', whose left factor is our right one. */
extern void dgesdd_(const char *job, const int *m, const int *n, double *a, const int *lda,
                    double *s, double *u, const int *ldu, double *vt, const int *ldvt, double *work,
                    const int *lwork, int *iwork, int *info);

extern void dsyevr_(const char *job, const char *range, const char *half, const int *n, double *a,
                    const int *lda, const double *low, const double *high, const int *first,
                    const int *last, const double *tolerance, int *found, double *value,
                    double *vectors, const int *ldz, int *support, double *work, const int *lwork,
                    int *iwork, const int *liwork, int *info);

static bool all_finite(const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

int svd_thin(const double *A, size_t m, size_t n, double *U, double *s, double *Vt,
             struct error *err) {
    size_t k = m < n ? m : n;
    if (k == 0) {
        return 0;
    }
    if (m > INT_MAX || n > INT_MAX) {
        return error_set(err, ERROR_RUNTIME, "a matrix of %zu x %zu is too large", m, n);
    }
    if (!all_finite(A, m * n)) { /* LAPACK may not terminate on these */
        return error_set(err, ERROR_RUNTIME, "scores overflow: scale the data or lower the cost");
    }
    int rows = (int)n, columns = (int)m, least = (int)k, query = -1, info = 0;
    double size = 0;
    dgesdd_("S", &rows, &columns, Vt, &rows, s, Vt, &rows, U, &least, &size, &query, NULL, &info);
    double *copy = memory_array(m * n, sizeof *copy, "a matrix", err);
    double *work = memory_array((size_t)size + 1, sizeof *work, "singular values", err);
    int *index = memory_array(8 * k, sizeof *index, "singular values", err);
    int status = -1;
    if (copy && work && index) {
        int length = (int)size;
        memcpy(copy, A, m * n * sizeof *copy);
        dgesdd_("S", &rows, &columns, copy, &rows, s, Vt, &rows, U, &least, work, &length, index,
                &info);
        status = info == 0 ? 0
                           : error_set(err, ERROR_RUNTIME,
                                       "the singular values of a matrix were not found");
    }
    free(copy);
    free(work);
    free(index);
    return status;
}

void matrix_product(const double *A, const double *B, size_t m, size_t k, size_t n, double *C) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, 1, A, (int)k, B,
                (int)n, 0, C, (int)n);
}

/* With L = U1 diag(s1) V1' and R = U2 diag(s2) V2', it remains to decompose the small matrix
 * diag(s1) V1' U2 diag(s2). */
int svd_product(const double *L, const double *R, size_t m, size_t k, size_t n, size_t r, double *U,
                double *s, double *Vt, struct error *err) {
    size_t a = m < k ? m : k, b = k < n ? k : n, c = a < b ? a : b;
    size_t total = m * a + a + a * k + k * b + b + b * n + a * b + a * c + c + c * b;
    double *work = memory_array(total, sizeof *work, "singular values", err);
    if (!work) {
        return -1;
    }
    double *U1 = work, *s1 = U1 + m * a, *V1t = s1 + a, *U2 = V1t + a * k, *s2 = U2 + k * b;
    double *V2t = s2 + b, *core = V2t + b * n, *Uc = core + a * b, *sc = Uc + a * c, *Vct = sc + c;
    int status = -1;
    if (svd_thin(L, m, k, U1, s1, V1t, err) == 0 && svd_thin(R, k, n, U2, s2, V2t, err) == 0) {
        matrix_product(V1t, U2, a, k, b, core);
        for (size_t i = 0; i < a; i++) {
            for (size_t j = 0; j < b; j++) {
                core[i * b + j] *= s1[i] * s2[j];
            }
        }
        status = svd_thin(core, a, b, Uc, sc, Vct, err);
    }
    if (status == 0) {
        for (size_t i = 0; i < a; i++) { /* keep the first r of c columns */
            memmove(Uc + i * r, Uc + i * c, r * sizeof *Uc);
        }
        matrix_product(U1, Uc, m, a, r, U);
        memcpy(s, sc, r * sizeof *s);
        matrix_product(Vct, V2t, r, b, n, Vt);
    }
    free(work);
    return status;
}

int least_eigenvalue(double *A, size_t n, double *least, struct error *err) {
    enum { WORK = 26, INDEX = 10 }; /* work numbers per row that LAPACK requires */
    *least = (double)NAN;
    if (n == 0 || n > INT_MAX / WORK || !all_finite(A, n * n)) {
        return 0;
    }
    double *work = memory_array(n, (WORK + 1) * sizeof *work, "eigenvalues", err);
    int *index = memory_array(n, (INDEX + 2) * sizeof *index, "eigenvalues", err);
    int status = -1;
    if (work && index) {
        double none = 0;
        int order = (int)n, first = 1, size = WORK * order, index_size = INDEX * order;
        int found = 0, info = 0;
        dsyevr_("N", "I", "U", &order, A, &order, &none, &none, &first, &first, &none, &found, work,
                NULL, &order, index, work + n, &size, index + 2 * n, &index_size, &info);
        *least = info == 0 && found == 1 ? work[0] : (double)NAN;
        status = 0;
    }
    free(work);
    free(index);
    return status;
}
