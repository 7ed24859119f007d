/* Text output of rows. A decimal is an integer of units divided once, which every machine rounds
 * equally, and has few digits: the text does not depend on the machine. */
#ifndef DATASETS_WRITER_H
#define DATASETS_WRITER_H

#include "common/base/error.h"
#include "common/base/output.h"

#include <stdbool.h>
#include <stdint.h>

/* A feature of a row: a blank, its index (the column counts from 0), a colon, and units / unit. */
void writer_feature(struct output *output, uint64_t column, int64_t units, int64_t unit);

/* Calls write(set, path, test, err) for the path `output` or, with `split`, for output.train and,
 * with test true, for output.test. */
int writer_split(const char *output, bool split, const void *set,
                 int (*write)(const void *set, const char *path, bool test, struct error *err),
                 struct error *err);

#endif
