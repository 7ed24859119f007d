/* Several arrays in one block of memory. */
#ifndef COMMON_BASE_ARRAYS_H
#define COMMON_BASE_ARRAYS_H

#include "common/base/error.h"

#include <stddef.h>

/* Arrays of n items of one type, and the pointers to them that are to be set. */
struct arrays {
    size_t n, size; /* of each array: items, and bytes of an item */
    void *pointer;  /* (n_arrays) the addresses of the pointers */
    size_t n_arrays;
};

/* Arrays of n items of a type; the addresses of their pointers follow. */
#define ARRAYS(n, type, ...)                                                                       \
    {                                                                                              \
        (n), sizeof(type), ADDRESSES(type *, __VA_ARGS__),                                         \
            sizeof ADDRESSES(type *, __VA_ARGS__) / sizeof(type **)                                \
    }
#define ADDRESSES(pointer, ...) ((pointer *[]){__VA_ARGS__})

/* Allocates one block of zeros for all arrays of the list and sets their pointers, in the order of
 * the list; each array is aligned to 64 bytes. Returns the block, which the caller frees, or NULL
 * with err set when memory is short: the pointers are then as they were. */
void *arrays_create(const struct arrays *list, size_t n_list, const char *what, struct error *err);

/* The same for the lists ARRAYS(...) that follow. */
#define ARRAYS_CREATE(what, err, ...)                                                              \
    arrays_create((const struct arrays[]){__VA_ARGS__},                                            \
                  sizeof((const struct arrays[]){__VA_ARGS__}) / sizeof(struct arrays), (what),    \
                  (err))

#endif
