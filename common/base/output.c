/* for O_TMPFILE */
#define _GNU_SOURCE
#include "common/base/output.h"

#include "common/base/memory.h"
#include "common/base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 16, MOST_LINKS = 40, MOST_NAMES = 1000, NAME_BYTES = 64 };

struct output {
    const char *path; /* as given */
    char *target;     /* symbolic links resolved; NULL: written as it comes */
    char *folder;     /* of target */
    FILE *spool;      /* tmpfile(), where O_TMPFILE is not to be had */
    int fd;
    mode_t mode; /* of the file that is there; 0: none */
    int failure; /* errno of the first failure, or 0 */
    size_t used;
    char buffer[BUFFER_BYTES];
};

static int fail(const struct output *output, int number, struct error *err) {
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
        fail(output, ELOOP, err);
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
        return fail(output, *output->path ? EISDIR : ENOENT, err);
    }
    /* such a name may be a link to a regular file, whose owner expects it to be written in place */
    if (there && (!S_ISREG(status.st_mode) || strncmp(output->path, "/dev/", 5) == 0 ||
                  strncmp(output->path, "/proc/", 6) == 0)) {
        output->fd = open(output->path, O_WRONLY | O_CLOEXEC);
        return output->fd < 0 ? fail(output, errno, err) : 0;
    }
    if (there && faccessat(AT_FDCWD, output->path, W_OK, AT_EACCESS) != 0) {
        return fail(output, errno, err);
    }
    output->mode = there ? status.st_mode & 07777 : 0;
    output->target = resolve(output, err);
    output->folder = output->target ? folder_of(output->target, err) : NULL;
    if (!output->folder) {
        return -1;
    }
    if (faccessat(AT_FDCWD, output->folder, W_OK | X_OK, AT_EACCESS) != 0) {
        return fail(output, errno, err);
    }
#ifdef O_TMPFILE
    output->fd = open(output->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
#endif
    if (output->fd < 0) {
        output->spool = tmpfile();
        output->fd = output->spool ? fileno(output->spool) : -1;
    }
    return output->fd < 0 ? fail(output, errno, err) : 0;
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

const char *output_path(const struct output *output) {
    return output->path;
}

bool output_is_stdout(const struct output *output) {
    return output->fd == STDOUT_FILENO;
}

/* Writes all of it; returns 0 or errno. */
static int write_all(int fd, const char *bytes, size_t n) {
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
    if (!output->failure) {
        output->failure = write_all(output->fd, output->buffer, output->used);
    }
    output->used = 0;
}

void output_write(struct output *output, const void *bytes, size_t n) {
    const char *from = bytes;
    while (n > 0) {
        size_t room = BUFFER_BYTES - output->used;
        size_t part = n < room ? n : room;
        memcpy(output->buffer + output->used, from, part);
        output->used += part;
        from += part;
        n -= part;
        if (output->used == BUFFER_BYTES) {
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
    return output->failure ? fail(output, output->failure, err) : 0;
}

/* A name beside the target that nobody is likely to use; `attempt` makes it another one. */
static int temporary_name(const struct output *output, int attempt, char **name,
                          struct error *err) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    unsigned long mark = (unsigned long)now.tv_nsec * 1000003UL + (unsigned long)attempt;
    size_t length = strlen(output->folder) + NAME_BYTES;
    *name = memory_array(length, 1, "a file name", err);
    if (!*name) {
        return -1;
    }
    snprintf(*name, length, "%s/.dualsvm-%ld-%lx", output->folder, (long)getpid(), mark);
    return 0;
}

/* Copies the spooled file to the new file fd; returns 0 or errno. */
static int copy_spool(const struct output *output, int fd) {
    char block[BUFFER_BYTES];
    if (lseek(output->fd, 0, SEEK_SET) != 0) {
        return errno;
    }
    for (;;) {
        ssize_t n = read(output->fd, block, sizeof block);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return n < 0 ? errno : 0;
        }
        int failure = write_all(fd, block, (size_t)n);
        if (failure) {
            return failure;
        }
    }
}

/* Sets the mode and brings everything to the disk; returns 0 or errno. */
static int settle(const struct output *output, int fd) {
    if (output->mode && fchmod(fd, output->mode) != 0) {
        return errno;
    }
    return fsync(fd) != 0 && errno != EINVAL ? errno : 0;
}

/* Makes the spooled bytes a new file `name`; returns 0 or errno (EEXIST: try another name). */
static int spool_to(const struct output *output, const char *name) {
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        return errno;
    }
    int failure = copy_spool(output, fd);
    failure = failure ? failure : settle(output, fd);
    if (close(fd) != 0 && !failure) {
        failure = errno;
    }
    if (failure) {
        unlink(name);
    }
    return failure;
}

/* Gives the file without a name the name `name`; returns 0 or errno. */
static int link_to(const struct output *output, const char *name) {
    char self[NAME_BYTES];
    snprintf(self, sizeof self, "/proc/self/fd/%d", output->fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

/* Puts the file in the target's place by way of a name of its own. */
static int replace_target(const struct output *output, struct error *err) {
    int failure = EEXIST;
    for (int attempt = 0; failure == EEXIST && attempt < MOST_NAMES; attempt++) {
        char *name;
        if (temporary_name(output, attempt, &name, err) < 0) {
            return -1;
        }
        failure = output->spool ? EOPNOTSUPP : link_to(output, name);
        if (failure && failure != EEXIST) { /* no /proc, or a file system without such links */
            failure = spool_to(output, name);
        }
        if (!failure && rename(name, output->target) != 0) {
            failure = errno;
            unlink(name);
        }
        free(name);
    }
    return failure ? fail(output, failure, err) : 0;
}

static const int enders[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
enum { N_ENDERS = sizeof enders / sizeof enders[0] };

/* While a file has a name of its own beside the target, for some microseconds mostly, signals that
 * end a program are let pass by: blocking them in this thread would leave the others to take them,
 * and the name would stay behind. */
static int replace_undisturbed(const struct output *output, struct error *err) {
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before[N_ENDERS];
    for (size_t i = 0; i < N_ENDERS; i++) {
        sigaction(enders[i], &ignore, &before[i]);
    }
    int status = replace_target(output, err);
    for (size_t i = 0; i < N_ENDERS; i++) {
        sigaction(enders[i], &before[i], NULL);
    }
    return status;
}

static int put_in_place(const struct output *output, struct error *err) {
    if (!output->spool) {
        int failure = settle(output, output->fd);
        if (failure) {
            return fail(output, failure, err);
        }
        if (!output->mode && link_to(output, output->target) == 0) {
            return 0; /* no file was there: no detour is needed */
        }
    }
    return replace_undisturbed(output, err);
}

int output_commit(struct output *output, struct error *err) {
    int status = output_flush(output, err);
    if (status == 0 && output->target) {
        status = put_in_place(output, err);
        int folder = status == 0 ? open(output->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        if (folder >= 0) {
            (void)fsync(folder); /* the new name; the file itself is safe either way */
            close(folder);
        }
    }
    /* Some file systems report a full disk only now. Standard streams stay open. */
    if (output->fd > STDERR_FILENO && !output->spool) {
        int closed = close(output->fd);
        output->fd = -1;
        if (closed != 0 && status == 0 && !output->target) {
            status = fail(output, errno, err);
        }
    }
    output_discard(output);
    return status;
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
    free(output->folder);
    free(output);
}
