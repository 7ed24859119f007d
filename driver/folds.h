/* The folds of cross-validation: which rows are held out together. */
#ifndef DRIVER_FOLDS_H
#define DRIVER_FOLDS_H

#include "common/base/error.h"
#include "common/data/data.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct folds {
    size_t n; /* number of folds */
    size_t n_rows;
    uint32_t *fold; /* (n_rows) the fold that holds the row out; FOLDS_NEVER: none; owned */
};

#define FOLDS_NEVER UINT32_MAX

/* Assigns whole queries to folds at random; the numbers of queries per fold differ by at most one.
 * Fails if there are fewer queries than folds. */
int folds_by_query(struct folds *folds, const struct data *data, size_t n, uint64_t seed,
                   struct error *err);

/* Assigns rows to folds at random; if rows have one label name each, stratified by label. Fails if
 * there are fewer rows than folds. */
int folds_by_row(struct folds *folds, const struct data *data, size_t n, uint64_t seed,
                 struct error *err);

/* Assigns distinct rows to folds at random: rows with equal features are in the same fold. If rows
 * have one label name each, stratified by the label of the first of equal rows. With fewer distinct
 * rows than folds these are as by folds_by_row; without label names it fails. */
int folds_by_distinct_row(struct folds *folds, const struct data *data, size_t n, uint64_t seed,
                          struct error *err);

/* The number of distinct queries: 1 if the rows have none; 0 with err set if out of memory. */
size_t folds_count_queries(const struct data *data, struct error *err);

/* Reads a word for each row from a text file (source.h), one per line: rows with the same word are
 * held out together. n = 0: each word is a fold, in ascending order if all are whole numbers,
 * otherwise in order of first occurrence. n > 0: the words are assigned to n folds at random. */
int folds_read(struct folds *folds, const char *path, size_t n_rows, size_t n, uint64_t seed,
               struct error *err);

/* Appends the rows of `held` to data (labels of the same kind), and makes them the only fold. Both
 * become sparse. */
int folds_join(struct folds *folds, struct data *data, struct data *held, struct error *err);

/* Copies the folds; the caller frees the copy with folds_free. Fails if out of memory. */
int folds_copy(const struct folds *folds, struct folds *copy, struct error *err);

/* Writes the numbers of the rows that fold `fold` holds out, or of those it trains on; returns how
 * many. */
size_t folds_rows(const struct folds *folds, size_t fold, bool held_out, uint32_t *rows);

/* Releases what the folds own, and makes them empty. */
void folds_free(struct folds *folds);

#endif
