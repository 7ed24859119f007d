/* The predictor of every family: its options and its run. */
#ifndef DRIVER_PREDICT_H
#define DRIVER_PREDICT_H

#include "driver/family.h"
#include "driver/output_sink.h"
#include "driver/test_file.h"

/* Fills *options with the predictor's own options, those of its measures, and the common ones. */
int predict_options(struct options *options, const struct predictor *predictor, struct error *err);

/* Runs the predictor by the options of a command line: it predicts and measures one test file or,
 * with --batch, several. `program` is its name in messages; hold may be NULL, see output.h. */
int predict_run(const struct predictor *predictor, const struct options *options,
                const char *program, const struct output_sink *sink, const struct output_hold *hold,
                struct error *err);

/* Prints warnings of labels and features that the model does not know, and of rows that it does not
 * tell apart. `program` and path are the names in the messages. */
void predict_warn(const struct output_sink *sink, const char *program, const struct model *model,
                  const char *path, const struct test_rows *rows);

#endif
