/* for O_TMPFILE */
#define _GNU_SOURCE
#include "common/base/output.h"

#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/base/output_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40 };

int output_fail(const struct output *output, int number, struct error *err) {
    return error_set(err, ERROR_RUNTIME, "%s: cannot write: %s",
                     strcmp(output->path, "-") == 0 ? "<stdout>" : output->path, strerror(number));
}

/* The folder of a path: "." or all before the last slash, "/" included if that is the root. */
static char *folder_of(const char *path, struct error *err) {
    const char *slash = strrchr(path, '/');
    if (!slash) {
        return memory_text(".", 1, "a file name", err);
    }
    return memory_text(path, slash == path ? 1 : (size_t)(slash - path), "a file name", err);
}

/* Follows symbolic links from path to a name that is none, whether or not a file is there. */
static char *resolve(const struct output *output, struct error *err) {
    char *path = memory_text(output->path, strlen(output->path), "a file name", err);
    char link[4096];
    for (int i = 0; path && i < MOST_LINKS; i++) {
        ssize_t length = readlink(path, link, sizeof link);
        if (length < 0) {
            return path; /* not a link, or nothing there */
        }
        const char *slash = strrchr(path, '/');
        size_t kept = link[0] == '/' || !slash ? 0 : (size_t)(slash - path + 1);
        char *next = memory_array(kept + (size_t)length + 1, 1, "a file name", err);
        if (next) {
            memcpy(next, path, kept);
            memcpy(next + kept, link, (size_t)length);
            next[kept + (size_t)length] = '\0';
        }
        free(path);
        path = next;
    }
    if (path) {
        free(path);
        output_fail(output, ELOOP, err);
    }
    return NULL;
}

static int open_target(struct output *output, struct error *err) {
    if (strcmp(output->path, "-") == 0 || strcmp(output->path, "/dev/stdout") == 0) {
        output->fd = STDOUT_FILENO;
        return 0;
    }
    if (strcmp(output->path, OUTPUT_STDERR) == 0) {
        output->fd = STDERR_FILENO;
        return 0;
    }
    struct stat status;
    bool there = stat(output->path, &status) == 0;
    if (!*output->path || (there && S_ISDIR(status.st_mode))) {
        return output_fail(output, *output->path ? EISDIR : ENOENT, err);
    }
    /* such a name may be a link to a regular file, whose owner expects it to be written in place;
     * but /dev/shm has files as other folders have */
    bool device =
        strncmp(output->path, "/dev/", 5) == 0 && strncmp(output->path, "/dev/shm/", 9) != 0;
    if (there && (!S_ISREG(status.st_mode) || device || strncmp(output->path, "/proc/", 6) == 0)) {
        output->fd = open(output->path, O_WRONLY | O_CLOEXEC);
        return output->fd < 0 ? output_fail(output, errno, err) : 0;
    }
    if (there && faccessat(AT_FDCWD, output->path, W_OK, AT_EACCESS) != 0) {
        return output_fail(output, errno, err);
    }
    output->mode = there ? status.st_mode & 07777 : 0;
    output->target = resolve(output, err);
    output->folder = output->target ? folder_of(output->target, err) : NULL;
    if (!output->folder) {
        return -1;
    }
    if (faccessat(AT_FDCWD, output->folder, W_OK | X_OK, AT_EACCESS) != 0) {
        return output_fail(output, errno, err);
    }
#ifdef O_TMPFILE
    output->fd = open(output->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
#endif
    if (output->fd < 0) {
        int failure = output_try_name(output);
        if (failure) {
            return output_fail(output, failure, err);
        }
        output->spool = tmpfile();
        output->fd = output->spool ? fileno(output->spool) : -1;
    }
    return output->fd < 0 ? output_fail(output, errno, err) : 0;
}

int output_open(struct output **output, const char *path, struct error *err) {
    struct output *created = memory_zeros(1, sizeof *created, "an output buffer", err);
    if (!created) {
        return -1;
    }
    created->path = path;
    created->fd = -1;
    if (open_target(created, err) < 0) {
        output_discard(created);
        return -1;
    }
    *output = created;
    return 0;
}

int output_open_taker(struct output **output, const char *name, output_taker take, void *context,
                      struct error *err) {
    struct output *created = memory_zeros(1, sizeof *created, "an output buffer", err);
    if (!created) {
        return -1;
    }
    created->path = name;
    created->fd = -1;
    created->take = take;
    created->context = context;
    *output = created;
    return 0;
}

const char *output_path(const struct output *output) {
    return output->path;
}

bool output_is_stdout(const struct output *output) {
    return output->fd == STDOUT_FILENO;
}

int output_write_all(int fd, const char *bytes, size_t n) {
    while (n > 0) {
        ssize_t written = write(fd, bytes, n);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            return errno;
        }
        bytes += written;
        n -= (size_t)written;
    }
    return 0;
}

static void drain(struct output *output) {
    if (!output->failure && output->used > 0) {
        output->failure = output->take ? output->take(output->context, output->buffer, output->used)
                                       : output_write_all(output->fd, output->buffer, output->used);
    }
    output->used = 0;
}

void output_write(struct output *output, const void *bytes, size_t n) {
    const char *from = bytes;
    while (n > 0) {
        size_t room = OUTPUT_BUFFER - output->used;
        size_t part = n < room ? n : room;
        memcpy(output->buffer + output->used, from, part);
        output->used += part;
        from += part;
        n -= part;
        if (output->used == OUTPUT_BUFFER) {
            drain(output);
        }
    }
}

void output_format(struct output *output, const char *format, ...) {
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < sizeof text) {
        output_write(output, text, (size_t)length);
        return;
    }
    char *longer = length < 0 ? NULL : malloc((size_t)length + 1); /* labels may be that long */
    if (longer) {
        va_start(arguments, format);
        vsnprintf(longer, (size_t)length + 1, format, arguments);
        va_end(arguments);
        output_write(output, longer, (size_t)length);
        free(longer);
    } else {
        output->failure = output->failure ? output->failure : length < 0 ? EOVERFLOW : ENOMEM;
    }
}

void output_number(struct output *output, double value) {
    char text[NUMBER_LENGTH];
    output_write(output, text, number_format(value, text));
}

int output_flush(struct output *output, struct error *err) {
    drain(output);
    return output->failure ? output_fail(output, output->failure, err) : 0;
}

void output_discard(struct output *output) {
    if (!output) {
        return;
    }
    if (output->spool) {
        fclose(output->spool);
    } else if (output->fd > STDERR_FILENO) {
        close(output->fd);
    }
    free(output->target);
    free(output->name);
    free(output->folder);
    free(output);
}
