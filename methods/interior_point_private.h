/* What the files of the interior point share; nobody else includes this. */
#ifndef METHODS_INTERIOR_POINT_PRIVATE_H
#define METHODS_INTERIOR_POINT_PRIVATE_H

#include "methods/interior_point.h"

/* A step, and the bends that it was found with. */
struct interior_step {
    double *w, *a, *a_bend, *t, *t_bend; /* (dimension), (n), (n), (n_groups), (n_groups) */
};

struct interior {
    struct interior_problem problem;
    double *w, *g, *step, *rhs, *residual; /* (dimension); g = A'a */
    double *apart;                         /* (dimension) A'a - J w - z */
    double *a, *s;                         /* (n) a_j s_j = mu, s = A w - m + xi */
    double *v, *v_step;                    /* (n) A w, A step */
    double *theta, *rho, *a_step, *a_bend; /* (n); bend: products of the predictor's changes */
    size_t n_groups;                       /* of hinges: n where each stands alone */
    double n_hinges, all_groups;           /* n and n_groups over all ranks */
    uint32_t *group;                       /* (n) */
    double *t, *xi;                        /* (n_groups) t = c - sum a, t xi = mu; not squared */
    double *t_step, *t_bend, *rest;        /* (n_groups) change of sum a; t / xi */
    double *correction;                    /* (n) of a_step */
    struct interior_step kept;             /* that a correction may not better */
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

/* How many products go to 0. */
double interior_count_products(const struct interior *in);

/* The primal at w, *w, or where a is written down at A'a = g, which *w becomes, in `step`. */
double interior_offered_primal(struct interior *in, const double **w);

/* The dual at a, g = A'a. Sums that are not 0 for the weights that J does not count are charged
 * what that may gain. */
double interior_dual(const struct interior *in, const double *a);

#endif
