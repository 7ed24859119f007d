/* The map from weights to scores, behind one small table: what a solver asks of the data.
 *
 * Weights are w in R^d for the linear kernel (primal: f(x) = w'x) and the coefficients b in R^n of
 * f = sum_i b_i k(x_i, .) for the others. Scores are s_i = f(x_i). With A the map, A' its adjoint
 * and r a vector over the scores, |A'r|^2 = r'K r, K = A A'. */
#ifndef SOLVERS_METHODS_OPERATOR_H
#define SOLVERS_METHODS_OPERATOR_H

#include "common/base/error.h"
#include "common/kernel/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct operator {
    size_t n;         /* scores */
    size_t dimension; /* weights */
    bool primal;      /* weights are w, with |f|^2 = w'w; else b, with |f|^2 = b's and A'r = r */
    void *context;
    struct threads *threads;

    /* s (n) = A weights (dimension). */
    int (*scores)(const struct operator *operator, const double *weights, double *s,
                  struct error *err);
    /* weights (dimension) = A' r (n). */
    int (*adjoint)(const struct operator *operator, const double *r, double *weights,
                   struct error *err);
    /* s (n, n_outputs) row-major = A weights (dimension, n_outputs), everything in double and from
     * the data: what a certificate is computed with. */
    int (*exact)(const struct operator *operator, const double *weights, size_t n_outputs,
                 double *s, struct error *err);
    /* column (n) of K, and its diagonal (n), as accurate as `scores`; NULL when weights are w. */
    int (*column)(const struct operator *operator, uint32_t i, double *column, struct error *err);
    int (*diagonal)(const struct operator *operator, double *diagonal, struct error *err);
    void (*release)(struct operator *operator);
};

/* The operator of a problem's rows, linear or kernel. Borrows problem; the caller releases it with
 * operator_free. */
int operator_create(struct operator *operator, const struct problem *problem, struct error *err);
void operator_free(struct operator *operator);

/* s (n, n_outputs) row-major = A weights (dimension, n_outputs) by `scores`, output by output: the
 * `exact` of operators whose scores are in double anyway. */
int operator_each(const struct operator *operator, const double *weights, size_t n_outputs,
                  double *s, struct error *err);

/* a'b over n entries, summed in a fixed order. */
double operator_dot(const double *a, const double *b, size_t n);

/* y += factor x over n entries. */
void operator_add(double *y, double factor, const double *x, size_t n);

#endif
