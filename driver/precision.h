/* Whether the kernel matrix is held in float or in double. Everything that is certified is
 * evaluated in double whatever this says. */
#ifndef DRIVER_PRECISION_H
#define DRIVER_PRECISION_H

#include <stdbool.h>
#include <stddef.h>

/* Up to so many rows a matrix costs little more in double, and kernels with large values need
 * it. */
enum { PRECISION_SMALL_ROWS = 3000 };

/* True if a matrix of n_rows rows is to be held in double, for a relative gap of epsilon and in
 * cache_bytes: the small ones, and for tight gaps those whose computing does not take too long. */
bool precision_wide(size_t n_rows, double epsilon, size_t cache_bytes);

#endif
