/* The struct behind output.h. Private to output.c, which writes, and output_place.c, which commits.
 */
#ifndef COMMON_BASE_OUTPUT_PRIVATE_H
#define COMMON_BASE_OUTPUT_PRIVATE_H

#include "common/base/output.h"

#include <stdio.h>
#include <sys/types.h>

enum { OUTPUT_BUFFER = 1 << 16 };

struct output {
    const char *path;     /* as given */
    char *target;         /* with symbolic links resolved; NULL: written directly */
    char *folder;         /* of target */
    char *name;           /* temporary name beside the target of the finished file; NULL: none */
    output_function take; /* NULL: a file */
    void *context;
    FILE *spool; /* tmpfile(), if O_TMPFILE is not supported */
    int fd;
    bool cut;      /* a regular file that is written directly: truncate it before the first byte */
    bool replaces; /* a file with these permissions exists */
    mode_t mode;
    int failure; /* errno of the first failure, or 0 */
    size_t used;
    char buffer[OUTPUT_BUFFER];
};

/* Sets err to the message of an errno for the output; returns -1. */
int output_fail(const struct output *output, int number, struct error *err);

/* The permissions with which its files are created: only for the owner if those of the target are
 * set later. */
mode_t output_first_mode(const struct output *output);

/* Tests whether a file can be created beside the target, if O_TMPFILE is not supported: creates one
 * and removes it. Returns 0 or errno. */
int output_try_name(const struct output *output);

#endif
