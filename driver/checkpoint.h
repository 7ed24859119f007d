/* A table on the disk that grows row by row and survives what ends the program: the FILE of
 * --resume.
 *
 * Unlike other outputs (output.h) it is written in place: each row is added by one write as soon as
 * it is known. A last line without a line end was torn off, and is dropped, as is what stands
 * before a header in its line. Blank lines, lines that begin with `#` and headers may stand
 * anywhere, so that tables can be joined by cat or sort; lines may end in CRLF. */
#ifndef DRIVER_CHECKPOINT_H
#define DRIVER_CHECKPOINT_H

#include "common/base/error.h"

struct journal;

/* Opens the file, or makes it, adds the header if it has none, and hands each row that it has to
 * `take`: NULL if the row is one of the table, else what is wrong with it. Refuses, and leaves as
 * it is, a file with other lines, one that another program has open here, or one that is standard
 * output. path and header are borrowed. The caller ends with journal_close. */
int journal_open(struct journal **journal, const char *path, const char *header,
                 const char *(*take)(void *context, const char *line), void *context,
                 struct error *err);

/* Adds a row, which has no line end. */
int journal_add(struct journal *journal, const char *line, struct error *err);

/* NULL is allowed. */
void journal_close(struct journal *journal);

#endif
