/* Files that are there whole or not at all.
 *
 * What is written goes to a file without a name (O_TMPFILE) in the target's folder, or where the
 * file system has none, to a tmpfile(). output_commit flushes it to the disk and puts it in the
 * target's place; until then the old file is untouched, and a program that is ended leaves nothing
 * behind. Several files can be put in place together. "-" is standard output; it, descriptors that
 * are open (/dev/fd/N), pipes and devices are written as they come. */
#ifndef COMMON_BASE_OUTPUT_H
#define COMMON_BASE_OUTPUT_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct output;

/* The path of standard error, which need not be a file that can be opened. */
#define OUTPUT_STDERR "/dev/stderr"

/* Opens `path` (borrowed) for writing: fails at once if the folder is missing or not writable, if
 * path is a folder, or an existing file that may not be written. Symbolic links are followed where
 * the system follows them; an existing file's permissions are kept, its setuid, setgid and sticky
 * bits, owner, group, ACL and attributes are not. A regular file that an open descriptor (see
 * output_descriptor) stands for is cut to nothing before the first byte, or appended to if the
 * descriptor appends; of the standard streams by name only what lies behind their place is cut. */
int output_open(struct output **output, const char *path, struct error *err);

/* The number of the open descriptor that a path stands for: 1 for "-" and /dev/stdout, 2 for
 * OUTPUT_STDERR, N for /dev/fd/N and /proc/self/fd/N and what links to these; -1: none. */
int output_descriptor(const char *path);

/* *target gets the name that `path` leads to by symbolic links, whether or not a file is there; the
 * caller frees it. Returns 0 or errno. */
int output_follow(const char *path, char **target);

/* Takes n bytes, n > 0; returns 0, or an errno for which the output fails. */
typedef int (*output_taker)(void *context, const char *bytes, size_t n);

/* An output that is no file: all bytes go to a function as they come, some thousand at a time.
 * `name` (borrowed) is what errors call it. */
int output_open_taker(struct output **output, const char *name, output_taker take, void *context,
                      struct error *err);

/* The path as it was given to output_open, or the name. */
const char *output_path(const struct output *output);

/* True if it writes to standard output, whatever it is called. */
bool output_is_stdout(const struct output *output);

/* Adds bytes, text up to its NUL, or formatted text. The first failure is kept, and reported by
 * output_flush or output_commit. */
void output_write(struct output *output, const void *bytes, size_t n);
void output_text(struct output *output, const char *text);
void output_format(struct output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds the shortest decimal of value that reads back to the same bits; value is finite. */
void output_number(struct output *output, double value);

/* Hands what was added to the system; fails if anything since output_open has failed. */
int output_flush(struct output *output, struct error *err);

/* What keeps off signals that end the program, and lets them come again: between the two, for some
 * microseconds mostly, files have names beside their targets that would be left behind. */
struct output_hold {
    void (*hold)(void);
    void (*release)(void);
};

/* Puts n outputs (NULL: left out) in place together, in their order, and frees them, also when it
 * fails. All are on the disk, standard output and pipes are flushed, and all files stand beside
 * their targets before the first takes its place; where that fails all old files are untouched.
 * What can fail then is a rename, which needs neither room nor memory. hold may be NULL. */
int output_commit_all(struct output **output, size_t n, const struct output_hold *hold,
                      struct error *err);

/* The same for one. */
int output_commit(struct output *output, const struct output_hold *hold, struct error *err);

/* Frees output and leaves the old file as it was. NULL is allowed. */
void output_discard(struct output *output);

#endif
