/* Weights of labels, as the option --weight gives them, for every family that has labels. */
#ifndef FAMILIES_SHARED_LABEL_WEIGHTS_H
#define FAMILIES_SHARED_LABEL_WEIGHTS_H

#include "common/base/error.h"
#include "common/data/data.h"
#include "common/model/proof.h"
#include "driver/options.h"

/* A family's check_data: refuses a weight for a label that none of the training rows has. */
int label_weights_check(const struct options *options, const struct data *data, struct error *err);

/* weight (data->names.n): 1, or what --weight says of a label. Labels that the names lack, as those
 * of a fold may, have been checked. */
void label_weights_read(const struct options *options, const struct data *data, double *weight);

/* A family's part of a proof: lines `weight LABEL W` for the labels whose weight is not 1. */
void label_weights_prove(const struct options *options, struct proof_writer *proof);

#endif
