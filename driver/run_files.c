/* for dev_t, ino_t and fstat */
#define _POSIX_C_SOURCE 200809L
#include "driver/run_files.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A regular file is known by device and inode, what is not there by its folder's and its name in
 * it, all else by its path. */
struct run_file {
    char *path; /* owned */
    bool written;
    size_t number; /* in the order in which they were added */
    dev_t device;
    ino_t inode;
    const char *name; /* of what is not there, or the path; else empty */
};

/* True if a path stands for an open stream: it is written as it comes, whatever file that is. */
static bool is_stream(const char *path) {
    static const char *const begins[] = {"/dev/std", "/dev/fd/", "/proc/"};
    bool stream = strcmp(path, "-") == 0;
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        stream |= strncmp(path, begins[i], strlen(begins[i])) == 0;
    }
    return stream;
}

static void know_by(struct run_file *file, const struct stat *status, const char *name) {
    file->device = status ? status->st_dev : 0;
    file->inode = status ? status->st_ino : 0;
    file->name = name;
}

/* False if the file can clash with none: a device or a pipe that is read. */
static bool identify(struct run_file *file) {
    struct stat status;
    char *path = file->path, *slash = strrchr(path, '/');
    if (file->written && is_stream(path)) {
        know_by(file, NULL, path);
        return true;
    }
    if ((strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &status) : stat(path, &status)) == 0) {
        bool regular = S_ISREG(status.st_mode);
        know_by(file, regular ? &status : NULL, regular ? "" : path);
        return regular || file->written;
    }
    char first = slash ? slash[1] : '\0';
    if (slash) {
        slash[1] = '\0';
    }
    bool folder = stat(slash ? path : ".", &status) == 0;
    if (slash) {
        slash[1] = first;
    }
    know_by(file, folder ? &status : NULL, folder && slash ? slash + 1 : path);
    return true;
}

static int add(struct run_files *files, const char *path, bool written, struct error *err) {
    struct run_file file = {.written = written, .number = files->n};
    if (memory_grow(&files->file, files->room, files->n + 1, sizeof file, "file names", err) < 0) {
        return -1;
    }
    files->room = memory_room(files->room, files->n + 1);
    file.path = memory_text(path, strlen(path), "a file name", err);
    if (!file.path) {
        return -1;
    }
    if (identify(&file)) {
        files->file[files->n++] = file;
    } else {
        free(file.path);
    }
    return 0;
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
    return strcmp(a->name, b->name);
}

/* Of one file the outputs first. */
static int compare_files(const void *first, const void *second) {
    const struct run_file *a = first, *b = second;
    int order = compare_identities(a, b);
    if (order == 0 && a->written != b->written) {
        order = a->written ? -1 : 1;
    }
    return order ? order : (a->number > b->number) - (a->number < b->number);
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
        if (!a->written || compare_identities(a, b) != 0) {
            continue;
        }
        return b->written
                   ? error_set(err, ERROR_USAGE, "two outputs to one file: '%.200s'", b->path)
                   : error_set(err, ERROR_USAGE, "'%.200s' is read and written", a->path);
    }
    return 0;
}

void run_files_free(struct run_files *files) {
    for (size_t i = 0; i < files->n; i++) {
        free(files->file[i].path);
    }
    free(files->file);
    *files = (struct run_files){0};
}
