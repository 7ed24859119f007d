/* The shape of the matrices that rows are, row by row: --shape RxC, or the file's first line
 * `# matrix R C`. */
#ifndef FAMILIES_SMM_MATRIX_SHAPE_H
#define FAMILIES_SMM_MATRIX_SHAPE_H

#include "common/base/error.h"
#include "common/data/data.h"
#include "driver/options.h"

#include <stdint.h>

struct matrix_shape {
    uint64_t height, width; /* rows and columns; their product is below 2^32 - 1 */
};

/* Refuses a --shape that is none (ERROR_USAGE). */
int matrix_shape_check(const struct options *options, struct error *err);

/* Fails where neither the options, which have been checked, nor the data tell the shape. */
int matrix_shape_find(struct matrix_shape *shape, const struct options *options,
                      const struct data *data, struct error *err);

/* *width = the features of a matrix, of which the data have no more: the hook of struct family. */
int matrix_shape_width(const struct options *options, const struct data *data, uint32_t *width,
                       struct error *err);

/* Fails where the first line of the rows' file tells a shape, and it is not that of a model,
 * RxC. */
int matrix_shape_agrees(const char *shape, const struct data *rows, struct error *err);

#endif
