/* The options that all trainers have; the driver itself is train_main, see common/family.h. */
#ifndef COMMON_TRAIN_H
#define COMMON_TRAIN_H

#include "common/error.h"
#include "common/family.h"
#include "common/options.h"

/* Fills *options with the common options and the family's own. */
int train_options(struct options *options, const struct family *family, struct error *err);

#endif
