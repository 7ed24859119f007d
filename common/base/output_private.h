/* What an output is, for the modules that write it (output.c) and put it in place
 * (output_place.c). */
#ifndef COMMON_BASE_OUTPUT_PRIVATE_H
#define COMMON_BASE_OUTPUT_PRIVATE_H

#include "common/base/output.h"

#include <stdio.h>
#include <sys/types.h>

enum { OUTPUT_BUFFER = 1 << 16 };

struct output {
    const char *path;  /* as given */
    char *target;      /* symbolic links resolved; NULL: written as it comes */
    char *folder;      /* of target */
    char *name;        /* beside the target, that the finished file bears for now; NULL: none */
    output_taker take; /* NULL: a file */
    void *context;
    FILE *spool; /* tmpfile(), where O_TMPFILE is not to be had */
    int fd;
    bool cut;      /* a regular file that is written as it comes: to be cut before the first byte */
    bool replaces; /* a file is there, of these permissions: */
    mode_t mode;
    int failure; /* errno of the first failure, or 0 */
    size_t used;
    char buffer[OUTPUT_BUFFER];
};

/* Sets err to what the system says of the output; returns -1. */
int output_fail(const struct output *output, int number, struct error *err);

/* With which permissions its files are made: its owner's alone where the target's are set later. */
mode_t output_first_mode(const struct output *output);

/* Writes n bytes; returns 0 or errno. */
int output_write_all(int fd, const char *bytes, size_t n);

/* Whether a file can be made beside the target, where one without a name cannot: makes one and
 * takes it away. Returns 0 or errno. */
int output_try_name(const struct output *output);

#endif
