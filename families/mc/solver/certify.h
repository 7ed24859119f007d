/* The certificate of a multi-class problem: evaluates its loss and its dual for the certificate of
 * all families (fit/certify.h). */
#ifndef FAMILIES_MC_SOLVER_CERTIFY_H
#define FAMILIES_MC_SOLVER_CERTIFY_H

#include "common/base/error.h"
#include "families/mc/solver/alpha.h"
#include "families/mc/solver/task.h"

/* A dual point alpha. The certificate checks its constraints: where alpha exceeds its upper bounds,
 * D is lowered by the bound of the cost of scaling it down; a negative alpha, or one that belongs
 * to no loss term, gives the trivial bound. */
struct mc_dual {
    const struct mc_alpha *alpha; /* (n, k) */
    const double *weights; /* W(alpha): linear (n_features, k), kernel (n, k); NULL: it is the fit's
                              weights, bit by bit */
    const double *bias;    /* (k) of the constant feature; NULL with weights, or without one */
    const double *q; /* (n) K_ii; for rows with 0 the maximal alpha counts, whatever alpha is; NULL:
                        the feature-norm bounds of certify are used */
    const double *exact[2]; /* kernels: (n, k) exact scores of the fit's weights and of `weights`,
                               within 4 units, without the constant feature; NULL: computed */
    double target_gap;      /* the target gap, see certify_family */
    bool compute_scaling;   /* compute the certificate's primal scaling factor */
};

/* U (n, k) = the coefficients of the dual point's function, and bias (k) = the contribution of its
 * constant feature to the scores, of the rows of this process. alpha_row (k): work. */
void mc_dual_coefficients(const struct mc_task *task, const struct mc_alpha *alpha, double *U,
                          double *bias, double *alpha_row);

/* An upper bound of the primal at W = 0. All processes call it. */
double mc_zero_loss(const struct mc_task *task, double cost);

/* Fills the fit's certificate from its weights and bias as they will be written, and its alpha if
 * the task stores it. All processes call it. */
int mc_certify(const struct mc_task *task, double cost, const struct mc_dual *dual,
               struct mc_fit *fit, struct error *err);

/* Whether the gap is hardly more than `rounding`, the rounding-error bounds, with or without what
 * is lost to rounding: then it cannot become smaller. */
bool mc_is_rounding(const struct certificate *certificate, double rounding);

#endif
