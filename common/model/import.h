/* Models that other programs have trained. */
#ifndef COMMON_MODEL_IMPORT_H
#define COMMON_MODEL_IMPORT_H

#include "common/base/error.h"
#include "common/model/lines.h"
#include "common/model/model.h"

#include <stdbool.h>

/* Whether this first line is one of LIBLINEAR. */
bool model_import_is(const struct model_lines *in);

/* Reads LIBLINEAR's model from its first line on, see model_read_classes. */
int model_import(struct model_lines *in, struct model *model, struct error *err);

#endif
