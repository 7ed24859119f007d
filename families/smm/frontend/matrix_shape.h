/* The shape of the matrices in the rows of a file: --shape RxC, or the file's first line `# matrix
 * R C`. */
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

/* Fails with ERROR_USAGE if --shape is malformed. */
int matrix_shape_check(const struct options *options, struct error *err);

/* Finds the shape in the options, which must be valid, or in the data. Fails if neither has one, or
 * if they differ. */
int matrix_shape_find(struct matrix_shape *shape, const struct options *options,
                      const struct data *data, struct error *err);

/* Fails if rows of --validate have a first line with another shape than the training rows. For
 * struct family. */
int matrix_shape_check_held(const struct options *options, const struct data *training,
                            const struct data *held, struct error *err);

/* *width = cells of a matrix, at least the features of the data. For struct family. */
int matrix_shape_width(const struct options *options, const struct data *data, uint32_t *width,
                       struct error *err);

/* The largest index of rows of that shape, RxC; if shape is NULL, of the shape in the file's first
 * line (see input_format). No limit if both exist and differ, for that error is reported first. */
void matrix_shape_limit(const char *shape, const char *comment, struct input_limit *limit);

/* Fails if rows do not fit a model's matrices, RxC: by the first line of their file, or by an
 * index. */
int matrix_shape_takes(const char *shape, const struct data *rows, struct error *err);

#endif
