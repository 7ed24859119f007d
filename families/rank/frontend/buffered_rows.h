/* Rows of a test file that are kept until their queries are known to be complete, which is at the
 * end of the file: their queries, scores and names. */
#ifndef FAMILIES_RANK_FRONTEND_BUFFERED_ROWS_H
#define FAMILIES_RANK_FRONTEND_BUFFERED_ROWS_H

#include "common/base/error.h"
#include "common/base/output.h"
#include "common/data/data.h"
#include "common/data/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffered_row {
    uint64_t query;
    size_t number; /* in the file, from 0 */
    double score;
    size_t remark, remark_length; /* its comment, in text */
};

struct buffered_rows {
    struct buffered_row *row; /* (n) */
    size_t n;
    char *text; /* (n_text) of comments */
    size_t n_text;
    bool has_queries;     /* a row has a qid */
    struct names queries; /* names among the qids, as in the data */
};

/* Adds the rows of a block with their scores (n_rows; NULL: 0), and their comments if it has
 * them. */
int buffered_rows_add(struct buffered_rows *rows, const struct data *block, const double *scores,
                      struct error *err);
void buffered_rows_free(struct buffered_rows *rows);

/* Sorts by query, and visits each with its rows, in the order of the file, by the first row of
 * each. */
int buffered_rows_visit(struct buffered_rows *rows,
                        int (*visit)(void *context, struct buffered_row *row, size_t n,
                                     struct error *err),
                        void *context, struct error *err);

/* ---- names of rows ---- */

/* The name in a comment: X where it begins with `docid = X`, as in LETOR's files, else all of it;
 * or the first word of that. */
struct row_name {
    const char *text;
    size_t length;
};
struct row_name row_name_in(const char *remark, size_t length, bool first_word);

/* Writes a name, tabs as blanks; the row's number, from 1, if it is empty. */
void row_name_write(struct row_name name, size_t number, struct output *output);

#endif
