/* The labels that a model knows: those that occur in its training rows, in one order, which is
 * that of the model's scores.
 *
 * The order is numerical if all labels are integers, else by their bytes. A model keeps them in its
 * line `labels`, with blanks between, as they were written in the training file. */
#ifndef COMMON_DATA_LABELS_H
#define COMMON_DATA_LABELS_H

#include "common/base/error.h"
#include "common/data/data.h"
#include "common/kernel/problem.h"
#include "common/model/model.h"

#include <stddef.h>
#include <stdint.h>

/* The key of the line in the model. */
#define LABELS_KEY "labels"

/* What a label that the model does not have is numbered. */
#define LABELS_UNKNOWN UINT32_MAX

struct labels {
    struct names names; /* n labels, numbered in the order above; a model's: in its own order */
};

/* Takes the labels of the problem's rows (data with DATA_NAME or DATA_SET; a DATA_NAME row may have
 * none). There may be none at all. The caller calls labels_free. */
int labels_collect(struct labels *labels, const struct problem *problem, struct error *err);

/* map (names->n): the number in `labels` of each of other names, or LABELS_UNKNOWN. */
void labels_map(const struct labels *labels, const struct names *names, uint32_t *map);

/* Adds the line to a model. */
int labels_write(const struct labels *labels, struct model *model, struct error *err);

/* Reads the line of a model: as many different labels as the model has outputs. The caller calls
 * labels_free. */
int labels_read(struct labels *labels, const struct model *model, struct error *err);

/* The same for models that have two labels in one score, as well as one in each. */
int labels_read_pair(struct labels *labels, const struct model *model, struct error *err);

/* Releases what the labels own and makes them empty. */
void labels_free(struct labels *labels);

#endif
