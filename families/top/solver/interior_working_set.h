/* The end of a fit by smo that crawls, with more rows than interior points take (doc/mathematics,
 * "top: interior points"): these over the rows that have entries above 0 and those that would rise
 * most, all others at 0; then again with the rows that rise. Where more rows have entries than
 * three quarters of a part, though not twice as many as the largest part has rows, it takes the
 * largest: at a large C smo, whose steps are as long as losses are, is slow to bring the others
 * down. */
#ifndef FAMILIES_TOP_SOLVER_INTERIOR_WORKING_SET_H
#define FAMILIES_TOP_SOLVER_INTERIOR_WORKING_SET_H

#include "families/top/solver/smo.h"

/* Operations, about, of one solve over part of the rows and the product with the matrix of all that
 * ends it, counted in those of a plain loop; and of one of the steps that a fit counts. Of parts of
 * the first size: of larger ones it is too low. */
double top_working_set_work(const struct problem *problem);
double top_working_set_step_work(const struct problem *problem);

/* True if the fit's dual point (n) has entries in fewer than twice the rows that interior points
 * take. */
bool top_working_set_fits(const struct problem *problem, const struct fit *fit);

/* True if parts of smo, which is there, that bring nothing more will be larger the next time. */
bool top_working_set_grows(const struct top_smo *smo);

/* Takes the last solution of smo, of the same cost, to a relative gap of epsilon, or until that
 * comes no closer: then parts are larger the next time. smo goes on from there. The caller calls
 * fit_free. */
int top_working_set_solve(struct top_smo *smo, const struct top_smo_settings *settings,
                          const struct monitor *monitor, struct fit *fit, struct error *err);

#endif
