/* Fuzz target: a model file of any bytes is loaded or refused with a message, of any family: its
 * own and those of LIBLINEAR. Since its checksum refuses nearly all that a fuzzer makes, the right
 * last line is added. The first byte chooses the family. */
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
    if (bytes[0] & 0x80) { /* as it is: LIBLINEAR's have no last line */
        fuzz_file(0, bytes + 1, size - 1, path);
    } else {
        fuzz_file_closed(0, bytes + 1, size - 1, fuzz_begins_model, path);
    }
    struct error err = {.kind = ERROR_NONE, .text = ""};
    struct model model = {0};
    int status = (predictor->imports ? model_read_classes : model_read)(
        &model, predictor->name, predictor->model_keys, path, &err);
    fuzz_demand_told(status, &err);
    model_free(&model);
    return 0;
}
