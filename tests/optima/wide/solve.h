/* The interior-point method of tests/optima/interior.h in numbers of 640 bits. */
#ifndef TESTS_OPTIMA_WIDE_SOLVE_H
#define TESTS_OPTIMA_WIDE_SOLVE_H

#include "tests/optima/wide/number.h"

enum { MAX_BOUND_TERMS = 8 };

/* sum factor[t] x[at[t]] <= most */
struct wide_bound {
    size_t terms, at[MAX_BOUND_TERMS];
    num factor[MAX_BOUND_TERMS], most;
};

/* min over x of 1/2 x'Hx - c'x + more(x) with the bounds and Ex = 0. */
struct wide_program {
    size_t n, m, equal; /* variables, bounds, equations */
    num *h, *c;         /* (n, n), (n) */
    struct wide_bound *bound;
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
void wide_factor(num *a, size_t n);

/* x (n) <- the solution y of LL'y = x, for L of wide_factor. */
void wide_solve_factored(const num *l, size_t n, num *x);

/* Goes from program->x until `watch` has enough, or rounding or 200 steps end it. */
void wide_solve(struct wide_program *program);

#endif
