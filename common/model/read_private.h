/* Functions shared by the files of the reader. Private to read.c, read_header.c, import.c and
 * proof.c. */
#ifndef COMMON_MODEL_READ_PRIVATE_H
#define COMMON_MODEL_READ_PRIVATE_H

#include "common/model/lines.h"
#include "common/model/model.h"

/* Grows *array for one more item of `size` bytes after the n that it has. */
int model_read_grow(void *array, size_t n, size_t size, struct error *err);

/* Appends a number to the n in *array. */
int model_read_number(double **array, size_t n, double value, struct error *err);

/* Parses n numbers (0: all that follow, at least one), separated by blanks, from *rest on, and
 * appends them to the *used numbers of the array; *rest becomes the text after them. */
int model_read_numbers(const struct model_lines *in, size_t n, double **array, size_t *used,
                       const char **rest, struct error *err);

/* Reads the header from its first line, which is in `in`, up to the line that begins the scaling or
 * the body. */
int model_read_header(struct model_lines *in, struct model *model, const char *family,
                      const char *const *own_keys, struct error *err);

#endif
