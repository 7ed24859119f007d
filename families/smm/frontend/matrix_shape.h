/* The shape of the matrices that rows are, row by row: --shape RxC, or the file's first line
 * `# matrix R C`. */
#ifndef FAMILIES_SMM_FRONTEND_MATRIX_SHAPE_H
#define FAMILIES_SMM_FRONTEND_MATRIX_SHAPE_H

#include "common/base/error.h"
#include "common/data/data.h"
#include "common/data/input.h"
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

/* The largest index of rows of matrices of that shape, RxC, or if it is NULL of that which the
 * first line of their file tells: see input_format. There is none where both tell, and differ: that
 * is to be said first. */
void matrix_shape_limit(const char *shape, const char *comment, struct input_limit *limit);

/* Fails where rows do not fit the matrices of a model, RxC: by what the first line of their file
 * tells, or an index. */
int matrix_shape_takes(const char *shape, const struct data *rows, struct error *err);

#endif
