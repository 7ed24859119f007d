/* Fuzz target: arbitrary bytes as rows are read or refused with a message, equally as a whole and
 * block by block. The first byte selects how labels are read, and whether several threads read. */
#define _GNU_SOURCE /* memfd_create */
#include "common/data/input.h"
#include "tests/fuzz/file.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Checks the invariants of struct data. */
static void check(const struct data *data) {
    for (size_t i = 0; i < data->n_rows; i++) {
        if (!data->row_start) {
            continue;
        }
        fuzz_demand(data->row_start[i] <= data->row_start[i + 1]);
        for (uint64_t k = data->row_start[i]; k < data->row_start[i + 1]; k++) {
            fuzz_demand(data->column[k] < data->n_features);
            fuzz_demand(k == data->row_start[i] || data->column[k] > data->column[k - 1]);
        }
    }
    for (size_t k = 0; k < data_values(data); k++) {
        fuzz_demand(isfinite(data->value[k]));
    }
    for (size_t i = 0; data->target && i < data->n_rows; i++) {
        fuzz_demand(!isinf(data->target[i]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size == 0) {
        return 0;
    }
    const struct input_format format = {.labels = (enum data_labels)(bytes[0] % 3),
                                        .label_optional = (bytes[0] & 4) != 0,
                                        .precomputed = (bytes[0] & 8) != 0};
    char path[FUZZ_PATH];
    fuzz_file(0, bytes + 1, size - 1, path);
    struct error err = {.kind = ERROR_NONE, .text = ""};
    struct threads *threads = NULL;
    if (bytes[0] & 16) {
        fuzz_demand(threads_create(&threads, 3, &err) == 0);
    }
    struct data data = {0};
    int whole = input_read(&data, path, &format, threads, &err);
    threads_free(threads);
    fuzz_demand_told(whole, &err);
    if (whole == 0) {
        check(&data);
    }

    struct input *input = NULL;
    struct data block = {0};
    size_t rows = 0;
    int blocks = input_open(&input, path, &format, NULL, &err);
    while (blocks == 0 && (blocks = input_next(input, &block, &err)) == 0 && block.n_rows > 0) {
        check(&block);
        rows += block.n_rows;
    }
    input_close(input);
    fuzz_demand((whole == 0) == (blocks == 0 && rows > 0));
    fuzz_demand(whole != 0 || rows == data.n_rows);
    data_free(&block);
    data_free(&data);
    return 0;
}
