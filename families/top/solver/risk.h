/* The losses of classification at the top as risks of the scores (doc/mathematics, "top").
 *
 * A row may be a positive, with the loss C cost[i] l(t - s_i), and may be in J, the rows that
 * determine the threshold t, where it counts as mass[j] equal rows:
 *   mean      t = the mean of the K largest scores of J; K may be any number up to the mass of J:
 *             t = max sum p_j s_j over 0 <= p_j <= share_j, sum p_j = 1, share_j = mass_j / K
 *   quantile  t solves sum_J mass_j l(theta (s_j - t)) = budget
 *   none      no threshold: positives cost l(-s_i), the rows of J cost C mass[j] l(s_j)
 * with l(u) = max(0, 1 + u) or its square. */
#ifndef FAMILIES_TOP_SOLVER_RISK_H
#define FAMILIES_TOP_SOLVER_RISK_H

#include "common/base/error.h"
#include "common/distributed/cluster.h"
#include "fit/risk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum top_kind { TOP_MEAN, TOP_QUANTILE, TOP_NONE };

struct top_risk {
    /* over whose processes the rows are distributed: n and arrays (n) are then of this process, all
     * else of all, and all processes call every function that sums over rows; NULL: one process */
    struct cluster *cluster;
    size_t n;
    enum top_kind kind;
    bool square;
    double *cost;         /* (n) of positives; 0: the row is not a positive */
    double *mass;         /* (n) in J; 0: the row is not in J, as are positives for TOP_NONE */
    double *share;        /* (n) TOP_MEAN: mass / K, at most 1 */
    double k;             /* TOP_MEAN: K */
    double theta, budget; /* TOP_QUANTILE */
    /* tau times the sum of masses less budget, a rounding error that theta may magnify */
    double budget_rounding;
    double mass_error; /* relative rounding error of the masses */
    double total_cost, total_mass;
    size_t n_all; /* rows of all processes */

    uint32_t *order; /* (n) work */

    /* of the last plane: its dual point is alpha = C slope, beta = C slopes p */
    double threshold;
    double *slope; /* (n) cost_i l'(t - s_i) */
    double *p;     /* (n) the threshold's gradient; TOP_NONE: mass_j l'(s_j) */
    double slopes; /* sum of slope; TOP_NONE: 1 */
    void *block;   /* all arrays */
};

/* Makes a risk of n rows with zero cost and mass. The caller sets cost, mass, the cluster and the
 * members of the kind, calls top_risk_ready, and at the end top_risk_free. */
int top_risk_create(struct top_risk *risk, size_t n, struct error *err);
/* Computes shares and totals; k is K of TOP_MEAN. Some row of some process
 * must have a cost, and one must be in J. */
void top_risk_ready(struct top_risk *risk, double k);
void top_risk_free(struct top_risk *risk);

/* The sum of the shares over the rows of all processes; at least 1 for TOP_MEAN. */
double top_risk_sum_shares(const struct top_risk *risk);

/* The threshold of scores s (n). p (n) receives its (sub)gradient, which is >= 0, sums to 1 and is
 * 0 outside J. TOP_NONE has t = 0 and p = 0. */
double top_risk_threshold(struct top_risk *risk, const double *s, double *p);

/* The threshold if all scores are 0. */
double top_risk_threshold_at_zero(const struct top_risk *risk);

/* Returns the risk, without C; g (n) receives a subgradient. */
double top_risk_value(struct top_risk *risk, const double *s, double *g);

/* The same, and stores the cutting plane: *offset = risk - g's. */
double top_risk_cut(struct top_risk *risk, const double *s, double *g, double *offset);
struct risk top_risk_functions(struct top_risk *risk);

/* Adds weight times the dual point of a plane, as its record has it, to alpha and beta (n
 * each). */
void top_risk_add_record(double weight, const void *record, double *alpha, double *beta);

/* Accuracy of top_risk_multiple: a few digits, or all. */
enum top_multiple { TOP_MULTIPLE_ROUGH, TOP_MULTIPLE_EXACT };

/* The multiple x of scores s (n) that minimises x^2 |f|^2 / 2 + C R(x s), or one that is no worse
 * than 1, which is evaluated first; by a safeguarded secant method. squared_norm is |f|^2 at x = 1.
 * *primal is the value. work has 2n. */
double top_risk_multiple(struct top_risk *risk, double C, double squared_norm, const double *s,
                         enum top_multiple how, double *work, double *primal);

/* The terms of a row in the dual at a cost: 0 <= alpha <= max_alpha, 0 <= beta <= cap, with - h
 * alpha^2 / 2 and - q beta^2 / 2 in the dual's value. max_alpha or cap is 0 if there is no such
 * entry. */
struct top_terms {
    double max_alpha, h;
    double cap; /* if top_risk_levelled: divided by the level (dual_state.h) */
    double q;
};
struct top_terms top_risk_terms(const struct top_risk *risk, double cost, size_t i);

/* Whether the caps of beta move with a level: the sum of alpha, or that of the quantile. */
bool top_risk_levelled(const struct top_risk *risk);

/* The factor of beta's sum in the dual. */
double top_risk_beta_offset(const struct top_risk *risk);

/* l(u) and its derivative. */
double top_loss(bool square, double u);
double top_slope(bool square, double u);

/* The part of the dual that is not -1/2 |f|^2, of alpha and beta (n each) that are feasible:
 *   sum alpha [- sum alpha^2 / (4 C cost)]
 *   quantile:  + sum beta / theta - delta budget,       delta = max beta / (theta mass)
 *     squared: + sum beta / theta - sqrt(budget)/theta  sqrt(sum beta^2 / mass)
 *   none:      + sum beta [- sum beta^2 / (4 C mass)] */
double top_risk_dual(const struct top_risk *risk, double C, const double *alpha,
                     const double *beta);

#endif
