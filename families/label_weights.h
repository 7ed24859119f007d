/* Weights of labels, as the option -w gives them, for every family. */
#ifndef FAMILIES_LABEL_WEIGHTS_H
#define FAMILIES_LABEL_WEIGHTS_H

#include "common/base/error.h"
#include "common/data/data.h"
#include "driver/options.h"

/* weight (data->names.n): 1, or what the option LABEL:WEIGHT,... says of a label. Fails for a label
 * that no row has. */
int label_weights_read(const struct data *data, const struct option *option, double *weight,
                       struct error *err);

#endif
