#include "fit/definiteness.h"

#include "common/base/memory.h"
#include "common/linear_algebra/cholesky.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A factorisation of so many rows takes about two seconds. */
enum { MOST_ROWS = 6000 };

/* The shift grows by this from the rounding of double to that of float. */
static const double STEP = 8;

/* The lower half of the matrix; returns its largest diagonal entry. */
static double fill(const struct kernel_rows *kernel_rows, const uint32_t *rows, size_t m,
                   double *K) {
    double largest = 0;
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j <= i; j++) {
            K[i * m + j] = kernel_value(kernel_rows, rows[i], kernel_rows, rows[j]);
        }
        largest = fmax(largest, fabs(K[i * m + i]));
    }
    return largest;
}

/* Whether all that row i has in the lower half is 0. */
static bool is_zero(const double *K, size_t m, size_t i) {
    bool zero = true;
    for (size_t j = 0; j < m; j++) {
        zero = zero && K[j < i ? i * m + j : j * m + i] == 0;
    }
    return zero;
}

/* Adds to each shift what the factorisation's own rounding may hide: its factor is that of a matrix
 * whose entries are within (m + 1) units of the roots of their rows' diagonal, so that m (m + 1) of
 * a row's own make up for all of them (Demmel, "On floating point errors in Cholesky", LAPACK
 * working note 14, 1989). */
static void pay(const double *size, size_t m, double *shift) {
    double part = (double)m * ((double)m + 1) * DBL_EPSILON / 2;
    for (size_t i = 0; i < m; i++) {
        shift[i] += part * (size[i] + shift[i]);
    }
}

/* Shifts (m) of m units of each row's own size, of stored matrices, whose values are off by parts
 * of their own, or if `common` of the largest; else as rounding moves entries, by units of the
 * reaches of their rows. own (m) gets the diagonal. Rows of zeros need none. Returns whether there
 * is a factorisation then. K (m, m) is work. */
static bool works(const struct kernel_rows *kernel_rows, const uint32_t *rows, const double *reach,
                  size_t m, double unit, bool common, double *K, double *own, double *shift) {
    bool stored = kernel_rows->kernel->type == KERNEL_PRECOMPUTED;
    double largest = fill(kernel_rows, rows, m, K);
    for (size_t i = 0; i < m; i++) {
        own[i] = fabs(K[i * m + i]);
        double size =
            stored ? (common ? largest : own[i]) : fmax(own[i], fmin(reach[i] * reach[i], largest));
        bool zero = stored && is_zero(K, m, i);
        shift[i] = zero ? 0 : (double)m * unit * size;
        K[i * m + i] += zero ? 1 : shift[i];
    }
    return cholesky_factor(K, m) == 0;
}

int definite_check(const struct kernel_rows *kernel_rows, const uint32_t *rows, const double *reach,
                   size_t m, bool *definite, double *shift, struct error *err) {
    *definite = false;
    memset(shift, 0, m * sizeof *shift);
    if (m > MOST_ROWS) {
        return 0;
    }
    double *K = memory_array(m + 1, m * sizeof *K, "a check of the kernel matrix", err);
    if (!K) {
        return -1;
    }
    /* values in a file were rounded when they were written, and again to float; where they are what
     * was left of larger ones, by parts of these */
    bool stored = kernel_rows->kernel->type == KERNEL_PRECOMPUTED;
    double most = stored ? FLT_EPSILON : DBL_EPSILON, *own = K + m * m;
    for (double unit = DBL_EPSILON; !*definite && unit <= most; unit *= STEP) {
        for (int common = 0; !*definite && common <= (stored ? 1 : 0); common++) {
            *definite = works(kernel_rows, rows, reach, m, unit, common, K, own, shift);
        }
    }
    if (*definite) {
        pay(own, m, shift);
    }
    free(K);
    return 0;
}
