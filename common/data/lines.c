/* Batches of lines, with two buffers: the caller has one while the other is filled. _GNU_SOURCE:
 * memrchr. */
#define _GNU_SOURCE
#include "common/data/lines.h"

#include "common/base/memory.h"
#include "common/data/byte_range.h"
#include "common/data/file_type.h"
#include "common/data/source.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct buffer {
    char *text;
    size_t capacity; /* bytes without padding */
    size_t used;     /* bytes read */
    size_t length;   /* bytes of whole lines, the batch; the rest begins the next one */
    bool full;       /* filled: the caller has it or will get it */
    bool failed;
    uint64_t cut[2]; /* byte range: source_cut when it was filled */
};

struct lines {
    struct source *source;
    struct buffer buffers[2];
    struct error failure;    /* error of the failed buffer */
    bool end;                /* the source has ended */
    struct byte_range *part; /* NULL: all lines are returned */
    size_t current;          /* the buffer that the caller has, or gets next */
    bool started;            /* the caller has a buffer */
    bool ahead,
        quit; /* ahead: the reader thread runs; mutex and changed then guard full and quit */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
};

enum {
    CHECKED = 1 << 26,   /* bytes of growth that must be free */
    EACH_BATCH = 1 << 16 /* bytes that lines_each reads at once */
};

static int grow(struct buffer *buffer, size_t capacity, struct error *err) {
    if (capacity > SIZE_MAX / 4) {
        return error_set(err, ERROR_RUNTIME, "out of memory: a line of %zu bytes", buffer->used);
    }
    size_t more = capacity - buffer->capacity;
    if (more >= CHECKED && memory_require((double)more, "a line", err) < 0) {
        return -1; /* else the system would end the process at some length of a line without end */
    }
    char *text = memory_resize(buffer->text, capacity + LINES_PADDING, 1, "a line", err);
    if (!text) {
        return -1;
    }
    buffer->text = text;
    buffer->capacity = capacity;
    return 0;
}

/* Fills the buffer with the incomplete last line of `previous`, and reads up to a line end. */
static int fill(struct lines *lines, struct buffer *buffer, const struct buffer *previous,
                struct error *err) {
    size_t rest = previous->used - previous->length;
    buffer->used = buffer->length = 0;
    if (rest >= buffer->capacity && grow(buffer, 2 * rest, err) < 0) {
        return -1;
    }
    memcpy(buffer->text, previous->text + previous->length, rest);
    buffer->used = rest;
    while (buffer->length == 0 && !lines->end) {
        if (buffer->used == buffer->capacity && grow(buffer, 2 * buffer->capacity, err) < 0) {
            return -1;
        }
        char *fresh = buffer->text + buffer->used;
        size_t wanted = buffer->capacity - buffer->used, got;
        if (source_read_some(lines->source, fresh, wanted, &got, &lines->end, err) < 0) {
            return -1;
        }
        buffer->used += got;
        const char *newline = memrchr(fresh, '\n', got);
        if (newline) {
            buffer->length = (size_t)(newline - buffer->text) + 1;
        }
    }
    if (lines->end && buffer->length < buffer->used) {
        buffer->text[buffer->used++] = '\n'; /* in the padding, if the buffer is full */
        buffer->length = buffer->used;
    }
    memset(buffer->text + buffer->used, 0, LINES_PADDING - 1);
    for (size_t i = 0; i < 2; i++) {
        buffer->cut[i] = source_cut(lines->source, i);
    }
    return 0;
}

static void *read_ahead(void *argument) {
    struct lines *lines = argument;
    for (size_t k = 0;; k ^= 1) {
        struct buffer *buffer = &lines->buffers[k];
        pthread_mutex_lock(&lines->mutex);
        while (buffer->full && !lines->quit) {
            pthread_cond_wait(&lines->changed, &lines->mutex);
        }
        bool quit = lines->quit;
        pthread_mutex_unlock(&lines->mutex);
        if (quit) {
            return NULL;
        }
        buffer->failed = fill(lines, buffer, &lines->buffers[k ^ 1], &lines->failure) < 0;
        bool last = buffer->failed || buffer->length == 0;
        pthread_mutex_lock(&lines->mutex);
        buffer->full = true;
        pthread_cond_signal(&lines->changed);
        pthread_mutex_unlock(&lines->mutex);
        if (last) {
            return NULL;
        }
    }
}

int lines_open(struct lines **lines, const char *path, const struct lines_part *part,
               size_t batch_bytes, struct threads *threads, struct error *err) {
    struct lines *opened = memory_zeros(1, sizeof *opened, "reading", err);
    if (!opened) {
        return -1;
    }
    bool several = threads_count(threads) > 1;
    if (source_open(&opened->source, path, err) < 0) {
        free(opened);
        return -1;
    }
    bool share = several && !part && source_shareable(opened->source);
    if ((share && source_share(opened->source, threads, err) < 0) ||
        (part && byte_range_open(&opened->part, opened->source, part, err) < 0)) {
        source_close(opened->source);
        free(opened);
        return -1;
    }
    /* at most the size of a small file, and one byte to detect its end */
    size_t size = lines_size(opened);
    size_t capacity = size > 0 && size < batch_bytes ? size + 1 : batch_bytes;
    pthread_mutex_init(&opened->mutex, NULL);
    pthread_cond_init(&opened->changed, NULL);
    if (grow(&opened->buffers[0], capacity, err) < 0 ||
        grow(&opened->buffers[1], capacity, err) < 0) {
        lines_close(opened);
        return -1;
    }
    /* if no thread can be started, lines_next reads by itself */
    opened->ahead =
        several && !share && pthread_create(&opened->thread, NULL, read_ahead, opened) == 0;
    *lines = opened;
    return 0;
}

void lines_close(struct lines *lines) {
    if (!lines) {
        return;
    }
    if (lines->ahead) {
        pthread_mutex_lock(&lines->mutex);
        lines->quit = true;
        pthread_cond_signal(&lines->changed);
        pthread_mutex_unlock(&lines->mutex);
        source_cancel(lines->source);
        pthread_join(lines->thread, NULL);
    }
    pthread_mutex_destroy(&lines->mutex);
    pthread_cond_destroy(&lines->changed);
    source_close(lines->source);
    byte_range_close(lines->part);
    free(lines->buffers[0].text);
    free(lines->buffers[1].text);
    free(lines);
}

const char *lines_name(const struct lines *lines) {
    return source_name(lines->source);
}

size_t lines_size(const struct lines *lines) {
    return lines->part ? byte_range_size(lines->part) : source_size(lines->source);
}

uint64_t lines_bytes(const struct lines *lines) {
    return source_bytes(lines->source);
}

/* Releases the buffer of the caller and waits for the other one. */
static void exchange(struct lines *lines) {
    pthread_mutex_lock(&lines->mutex);
    if (lines->started) {
        lines->buffers[lines->current].full = false;
        pthread_cond_signal(&lines->changed);
        lines->current ^= 1;
    }
    while (!lines->buffers[lines->current].full) {
        pthread_cond_wait(&lines->changed, &lines->mutex);
    }
    pthread_mutex_unlock(&lines->mutex);
}

static int next_batch(struct lines *lines, const char **text, size_t *length, struct error *err) {
    struct buffer *buffer = &lines->buffers[lines->current];
    if (!lines->started || (!buffer->failed && buffer->length > 0)) { /* else the end was reached */
        if (lines->ahead) {
            exchange(lines);
        } else {
            lines->current ^= lines->started;
            buffer = &lines->buffers[lines->current];
            buffer->failed =
                fill(lines, buffer, &lines->buffers[lines->current ^ 1], &lines->failure) < 0;
        }
        lines->started = true;
        buffer = &lines->buffers[lines->current];
    }
    if (buffer->failed) {
        *err = lines->failure;
        return -1;
    }
    *text = buffer->text;
    *length = buffer->length;
    return 0;
}

int lines_next(struct lines *lines, const char **text, size_t *length, struct error *err) {
    *length = 0;
    while (!lines->part || !byte_range_ended(lines->part)) {
        if (next_batch(lines, text, length, err) < 0) {
            return -1;
        }
        if (*length == 0 || !lines->part) {
            break;
        }
        if (byte_range_reduce(lines->part, lines->buffers[lines->current].cut, text, length, err) <
            0) {
            return -1;
        }
        if (*length > 0) {
            break;
        }
    }
    return 0;
}

int lines_each(const char *path, size_t n, lines_take *take, void *context, struct error *err) {
    struct lines *lines;
    if (lines_open(&lines, path, NULL, EACH_BATCH, NULL, err) < 0) {
        return -1;
    }
    const char *name = lines_name(lines), *text = "";
    size_t row = 0, length;
    int status;
    do {
        status = lines_next(lines, &text, &length, err);
        for (const char *end = text + length, *newline; status == 0 && text < end; row++) {
            newline = memchr(text, '\n', (size_t)(end - text));
            size_t trimmed = (size_t)(newline - text);
            while (trimmed > 0 && memchr("\r \t", text[trimmed - 1], 3)) {
                trimmed--;
            }
            if (newline - text >= 3 && memcmp(text, HEAD_MARK, 3) == 0) {
                status = error_set(err, ERROR_RUNTIME, "%s:%zu: byte order mark within the text",
                                   name, row + 1);
            } else if (row == n) {
                status =
                    error_set(err, ERROR_RUNTIME, "%s:%zu: more lines than the %zu training rows",
                              name, row + 1, n);
            } else {
                status = take(context, row, text, trimmed, err);
            }
            text = newline + 1;
        }
    } while (status == 0 && length > 0);
    if (status == 0 && n < SIZE_MAX && row < n) {
        status = error_set(err, ERROR_RUNTIME, "%s: %zu lines for %zu training rows", name, row, n);
    }
    lines_close(lines);
    return status;
}
