#include "driver/precision.h"

enum { MOST_WIDE_ROWS = 8192 };
static const double WIDE_EPSILON = 1e-4;

bool precision_wide(size_t n_rows, double epsilon, size_t cache_bytes) {
    size_t most = epsilon < WIDE_EPSILON ? MOST_WIDE_ROWS : PRECISION_SMALL_ROWS;
    double n = (double)n_rows;
    return n_rows <= most && n * n / 2 * sizeof(double) <= (double)cache_bytes;
}
