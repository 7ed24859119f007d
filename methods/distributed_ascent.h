/* Rounds of block ascent by ranks (Lee & Chang, "Distributed block-diagonal approximation methods
 * for regularized empirical risk minimization", 2017): each rank takes steps in blocks of its own
 * rows from the weights that all have, as if the others stood still; the sum of the steps is then
 * searched along for the best point of the dual, which is a parabola there. Where the steps of
 * ranks run into one another that point is a part of the way only; so each counts on the others to
 * go along with it, and takes what its steps do to the weights, and to their own scores, for
 * `factor` times what it is. */
#ifndef METHODS_DISTRIBUTED_ASCENT_H
#define METHODS_DISTRIBUTED_ASCENT_H

#include "common/distributed/cluster.h"

#include <stdbool.h>
#include <stddef.h>

struct rounds {
    struct cluster *cluster;
    size_t parts, repeats; /* rounds of a sweep, or sweeps of a round: one of them is 1 */
    double work;           /* products of a round, on the rank that has most */
    double factor;         /* from 1 to the number of ranks */
    double momentum;       /* of rounds_ahead: 1 at first and after steps that went too far */
};

/* Rounds such that sums of `weights` numbers over ranks cost little beside them, for sweeps of
 * `sweep` products on this rank; else as small as may be, for ranks then know best what the others
 * do. All ranks. */
void rounds_plan(struct rounds *rounds, struct cluster *cluster, double sweep, double weights);

/* Whether `ranks` ranks by rounds come sooner to an optimum than one process that has all rows, of
 * so many values, and `weights` numbers to sum. (With several outputs, both are those of one.) */
bool rounds_pay(double ranks, double values, double weights);

/* How far to go, 0 .. 1, along a step with slope and curvature (second derivative of -D) of the
 * dual; the factor becomes what would have made that the whole step, by and by. */
double rounds_go(struct rounds *rounds, double slope, double curvature);

/* How many times the last round's way to start ahead of where that ended: 0, and more from round to
 * round, up to 1, as long as steps are taken whole (Nesterov, "A method of solving a convex
 * programming problem with convergence rate O(1/k^2)", 1983). Once a round. */
double rounds_ahead(struct rounds *rounds);

/* The rows of part p of a sweep over n: *first .. return value. */
static inline size_t rounds_part(const struct rounds *rounds, size_t n, size_t part,
                                 size_t *first) {
    size_t rows = n / rounds->parts;
    *first = rows * part;
    return part + 1 < rounds->parts ? *first + rows : n;
}

#endif
