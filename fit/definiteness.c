/* The check of definiteness: shifts of increasing size, until the Cholesky factorisation succeeds.
 * O(m^3 / 3) per attempt. */
#include "fit/definiteness.h"

#include "common/base/memory.h"
#include "common/kernel/rounding.h"
#include "common/linear_algebra/cholesky.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A factorisation of this many rows takes about two seconds. */
enum { MAX_ROWS = 6000 };

/* The shift grows by this factor, from the rounding unit of double to that of float. */
static const double STEP = 8;

/* Fills the lower half of K (m, m). Returns its largest diagonal entry. */
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

/* Whether all entries of row i are 0, by the lower half. */
static bool is_zero(const double *K, size_t m, size_t i) {
    bool zero = true;
    for (size_t j = 0; j < m; j++) {
        zero = zero && K[j < i ? i * m + j : j * m + i] == 0;
    }
    return zero;
}

/* Adds the rounding errors of the factorisation to each shift. The computed factor is the exact one
 * of a matrix whose entry (i, j) differs by at most (m + 1) units times sqrt(K_ii K_jj); m (m +
 * 1) units of a row's own diagonal entry cover these differences (Demmel, "On floating point errors
 * in Cholesky", LAPACK working note 14, 1989). */
static void add_factor_rounding(const double *size, size_t m, double *shift) {
    double part = (double)m * ((double)m + 1) * DBL_EPSILON / 2;
    for (size_t i = 0; i < m; i++) {
        shift[i] += part * (size[i] + shift[i]);
    }
}

/* Whether the matrix has a factorisation with shifts of m `unit` times a size. For precomputed
 * matrices the size is the row's diagonal entry, or if `common` the largest one, because their
 * values have relative errors; otherwise it is the larger of the diagonal entry and the norm bound
 * squared. Rows of zeros get no shift. shift (m) gets the shifts, own (m) the diagonal; K (m, m) is
 * work. */
static bool factors_with_shift(const struct kernel_rows *kernel_rows, const uint32_t *rows,
                               const double *norm_bound, size_t m, double unit, bool common,
                               double *K, double *own, double *shift) {
    bool stored = kernel_rows->kernel->type == KERNEL_PRECOMPUTED;
    double largest = fill(kernel_rows, rows, m, K);
    for (size_t i = 0; i < m; i++) {
        own[i] = fabs(K[i * m + i]);
        double size = stored ? (common ? largest : own[i])
                             : fmax(own[i], fmin(norm_bound[i] * norm_bound[i], largest));
        bool zero = stored && is_zero(K, m, i);
        shift[i] = zero ? 0 : (double)m * unit * size;
        K[i * m + i] += zero ? 1 : shift[i];
    }
    return cholesky_factor(K, m) == 0;
}

int definite_check(const struct kernel_rows *kernel_rows, const uint32_t *rows,
                   const double *norm_bound, size_t m, bool *definite, double *shift,
                   struct error *err) {
    *definite = false;
    memset(shift, 0, m * sizeof *shift);
    if (m > MAX_ROWS) {
        return 0;
    }
    double *K = memory_array(m + 1, m * sizeof *K, "a check of the kernel matrix", err);
    if (!K) {
        return -1;
    }
    /* Values in a file were rounded when they were written, and again to float. If they are
     * differences of larger numbers, the rounding is relative to those: `common`. */
    bool stored = kernel_rows->kernel->type == KERNEL_PRECOMPUTED;
    double max_unit = stored ? FLT_EPSILON : DBL_EPSILON, *own = K + m * m;
    for (double unit = DBL_EPSILON; !*definite && unit <= max_unit; unit *= STEP) {
        for (int common = 0; !*definite && common <= (stored ? 1 : 0); common++) {
            *definite =
                factors_with_shift(kernel_rows, rows, norm_bound, m, unit, common, K, own, shift);
        }
    }
    if (*definite) {
        add_factor_rounding(own, m, shift);
        double entries = stored ? 0 : (double)m * kernel_rounding(kernel_rows, kernel_rows);
        for (size_t i = 0; i < m; i++) {
            shift[i] = 2 * (shift[i] + entries * norm_bound[i] * norm_bound[i]);
        }
    }
    free(K);
    return 0;
}
