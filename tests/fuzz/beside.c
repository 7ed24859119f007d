/* Fuzz target: files of folds and of row weights with arbitrary bytes are read or refused with a
 * message; the result is compared with a plain reader. The first byte is the number of training
 * rows. */
#define _GNU_SOURCE /* memfd_create */
#include "common/data/row_weights.h"
#include "driver/folds.h"
#include "tests/fuzz/file.h"

#include <errno.h>
#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MOST_ROWS = 64 };

/* The number in line `row` of the text, which ends with a zero byte, parsed by strtod; false if
 * there is none, or if the line is not a number without signs and letters except one exponent. */
static bool plain_number(const char *text, size_t row, double *number) {
    for (; row > 0; row--) {
        const char *newline = strchr(text, '\n');
        if (!newline) {
            return false;
        }
        text = newline + 1;
    }
    if (*text < '0' || *text > '9' || text[1] == 'x' || text[1] == 'X') {
        return false;
    }
    char *end;
    *number = strtod(text, &end);
    end += strspn(end, " \t\r");
    return *end == '\n' || *end == '\0';
}

/* True if the first n lines are integers below 2^64: larger ones are words. */
static bool all_digits(const char *text, size_t n) {
    for (; n > 0; n--) {
        size_t digits = strspn(text, "0123456789");
        const char *end = text + digits + strspn(text + digits, " \t\r");
        errno = 0;
        (void)strtoull(text, NULL, 10);
        if (digits == 0 || errno == ERANGE || (*end != '\n' && *end != '\0')) {
            return false;
        }
        text = *end ? end + 1 : end;
    }
    return true;
}

/* Two rows are in the same fold exactly if they have the same number, and folds ascend with it; if
 * not all lines are numbers, folds are those of words. */
static void check_folds(const struct folds *folds, const char *text) {
    fuzz_demand(folds->n >= 2 && folds->n <= folds->n_rows);
    if (!all_digits(text, folds->n_rows)) {
        return;
    }
    for (size_t i = 0; i < folds->n_rows; i++) {
        fuzz_demand(folds->fold[i] < folds->n);
        for (size_t j = 0; j < i; j++) {
            double a, b;
            /* above 2^53 doubles do not distinguish integers */
            if (plain_number(text, i, &a) && plain_number(text, j, &b) && a < 0x1p53 &&
                b < 0x1p53) {
                fuzz_demand((a < b) == (folds->fold[i] < folds->fold[j]));
                fuzz_demand((a == b) == (folds->fold[i] == folds->fold[j]));
            }
        }
    }
}

static void check_weights(const double *weight, size_t n, const char *text) {
    for (size_t i = 0; i < n; i++) {
        double number;
        fuzz_demand(isfinite(weight[i]) && weight[i] >= 0);
        fuzz_demand(!plain_number(text, i, &number) || number == weight[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size == 0) {
        return 0;
    }
    size_t n = (size_t)bytes[0] % MOST_ROWS + 1;
    char path[FUZZ_PATH], *text = malloc(size);
    double *weight = malloc(n * sizeof *weight);
    fuzz_demand(text && weight);
    memcpy(text, bytes + 1, size - 1);
    text[size - 1] = '\0';
    bool plain = strlen(text) == size - 1 && !(size > 2 && bytes[1] == 0x1f && bytes[2] == 0x8b);
    fuzz_file(0, bytes + 1, size - 1, path);

    struct error err = {.kind = ERROR_NONE, .text = ""};
    struct folds folds = {0};
    int status = folds_read(&folds, path, n, 0, 1, &err);
    fuzz_demand_told(status, &err);
    if (status == 0 && plain) {
        check_folds(&folds, text);
    }
    folds_free(&folds);

    err = (struct error){.kind = ERROR_NONE, .text = ""};
    status = row_weights_read(path, weight, 0, n, n, &err);
    fuzz_demand_told(status, &err);
    if (status == 0 && plain) {
        check_weights(weight, n, text);
    }
    free(weight);
    free(text);
    return 0;
}
