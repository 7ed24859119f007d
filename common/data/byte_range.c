/* Byte ranges of a file of rows, and their borders. _GNU_SOURCE: memrchr. */
#define _GNU_SOURCE
#include "common/data/byte_range.h"

#include "common/base/memory.h"
#include "common/data/names.h"

#include <stdlib.h>
#include <string.h>

static const size_t BUFFER_BYTES = (size_t)1 << 16;

/* The qid of a row. */
struct query {
    char *text; /* ended by NUL; owned */
    size_t room;
    bool known;
};

struct byte_range {
    uint64_t from, end; /* offsets in the text; gzip: UINT64_MAX until they are known */
    uint64_t at;        /* offset of the next batch */
    size_t size;
    bool gzip, queries;
    bool first; /* the range begins the file */
    bool begun, ended;
    struct query last;    /* qid of the last row so far, in the range or before it */
    struct query compare; /* work space */
};

/* ---- Lines ---------------------------------------------------------------------------------- */

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Finds the qid of the line from p to newline, if that is a row; a label may precede it. Rows
 * without qid have the qid 0. Returns false if the line is not a row. */
static bool find_query(const char *p, const char *newline, const char **word, size_t *length) {
    static const char key[] = "qid:";
    const size_t key_length = sizeof key - 1;
    const char *end = newline > p && newline[-1] == '\r' ? newline - 1 : newline;
    bool row = false;
    *word = "0";
    *length = 1;
    for (;; row = true) {
        while (p < end && is_blank(*p)) {
            p++;
        }
        if (p == end || *p == '#') {
            return row;
        }
        const char *token = p;
        while (p < end && !is_blank(*p) && *p != '#') {
            p++;
        }
        if ((size_t)(p - token) >= key_length && memcmp(token, key, key_length) == 0) {
            *word = token + key_length;
            *length = (size_t)(p - *word);
            return true;
        }
        if (memchr(token, ':', (size_t)(p - token))) { /* a feature */
            return true;
        }
    }
}

static int copy_qid(struct query *query, const char *word, size_t length, struct error *err) {
    if (memory_grow(&query->text, query->room, length + 1, 1, "a qid", err) < 0) {
        return -1;
    }
    query->room = memory_room(query->room, length + 1);
    memcpy(query->text, word, length);
    query->text[length] = '\0';
    query->known = true;
    return 0;
}

/* Returns 1 if that is the qid of the last row, 0 if not, -1 if memory runs out. */
static int is_last(struct byte_range *range, const char *word, size_t length, struct error *err) {
    const struct query *last = &range->last;
    if (!last->known) {
        return 0;
    }
    if (strlen(last->text) == length && memcmp(last->text, word, length) == 0) {
        return 1;
    }
    return copy_qid(&range->compare, word, length, err) < 0
               ? -1
               : names_equal(last->text, range->compare.text);
}

/* Stores the qid of the last row of [first, stop), whole lines; *found: there is one. */
static int store_last_qid(struct byte_range *range, const char *first, const char *stop,
                          bool *found, struct error *err) {
    *found = false;
    while (stop > first) {
        const char *newline = stop - 1, *word;
        const char *before = memrchr(first, '\n', (size_t)(newline - first));
        const char *line = before ? before + 1 : first;
        size_t length;
        if (find_query(line, newline, &word, &length)) {
            *found = true;
            return copy_qid(&range->last, word, length, err);
        }
        stop = line;
    }
    return 0;
}

/* *border = the first line of [first, stop) that is a row of another query than the row before it,
 * or stop; the qid of the row before it must have been stored. */
static int find_border(struct byte_range *range, const char *first, const char *stop,
                       const char **border, struct error *err) {
    const char *line = first;
    while (line < stop) {
        const char *newline = memchr(line, '\n', (size_t)(stop - line)), *word;
        size_t length;
        if (find_query(line, newline, &word, &length)) {
            int same = is_last(range, word, length, err);
            if (same < 0) {
                return -1;
            }
            if (!same) {
                break;
            }
        }
        line = newline + 1;
    }
    *border = line;
    return 0;
}

/* ---- The beginning of a range -------------------------------------------------------------- */

/* Moves the beginning of the range, not 0, to the first line that begins in it, or to its end. */
static int find_line(struct byte_range *range, struct source *source, char *buffer,
                     struct error *err) {
    uint64_t at = range->from - 1;
    if (source_seek(source, at, err) < 0) {
        return -1;
    }
    while (at + 1 < range->end) {
        size_t wanted = range->end - 1 - at < BUFFER_BYTES ? (size_t)(range->end - 1 - at)
                                                           : BUFFER_BYTES,
               got;
        if (source_read(source, buffer, wanted, &got, err) < 0) {
            return -1;
        }
        const char *newline = memchr(buffer, '\n', got);
        if (newline) {
            range->from = at + (size_t)(newline - buffer) + 1;
            return 0;
        }
        at += got;
        if (got < wanted) {
            break;
        }
    }
    range->from = range->end;
    return 0;
}

/* Stores the qid of the last row before the range, if there is one. */
static int find_previous_qid(struct byte_range *range, struct source *source, struct error *err) {
    bool found = false;
    int status = 0;
    for (size_t size = BUFFER_BYTES; status == 0 && !found; size = 2 * size) {
        size_t n = size < range->from ? size : (size_t)range->from, got;
        char *text = memory_array(n, 1, "lines before a part", err);
        status = text ? source_seek(source, range->from - n, err) : -1;
        status = status < 0 ? -1 : source_read(source, text, n, &got, err);
        if (status == 0 && got == n) {
            bool whole = n == range->from;
            const char *first = whole ? text : memchr(text, '\n', n);
            first = first && !whole ? first + 1 : first;
            status = first ? store_last_qid(range, first, text + n, &found, err) : 0;
            found |= whole;
        } else {
            found = true; /* the file was truncated meanwhile */
        }
        free(text);
    }
    return status;
}

static int begin_plain(struct byte_range *range, struct source *source, struct error *err) {
    char *buffer = memory_array(BUFFER_BYTES, 1, "lines before a part", err);
    int status = buffer ? 0 : -1;
    if (status == 0 && range->from > 0) {
        status = find_line(range, source, buffer, err);
    }
    free(buffer);
    range->at = range->from;
    range->ended = range->from >= range->end;
    if (status < 0 || range->ended || range->from == 0) {
        return status;
    }
    return range->queries && find_previous_qid(range, source, err) < 0
               ? -1
               : source_seek(source, range->from, err);
}

/* The first byte of range `number` of n. */
static uint64_t share(uint64_t bytes, size_t number, size_t n) {
    return bytes / n * number + bytes % n * number / n;
}

int byte_range_open(struct byte_range **range, struct source *source,
                    const struct lines_part *which, struct error *err) {
    uint64_t bytes = source_bytes(source);
    bool last = which->number + 1 == which->n, plain = source_plain(source);
    if (!plain && bytes == 0) {
        return error_set(err, ERROR_RUNTIME,
                         "%s: not a regular file, of which each rank could read its part",
                         source_name(source));
    }
    struct byte_range *made = memory_zeros(1, sizeof *made, "reading", err);
    if (!made) {
        return -1;
    }
    const uint64_t bytes_of[2] = {share(bytes, which->number, which->n),
                                  last ? UINT64_MAX : share(bytes, which->number + 1, which->n)};
    *made = (struct byte_range){.from = bytes_of[0],
                                .end = bytes_of[1],
                                .gzip = !plain,
                                .queries = which->queries,
                                .first = bytes_of[0] == 0};
    made->ended = bytes_of[0] >= bytes_of[1];
    made->size = plain ? (size_t)((last ? bytes : bytes_of[1]) - bytes_of[0]) : 0;
    if (!plain) {
        made->from = made->end = UINT64_MAX;
    }
    if (plain ? !made->ended && begin_plain(made, source, err) < 0
              : source_cut_at(source, bytes_of, err) < 0) {
        byte_range_close(made);
        return -1;
    }
    *range = made;
    return 0;
}

void byte_range_close(struct byte_range *range) {
    if (range) {
        free(range->last.text);
        free(range->compare.text);
        free(range);
    }
}

size_t byte_range_size(const struct byte_range *range) {
    return range->size;
}

bool byte_range_ended(const struct byte_range *range) {
    return range->ended;
}

/* ---- The lines of a batch in the range ------------------------------------------------------ */

/* The first line of the batch that begins at or after offset `place` of the text; stop if there is
 * none. */
static const char *line_at(const struct byte_range *range, const char *text, const char *stop,
                           uint64_t place) {
    if (place <= range->at) {
        return text;
    }
    if (place - range->at >= (uint64_t)(stop - text)) {
        return stop;
    }
    const char *before = text + (place - range->at) - 1;
    return (const char *)memchr(before, '\n', (size_t)(stop - before)) + 1;
}

/* *first = the beginning of the range in the batch; sets `begun` if it is there. */
static int find_first(struct byte_range *range, const char *text, const char *stop,
                      const char **first, struct error *err) {
    bool found;
    *first = line_at(range, text, stop, range->from);
    if (!range->queries || range->first) {
        range->begun = *first < stop;
        return 0;
    }
    if (store_last_qid(range, text, *first, &found, err) < 0 ||
        find_border(range, *first, stop, first, err) < 0) {
        return -1;
    }
    range->begun = *first < stop;
    range->ended = range->at + (uint64_t)(*first - text) >=
                   range->end; /* the next rows belong to another process */
    return 0;
}

/* *end = the end of the range in the batch; sets `ended` if it is there. */
static int find_end(struct byte_range *range, const char *text, const char *first, const char *stop,
                    const char **end, struct error *err) {
    bool found;
    *end = line_at(range, text, stop, range->end);
    *end = *end < first ? first : *end;
    if (range->queries && (store_last_qid(range, first, *end, &found, err) < 0 ||
                           find_border(range, *end, stop, end, err) < 0)) {
        return -1;
    }
    range->ended = *end < stop;
    return 0;
}

int byte_range_reduce(struct byte_range *range, const uint64_t cut[2], const char **text,
                      size_t *length, struct error *err) {
    const char *first = *text, *stop = *text + *length, *end = stop;
    if (range->gzip) {
        range->from = cut[0];
        range->end = cut[1];
    }
    if (!range->begun && find_first(range, *text, stop, &first, err) < 0) {
        return -1;
    }
    if (!range->begun || range->ended) {
        end = first;
    } else if (find_end(range, *text, first, stop, &end, err) < 0) {
        return -1;
    }
    range->at += *length;
    *text = first;
    *length = (size_t)(end - first);
    return 0;
}
