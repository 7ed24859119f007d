/* Reading and decompression of a text file. Reads can be cancelled through a pipe that is polled
 * together with the file. _GNU_SOURCE: O_CLOEXEC. */
#define _GNU_SOURCE
#include "common/data/source.h"

#include "common/base/memory.h"
#include "common/data/file_type.h"
#include "common/data/gzip.h"
#include "common/data/gzip_members.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RAW_BYTES = 1 << 18, RAW_BYTES_SHARED = 1 << 20 };

struct source {
    int file;
    bool regular, end_of_file;
    bool between_members; /* gzip: between two members, or before the first */
    bool begun;           /* gzip: the first text has been read */
    bool drained;  /* gzip: all text that the bytes consumed so far determine has been returned */
    int cancel[2]; /* a pipe that becomes readable on cancellation */
    const char *name;
    char *path; /* owned copy of the path, for name */
    size_t size;
    const struct gzip_decompressor *decompressor; /* the decompressor of gzip; NULL: plain */
    void *state;                                  /* its state */
    struct members *members;  /* gzip that several threads decompress, or NULL */
    const unsigned char *raw; /* bytes of the file not consumed yet: raw[raw_first .. raw_last) */
    unsigned char *buffer; /* the memory of raw, owned; NULL: the whole file is borrowed memory */
    size_t raw_first, raw_last, raw_bytes; /* raw_bytes: size of the buffer */
    uint64_t raw_end;                      /* offset in the file after raw[raw_last - 1] */
    uint64_t bytes;                        /* size of a regular file */
    size_t mark;                           /* bytes of a byte order mark before the text */
    uint64_t n_text;                       /* gzip: bytes of text decompressed */
    uint64_t cut[2];                       /* registered offsets in the file, see source_cut_at */
    uint64_t text_offset
        [2]; /* their offsets in the text; UINT64_MAX: not reached yet, 0 if there are none */
};

static int fail(const struct source *source, const char *what, struct error *err) {
    return error_set(err, ERROR_RUNTIME, "%s: %s", source->name, what);
}

/* Reads at most size bytes of the stored file; *got = 0 at its end. */
static int read_file(struct source *source, void *bytes, size_t size, size_t *got,
                     struct error *err) {
    enum { MAX_REQUEST = 1 << 30 }; /* systems refuse or shorten larger requests */
    for (;;) {
        /* regular files are always ready: for them cancellation is only checked */
        struct pollfd wait[2] = {{.fd = source->cancel[0], .events = POLLIN},
                                 {.fd = source->file, .events = POLLIN}};
        if (poll(wait, 2, -1) < 0) {
            if (errno == EINTR) {
                continue;
            }
            return fail(source, strerror(errno), err);
        }
        if (wait[0].revents) {
            return fail(source, "reading was cancelled", err);
        }
        ssize_t n = read(source->file, bytes, size < MAX_REQUEST ? size : MAX_REQUEST);
        if (n >= 0) {
            *got = (size_t)n;
            source->raw_end += (size_t)n;
            source->end_of_file = n == 0;
            return 0;
        }
        if (errno != EINTR && errno != EAGAIN) {
            return fail(source, strerror(errno), err);
        }
    }
}

static int refill(struct source *source, struct error *err) {
    source->raw_first = source->raw_last = 0;
    return read_file(source, source->buffer, source->raw_bytes, &source->raw_last, err);
}

/* Reads until `wanted` bytes are in the buffer, or the file ends. */
static int read_to(struct source *source, size_t wanted, struct error *err) {
    while (source->raw_last < wanted && !source->end_of_file) {
        size_t got;
        if (read_file(source, source->buffer + source->raw_last,
                      source->raw_bytes - source->raw_last, &got, err) < 0) {
            return -1;
        }
        source->raw_last += got;
    }
    return 0;
}

/* Plain text begins after its byte order mark, and so do offsets in it. From a pipe no more bytes
 * are read than needed to recognise the type. */
static int begin_plain(struct source *source, struct error *err) {
    while (!source->end_of_file && head_wants_more(source->raw, source->raw_last)) {
        if (read_to(source, source->raw_last + 1, err) < 0) {
            return -1;
        }
    }
    if (head_unpacked(source->name, false, source->raw, source->raw_last, err) < 0 ||
        head_text(source->name, source->raw, source->raw_last, &source->mark, err) < 0) {
        return -1;
    }
    source->raw_first = source->mark;
    source->size -= source->size > source->mark ? source->mark : source->size;
    source->bytes -= source->bytes > source->mark ? source->mark : source->bytes;
    return 0;
}

/* Two bytes tell whether this is gzip, a header whether members have their length. */
static int detect_type(struct source *source, struct error *err) {
    if (read_to(source, 2, err) < 0) {
        return -1;
    }
    if (source->raw_last < 2 || source->raw[0] != 0x1f || source->raw[1] != 0x8b) {
        return begin_plain(source, err);
    }
    source->decompressor = gzip_fastest();
    source->state = source->decompressor->open(err);
    source->between_members = true;
    source->size = 0;
    return source->state ? read_to(source, MEMBERS_HEADER, err) : -1;
}

static int open_file(struct source *source, const char *path, struct error *err) {
    if (strcmp(path, "-") == 0) {
        source->file = STDIN_FILENO;
        source->name = source_shown(path);
    } else {
        source->path = memory_text(path, strlen(path), "a file name", err);
        if (!source->path) {
            return -1;
        }
        source->name = source->path;
        source->file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    }
    struct stat status;
    if (source->file < 0 || fstat(source->file, &status) != 0) {
        return fail(source, strerror(errno), err);
    }
    if (S_ISDIR(status.st_mode)) {
        return fail(source, strerror(EISDIR), err);
    }
    source->regular = S_ISREG(status.st_mode);
    source->size = source->regular && status.st_size > 0 ? (size_t)status.st_size : 0;
    source->bytes = source->size;
    if (pipe(source->cancel) != 0) {
        return fail(source, strerror(errno), err);
    }
    source->buffer = memory_array(RAW_BYTES, 1, "reading", err);
    source->raw = source->buffer;
    source->raw_bytes = RAW_BYTES;
    return source->raw ? detect_type(source, err) : -1;
}

int source_open_bytes(struct source **source, const char *name, const void *bytes, size_t size,
                      struct error *err) {
    struct source *opened = memory_zeros(1, sizeof *opened, "reading", err);
    if (!opened) {
        return -1;
    }
    opened->file = opened->cancel[0] = opened->cancel[1] = -1;
    opened->name = name;
    opened->raw = bytes;
    opened->raw_last = size;
    opened->end_of_file = bytes != NULL;
    if ((bytes ? detect_type(opened, err) : open_file(opened, name, err)) < 0) {
        source_close(opened);
        return -1;
    }
    *source = opened;
    return 0;
}

int source_open(struct source **source, const char *path, struct error *err) {
    return source_open_bytes(source, path, NULL, 0, err);
}

void source_close(struct source *source) {
    if (!source) {
        return;
    }
    if (source->decompressor) {
        source->decompressor->close(source->state);
    }
    members_close(source->members);
    if (source->file > STDIN_FILENO) {
        close(source->file);
    }
    for (int i = 0; i < 2; i++) {
        if (source->cancel[i] >= 0) {
            close(source->cancel[i]);
        }
    }
    free(source->path);
    free(source->buffer);
    free(source);
}

const char *source_name(const struct source *source) {
    return source->name;
}

const char *source_shown(const char *path) {
    return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

size_t source_size(const struct source *source) {
    return source->size;
}

bool source_plain(const struct source *source) {
    return source->regular && !source->decompressor;
}

uint64_t source_bytes(const struct source *source) {
    return source->bytes;
}

int source_seek(struct source *source, uint64_t offset, struct error *err) {
    uint64_t at = offset + source->mark;
    if (offset > INT64_MAX - HEAD_BYTES || lseek(source->file, (off_t)at, SEEK_SET) < 0) {
        return fail(source, strerror(errno), err);
    }
    source->raw_first = source->raw_last = 0;
    source->raw_end = at;
    source->end_of_file = false;
    return 0;
}

bool source_shareable(const struct source *source) {
    return source->decompressor && members_begin(source->raw, source->raw_last);
}

int source_share(struct source *source, struct threads *threads, struct error *err) {
    if (source->buffer) {
        unsigned char *larger = memory_resize(source->buffer, RAW_BYTES_SHARED, 1, "reading", err);
        if (!larger) {
            return -1;
        }
        source->raw = source->buffer = larger;
        source->raw_bytes = RAW_BYTES_SHARED;
    }
    return members_open(&source->members, threads, err);
}

int source_cut_at(struct source *source, const uint64_t first[2], struct error *err) {
    source->decompressor->close(source->state);
    source->decompressor = &gzip_zlib; /* zlib is exact, see gzip.h */
    source->state = source->decompressor->open(err);
    if (!source->state) {
        return -1;
    }
    for (size_t i = 0; i < 2; i++) {
        source->cut[i] = first[i];
        source->text_offset[i] = UINT64_MAX;
    }
    source->drained = true;
    return 0;
}

uint64_t source_cut(const struct source *source, size_t number) {
    uint64_t cut = source->text_offset[number];
    return cut == UINT64_MAX ? cut : cut - (cut < source->mark ? cut : source->mark);
}

/* Returns whether bytes, or the end of the file, arrive within a moment. */
static bool arrives(const struct source *source) {
    enum { MILLISECONDS = 50 };
    struct pollfd wait = {.fd = source->file, .events = POLLIN};
    return source->regular || source->end_of_file || poll(&wait, 1, MILLISECONDS) != 0;
}

/* some: less is read, but at least a byte, if no more arrives for a moment. */
static int read_plain(struct source *source, char *text, size_t size, bool some, size_t *got,
                      struct error *err) {
    size_t total = source->raw_last - source->raw_first; /* read by detect_type */
    if (total > size) {
        total = size;
    }
    memcpy(text, source->raw + source->raw_first, total);
    source->raw_first += total;
    while (total < size && !source->end_of_file && !(some && total > 0 && !arrives(source))) {
        size_t n;
        if (read_file(source, text + total, size - total, &n, err) < 0) {
            return -1;
        }
        total += n;
    }
    *got = total;
    return 0;
}

/* After a member: another one, zeros (some tools pad with them), or the end. */
static int begin_member(struct source *source, bool *end, struct error *err) {
    for (;;) {
        while (source->raw_first < source->raw_last && source->raw[source->raw_first] == 0) {
            source->raw_first++;
        }
        if (source->raw_first < source->raw_last) {
            break;
        }
        if (!source->end_of_file && refill(source, err) < 0) {
            return -1;
        }
        if (source->end_of_file) {
            *end = true;
            return 0;
        }
    }
    if (source->raw[source->raw_first] != 0x1f) {
        return fail(source, "corrupt gzip data: junk behind the end", err);
    }
    source->between_members = false;
    source->decompressor->next(source->state);
    return 0;
}

/* Decompresses whole members of known length. *any: there were some. some: as in read_plain. */
static int take_members(struct source *source, struct gzip_buffers *text, bool some, bool *any,
                        struct error *err) {
    size_t n = source->raw_last - source->raw_first;
    if (source->buffer && n < source->raw_bytes / 2 && !source->end_of_file) {
        memmove(source->buffer, source->buffer + source->raw_first, n);
        source->raw_first = 0;
        source->raw_last = n;
        while (source->raw_last < source->raw_bytes && !source->end_of_file &&
               !(some && source->raw_last > 0 && !arrives(source))) {
            if (read_to(source, source->raw_last + 1, err) < 0) {
                return -1;
            }
        }
    }
    text->in = source->raw + source->raw_first;
    text->n_in = source->raw_last - source->raw_first;
    *any = members_unpack(source->members, text);
    source->raw_first = source->raw_last - text->n_in;
    return 0;
}

/* The number of buffered bytes that may be decompressed in one call: none after the next registered
 * offset, where the text is counted first. */
static size_t bytes_to_cut(struct source *source) {
    size_t n = source->raw_last - source->raw_first;
    uint64_t at = source->raw_end - n;
    for (size_t i = 0; i < 2; i++) {
        if (source->text_offset[i] == UINT64_MAX && at >= source->cut[i] && source->drained) {
            source->text_offset[i] = source->n_text;
        } else if (source->text_offset[i] == UINT64_MAX && source->cut[i] - at < n) {
            n = at < source->cut[i] ? (size_t)(source->cut[i] - at) : 0;
        }
    }
    return n;
}

/* Decompresses some of the current member. */
static int inflate_some(struct source *source, struct gzip_buffers *text, struct error *err) {
    if (source->raw_first == source->raw_last) {
        if (!source->end_of_file && refill(source, err) < 0) {
            return -1;
        }
        if (source->end_of_file) {
            return fail(source, "truncated gzip data", err);
        }
    }
    size_t given = bytes_to_cut(source), room = text->n_out;
    text->in = source->raw + source->raw_first;
    text->n_in = given;
    enum gzip_status status = source->decompressor->inflate(source->state, text);
    source->raw_first += given - text->n_in;
    source->n_text += room - text->n_out;
    source->drained = text->n_out > 0 || status == GZIP_END;
    source->between_members = status == GZIP_END;
    if (status == GZIP_MEMORY) {
        return fail(source, "out of memory for gzip", err);
    }
    return status == GZIP_CORRUPT ? fail(source, "corrupt gzip data", err) : 0;
}

/* some: as in read_plain. */
static int read_gzip(struct source *source, char *text, size_t size, bool some, size_t *got,
                     struct error *err) {
    struct gzip_buffers rest = {.out = (unsigned char *)text, .n_out = size};
    bool end = false;
    while (rest.n_out > 0 && !end) {
        bool any = false, empty = source->raw_first == source->raw_last;
        if (some && rest.n_out < size && empty && !arrives(source)) {
            break;
        }
        if (source->between_members && source->members &&
            take_members(source, &rest, some, &any, err) < 0) {
            return -1;
        }
        if (any) {
            continue;
        }
        if ((source->between_members && begin_member(source, &end, err) < 0) ||
            (!end && inflate_some(source, &rest, err) < 0)) {
            return -1;
        }
    }
    *got = size - rest.n_out;
    return 0;
}

/* Reads the first text of a gzip file, without its byte order mark. some: as in read_plain. */
static int read_first(struct source *source, char *text, size_t size, bool some, size_t *got,
                      struct error *err) {
    size_t more;
    *got = 0;
    do {
        if (read_gzip(source, text + *got, size - *got, some, &more, err) < 0) {
            return -1;
        }
        *got += more;
    } while (more > 0 && head_wants_more((unsigned char *)text, *got));
    if (head_unpacked(source->name, true, (unsigned char *)text, *got, err) < 0 ||
        head_text(source->name, (unsigned char *)text, *got, &source->mark, err) < 0) {
        return -1;
    }
    bool filled = *got == size && !some;
    source->begun = true;
    *got -= source->mark;
    memmove(text, text + source->mark, *got);
    more = 0;
    if ((filled || *got == 0) &&
        read_gzip(source, text + *got, size - *got, some, &more, err) < 0) {
        return -1;
    }
    *got += more;
    return 0;
}

static int read_text(struct source *source, char *text, size_t size, bool some, size_t *got,
                     struct error *err) {
    return !source->decompressor ? read_plain(source, text, size, some, got, err)
           : source->begun       ? read_gzip(source, text, size, some, got, err)
                                 : read_first(source, text, size, some, got, err);
}

int source_read(struct source *source, char *text, size_t size, size_t *got, struct error *err) {
    return read_text(source, text, size, false, got, err);
}

int source_read_some(struct source *source, char *text, size_t size, size_t *got, bool *end,
                     struct error *err) {
    int status = read_text(source, text, size, true, got, err);
    *end = source->end_of_file && source->raw_first == source->raw_last &&
           (!source->decompressor || source->between_members);
    return status;
}

void source_cancel(struct source *source) {
    ssize_t written;
    do {
        written = write(source->cancel[1], "", 1);
    } while (written < 0 && errno == EINTR);
}
