/* Classification at the top (doc/mathematics, "top"): positives are to score above a threshold t
 * that the scores of J, the negatives or all rows, make:
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
 *                           with a bias, the weight of a constant feature, if that is asked for
 *
 * Grill is not convex: its solutions say so and have no bound. A row of weight w counts as w equal
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
    TOP_SMO,     /* any convex formulation */
    TOP_BUNDLE,  /* cutting planes: any convex formulation */
    TOP_CD,      /* the published coordinate ascent; not svm */
    TOP_INTERIOR /* interior points, which also end what smo and cutting planes leave */
};

/* What the problem is. */
struct top_setting {
    enum top_formulation formulation;
    const bool *positive; /* (names of the data): labels of positives */
    const double *weight; /* (names of the data): of each label; NULL: all 1 */
    double k, tau, theta;
    double bias; /* value of the constant feature of svm; 0: none. Elsewhere it would cancel */
};

struct top_parameters {
    enum top_loss loss;
    enum top_method method;
    double cost;
    double epsilon;
    bool shrink;
    uint64_t seed; /* of the starts of grill */
    size_t starts; /* of grill */
};

struct top_counts {
    size_t n_positive, n_negative;      /* rows of weight above 0 */
    double positive_weight, top_weight; /* sums of weights: positives, J */
    double top_weight_rounding; /* what top_weight lacks of each rank's sum in long double */
    double weight_error;        /* weights are within this part of themselves */
    double k;                   /* K of the formulations that have one, else 0 */
};

/* A problem made ready, whose rows may be spread over ranks, which then make all calls together:
 * cutting planes, interior points and cd of svm are for that, and not grill. Solve it at as many
 * parameters as wanted, each start is the last solution. Borrows problem, which must outlive it.
 * Fails when there are no positives or no negatives, or K is larger than J. */
struct top;
int top_create(struct top **top, const struct problem *problem, const struct top_setting *setting,
               struct error *err);
void top_free(struct top *top);

/* The numbers of rows and weights that the problem was made with; over a cluster those of all
 * ranks. */
struct top_counts top_counts(const struct top *top);

/* The threshold t at the scores of the last solution, 0 for svm. */
double top_threshold(const struct top *top);

/* The dual point of the last solution but for grill: alpha of positives and beta of J, both (n). */
const double *top_alpha(const struct top *top);
const double *top_beta(const struct top *top);

/* Solves; solution->zero says why w = 0 is optimal, where it is. The caller calls solution_free.
 * Fails for lack of memory, for a method that the problem does not admit, or when scores
 * overflow. */
int top_solve(struct top *top, const struct top_parameters *parameters,
              const struct monitor *monitor, struct solution *solution, struct error *err);

#endif
