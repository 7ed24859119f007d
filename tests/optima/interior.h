/* A primal-dual interior-point method for small dense convex programs,
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
    num *x; /* (n) on entry strictly feasible for the bounds; on return the solution */
    num *y; /* (equal) multipliers of the equations */

    /* Adds the gradient (n) and the Hessian (n, n) of more(x); NULL: there is no such term. */
    void (*more)(const void *context, const num *x, num *gradient, num *hessian);

    /* Called with each iterate. Returns true to stop. */
    bool (*watch)(void *context, const num *x, const num *y);
    void *context;
};

/* A <- L with A = LL' (n, n). A pivot that is only rounding becomes infinite; the solution is 0
 * there. */
void factor(num *a, size_t n);

/* x (n) <- the solution y of LL'y = x, with L from factor. */
void solve_factored(const num *l, size_t n, num *x);

/* Iterates from program->x until `watch` returns true, rounding stops it, or 200 iterations; x and
 * y are then the last iterate. Exits if memory is short. */
void interior_solve(struct program *program);

#endif
