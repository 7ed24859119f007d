/* Allocation with overflow-checked sizes. Everything is released with free(). */
#ifndef COMMON_BASE_MEMORY_H
#define COMMON_BASE_MEMORY_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Fails ("out of memory: N MB for WHAT, of M that are free") if the machine, the address-space
 * limit or the control groups of this process do not have that many bytes now: called before work
 * that allocates its memory block by block. */
int memory_require(double bytes, const char *what, struct error *err);

/* Allocates count items of `size` bytes, aligned to 64 bytes; blocks of 4 MiB and more are aligned
 * to 2 MiB and ask the system for huge pages. Contents are undefined. count = 0 gives a valid
 * pointer. Returns NULL with err set ("out of memory: N bytes for WHAT") when the size overflows
 * or memory is short, and for blocks of 64 MiB and more where memory_require fails. */
void *memory_array(size_t count, size_t size, const char *what, struct error *err);

/* The same, set to zero bytes. */
void *memory_zeros(size_t count, size_t size, const char *what, struct error *err);

/* Has the system give a block all its pages now, in a tenth of the time of a page fault for each;
 * for blocks that will be written to. memory_array does that for its blocks below 4 MiB. Without
 * effect where the system cannot. */
void memory_populate(void *block, size_t bytes);

/* Resizes a block from malloc/realloc (not memory_array: alignment is lost) to count items of
 * `size` bytes. NULL with err set on failure, the old block then stays valid. */
void *memory_resize(void *block, size_t count, size_t size, const char *what, struct error *err);

/* Growth of arrays, so that n items appended one by one are moved O(n) times in total. An array
 * with capacity `room` gets the capacity memory_room(room, wanted) when `wanted` items are needed:
 * a power of two, or the old one. An array that never shrinks need not store its capacity: for n
 * items it is memory_room(0, n).
 *
 * memory_grow gives *array that capacity, the address of a pointer to items of `size` bytes from
 * malloc/realloc, or NULL. New items are undefined. -1 with err set on failure, nothing has then
 * changed. The caller stores the new capacity when the last of the arrays that share it has grown.
 * (memory_enlarge is its slow path: the check is inlined, since it is made for every item.) */
static inline size_t memory_room(size_t room, size_t wanted) {
    if (wanted <= room || wanted > SIZE_MAX / 2) { /* memory_grow fails for such sizes */
        return wanted <= room ? room : wanted;
    }
    return wanted == 1 ? 1 : (size_t)1 << (64 - __builtin_clzll(wanted - 1));
}

/* For memory_grow, and for arrays that grow rarely: resizes *array to `room` items of `size` bytes.
 * -1 with err set if memory runs out; *array is then unchanged. */
int memory_enlarge(void *array, size_t room, size_t size, const char *what, struct error *err);
static inline int memory_grow(void *array, size_t room, size_t wanted, size_t size,
                              const char *what, struct error *err) {
    return wanted <= room ? 0 : memory_enlarge(array, memory_room(room, wanted), size, what, err);
}

/* A copy of `length` bytes of text, ended by NUL. */
char *memory_text(const char *text, size_t length, const char *what, struct error *err);

/* Bytes of physical memory of this machine, at least 1 GiB, or the limit of this process if that is
 * smaller. */
size_t memory_physical(void);

#endif
