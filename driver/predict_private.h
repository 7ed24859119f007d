/* The state of a run of the predictor, shared by the run on one test file and by --batch. */
#ifndef DRIVER_PREDICT_PRIVATE_H
#define DRIVER_PREDICT_PRIVATE_H

#include "common/base/threads.h"
#include "driver/family.h"
#include "driver/json.h"
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
    double *value; /* (n_measures) of the last file; NaN: undefined */
    const struct output_hold *hold;
    struct output *standard;                /* standard output */
    struct output *file;                    /* predictions; NULL, as those below: not wanted */
    struct output *extra[PREDICTOR_EXTRAS]; /* files of the predictor's own options */
    struct output *queries;                 /* table of --by-query */
    struct json json;                       /* --json; output NULL: not wanted */
};

/* Predicts one file into output (NULL: measures only), and writes its rows of --by-query to
 * `queries` (NULL: not wanted). *rows gets statistics of the file; warnings are printed. */
int predict_file(const struct prediction *prediction, const char *path, struct output *output,
                 struct output *queries, struct test_rows *rows, struct error *err);

/* Prints the defined measures of a file; an accuracy in the format of LIBSVM's svm-predict with its
 * counts, and for a count in parentheses what is counted. */
void predict_print_measures(const struct prediction *prediction, const struct test_rows *rows);

/* Writes the JSON object of a test file. rows: NULL after an error. */
void predict_write_json(struct prediction *prediction, const char *path,
                        const struct test_rows *rows, const struct error *err);

/* ---- --batch, batch.c ---- */

/* The index of the model among the operands: the first, unless only the last begins like a model.
 * The others are test files. */
size_t batch_model(const struct options *options);

/* Refuses test files whose predictions would have the same path. */
int batch_check(const struct options *options, struct error *err);

/* Refuses a run in which neither the first operand, a regular file, nor the last is a model. */
int batch_check_model(const struct options *options, struct error *err);

/* Lists the files that are written for each test file. */
int batch_list_files(const struct options *options, struct run_files *files, struct error *err);

/* Predicts all test files. With --keep-going, failures are printed as they occur, and the error is
 * returned at the end: *whole is then true, and the tables are complete except for the failed
 * files. */
int batch_run(struct prediction *prediction, bool *whole, struct error *err);

#endif
