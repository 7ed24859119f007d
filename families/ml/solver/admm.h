/* ADMM (methods/admm.h) on the multi-label dual, whose rows have an exact proximal step: the
 * fallback solver if there are too many rows times labels for the interior-point method. An
 * iteration costs O(n^2 q) in BLAS, after one Cholesky factorisation. */
#ifndef FAMILIES_ML_SOLVER_ADMM_H
#define FAMILIES_ML_SOLVER_ADMM_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/ml/solver/fallback_fit.h"
#include "families/ml/solver/label_sets.h"
#include "fit/monitor.h"

#include <stdbool.h>

/* Estimated operations of a fit (fit/work.h) with a positive semidefinite kernel. INFINITY if it
 * does not apply: distributed rows, or a matrix larger than half of the memory for the kernel's. */
double ml_admm_work(const struct problem *problem, const struct ml_rows *rows);

/* The start: betas and their scores (rows->n, width), without the contribution of a bias. */
struct ml_admm_start {
    const double *beta, *scores;
    size_t width;
};

/* constant: square of the constant feature's value, added to K. free_bias: a bias that the norm
 * does not include; then constant is 0. *admm is NULL if K proves not to be positive semidefinite.
 * Borrows problem and rows. The caller calls ml_admm_free. */
struct ml_admm;
int ml_admm_create(struct ml_admm **admm, const struct problem *problem, const struct ml_rows *rows,
                   enum ml_loss loss, double cost, double constant, bool free_bias,
                   const struct ml_admm_start *start, struct error *err);
void ml_admm_free(struct ml_admm *admm);

/* Continues until P - D <= epsilon max(P, min_scale). */
void ml_admm_run(struct ml_admm *admm, double epsilon, double min_scale,
                 const struct monitor *monitor, struct ml_fit *fit);

#endif
