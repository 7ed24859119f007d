/* Several arrays in one allocation (arrays.h). */
#include "common/base/arrays.h"

#include "common/base/memory.h"

#include <stdint.h>
#include <string.h>

enum { ALIGNMENT = 64 };

/* Bytes from the start of an array to that of the next one; a size that overflows is too large for
 * memory_zeros. */
static size_t stride(const struct arrays *arrays) {
    return arrays->n > (SIZE_MAX - ALIGNMENT) / arrays->size
               ? SIZE_MAX
               : (arrays->n * arrays->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void *arrays_create(const struct arrays *list, size_t n_list, const char *what, struct error *err) {
    size_t total = 0;
    for (size_t k = 0; k < n_list; k++) {
        for (size_t i = 0, own = stride(&list[k]); i < list[k].n_arrays; i++) {
            total = own > SIZE_MAX - total ? SIZE_MAX : total + own;
        }
    }
    char *block = memory_zeros(total, 1, what, err), *next = block;
    for (size_t k = 0; block && k < n_list; k++) {
        for (size_t i = 0; i < list[k].n_arrays; i++) {
            void *address; /* of the pointer, of whatever type */
            memcpy(&address, (char *)list[k].pointer + i * sizeof address, sizeof address);
            memcpy(address, &next, sizeof next);
            next += stride(&list[k]);
        }
    }
    return block;
}
