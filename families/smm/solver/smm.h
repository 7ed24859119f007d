/* Support matrix machines: rows are matrices X_i (height x width), f(X) = <W, X> + b with a free
 * bias (doc/mathematics, "smm").
 *
 *   svm      min 1/2 |W|_F^2             + sum_i C_i l(1 - y_i f(X_i))
 *   lowrank  the same over W of rank k at most: not convex
 *   nuclear  min 1/2 |W|_F^2 + T |W|_*   + the same sum
 *
 * Two labels make one machine, whose positive label is the last in the order of labels; more make
 * one for each label against the rest. */
#ifndef FAMILIES_SMM_SOLVER_SMM_H
#define FAMILIES_SMM_SOLVER_SMM_H

#include "common/base/error.h"
#include "common/data/labels.h"
#include "common/kernel/problem.h"
#include "fit/certify.h"
#include "fit/monitor.h"
#include "fit/solution.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum smm_formulation { SMM_LOWRANK, SMM_NUCLEAR, SMM_SVM };
enum smm_loss { SMM_HINGE, SMM_SQUARED_HINGE };

enum smm_method {
    SMM_AUTO,     /* lowrank: alternation with joint steps, from the SVD of the SVM */
    SMM_ALTERNATE /* lowrank: alternation only, from a random start: the published method */
};

struct smm_parameters {
    enum smm_formulation formulation;
    enum smm_loss loss;
    enum smm_method method;
    double cost, epsilon;
    size_t rank;       /* lowrank: at least 1; more than a side counts as that side */
    double tau;        /* nuclear: >= 0 */
    bool random_start; /* lowrank, SMM_AUTO: the first start is random too */
    size_t restarts;   /* lowrank: random starts besides the first */
    uint64_t seed;
};

/* One machine of the last solution: W = U diag(s) Vt, k = min(height, width) of them, s descending.
 */
struct smm_subproblem {
    double *W;          /* (height, width) */
    double *U, *s, *Vt; /* (height, k), (k), (k, width) */
    double bias;
    double *alpha; /* (n) the dual point; lowrank: of the SVM that its start comes from */
    size_t rank;   /* singular values above rounding */
    double primal, dual;
    struct certificate certificate; /* lowrank: of the SVM that its start comes from */
    double stationarity;            /* lowrank: what a joint step can gain at most to first order,
                            relative to the primal */
    double best, worst;             /* lowrank: primal over the starts */
    size_t n_starts;                /* lowrank */
};

/* A problem made ready: rows of a linear problem with labels by name, and n_features = height *
 * width. weight (by number of name) multiplies the cost of a label's rows; NULL: all 1. Borrows
 * problem. */
struct smm;

/* Rows may be spread over the ranks of the problem's cluster, which then make all calls
 * together. */
int smm_create(struct smm **smm, const struct problem *problem, size_t height, size_t width,
               const double *weight, struct error *err);
void smm_free(struct smm *smm);

/* Solves; the caller calls solution_free. Fails for lack of memory, and when scores overflow. */
int smm_solve(struct smm *smm, const struct smm_parameters *parameters,
              const struct monitor *monitor, struct solution *solution, struct error *err);

/* The machines of the last solution, how many rows there are, the labels, and the sides of the
 * matrices. */
const struct smm_subproblem *smm_subproblems(const struct smm *smm, size_t *n);
size_t smm_rows(const struct smm *smm);
const struct labels *smm_labels(const struct smm *smm);
void smm_shape(const struct smm *smm, size_t *height, size_t *width);

#endif
