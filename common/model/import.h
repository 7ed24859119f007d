/* Reading of models of other programs. */
#ifndef COMMON_MODEL_IMPORT_H
#define COMMON_MODEL_IMPORT_H

#include "common/base/error.h"
#include "common/model/lines.h"
#include "common/model/model.h"

#include <stdbool.h>

/* True if the first line, in `in`, is one of LIBLINEAR. */
bool model_import_is(const struct model_lines *in);

/* Reads a LIBLINEAR model whose first line is in `in`, see model_read. */
int model_import(struct model_lines *in, struct model *model, struct error *err);

#endif
