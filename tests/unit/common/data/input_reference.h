/* A plain reader of svmlight text, line by line and with strtod: what input is tested against. */
#ifndef TESTS_UNIT_COMMON_DATA_INPUT_REFERENCE_H
#define TESTS_UNIT_COMMON_DATA_INPUT_REFERENCE_H

#include "common/data/input.h"
#include "tests/unit/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Text that grows ------------------------------------------------------------------------ */

struct text {
    char *bytes;
    size_t length, capacity;
};

static void text_bytes(struct text *text, const void *bytes, size_t n) {
    if (text->length + n + 1 > text->capacity) {
        text->capacity = 2 * (text->length + n + 1);
        text->bytes = realloc(text->bytes, text->capacity);
        if (!text->bytes) {
            FAIL("out of memory");
        }
    }
    memcpy(text->bytes + text->length, bytes, n);
    text->length += n;
    text->bytes[text->length] = '\0';
}

static void text_add(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void text_add(struct text *text, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text_bytes(text, line, (size_t)n);
}

/* ---- A plain reference ---------------------------------------------------------------------- */

/* What a file is to the reference: its rows in words (values as the bits of their floats, zeros
 * left out), or where it is wrong. */
struct reference {
    struct text rows;
    size_t n_rows;
    bool any_query;
    size_t error_line, error_column; /* 0: none */
};

struct line {
    char text[4096]; /* without the line's end, a NUL behind */
    size_t length;
};

static bool ref_blank(const struct line *line, size_t i) {
    return line->text[i] == ' ' || line->text[i] == '\t';
}

static bool ref_part_end(const struct line *line, size_t i) {
    return i == line->length || ref_blank(line, i) || line->text[i] == '#';
}

static bool ref_digit(const struct line *line, size_t i) {
    return i < line->length && line->text[i] >= '0' && line->text[i] <= '9';
}

/* Length of the number at i, 0 if there is none, and its value by strtod. */
static size_t ref_number(const struct line *line, size_t i, double *value) {
    size_t j = i, digits = 0;
    j += j < line->length && (line->text[j] == '-' || line->text[j] == '+');
    for (; ref_digit(line, j); j++) {
        digits++;
    }
    if (line->text[j] == '.') {
        for (j++; ref_digit(line, j); j++) {
            digits++;
        }
    }
    if (digits == 0) {
        return 0;
    }
    if (line->text[j] == 'e' || line->text[j] == 'E') {
        size_t k = j + 1;
        k += line->text[k] == '-' || line->text[k] == '+';
        if (ref_digit(line, k)) {
            for (j = k; ref_digit(line, j); j++) {
            }
        }
    }
    char copy[4096];
    memcpy(copy, line->text + i, j - i);
    copy[j - i] = '\0';
    *value = strtod(copy, NULL);
    return j - i;
}

/* Length of the run of digits at i, 0 if there is none or it is over most. */
static size_t ref_integer(const struct line *line, size_t i, uint64_t most, uint64_t *value) {
    size_t j = i;
    *value = 0;
    for (; ref_digit(line, j); j++) {
        uint64_t digit = (uint64_t)(line->text[j] - '0');
        if (*value > (UINT64_MAX - digit) / 10 || *value * 10 + digit > most) {
            return 0;
        }
        *value = *value * 10 + digit;
    }
    return j - i;
}

/* Appends the label part of the row's words. Returns 0, or the column (from 1) of what is wrong. */
static size_t ref_label(const struct line *line, const struct input_format *format, size_t *at,
                        struct text *words) {
    size_t end = *at;
    while (end < line->length && !ref_blank(line, end)) {
        end++;
    }
    const char *token = line->text + *at;
    size_t length = end - *at;
    bool none = memchr(token, ':', length) != NULL;
    if (format->labels == DATA_NUMBER) {
        double value;
        size_t n = ref_number(line, *at, &value);
        if (n > 0 && ref_part_end(line, *at + n) && isfinite(value)) {
            text_add(words, "%a", value);
            *at += n;
            return 0;
        }
        if (none && format->label_optional) {
            text_add(words, "none");
            return 0;
        }
        return n > 0 && !none && !ref_part_end(line, *at + n) ? *at + n + 1 : *at + 1;
    }
    if (format->labels == DATA_NAME) {
        if (none) {
            text_add(words, "none");
            return format->label_optional ? 0 : *at + 1;
        }
        const char *comma = memchr(token, ',', length), *nul = memchr(token, '\0', length);
        if (comma || nul) {
            return (size_t)((comma ? comma : nul) - line->text) + 1;
        }
        text_add(words, "%.*s", (int)length, token);
        *at = end;
        return 0;
    }
    if (*at > 0 || none) {
        return 0;
    }
    for (size_t first = 0; first <= end;) {
        size_t last = first;
        for (; last < end && line->text[last] != ','; last++) {
            if (line->text[last] == '\0') {
                return last + 1;
            }
        }
        if (last == first) {
            return first + 1;
        }
        for (size_t other = 0; other < first;) { /* the labels before this one */
            size_t other_end = other;
            while (line->text[other_end] != ',') {
                other_end++;
            }
            if (other_end - other == last - first &&
                memcmp(line->text + other, line->text + first, last - first) == 0) {
                return first + 1;
            }
            other = other_end + 1;
        }
        text_add(words, "%.*s,", (int)(last - first), line->text + first);
        first = last + 1;
    }
    *at = end;
    return 0;
}

/* A query in words: digits without zeros in front, other numbers as their values, or the name. */
static void ref_query(struct text *words, const char *word, size_t length) {
    char copy[256], *end = copy;
    size_t n = length < sizeof copy ? length : sizeof copy - 1, zeros = 0;
    memcpy(copy, word, n);
    copy[n] = '\0';
    bool digits = strspn(copy, "0123456789") == n, number = strspn(copy, "+-.eE0123456789") == n;
    while (zeros + 1 < n && copy[zeros] == '0') {
        zeros++;
    }
    double value = number && !digits ? strtod(copy, &end) : 0;
    if (digits) {
        text_add(words, " qid %s", copy + zeros);
    } else if (number && n > 0 && *end == '\0' && value >= 0 && value == (double)(int)value) {
        text_add(words, " qid %d", (int)value);
    } else if (number && n > 0 && *end == '\0') {
        text_add(words, " qid %a", value);
    } else {
        text_add(words, " qid %s", copy);
    }
}

/* One line: *row tells if it is a row. Returns 0, or the column of what is wrong. */
static size_t ref_line(const struct line *line, const struct input_format *format, bool *row,
                       bool *any_query, struct text *words) {
    size_t i = 0;
    while (ref_blank(line, i)) {
        i++;
    }
    *row = i < line->length && line->text[i] != '#';
    size_t wrong = *row ? ref_label(line, format, &i, words) : 0;
    uint64_t serial = 0, last = 0;
    bool has_query = false, has_serial = false;
    const char *qid = "0";
    size_t qid_length = 1;
    struct text features = {0};
    text_add(&features, "%s", "");
    while (wrong == 0) {
        while (ref_blank(line, i)) {
            i++;
        }
        if (i == line->length || line->text[i] == '#') {
            const char *nul = memchr(line->text + i, '\0', line->length - i);
            wrong = *row && format->precomputed && !has_serial ? i + 1
                    : nul                                      ? (size_t)(nul - line->text) + 1
                                                               : 0;
            break;
        }
        uint64_t index;
        size_t n;
        double value;
        if (strncmp(line->text + i, "qid:", 4) == 0) {
            qid = line->text + i + 4;
            for (n = 0; !ref_part_end(line, i + 4 + n) && qid[n]; n++) {
            }
            qid_length = n;
            if (has_query || has_serial || last > 0) {
                wrong = i + 1;
            } else if (n == 0 || !ref_part_end(line, i + 4 + n)) {
                wrong = i + 5 + n;
            }
            has_query = true;
            i += 4 + n;
            continue;
        }
        n = ref_integer(line, i, UINT32_MAX, &index);
        if (n == 0 || line->text[i + n] != ':') {
            wrong = i + 1;
            break;
        }
        size_t at = i + n + 1;
        if (format->precomputed && !has_serial) {
            n = ref_integer(line, at, UINT64_MAX, &serial);
            if (index != 0 || n == 0 || !ref_part_end(line, at + n)) {
                wrong = index != 0 ? i + 1 : at + 1;
            }
            has_serial = true;
            i = at + n;
            continue;
        }
        if (index <= last) {
            wrong = i + 1;
            break;
        }
        n = ref_number(line, at, &value);
        if (n == 0) {
            wrong = at + 1;
        } else if (!ref_part_end(line, at + n)) {
            wrong = at + n + 1;
        } else if (isinf((float)value)) {
            wrong = at + 1;
        }
        last = index;
        i = at + n;
        if (wrong == 0 && (float)value != 0) {
            text_add(&features, " %" PRIu64 ":%a", index, (double)(float)value);
        }
    }
    if (wrong == 0 && *row) {
        ref_query(words, qid, qid_length);
        text_add(words, " serial %" PRIu64, serial);
        text_bytes(words, features.bytes, features.length);
        text_add(words, "\n");
        *any_query |= has_query;
    }
    free(features.bytes);
    return wrong;
}

static struct reference ref_read(const struct text *text, const struct input_format *format) {
    struct reference reference = {0};
    text_add(&reference.rows, "%s", "");
    size_t line_number = 0;
    static struct line line;
    for (size_t first = 0; first < text->length && reference.error_line == 0;) {
        const char *newline = memchr(text->bytes + first, '\n', text->length - first);
        size_t last = newline ? (size_t)(newline - text->bytes) : text->length;
        line.length = last - first;
        if (line.length >= sizeof line.text) {
            FAIL("a line of the test is too long");
        }
        memcpy(line.text, text->bytes + first, line.length);
        if (line.length > 0 && line.text[line.length - 1] == '\r') {
            line.length--;
        }
        line.text[line.length] = '\0';
        line_number++;
        bool row;
        size_t column = ref_line(&line, format, &row, &reference.any_query, &reference.rows);
        if (column > 0) {
            reference.error_line = line_number;
            reference.error_column = column;
        }
        reference.n_rows += row;
        first = last + 1;
    }
    return reference;
}

#endif
