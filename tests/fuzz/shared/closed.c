#define _GNU_SOURCE /* memfd_create */
#include "tests/fuzz/file.h"

#include <string.h>
#include <zlib.h>

/* The number of lines of the body, as in the last line: without those that begin its parts. */
static size_t body_lines(const char *text, size_t size,
                         bool (*begins)(const char *line, size_t length)) {
    size_t lines = 0;
    bool body = false;
    for (size_t start = 0, end; start < size; start = end + 1) {
        for (end = start; end < size && text[end] != '\n'; end++) {
        }
        bool part = begins(text + start, end - start);
        lines += body && !part;
        body = body || part;
    }
    return lines;
}

static bool is(const char *line, size_t length, const char *word) {
    return length == strlen(word) && memcmp(line, word, length) == 0;
}

bool fuzz_begins_model(const char *line, size_t length) {
    return is(line, length, "scaling") || is(line, length, "w") || is(line, length, "pairs") ||
           (length >= 2 && memcmp(line, "SV", 2) == 0);
}

bool fuzz_begins_proof(const char *line, size_t length) {
    return is(line, length, "dual");
}

uint32_t fuzz_file_closed(size_t number, const uint8_t *bytes, size_t size,
                          bool (*begins)(const char *line, size_t length), char path[FUZZ_PATH]) {
    char *text = malloc(size + 64);
    if (!text) {
        abort();
    }
    memcpy(text, bytes, size);
    size_t lines = body_lines(text, size, begins);
    unsigned long sum = crc32(crc32(0, NULL, 0), bytes, (uInt)size);
    size_t end = (size_t)snprintf(text + size, 64, "end %zu %08lx\n", lines, sum);
    fuzz_file(number, (const uint8_t *)text, size + end, path);
    free(text);
    return (uint32_t)sum;
}
