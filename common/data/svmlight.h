/* Parses rows of svmlight text, from whole lines in memory.
 *
 *   row     = [labels] ["qid:" word] {index ":" value} ["#" comment]
 *   labels  = number | token | token {"," token}
 *
 * Items are separated by blanks and tabs; a line may end in CR LF; blank lines and lines with only
 * a comment are not rows. A value is the float nearest to the double nearest to the decimal. */
#ifndef COMMON_DATA_SVMLIGHT_H
#define COMMON_DATA_SVMLIGHT_H

#include "common/base/error.h"
#include "common/data/input.h"
#include "common/data/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct svmlight_row {
    uint64_t end;        /* number of values up to the end of this row */
    uint64_t labels_end; /* the same for labels */
    double target;
    uint64_t query, serial; /* query: of a word, its number in `queries` below */
    bool names_query;
    const char *remark, *remark_end; /* in the parsed text, if comments are requested; NULL: none */
};

/* Errors for which svmlight_describe names a remedy. */
enum svmlight_hint { SVMLIGHT_NO_HINT, SVMLIGHT_ZERO_INDEX, SVMLIGHT_TOO_LARGE };

/* A parse error and its position. */
struct svmlight_fault {
    const char *what; /* static, or `text`; NULL: out of memory, see memory */
    char text[96];
    const char *at;       /* what was found */
    const char *line;     /* beginning of its line */
    uint64_t line_number; /* from 1, in the parsed text */
    size_t n_values;      /* values of the rows before it, and of its own row so far */
    bool zero_based;      /* a comment before the first value has the word zero-based */
    bool has_serial;      /* its row begins with 0:serial */
    enum svmlight_hint hint;
    struct error memory;
};

/* The rows of a piece of text. Reused from piece to piece: memory is not released between. */
struct svmlight {
    struct svmlight_row *row;
    size_t n_rows, row_capacity;
    uint32_t *column; /* from 0; values written as zero are included */
    float *value;
    size_t n_values, value_capacity;
    size_t n_zeros;      /* number of zero values */
    uint32_t n_features; /* the largest index */
    bool uniform;        /* every row has columns 0..n_features-1, n_features > 0 */
    bool has_query;      /* a row has qid; where labels are numbers, all rows have one, or none */
    const char *first_line; /* of the first row, in the parsed text */
    uint64_t first_line_number;
    bool zero_based; /* a comment before the first value has the word zero-based */
    uint32_t *label; /* numbers of names */
    size_t n_labels, label_capacity;
    struct names names; /* of this piece, in order of arrival */
    uint64_t *seen;     /* (seen_capacity) for each name 1 + the last row that has it, 0: none */
    size_t seen_capacity;
    struct names queries; /* qids that are words, likewise */
    uint64_t n_lines;
};

/* Parses [text, end), which consists of whole lines and has eight readable bytes after it. On
 * failure (-1) *fault gets the error, and the rows are of no use. */
int svmlight_parse(struct svmlight *rows, const char *text, const char *end,
                   const struct input_format *format, struct svmlight_fault *fault);

/* What is wrong with a row that has a qid, or none, unlike the rows before. */
const char *svmlight_query_fault(bool has_query);

/* Formats a parse error as "NAME:LINE:COLUMN: what is wrong: what was found", with lines_before the
 * number of lines of the file before the parsed text; if the line looks like another format, the
 * tool that reads it follows in parentheses. Returns -1. */
int svmlight_describe(const struct svmlight_fault *fault, const char *name, uint64_t lines_before,
                      struct error *err);

/* Frees the rows. */
void svmlight_free(struct svmlight *rows);

#endif
