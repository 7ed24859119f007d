/* A plain interior-point method for small dense convex programs,
 *
 *     min over x of  1/2 x'Hx - c'x + more(x)   with   Gx <= h,  Ex = 0,
 *
 * (Mehrotra, On the implementation of a primal-dual interior point method, SIAM J. Optimization 2,
 * 1992). */
#ifndef TESTS_OPTIMA_INTERIOR_H
#define TESTS_OPTIMA_INTERIOR_H

#include "tests/optima/number.h"

enum { MAX_TERMS = 8 };

/* sum factor[t] x[at[t]] <= most */
struct bound {
    size_t terms, at[MAX_TERMS];
    real factor[MAX_TERMS], most;
};

struct program {
    size_t n, m, equal; /* variables, bounds, equations */
    num *h;             /* (n, n) */
    num *c;             /* (n) */
    struct bound *bound;
    num *e; /* (equal, n) */
    num *x; /* (n) a start at which all bounds hold strictly; becomes the solution */
    num *y; /* (equal) multipliers of the equations */

    /* Adds what more(x) has to the gradient (n) and the Hessian (n, n); NULL: nothing. */
    void (*more)(const void *context, const num *x, num *gradient, num *hessian);

    /* Sees each iterate; true: good enough. */
    bool (*watch)(void *context, const num *x, const num *y);
    void *context;
};

/* A <- L with A = LL' (n, n); pivots lost in rounding become infinite: the solution has 0 there. */
void factor(num *a, size_t n);

/* x (n) <- the solution y of LL'y = x, for L of factor. */
void solve_factored(const num *l, size_t n, num *x);

/* Goes from program->x until `watch` has enough, or rounding or 200 steps end it; x and y are then
 * the last iterate. Ends the program where there is no memory. */
void interior_solve(struct program *program);

#endif
