/* What a trainer writes as its results: of a fit, of cross-validation at one point, and of the best
 * point of a sweep (whose table is sweep.h's). */
#ifndef DRIVER_REPORT_H
#define DRIVER_REPORT_H

#include "common/base/output.h"
#include "driver/options.h"
#include "driver/plain_fit.h"
#include "driver/sweep.h"

#include <stdint.h>

/* Lines `name = value` of a fit: the family's, iterations, bounds, support vectors. */
void report_fit(const struct plain_fit *fit, struct output *output);

/* The seconds of its parts; over ranks, what they have told each other while they solved. */
void report_seconds(const struct plain_fit *fit, double read_seconds, struct output *output);

/* The measures of cross-validation at one point that is no sweep, in LIBSVM's words: `Cross
 * Validation Accuracy = 82.963%`. */
void report_measures(const struct sweep *sweep, const struct options *options,
                     struct output *output);

/* A line with the best point of a sweep. n_features: of the training file. */
void report_best(const struct sweep *sweep, uint32_t n_features, struct output *output);

#endif
