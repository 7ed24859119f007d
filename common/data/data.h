/* Rows of features, in CSR or dense form, with the labels, qids and weights of the rows.
 *
 * Values are single precision: the problem that is solved and certified is that of the rounded
 * values, and prediction rounds in the same way. */
#ifndef COMMON_DATA_DATA_H
#define COMMON_DATA_DATA_H

#include "common/base/error.h"
#include "common/data/indices.h"
#include "common/data/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How labels are parsed. */
enum data_labels {
    DATA_NUMBER, /* a number: target[] */
    DATA_NAME,   /* one token: label[i], a number of `names` */
    DATA_SET /* comma-separated tokens, perhaps none: label[label_start[i] .. label_start[i+1]) */
};

enum { DATA_COMMENT = 64 };

/* A qid is a number below 2^63, which is stored as such (1, +1 and 1.0 are equal), or any other
 * word, which is stored as DATA_QUERY_NAME plus its number in `queries`. */
#define DATA_QUERY_NAME (UINT64_C(1) << 63)
enum { DATA_QUERY_TEXT = 24 };

struct data {
    size_t n_rows;
    uint64_t rows_before; /* rows of the file before these, for messages; 0 if not known */
    uint32_t n_features;  /* columns: the largest index seen; compact rows: indices.n */

    /* Compact rows: column c has index indices.at[c], counted from 0. at NULL: column c has index
     * c. */
    struct indices indices;
    uint32_t largest; /* compact rows: the largest index seen */

    uint64_t *row_start; /* (n_rows + 1); NULL: dense */
    uint32_t *column;    /* CSR: 0-based, ascending within a row; NULL: dense */
    float *value;        /* CSR: one per column; dense: (n_rows, n_features) row-major */

    enum data_labels labels;
    double *target;        /* DATA_NUMBER: (n_rows), NaN where a row has no label; else NULL */
    uint32_t *label;       /* DATA_NAME, DATA_SET; UINT32_MAX where a DATA_NAME row has none */
    uint64_t *label_start; /* DATA_SET: (n_rows + 1); else NULL */
    struct names names;    /* DATA_NAME, DATA_SET: the tokens as written */

    double *weight;       /* (n_rows) from a file of weights; NULL: all are 1 */
    uint64_t *query;      /* (n_rows) qid, 0 for a row without one; NULL if no row has one */
    struct names queries; /* the qids that are words */
    uint64_t *serial;     /* (n_rows) value of index 0, precomputed kernels only; else NULL */

    /* The first line of the file if it is a comment, truncated if it is long; else empty. */
    char comment[DATA_COMMENT];

    /* Arrays that are borrowed, not owned: the features (indices, row_start, column and value), and
     * all others, which belong to the rows. Borrowed arrays are never written to, see data_own. */
    bool borrowed_features, borrowed_rows;

    /* Comments of the rows, without # and surrounding blanks, if they were requested: that of row i
     * is remark[remark_start[i] .. remark_start[i+1]). NULL: they were not requested. */
    char *remark;
    uint64_t *remark_start; /* (n_rows + 1) */
};

/* Number of stored values (dense: n_rows * n_features). */
size_t data_values(const struct data *data);

/* The stored values of a row, and their columns in ascending order; column NULL: 0..n-1. */
struct stored_row {
    const float *value;
    const uint32_t *column;
    size_t n;
};

static inline struct stored_row data_stored(const struct data *data, size_t row) {
    size_t first = data->row_start ? (size_t)data->row_start[row] : row * data->n_features;
    size_t n = data->row_start ? (size_t)data->row_start[row + 1] - first : data->n_features;
    return (struct stored_row){data->value + first, data->column ? data->column + first : NULL, n};
}
static inline uint32_t stored_column(struct stored_row row, size_t k) {
    return row.column ? row.column[k] : (uint32_t)k;
}

/* The largest number of values that a row stores. */
size_t data_longest_row(const struct data *data);

/* The largest index seen, and the index of a column, which counts from 0; both hold for compact
 * rows too. */
static inline uint32_t data_largest(const struct data *data) {
    return data->indices.at ? data->largest : data->n_features;
}
static inline uint32_t data_index(const struct data *data, size_t column) {
    return data->indices.at ? data->indices.at[column] : (uint32_t)column;
}

/* Makes sparse rows compact if few of the indices up to the largest occur (indices_few), so that
 * arrays by column have an entry only for columns that occur. data_expand undoes it and leaves
 * sparse rows. Neither changes the order of the values of a row. */
int data_compact(struct data *data, struct error *err);
int data_expand(struct data *data, struct error *err);

/* Gives rows that are not compact the columns of a list, which is copied; values in other columns
 * are dropped. Sparse rows stay sparse, dense rows dense. */
int data_select(struct data *data, const struct indices *indices, struct error *err);

/* True if dense rows take less memory than CSR: more than half of all values are stored. */
bool data_fills(size_t n_rows, uint32_t n_features, size_t n_values);

/* Converts CSR to dense if that takes less memory (data_fills) or `force` is true, in place:
 * without a second copy of the values. n_features becomes max(n_features, width). Compact rows may
 * not be given a width. */
int data_make_dense(struct data *data, uint32_t width, bool force, struct error *err);

/* Drops the values of sparse rows in columns from `width` on, in place. Features must be owned
 * (data_own) and not compact. Dense rows do not change. */
void data_narrow(struct data *data, uint32_t width);

/* Converts dense rows to CSR without zeros. */
int data_make_sparse(struct data *data, struct error *err);

/* Truncates to the first n_rows rows and n_features columns; these rows must have no value in other
 * columns. */
void data_truncate(struct data *data, size_t n_rows, uint32_t n_features);

/* Copies rows[0..n) of `data` (any order, no repeats; NULL: its first n) into *subset, which the
 * caller frees. n_features, indices and names are those of `data`. */
int data_subset(const struct data *data, const uint32_t *rows, size_t n, struct data *subset,
                struct error *err);

/* Appends the rows of `more`, which may be a view, to those of *data (empty at first, owned).
 * Labels are of the same kind; serials and comments, both have or neither; rows without a query or
 * weight get query 0 and weight 1 if others have one. Names of labels and queries that *data does
 * not have are added in the order of the rows. Both become sparse unless both are dense and equally
 * wide. */
int data_append(struct data *data, struct data *more, struct error *err);

/* A view of rows first .. first + n of data: all arrays are borrowed. It is freed only if it was
 * given features of its own. */
struct data data_view(const struct data *data, size_t first, size_t n);

/* Replaces borrowed features by a copy and, with `rows`, also borrowed arrays of the rows, except
 * comments, which are dropped. Called before data is changed in place. */
int data_own(struct data *data, bool rows, struct error *err);

/* The text of a qid: a word of `queries`, or the number, written to `text`. */
const char *data_query_text(const struct names *queries, uint64_t query,
                            char text[DATA_QUERY_TEXT]);

/* Parses a qid of `length` bytes as a number; false if it is a word. */
bool data_query_number(const char *text, size_t length, uint64_t *number);

/* Finds the stored form of a qid; false if it is a word that is not in `queries`. */
bool data_find_query(const struct names *queries, const char *text, size_t length, uint64_t *query);

/* Writes row `row` in double to dense[0..width), with zeros where nothing is stored; columns from
 * width on are omitted. */
void data_row_dense(const struct data *data, size_t row, size_t width, double *dense);

/* The value of a row in a column, of any number; 0 if none is stored there. */
float data_value(const struct data *data, size_t row, uint64_t column);

/* Gives rows without labels the arrays of these labels, all of them missing: NaN, UINT32_MAX or an
 * empty set. */
int data_make_labels(struct data *data, enum data_labels labels, struct error *err);

/* Frees the arrays that data owns, and empties it. */
void data_free(struct data *data);

#endif
