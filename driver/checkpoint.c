/* The checkpoint file of --resume: locked, and appended row by row (checkpoint.h). */
#define _GNU_SOURCE /* flock */
#include "driver/checkpoint.h"

#include "common/base/memory.h"
#include "common/base/output.h"
#include "driver/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
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

/* Reads the whole file, and adds a NUL; the caller frees. */
static char *read_all(const struct checkpoint *checkpoint, size_t *length, struct error *err) {
    struct stat status;
    if (fstat(checkpoint->fd, &status) != 0) {
        fail(checkpoint, "read", errno, err);
        return NULL;
    }
    size_t size = (size_t)status.st_size;
    char *text = memory_array(size + 1, 1, "a table", err);
    *length = 0;
    while (text && *length < size) {
        ssize_t n = read(checkpoint->fd, text + *length, size - *length);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            fail(checkpoint, "read", errno, err);
            free(text);
            return NULL;
        }
        if (n == 0) {
            break;
        }
        *length += (size_t)n;
    }
    if (text) {
        text[*length] = '\0';
    }
    return text;
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

/* Passes the lines of text[0..length), which it modifies, to `take`; *kept gets the length of all
 * complete lines. */
static int take_lines(struct checkpoint *checkpoint, char *text, size_t length, const char *header,
                      const char *(*take)(void *context, const char *line), void *context,
                      size_t *kept, struct error *err) {
    size_t number = 0;
    char *line = text, *end;
    while ((end = memchr(line, '\n', (size_t)(text + length - line))) != NULL) {
        *end = '\0';
        number++;
        const char *wrong = strlen(line) != (size_t)(end - line) ? "not a text" : NULL;
        if (!wrong && end > line && end[-1] == '\r') {
            end[-1] = '\0';
        }
        bool headed = is_header(line, header);
        checkpoint->headed |= headed;
        if (!wrong && *line && *line != '#' && !headed) {
            wrong = take(context, line);
        }
        if (wrong) {
            return error_set(err, ERROR_RUNTIME, "%s:%zu: %s", checkpoint->path, number, wrong);
        }
        line = end + 1;
    }
    *kept = (size_t)(line - text);
    /* a file that consists of one incomplete line must be the beginning of the header */
    if (*kept == 0 && strncmp(header, text, length) != 0) {
        return error_set(err, ERROR_RUNTIME, "%s:1: not the table of a sweep", checkpoint->path);
    }
    return 0;
}

static int begin(struct checkpoint *checkpoint, const char *header,
                 const char *(*take)(void *context, const char *line), void *context,
                 struct error *err) {
    size_t length, kept = 0;
    char *text = read_all(checkpoint, &length, err);
    if (!text) {
        return -1;
    }
    int status = take_lines(checkpoint, text, length, header, take, context, &kept, err);
    free(text);
    if (status < 0) {
        return -1;
    }
    if (kept < length && ftruncate(checkpoint->fd, (off_t)kept) != 0) {
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
