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
    mode_t mode; /* of the file that is there; 0: none */
    int failure; /* errno of the first failure, or 0 */
    size_t used;
    char buffer[OUTPUT_BUFFER];
};

/* Sets err to what the system says of the output; returns -1. */
int output_fail(const struct output *output, int number, struct error *err);

/* Writes n bytes; returns 0 or errno. */
int output_write_all(int fd, const char *bytes, size_t n);

/* Whether a file can be made beside the target, where one without a name cannot: makes one and
 * takes it away. Returns 0 or errno. */
int output_try_name(const struct output *output);

#endif
