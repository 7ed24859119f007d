/* Sequential minimal optimisation for classification at the top (doc/mathematics, "top: smo";
 * second-order working set selection after Fan, Chen and Lin, JMLR 6, 2005).
 *
 * The dual is over alpha (positives) and beta (rows of J), f = sum (alpha_i - beta_i) k(x_i, .). A
 * step moves one or two entries, or all capped entries of beta together with one or two others: at
 * the cap beta_j = cap_rate_j level moves with the level (sum alpha, or delta), and pairs alone
 * stall there. A step costs two rows of K, which are cached, and some loops over the rows in use;
 * rows that are likely to stay at 0 or at their bound are shrunk. */
#ifndef FAMILIES_TOP_SOLVER_SMO_H
#define FAMILIES_TOP_SOLVER_SMO_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/top/solver/risk.h"
#include "fit/fit.h"
#include "fit/monitor.h"
#include "fit/score_map.h"

#include <stdbool.h>

struct top_smo;

/* Borrows problem, map (of the problem), plain (the same without the constant feature; kernels
 * only) and risk. -1 if memory is short. The caller calls top_smo_free. */
int top_smo_create(struct top_smo **smo, const struct problem *problem, const struct score_map *map,
                   const struct score_map *plain, struct top_risk *risk, struct error *err);
void top_smo_free(struct top_smo *smo);

struct top_smo_settings {
    double cost, epsilon;
    bool shrink;
    /* with a time limit and a kernel, receives the time that the last evaluation of the scores will
     * take, with a margin; NULL: not wanted */
    double *reserved_seconds;
};

/* Solves to the relative gap epsilon, with a warm start from the last solution scaled to this cost.
 * With a kernel fit gets the scores of the point, too, without the constant feature (scores,
 * dual_weights, dual_scores), but for a point that was scaled. The caller calls fit_free. */
int top_smo_solve(struct top_smo *smo, const struct top_smo_settings *settings,
                  const struct monitor *monitor, struct fit *fit, struct error *err);

/* Makes a feasible dual point, alpha and beta (n each), of another solver at this cost the last
 * solution. */
void top_smo_set_point(struct top_smo *smo, double cost, const double *alpha, const double *beta);

/* The same for the solution of an approximate problem with many rows, in which the right rows are
 * above 0, and computes its scores. Runs from then on keep few of the rows at 0 in use, and assume
 * that those that are not in use have no loss. The point alpha = beta = C of the positives replaces
 * one of patmat with less than half of its dual. */
int top_smo_start_near(struct top_smo *smo, double cost, const double *alpha, const double *beta,
                       const struct monitor *monitor, struct error *err);

/* Fills fit with that point, and its bounds. The caller calls fit_free. */
int top_smo_take_point(struct top_smo *smo, double epsilon, struct fit *fit, struct error *err);

#endif
