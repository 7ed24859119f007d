/* Rows of features, held as CSR or dense, with what svmlight puts in front of them.
 *
 * Values are single precision: the problem that is solved and certified is that of the rounded
 * values, and predict rounds the same way. */
#ifndef COMMON_DATA_DATA_H
#define COMMON_DATA_DATA_H

#include "common/base/error.h"
#include "common/data/indices.h"
#include "common/data/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How labels are read. */
enum data_labels {
    DATA_NUMBER, /* a number: target[] */
    DATA_NAME,   /* one token: label[i], a number of `names` */
    DATA_SET /* comma-separated tokens, perhaps none: label[label_start[i] .. label_start[i+1]) */
};

enum { DATA_COMMENT = 64 };

/* A qid is a number below 2^63, which stands for itself (1, +1 and 1.0 are one), or any other word:
 * the number that it has among `queries`, and this, stand for it. */
#define DATA_QUERY_NAME (UINT64_C(1) << 63)
enum { DATA_QUERY_TEXT = 24 };

struct data {
    size_t n_rows;
    uint32_t n_features; /* columns: the largest index seen, or of compact rows indices.n */

    /* Compact rows: column c is that of index indices.at[c] (from 0). at NULL: of index c. */
    struct indices indices;
    uint32_t largest; /* compact rows: the largest index seen */

    uint64_t *row_start; /* (n_rows + 1); NULL: dense */
    uint32_t *column;    /* CSR: 0-based, increasing within a row; NULL: dense */
    float *value;        /* CSR: one per column; dense: (n_rows, n_features) row-major */

    enum data_labels labels;
    double *target;        /* DATA_NUMBER: (n_rows), NaN where a row has no label; else NULL */
    uint32_t *label;       /* DATA_NAME, DATA_SET; UINT32_MAX where a DATA_NAME row has none */
    uint64_t *label_start; /* DATA_SET: (n_rows + 1); else NULL */
    struct names names;    /* DATA_NAME, DATA_SET: the tokens as written */

    double *weight;       /* (n_rows) given beside the file; NULL: all 1 */
    uint64_t *query;      /* (n_rows) qid, 0 for a row without; NULL if no row has one */
    struct names queries; /* those that are names */
    uint64_t *serial;     /* (n_rows) value of index 0, precomputed kernels only; else NULL */

    /* The file's first line if it is a comment, cut if it is long; else empty. */
    char comment[DATA_COMMENT];

    /* Whose the arrays are: the features are indices, row_start, column and value; all others
     * belong to the rows. What is lent is never written to, see data_own. */
    bool lent_features, lent_rows;

    /* Comments of the rows, without # and blanks around, if they were asked for: that of row i is
     * remark[remark_start[i] .. remark_start[i+1]). NULL: they were not. */
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

/* The largest index seen, and the index of a column, both as if the rows were not compact; the
 * latter counts from 0. */
static inline uint32_t data_largest(const struct data *data) {
    return data->indices.at ? data->largest : data->n_features;
}
static inline uint32_t data_index(const struct data *data, size_t column) {
    return data->indices.at ? data->indices.at[column] : (uint32_t)column;
}

/* Makes sparse rows compact if few of the indices up to the largest occur (indices_few): then what
 * has a number for each column takes no more than the columns that occur want. data_expand goes
 * back, by way of sparse rows. Neither changes the order of what is stored in a row. */
int data_compact(struct data *data, struct error *err);
int data_expand(struct data *data, struct error *err);

/* Gives rows that are not compact the columns of a list, which is copied: what is stored in others
 * is dropped. Sparse rows stay sparse, dense ones dense. */
int data_select(struct data *data, const struct indices *indices, struct error *err);

/* True if dense rows take less memory than CSR: more than half of all values are stored. */
bool data_fills(size_t n_rows, uint32_t n_features, size_t n_values);

/* Rewrites CSR as dense when that takes less memory (data_fills), in
 * place: no second copy of the values is made. n_features becomes max(n_features, width).
 * `force` makes it dense whatever it takes. Compact rows are not given a width. */
int data_make_dense(struct data *data, uint32_t width, bool force, struct error *err);

/* Leaves out the values of sparse rows in columns from `width` on, in place, as data_make_dense
 * does where it makes rows dense. Of rows whose features are its own (data_own), and which are not
 * compact: columns are indices. Dense rows stay as they are. */
void data_narrow(struct data *data, uint32_t width);

/* Rewrites dense rows as CSR, without their zeros. */
int data_make_sparse(struct data *data, struct error *err);

/* Keeps the first n_rows rows and n_features columns, beyond which these rows must have no
 * value. */
void data_cut(struct data *data, size_t n_rows, uint32_t n_features);

/* Copies rows[0..n) of `data` (any order, no repeats; NULL: its first n) into *subset, which the
 * caller frees. n_features, indices and names are those of `data`. */
int data_subset(const struct data *data, const uint32_t *rows, size_t n, struct data *subset,
                struct error *err);

/* Rows first .. first + n of data, all of it lent: data must stay, and the part is freed only where
 * it was given features of its own. */
struct data data_part(const struct data *data, size_t first, size_t n);

/* Gives data whose features are lent a copy of these, and with `rows` a copy of what belongs to the
 * rows, too, if that is lent, but for remarks, which go. What changes data in place does that
 * first. */
int data_own(struct data *data, bool rows, struct error *err);

/* The text of a qid: a name of `queries`, or the number, which `text` is room for. */
const char *data_query_text(const struct names *queries, uint64_t query,
                            char text[DATA_QUERY_TEXT]);

/* The number that a qid of `length` bytes is; false if it is a name. */
bool data_query_number(const char *text, size_t length, uint64_t *number);

/* What stands for the qid of that text; false if it is a name that is not among `queries`. */
bool data_find_query(const struct names *queries, const char *text, size_t length, uint64_t *query);

/* Writes row `row` as doubles into dense[0..width): zeros where nothing is stored; columns at or
 * beyond width are left out. */
void data_row_dense(const struct data *data, size_t row, size_t width, double *dense);

/* Releases what data owns and makes it empty. */
void data_free(struct data *data);

#endif
