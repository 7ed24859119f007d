/* The smoothed losses of mc, see newton.h. */
#ifndef FAMILIES_MC_SOLVER_SMOOTHED_LOSS_H
#define FAMILIES_MC_SOLVER_SMOOTHED_LOSS_H

#include "common/base/error.h"
#include "families/mc/solver/task.h"
#include "fit/risk.h"

#include <stdbool.h>
#include <stddef.h>

struct mc_smooth {
    const struct mc_task *task;
    double mu;
    double loss;      /* of the last cut: the true one */
    double *u, *near; /* (k) work */
};

/* R_mu of a task's rows, with mu = 1 until the caller sets another. Borrows task; fails for lack of
 * memory. The caller calls mc_smooth_free in the end, whether this failed or not. */
int mc_smooth_create(struct mc_smooth *smooth, const struct mc_task *task, struct error *err);
void mc_smooth_free(struct mc_smooth *smooth);

/* R_mu(s) and its gradient; the offset is the sum of weight a, the linear part of the dual over C.
 * Borrows smooth. Its sums are over all ranks' rows, which all cut. */
struct risk mc_smooth_risk(struct mc_smooth *smooth);

/* alpha of the last cut of that risk, times cost, by row: its dual point. s (n, k) are its
 * scores. */
int mc_smooth_alpha(const struct mc_smooth *smooth, double cost, const double *s,
                    struct mc_alpha *alpha, struct error *err);

/* g (n, k) = the gradient that R at the mu of smooth would have at s if the terms in the band, with
 * 0 < a < 1 at mu = `band`, stayed those: that of the next mu, to follow the minimum to there. */
void mc_smooth_follow(const struct mc_smooth *smooth, double band, const double *s, double *g);

/* The curvature of a row of class y with scores s (k): S / mu, S = sum over the terms p in the
 * band, listed in term[0..n), of b_p b_p' less, if *capped, (sum b_p)(sum b_p)' / n, with b_p the
 * gradient of the term's slack (without taking off means). Returns n; term has room for k. */
size_t mc_smooth_band(const struct mc_smooth *smooth, double band, size_t y, const double *s,
                      size_t *term, bool *capped);

#endif
