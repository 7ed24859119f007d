/* Rows of svmlight text, parsed from whole lines that are in memory.
 *
 *   row     = [labels] ["qid:" word] {index ":" value} ["#" comment]
 *   labels  = number | token | token {"," token}
 *
 * Parts are separated by blanks and tabs; a line may end in CR LF; blank lines and lines that have
 * a comment only are no rows. Values are the float nearest to the double nearest to the decimal. */
#ifndef COMMON_DATA_SVMLIGHT_H
#define COMMON_DATA_SVMLIGHT_H

#include "common/base/error.h"
#include "common/data/input.h"
#include "common/data/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct svmlight_row {
    uint64_t end;        /* values of this row and those before it */
    uint64_t labels_end; /* the same of labels */
    double target;
    uint64_t query, serial; /* query: of a name, its number here */
    bool has_query, names_query;
    const char *remark, *remark_end; /* in the text parsed, if comments are wanted; NULL: none */
};

/* What is wrong, where. */
struct svmlight_fault {
    const char *what; /* static, or text; NULL: memory ran out, see memory */
    char text[96];
    const char *at;       /* what was found */
    const char *line;     /* beginning of its line */
    uint64_t line_number; /* 1-based, in the text parsed */
    size_t n_values;      /* of the rows before it, and of its row so far */
    bool zero_based;      /* a comment before the first value has that word */
    struct error memory;
};

/* The rows of a stretch of text. Reused from stretch to stretch: nothing is given back between. */
struct svmlight {
    struct svmlight_row *row;
    size_t n_rows, row_capacity;
    uint32_t *column; /* 0-based; values that are written as zero are here too */
    float *value;
    size_t n_values, value_capacity;
    size_t n_zeros;      /* of the values */
    uint32_t n_features; /* the largest index */
    bool uniform;        /* every row has columns 0..n_features-1, n_features > 0 */
    bool has_query;      /* a row has qid */
    bool zero_based;     /* a comment before the first value has that word */
    uint32_t *label;     /* numbers of names */
    size_t n_labels, label_capacity;
    struct names names; /* of this stretch, in order of arrival */
    uint64_t *seen;     /* (seen_capacity) by name: 1 + the last row that has it, 0: none */
    size_t seen_capacity;
    struct names queries; /* qids that are names, likewise */
    uint64_t n_lines;
};

/* Parses [text, end), which is whole lines and has eight readable bytes behind it. On failure
 * (-1) *fault tells what and where; the rows before it are then of no use. */
int svmlight_parse(struct svmlight *rows, const char *text, const char *end,
                   const struct input_format *format, struct svmlight_fault *fault);

/* Turns a fault into "NAME:LINE:COLUMN: what is wrong: what was found", lines_before being the
 * number of lines of the file before the text that was parsed; where the line looks like one of
 * another format, what reads that follows in parentheses. Returns -1. */
int svmlight_describe(const struct svmlight_fault *fault, const char *name, uint64_t lines_before,
                      struct error *err);

/* Releases what the rows own. */
void svmlight_free(struct svmlight *rows);

#endif
