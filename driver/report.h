/* What a trainer writes as its results: of a fit, of cross-validation at one point, and of the best
 * point of a sweep (whose table is sweep.h's). */
#ifndef DRIVER_REPORT_H
#define DRIVER_REPORT_H

#include "common/base/output.h"
#include "driver/options.h"
#include "driver/plain_fit.h"
#include "driver/sweep.h"

#include <stdint.h>

/* A line `name = value`. */
void report_number(struct output *output, const char *name, double value);

/* Lines `name = value` of a fit: the family's, solver, iterations, bounds, support vectors. */
void report_fit(const struct plain_fit *fit, struct output *output);

/* The seconds of its parts; over ranks, what they have told each other while they solved. */
void report_seconds(const struct plain_fit *fit, double read_seconds, struct output *output);

/* The measures of cross-validation at one point that is no sweep, in LIBSVM's words: `Cross
 * Validation Accuracy = 82.963%`. */
void report_measures(const struct sweep *sweep, const struct options *options,
                     struct output *output);

/* A line with the best point of a sweep. n_features: of the training file. */
void report_best(const struct sweep *sweep, uint32_t n_features, struct output *output);

/* ---- notes: what a user would want to be told of a fit and may not think of asking ---- */

/* Writes the notes that the fit and the rows it was made from, as they were read, give reason for:
 * that w = 0 is optimal, or else that no row has a feature, or that all rows have one score; that
 * the features' scales are far apart, or that they are large, and rounding ended the fit. */
void report_notes(const struct plain_fit *fit, const struct data *data, struct output *output);

/* ---- --proof: what lets svm-check verify the bounds that a model claims ---- */

/* Refuses the options that leave nothing to prove; `fitting`: a model is wanted. */
int report_check_proof(const struct family *family, const struct options *options, bool fitting,
                       struct error *err);

/* Writes the proof of a certified fit: of training rows with that fingerprint, and of the model
 * with that checksum. Does not commit. */
int report_proof(const struct plain_fit *fit, uint32_t fingerprint, uint32_t checksum,
                 struct output *output, struct error *err);

#endif
