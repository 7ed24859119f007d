/* Opening and writing of outputs. _GNU_SOURCE: O_TMPFILE. */
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

enum { MAX_LINKS = 40, MAX_DIGITS = 9 };

int output_fail(const struct output *output, int number, struct error *err) {
    return error_set(err, ERROR_RUNTIME, "%s: cannot write: %s",
                     strcmp(output->path, "-") == 0 ? "<stdout>" : output->path, strerror(number));
}

mode_t output_first_mode(const struct output *output) {
    return output->replaces ? 0600 : 0666; /* 0666 is reduced by the umask */
}

/* The folder of a path: "." or everything before the last slash, or "/" itself. */
static char *folder_of(const char *path, struct error *err) {
    const char *slash = strrchr(path, '/');
    if (!slash) {
        return memory_text(".", 1, "a file name", err);
    }
    return memory_text(path, slash == path ? 1 : (size_t)(slash - path), "a file name", err);
}

/* The target of the symbolic link `path`, which the caller frees; NULL if it is not a link, or if
 * memory runs out (then *failed). */
static char *follow(const char *path, bool *failed) {
    struct error unheard;
    char link[4096];
    ssize_t length = readlink(path, link, sizeof link);
    if (length < 0) {
        return NULL;
    }
    const char *slash = strrchr(path, '/');
    size_t prefix = link[0] == '/' || !slash ? 0 : (size_t)(slash - path + 1);
    char *next = memory_array(prefix + (size_t)length + 1, 1, "a file name", &unheard);
    if (next) {
        memcpy(next, path, prefix);
        memcpy(next + prefix, link, (size_t)length);
        next[prefix + (size_t)length] = '\0';
    }
    *failed = next == NULL;
    return next;
}

/* N if the path is /proc/self/fd/N, by any name of its folder; else -1. */
static int numbered(const char *path) {
    const char *slash = strrchr(path, '/'), *digits = slash ? slash + 1 : "";
    size_t length = strlen(digits);
    if (length == 0 || length > MAX_DIGITS || strspn(digits, "0123456789") < length) {
        return -1;
    }
    struct error unheard;
    char *named = folder_of(path, &unheard);
    char *folder = named ? realpath(named, NULL) : NULL;
    char *process = realpath("/proc/self", NULL);
    bool own = false;
    if (folder && process) {
        size_t begin = strlen(process),
               end = strlen(folder); /* descriptors of a thread are in task/ID/fd */
        own = strncmp(folder, process, begin) == 0 && folder[begin] == '/' && end >= 3 &&
              strcmp(folder + end - 3, "/fd") == 0;
    }
    free(named);
    free(folder);
    free(process);
    return own ? (int)strtol(digits, NULL, 10) : -1;
}

int output_descriptor(const char *path) {
    struct stat status;
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
        return STDOUT_FILENO;
    }
    if (strcmp(path, OUTPUT_STDERR) == 0) {
        return STDERR_FILENO;
    }
    int number = numbered(path);
    if (number >= 0 ||
        stat(path, &status) != 0) { /* only for links that the system cannot follow */
        return number;
    }
    bool failed;
    char *link = follow(path, &failed);
    for (int i = 1; link && number < 0 && i < MAX_LINKS; i++) {
        number = numbered(link);
        char *next = follow(link, &failed);
        free(link);
        link = next;
    }
    free(link);
    return number;
}

int output_follow(const char *path, char **target) {
    struct error unheard;
    bool failed = false;
    char *name = memory_text(path, strlen(path), "a file name", &unheard), *next = NULL;
    int links = 0;
    while (name && links++ < MAX_LINKS && (next = follow(name, &failed)) != NULL) {
        free(name);
        name = next;
    }
    int failure = failed || !name ? ENOMEM : links > MAX_LINKS ? ELOOP : 0;
    if (failure) {
        free(name);
        name = NULL;
    }
    *target = name;
    return failure;
}

/* Resolves the target of the path. `status` is that of the file that the system finds there, NULL:
 * none. Links may change in the meantime: fails if the target is not that file, so that links that
 * the system refuses to follow (protected_symlinks) are not followed here. */
static int resolve(struct output *output, const struct stat *status, struct error *err) {
    struct stat found;
    int failure = output_follow(output->path, &output->target);
    if (failure) {
        return output_fail(output, failure, err);
    }
    if (lstat(output->target, &found) != 0) {
        return errno == ENOENT && !status ? 0 : output_fail(output, errno, err);
    }
    bool same = status && found.st_dev == status->st_dev && found.st_ino == status->st_ino;
    return same ? 0 : output_fail(output, ESTALE, err);
}

/* Opens a descriptor that the user has opened. */
static int open_descriptor(struct output *output, int number, struct error *err) {
    bool standard = number == STDOUT_FILENO || number == STDERR_FILENO;
    int flags = fcntl(number, F_GETFL);
    struct stat status;
    if (!standard) {
        if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) {
            return output_fail(output, EBADF, err);
        }
        number = fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (number < 0) {
            return output_fail(output, errno, err);
        }
    }
    output->fd = number;
    if (strcmp(output->path, "-") != 0 && flags >= 0 && !(flags & O_APPEND) &&
        fstat(number, &status) == 0) {
        output->cut = S_ISREG(status.st_mode);
    }
    return 0;
}

/* Creates a file without a name in the folder of the target, or a tmpfile() if that is not
 * supported. Only users who may read the target can read it. */
static int open_file(struct output *output, struct error *err) {
    if (faccessat(AT_FDCWD, output->folder, W_OK | X_OK, AT_EACCESS) != 0) {
        return output_fail(output, errno, err);
    }
#ifdef O_TMPFILE
    output->fd = open(output->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, output_first_mode(output));
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

static int open_target(struct output *output, struct error *err) {
    int number = output_descriptor(output->path);
    if (number >= 0) {
        return open_descriptor(output, number, err);
    }
    struct stat status;
    bool there = stat(output->path, &status) == 0;
    if (!there && (errno != ENOENT || !*output->path)) {
        return output_fail(output, errno, err);
    }
    if (there && S_ISDIR(status.st_mode)) {
        return output_fail(output, EISDIR, err);
    }
    /* such a name may link to a regular file that is expected to be written in place; but /dev/shm
     * is an ordinary folder */
    bool device =
        strncmp(output->path, "/dev/", 5) == 0 && strncmp(output->path, "/dev/shm/", 9) != 0;
    if (there && (!S_ISREG(status.st_mode) || device || strncmp(output->path, "/proc/", 6) == 0)) {
        output->cut = S_ISREG(status.st_mode);
        output->fd = open(output->path, O_WRONLY | O_CLOEXEC);
        return output->fd < 0 ? output_fail(output, errno, err) : 0;
    }
    if (there && faccessat(AT_FDCWD, output->path, W_OK, AT_EACCESS) != 0) {
        return output_fail(output, errno, err);
    }
    output->replaces = there;
    output->mode = there ? status.st_mode & 0777 : 0;
    if (resolve(output, there ? &status : NULL, err) < 0) {
        return -1;
    }
    output->folder = folder_of(output->target, err);
    return output->folder ? open_file(output, err) : -1;
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

int output_open_function(struct output **output, const char *name, output_function take,
                         void *context, struct error *err) {
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

/* Truncates a file that is written in place at the first byte of the output: the beginning of the
 * file, or for a standard stream its current position. */
static int cut(const struct output *output) {
    bool standard = output->fd == STDOUT_FILENO || output->fd == STDERR_FILENO;
    off_t start = lseek(output->fd, 0, standard ? SEEK_CUR : SEEK_SET);
    return start < 0 || ftruncate(output->fd, start) != 0 ? errno : 0;
}

static void pass(struct output *output, const char *bytes, size_t n) {
    if (!output->failure && output->cut) {
        output->failure = cut(output);
        output->cut = false;
    }
    if (!output->failure && n > 0) {
        output->failure = output->take ? output->take(output->context, bytes, n)
                                       : output_write_all(output->fd, bytes, n);
    }
}

static void drain(struct output *output) {
    pass(output, output->buffer, output->used);
    output->used = 0;
}

void output_write(struct output *output, const void *bytes, size_t n) {
    const char *from = bytes;
    while (n > 0) {
        size_t room = OUTPUT_BUFFER - output->used;
        size_t part = n < room ? n : room;
        if (part == OUTPUT_BUFFER) {
            pass(output, from, part);
        } else {
            memcpy(output->buffer + output->used, from, part);
            output->used += part;
        }
        from += part;
        n -= part;
        if (output->used == OUTPUT_BUFFER) {
            drain(output);
        }
    }
}

void output_text(struct output *output, const char *text) {
    output_write(output, text, strlen(text));
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
    char *longer = length < 0 ? NULL : malloc((size_t)length + 1); /* labels may be this long */
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

bool output_failed(const struct output *output) {
    return output->failure != 0;
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
