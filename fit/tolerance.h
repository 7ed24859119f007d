/* The tolerances that a small problem is solved to, one after the other.
 *
 * How accurate a solver's inner steps are depends on the gap that is asked for, and so does its
 * path: a fit to a smaller gap of its own need not pass the points of a fit to a larger one, and
 * where rounding stops it, may end with a worse one. A fit that goes through the tolerances of one
 * sequence, from the largest down to the first that is not above the user's, and takes the best
 * iterate of all, does all that a fit to a larger gap does, and more: its primal is never larger.
 * The sequence costs an evaluation of the bounds for each of its members, so it is for problems
 * where that is little; others begin at the user's tolerance. */
#ifndef FIT_TOLERANCE_H
#define FIT_TOLERANCE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* What is known when a solver has been run to a tolerance. */
struct tolerance_end {
    double gap;     /* of the best primal and the best dual of all runs; NAN: it is not certified */
    bool limited;   /* a monitor has ended the run: none may follow */
    bool converged; /* tolerance_tighten only: the solver holds that it has reached its tolerance */
};

/* Runs a solver to a gap of epsilon, from what earlier runs have found, and takes the best of all.
 * Fills end. -1 with err set ends the sequence. */
typedef int (*tolerance_run)(void *context, double epsilon, struct tolerance_end *end,
                             struct error *err);

/* Calls run for each tolerance of the sequence if rows, times outputs, are few; else for epsilon
 * alone. A tolerance that the gap is below already is passed over; two in a row that are not
 * reached, and did not lower the gap much either, are the last. The first is always run. -1 as run
 * says. */
int tolerance_solve(tolerance_run run, void *context, double epsilon, size_t rows,
                    struct error *err);

/* The outer loop: solve, certify, tighten. A solver measures its own gap by sums that rounding may
 * spoil, so the certified gap may be larger. Calls run for a tolerance of epsilon, then for half of
 * the last one, until the certified gap is epsilon, a run has not converged, two in a row have not
 * lowered the gap by a tenth, or `max_runs` are done. -1 as run says. */
int tolerance_tighten(tolerance_run run, void *context, double epsilon, int max_runs,
                      struct error *err);

#endif
