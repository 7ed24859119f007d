/* Aligned allocation, with a check of available memory for large blocks. _GNU_SOURCE: madvise,
 * sysconf. */
#define _GNU_SOURCE
#include "common/base/memory.h"

#include "common/base/available.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

enum { CACHE_LINE = 64 };
static const size_t HUGE_PAGE = (size_t)2 << 20;

/* Blocks from this size on are checked against the available memory: the system would grant them,
 * and kill a process when they are written to. */
static const size_t LARGE_BLOCK = (size_t)64 << 20;

/* Blocks from this size on, and smaller than huge pages, get all their pages at once. */
static const size_t POPULATED_BLOCK = (size_t)64 << 10;

static void *fail(size_t count, size_t size, const char *what, struct error *err) {
    error_set(err, ERROR_RUNTIME, "out of memory: %zu x %zu bytes for %s", count, size, what);
    return NULL;
}

void memory_populate(void *block, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)block;
    const uintptr_t first = (at + page - 1) / page * page, end = (at + bytes) / page * page;
    if (first < end) {
        (void)madvise((char *)block + (first - at), end - first, MADV_POPULATE_WRITE);
    }
#else
    (void)block, (void)bytes;
#endif
}

void *memory_array(size_t count, size_t size, const char *what, struct error *err) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) {
        return fail(count, size, what, err);
    }
    if (bytes >= LARGE_BLOCK && memory_require((double)bytes, what, err) < 0) {
        return NULL;
    }
    size_t alignment = bytes >= 2 * HUGE_PAGE ? HUGE_PAGE : CACHE_LINE;
    size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void *block = aligned_alloc(alignment, rounded ? rounded : alignment);
    if (!block) {
        return fail(count, size, what, err);
    }
#ifdef __SANITIZE_ADDRESS__
    /* the padding beyond the requested size is poisoned under AddressSanitizer */
    ASAN_POISON_MEMORY_REGION((char *)block + bytes, (rounded ? rounded : alignment) - bytes);
#endif
    if (alignment == CACHE_LINE && bytes >= POPULATED_BLOCK) {
        memory_populate(block, bytes);
    }
#ifdef MADV_HUGEPAGE
    if (alignment == HUGE_PAGE) {
        (void)madvise(block, rounded, MADV_HUGEPAGE); /* only advice: without it access is slower */
    }
#endif
    return block;
}

void *memory_zeros(size_t count, size_t size, const char *what, struct error *err) {
    void *block = memory_array(count, size, what, err);
    if (block) {
        memset(block, 0, count * size);
    }
    return block;
}

void *memory_resize(void *block, size_t count, size_t size, const char *what, struct error *err) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) {
        return fail(count, size, what, err);
    }
    void *resized = realloc(block, bytes ? bytes : 1);
    return resized ? resized : fail(count, size, what, err);
}

int memory_enlarge(void *array, size_t room, size_t size, const char *what, struct error *err) {
    void *block;
    memcpy(&block, array, sizeof block);
    block = memory_resize(block, room, size, what, err);
    if (!block) {
        return -1;
    }
    memcpy(array, &block, sizeof block);
    return 0;
}

char *memory_text(const char *text, size_t length, const char *what, struct error *err) {
    if (length == SIZE_MAX) {
        return fail(length, 1, what, err);
    }
    char *copy = memory_array(length + 1, 1, what, err);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

size_t memory_physical(void) {
    const size_t min_bytes = (size_t)1 << 30;
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    size_t bytes;
    if (pages <= 0 || page <= 0 || __builtin_mul_overflow((size_t)pages, (size_t)page, &bytes) ||
        bytes < min_bytes) {
        bytes = min_bytes;
    }
    double limit = available_limit();
    return limit < (double)bytes ? (size_t)limit : bytes;
}

int memory_require(double bytes, const char *what, struct error *err) {
    const double mebibyte = 1048576;
    double has = fmin(available_memory(), 0x1p63);
    return bytes <= has ? 0
                        : error_set(err, ERROR_RUNTIME,
                                    "out of memory: %.0f MB for %s, of %.0f that are free",
                                    bytes / mebibyte, what, has / mebibyte);
}
