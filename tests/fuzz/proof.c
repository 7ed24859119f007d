/* Fuzz target: svm-check, with arbitrary bytes as training file, model and proof, reports a verdict
 * or refuses them with a message. The first byte selects the family; the three files follow,
 * separated by zero bytes. Model and proof get the correct last line, and the proof the correct
 * first lines, which identify the rows and the model: otherwise nothing would be checked. */
#define _GNU_SOURCE /* memfd_create */
#include "check/check.h"
#include "common/base/output.h"
#include "common/data/fingerprint.h"
#include "common/data/input.h"
#include "driver/blas_start.h"
#include "tests/fuzz/families.h"
#include "tests/fuzz/file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void start(void) {
    static bool started;
    if (!started) {
        started = true;
        blas_start();
        fuzz_demand(dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) >= 0);
    }
}

/* The proof: the first lines for these rows and this model, then the bytes. */
static void put_proof(const struct family *family, const struct data *data, uint32_t model,
                      const uint8_t *bytes, size_t size, char path[FUZZ_PATH]) {
    char *text = malloc(size + 256);
    fuzz_demand(text != NULL);
    int head = snprintf(
        text, 256, "dualsvm proof %s 1\nrows %zu\ntraining %08" PRIx32 "\nmodel %08" PRIx32 "\n",
        family->name, data->n_rows, data_fingerprint(data, data->n_rows), model);
    memcpy(text + head, bytes, size);
    fuzz_file_closed(2, (const uint8_t *)text, size + (size_t)head, fuzz_begins_proof, path);
    free(text);
}

static void check(const char *const path[3]) {
    struct error err = {.kind = ERROR_NONE, .text = ""};
    struct output *output;
    int code = -1;
    fuzz_demand(output_open(&output, "-", &err) == 0);
    int status = check_files(path, 2, output, &code, &err);
    fuzz_demand_told(status, &err);
    fuzz_demand(status < 0 || code == CHECK_VERIFIED || code == CHECK_REFUTED ||
                code == CHECK_UNKNOWN);
    output_discard(output);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    start();
    const uint8_t *end = bytes + size, *rows = bytes + 1;
    const uint8_t *model = size > 1 ? memchr(rows, 0, size - 1) : NULL;
    const uint8_t *proof = model ? memchr(model + 1, 0, (size_t)(end - model - 1)) : NULL;
    if (!proof) {
        return 0;
    }
    const struct family *family = fuzz_families[(bytes[0] & 0x7f) % FUZZ_FAMILIES];
    const struct input_format format = {.labels = family->labels,
                                        .precomputed = (bytes[0] & 0x80) != 0};
    char paths[3][FUZZ_PATH];
    struct error err = {.kind = ERROR_NONE, .text = ""};
    struct data data = {0};
    fuzz_file(0, rows, (size_t)(model - rows), paths[0]);
    if (input_read(&data, paths[0], &format, NULL, &err) == 0) {
        uint32_t sum = fuzz_file_closed(1, model + 1, (size_t)(proof - model - 1),
                                        fuzz_begins_model, paths[1]);
        put_proof(family, &data, sum, proof + 1, (size_t)(end - proof - 1), paths[2]);
        check((const char *const[3]){paths[0], paths[1], paths[2]});
    }
    data_free(&data);
    return 0;
}
