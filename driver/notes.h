/* What a user would want to be told of a fit and may not think of asking: lines `note = ...`. */
#ifndef DRIVER_NOTES_H
#define DRIVER_NOTES_H

#include "common/base/output.h"
#include "driver/plain_fit.h"

/* Writes the notes that the fit and the rows it was made from, as they were read, give reason for:
 * that w = 0 is optimal, or else that no row has a feature, or that all rows have one score; that
 * the features' scales are far apart, or that they are large, and rounding ended the fit. */
void notes_write(const struct plain_fit *fit, const struct data *data, struct output *output);

#endif
