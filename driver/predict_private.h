/* What a run of the predictor has, for the two ways in which it goes: one test file or --batch. */
#ifndef DRIVER_PREDICT_PRIVATE_H
#define DRIVER_PREDICT_PRIVATE_H

#include "common/base/threads.h"
#include "driver/family.h"
#include "driver/output_sink.h"
#include "driver/run_files.h"
#include "driver/test_file.h"

struct prediction {
    const struct predictor *predictor;
    const struct options *options;
    const char *program;
    const struct output_sink *sink;
    struct model model;
    struct threads *threads;
    struct measure *measure; /* (n_measures) */
    size_t n_measures;
    double *value; /* (n_measures) of the last file; NaN: nothing to measure */
    const struct output_hold *hold;
    struct output *standard;                /* standard output */
    struct output *file;                    /* of predictions; NULL, as the following: not wanted */
    struct output *extra[PREDICTOR_EXTRAS]; /* of the predictor's options */
    struct output *queries;                 /* of --by-query */
};

/* Predicts one file into output (NULL: measures only). With `queries` (NULL: not wanted) writes the
 * rows of --by-query for it. *rows tells what was seen; warnings are said. */
int predict_file(const struct prediction *prediction, const char *path, struct output *output,
                 struct output *queries, struct test_rows *rows, struct error *err);

/* Says the measures of a file, those that there are; an accuracy of rows as LIBSVM's svm-predict
 * says it, with its counts, and what is counted in parentheses. */
void predict_say_measures(const struct prediction *prediction, const struct test_rows *rows);

/* Puts outputs in place, or after an error (status -1, which it returns) drops them; NULL in their
 * place. */
int predict_end_files(struct output **output, size_t n, int status, const struct output_hold *hold,
                      struct error *err);

/* ---- --batch, batch.c ---- */

/* Which of the operands is the model: the first, or where the last looks like one and the first
 * does not, the last. The others are test files, see batch_tests. */
size_t batch_model(const struct options *options);

/* Refuses test files that would be predicted to one file. */
int batch_check(const struct options *options, struct error *err);

/* Refuses a run where neither the first operand, a file, nor the last is a model. */
int batch_check_model(const struct options *options, struct error *err);

/* Adds what is written for each test file. */
int batch_list_files(const struct options *options, struct run_files *files, struct error *err);

/* Predicts all test files. With --keep-going files that fail are told of, and the error comes at
 * the end: *whole is then true, the tables are complete but for them. */
int batch_run(struct prediction *prediction, bool *whole, struct error *err);

#endif
