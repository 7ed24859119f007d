/* Multi-label Rank-SVM (Elisseeff & Weston, NIPS 2001; doc/mathematics, "ml"), with a linear or any
 * other kernel, and the hinge or the squared hinge.
 *
 * With Y_i the labels of row i, C_i = C times its weight, lambda_i = C_i / (|Y_i| (q - |Y_i|)) and
 * scores s_i in R^q:
 *   min 1/2 sum_k |f_k|^2 + sum_i lambda_i sum_{p in Y_i, r not in Y_i} l(1 - (s_ip - s_ir)).
 * Rows without labels, and rows with all labels, have no loss. */
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
    ML_AUTO, /* the algorithms of the policy (policy.c) */
    ML_BCD,  /* block coordinate ascent only */
    /* interior-point method, for few features or rows, times labels; 2 was conditional gradient */
    ML_INTERIOR = 3
};

/* Fixed when a solver is created. */
struct ml_setup {
    double bias;    /* value of a constant feature; 0: no such feature */
    bool free_bias; /* a bias that the norm does not include; `bias` must be 0 */
    bool shrinking;
    bool keep; /* whether ml_get_proof_point is needed */
    uint64_t seed;
};

struct ml_parameters {
    enum ml_loss loss;
    enum ml_method method;
    double cost;
    double epsilon;
};

/* A solver for one problem. It can be solved with any number of parameters; each solve starts from
 * the last solution. Borrows problem, which must outlive it. Fails if no row has a loss. If the
 * rows are distributed, all processes call all functions, and scores and proof points are those of
 * the local rows. */
struct ml;
int ml_create(struct ml **ml, const struct problem *problem, const struct ml_setup *setup,
              struct error *err);
void ml_free(struct ml *ml);

/* The label sets; the labels are in the order of the outputs. */
const struct ml_rows *ml_get_rows(const struct ml *ml);

/* Solves. The caller calls solution_free. Fails if memory runs out, if the problem does not admit
 * the method, or if scores overflow. */
int ml_solve(struct ml *ml, const struct ml_parameters *parameters, const struct monitor *monitor,
             struct solution *solution, struct error *err);

/* The dual point of the last solution's dual bound, if the setup asked for it. */
const struct ml_proof_point *ml_get_proof_point(const struct ml *ml);

/* Scores (n_all, q) of the problem's rows at the last solution; valid until the next call. NULL
 * before the first, and after a zero solution because no time was left. */
const double *ml_get_scores(const struct ml *ml);

#endif
