/* Which rows are held out together. */
#ifndef DRIVER_FOLDS_H
#define DRIVER_FOLDS_H

#include "common/base/error.h"
#include "common/data/data.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct folds {
    size_t n; /* folds */
    size_t n_rows;
    uint32_t *fold; /* (n_rows) the fold that holds the row out; FOLDS_NEVER: none does; owned */
};

#define FOLDS_NEVER UINT32_MAX

/* Deals out whole queries, at random by the seed, so that folds have equally many of them, or one
 * more. Fewer queries than folds are an error. */
int folds_by_query(struct folds *folds, const struct data *data, size_t n, uint64_t seed,
                   struct error *err);

/* Deals out rows, at random by the seed: label by label where a row has one label name, so that
 * each fold has its share of each. Fewer rows than folds are an error. */
int folds_by_row(struct folds *folds, const struct data *data, size_t n, uint64_t seed,
                 struct error *err);

/* Deals out rows as folds_by_query does queries: those that are equal in all features go together.
 * Fewer different rows than folds are an error. */
int folds_by_distinct_row(struct folds *folds, const struct data *data, size_t n, uint64_t seed,
                          struct error *err);

/* Number of distinct queries: 1 if the rows have none. 0 with err set when memory is short. */
size_t folds_count_queries(const struct data *data, struct error *err);

/* Reads the key of each row from a text file (source.h), a word a line: rows with the same word are
 * held out together. n = 0: each word is a fold, in ascending order where all are whole numbers,
 * else in the order of their first rows; else the words are dealt to n folds, at random by the
 * seed. */
int folds_read(struct folds *folds, const char *path, size_t n_rows, size_t n, uint64_t seed,
               struct error *err);

/* Appends the rows of `held` to data (labels of the same kind), and makes them the one fold. Both
 * become sparse. */
int folds_join(struct folds *folds, struct data *data, struct data *held, struct error *err);

/* A copy of the folds, which the caller frees with folds_free; fails for lack of memory. */
int folds_copy(const struct folds *folds, struct folds *copy, struct error *err);

/* Writes the row numbers that fold `fold` holds out, or those it trains on; returns how many. */
size_t folds_rows(const struct folds *folds, size_t fold, bool held_out, uint32_t *rows);

/* Releases what the folds own and makes them empty. */
void folds_free(struct folds *folds);

#endif
