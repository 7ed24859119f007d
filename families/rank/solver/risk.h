/* The losses of RankSVM over all preference pairs, as risks of the scores. */
#ifndef FAMILIES_RANK_SOLVER_RISK_H
#define FAMILIES_RANK_SOLVER_RISK_H

#include "common/base/error.h"
#include "families/rank/solver/pairs.h"
#include "fit/risk.h"

#include <stdbool.h>

enum rank_risk_type {
    RANK_RISK_HINGE,  /* sum max(0, u), u = 1 - (s_i - s_j) */
    RANK_RISK_SQUARE, /* sum max(0, u)^2 */
    RANK_RISK_HUBER   /* sum of u^2 / (2 mu) for 0 < u < mu, u - mu/2 above */
};

struct rank_risk {
    struct rank_pairs *pairs;
    enum rank_risk_type type;
    double mu;                      /* RANK_RISK_HUBER */
    double *count, *moment, *inner; /* (n) work */
    double total;                   /* weight of all pairs, those of all ranks */
    /* bounds of the relative error of sums over pairs, weights' errors with them: a group's are
     * added one by one, or place by place, and those of all rows in lanes; and of sums of whole
     * numbers a group */
    double sums_rounding, groups_rounding;
    const double *s; /* (n) of the last cut, borrowed */
    /* left by the last cut */
    double true_value;  /* the loss without smoothing: RANK_RISK_HUBER gives the hinge's */
    double dual_offset; /* sum of the duals' linear terms over C, for that loss: of
                           alpha_p = C clip(u/mu, 0, 1) this is sum alpha_p / C */
    double active;      /* weight of the pairs with a loss */
};

/* Borrows pairs, of a problem whose rows are spread: creation and cuts are for all ranks. The
 * caller calls rank_risk_free. */
int rank_risk_create(struct rank_risk *risk, struct rank_pairs *pairs, enum rank_risk_type type,
                     struct error *err);
void rank_risk_free(struct rank_risk *risk);

/* Returns the risk at s (n); g (n) gets a (sub)gradient, *offset = risk - g's. */
double rank_risk_evaluate(struct rank_risk *risk, const double *s, double *g, double *offset);

/* g (n) gets the gradient at s of the quadratic that RANK_RISK_HUBER would be with the present mu
 * if the pairs 0 < u < band were its band, band >= mu: sum over them of u^2 / (2 mu), and of u
 * above. */
void rank_risk_model_gradient(struct rank_risk *risk, const double *s, double band, double *g);

/* The same as a table, for the engines; its `rounding`, for all ranks too, while s is as it was: a
 * row's weight is that of its pairs. keep: the scores (n) of each cut are kept as its record. */
struct risk rank_risk_table(struct rank_risk *risk, bool keep);

#endif
