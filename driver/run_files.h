/* The files that a run reads and writes, told apart before anything is opened: an output that takes
 * the place of an input would destroy it, two outputs to one file would leave only the last of them
 * or a mixture, and standard input can be read once. */
#ifndef DRIVER_RUN_FILES_H
#define DRIVER_RUN_FILES_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct run_file;

struct run_files {
    struct run_file *file; /* (n), room for `room` */
    size_t n, room;
    size_t n_standard; /* how often standard input is read */
};

/* Adds a file that is read, or written; "-" is standard input or output. The path is copied; NULL
 * adds nothing. ERROR_RUNTIME if it stands for a descriptor (see output_descriptor) that is not
 * open. *files is zero at first; the caller ends with run_files_free. */
int run_files_read(struct run_files *files, const char *path, struct error *err);
int run_files_write(struct run_files *files, const char *path, struct error *err);

/* ERROR_USAGE if one of them is written and also read or written again, or if standard input is
 * read twice. Two paths are one file if they are equal, if both lead to one regular file, be it
 * by open descriptors, or to one pipe that both are written to, or if both name what is not yet
 * there in one folder. Devices and pipes may be read and written; of standard output and standard
 * error both may be written, whatever they lead to. */
int run_files_check(struct run_files *files, struct error *err);

/* The name that files made from an input are called by: the path without its folders, and "stdin"
 * for "-". */
const char *run_files_base_name(const char *path);

/* Frees all names, and leaves an empty list. */
void run_files_free(struct run_files *files);

#endif
