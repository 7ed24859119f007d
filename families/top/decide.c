#include "families/top/decide.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

int top_decision_read(struct top_decision *decision, const struct model *model, struct error *err) {
    *decision = (struct top_decision){0};
    const char *labels = model_value(model, TOP_LABELS_KEY);
    if (model->n_outputs != 1 || !labels || !strchr(labels, ' ')) {
        return error_set(err, ERROR_RUNTIME, "the model has not one score and two labels");
    }
    double *threshold = &decision->threshold;
    if (model_number(model, TOP_THRESHOLD_KEY, 0, threshold, err) < 0 ||
        model_number(model, TOP_CALIBRATED_THRESHOLD_KEY, *threshold, threshold, err) < 0) {
        return -1;
    }
    decision->names = memory_text(labels, strlen(labels), "labels", err);
    if (!decision->names) {
        return -1;
    }
    char *blank = strchr(decision->names, ' ');
    *blank = '\0';
    decision->positive = decision->names;
    decision->negative = blank + 1;
    return 0;
}

void top_decision_free(struct top_decision *decision) {
    free(decision->names);
    *decision = (struct top_decision){0};
}

const char *top_decide(const struct top_decision *decision, double score) {
    return score > decision->threshold ? decision->positive : decision->negative;
}
