/* The losses of RankSVM, summed over all preference pairs, as convex risks of the scores
 * (fit/risk.h). Cost of an evaluation: one or two sums over pairs (pairs.h); RANK_RISK_CENTRED: a
 * visit of each listed preference. That one may be below 0, and has no `rounding`. */
#ifndef FAMILIES_RANK_SOLVER_RISK_H
#define FAMILIES_RANK_SOLVER_RISK_H

#include "common/base/error.h"
#include "families/rank/solver/pairs.h"
#include "fit/risk.h"

#include <stdbool.h>

struct rank_multipliers; /* multipliers.h */

enum rank_risk_type {
    RANK_RISK_HINGE,  /* sum max(0, u), u = 1 - (s_i - s_j) */
    RANK_RISK_SQUARE, /* sum max(0, u)^2 */
    RANK_RISK_HUBER,  /* sum of u^2 / (2 mu) for 0 < u < mu, u - mu/2 above */
    RANK_RISK_CENTRED /* either, smoothed about a centre (multipliers.h) */
};

struct rank_risk {
    struct rank_pairs *pairs;
    enum rank_risk_type type;
    double mu;                            /* RANK_RISK_HUBER, RANK_RISK_CENTRED */
    struct rank_multipliers *multipliers; /* RANK_RISK_CENTRED: set by the caller, borrowed */
    double *count, *moment, *inner;       /* (n) work */
    void *block;                          /* these arrays */
    double total;                         /* total weight of the pairs of all processes */
    /* Bounds of relative rounding errors, with those of the weights: of sums over pairs (a group's
     * are added one by one, or level by level; those of all rows in vector lanes), and of sums of
     * one integer for each group. */
    double sums_rounding, groups_rounding;
    const double *s; /* (n) scores of the last evaluation, borrowed */
    /* Results of the last evaluation. */
    double true_value; /* the loss without smoothing */
    /* the linear part of the dual objective of that loss over C; for RANK_RISK_HUBER and alpha_p =
     * C clip(u/mu, 0, 1) it is sum alpha_p / C */
    double dual_offset;
    double active; /* total weight of the pairs with a loss; not of RANK_RISK_CENTRED */
};

/* Allocates. Borrows pairs. If groups are distributed over processes, every process must create and
 * evaluate. -1 if memory is short. The caller calls rank_risk_free. */
int rank_risk_create(struct rank_risk *risk, struct rank_pairs *pairs, enum rank_risk_type type,
                     struct error *err);
void rank_risk_free(struct rank_risk *risk);

/* Returns the risk at s (n). g (n) = a (sub)gradient, *offset = risk - g's. */
double rank_risk_evaluate(struct rank_risk *risk, const double *s, double *g, double *offset);

/* g (n) = the gradient at s of a quadratic extension of RANK_RISK_HUBER: the current mu, and u^2 /
 * (2 mu) for all pairs 0 < u < region_mu, with region_mu >= mu, linear above. It predicts the
 * minimum at a smaller mu from the Hessian at region_mu. */
void rank_risk_model_gradient(struct rank_risk *risk, const double *s, double region_mu, double *g);

/* The risk's functions for the solvers (fit/risk.h). `rounding` is of the last evaluation, whose s
 * must be unchanged; the weight of a row is that of its pairs; every process must call it. keep:
 * the scores (n) of each cutting plane are stored as its record. */
struct risk rank_risk_functions(struct rank_risk *risk, bool keep);

#endif
