/* The dual point of a --proof (doc/formats.md, "Proofs") in the variables of a trial's problem. */
#ifndef TESTS_OPTIMA_WIDE_PROOF_H
#define TESTS_OPTIMA_WIDE_PROOF_H

#include "tests/optima/number.h"
#include "tests/optima/trial.h"

/* A lower bound of the optimum: D of the proof's point after it is made feasible. 0 if there is no
 * proof, or its numbers are not the variables of the trial's problems: those of rank are scores
 * unless it has features of pairs, those of ml are sums. */
num proof_bound(const struct trial *trial, const char *path);

#endif
