/* The options that all trainers have; the driver itself is train_main, see common/family.h. */
#ifndef DRIVER_TRAIN_H
#define DRIVER_TRAIN_H

#include "common/base/error.h"
#include "driver/family.h"
#include "driver/options.h"

/* Fills *options with the common options and the family's own. */
int train_options(struct options *options, const struct family *family, struct error *err);

#endif
