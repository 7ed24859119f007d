/* The truth about a trial: two numbers between which its optimum lies. */
#ifndef TESTS_OPTIMA_BRACKET_H
#define TESTS_OPTIMA_BRACKET_H

#include "tests/optima/run.h"
#include "tests/optima/task.h"

struct bracket {
    num lower, upper;
    num priced;  /* what is left between them where they pay for the rounding of double */
    num nothing; /* at most: the primal of f = 0 */
    bool known;  /* false: the kernel matrix is indefinite */
};

/* Solves all of a trial's problems. False: there is nothing to fit. */
bool bracket_find(const struct trial *trial, struct bracket *bracket);

/* Whether a model was read, and is made of the trial's own rows or pairs. */
bool bracket_has_model(const struct trial *trial, const struct answer *answer);

/* The primal of such a model, from above, or with direction -1 from below. */
num bracket_of_model(const struct trial *trial, const struct answer *answer, int direction);

/* A lower bound: D of the point a (m), which is made feasible; 0 where it cannot be. */
num bracket_of_point(const struct task *task, const num *a);

#endif
