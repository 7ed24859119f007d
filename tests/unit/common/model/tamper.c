/* Models that were damaged: every cut, every changed byte, and damage behind a right checksum.
 *
 * The first two must be refused with a reason. The last (numbers replaced by others, checksum
 * made right again) may be refused or accepted, but never crash, hang or take absurd memory. */
#define _GNU_SOURCE
#include "common/model/model.h"
#include "driver/fit.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char *const own_keys[] = {"groups", NULL};
enum kind { LINEAR, RBF, PAIRS, WIDE, N_KINDS };
enum { MOST_BYTES = 1 << 16 };

static void *zeros(size_t count, size_t size) {
    void *block = calloc(count, size);
    CHECK(block, "out of memory");
    return block;
}

/* Rows (1, 0, .5) and (0, .25, 2) as sparse data without labels. */
static void two_rows(struct data *data) {
    static const float value[] = {1, .5F, .25F, 2};
    static const uint32_t column[] = {0, 2, 1, 2};
    memset(data, 0, sizeof *data);
    data->n_rows = 2;
    data->n_features = 3;
    data->labels = DATA_NUMBER;
    data->row_start = zeros(3, sizeof(uint64_t));
    data->row_start[1] = 2;
    data->row_start[2] = 4;
    data->column = zeros(4, sizeof(uint32_t));
    data->value = zeros(4, sizeof(float));
    data->target = zeros(2, sizeof(double));
    memcpy(data->column, column, sizeof column);
    memcpy(data->value, value, sizeof value);
}

/* A small model of each kind, written to path. */
static void write_model(enum kind kind, const char *path) {
    struct error err = {0};
    struct model model;
    struct data data;
    struct output *output = NULL;
    memset(&model, 0, sizeof model);
    two_rows(&data);
    model.formulation = strdup("pairwise");
    model.loss = strdup("hinge");
    model.cost = 1;
    model.kernel.type = kind == LINEAR || kind == WIDE ? KERNEL_LINEAR : KERNEL_RBF;
    model.kernel.degree = 3;
    model.kernel.gamma = .5;
    model.n_rows = 2;
    model.n_features = 3;
    if (kind == WIDE) { /* a list of columns, in the scaling and the weights */
        data.column[1] = data.column[3] = 2999999999u;
        data.n_features = model.n_features = 3000000000u;
        CHECK(data_compact(&data, &err) == 0 && data.n_features == 3, "%s", err.text);
        MUST(scale_fit(&model.scale, SCALE_STD, &data, NULL, &err));
    }
    model.primal = 1.0625;
    model.dual = 1;
    model.iterations = 17;
    struct solution solution = {.n_outputs = kind == PAIRS ? 0 : 1,
                                .primal = 1.0625,
                                .dual = 1,
                                .iterations = 17,
                                .converged = true};
    if (kind == PAIRS) {
        solution.n_pairs = 1;
        solution.pairs = zeros(1, sizeof *solution.pairs);
        solution.pairs[0].v = 1;
        solution.pairs[0].value = .75;
    } else {
        solution.weights = zeros(3, sizeof(double));
        solution.weights[0] = .1;
        solution.weights[1] = -2.5e-7;
        solution.weights[2] = 12;
    }
    struct problem problem = {.data = &data, .n = 2};
    bool written = fit_body(&model, &problem, &solution, &err) == 0 &&
                   model_add(&model, &err, "groups", "%d", 1) == 0 &&
                   output_open(&output, path, &err) == 0 &&
                   model_write(&model, "rank", output, NULL, &err) == 0 &&
                   output_commit(output, NULL, &err) == 0;
    CHECK(written, "%s", err.text);
    model_free(&model);
    solution_free(&solution);
    data_free(&data);
}

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
static bool loads(const char *path, const char *bytes, size_t size, struct error *err) {
    struct model model;
    memset(&model, 0, sizeof model);
    memset(err, 0, sizeof *err);
    write_bytes(path, bytes, size);
    bool loaded = model_read(&model, "rank", own_keys, path, err) == 0;
    if (loaded) {
        struct data data;
        struct error scoring = {0};
        size_t n_scores = model_n_scores(&model);
        two_rows(&data);
        if (n_scores < 1000) {
            double *scores = zeros(2 * n_scores + 1, sizeof(double));
            if (model_take_rows(&model, &data, &scoring) == 0) {
                (void)model_scores(&model, &data, scores, NULL, &scoring);
            }
            free(scores);
        }
        data_free(&data);
    }
    model_free(&model);
    return loaded;
}

static void check_cuts(const char *path, const char *bytes, size_t size, enum kind kind) {
    struct error err;
    for (size_t n = 0; n < size; n++) {
        CHECK(!loads(path, bytes, n, &err), "kind %d cut to %zu of %zu bytes was taken", (int)kind,
              n, size);
        CHECK(err.kind == ERROR_RUNTIME && err.text[0], "kind %d cut to %zu: no reason", (int)kind,
              n);
    }
}

static void check_changes(const char *path, char *bytes, size_t size, enum kind kind) {
    static const char others[] = {'0', '9', ' ', '\n', '\0', '\377', '-', 'e'};
    struct error err;
    for (size_t n = 0; n < size; n++) {
        char original = bytes[n];
        for (size_t o = 0; o < sizeof others + 2; o++) {
            bytes[n] = o < sizeof others    ? others[o]
                       : o == sizeof others ? (char)(original ^ 1)
                                            : (char)(original ^ 0x20);
            if (bytes[n] != original) {
                CHECK(!loads(path, bytes, size, &err), "kind %d byte %zu from %d to %d was taken",
                      (int)kind, n, original, bytes[n]);
                CHECK(err.kind == ERROR_RUNTIME && err.text[0], "kind %d byte %zu: no reason",
                      (int)kind, n);
            }
        }
        bytes[n] = original;
    }
}

/* Room that the line takes at most, with the NUL: callers leave as much behind the model. */
enum { END_LINE = 64 };

/* Writes at bytes[size) the checksum line `end` of the original, for new bytes before it. */
static size_t sign(char *bytes, size_t size, const char *rows) {
    unsigned long checksum = crc32(0, (const unsigned char *)bytes, (unsigned)size);
    return size + (size_t)snprintf(bytes + size, END_LINE, "end %s %08lx\n", rows, checksum);
}

static void check_signed(const char *path, const char *bytes, size_t size, enum kind kind) {
    static const char *const numbers[] = {"0",
                                          "1",
                                          "-1",
                                          "4294967295",
                                          "4294967296",
                                          "18446744073709551615",
                                          "99999999999999999999",
                                          "nan",
                                          "inf",
                                          "1e999",
                                          "1e300",
                                          "-1e300",
                                          "",
                                          "x",
                                          "0.5",
                                          "\0"};
    static char damaged[MOST_BYTES + 4096];
    struct error err;
    size_t end = size, taken = 0;
    while (end > 0 && !(bytes[end - 1] == '\n' && strncmp(bytes + end, "end ", 4) == 0)) {
        end--;
    }
    CHECK(end > 0, "kind %d: no end line", (int)kind);
    char rows[64];
    if (end == 0 || sscanf(bytes + end, "end %63s", rows) != 1) {
        return;
    }
    memcpy(damaged, bytes, end);
    size_t whole = sign(damaged, end, rows);
    CHECK(whole == size && memcmp(damaged, bytes, size) == 0, "kind %d: the checksum is another",
          (int)kind);
    for (size_t from = 0; from < end; from++) {
        size_t to = from;
        bool start = from == 0 || !strchr("0123456789.+-e", bytes[from - 1]);
        while (start && to < end && strchr("0123456789.+-e", bytes[to])) {
            to++;
        }
        for (size_t k = 0; to > from && k < sizeof numbers / sizeof *numbers; k++) {
            size_t length = numbers[k][0] || k == 12 ? strlen(numbers[k]) : 1;
            memcpy(damaged, bytes, from);
            memcpy(damaged + from, numbers[k], length);
            memcpy(damaged + from + length, bytes + to, end - to);
            size_t n = sign(damaged, from + length + end - to, rows);
            taken += loads(path, damaged, n, &err);
        }
    }
    for (size_t k = 0; k < 12; k++) { /* the count of the last line itself */
        memcpy(damaged, bytes, end);
        size_t n = sign(damaged, end, numbers[k]);
        bool same = strcmp(numbers[k], rows) == 0;
        CHECK(loads(path, damaged, n, &err) == same, "kind %d: end %s was taken", (int)kind,
              numbers[k]);
    }
    CHECK(taken > 0, "kind %d: no damage passes, is the checksum right?", (int)kind);
}

int main(void) {
    static char bytes[MOST_BYTES];
    const char *folder = getenv("TMPDIR");
    char path[1000];
    snprintf(path, sizeof path, "%s/dualsvm-tamper-XXXXXX", folder ? folder : "/tmp");
    int descriptor = mkstemp(path);
    CHECK(descriptor >= 0, "cannot make %s", path);
    FILE *made = fdopen(descriptor, "w");
    if (made) {
        fclose(made);
    }
    for (int kind = 0; kind < N_KINDS; kind++) {
        struct error err;
        write_model((enum kind)kind, path);
        size_t size = read_bytes(path, bytes);
        CHECK(loads(path, bytes, size, &err), "the model as written: %s", err.text);
        check_cuts(path, bytes, size, (enum kind)kind);
        check_changes(path, bytes, size, (enum kind)kind);
        check_signed(path, bytes, size, (enum kind)kind);
        static const char *const names[] = {"linear", "kernel", "pair", "sparse"};
        printf("ok: a damaged %s model is refused, or does no harm\n", names[kind]);
    }
    remove(path);
    return 0;
}
