/* The labels of a model: its line `labels`, with blanks between, as they were written in the
 * training file, in the order of the model's scores. */
#ifndef COMMON_MODEL_LABEL_LINE_H
#define COMMON_MODEL_LABEL_LINE_H

#include "common/base/error.h"
#include "common/data/labels.h"
#include "common/model/model.h"

/* The key of the line in the model. */
#define LABELS_KEY "labels"

/* Adds the line to a model. */
int label_line_write(const struct labels *labels, struct model *model, struct error *err);

/* Reads the line of a model: as many different labels as the model has outputs. The caller calls
 * labels_free. */
int label_line_read(struct labels *labels, const struct model *model, struct error *err);

/* The same for models that have two labels in one score, as well as one in each. */
int label_line_read_pair(struct labels *labels, const struct model *model, struct error *err);

#endif
