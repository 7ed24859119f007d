/* The result of a fit, the same for all families. */
#ifndef FIT_SOLUTION_H
#define FIT_SOLUTION_H

#include "common/kernel/problem.h"
#include "fit/stop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A fit. The primal, dual and gap are recomputed in double from `weights` as stored here. */
struct solution {
    size_t n_outputs;
    double *weights; /* linear: (n_features, n_outputs); kernel: (n, n_outputs), by problem row */
    /* kernel, owned: dense rows that have the coefficients, in the first rows of weights, in place
     * of the problem's rows; NULL: none */
    struct data *points;
    double *bias; /* (n_outputs) added to the scores; NULL: no bias */
    struct pair_coefficient
        *pairs; /* coefficients of pair features, by problem row; then weights is NULL */
    size_t n_pairs;
    double primal, dual;  /* if certified: dual <= optimum <= primal, rounding errors included */
    double norm;          /* |f|, over all outputs; 0 if it was not evaluated */
    bool constant_scores; /* all rows have the same scores, up to rounding */
    const char *zero; /* a static sentence that says why w = 0 is optimal; NULL: not known to be */
    double gap;       /* relative duality gap; NAN: there is no bound on the optimum */
    uint64_t iterations;
    bool zero_only; /* f = 0 because no time was left: the dual point is 0 and is not stored */
    bool converged; /* (primal - dual) / primal <= epsilon, or the stopping rule holds */
    enum stop_reason reason; /* when not converged */
    bool certified;          /* false: the problem is not known to be convex, and the dual is only
                                a lower bound that no solution need approach; or a bound is false
                                (see `reason`) */
};

/* Frees the arrays of the solution and sets it to zero. */
void solution_free(struct solution *solution);

#endif
