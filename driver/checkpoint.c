/* The checkpoint file of --resume: locked, and appended row by row (checkpoint.h). */
#define _GNU_SOURCE /* flock */
#include "driver/checkpoint.h"

#include "common/base/memory.h"
#include "common/base/output.h"
#include "common/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct checkpoint {
    const char *path;
    int fd;
    bool headed; /* the file has a header line */
};

static int fail(const struct checkpoint *checkpoint, const char *what, int number,
                struct error *err) {
    return error_set(err, ERROR_RUNTIME, "%s: cannot %s: %s", checkpoint->path, what,
                     strerror(number));
}

void checkpoint_close(struct checkpoint *checkpoint) {
    if (!checkpoint) {
        return;
    }
    if (checkpoint->fd >= 0) {
        close(checkpoint->fd);
    }
    free(checkpoint);
}

int checkpoint_add(struct checkpoint *checkpoint, const char *line, struct error *err) {
    struct text row = {0};
    text_format(&row, "%s\n", line);
    char *bytes = text_end(&row, "a row", err);
    int failure = bytes ? output_write_all(checkpoint->fd, bytes, row.n) : 0;
    free(bytes);
    return failure ? fail(checkpoint, "write", failure, err) : bytes ? 0 : -1;
}

/* Returns whether the line is the header, possibly after the torn end of another file: `cat` puts
 * the header of a table behind the last line of the previous one. The torn part is dropped. */
static bool is_header(const char *line, const char *header) {
    size_t length = strlen(line), n = strlen(header);
    return length >= n && strcmp(line + length - n, header) == 0;
}

/* Passes the complete lines of the file to `take`; *kept gets their length, *torn that of an
 * incomplete last line. */
static int take_lines(struct checkpoint *checkpoint, FILE *file, const char *header,
                      const char *(*take)(void *context, const char *line), void *context,
                      off_t *kept, ssize_t *torn, struct error *err) {
    char *line = NULL;
    size_t room = 0, number = 0;
    ssize_t n;
    const char *wrong = NULL;
    while (!wrong && (n = getline(&line, &room, file)) > 0 && line[n - 1] == '\n') {
        *kept += n;
        line[--n] = '\0';
        number++;
        wrong = strlen(line) != (size_t)n ? "not a text" : NULL;
        if (!wrong && n > 0 && line[n - 1] == '\r') {
            line[n - 1] = '\0';
        }
        bool headed = is_header(line, header);
        checkpoint->headed |= headed;
        if (!wrong && *line && *line != '#' && !headed) {
            wrong = take(context, line);
        }
    }
    int failure = !wrong && (ferror(file) || (n < 0 && !feof(file))) ? errno : 0;
    *torn = !wrong && !failure && n > 0 ? n : 0;
    /* a file that consists of one incomplete line must be the beginning of the header */
    if (*kept == 0 && *torn > 0 && strncmp(header, line, (size_t)*torn) != 0) {
        number = 1;
        wrong = "not the table of a sweep";
    }
    int status = failure ? fail(checkpoint, "read", failure, err) : 0;
    if (wrong) {
        status = error_set(err, ERROR_RUNTIME, "%s:%zu: %s", checkpoint->path, number, wrong);
    }
    free(line);
    return status;
}

static int begin(struct checkpoint *checkpoint, const char *header,
                 const char *(*take)(void *context, const char *line), void *context,
                 struct error *err) {
    off_t kept = 0;
    ssize_t torn = 0;
    int copy = fcntl(checkpoint->fd, F_DUPFD_CLOEXEC, 0);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "r");
    if (!file) {
        fail(checkpoint, "read", errno, err);
        close(copy);
        return -1;
    }
    int status = take_lines(checkpoint, file, header, take, context, &kept, &torn, err);
    fclose(file);
    if (status < 0) {
        return -1;
    }
    if (torn > 0 && ftruncate(checkpoint->fd, kept) != 0) {
        return fail(checkpoint, "write", errno, err);
    }
    return checkpoint->headed ? 0 : checkpoint_add(checkpoint, header, err);
}

static int open_file(struct checkpoint *checkpoint, struct error *err) {
    struct stat status;
    /* opening a pipe could block for ever, and a device would consume the rows */
    if (stat(checkpoint->path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return error_set(err, ERROR_RUNTIME, "%s: not a regular file", checkpoint->path);
    }
    checkpoint->fd = open(checkpoint->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (checkpoint->fd < 0) {
        return fail(checkpoint, "write", errno, err);
    }
    if (flock(checkpoint->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return error_set(err, ERROR_RUNTIME, "%s: another run has it open", checkpoint->path);
    }
    return 0;
}

int checkpoint_open(struct checkpoint **checkpoint, const char *path, const char *header,
                    const char *(*take)(void *context, const char *line), void *context,
                    struct error *err) {
    struct checkpoint *opened = memory_zeros(1, sizeof *opened, "a table", err);
    if (!opened) {
        return -1;
    }
    opened->path = path;
    opened->fd = -1;
    if (open_file(opened, err) < 0 || begin(opened, header, take, context, err) < 0) {
        checkpoint_close(opened);
        return -1;
    }
    *checkpoint = opened;
    return 0;
}
