/* The smoothed losses of mc, see newton.h: with u the slacks of a row, the maximising a is a_c =
 * clip(u_c / mu - theta, 0, 1), theta the multiplier of sum a <= 1 for a maximum. A term is in the
 * smoothed region if 0 < a_c < 1. */
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
    double loss;      /* the original loss at the last evaluation */
    double *u, *near; /* (k) work */
};

/* The smoothed risk R_mu of a task's rows, with mu = 1 until the caller changes it. Borrows task.
 * Fails if memory is short. The caller calls mc_smooth_free, also after a failure. */
int mc_smooth_create(struct mc_smooth *smooth, const struct mc_task *task, struct error *err);
void mc_smooth_free(struct mc_smooth *smooth);

/* R_mu(s) and its gradient; the offset is the sum of weight a, the linear part of the dual over C.
 * Borrows smooth. Sums are over all processes, which must all evaluate it. */
struct risk mc_smooth_risk(struct mc_smooth *smooth);

/* alpha = cost times weight times a, the dual point at the scores s (n, k). */
int mc_smooth_alpha(const struct mc_smooth *smooth, double cost, const double *s,
                    struct mc_alpha *alpha, struct error *err);

/* g (n, k) = the gradient of R_mu at s, mu that of smooth, if the smoothed region stayed that of a
 * smoothing of `region`: for the step that follows the minimiser from there to mu. */
void mc_smooth_follow(const struct mc_smooth *smooth, double region, const double *s, double *g);

/* The Hessian of a row of class y with scores s (k) is S / mu, S = sum over the terms p in the
 * smoothed region of a smoothing of `region` of b_p b_p', less (sum b_p)(sum b_p)' / n if *capped,
 * as the loss is a maximum whose multiplier is positive; b_p is the gradient of the term's slack,
 * before centring. Fills term[0..n), of size k, and returns n. */
size_t mc_smooth_region(const struct mc_smooth *smooth, double region, size_t y, const double *s,
                        uint32_t *term, bool *capped);

#endif
