/* Prediction of a test file or of rows in memory, block by block: scores, then the predictor's
 * output lines and the measures. Memory grows with the block, not with the file, except for what
 * the measures and the family store. */
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
    const char *path;        /* of the file, or the name of the rows in error messages */
    const struct data *rows; /* in place of the file, not modified; NULL: the file is read */
    bool sparse;             /* for rows in memory: scored as the rows of a file that omits zeros */
    struct output *output;   /* of predictions; NULL: not wanted */
    struct output *const
        /* (PREDICTOR_EXTRAS) outputs of the predictor's extra options, each NULL if not wanted;
         * NULL: none is */
        *extra;
    const struct measure *measure; /* (n_measures) of predictor->measures; NULL: not wanted */
    size_t n_measures;
    struct by_query *queries; /* also receives the rows; NULL: not wanted */
    /* Receives the n rows from number `first` on with their scores (n, model_n_scores) row-major;
     * `lines` is the state of the predictor. NULL: not wanted. */
    int (*take)(void *context, void *lines, size_t first, size_t n, const double *scores,
                struct error *err);
    void *context;
};

/* Statistics of a test file. */
struct test_rows {
    struct measured_rows measured;       /* zero where the model has no labels */
    size_t n;                            /* number of rows */
    bool constant_scores;                /* there are several rows, and all have the same scores */
    uint64_t n_values, n_unknown_values; /* of a file: see model_count_unseen */
    char warning[256];                   /* of the predictor; "": none */
};

/* Predicts all rows. value (n_measures) gets the measures if they are wanted; NaN if undefined, and
 * all NaN if the model knows no label of the rows. */
int test_file_predict(const struct test_file *test, double *value, struct test_rows *rows,
                      struct error *err);

#endif
