/* The dual point of a --proof (doc/formats.md, "Proofs") in the variables of a trial's problem. */
#ifndef TESTS_OPTIMA_WIDE_PROOF_H
#define TESTS_OPTIMA_WIDE_PROOF_H

#include "tests/optima/task.h"
#include "tests/optima/wide/number.h"

/* a (m) of the task's dual variables, of problem `number` of the trial; false where there is no
 * proof, or its numbers are not those variables: rank's are scores but for features of pairs, ml's
 * are sums. */
bool proof_point(const struct task *task, size_t number, const char *path, num *a);

#endif
