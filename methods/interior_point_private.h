/* What the files of the interior point share; nobody else includes this. */
#ifndef METHODS_INTERIOR_POINT_PRIVATE_H
#define METHODS_INTERIOR_POINT_PRIVATE_H

#include "methods/interior_point.h"

struct interior {
    struct interior_problem problem;
    double *block;                  /* all arrays of doubles but `kept` */
    double *w, *g, *rhs, *residual; /* (dimension); g = A'a */
    double *apart;                  /* (dimension) A'a - J w - z */
    double *a, *s;                  /* (n) a_j s_j = mu, s = A w - m + xi */
    double *v, *v_step;             /* (n) A w, A step */
    double *theta, *rho;            /* (n) */
    size_t n_groups;                /* of hinges: n where each stands alone */
    double n_hinges, n_products;    /* over all ranks: n, and how many products go to 0 */
    uint32_t *group;                /* (n) */
    double *t, *xi;                 /* (n_groups) t = c - sum a, t xi = mu; not squared */
    double *rest;                   /* (n_groups) t / xi */
    double *correction;             /* (n) of a_step */
    /* A step, and the bends that it was found with (products of the predictor's changes): one
     * behind the other in memory, so that they are copied together. */
    double *step, *a_step, *a_bend, *t_step, *t_bend; /* (dimension), (n) twice, (n_groups) twice */
    double *kept;                                     /* the one that a correction may not better */
    double *best_w, *best_a;
    double *best_tied; /* (n) the a of best_w, where the primal is A'a's */
    bool tied;
    double margin_size; /* mean |m_j| */
    double mu;          /* mean of the products */
    double distance;    /* from optimality: products, and the square of `apart` */
    double best_primal, best_dual;
    uint64_t iterations;
};

static inline double interior_margin(const struct interior_problem *problem, size_t j) {
    return problem->margin ? problem->margin[j] : 1;
}

/* ---- the point (interior_point.c) ---- */

/* v, g, the bounds, mu and the distance at the point; keeps the best of each. */
void interior_evaluate(struct interior *in);

/* The primal at w, *w, or where a is written down at A'a = g, which *w becomes, in `step`. */
double interior_offered_primal(struct interior *in, const double **w);

/* The dual at a, g = A'a. Sums that are not 0 for the weights that J does not count are charged
 * what that may gain. */
double interior_dual(const struct interior *in, const double *a);

#endif
