/* What every solver gives back, whatever the family. */
#ifndef FIT_SOLUTION_H
#define FIT_SOLUTION_H

#include "common/kernel/problem.h"
#include "fit/stop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A fit. The primal, dual and gap are recomputed in double from `weights` as they stand here. */
struct solution {
    size_t n_outputs;
    double *weights; /* linear: (n_features, n_outputs); kernel: (n, n_outputs), by problem row */
    double *bias;    /* (n_outputs) added to the scores; NULL: nothing is */
    struct pair_coefficient *pairs; /* pair features, by problem row: then weights is NULL */
    size_t n_pairs;
    double primal, dual; /* dual <= optimum <= primal, with rounding paid for, if certified */
    double norm;         /* |f|, over all outputs; 0 where it was not evaluated */
    bool flat;           /* all rows have the same scores, up to rounding */
    const char *zero;    /* why w = 0 is optimal, where that is known: a static sentence, or NULL */
    double gap;          /* relative; NAN: nothing bounds the optimum */
    uint64_t iterations;
    bool unsolved;           /* f = 0, for there was no time: the dual point is 0, and not kept */
    bool converged;          /* (primal - dual) / primal <= epsilon, or the stop rule asked for */
    enum stop_reason reason; /* when not converged */
    bool certified;          /* else the problem is not convex, or not known to be: a gap that is
                                given is to a lower bound that no solution need come near; or a
                                bound is false, see the reason */
};

/* Releases what the solution owns and makes it empty. */
void solution_free(struct solution *solution);

#endif
