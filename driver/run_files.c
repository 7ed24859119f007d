/* Inputs and outputs of a run, compared by device and inode (run_files.h). */
#define _POSIX_C_SOURCE 200809L /* dev_t, ino_t and fstat */
#include "driver/run_files.h"

#include "common/base/memory.h"
#include "common/base/output.h"
#include "common/data/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The identity of a file. A regular file, and a pipe that is written, is identified by device and
 * inode; a missing file by its folder and its name there; an open descriptor of a device by its
 * number; anything else by its path. */
struct run_file {
    char *path;   /* owned */
    char *target; /* of a missing file: the path that symbolic links lead to; owned; else NULL */
    bool written;
    size_t number; /* position in the order of addition */
    dev_t device;
    ino_t inode;
    int descriptor;   /* descriptor that is written, -1: none */
    const char *name; /* name of a missing file, or the path; else empty */
};

static void set_identity(struct run_file *file, const struct stat *status, const char *name) {
    file->device = status ? status->st_dev : 0;
    file->inode = status ? status->st_ino : 0;
    file->name = name;
}

/* Identifies a missing file by the folder in which links would put it, and its name there. */
static int identify_by_folder(struct run_file *file, struct error *err) {
    struct stat status;
    if (output_follow(file->path, &file->target) !=
        0) { /* circular links, which cannot be opened */
        file->target = memory_text(file->path, strlen(file->path), "a file name", err);
    }
    if (!file->target) {
        return -1;
    }
    char *slash = strrchr(file->target, '/'), first = slash ? slash[1] : '\0';
    if (slash) {
        slash[1] = '\0';
    }
    bool folder = stat(slash ? file->target : ".", &status) == 0;
    if (slash) {
        slash[1] = first;
    }
    set_identity(file, folder ? &status : NULL, folder && slash ? slash + 1 : file->target);
    return 0;
}

/* *clashes: false for a device or pipe that is read, which conflicts with nothing. */
static int identify(struct run_file *file, bool *clashes, struct error *err) {
    struct stat status;
    file->descriptor = file->written ? output_descriptor(file->path) : -1;
    *clashes = true;
    if (file->descriptor >= 0 && fstat(file->descriptor, &status) != 0) {
        return error_set(err, ERROR_RUNTIME, "%s: cannot write: %s", file->path, strerror(errno));
    }
    if (file->descriptor < 0 && (strcmp(file->path, "-") == 0 ? fstat(STDIN_FILENO, &status)
                                                              : stat(file->path, &status)) != 0) {
        return identify_by_folder(file, err);
    }
    bool single = S_ISREG(status.st_mode) || (file->written && S_ISFIFO(status.st_mode));
    set_identity(file, single ? &status : NULL, single || file->descriptor >= 0 ? "" : file->path);
    *clashes = single || file->written;
    return 0;
}

static int add(struct run_files *files, const char *path, bool written, struct error *err) {
    struct run_file file = {.written = written, .number = files->n};
    if (memory_grow(&files->file, memory_room(0, files->n), files->n + 1, sizeof file, "file names",
                    err) < 0) {
        return -1;
    }
    file.path = memory_text(path, strlen(path), "a file name", err);
    if (!file.path) {
        return -1;
    }
    bool clashes;
    int status = identify(&file, &clashes, err);
    if (status == 0 && clashes) {
        files->file[files->n++] = file;
    } else {
        free(file.path);
        free(file.target);
    }
    return status;
}

int run_files_read(struct run_files *files, const char *path, struct error *err) {
    files->n_standard += path && strcmp(path, "-") == 0;
    return path ? add(files, path, false, err) : 0;
}

int run_files_write(struct run_files *files, const char *path, struct error *err) {
    return path ? add(files, path, true, err) : 0;
}

static int compare_identities(const struct run_file *a, const struct run_file *b) {
    if (a->device != b->device) {
        return a->device < b->device ? -1 : 1;
    }
    if (a->inode != b->inode) {
        return a->inode < b->inode ? -1 : 1;
    }
    if (a->inode == 0 && a->descriptor != b->descriptor) { /* devices */
        return a->descriptor < b->descriptor ? -1 : 1;
    }
    return strcmp(a->name, b->name);
}

/* Returns whether the two are standard output and standard error, which may lead to one file
 * (2>&1). */
static bool are_standard(const struct run_file *a, const struct run_file *b) {
    return a->descriptor == STDOUT_FILENO && b->descriptor == STDERR_FILENO;
}

/* Orders by identity; for one file outputs first, by descriptor. */
static int compare_files(const void *first, const void *second) {
    const struct run_file *a = first, *b = second;
    int order = compare_identities(a, b);
    if (order == 0 && a->written != b->written) {
        order = a->written ? -1 : 1;
    }
    if (order == 0 && a->descriptor != b->descriptor) {
        order =
            /* without a descriptor: last */
            (unsigned)a->descriptor < (unsigned)b->descriptor ? -1 : 1;
    }
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* The path that says more than "-". */
static const char *either(const char *path, const char *other) {
    return strcmp(path, "-") == 0 ? other : path;
}

int run_files_check(struct run_files *files, struct error *err) {
    if (files->n_standard > 1) {
        return error_set(err, ERROR_USAGE, "only one file can be standard input");
    }
    if (files->n > 0) {
        qsort(files->file, files->n, sizeof *files->file, compare_files);
    }
    for (size_t i = 1; i < files->n; i++) {
        const struct run_file *a = &files->file[i - 1], *b = &files->file[i];
        if (!a->written || compare_identities(a, b) != 0 || are_standard(a, b)) {
            continue;
        }
        return b->written ? error_set(err, ERROR_USAGE, "two outputs to one file: '%s'",
                                      either(b->path, a->path))
                          : error_set(err, ERROR_USAGE, "'%s' is read and written",
                                      either(a->path, b->path));
    }
    for (size_t i = 0; files->keeps_models && i < files->n; i++) {
        const struct run_file *file = &files->file[i];
        if (file->written && run_files_begins(file->path, run_files_models)) {
            return error_set(err, ERROR_RUNTIME,
                             "%s: is a model: name another file, or --force replaces it",
                             file->path);
        }
    }
    return 0;
}

/* ---- files that are written over ---- */

const char *const run_files_models[] = {"dualsvm ", "svm_type ", "solver_type ", NULL};

/* Sets *status to that of the regular file that a path leads to; false if it leads to another or to
 * none, or stands for an open descriptor. */
static bool is_regular(const char *path, struct stat *status) {
    return strcmp(path, "-") != 0 && output_descriptor(path) < 0 && stat(path, status) == 0 &&
           S_ISREG(status->st_mode);
}

bool run_files_begins(const char *path, const char *const *words) {
    struct stat status;
    struct source *source;
    struct error ignored;
    char text[32] = "";
    size_t got = 0;
    bool found = false;
    if (!is_regular(path, &status) || source_open(&source, path, &ignored) < 0) {
        return false;
    }
    if (source_read(source, text, sizeof text - 1, &got, &ignored) == 0) {
        for (size_t i = 0; words[i] && !found; i++) {
            found = strncmp(text, words[i], strlen(words[i])) == 0;
        }
    }
    source_close(source);
    return found;
}

int run_files_check_replaced(const char *path, const char *const *words, const char *what,
                             struct error *err) {
    struct stat status;
    if (!is_regular(path, &status) || status.st_size == 0 || run_files_begins(path, words)) {
        return 0;
    }
    return error_set(err, ERROR_RUNTIME,
                     "%s: exists and is not %s: name another file, or --force replaces it", path,
                     what);
}

const char *run_files_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return strcmp(path, "-") == 0 ? "stdin" : slash ? slash + 1 : path;
}

void run_files_free(struct run_files *files) {
    for (size_t i = 0; i < files->n; i++) {
        free(files->file[i].path);
        free(files->file[i].target);
    }
    free(files->file);
    *files = (struct run_files){0};
}
