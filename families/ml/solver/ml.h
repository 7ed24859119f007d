/* Multi-label Rank-SVM (Elisseeff & Weston 2001; doc/mathematics, "ml"): kernel and linear, hinge
 * and squared hinge.
 *
 * With Y_i the labels of row i, lambda_i = C / (|Y_i| (q - |Y_i|)) and scores s_i in R^q,
 *   min 1/2 sum_k |f_k|^2 + sum_i lambda_i sum_{p in Y_i, r not in Y_i} l(1 - (s_ip - s_ir)).
 * Rows without labels, and those with all, have no loss. */
#ifndef FAMILIES_ML_SOLVER_ML_H
#define FAMILIES_ML_SOLVER_ML_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/ml/solver/coordinate_ascent.h"
#include "families/ml/solver/label_sets.h"
#include "families/ml/solver/proof_point.h"
#include "fit/monitor.h"
#include "fit/solution.h"

#include <stdbool.h>
#include <stdint.h>

enum ml_method {
    ML_AUTO,        /* those of the policy (policy.c) */
    ML_BCD,         /* block coordinate descent */
    ML_INTERIOR = 3 /* the interior-point method: few features, or rows, times labels */
};

/* What a solver is made with. */
struct ml_setup {
    double bias;    /* value of a constant feature; 0: none */
    bool free_bias; /* a bias that the norm does not count; then `bias` is 0 */
    bool shrinking;
    bool keep; /* ml_get_proof_point is wanted */
    uint64_t seed;
};

struct ml_parameters {
    enum ml_loss loss;
    enum ml_method method;
    double cost;
    double epsilon;
};

/* A problem made ready: solve it at as many parameters as wanted, each start is the last solution.
 * Borrows problem, which must outlive it. Fails when no row has a loss. Where its rows are spread
 * over ranks, creation and solving are for all ranks, and scores and kept points are of one's own
 * rows. */
struct ml;
int ml_create(struct ml **ml, const struct problem *problem, const struct ml_setup *setup,
              struct error *err);
void ml_free(struct ml *ml);

/* The label sets, and the labels in the order of the outputs. */
const struct ml_rows *ml_get_rows(const struct ml *ml);

/* Solves. The caller calls solution_free. Fails only for lack of memory, for a method that the
 * problem does not admit, or when scores overflow. */
int ml_solve(struct ml *ml, const struct ml_parameters *parameters, const struct monitor *monitor,
             struct solution *solution, struct error *err);

/* The dual point of the last solution's bound, if the setup keeps it. */
const struct ml_proof_point *ml_get_proof_point(const struct ml *ml);

/* The scores (n_all, q) of the problem's rows by the last solution; valid until the next call. */
const double *ml_get_scores(const struct ml *ml);

#endif
