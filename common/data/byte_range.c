/* for memrchr */
#define _GNU_SOURCE
#include "common/data/byte_range.h"

#include "common/base/memory.h"
#include "common/data/names.h"

#include <stdlib.h>
#include <string.h>

static const size_t WINDOW = (size_t)1 << 16;

/* The qid of a row. */
struct query {
    char *text; /* NUL behind it; owned */
    size_t room;
    bool known;
};

struct part {
    uint64_t from, end; /* in the text; of gzip UINT64_MAX until they are known */
    uint64_t at;        /* where the next batch begins */
    size_t size;
    bool gzip, queries;
    bool first; /* in the file */
    bool begun, ended;
    struct query last;    /* of the last row so far, the part's or one before it */
    struct query compare; /* scratch */
};

/* ---- Lines ---------------------------------------------------------------------------------- */

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* The qid of the line from p to newline, as far as it is that of a row: with a label in front, if
 * any. Rows without one have the qid 0. False: the line is none. */
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

static int keep(struct query *query, const char *word, size_t length, struct error *err) {
    if (memory_grow(&query->text, query->room, length + 1, 1, "a qid", err) < 0) {
        return -1;
    }
    query->room = memory_room(query->room, length + 1);
    memcpy(query->text, word, length);
    query->text[length] = '\0';
    query->known = true;
    return 0;
}

/* 1 if that is the qid of the last row, 0 if not, -1 for lack of memory. */
static int is_last(struct part *part, const char *word, size_t length, struct error *err) {
    const struct query *last = &part->last;
    if (!last->known) {
        return 0;
    }
    if (strlen(last->text) == length && memcmp(last->text, word, length) == 0) {
        return 1;
    }
    return keep(&part->compare, word, length, err) < 0
               ? -1
               : names_equal(last->text, part->compare.text);
}

/* Notes the qid of the last row of [first, stop), whole lines; *found: there is one. */
static int note_last(struct part *part, const char *first, const char *stop, bool *found,
                     struct error *err) {
    *found = false;
    while (stop > first) {
        const char *newline = stop - 1, *word;
        const char *before = memrchr(first, '\n', (size_t)(newline - first));
        const char *line = before ? before + 1 : first;
        size_t length;
        if (find_query(line, newline, &word, &length)) {
            *found = true;
            return keep(&part->last, word, length, err);
        }
        stop = line;
    }
    return 0;
}

/* *border: the first line of [first, stop) that is a row of another query than the row before it,
 * or stop; the last row noted is that before it. */
static int find_border(struct part *part, const char *first, const char *stop, const char **border,
                       struct error *err) {
    const char *line = first;
    while (line < stop) {
        const char *newline = memchr(line, '\n', (size_t)(stop - line)), *word;
        size_t length;
        if (find_query(line, newline, &word, &length)) {
            int same = is_last(part, word, length, err);
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

/* ---- Where it begins ------------------------------------------------------------------------ */

/* Moves part->from, not 0, to the first line that begins in the range, or to its end. */
static int find_line(struct part *part, struct source *source, char *window, struct error *err) {
    uint64_t at = part->from - 1;
    if (source_seek(source, at, err) < 0) {
        return -1;
    }
    while (at + 1 < part->end) {
        size_t wanted = part->end - 1 - at < WINDOW ? (size_t)(part->end - 1 - at) : WINDOW, got;
        if (source_read(source, window, wanted, &got, err) < 0) {
            return -1;
        }
        const char *newline = memchr(window, '\n', got);
        if (newline) {
            part->from = at + (size_t)(newline - window) + 1;
            return 0;
        }
        at += got;
        if (got < wanted) {
            break;
        }
    }
    part->from = part->end;
    return 0;
}

/* Notes the qid of the last row before part->from, if there is one. */
static int look_back(struct part *part, struct source *source, struct error *err) {
    bool found = false;
    int status = 0;
    for (size_t size = WINDOW; status == 0 && !found; size = 2 * size) {
        size_t n = size < part->from ? size : (size_t)part->from, got;
        char *text = memory_array(n, 1, "lines before a part", err);
        status = text ? source_seek(source, part->from - n, err) : -1;
        status = status < 0 ? -1 : source_read(source, text, n, &got, err);
        if (status == 0 && got == n) {
            bool whole = n == part->from;
            const char *first = whole ? text : memchr(text, '\n', n);
            first = first && !whole ? first + 1 : first;
            status = first ? note_last(part, first, text + n, &found, err) : 0;
            found |= whole;
        } else {
            found = true; /* the file has become shorter */
        }
        free(text);
    }
    return status;
}

static int begin_plain(struct part *part, struct source *source, struct error *err) {
    char *window = memory_array(WINDOW, 1, "lines before a part", err);
    int status = window ? 0 : -1;
    if (status == 0 && part->from > 0) {
        status = find_line(part, source, window, err);
    }
    free(window);
    part->at = part->from;
    part->ended = part->from >= part->end;
    if (status < 0 || part->ended || part->from == 0) {
        return status;
    }
    return part->queries && look_back(part, source, err) < 0 ? -1
                                                             : source_seek(source, part->from, err);
}

/* Byte `number` / n of the file. */
static uint64_t share(uint64_t bytes, size_t number, size_t n) {
    return bytes / n * number + bytes % n * number / n;
}

int part_open(struct part **part, struct source *source, const struct lines_part *which,
              struct error *err) {
    uint64_t bytes = source_bytes(source);
    bool last = which->number + 1 == which->n, plain = source_plain(source);
    if (!plain && bytes == 0) {
        return error_set(err, ERROR_RUNTIME,
                         "%s: not a regular file, of which each rank could read its part",
                         source_name(source));
    }
    struct part *made = memory_zeros(1, sizeof *made, "reading", err);
    if (!made) {
        return -1;
    }
    const uint64_t range[2] = {share(bytes, which->number, which->n),
                               last ? UINT64_MAX : share(bytes, which->number + 1, which->n)};
    *made = (struct part){.from = range[0],
                          .end = range[1],
                          .gzip = !plain,
                          .queries = which->queries,
                          .first = range[0] == 0};
    made->ended = range[0] >= range[1];
    made->size = plain ? (size_t)((last ? bytes : range[1]) - range[0]) : 0;
    if (!plain) {
        made->from = made->end = UINT64_MAX;
    }
    if (plain ? !made->ended && begin_plain(made, source, err) < 0
              : source_cut_at(source, range, err) < 0) {
        part_close(made);
        return -1;
    }
    *part = made;
    return 0;
}

void part_close(struct part *part) {
    if (part) {
        free(part->last.text);
        free(part->compare.text);
        free(part);
    }
}

size_t part_size(const struct part *part) {
    return part->size;
}

bool part_ended(const struct part *part) {
    return part->ended;
}

/* ---- What of a batch belongs to it ---------------------------------------------------------- */

/* The first line of a batch that begins at byte `place` of the text, or behind it; at the latest
 * stop. */
static const char *line_at(const struct part *part, const char *text, const char *stop,
                           uint64_t place) {
    if (place <= part->at) {
        return text;
    }
    if (place - part->at >= (uint64_t)(stop - text)) {
        return stop;
    }
    const char *before = text + (place - part->at) - 1;
    return (const char *)memchr(before, '\n', (size_t)(stop - before)) + 1;
}

/* *first = where the part begins in the batch, if it does; part->begun then. */
static int find_first(struct part *part, const char *text, const char *stop, const char **first,
                      struct error *err) {
    bool found;
    *first = line_at(part, text, stop, part->from);
    if (!part->queries || part->first) {
        part->begun = *first < stop;
        return 0;
    }
    if (note_last(part, text, *first, &found, err) < 0 ||
        find_border(part, *first, stop, first, err) < 0) {
        return -1;
    }
    part->begun = *first < stop;
    part->ended = part->at + (uint64_t)(*first - text) >= part->end; /* what comes is another's */
    return 0;
}

/* *end = where it ends in the batch; part->ended then. */
static int find_end(struct part *part, const char *text, const char *first, const char *stop,
                    const char **end, struct error *err) {
    bool found;
    *end = line_at(part, text, stop, part->end);
    *end = *end < first ? first : *end;
    if (part->queries && (note_last(part, first, *end, &found, err) < 0 ||
                          find_border(part, *end, stop, end, err) < 0)) {
        return -1;
    }
    part->ended = *end < stop;
    return 0;
}

int part_narrow(struct part *part, const uint64_t cut[2], const char **text, size_t *length,
                struct error *err) {
    const char *first = *text, *stop = *text + *length, *end = stop;
    if (part->gzip) {
        part->from = cut[0];
        part->end = cut[1];
    }
    if (!part->begun && find_first(part, *text, stop, &first, err) < 0) {
        return -1;
    }
    if (!part->begun || part->ended) {
        end = first;
    } else if (find_end(part, *text, first, stop, &end, err) < 0) {
        return -1;
    }
    part->at += *length;
    *text = first;
    *length = (size_t)(end - first);
    return 0;
}
