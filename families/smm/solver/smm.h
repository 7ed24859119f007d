/* Support matrix machines: each row is a matrix X_i (height x width), and f(X) = <W, X> + b with a
 * free bias (doc/mathematics, "smm").
 *
 *   svm      min 1/2 |W|_F^2             + sum_i C_i l(1 - y_i f(X_i))
 *   lowrank  the same over W of rank k at most; not convex
 *   nuclear  min 1/2 |W|_F^2 + T |W|_*   + the same sum
 *
 * Two labels make one binary subproblem, whose positive label is the last in the order of labels.
 * More labels make one subproblem each, a label against the rest. */
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
    SMM_ALTERNATE /* lowrank: alternation only, from a random start, as published */
};

struct smm_parameters {
    enum smm_formulation formulation;
    enum smm_loss loss;
    enum smm_method method;
    double cost, epsilon;
    size_t rank;       /* lowrank: >= 1; at most the shorter side counts */
    double tau;        /* nuclear: >= 0 */
    bool random_start; /* lowrank, SMM_AUTO: the first start is random, too */
    size_t restarts;   /* lowrank: number of random starts besides the first */
    uint64_t seed;
};

/* Solution of one binary subproblem: W = U diag(s) Vt with k = min(height, width) singular values
 * s, descending. */
struct smm_subproblem {
    double *W;          /* (height, width) */
    double *U, *s, *Vt; /* (height, k), (k), (k, width) */
    double bias;
    double *alpha; /* (n) the dual point; lowrank: that of the SVM for the start */
    size_t rank;   /* number of singular values above rounding */
    double primal, dual;
    struct certificate certificate; /* lowrank: that of the SVM for the start */
    /* lowrank: bound of the first-order gain of a joint step, relative to the primal */
    double stationarity;
    double best, worst; /* lowrank: objectives over the starts */
    size_t n_starts;    /* lowrank: number of starts */
};

/* A solver for one problem. Rows may be distributed over the processes of the problem's cluster;
 * then all processes make all calls. */
struct smm;

/* For linear rows with labels by name and n_features <= height * width. weight (by number of the
 * name) multiplies the cost of a label's rows; NULL: all 1. Row weights multiply it too. positive:
 * the positive one of two labels; NULL: the second in order. Borrows problem. The caller calls
 * smm_free. Fewer than two labels, and a row weight of 0, are errors. */
int smm_create(struct smm **smm, const struct problem *problem, size_t height, size_t width,
               const double *weight, const char *positive, struct error *err);
void smm_free(struct smm *smm);

/* Solves. The caller calls solution_free. Fails if memory runs out, or if scores overflow. */
int smm_solve(struct smm *smm, const struct smm_parameters *parameters,
              const struct monitor *monitor, struct solution *solution, struct error *err);

/* The subproblems of the last solution, the number of rows, the labels, and the sides of the
 * matrices. */
const struct smm_subproblem *smm_subproblems(const struct smm *smm, size_t *n);
size_t smm_rows(const struct smm *smm);
const struct labels *smm_labels(const struct smm *smm);
void smm_shape(const struct smm *smm, size_t *height, size_t *width);

#endif
