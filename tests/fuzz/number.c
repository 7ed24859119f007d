/* Fuzz target: number_parse equals strtod on everything that it accepts, and the output of
 * number_format reads back to the same bits. */
#include "common/base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    /* exactly as long as the input, so that the sanitizer detects a read past it */
    char *text = malloc(size + 1), *copy = malloc(size + 1);
    if (!text || !copy) {
        abort();
    }
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    char *exact = realloc(text, size > 0 ? size : 1);
    if (!exact) {
        abort();
    }
    memcpy(exact, bytes, size);
    double value = 0;
    const char *end = number_parse(exact, exact + size, &value);
    if (end) {
        copy[end - exact] = '\0';
        char *other;
        double expected = strtod(copy, &other);
        if (*other != '\0' || memcmp(&value, &expected, sizeof value) != 0) {
            abort();
        }
    }
    if (end && isfinite(value)) {
        char shortest[NUMBER_LENGTH];
        size_t length = number_format(value, shortest);
        double back;
        if (length != strlen(shortest) || !number_parse_whole(shortest, &back) ||
            memcmp(&value, &back, sizeof value) != 0) {
            abort();
        }
    }
    uint64_t count;
    number_parse_unsigned(exact, exact + size, &count);
    free(exact);
    free(copy);
    return 0;
}
