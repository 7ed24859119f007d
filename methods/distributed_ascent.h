/* Distributed dual block-coordinate ascent in communication rounds (Lee & Chang, "Distributed
 * block-diagonal approximation methods for regularized empirical risk minimization", 2017). In each
 * round every process takes coordinate steps over its own rows from the common weights, ignoring
 * the steps of the others. A line search along the sum of all steps follows, in which the dual is a
 * parabola. If the steps of processes conflict, only a part of the sum is taken; to avoid that,
 * each process multiplies the effect of its steps on the weights and scores by `factor`, as if the
 * others took the same steps. Cost of a round: the products of its steps and one sum of the weights
 * over processes. */
#ifndef METHODS_DISTRIBUTED_ASCENT_H
#define METHODS_DISTRIBUTED_ASCENT_H

#include "common/distributed/cluster.h"

#include <stdbool.h>
#include <stddef.h>

struct rounds {
    struct cluster *cluster;
    size_t parts, repeats; /* rounds per sweep, or sweeps per round: one of them is 1 */
    double work;           /* products of a round, on the process with the most */
    double factor;         /* from 1 to the number of processes */
    double momentum; /* of rounds_extrapolation: 1 initially and after a step that went too far */
};

/* Plans rounds for sweeps of `sweep` products on this process: as short as possible, so that
 * processes see one another's steps early, but long enough that the sum of `weights` numbers over
 * processes costs little. All processes call it. */
void rounds_plan(struct rounds *rounds, struct cluster *cluster, double sweep, double weights);

/* Whether `ranks` processes with communication rounds reach an optimum sooner than one process with
 * all rows, which have `values` values, for sums of `weights` numbers. (Both are per output.) */
bool rounds_are_faster(double ranks, double values, double weights);

/* The step length, 0 .. 1, along a direction with the given slope and curvature (second derivative
 * of -D) of the dual. Adapts the factor towards the one with which the full step is optimal. */
double rounds_step_length(struct rounds *rounds, double slope, double curvature);

/* The extrapolation coefficient, as a multiple of the last round's step: 0 at first, growing from
 * round to round towards 1 while full steps are taken (Nesterov, "A method of solving a convex
 * programming problem with convergence rate O(1/k^2)", 1983). Called once per round. */
double rounds_extrapolation(struct rounds *rounds);

/* The rows of part `part` of a sweep over n rows: *first .. return value - 1. */
static inline size_t rounds_rows(const struct rounds *rounds, size_t n, size_t part,
                                 size_t *first) {
    size_t rows = n / rounds->parts;
    *first = rows * part;
    return part + 1 < rounds->parts ? *first + rows : n;
}

#endif
