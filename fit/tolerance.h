/* The sequence of tolerances, and the outer loop.
 *
 * The accuracy of a solver's inner steps depends on the target gap, and so does its path. A fit
 * with a smaller target gap need not pass through the iterates of a fit with a larger one, and may
 * end with a larger gap if rounding stops it. So small problems are solved to each tolerance of one
 * sequence, from the largest down to the first that is not above the user's, and the best iterate
 * of all runs is the result. Such a fit makes all runs of a fit with a larger target gap, and more:
 * its primal is never larger. Each member of the sequence costs one evaluation of the bounds, which
 * is cheap for small problems; larger ones start at the user's tolerance. */
#ifndef FIT_TOLERANCE_H
#define FIT_TOLERANCE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The result of a run of a solver to one tolerance. */
struct tolerance_result {
    double gap;     /* between the best primal and the best dual of all runs; NAN: not certified */
    bool limited;   /* a monitor has stopped the run: no other may follow */
    bool converged; /* tolerance_tighten only: by its own gap, the solver reached its tolerance */
};

/* Runs a solver to a gap of epsilon, starting from the best iterate of earlier runs, and updates
 * that. Fills `end`. Returns -1 with err set on failure, which ends the sequence. */
typedef int (*tolerance_run)(void *context, double epsilon, struct tolerance_result *end,
                             struct error *err);

/* Calls run for each tolerance of the sequence if `rows` (rows times outputs) is small, else for
 * epsilon alone. The first tolerance is always run; later ones that the gap already meets are
 * skipped. The sequence ends after two runs in a row that neither reach their tolerance nor lower
 * the gap by a tenth. Returns -1 if run does. */
int tolerance_solve(tolerance_run run, void *context, double epsilon, size_t rows,
                    struct error *err);

/* The outer loop: solve, certify, tighten. A solver estimates its gap from sums with rounding
 * errors, so the certified gap may be larger. Calls run with a tolerance of epsilon and halves it
 * after each run, until the certified gap is epsilon, a run has not converged, two runs in a row
 * have not lowered the gap by a tenth, or `max_runs` are done. Returns -1 if run does. */
int tolerance_tighten(tolerance_run run, void *context, double epsilon, int max_runs,
                      struct error *err);

#endif
