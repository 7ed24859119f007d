/* Files that are there whole or not at all.
 *
 * What is written goes to a file without a name (O_TMPFILE) in the target's folder, or where the
 * file system has none, to a tmpfile(). output_commit flushes it to the disk and puts it in the
 * target's place; until then the old file is untouched, and a program that is ended leaves nothing
 * behind. "-" is standard output; it, pipes and devices are written as they come. */
#ifndef COMMON_BASE_OUTPUT_H
#define COMMON_BASE_OUTPUT_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct output;

/* The path of standard error, which need not be a file that can be opened. */
#define OUTPUT_STDERR "/dev/stderr"

/* Opens `path` (borrowed) for writing: fails at once if the folder is missing or not writable, if
 * path is a folder, or an existing file that may not be written. Symbolic links are followed, an
 * existing file's mode is kept. */
int output_open(struct output **output, const char *path, struct error *err);

/* The path as it was given to output_open. */
const char *output_path(const struct output *output);

/* True if it writes to standard output, whatever it is called. */
bool output_is_stdout(const struct output *output);

/* Adds bytes, or formatted text. The first failure is kept, and reported by output_flush or
 * output_commit. */
void output_write(struct output *output, const void *bytes, size_t n);
void output_format(struct output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds the shortest decimal of value that reads back to the same bits; value is finite. */
void output_number(struct output *output, double value);

/* Hands what was added to the system; fails if anything since output_open has failed. */
int output_flush(struct output *output, struct error *err);

/* Puts the file in place and frees output, also when it fails: then the old file is untouched. */
int output_commit(struct output *output, struct error *err);

/* Frees output and leaves the old file as it was. NULL is allowed. */
void output_discard(struct output *output);

#endif
