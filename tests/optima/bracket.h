/* The truth about a trial: two numbers between which its optimum lies. */
#ifndef TESTS_OPTIMA_BRACKET_H
#define TESTS_OPTIMA_BRACKET_H

#include "tests/optima/task.h"

struct bracket {
    real lower, upper;
    real priced;  /* what is left between them where they pay for the rounding of double */
    real nothing; /* at most: the primal of f = 0 */
    bool known;   /* false: the kernel matrix is indefinite */
};

/* Solves all of a trial's problems. False: there is nothing to fit. */
bool bracket_find(const struct trial *trial, struct bracket *bracket);

/* The primal of coefficients b (n, k) and a bias (k), from above, or with direction -1 from below.
 * w (features, k): weights, in place of b. */
real bracket_primal(const struct task *task, const real *b, const real *w, const real *bias,
                    int direction);

#endif
