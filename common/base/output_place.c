/* Committing of outputs: finished files are renamed to their targets, one or several together. */
/* for linkat */
#define _GNU_SOURCE
#include "common/base/output_private.h"

#include "common/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ATTEMPTS = 1000, NAME_BYTES = 64 };

/* A temporary name beside the target that is unlikely to exist; `attempt` varies it. */
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
    char block[OUTPUT_BUFFER];
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
        int failure = output_write_all(fd, block, (size_t)n);
        if (failure) {
            return failure;
        }
    }
}

/* Sets the permissions and flushes the file to the disk; returns 0 or errno. */
static int settle(const struct output *output, int fd) {
    if (output->replaces && fchmod(fd, output->mode) != 0) {
        return errno;
    }
    return fsync(fd) != 0 && errno != EINVAL ? errno : 0;
}

/* Copies the spooled bytes to a new file `name`; returns 0 or errno (EEXIST: try another name). */
static int spool_to(const struct output *output, const char *name) {
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, output_first_mode(output));
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

int output_try_name(const struct output *output) {
    struct error unheard;
    int failure = EEXIST;
    for (int attempt = 0; failure == EEXIST && attempt < MAX_ATTEMPTS; attempt++) {
        char *name;
        if (temporary_name(output, attempt, &name, &unheard) < 0) {
            return ENOMEM;
        }
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, output_first_mode(output));
        failure = fd < 0 ? errno : 0;
        if (fd >= 0) {
            unlink(name);
            close(fd);
        }
        free(name);
    }
    return failure;
}

/* Links the file without a name to `name`; returns 0 or errno. */
static int link_to(const struct output *output, const char *name) {
    char self[NAME_BYTES];
    snprintf(self, sizeof self, "/proc/self/fd/%d", output->fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

/* Gives the file a temporary name beside the target. */
static int name_file(struct output *output, struct error *err) {
    int failure = EEXIST;
    for (int attempt = 0; failure == EEXIST && attempt < MAX_ATTEMPTS; attempt++) {
        char *name;
        if (temporary_name(output, attempt, &name, err) < 0) {
            return -1;
        }
        failure = output->spool ? EOPNOTSUPP : link_to(output, name);
        if (failure && failure != EEXIST) { /* no /proc, or the file system has no such links */
            failure = spool_to(output, name);
        }
        if (!failure) {
            output->name = name;
            return 0;
        }
        free(name);
    }
    return output_fail(output, failure, err);
}

/* Flushes the output to the disk or the reader; afterwards only naming can fail. */
static int finish(struct output *output, struct error *err) {
    if (output_flush(output, err) < 0) {
        return -1;
    }
    if (output->target) {
        int failure = output->spool ? 0 : settle(output, output->fd);
        return failure ? output_fail(output, failure, err) : 0;
    }
    if (output->fd > STDERR_FILENO) { /* standard streams are not closed */
        int closed = close(output->fd);
        output->fd = -1;
        return closed != 0 ? output_fail(output, errno, err)
                           : 0; /* a full disk may be reported only now */
    }
    return 0;
}

static int take_place(struct output *output, struct error *err) {
    if (rename(output->name, output->target) != 0) {
        return output_fail(output, errno, err);
    }
    free(output->name);
    output->name = NULL;
    return 0;
}

static int place_all(struct output *const *output, size_t n, struct error *err) {
    int status = 0;
    for (size_t i = 0; i < n && status == 0; i++) {
        status = output[i] && output[i]->target ? name_file(output[i], err) : 0;
    }
    for (size_t i = 0; i < n && status == 0; i++) {
        status = output[i] && output[i]->name ? take_place(output[i], err) : 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (output[i] && output[i]->name) {
            unlink(output[i]->name);
        }
    }
    return status;
}

/* Flushes the new directory entry; the file itself is safe already. */
static void settle_folder(const struct output *output) {
    int folder = open(output->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        (void)fsync(folder);
        close(folder);
    }
}

int output_end_all(struct output **output, size_t n, int status, const struct output_hold *hold,
                   struct error *err) {
    for (int streams = 0; streams < 2; streams++) {
        for (size_t i = 0; i < n && status == 0; i++) {
            bool stream = output[i] && !output[i]->target;
            status = output[i] && stream == (streams != 0) ? finish(output[i], err) : 0;
        }
    }
    if (status == 0) {
        if (hold) {
            hold->hold();
        }
        status = place_all(output, n, err);
        if (hold) {
            hold->release();
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (output[i] && output[i]->target && status == 0) {
            settle_folder(output[i]);
        }
        output_discard(output[i]);
        output[i] = NULL;
    }
    return status;
}

int output_end(struct output *output, int status, struct error *err) {
    return output_end_all(&output, 1, status, NULL, err);
}
