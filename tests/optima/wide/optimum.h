/* Two numbers between which a trial's optimum lies, in 640 bits. */
#ifndef TESTS_OPTIMA_WIDE_OPTIMUM_H
#define TESTS_OPTIMA_WIDE_OPTIMUM_H

#include "tests/optima/run.h"
#include "tests/optima/wide/exact.h"

struct optimum {
    num lower, upper; /* lower: 0 where no dual point was found */
    num zero;         /* the primal of f = 0 */
    bool known;       /* false: the kernel matrix is indefinite, and there is no bound */
};

/* Solves all of a trial's problems. False: there is nothing to fit. */
bool optimum_find(const struct trial *trial, struct optimum *optimum);

/* Whether a model was read, and is made of the trial's own rows or pairs. */
bool optimum_has_model(const struct trial *trial, const struct answer *answer);

/* The primal of such a model, from above, or with direction -1 from below. */
num optimum_of_model(const struct trial *trial, const struct answer *answer, int direction);

/* A lower bound: D of a proof's dual point, made feasible. 0 where that is not known. */
num optimum_of_proof(const struct trial *trial, const char *path);

#endif
