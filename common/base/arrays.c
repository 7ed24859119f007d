/* Several arrays in one allocation (arrays.h). */
#include "common/base/arrays.h"

#include "common/base/memory.h"

#include <stdint.h>

enum { ALIGNED = 64 / sizeof(double) };

/* Doubles from the start of an array of n to that of the next one; a size that overflows stays
 * too large for memory_zeros. */
static size_t stride(size_t n) {
    return n > SIZE_MAX - ALIGNED ? n : (n + ALIGNED - 1) / ALIGNED * ALIGNED;
}

double *arrays_create(const struct array_part *parts, size_t n_parts, const char *what,
                      struct error *err) {
    size_t total = 0;
    for (size_t p = 0; p < n_parts; p++) {
        size_t own = stride(parts[p].n);
        total = own > SIZE_MAX - total ? SIZE_MAX : total + own;
    }
    double *block = memory_zeros(total, sizeof *block, what, err), *next = block;
    for (size_t p = 0; block && p < n_parts; p++) {
        *parts[p].array = next;
        next += stride(parts[p].n);
    }
    return block;
}
