/* Verifies what a model claims of its fit, from the training rows and a proof (doc/formats,
 * "Proofs"): everything is computed anew with plain loops in double-double, each number with a
 * bound of its error. This room shares no numerical code with what made the model, but for sums and
 * products of two doubles (common/double_double/dd.h), in which no trainer's bound is made: of the
 * project it uses the readers of files, and what these stand on. */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "common/base/error.h"
#include "common/base/output.h"

#include <stddef.h>

/* The exit codes of svm-check. */
enum { CHECK_VERIFIED = 0, CHECK_REFUTED = 1, CHECK_UNKNOWN = 3 };

/* paths: the training file, the model and the proof. Writes the bounds as intervals and the
 * verdict, a line each; *code gets the verdict. n_threads: 0 for one per processor. Fails where a
 * file cannot be read, or is none of what it should be. */
int check_files(const char *const paths[3], size_t n_threads, struct output *output, int *code,
                struct error *err);

#endif
