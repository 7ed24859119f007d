/* A checkpoint file: the table of --resume, which grows row by row on the disk and survives a
 * crash.
 *
 * Unlike other outputs (output.h) it is written in place: each row is appended by one write as soon
 * as it is known. An incomplete last line is dropped, as is any text in front of a header on the
 * same line. Blank lines, lines that begin with `#` and headers may occur anywhere, so that tables
 * can be joined by cat or sort; lines may end in CRLF. */
#ifndef DRIVER_CHECKPOINT_H
#define DRIVER_CHECKPOINT_H

#include "common/base/error.h"

struct checkpoint;

/* Opens or creates the file, adds the header if there is none, and passes each row to `take`, which
 * returns NULL for a valid row, or the reason why it is invalid. A file with an invalid line, one
 * that another process has open here, and one that is not a regular file are refused and left
 * unchanged. path and header are borrowed. The caller ends with checkpoint_close. */
int checkpoint_open(struct checkpoint **checkpoint, const char *path, const char *header,
                    const char *(*take)(void *context, const char *line), void *context,
                    struct error *err);

/* Appends a row, given without a line end. */
int checkpoint_add(struct checkpoint *checkpoint, const char *line, struct error *err);

/* NULL is allowed. */
void checkpoint_close(struct checkpoint *checkpoint);

#endif
