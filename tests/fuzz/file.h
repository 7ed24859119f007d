/* The input of a fuzz target as files that can be opened by a path, and the properties that all
 * targets check. */
#ifndef TESTS_FUZZ_FILE_H
#define TESTS_FUZZ_FILE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FUZZ_FILES = 3, FUZZ_PATH = 64 };

static inline void fuzz_demand(bool condition) {
    if (!condition) {
        abort();
    }
}

/* Checks a call that can fail: it returns 0, or -1 with a text. */
static inline void fuzz_demand_told(int status, const struct error *err) {
    fuzz_demand(status == 0 || (status == -1 && err->kind != ERROR_NONE && err->text[0] != '\0'));
}

/* Writes the bytes to a file in memory (FUZZ_FILES of them in a process, reused) and its path to
 * `path`. */
static inline void fuzz_file(size_t number, const uint8_t *bytes, size_t size,
                             char path[FUZZ_PATH]) {
    static int opened[FUZZ_FILES]; /* 1 more than the descriptor; 0: not yet */
    if (opened[number] == 0) {
        opened[number] = memfd_create("fuzz", 0) + 1;
    }
    int file = opened[number] - 1;
    if (file < 0 || ftruncate(file, 0) || pwrite(file, bytes, size, 0) != (ssize_t)size) {
        abort();
    }
    snprintf(path, FUZZ_PATH, "/proc/self/fd/%d", file);
}

/* The same for a model or proof without its last line: adds a valid one, with the number of lines
 * of its body and the checksum, which is returned. `begins` recognises the lines that begin parts
 * of the body. */
uint32_t fuzz_file_closed(size_t number, const uint8_t *bytes, size_t size,
                          bool (*begins)(const char *line, size_t length), char path[FUZZ_PATH]);

/* Lines that begin parts of the body of a model, and of a proof. */
bool fuzz_begins_model(const char *line, size_t length);
bool fuzz_begins_proof(const char *line, size_t length);

#endif
