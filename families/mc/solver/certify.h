/* The certificate of a multi-class problem: its loss and its dual point at the door of all families
 * (fit/certify.h). */
#ifndef FAMILIES_MC_SOLVER_CERTIFY_H
#define FAMILIES_MC_SOLVER_CERTIFY_H

#include "common/base/error.h"
#include "families/mc/solver/alpha.h"
#include "families/mc/solver/task.h"

/* A dual point alpha. The certificate checks its constraints: where alpha exceeds its upper bounds, D is lowered by what scaling it down may cost;
 * a negative alpha, or one that belongs to no loss term, gives the trivial bound. */
struct mc_dual {
    const struct mc_alpha *alpha;
    const double *weights; /* W(alpha), computed from it: linear (n_features, k), kernel (n, k);
                              NULL: the fit's weights are, one by one */
    const double *bias;    /* (k) of the constant feature; NULL with weights, or without one */
    const double *q; /* (n) rows' kernel values of their own: where that is 0 alpha counts as the
                        most that it can be, whatever it says; NULL: where the reach is */
    const double *exact[2]; /* kernels: (n, k) the exact scores of the fit's weights and of these,
                               within 4 units, without the constant feature's; NULL: computed */
    double enough;          /* the gap that is wanted, see certify_family */
    bool lengthen;          /* the certificate's length is, too */
};

/* The primal of W = 0, at least. All ranks. */
double mc_loss_of_nothing(const struct mc_task *task, double cost);

/* Fills the fit's certificate, its alpha if the task keeps it, primal and dual from its weights and
 * bias as they will be written. scores (n, k), if not NULL, gets the scores, with the bias; kernels
 * only. All ranks. */
int mc_certify(const struct mc_task *task, double cost, const struct mc_dual *dual, double *scores,
               struct mc_fit *fit, struct error *err);

/* True if a gap has next to nothing but `paid`, what is paid for rounding, or that and what is lost
 * to it: it is as small as it can be. */
bool mc_is_rounding(const struct certificate *certificate, double paid);

#endif
