/* The parser. One long file: a row is parsed in one pass over its bytes, and the functions of that
 * pass are inlined into one another, which is most of the speed of reading. */
#include "common/data/svmlight.h"

#include "common/base/digits.h"
#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/data/file_type.h"
#include "common/data/svmlight_characters.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const uint32_t MAX_INDEX =
    UINT32_MAX; /* columns count from 0, and n_features fits in 32 bits, too */

/* The state of the parser. Text always ends in '\n', so that loops which stop there need no other
 * end. */
struct parser {
    struct svmlight *rows;
    const struct input_format *format;
    struct svmlight_fault *fault;
    const char *end;
    const char *line; /* beginning of the line */
    size_t n_values;  /* number of values so far */
    size_t row_first; /* n_values at the beginning of the row */
    uint32_t last;    /* previous index of the row, 0: none */
    bool has_serial;  /* the row has had a serial number, */
    bool has_query;   /* and a qid */
    bool names_query;
    uint64_t query, serial;
    const char *remark, *remark_end;
};

static int fail(struct parser *parser, const char *what, const char *at) {
    parser->fault->what = what;
    parser->fault->at = at;
    parser->fault->line = parser->line;
    parser->fault->line_number = parser->rows->n_lines;
    parser->fault->n_values = parser->n_values;
    parser->fault->zero_based = parser->rows->zero_based;
    parser->fault->has_serial = parser->has_serial;
    return -1;
}

static int fail_memory(struct parser *parser) {
    return fail(parser, NULL, parser->line);
}

/* ---- Words and comments ---------------------------------------------------------------------- */

static const char *token_end(const char *p) {
    while (!is_blank(*p) && !is_line_end(p)) {
        p++;
    }
    return p;
}

/* True for nan, inf and infinity, in any case and with a sign, as printed by printf. */
static bool is_not_finite(const char *p) {
    p += *p == '-' || *p == '+';
    char lower[3];
    for (size_t i = 0; i < sizeof lower; i++) {
        if (*p == '\n') {
            return false;
        }
        lower[i] = (char)(*p++ | 0x20);
    }
    return memcmp(lower, "nan", 3) == 0 || memcmp(lower, "inf", 3) == 0;
}

/* Reads nan, -inf or -infinity, in any case: *value gets it. */
static bool read_missing(const char *p, const char *end, double *value) {
    static const struct {
        const char *word;
        double value;
    } words[] = {{"nan", NAN}, {"-nan", NAN}, {"-inf", -INFINITY}, {"-infinity", -INFINITY}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i].word);
        if ((size_t)(end - p) == length && strncasecmp(p, words[i].word, length) == 0) {
            *value = words[i].value;
            return true;
        }
    }
    return false;
}

/* Skips a comment to the end of its line, and stores it if comments are requested. NUL bytes are
 * refused in comments too: such a file is not text. */
static int skip_comment(struct parser *parser, const char **p) {
    const char *newline = memchr(*p, '\n', (size_t)(parser->end - *p));
    const char *nul = memchr(*p, '\0', (size_t)(newline - *p));
    if (nul) {
        return fail(parser, "NUL byte", nul);
    }
    parser->remark = NULL;
    for (const char *at = *p; parser->n_values == 0 && at < newline; at++) {
        parser->rows->zero_based |= starts_with(at, "zero-based");
    }
    if (parser->format->remarks && **p == '#') {
        const char *end = newline;
        parser->remark = skip_blanks(*p + 1);
        while (end > parser->remark && (is_blank(end[-1]) || end[-1] == '\r')) {
            end--;
        }
        parser->remark_end = end;
    }
    *p = newline;
    return 0;
}

/* ---- Labels --------------------------------------------------------------------------------- */

/* Adds one label; a label of a set may be given only once. */
static int add_label(struct parser *parser, const char *text, const char *end) {
    struct svmlight *rows = parser->rows;
    const char *nul = memchr(text, '\0', (size_t)(end - text));
    if (nul) {
        return fail(parser, "NUL byte", nul);
    }
    if (memory_grow(&rows->label, rows->label_capacity, rows->n_labels + 1, sizeof *rows->label,
                    "labels", &parser->fault->memory) < 0) {
        return fail_memory(parser);
    }
    rows->label_capacity = memory_room(rows->label_capacity, rows->n_labels + 1);
    uint32_t number;
    if (names_add(&rows->names, text, (size_t)(end - text), &number, &parser->fault->memory) < 0) {
        return fail_memory(parser);
    }
    if (parser->format->labels == DATA_SET) {
        size_t seen = rows->seen_capacity, capacity = memory_room(seen, number + (size_t)1);
        if (memory_grow(&rows->seen, seen, capacity, sizeof *rows->seen, "labels",
                        &parser->fault->memory) < 0) {
            return fail_memory(parser);
        }
        memset(rows->seen + seen, 0, (capacity - seen) * sizeof *rows->seen);
        rows->seen_capacity = capacity;
        if (rows->seen[number] == rows->n_rows + 1) {
            return fail(parser, "label is given twice", text);
        }
        rows->seen[number] = rows->n_rows + 1;
    }
    rows->label[rows->n_labels++] = number;
    return 0;
}

/* A row without label: accepted or not. */
static int no_label(struct parser *parser, const char *p) {
    return parser->format->label_optional || parser->format->labels == DATA_SET
               ? 0
               : fail(parser, "label is missing", p);
}

static int parse_number_label(struct parser *parser, const char **p, double *target) {
    const char *after = number_parse(*p, parser->end, target);
    if (after && is_part_end(after) && isfinite(*target)) {
        *p = after;
        return 0;
    }
    const char *end = token_end(*p);
    if (memchr(*p, ':', (size_t)(end - *p))) {
        *target = NAN;
        return no_label(parser, *p);
    }
    if (parser->format->missing_labels && read_missing(*p, end, target)) {
        *p = end;
        return 0;
    }
    if (!after) {
        return fail(parser,
                    is_not_finite(*p) ? "label is not finite"
                    : **p == '\0'     ? "NUL byte"
                                      : "label is not a number",
                    *p);
    }
    if (!is_part_end(after)) {
        return fail(parser, "junk after the label", after);
    }
    return fail(parser, "label is too large", *p);
}

static int parse_name_label(struct parser *parser, const char **p) {
    const char *end = token_end(*p);
    if (memchr(*p, ':', (size_t)(end - *p))) {
        return no_label(parser, *p);
    }
    const char *comma = memchr(*p, ',', (size_t)(end - *p));
    if (comma) {
        return fail(parser, "comma in the label: one label is expected", comma);
    }
    if (add_label(parser, *p, end) < 0) {
        return -1;
    }
    *p = end;
    return 0;
}

static int parse_set_label(struct parser *parser, const char **p) {
    const char *end = token_end(*p);
    if (*p > parser->line || memchr(*p, ':', (size_t)(end - *p))) {
        return 0; /* the row begins with a blank or a feature: no labels */
    }
    for (const char *first = *p;; first++) {
        const char *last = memchr(first, ',', (size_t)(end - first));
        last = last ? last : end;
        if (last == first) {
            return fail(parser, "label is empty", first);
        }
        if (add_label(parser, first, last) < 0) {
            return -1;
        }
        if (last == end) {
            *p = end;
            return 0;
        }
        first = last;
    }
}

/* ---- qid and features ----------------------------------------------------------------------- */

static const char MISSING_SERIAL[] = "row does not begin with 0:serial (precomputed kernel)";

static int parse_query(struct parser *parser, const char **p) {
    const char *word = *p + 4, *end = word;
    if (parser->has_query) {
        return fail(parser, "qid is given twice", *p);
    }
    if (parser->last > 0 || parser->has_serial) {
        return fail(parser, "qid stands behind a feature", *p);
    }
    while (!is_part_end(end)) {
        if (*end == '\0') {
            return fail(parser, "NUL byte", end);
        }
        end++;
    }
    if (end == word) {
        return fail(parser, "qid is empty", word);
    }
    parser->has_query = true;
    *p = end;
    if (data_query_number(word, (size_t)(end - word), &parser->query)) {
        return 0;
    }
    uint32_t name;
    if (names_add(&parser->rows->queries, word, (size_t)(end - word), &name,
                  &parser->fault->memory) < 0) {
        return fail_memory(parser);
    }
    parser->names_query = true;
    parser->query = name;
    return 0;
}

static int parse_serial(struct parser *parser, const char **p, const char *number) {
    const char *after = number_parse_unsigned(number, parser->end, &parser->serial);
    if (!after || !is_part_end(after)) {
        return fail(parser, "serial number is not a whole number", number);
    }
    parser->has_serial = true;
    *p = after;
    return 0;
}

static int parse_index(struct parser *parser, const char *p, uint64_t *index, const char **after) {
    *after = number_parse_unsigned(p, parser->end, index);
    if (!*after) {
        return fail(parser,
                    *p >= '0' && *p <= '9' ? "index is over 4294967295"
                    : *p == '-'            ? "index is negative"
                    : *p == '\0'           ? "NUL byte"
                    : *p == '\r'           ? "CR without LF"
                                           : "index:value is expected",
                    p);
    }
    if (**after != ':') {
        return fail(
            parser,
            is_part_end(*after) ? "no colon behind the index" : "index is not a whole number", p);
    }
    return *index > MAX_INDEX ? fail(parser, "index is over 4294967295", p) : 0;
}

static int parse_value(struct parser *parser, const char **p, float *value) {
    double exact;
    const char *after = number_parse(*p, parser->end, &exact);
    if (!after) {
        return fail(parser,
                    is_part_end(*p)     ? "value is missing"
                    : is_not_finite(*p) ? "value is not finite"
                                        : "value is not a number",
                    *p);
    }
    if (!is_part_end(after)) {
        return fail(parser, "junk after the value", after);
    }
    *value = (float)exact;
    if (isinf(*value)) {
        parser->fault->hint = SVMLIGHT_TOO_LARGE;
        return fail(parser, "value is too large for single precision", *p);
    }
    *p = after;
    return 0;
}

static inline void add_value(struct parser *parser, uint32_t index, float value) {
    struct svmlight *rows = parser->rows;
    rows->column[parser->n_values] = index - 1;
    rows->value[parser->n_values++] = value;
    rows->n_zeros += value == 0;
    parser->last = index;
}

/* Parses one item after a label or another item, with all checks, or the rest of the line: *p is
 * then at its '\n' and *row_end is true. */
static int parse_part(struct parser *parser, const char **p, bool *row_end) {
    *p = skip_blanks(*p);
    if (is_line_end(*p) || **p == '#') {
        *row_end = true;
        if (parser->format->precomputed && !parser->has_serial) {
            return fail(parser, MISSING_SERIAL, *p);
        }
        return skip_comment(parser, p);
    }
    if (starts_with(*p, "qid:")) {
        return parse_query(parser, p);
    }
    uint64_t index;
    const char *after;
    if (parse_index(parser, *p, &index, &after) < 0) {
        return -1;
    }
    bool first = parser->last == 0 && !parser->has_serial;
    if (index == 0 && parser->format->precomputed && first) {
        return parse_serial(parser, p, after + 1);
    }
    if (parser->format->precomputed && first) {
        return fail(parser, MISSING_SERIAL, *p);
    }
    if (index == 0) {
        parser->fault->hint = SVMLIGHT_ZERO_INDEX;
        return fail(parser, "index is 0 (indices count from 1)", *p);
    }
    if (index <= parser->last) {
        return fail(parser, "index is not above the one before", *p);
    }
    float value = 0;
    const char *value_text = after + 1;
    if (parse_value(parser, &value_text, &value) < 0) {
        return -1;
    }
    add_value(parser, (uint32_t)index, value);
    *p = value_text;
    return 0;
}

/* The usual form of a value: [-]digits[.digits] with at most 8 digits before the point and 19 in
 * total, then a blank or the end of the line. Returns its end, or NULL for other forms, which
 * parse_part handles. */
static inline const char *parse_usual_value(const char *p, float *value) {
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                   1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};
    if (is_blank(p[1]) && *p >= '0' && *p <= '9') {
        *value = (float)(*p - '0');
        return p + 1;
    }
    bool negative = *p == '-';
    p += negative;
    uint64_t word = digits_load(p);
    unsigned n = digits_count(word);
    uint64_t digits = digits_value(word, n);
    double exact;
    p += n;
    if (n == 0) {
        return NULL;
    }
    if (*p == '.') {
        unsigned before = digits > 0 ? n : 0;
        word = digits_load(++p);
        n = digits_count(word);
        unsigned fraction = n;
        digits = digits * digits_power(n) + digits_value(word, n);
        while (n == 8) { /* more digits may follow */
            word = digits_load(p + fraction);
            n = digits_count(word);
            if (before + fraction + n > 19) {
                return NULL;
            }
            digits = digits * digits_power(n) + digits_value(word, n);
            fraction += n;
        }
        p += fraction;
        /* a quotient of exact numbers is rounded once, as in number_scale */
        exact = FLT_EVAL_METHOD == 0 && digits <= UINT64_C(1) << 53
                    ? (double)(int64_t)digits / power[fraction]
                    : number_scale(digits, -(int64_t)fraction);
    } else {
        exact = (double)(int64_t)digits;
    }
    *value = (float)(negative ? -exact : exact);
    return is_blank(*p) || *p == '\n' ? p : NULL;
}

/* A value of at most seven digits with the point anywhere, then a blank or the end of the line: the
 * same without branches on the number of digits. NULL for other forms. */
static inline const char *parse_short_value(const char *p, float *value, bool *zero) {
    static const float power[] = {1e0F, 1e1F, 1e2F, 1e3F, 1e4F, 1e5F, 1e6F, 1e7F};
    bool negative = *p == '-';
    p += negative;
    uint64_t word = digits_load(p), other = digits_others(word);
    if (FLT_EVAL_METHOD != 0 || other == 0) {
        return NULL;
    }
    unsigned end =
        (unsigned)__builtin_ctzll(other); /* 7 bits after the first byte that is not a digit */
    bool point = (char)((word >> (end - 7) & 0xff) ^ '0') == '.';
    uint64_t whole = (other ^ (other - 1)) >> 8, rest = other & (other - 1);
    unsigned before = end / 8, behind = rest ? (unsigned)__builtin_ctzll(rest) / 8 : 8;
    unsigned length = point ? behind : before, n = length - point;
    p += length;
    if (n == 0 || (__builtin_expect(*p != ' ', 0) && !is_blank(*p) && *p != '\n')) {
        return NULL;
    }
    word = (word & whole) | (word >> 8 & ~whole);
    int32_t digits = (int32_t)digits_some(word, n);
    /* Both numbers are exact, and double has more than twice the digits of float: rounding the
     * quotient to double first would change nothing (Figueroa, "When is double rounding
     * innocuous?", 1995). */
    float magnitude = (float)digits / power[n - before];
    *value = negative ? -magnitude : magnitude;
    *zero = digits == 0;
    return p;
}

/* The text before a value: a blank, the index and the colon, in the form of digits_text. */
struct token {
    uint64_t word, mask;
    uint64_t unit; /* one unit of the last digit */
    unsigned length;
};

enum {
    MAX_TOKEN_INDEX = 999999, /* six digits: eight bytes with blank and colon */
    TOKEN_STEP = 10, /* indices up to the next that ends in 0 differ only in the last digit */
};

static inline struct token token_of(uint32_t index) {
    uint64_t word = ':';
    unsigned length = 2;
    for (; index > 0; index /= 10, length++) {
        word = word << 8 | ('0' + index % 10);
    }
    return (struct token){.word = word << 8 | ' ',
                          .mask = UINT64_MAX >> (64 - 8 * length),
                          .unit = UINT64_C(1) << 8 * (length - 2),
                          .length = length};
}

/* Parses the features of a row from *text on, while their indices are 1, 2, 3 ... and their values
 * are short: the position of the next value is then known without parsing the index. A function of
 * its own, so that its loop does not share registers with the code around it. */
static __attribute__((noinline)) void parse_run(struct parser *parser, const char **text) {
    const char *p = *text;
    size_t n_zeros = 0;
    uint32_t *column = parser->rows->column + parser->n_values, last = 0, change = TOKEN_STEP - 1;
    float *value = parser->rows->value + parser->n_values;
    struct token token = token_of(1);
    while (((digits_text(p) ^ token.word) & token.mask) == 0) {
        bool zero;
        const char *after = parse_short_value(p + token.length, value, &zero);
        if (!after) {
            break;
        }
        value++;
        *column++ = last++;
        n_zeros += zero;
        p = after;
        token.word += token.unit;
        if (last == change) {
            if (last == MAX_TOKEN_INDEX) {
                break;
            }
            token = token_of(last + 1);
            change += TOKEN_STEP;
        }
    }
    parser->n_values += last;
    parser->last = last;
    parser->rows->n_zeros += n_zeros;
    *text = p;
}

/* Parses the features of a row, from the end of its label to the '\n' of its line. */
static int parse_features(struct parser *parser, const char **text) {
    struct svmlight *rows = parser->rows;
    const char *p = *text;
    bool row_end = false;
    while (parser->format->precomputed && !parser->has_serial) {
        if (parse_part(parser, &p, &row_end) < 0) { /* it fails at the end of the row */
            return -1;
        }
    }
    while (!row_end) {
        if (parser->last == 0) {
            parse_run(parser, &p);
        }
        /* while items are one blank, then index:value in the usual form; variables that the loop
         * changes are held in registers */
        uint32_t *column = rows->column;
        float *value = rows->value;
        size_t n_values = parser->n_values, n_zeros = 0;
        uint32_t last = parser->last;
        for (;;) {
            const char *number = p + (*p == ' ');
            uint64_t word = digits_load(number);
            unsigned n = digits_count(word);
            uint32_t index = (uint32_t)digits_value(word, n);
            if (number[n] != ':' || index <= last) {
                break;
            }
            const char *after = parse_usual_value(number + n + 1, &value[n_values]);
            if (!after) {
                break;
            }
            column[n_values] = index - 1;
            n_zeros += value[n_values] == 0;
            n_values++;
            last = index;
            p = after;
        }
        parser->n_values = n_values;
        parser->last = last;
        rows->n_zeros += n_zeros;
        if (parse_part(parser, &p, &row_end) < 0) {
            return -1;
        }
    }
    *text = p;
    return 0;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

/* Reserves one more row. */
static int reserve_row(struct parser *parser) {
    struct svmlight *rows = parser->rows;
    if (memory_grow(&rows->row, rows->row_capacity, rows->n_rows + 1, sizeof *rows->row, "rows",
                    &parser->fault->memory) < 0) {
        return fail_memory(parser);
    }
    rows->row_capacity = memory_room(rows->row_capacity, rows->n_rows + 1);
    return 0;
}

/* Reserves the values of a text, of which each takes at least four bytes. */
static int reserve_values(struct parser *parser, size_t bytes) {
    struct svmlight *rows = parser->rows;
    size_t capacity = bytes / 4 + 1;
    if (capacity <= rows->value_capacity) {
        return 0;
    }
    capacity += capacity / 8; /* blocks differ by the length of a line */
    free(rows->column);
    free(rows->value);
    rows->value_capacity = 0;
    rows->column = memory_array(capacity, sizeof *rows->column, "columns", &parser->fault->memory);
    rows->value = memory_array(capacity, sizeof *rows->value, "values", &parser->fault->memory);
    if (!rows->column || !rows->value) {
        return fail_memory(parser);
    }
    rows->value_capacity = capacity;
    return 0;
}

/* Fails for a row whose features, from p on, have an index above the limit; reports the last, which
 * is the largest. */
static int fail_limit(struct parser *parser, const char *p) {
    const char *last = p;
    for (p = skip_blanks(p); !is_line_end(p) && *p != '#'; p = skip_blanks(p)) {
        last = p;
        while (!is_part_end(p)) {
            p++;
        }
    }
    snprintf(parser->fault->text, sizeof parser->fault->text, "index %lu %s",
             (unsigned long)parser->last, parser->format->limit.what);
    return fail(parser, parser->fault->text, last);
}

const char *svmlight_query_fault(bool has_query) {
    return has_query ? "row has a qid, the rows before have none"
                     : "row has no qid, the rows before have one";
}

/* Parses one row, from its first byte that is not a blank. */
static int parse_row(struct parser *parser, const char **p) {
    struct svmlight *rows = parser->rows;
    if (reserve_row(parser) < 0) {
        return -1;
    }
    parser->row_first = parser->n_values;
    parser->last = 0;
    parser->has_query = parser->names_query = parser->has_serial = false;
    parser->query = parser->serial = 0;
    struct svmlight_row *row = &rows->row[rows->n_rows];
    row->target = NAN;
    int status = parser->format->labels == DATA_NUMBER ? parse_number_label(parser, p, &row->target)
                 : parser->format->labels == DATA_NAME ? parse_name_label(parser, p)
                                                       : parse_set_label(parser, p);
    const char *features = *p;
    if (status < 0 || parse_features(parser, p) < 0) {
        return -1;
    }
    if (parser->format->limit.most > 0 && parser->last > parser->format->limit.most) {
        return fail_limit(parser, features);
    }
    if (rows->n_rows == 0) {
        rows->has_query = parser->has_query;
        rows->first_line = parser->line;
        rows->first_line_number = rows->n_lines;
    } else if (parser->format->labels == DATA_NUMBER && parser->has_query != rows->has_query) {
        return fail(parser, svmlight_query_fault(parser->has_query), parser->line);
    }
    row->end = parser->n_values;
    row->labels_end = rows->n_labels;
    row->query = parser->query;
    row->names_query = parser->names_query;
    row->remark = parser->remark;
    row->remark_end = parser->remark_end;
    row->serial = parser->serial;
    rows->has_query |= parser->has_query;
    /* ascending indices from 1 are complete if the last equals their number */
    uint32_t width = rows->n_rows > 0 ? rows->n_features : parser->last;
    rows->uniform &=
        parser->last == parser->n_values - parser->row_first && parser->last == width && width > 0;
    if (rows->n_features < parser->last) {
        rows->n_features = parser->last;
    }
    rows->n_rows++;
    return 0;
}

int svmlight_parse(struct svmlight *rows, const char *text, const char *end,
                   const struct input_format *format, struct svmlight_fault *fault) {
    struct parser parser = {
        .rows = rows, .format = format, .fault = fault, .end = end, .line = text};
    rows->n_rows = rows->n_values = rows->n_zeros = rows->n_labels = 0;
    rows->n_features = 0;
    rows->n_lines = 0;
    rows->uniform = true;
    rows->has_query = rows->zero_based = false;
    fault->hint = SVMLIGHT_NO_HINT;
    names_free(&rows->names);
    names_free(&rows->queries);
    if (rows->seen) {
        memset(rows->seen, 0, rows->seen_capacity * sizeof *rows->seen);
    }
    if (reserve_values(&parser, (size_t)(end - text)) < 0) {
        return -1;
    }
    for (const char *p = text; p < end; p++) { /* past the '\n' */
        rows->n_lines++;
        parser.line = p;
        if (starts_with(p, HEAD_MARK)) {
            return fail(&parser, "byte order mark within the text", p);
        }
        p = skip_blanks(p);
        if (is_line_end(p)) {
            p += *p == '\r';
        } else if ((*p == '#' ? skip_comment(&parser, &p) : parse_row(&parser, &p)) < 0) {
            return -1;
        }
    }
    rows->n_values = parser.n_values;
    return 0;
}

void svmlight_free(struct svmlight *rows) {
    free(rows->row);
    free(rows->column);
    free(rows->value);
    free(rows->label);
    free(rows->seen);
    names_free(&rows->names);
    names_free(&rows->queries);
    *rows = (struct svmlight){0};
}
