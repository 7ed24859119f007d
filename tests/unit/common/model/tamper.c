/* Damaged models of rank: every truncation, every changed byte, and damage with a corrected
 * checksum.
 *
 *   tamper MODEL COPY      COPY: a file to write
 *
 * The first two must be refused with a reason. The last (numbers replaced by others, checksum
 * corrected) may be refused or accepted, but must not crash, hang or take absurd amounts of memory.
 */
#define _GNU_SOURCE
#include "common/model/model.h"
#include "families/shared/tables.h"
#include "tests/unit/compute.h"

#include <zlib.h>

enum { MOST_BYTES = 1 << 16 };

static size_t read_bytes(const char *path, char *bytes) {
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(bytes, 1, MOST_BYTES, file) : 0;
    if (file) {
        fclose(file);
    }
    CHECK(size > 0 && size < MOST_BYTES, "%zu bytes in %s", size, path);
    return size;
}

static void write_bytes(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    bool written = file && fwrite(bytes, 1, size, file) == size;
    written = file && fclose(file) == 0 && written;
    CHECK(written, "cannot write %s", path);
}

/* True if the bytes load as a model, which must then score two rows without crashing. */
static bool loads(const char *path, const char *bytes, size_t size) {
    struct model model;
    memset(&model, 0, sizeof model);
    err = (struct error){0};
    write_bytes(path, bytes, size);
    bool loaded = model_read(&model, "rank", rank_predictor.model_keys, false, path, &err) == 0;
    if (loaded) {
        struct data row = {.n_rows = 1, .n_features = 3, .value = sample_array(3, sizeof(float))};
        struct error scoring = {0};
        size_t n_scores = model_n_scores(&model);
        row.value[1] = .25F;
        if (n_scores < 1000) {
            double *scores = sample_array(n_scores + 1, sizeof(double));
            if (model_take_rows(&model, &row, &scoring) == 0) {
                (void)model_scores(&model, &row, scores, NULL, &scoring);
            }
            free(scores);
        }
        data_free(&row);
    }
    model_free(&model);
    return loaded;
}

static void check_cuts(const char *path, const char *bytes, size_t size) {
    for (size_t n = 0; n < size; n++) {
        CHECK(!loads(path, bytes, n), "cut to %zu of %zu bytes was taken", n, size);
        CHECK(err.kind == ERROR_RUNTIME && err.text[0], "cut to %zu: no reason", n);
    }
}

static void check_changes(const char *path, char *bytes, size_t size) {
    static const char others[] = {'0', '9', ' ', '\n', '\0', '\377', '-', 'e'};
    for (size_t n = 0; n < size; n++) {
        char original = bytes[n];
        for (size_t o = 0; o < sizeof others + 2; o++) {
            bytes[n] = o < sizeof others    ? others[o]
                       : o == sizeof others ? (char)(original ^ 1)
                                            : (char)(original ^ 0x20);
            if (bytes[n] != original) {
                CHECK(!loads(path, bytes, size), "byte %zu from %d to %d was taken", n, original,
                      bytes[n]);
                CHECK(err.kind == ERROR_RUNTIME && err.text[0], "byte %zu: no reason", n);
            }
        }
        bytes[n] = original;
    }
}

/* Maximum length of the line, with the NUL: callers allocate that much after the model. */
enum { END_LINE = 64 };

/* Writes at bytes[size) the checksum line `end` of the original, for new bytes before it. */
static size_t sign(char *bytes, size_t size, const char *rows) {
    unsigned long checksum = crc32(0, (const unsigned char *)bytes, (unsigned)size);
    return size + (size_t)snprintf(bytes + size, END_LINE, "end %s %08lx\n", rows, checksum);
}

static void check_signed(const char *path, const char *bytes, size_t size) {
    static const char *const numbers[] = {
        "0",   "1",     "-1",    "4294967295", "4294967296",           "nan",
        "inf", "1e999", "1e300", "-1e300",     "18446744073709551615", "99999999999999999999",
        "",    "x",     "0.5"};
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    static char damaged[MOST_BYTES + 4096];
    size_t end = size, taken = 0;
    while (end > 0 && !(bytes[end - 1] == '\n' && strncmp(bytes + end, "end ", 4) == 0)) {
        end--;
    }
    CHECK(end > 0, "no end line");
    char rows[64];
    if (end == 0 || sscanf(bytes + end, "end %63s", rows) != 1) {
        return;
    }
    memcpy(damaged, bytes, end);
    size_t whole = sign(damaged, end, rows);
    CHECK(whole == size && memcmp(damaged, bytes, size) == 0, "the checksum is another");
    for (size_t from = 0; from < end; from++) {
        size_t to = from;
        bool start = from == 0 || !strchr("0123456789.+-e", bytes[from - 1]);
        while (start && to < end && strchr("0123456789.+-e", bytes[to])) {
            to++;
        }
        for (size_t k = 0; to > from && k <= NUMBERS; k++) { /* the last one is a NUL */
            size_t length = k < NUMBERS ? strlen(numbers[k]) : 1;
            memcpy(damaged, bytes, from);
            memcpy(damaged + from, k < NUMBERS ? numbers[k] : "", length);
            memcpy(damaged + from + length, bytes + to, end - to);
            size_t n = sign(damaged, from + length + end - to, rows);
            taken += loads(path, damaged, n);
        }
    }
    for (size_t k = 0; k < 12; k++) { /* the number of lines in the last line itself */
        memcpy(damaged, bytes, end);
        size_t n = sign(damaged, end, numbers[k]);
        bool same = strcmp(numbers[k], rows) == 0;
        CHECK(loads(path, damaged, n) == same, "end %s was taken", numbers[k]);
    }
    CHECK(taken > 0, "no damage passes, is the checksum right?");
}

int main(int argc, char **argv) {
    static char bytes[MOST_BYTES];
    CHECK_TRUE(argc == 3);
    size_t size = read_bytes(argv[1], bytes);
    CHECK(loads(argv[2], bytes, size), "the model as written: %s", err.text);
    check_cuts(argv[2], bytes, size);
    check_changes(argv[2], bytes, size);
    check_signed(argv[2], bytes, size);
    printf("ok: a damaged model is refused, or does no harm\n");
    return 0;
}
