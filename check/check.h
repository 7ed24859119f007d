/* Verifies the bounds that a model claims, from the training rows and a proof (doc/formats,
 * "Proofs"): everything is computed again by plain loops in double-double, each number with an
 * error bound. This module shares no numerical code with the trainers, except sums and products of
 * two doubles (common/double_double/dd.h), in which no trainer computes its bounds; otherwise it
 * uses only the readers of files. */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "common/base/error.h"
#include "common/base/output.h"

#include <stddef.h>

/* The exit codes of svm-check. */
enum { CHECK_VERIFIED = 0, CHECK_REFUTED = 1, CHECK_UNKNOWN = 3 };

/* paths: the training file, the model and the proof. Writes the bounds as intervals, and the
 * verdict, one line each; *code gets the verdict. n_threads: 0 for one per processor. Fails if a
 * file cannot be read or is invalid. */
int check_files(const char *const paths[3], size_t n_threads, struct output *output, int *code,
                struct error *err);

#endif
