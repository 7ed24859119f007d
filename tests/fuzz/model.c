/* Fuzz target: a model file of any bytes is loaded or refused with a message. Since its checksum
 * refuses nearly all that a fuzzer makes, the last line is replaced by the right one. */
#define _GNU_SOURCE /* memfd_create */
#include "common/model/model.h"
#include "tests/fuzz/file.h"

#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Lines of the body, as the last line of a model counts them: those after `w` or `SV`, and of
 * these not `pairs`. */
static size_t body_lines(const char *text, size_t size) {
    size_t lines = 0;
    bool body = false;
    for (size_t start = 0, end; start < size; start = end + 1) {
        for (end = start; end < size && text[end] != '\n'; end++) {
        }
        size_t length = end - start;
        lines += body && !(length == 5 && memcmp(text + start, "pairs", 5) == 0);
        body = body || (length == 1 && text[start] == 'w') ||
               (length >= 2 && memcmp(text + start, "SV", 2) == 0);
    }
    return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const own_keys[] = {"groups", "pairs", "pair-features", "probability-slope",
                                           NULL};
    char *text = malloc(size + 64), path[64];
    if (!text) {
        abort();
    }
    memcpy(text, bytes, size);
    size_t rows = body_lines(text, size);
    unsigned long sum = crc32(crc32(0, NULL, 0), bytes, (uInt)size);
    size_t end = (size_t)snprintf(text + size, 64, "end %zu %08lx\n", rows, sum);
    fuzz_file((const uint8_t *)text, size + end, path);
    free(text);
    struct error err = {.kind = ERROR_NONE, .text = ""};
    struct model model = {0};
    if (model_read(&model, "rank", own_keys, path, &err) && err.text[0] == '\0') {
        abort();
    }
    model_free(&model);
    return 0;
}
