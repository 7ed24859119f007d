/* Names of rows, from their comments, in predictions: --names. */
#ifndef FAMILIES_SHARED_ROW_NAMES_H
#define FAMILIES_SHARED_ROW_NAMES_H

#include "common/base/output.h"
#include "common/data/data.h"
#include "common/data/labels.h"
#include "driver/options.h"

#include <stdbool.h>
#include <stddef.h>

/* The name in a comment: X if it begins with `docid = X`, as in LETOR's files, else the comment, or
 * its first word if first_word. Points into comment. */
struct row_name {
    const char *text;
    size_t length;
};
struct row_name row_name_in(const char *comment, size_t length, bool first_word);

/* Writes a name with tabs replaced by blanks; if it is empty, the row's number from 1. */
void row_name_write(struct row_name name, size_t number, struct output *output);

/* The row of --names of predictors that write a line for each row. */
#define OPTION_NAMES                                                                               \
    OPTION(FLAG, 0, "names", NULL,                                                                 \
           "separate fields by tabs, and write the name of each row last. A row's name is its "    \
           "comment, or X if that begins with `docid = X`, or its number if it has no comment",    \
           SINGLE)

/* The row of --header. */
#define OPTION_HEADER                                                                              \
    OPTION(FLAG, 0, "header", NULL, "begin with a line of the names of the columns", SINGLE)

/* The row of --header of predictors that write scores of labels if asked. */
#define OPTION_LABELS_HEADER                                                                       \
    OPTION(FLAG, 0, "header", NULL,                                                                \
           "with --scores: write a first line `labels` with the labels in the order of the "       \
           "scores",                                                                               \
           SINGLE)

/* How lines of predictions begin, are separated and end. */
struct row_names {
    bool wanted;           /* --names was given */
    bool header;           /* a header is to be written before the first line */
    const char *separator; /* between fields: a tab with names, else a blank */
    size_t n;              /* number of rows of the file that are written */
};

/* `wants_comments` of struct predictor, for --names. */
bool row_names_wanted(const struct options *options);

/* The lines of a file, before its first row, by --names and --header. Owns nothing. */
struct row_names row_names_open(const struct options *options);

/* Refuses --header without scores; there: without --scores the lines have such a header anyway. */
int row_names_check_header(const struct options *options, bool there, struct error *err);

/* Before the first row, if a header is to be written: writes the line `labels` with the labels in
 * the order of their scores, or with labels NULL the line `label score`; with names a last field
 * `name`. */
void row_names_header(struct row_names *names, const struct labels *labels, struct output *output);

/* Ends the line of row i of the block: with names a tab and the name, then the line end. Rows are
 * written in their order. */
void row_names_end_line(struct row_names *names, const struct data *rows, size_t i,
                        struct output *output);

#endif
