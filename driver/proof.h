/* --proof: what lets svm-check verify the bounds that a model claims. */
#ifndef DRIVER_PROOF_H
#define DRIVER_PROOF_H

#include "common/base/error.h"
#include "common/base/output.h"
#include "driver/family.h"
#include "driver/plain_fit.h"

#include <stdbool.h>
#include <stdint.h>

/* Refuses the options that leave nothing to prove; `fitting`: a model is wanted. */
int proof_check(const struct family *family, const struct options *options, bool fitting,
                struct error *err);

/* Writes the proof of a certified fit: of training rows with that fingerprint, and of the model
 * with that checksum. Does not commit. */
int proof_write(const struct plain_fit *fit, uint32_t fingerprint, uint32_t checksum,
                struct output *output, struct error *err);

#endif
