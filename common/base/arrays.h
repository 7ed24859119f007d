/* Several arrays of doubles in one block of memory. */
#ifndef COMMON_BASE_ARRAYS_H
#define COMMON_BASE_ARRAYS_H

#include "common/base/error.h"

#include <stddef.h>

/* An array of n doubles, and the pointer to it that is to be set. */
struct array_part {
    double **array;
    size_t n;
};

/* Allocates one block of zeros for all arrays of the list and sets their pointers, in the order of
 * the list; each is aligned to 64 bytes. Returns the block, which the caller frees, or NULL with
 * err set when memory is short: the pointers are then as they were. */
double *arrays_create(const struct array_part *parts, size_t n_parts, const char *what,
                      struct error *err);

#endif
