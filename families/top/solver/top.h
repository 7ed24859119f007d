/* Classification at the top (doc/mathematics, "top"): positives should score above a threshold t
 * that is determined by the scores of J, the negatives or all rows:
 *   min 1/2 |f|^2 + C sum over positives of weight_i l(t(s_J) - s_i),   l(u) = max(0, 1+u) or its
 *   square.
 *
 *   formulation  J          t
 *   toppush      negatives  the largest score
 *   toppushk     negatives  the mean of the K largest
 *   tau-fpl      negatives  the same, K = tau n- to the nearest whole number, at least 1
 *   topmeank     all        the same, K = tau n
 *   patmat       all        sum_J l(theta (s_j - t)) = tau n
 *   patmat-np    negatives  the same, = tau n-
 *   grill        all        the (1 - tau) quantile; adds C n+/n- sum over negatives of l(s_j - t)
 *   grill-np     negatives  the same
 *   svm          -          none: sum over positives of l(-s_i) plus that over negatives of l(s_j);
 *                           optionally with a bias, the weight of a constant feature
 *
 * Grill is not convex: its solutions have no certified bound. A row of weight w counts as w equal
 * rows, in the sum and in the threshold; rows of weight 0 do not count. */
#ifndef FAMILIES_TOP_SOLVER_TOP_H
#define FAMILIES_TOP_SOLVER_TOP_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "fit/monitor.h"
#include "fit/solution.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum top_formulation {
    TOP_PUSH,
    TOP_PUSH_K,
    TOP_TAU_FPL,
    TOP_MEAN_K,
    TOP_PAT_MAT,
    TOP_PAT_MAT_NP,
    TOP_GRILL,
    TOP_GRILL_NP,
    TOP_SVM
};

enum top_loss { TOP_HINGE, TOP_SQUARED_HINGE };

enum top_method {
    TOP_AUTO,
    TOP_SMO,    /* sequential minimal optimisation: any convex formulation */
    TOP_BUNDLE, /* cutting planes (a bundle method): any convex formulation */
    TOP_CD, /* the published coordinate ascent; for svm with the linear kernel coordinate descent */
    TOP_INTERIOR /* the interior-point method, also the fallback of the others */
};

/* The problem's setting. */
struct top_setting {
    enum top_formulation formulation;
    const bool *positive; /* (number of label names): which labels are positive */
    const double *weight; /* (number of label names): weight of each label; NULL: all 1 */
    double k, tau, theta;
    /* value of the constant feature of svm; 0: none. In other formulations it would cancel */
    double bias;
};

struct top_parameters {
    enum top_loss loss;
    enum top_method method;
    double cost;
    double epsilon;
    bool shrink;
    uint64_t seed; /* of grill's starts, of orders of rows, and of landmarks */
    size_t starts; /* number of grill's starts */
};

struct top_counts {
    size_t n_positive, n_negative;      /* rows of weight above 0 */
    double positive_weight, top_weight; /* sums of the weights of positives and of J */
    double top_weight_rounding;         /* the sum of J's weights in long double less top_weight */
    double weight_error;                /* relative rounding error of the weights */
    double k;                           /* K of the formulations that have one; else 0 */
};

/* A prepared problem. Its rows may be distributed over processes, which then make all calls
 * together; cutting planes, the interior-point method and cd of svm support that, grill does not.
 * It can be solved at any number of parameters, each with a warm start from the last solution.
 * Borrows problem, which must outlive it. Fails if there are no positives or no negatives, or if K
 * is larger than J. */
struct top;
int top_create(struct top **top, const struct problem *problem, const struct top_setting *setting,
               struct error *err);
void top_free(struct top *top);

/* The numbers of rows and weights of the problem; of all processes. */
struct top_counts top_counts(const struct top *top);

/* The last solution. With a kernel the threshold is raised by twice the rounding-error bound of the
 * scores (top_level.rounding): a model sums kernel values in another order, and the negative whose
 * score is t is to stay at or below it. */
struct top_last {
    double threshold, highest_score; /* at its scores; the threshold of svm is 0 */
    /* (n) its dual point: alpha of positives and beta of J; NULL for grill and where no time was
     * left for it */
    const double *alpha, *beta;
};
struct top_last top_last(const struct top *top);

/* Certifies other coefficients of a kernel problem, solution->weights (n) and bias, with the dual
 * point of the last solution, and sets the solution's bounds and the threshold. The coefficients
 * are rescaled and added up over equal rows if that is better. */
int top_replace(struct top *top, const struct top_parameters *parameters, struct solution *solution,
                struct error *err);

/* Solves the problem. solution->zero says why w = 0 is optimal, if it is. The caller calls
 * solution_free. Fails if memory runs out, for a method that does not support the problem, or if
 * scores overflow. */
int top_solve(struct top *top, const struct top_parameters *parameters,
              const struct monitor *monitor, struct solution *solution, struct error *err);

#endif
