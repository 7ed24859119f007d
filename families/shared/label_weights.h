/* Label weights by the option --weight, for every family with labels. */
#ifndef FAMILIES_SHARED_LABEL_WEIGHTS_H
#define FAMILIES_SHARED_LABEL_WEIGHTS_H

#include "common/base/error.h"
#include "common/data/data.h"
#include "common/model/proof.h"
#include "driver/options.h"

/* The option --row-weights of families that take no row of weight 0; replaces the common one. */
#define LABEL_WEIGHTS_OF_ROWS                                                                      \
    OPTION(TEXT, 0, "row-weights", "FILE",                                                         \
           "weights of the training rows, a number above 0 per line: a row of weight 2 is "        \
           "equivalent to two equal rows, but --scale counts it once",                             \
           SINGLE, .aside = true)

/* Refuses a weight for a label that no training row has; a family's check_data. */
int label_weights_check(const struct options *options, const struct data *data, struct error *err);

/* Sets weight (data->names.n) to the label's weight in --weight, or 1. Labels that the names lack,
 * as those of a fold may, are ignored; label_weights_check has checked them. */
void label_weights_read(const struct options *options, const struct data *data, double *weight);

/* Writes the label weights to a proof: a line `weight LABEL W` for each label in --weight. */
void label_weights_prove(const struct options *options, struct proof_writer *proof);

#endif
