/* Reads a model as its family's predictor does, and writes it again:
 *
 *   models FAMILY MODEL COPY
 *
 * The copy of a model of version 1 is identical to the model. */
#include "common/model/model.h"
#include "families/shared/tables.h"
#include "tests/unit/check.h"

#include <string.h>

static const struct predictor *find(const char *name) {
    static const struct predictor *const all[] = {&rank_predictor, &top_predictor, &mc_predictor,
                                                  &ml_predictor, &smm_predictor};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i]->name, name) == 0) {
            return all[i];
        }
    }
    FAIL("no family %s", name);
}

int main(int argc, char **argv) {
    struct model model;
    struct output *output;
    CHECK(argc == 4, "usage: models FAMILY MODEL COPY");
    const struct predictor *predictor = find(argv[1]);
    MUST(model_read(&model, predictor->name, predictor->model_keys, false, argv[2], &err));
    MUST(output_open(&output, argv[3], &err));
    MUST(model_write(&model, predictor->name, output, NULL, NULL, &err));
    MUST(output_end(output, 0, &err));
    model_free(&model);
    printf("ok: read and written\n");
    return 0;
}
