/* The limited-memory BFGS approximation of an inverse Hessian (Nocedal, "Updating quasi-Newton
 * matrices with limited storage", Math. Comp. 35, 1980). */
#ifndef METHODS_LBFGS_H
#define METHODS_LBFGS_H

#include <stddef.h>

enum { LBFGS_MAX_PAIRS = 20 };

/* The last pairs of a step and its change of the gradient. The caller owns the arrays, and begins
 * with n = 0. */
struct lbfgs {
    size_t size, max, n;   /* variables; pairs at most, up to LBFGS_MAX_PAIRS; pairs so far */
    double *step, *change; /* (max, size) */
    double reciprocal[LBFGS_MAX_PAIRS]; /* of the products step'change */
};

/* direction (size) = minus the inverse Hessian times gradient, by the two-loop recursion. */
void lbfgs_direction(const struct lbfgs *lbfgs, const double *gradient, double *direction);

/* Stores the pair of two points (size) and their gradients, unless the cosine of the angle between
 * step and change is at most min_cosine >= 0. */
void lbfgs_store(struct lbfgs *lbfgs, const double *at, const double *next, const double *gradient,
                 const double *next_gradient, double min_cosine);

#endif
