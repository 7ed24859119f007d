/* Declarations that interior_point.c and interior_iterate.c share; private to this module. */
#ifndef METHODS_INTERIOR_POINT_PRIVATE_H
#define METHODS_INTERIOR_POINT_PRIVATE_H

#include "methods/interior_point.h"

struct interior {
    struct interior_problem problem;
    double *block;                  /* all arrays of doubles except `saved_step` */
    double *w, *g, *rhs, *residual; /* (dimension); g = A'a */
    double *dual_residual;          /* (dimension) dual residual A'a - J w - z */
    double *a, *s;                  /* (n) a_j s_j = mu, s = A w - m + xi */
    double *v, *v_step;             /* (n) A w, A step */
    double *theta, *rho;            /* (n) */
    size_t n_groups;                /* of hinges; n without groups */
    double n_hinges, n_products;    /* over all processes: n; complementarity products */
    uint32_t *group;                /* (n) */
    double *t, *xi;                 /* (n_groups) t = c - sum a, t xi = mu; not squared */
    double *rest;                   /* (n_groups) t / xi */
    double *correction;             /* (n) of a_step */
    /* A step and the second-order terms (products of the predictor's changes) it was computed with,
     * consecutive in memory so that they are copied together. */
    double *step;              /* (dimension) */
    double *a_step, *a_second; /* (n) */
    double *t_step, *t_second; /* (n_groups) */
    double *saved_step;        /* the step before a correction */
    double *best_w, *best_a;
    double *best_tied;  /* (n) the a of best_w, if the primal is evaluated at A'a */
    bool tied;          /* the primal is evaluated at A'a */
    double margin_size; /* mean |m_j| */
    double mu;          /* mean of the products */
    double distance;    /* from optimality: sum of products + |residual|^2 / 2 */
    double best_primal, best_dual;
    uint64_t iterations;
};

static inline double interior_margin(const struct interior_problem *problem, size_t j) {
    return problem->margin ? problem->margin[j] : 1;
}

/* J's diagonal: 1 or 0. */
static inline double interior_counted(const struct interior_problem *problem, size_t k) {
    return k + problem->n_free < problem->dimension ? 1 : 0;
}

/* ---- the iterate (interior_iterate.c) ---- */

/* Computes v, g, the bounds, mu and the distance of the iterate; updates the best iterates. */
void interior_evaluate(struct interior *in);

/* The primal at w, or if tied at A'a = g. *w: the weights at which it was evaluated (tied:
 * `step`). */
double interior_offered_primal(struct interior *in, const double **w);

/* The dual at a, g = A'a. Entries of g that should be 0, of weights that J does not count, are
 * penalised by a bound of what they may gain. */
double interior_dual(const struct interior *in, const double *a);

#endif
