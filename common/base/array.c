/* Vectorised loops over arrays of doubles. */
#include "common/base/array.h"

#include "common/base/dispatch.h"

DISPATCH double array_dot(const double *a, const double *b, size_t n) {
    enum { LANES = 32 };
    double sum[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (size_t k = 0; k < LANES; k++) {
            sum[k] += a[i + k] * b[i + k];
        }
    }
    double total = 0;
    for (; i < n; i++) {
        total += a[i] * b[i];
    }
    for (size_t k = 0; k < LANES; k++) {
        total += sum[k];
    }
    return total;
}

DISPATCH void array_add(double *restrict y, double factor, const double *restrict x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        y[i] += factor * x[i];
    }
}
