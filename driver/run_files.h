/* The files that a run reads and writes, compared before any is opened: an output must not replace
 * an input, two outputs must not go to one file, and standard input can be read only once. */
#ifndef DRIVER_RUN_FILES_H
#define DRIVER_RUN_FILES_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct run_file;

struct run_files {
    struct run_file *file; /* (n) */
    size_t n;
    size_t n_standard; /* how many times standard input is read */
    bool keeps_models; /* set before run_files_check: no model is written over */
};

/* Adds a file that is read, or one that is written; "-" is standard input or output. The path is
 * copied; NULL adds nothing. ERROR_RUNTIME if it stands for a descriptor (see output_descriptor)
 * that is not open. *files is zero at first; the caller ends with run_files_free. */
int run_files_read(struct run_files *files, const char *path, struct error *err);
int run_files_write(struct run_files *files, const char *path, struct error *err);

/* Whether the path leads to a regular file that begins, unpacked, with one of the words, ended by
 * NULL. Other files are not opened: reading would consume the data of a pipe. */
bool run_files_begins(const char *path, const char *const *words);

/* How models begin: ours, LIBSVM's and LIBLINEAR's. */
extern const char *const run_files_models[];

/* Refuses to write over a regular file that is not empty, unless it begins with one of the words,
 * as `what` does. */
int run_files_check_replaced(const char *path, const char *const *words, const char *what,
                             struct error *err);

/* Fails with ERROR_USAGE if a file is written and also read or written again, or if standard input
 * is read twice; with keeps_models also, with ERROR_RUNTIME, if a model is written over. Two paths
 * denote one file if they are equal, if both lead to one regular file, also by open descriptors, if
 * both are written and lead to one pipe, or if both name the same missing file. Devices and pipes
 * may be read and written; standard output and standard error may both be written wherever they
 * lead. */
int run_files_check(struct run_files *files, struct error *err);

/* The name for files derived from an input: the path without its folders, and "stdin" for "-". */
const char *run_files_base_name(const char *path);

/* Frees all paths, and leaves an empty list. */
void run_files_free(struct run_files *files);

#endif
