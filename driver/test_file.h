/* A test file on its way through a model: block by block to scores, from these to the predictor's
 * lines and to measures. Memory grows with a block of rows, not with the file, except for what
 * measures and the family itself have to keep. */
#ifndef DRIVER_TEST_FILE_H
#define DRIVER_TEST_FILE_H

#include "common/base/error.h"
#include "common/base/output.h"
#include "common/base/threads.h"
#include "common/model/model.h"
#include "driver/by_query.h"
#include "driver/family.h"
#include "driver/options.h"

#include <stdbool.h>
#include <stddef.h>

struct test_file {
    const struct predictor *predictor;
    const struct options *options;
    const struct model *model;
    struct threads *threads;
    const char *path;
    struct output *output;         /* of predictions; NULL: not wanted */
    struct output *const *extra;   /* of the predictor's extra options; NULL: not wanted */
    const struct measure *measure; /* (n_measures) of predictor->measures; NULL: not wanted */
    size_t n_measures;
    struct by_query *queries; /* takes the rows too; NULL: not wanted */
};

/* What was seen of a test file. */
struct test_rows {
    struct measured_rows measured; /* zero where the model has no labels */
    size_t n;                      /* rows */
    bool flat;                     /* they are several, and all have the same scores */
};

/* Predicts all rows. value (n_measures) gets the measures if they are wanted, NaN where there is
 * nothing to measure: all are, if no row has a label that the model knows. */
int test_file_predict(const struct test_file *test, double *value, struct test_rows *rows,
                      struct error *err);

#endif
