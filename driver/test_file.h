/* A test file, or rows in memory, on their way through a model: block by block to scores, from
 * these to the predictor's lines and to measures. Memory grows with a block of rows, not with the
 * file, except for what measures and the family itself have to keep. */
#ifndef DRIVER_TEST_FILE_H
#define DRIVER_TEST_FILE_H

#include "common/base/threads.h"
#include "driver/by_query.h"
#include "driver/family.h"

#include <stdint.h>

struct test_file {
    const struct predictor *predictor;
    const struct options *options;
    const struct model *model;
    struct threads *threads;
    const char *path;        /* of the file; or what errors call the rows */
    const struct data *rows; /* in place of the file, left as they are; NULL: the file is read */
    bool sparse; /* of rows in memory: they are scored as those of a file that leaves out zeros */
    struct output *output; /* of predictions; NULL: not wanted */
    struct output *const
        *extra; /* (PREDICTOR_EXTRAS) of the predictor's extra options, each NULL if it
                                      is not wanted; NULL: none is */
    const struct measure *measure; /* (n_measures) of predictor->measures; NULL: not wanted */
    size_t n_measures;
    struct by_query *queries; /* takes the rows too; NULL: not wanted */
    /* Takes the n rows from number `first` on with their scores (n, model_n_scores) row-major;
     * `lines` is the state of the predictor. NULL: not wanted. */
    int (*take)(void *context, void *lines, size_t first, size_t n, const double *scores,
                struct error *err);
    void *context;
};

/* What was seen of a test file. */
struct test_rows {
    struct measured_rows measured;       /* zero where the model has no labels */
    size_t n;                            /* rows */
    bool flat;                           /* they are several, and all have the same scores */
    uint64_t n_values, n_unknown_values; /* of a file: see model_count_unseen */
};

/* Predicts all rows. value (n_measures) gets the measures if they are wanted, NaN where there is
 * nothing to measure: all are, if no row has a label that the model knows. */
int test_file_predict(const struct test_file *test, double *value, struct test_rows *rows,
                      struct error *err);

#endif
