/* Primal-dual interior-point method for sums of hinges, or of squared hinges (Mehrotra, "On the
 * implementation of a primal-dual interior point method", SIAM J. Optim. 1992):
 *
 *   min over w of 1/2 w'J w + sum_j c_j l(m_j - (A w)_j),   l(u) = max(0, u) or max(0, u)^2,
 *   max over a of sum_j m_j a_j [- a_j^2 / (4 c_j)] - 1/2 |J A'a|^2,   0 <= a_j [<= c_j],
 *                 (A'a)_k = 0 for the weights that J does not count,
 *
 * J diagonal with 1 for weights that the norm counts and 0 for the others (a free bias). Newton's
 * method is applied to the KKT conditions, with the complementarity products relaxed to a common mu
 * that goes to 0: predictor-corrector steps, and multiple centrality corrections where a step is
 * short (Gondzio, "Multiple centrality corrections in a primal-dual method for linear programming",
 * 1996). The iterates need not satisfy J w = A'a, so both bounds meet only at the end.
 *
 * Cost: each iteration factors J + A' diag(theta) A, O(n d^2 + d^3) for n hinges and d weights. It
 * takes some 10 to 25 iterations, independent of the scale of A and of c. */
#ifndef METHODS_INTERIOR_POINT_H
#define METHODS_INTERIOR_POINT_H

#include "common/base/error.h"
#include "common/distributed/cluster.h"
#include "fit/monitor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An additional convex term r(w) of all counted weights, with its own dual variable z (its
 * gradient) and complementarity products: J w + z = A'a. The products are relaxed to mu like those
 * of the hinges. To first order the change of z is Q^-1 (change of w - residual), with Q positive
 * definite. The problem's `factor` includes the term: it factors J + Q^-1 + A' diag(theta) A. */
struct interior_term {
    void *context;
    double n_products; /* number of its complementarity products */
    /* Starts at z = 0 with all products equal to mu. */
    void (*start)(void *context, double mu);
    double (*products)(void *context);                /* the sum of the products */
    void (*subtract_slope)(void *context, double *g); /* g -= z */
    /* x += Q^-1 (residual - step) for products of `target` less the second-order terms. */
    void (*add_residual)(void *context, double target, const double *step, double *x);
    /* Stores the changes of w and z, which longest_step, predict and move use. */
    void (*set_step)(void *context, double target, const double *step, const double *z_step);
    double (*longest_step)(void *context); /* the step length at which a product becomes 0 */
    /* After a predictor step (target 0): the sum of the products at `length` of it. Their
     * second-order terms are those of the next steps, until `clear_second_order_terms` sets them to
     * 0, as at the start. */
    double (*predict)(void *context, double length);
    void (*clear_second_order_terms)(void *context);
    void (*move)(void *context, double length);
    double (*value)(void *context, const double *w);     /* 1/2 |w|^2 + r(w) */
    double (*conjugate)(void *context, const double *g); /* max over w of g'w - value(w) */
};

/* The problem. Borrowed for the life of the solver. */
struct interior_problem {
    /* Processes over which the hinges are distributed, groups undivided: n and n_groups are those
     * of this process. `adjoint` and `factor` sum over processes, which all call them; weights are
     * the same on all. NULL: one process. */
    struct cluster *cluster;
    size_t n, dimension;  /* hinges, weights */
    const double *cost;   /* (n) c_j > 0; with groups: (n_groups) */
    double constant;      /* added to both bounds: hinges that do not depend on w */
    const double *margin; /* (n) m_j; NULL: all 1 */
    size_t n_free;        /* the last weights, for which J is 0; 1 for the others */
    bool squared;
    /* Second-order terms are multiplied by the square of the predictor step's length (Colombo and
     * Gondzio, "Further development of multiple centrality correctors for interior point
     * methods", 2008). In full they can make steps alternate for ever. Not with a term. */
    bool damped;
    /* Groups of hinges of which the largest counts, c_g max(0, max_j m_j - (A w)_j): sum a_j <=
     * c_g. */
    const uint32_t *group; /* (n) of each hinge, ascending from 0; NULL: no groups. Not squared */
    size_t n_groups;
    const struct interior_term *term; /* NULL: none */

    void *context;
    void (*scores)(void *context, const double *w, double *v);  /* v (n) = A w */
    void (*adjoint)(void *context, const double *a, double *g); /* g (dimension) = A'a */
    /* Factors J + A' diag(theta) A [+ Q^-1]. -1 if rounding leaves no factor. */
    int (*factor)(void *context, const double *theta);
    /* The same, with groups: over the hinges of each group, diag(theta) is replaced by diag(theta)
     * - theta theta' / (rest_g + sum theta). */
    int (*factor_groups)(void *context, const double *theta, const double *rest);
    /* x (dimension): right-hand side on entry, solution on return. */
    void (*solve)(void *context, double *x);
};

/* The best primal and the best dual iterate. Owned by the solver, valid until the next run. If J is
 * not the identity, (A'alpha)_k = 0 holds up to the residual of that iterate. */
struct interior_fit {
    const double *w;     /* (dimension) */
    const double *alpha; /* (n), within its bounds */
    const double
        *tied; /* (n) the a with w = A'a, after interior_evaluate_primal_at_dual; else NULL */
    double primal, dual;
    uint64_t iterations;   /* over all runs */
    enum stop_reason stop; /* from the monitor, or rounding: no further progress */
};

struct interior;

/* A solver at its default start, in place of *interior, which is closed unless it is NULL. Borrows
 * problem. -1 if memory is short; *interior is then NULL. The caller calls interior_close. */
int interior_open(struct interior **interior, const struct interior_problem *problem,
                  struct error *err);
void interior_close(struct interior *interior);

/* Warm start, before the first run: starts at w (dimension) instead of 0. All products are then
 * equal to one mu, with the primal at w as their sum, and A'a - w is the residual, which is smaller
 * than from 0 where C is large. If there is no such point, or it is not finite, the start is the
 * default. Without groups and term. */
void interior_start_at(struct interior *interior, const double *w);

/* tied: the counted weights can only be stored as A'a, so the primal is evaluated at A'a from now
 * on; false, the default: at w. Discards the best primal iterate. */
void interior_evaluate_primal_at_dual(struct interior *interior, bool tied);

/* Iterates until primal - dual <= epsilon max(primal, least). All processes call it, and
 * interior_open and interior_round_to_zero. */
void interior_run(struct interior *interior, double epsilon, double least,
                  const struct monitor *monitor, struct interior_fit *fit);

/* Sets small entries of the last iterate to exactly 0, as many as keep primal - dual <= allowed,
 * and makes that fit's alpha. The entries of an interior point are all positive. */
void interior_round_to_zero(struct interior *interior, double allowed, struct interior_fit *fit);

#endif
