#include "check/definite.h"

#include "common/base/memory.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

bool definite_always(const struct kernel *kernel) {
    switch (kernel->type) {
    case KERNEL_POLYNOMIAL:
        return kernel->coef0 >= 0 && kernel->gamma >= 0;
    case KERNEL_RBF:
    case KERNEL_LAPLACIAN:
        return kernel->gamma >= 0;
    case KERNEL_SIGMOID:
    case KERNEL_PRECOMPUTED:
        return false;
    default:
        return true;
    }
}

/* The lower half of the matrix. Returns whether the upper one is the same; *largest: on its diagonal;
 * *error: the sum of the squares of the radii, twice. */
static bool fill(const struct points *points, const uint32_t *used, size_t m, double *x,
                 struct dd *K, double *largest, double *error) {
    bool symmetric = true, stored = points->kernel.type == KERNEL_PRECOMPUTED;
    for (size_t i = 0; i < m; i++) {
        points_load(points, used[i], x);
        for (size_t j = 0; j <= i; j++) {
            struct ball value = points_kernel(points, used[i], x, used[j]);
            K[i * m + j] = value.m;
            *error += 2 * value.r * value.r;
            if (stored) { /* x does not count */
                symmetric =
                    symmetric && value.m.hi == points_kernel(points, used[j], x, used[i]).m.hi;
            }
        }
        *largest = fmax(*largest, fabs(K[i * m + i].hi));
    }
    return symmetric;
}

/* Factors the lower half of L in place; false where a pivot is not above 0. */
static bool factor(struct dd *L, size_t m) {
    for (size_t j = 0; j < m; j++) {
        for (size_t i = j; i < m; i++) {
            struct dd sum = L[i * m + j];
            for (size_t k = 0; k < j; k++) {
                sum = dd_add(sum, dd_negative(dd_multiply(L[i * m + k], L[j * m + k])));
            }
            if (i == j && !(sum.hi > 0)) {
                return false;
            }
            if (i == j) {
                double root = sqrt(sum.hi);
                struct dd rest = dd_add(sum, dd_negative(dd_two_product(root, root)));
                L[j * m + j] = dd_quick_sum(root, rest.hi / (2 * root));
            } else {
                L[i * m + j] = dd_divide(sum, L[j * m + j]);
            }
        }
    }
    return true;
}

/* What comes out is the factorisation of a matrix that differs from the one that went in by no more than
 * (m + 1) units of 2^-100 times its trace, in norm (Higham 2002, theorem 10.3), and that from the true
 * one by the radii: the shift is lifted by both. */
int definite_shift(const struct points *points, const uint32_t *used, size_t m, double *shift,
                   bool *found, bool *symmetric, struct error *err) {
    struct dd *K = memory_array(2 * m + 1, m * sizeof *K, "a check of the kernel matrix", err);
    double *x = memory_array(points->width, sizeof *x, "a row", err), largest = 0, error = 0;
    *found = false;
    *shift = 0;
    if (!K || !x) {
        free(K);
        free(x);
        return -1;
    }
    *symmetric = fill(points, used, m, x, K, &largest, &error);
    /* values in a file were rounded when they were written, and again to float */
    bool stored = points->kernel.type == KERNEL_PRECOMPUTED;
    double unit = 0x1p-90, most = stored ? FLT_EPSILON : 2 * DBL_EPSILON, M = (double)m;
    struct dd *L = K + m * m;
    for (; *symmetric && !*found && unit <= most; unit *= unit < 0x1p-60 ? 0x1p15 : 4) {
        memcpy(L, K, m * m * sizeof *L);
        *shift = M * unit * largest;
        for (size_t i = 0; i < m; i++) {
            L[i * m + i] = dd_add(L[i * m + i], (struct dd){*shift, 0});
        }
        *found = factor(L, m);
    }
    *shift += (M + 1) * 0x1p-98 * M * (largest + *shift) + 2 * sqrt(error);
    free(K);
    free(x);
    return 0;
}
