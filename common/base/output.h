/* Output files that appear complete or not at all.
 *
 * Output is written to a file without a name (O_TMPFILE) in the folder of the target or, if the
 * file system does not support that, to a tmpfile(). output_end flushes it to the disk and
 * renames it to the target; until then the old file is unchanged, and a program that is killed
 * leaves nothing behind. Several files can be committed together. "-" is standard output; it, open
 * descriptors (/dev/fd/N), pipes and devices are written directly. */
#ifndef COMMON_BASE_OUTPUT_H
#define COMMON_BASE_OUTPUT_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct output;

/* The path of standard error, which works even if it cannot be opened as a file. */
#define OUTPUT_STDERR "/dev/stderr"

/* Opens `path` (borrowed) for writing. Fails at once if the folder is missing or not writable, or
 * if path is a folder or an existing file that is not writable. Symbolic links are followed as the
 * system does; the permissions of an existing file are kept, but not its setuid, setgid and sticky
 * bits, owner, group, ACL and attributes. A regular file behind an open descriptor (see
 * output_descriptor) is truncated before the first byte, or appended to if the descriptor appends;
 * standard streams given by name are truncated after their current position. */
int output_open(struct output **output, const char *path, struct error *err);

/* The number of the open descriptor that a path denotes: 1 for "-" and /dev/stdout, 2 for
 * OUTPUT_STDERR, N for /dev/fd/N and /proc/self/fd/N and links to these; -1 if it is none. */
int output_descriptor(const char *path);

/* *target = the path after following symbolic links, whether or not a file exists there; the caller
 * frees it. Returns 0 or errno. */
int output_follow(const char *path, char **target);

/* A function that receives n > 0 bytes of output; returns 0, or an errno with which the output
 * fails. */
typedef int (*output_function)(void *context, const char *bytes, size_t n);

/* An output that is not a file: all bytes are passed to a function, in blocks. `name` (borrowed) is
 * its name in errors. */
int output_open_function(struct output **output, const char *name, output_function take,
                         void *context, struct error *err);

/* The path as given to output_open, or the name. */
const char *output_path(const struct output *output);

/* True if it writes to standard output, by whatever path. */
bool output_is_stdout(const struct output *output);

/* Appends bytes, text up to its NUL, or formatted text. The first failure is stored, and reported
 * by output_flush or output_end. */
void output_write(struct output *output, const void *bytes, size_t n);
void output_text(struct output *output, const char *text);
void output_format(struct output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends the shortest decimal that reads back to the same bits; value is finite. */
void output_number(struct output *output, double value);

/* True if something has failed: a long output need not go on. */
bool output_failed(const struct output *output);

/* Writes the buffered bytes to the system; fails if anything since output_open has failed. */
int output_flush(struct output *output, struct error *err);

/* Functions that block and unblock signals that end the program: between them, usually for
 * microseconds, files have temporary names that would be left behind. */
struct output_hold {
    void (*hold)(void);
    void (*release)(void);
};

/* Commits n outputs (NULL: skipped) together, in their order, or discards them if status is -1, and
 * frees them, also on failure; the pointers are then NULL. All data is on the disk, standard output
 * and pipes are flushed, and all files have temporary names beside their targets before the first
 * is renamed; if anything fails before that, all old files are unchanged. Only a rename can fail
 * afterwards, which needs neither space nor memory. hold may be NULL. Returns -1 on failure, and
 * for a status of -1. */
int output_end_all(struct output **output, size_t n, int status, const struct output_hold *hold,
                   struct error *err);

/* The same for one, without hold. */
int output_end(struct output *output, int status, struct error *err);

/* Writes n bytes to an open descriptor; returns 0 or errno. */
int output_write_all(int fd, const char *bytes, size_t n);

/* Frees output without changing the target. NULL is allowed. */
void output_discard(struct output *output);

#endif
