/* The interior-point method on working sets, if smo converges slowly (doc/mathematics, "top:
 * interior points"). A working set has the rows with entries above 0 and those at 0 that would
 * increase most; all other rows stay at 0 until a later set contains them. If the rows above 0
 * exceed three quarters of a set, but not twice the largest set, it has only the largest of them:
 * at large C smo, whose steps are about as long as losses, decreases the others slowly. An
 * iteration costs the cube of the set's rows. */
#ifndef FAMILIES_TOP_SOLVER_INTERIOR_WORKING_SET_H
#define FAMILIES_TOP_SOLVER_INTERIOR_WORKING_SET_H

#include "families/top/solver/smo.h"

/* Work (fit/work.h) of one solve over a working set of the first size and the product with K that
 * follows; and of one of the iterations that a fit counts. */
double top_working_set_work(const struct problem *problem);
double top_working_set_step_work(const struct problem *problem);

/* True if the fit's dual point has entries above 0 in fewer than twice the rows that the
 * interior-point method takes; or than half of all rows if it takes these. */
bool top_working_set_fits(const struct problem *problem, const struct fit *fit);

/* True if the next call of top_working_set_solve may use larger working sets than the last one. */
bool top_working_set_grows(const struct top_smo *smo);

/* Continues from the last solution of smo at the same cost to a relative gap of epsilon, or until
 * progress ends; then the working sets are larger the next time. smo continues from the result. The
 * caller calls fit_free. */
int top_working_set_solve(struct top_smo *smo, const struct top_smo_settings *settings,
                          const struct monitor *monitor, struct fit *fit, struct error *err);

#endif
