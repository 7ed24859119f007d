/* Writing and strict reading of the line. */
#include "common/model/label_line.h"

#include "common/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int label_line_write(const struct labels *labels, struct model *model, struct error *err) {
    size_t size = 1;
    for (size_t i = 0; i < labels->names.n; i++) {
        size += strlen(labels->names.name[i]) + 1;
    }
    char *line = memory_zeros(size, 1, "labels", err), *at = line;
    for (size_t i = 0; line && i < labels->names.n; i++) {
        at += snprintf(at, (size_t)(line + size - at), "%s%s", i > 0 ? " " : "",
                       labels->names.name[i]);
    }
    int status = line ? model_add(model, err, LABELS_KEY, "%s", line) : -1;
    free(line);
    return status;
}

int label_line_read(struct labels *labels, const struct model *model, bool pair,
                    struct error *err) {
    size_t expected = pair && model->n_outputs == 1 ? 2 : model->n_outputs;
    *labels = (struct labels){0};
    const char *at = model_value(model, LABELS_KEY);
    bool whole = at != NULL;
    for (size_t n = 0; whole && *at; n++) {
        size_t length = strcspn(at, " ");
        uint32_t number;
        if (names_add(&labels->names, at, length, &number, err) < 0) {
            labels_free(labels);
            return -1;
        }
        whole = length > 0 && number == n; /* all labels are different */
        at += length;
        if (*at == ' ') {
            whole = whole && at[1] != '\0';
            at++;
        }
    }
    if (!whole || labels->names.n != expected) {
        labels_free(labels);
        return error_set(err, ERROR_RUNTIME, "the model does not have a label for each score");
    }
    return 0;
}
