/* Rows of a test file, stored until the end of the file: only then are their queries known to be
 * complete. Stores queries, scores and names. */
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
    size_t number;                  /* in the file, from 0 */
    double score, label;            /* label: NaN for a row without */
    size_t comment, comment_length; /* comment of the row: offset and length in text */
};

struct buffered_rows {
    struct buffered_row *row; /* (n) */
    size_t n;
    char *text; /* (n_text) comments */
    size_t n_text;
    bool has_queries;     /* a row has a qid */
    struct names queries; /* qids that are names, numbered as in the data */
};

/* Adds the rows of a block with their scores (n_rows; NULL: 0), and their comments if it has them.
 * -1 if memory is short. */
int buffered_rows_add(struct buffered_rows *rows, const struct data *block, const double *scores,
                      struct error *err);
void buffered_rows_free(struct buffered_rows *rows);

/* Sorts the rows by query and calls visit for each query with its rows in the order of the file.
 * Queries are in the order of their first rows. -1 if memory is short or visit returns -1. */
int buffered_rows_visit(struct buffered_rows *rows,
                        int (*visit)(void *context, struct buffered_row *row, size_t n,
                                     struct error *err),
                        void *context, struct error *err);

#endif
