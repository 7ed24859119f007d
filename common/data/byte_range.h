/* A text file of rows divided among several processes by byte ranges: each process gets the lines
 * that begin in its range. If rows of a query must stay together, the process whose range has the
 * first row of a query gets them all. Every process determines the borders by itself, and all
 * agree. */
#ifndef COMMON_DATA_BYTE_RANGE_H
#define COMMON_DATA_BYTE_RANGE_H

#include "common/base/error.h"
#include "common/data/lines.h"
#include "common/data/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_range;

/* The range `which` of a source that was just opened. A plain file is positioned at the first line
 * of the range; a gzip file, whose ranges count stored bytes, is read from the first line of the
 * file on. Fails unless the source is a regular file. The caller calls byte_range_close. */
int byte_range_open(struct byte_range **range, struct source *source,
                    const struct lines_part *which, struct error *err);
void byte_range_close(struct byte_range *range);

/* Approximate bytes of text in the range; 0 if unknown. */
size_t byte_range_size(const struct byte_range *range);

/* True once no later line belongs to the range. */
bool byte_range_ended(const struct byte_range *range);

/* Reduces the next batch of the source, whole lines, to what belongs to the range, perhaps nothing.
 * cut: source_cut after the batch was read. Fails if memory runs out. */
int byte_range_reduce(struct byte_range *range, const uint64_t cut[2], const char **text,
                      size_t *length, struct error *err);

#endif
