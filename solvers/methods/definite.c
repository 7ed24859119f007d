#include "solvers/methods/definite.h"

#include "common/base/memory.h"
#include "solvers/methods/cholesky.h"

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

/* Rounding moves an entry by units of the reaches of its rows, and the factorisation by units of
 * their diagonal's root (Demmel, "On floating point errors in Cholesky", LAPACK working note 14,
 * 1989). */
int definite_check(const struct kernel_rows *kernel_rows, const uint32_t *rows, const double *reach,
                   size_t m, bool *definite, double *shift, struct error *err) {
    *definite = false;
    memset(shift, 0, m * sizeof *shift);
    if (m > MOST_ROWS) {
        return 0;
    }
    double *K = memory_array(m, m * sizeof *K, "a check of the kernel matrix", err);
    if (!K) {
        return -1;
    }
    /* values in a file were rounded when they were written, and again to float */
    bool stored = kernel_rows->kernel->type == KERNEL_PRECOMPUTED;
    for (double unit = DBL_EPSILON; !*definite && unit <= (stored ? FLT_EPSILON : DBL_EPSILON);
         unit *= STEP) {
        double largest = fill(kernel_rows, rows, m, K);
        for (size_t i = 0; i < m; i++) { /* stored values are off by parts of their own */
            double own = fabs(K[i * m + i]);
            double size = stored ? own : fmax(own, fmin(reach[i] * reach[i], largest));
            shift[i] = (double)m * unit * size;
            K[i * m + i] += stored && is_zero(K, m, i) ? 1 : shift[i];
        }
        *definite = cholesky_factor(K, m) == 0;
    }
    free(K);
    return 0;
}
