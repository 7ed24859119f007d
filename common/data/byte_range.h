/* A text file of rows shared out to several processes, by bytes: each takes the lines that begin in
 * its range, so that every line is one process's. Where rows of a query are to stay together, the
 * process in whose range the first of them begins takes them all, and the others leave them to it.
 * All find the same borders, each for itself. */
#ifndef COMMON_DATA_BYTE_RANGE_H
#define COMMON_DATA_BYTE_RANGE_H

#include "common/base/error.h"
#include "common/data/lines.h"
#include "common/data/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct part;

/* Part `which` of a source just opened, which is made to begin at a line: that of the part, or of
 * gzip, whose bytes count as they are stored, the file's first. An error unless it is a regular
 * file. The caller calls part_close. */
int part_open(struct part **part, struct source *source, const struct lines_part *which,
              struct error *err);
void part_close(struct part *part);

/* About how many bytes of text it has, 0 if that is not known. */
size_t part_size(const struct part *part);

/* True once no line that is still to come belongs to it. */
bool part_ended(const struct part *part);

/* The next batch of the source, whole lines, becomes what of it belongs to the part, perhaps
 * nothing. cut: source_cut's after the batch was read. Fails for lack of memory. */
int part_narrow(struct part *part, const uint64_t cut[2], const char **text, size_t *length,
                struct error *err);

#endif
