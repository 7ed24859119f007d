/* Bytes of a fuzz target as a file that can be opened by a path. */
#ifndef TESTS_FUZZ_FILE_H
#define TESTS_FUZZ_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Puts the bytes into a file in memory (one a process, used again) and its path into path. */
static inline void fuzz_file(const uint8_t *bytes, size_t size, char path[64]) {
    static int file = -1;
    if (file < 0) {
        file = memfd_create("fuzz", 0);
    }
    if (file < 0 || ftruncate(file, 0) || pwrite(file, bytes, size, 0) != (ssize_t)size) {
        abort();
    }
    snprintf(path, 64, "/proc/self/fd/%d", file);
}

#endif
