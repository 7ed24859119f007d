/* for flock */
#define _GNU_SOURCE
#include "driver/checkpoint.h"

#include "common/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct journal {
    const char *path;
    int fd;
    char *row;   /* the last one, with its line end */
    bool headed; /* it has the header somewhere */
};

static int fail(const struct journal *journal, const char *what, int number, struct error *err) {
    return error_set(err, ERROR_RUNTIME, "%s: cannot %s: %s", journal->path, what,
                     strerror(number));
}

void journal_close(struct journal *journal) {
    if (!journal) {
        return;
    }
    if (journal->fd >= 0) {
        close(journal->fd);
    }
    free(journal->row);
    free(journal);
}

/* The whole file, with a NUL behind it; the caller frees. */
static char *read_all(const struct journal *journal, size_t *length, struct error *err) {
    struct stat status;
    if (fstat(journal->fd, &status) != 0) {
        fail(journal, "read", errno, err);
        return NULL;
    }
    size_t size = (size_t)status.st_size;
    char *text = memory_array(size + 1, 1, "a table", err);
    *length = 0;
    while (text && *length < size) {
        ssize_t n = read(journal->fd, text + *length, size - *length);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            fail(journal, "read", errno, err);
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

/* Adds a line by one write; what is interrupted goes on. */
static int append(const struct journal *journal, const char *text, size_t n, struct error *err) {
    while (n > 0) {
        ssize_t written = write(journal->fd, text, n);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            return fail(journal, "write", errno, err);
        }
        text += written;
        n -= (size_t)written;
    }
    return 0;
}

int journal_add(struct journal *journal, const char *line, struct error *err) {
    size_t length = strlen(line);
    free(journal->row);
    journal->row = memory_array(length + 1, 1, "a row", err);
    if (!journal->row) {
        return -1;
    }
    memcpy(journal->row, line, length);
    journal->row[length] = '\n';
    return append(journal, journal->row, length + 1, err);
}

/* True for the header, and for one behind what was torn off: `cat` puts the first line of a table
 * behind the last of the one before. That is dropped. */
static bool is_header(const char *line, const char *header) {
    size_t length = strlen(line), n = strlen(header);
    return length >= n && strcmp(line + length - n, header) == 0;
}

/* Takes the lines of text[0..length), which it cuts; *kept gets where the whole lines end. */
static int take_lines(struct journal *journal, char *text, size_t length, const char *header,
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
        journal->headed |= headed;
        if (!wrong && *line && *line != '#' && !headed) {
            wrong = take(context, line);
        }
        if (wrong) {
            return error_set(err, ERROR_RUNTIME, "%s:%zu: %s", journal->path, number, wrong);
        }
        line = end + 1;
    }
    *kept = (size_t)(line - text);
    /* a file of one line that was torn must be ours, too: its header */
    if (*kept == 0 && strncmp(header, text, length) != 0) {
        return error_set(err, ERROR_RUNTIME, "%s:1: not the table of a sweep", journal->path);
    }
    return 0;
}

static int begin(struct journal *journal, const char *header,
                 const char *(*take)(void *context, const char *line), void *context,
                 struct error *err) {
    size_t length, kept = 0;
    char *text = read_all(journal, &length, err);
    if (!text) {
        return -1;
    }
    int status = take_lines(journal, text, length, header, take, context, &kept, err);
    free(text);
    if (status < 0) {
        return -1;
    }
    if (kept < length && ftruncate(journal->fd, (off_t)kept) != 0) {
        return fail(journal, "write", errno, err);
    }
    return journal->headed ? 0 : journal_add(journal, header, err);
}

static int open_file(struct journal *journal, struct error *err) {
    struct stat status;
    /* a pipe or a device would be opened for ever, or take what is written */
    if (stat(journal->path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return error_set(err, ERROR_RUNTIME, "%s: not a regular file", journal->path);
    }
    journal->fd = open(journal->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (journal->fd < 0) {
        return fail(journal, "write", errno, err);
    }
    if (flock(journal->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return error_set(err, ERROR_RUNTIME, "%s: another run has it open", journal->path);
    }
    return 0;
}

int journal_open(struct journal **journal, const char *path, const char *header,
                 const char *(*take)(void *context, const char *line), void *context,
                 struct error *err) {
    struct journal *opened = memory_zeros(1, sizeof *opened, "a table", err);
    if (!opened) {
        return -1;
    }
    opened->path = path;
    opened->fd = -1;
    if (open_file(opened, err) < 0 || begin(opened, header, take, context, err) < 0) {
        journal_close(opened);
        return -1;
    }
    *journal = opened;
    return 0;
}
