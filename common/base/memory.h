/* Allocation with overflow-checked sizes. Everything is released with free(). */
#ifndef COMMON_BASE_MEMORY_H
#define COMMON_BASE_MEMORY_H

#include "common/base/error.h"

#include <stddef.h>

/* Allocates count items of `size` bytes, aligned to 64 bytes; blocks of 4 MiB and more are aligned
 * to 2 MiB and ask the system for huge pages. Contents are undefined. count = 0 gives a valid
 * pointer. Returns NULL with err set ("out of memory: N bytes for WHAT") when the size overflows
 * or memory is short. */
void *memory_array(size_t count, size_t size, const char *what, struct error *err);

/* The same, set to zero bytes. */
void *memory_zeros(size_t count, size_t size, const char *what, struct error *err);

/* Resizes a block from malloc/realloc (not memory_array: alignment is lost) to count items of
 * `size` bytes. NULL with err set on failure, the old block then stays valid. */
void *memory_resize(void *block, size_t count, size_t size, const char *what, struct error *err);

/* A copy of `length` bytes of text with a NUL behind them. */
char *memory_text(const char *text, size_t length, const char *what, struct error *err);

/* Bytes of physical memory of this machine, at least 1 GiB. */
size_t memory_physical(void);

#endif
