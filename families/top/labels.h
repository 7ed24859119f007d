/* Which labels are positive: the one that the user names, or else the numbers above 0. */
#ifndef FAMILIES_TOP_LABELS_H
#define FAMILIES_TOP_LABELS_H

#include "common/base/error.h"
#include "common/data/data.h"

#include <stdbool.h>
#include <stdint.h>

enum { TOP_NEGATIVE, TOP_POSITIVE, TOP_UNKNOWN };

/* The class of a label; TOP_UNKNOWN: not a number, and no positive label is named. */
int top_labels_class(const char *name, const char *positive);

/* Fails if a label of the data is of unknown class, or none is the positive one that is named (the
 * option --positive). */
int top_labels_check(const struct data *data, const char *positive, struct error *err);

/* is_positive (data->names.n) of each label. */
void top_labels_read(const struct data *data, const char *positive, bool *is_positive);

/* The name of each class as predictions write it: that of its one label, or of several +1 and -1
 * (numbers), or `rest` for all those that are not the positive one. */
const char *top_labels_name(const struct data *data, const char *positive, bool of_positive);

#endif
