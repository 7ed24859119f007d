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

/* Opens the file at `path` and writes it by write(set, out); with `test`, the two files path.train
 * and path.test, and *test is true while the second is written. */
int writer_write(const char *path, bool *test, const void *set,
                 void (*write)(const void *set, struct output *out), struct error *err);

#endif
