/* What the reader's files share; nobody else includes this. */
#ifndef COMMON_MODEL_READ_PRIVATE_H
#define COMMON_MODEL_READ_PRIVATE_H

#include "common/model/lines.h"
#include "common/model/model.h"

/* Makes room for one more item of `size` bytes behind the n in *array. */
int model_read_grow(void *array, size_t n, size_t size, struct error *err);

/* Puts a number behind the n in *array. */
int model_read_number(double **array, size_t n, double value, struct error *err);

/* Reads n numbers (0: one and all that follow) with blanks between from *rest on into the array,
 * behind the *used that it has; *rest becomes what follows them. */
int model_read_numbers(const struct model_lines *in, size_t n, double **array, size_t *used,
                       const char **rest, struct error *err);

/* Reads from the first line, which `in` holds, to the one that begins the scaling or the body. */
int model_read_header(struct model_lines *in, struct model *model, const char *family,
                      const char *const *own_keys, struct error *err);

#endif
