/* Reference bounds of a trial: a lower and an upper bound of its optimum. */
#ifndef TESTS_OPTIMA_BRACKET_H
#define TESTS_OPTIMA_BRACKET_H

#include "tests/optima/run.h"
#include "tests/optima/task.h"

struct bracket {
    num lower, upper;
    num priced;  /* their distance with the rounding-error bounds of double included */
    num nothing; /* upper bound of the primal of f = 0 */
    bool known;  /* false: the kernel matrix is indefinite */
};

/* Solves all problems of a trial. False if there is nothing to fit. */
bool bracket_find(const struct trial *trial, struct bracket *bracket);

/* Whether a model was read and consists of rows or pairs of the trial. */
bool bracket_has_model(const struct trial *trial, const struct answer *answer);

/* The primal of such a model, rounded up, or down with direction -1. */
num bracket_of_model(const struct trial *trial, const struct answer *answer, int direction);

/* A lower bound: D of the point a (m) after it is made feasible; 0 if it cannot be. */
num bracket_of_point(const struct task *task, const num *a);

#endif
