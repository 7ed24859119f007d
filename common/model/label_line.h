/* The line `labels` of a model: its labels, separated by blanks, as spelled in the training file
 * and in the order of the scores. */
#ifndef COMMON_MODEL_LABEL_LINE_H
#define COMMON_MODEL_LABEL_LINE_H

#include "common/base/error.h"
#include "common/data/labels.h"
#include "common/model/model.h"

/* The key of the line. */
#define LABELS_KEY "labels"

/* Adds the line to a model. */
int label_line_write(const struct labels *labels, struct model *model, struct error *err);

/* Reads the line of a model. Fails unless it has as many different labels as the model has outputs;
 * pair: a single output has two. The caller calls labels_free. */
int label_line_read(struct labels *labels, const struct model *model, bool pair, struct error *err);

#endif
