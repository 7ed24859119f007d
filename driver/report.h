/* The results that a trainer prints: of a fit, of cross-validation at a single point, and of the
 * best point of a sweep (sweep.h writes its table). */
#ifndef DRIVER_REPORT_H
#define DRIVER_REPORT_H

#include "common/base/output.h"
#include "driver/options.h"
#include "driver/plain_fit.h"
#include "driver/sweep.h"
#include "driver/training_data.h"

#include <stdint.h>

/* Writes a line `name = value`. */
void report_number(struct output *output, const char *name, double value);

/* Writes lines `name = value` about a fit: the family's own, solver, iterations, bounds, support
 * vectors. */
void report_fit(const struct plain_fit *fit, struct output *output);

/* Writes the seconds of the steps and, on a cluster, the communication during the solve. */
void report_seconds(const struct plain_fit *fit, double read_seconds, struct output *output);

/* Writes the measures of cross-validation at a single point in LIBSVM's format: `Cross Validation
 * Accuracy = 82.963%`, with the measure's name in parentheses if it is not `accuracy`. */
void report_measures(const struct sweep *sweep, const struct options *options,
                     struct output *output);

/* Writes a line about the best point of a sweep, and notes: for each of its values that is the
 * smallest or the largest of three or more, and if no point is better than equal scores of all
 * rows. */
int report_best(const struct sweep *sweep, const struct training_data *training,
                struct output *output, struct error *err);

/* ---- notes: properties of a fit that the user may not expect ---- */

/* Writes notes on the fit and on its rows as they were read: w = 0 is optimal; no row has a
 * feature; all rows have the same score; the scales of the features differ widely, or are so large
 * that rounding ended the fit. */
void report_notes(const struct plain_fit *fit, const struct data *data, struct output *output);

/* ---- --proof: the dual point with which svm-check verifies a model's bounds ---- */

/* Refuses options that leave nothing to prove. */
int report_check_proof(const struct family *family, const struct options *options,
                       struct error *err);

/* Writes the proof of a certified fit to training rows with this fingerprint, for the model with
 * this checksum. Does not commit. */
int report_proof(const struct plain_fit *fit, uint32_t fingerprint, uint32_t checksum,
                 struct output *output, struct error *err);

#endif
