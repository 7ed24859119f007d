/* Fuzz target: arbitrary bytes as a model file of any family, or of LIBLINEAR, are loaded or
 * refused with a message. The checksum would refuse nearly all inputs of a fuzzer, so the correct
 * last line is added. The first byte selects the family. */
#define _GNU_SOURCE /* memfd_create */
#include "common/model/model.h"
#include "tests/fuzz/families.h"
#include "tests/fuzz/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size == 0) {
        return 0;
    }
    const struct predictor *predictor = fuzz_predictors[(bytes[0] & 0x7f) % FUZZ_FAMILIES];
    char path[FUZZ_PATH];
    if (bytes[0] & 0x80) { /* unchanged: models of LIBLINEAR have no last line */
        fuzz_file(0, bytes + 1, size - 1, path);
    } else {
        fuzz_file_closed(0, bytes + 1, size - 1, fuzz_begins_model, path);
    }
    struct error err = {.kind = ERROR_NONE, .text = ""};
    struct model model = {0};
    int status =
        model_read(&model, predictor->name, predictor->model_keys, predictor->imports, path, &err);
    fuzz_demand_told(status, &err);
    model_free(&model);
    return 0;
}
