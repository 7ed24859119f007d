/* An interior point for sums of hinges, or of their squares (Mehrotra, "On the implementation of a
 * primal-dual interior point method", SIAM J. Optim. 1992):
 *
 *   min over w of 1/2 w'J w + sum_j c_j l(m_j - (A w)_j),   l(u) = max(0, u) or max(0, u)^2,
 *   max over a of sum_j m_j a_j [- a_j^2 / (4 c_j)] - 1/2 |J A'a|^2,   0 <= a_j [<= c_j],
 *                 (A'a)_k = 0 for the weights that J does not count,
 *
 * J diagonal with 1 for weights that the norm counts and 0 for the others (a free bias). Newton's
 * method on the conditions of optimality with their products relaxed to a common mu, which goes to
 * 0: some 10 to 25 factorings of J + A' diag(theta) A, whatever the scale of A and the size of c.
 * Where a step ends early its products are brought together as far as they are apart (Gondzio,
 * "Multiple centrality corrections in a primal-dual method for linear programming", 1996).
 * w is not tied to A'a on the way: both bounds meet at the end only. */
#ifndef METHODS_INTERIOR_POINT_H
#define METHODS_INTERIOR_POINT_H

#include "common/base/error.h"
#include "common/distributed/cluster.h"
#include "fit/monitor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A convex term r(w) more, where all weights that count have it, with conditions of optimality of
 * its own: J w + z = A'a for its slope z, which it holds, and products that are relaxed to mu like
 * those of the hinges. To first order the change of z is Q^-1 (change of w - lack), Q positive
 * definite, which `factor` of the problem adds to J: it factors J + Q^-1 + A' diag(theta) A. */
struct interior_term {
    void *context;
    double n_products;
    /* Starts at z = 0 with all products mu. */
    void (*start)(void *context, double mu);
    double (*products)(void *context);                /* their sum */
    void (*subtract_slope)(void *context, double *g); /* g -= z */
    /* x += Q^-1 (lack - step) for products of `target`, less the bends. */
    void (*add_lack)(void *context, double target, const double *step, double *x);
    /* Takes the changes of w and z: longest_step, predict and move go by them. */
    void (*set_step)(void *context, double target, const double *step, const double *z_step);
    double (*longest_step)(void *context); /* until a product is 0 */
    /* After a step to products of 0: their sum `length` along it; their second order becomes the
     * bends of what follows, until they are straightened: 0, as at first. */
    double (*predict)(void *context, double length);
    void (*straighten)(void *context);
    void (*move)(void *context, double length);
    double (*value)(void *context, const double *w);     /* 1/2 |w|^2 + r(w) */
    double (*conjugate)(void *context, const double *g); /* its largest g'w - value, over w */
};

/* Borrowed for the life of the solver. */
struct interior_problem {
    struct cluster *cluster; /* over whose ranks the hinges are spread, groups whole: n and n_groups
                                are of this one's. `adjoint` and what factors are for all ranks,
                                sums over them; weights are the same on all. NULL: all are here */
    size_t n, dimension;     /* hinges, weights */
    const double *cost;      /* (n) c_j > 0; (n_groups) where hinges have groups */
    double constant;         /* of both bounds besides: hinges that no weights change */
    const double *margin;    /* (n) m_j; NULL: all 1 */
    const double *counted;   /* (dimension) J's diagonal: 1 or 0 */
    bool squared;
    /* Hinges of which the largest alone counts, c_g max(0, max_j m_j - (A w)_j): sum a_j <= c_g. */
    const uint32_t *group; /* (n) ascending from 0, of each hinge; NULL: each counts. Not squared */
    size_t n_groups;
    const struct interior_term *term; /* NULL: none */

    void *context;
    void (*scores)(void *context, const double *w, double *v);  /* v (n) = A w */
    void (*adjoint)(void *context, const double *a, double *g); /* g (dimension) = A'a */
    /* Factors J + A' diag(theta) A [+ Q^-1], as well as rounding admits; -1 if that is not at
     * all. */
    int (*factor)(void *context, const double *theta);
    /* The same, with groups: for each of them theta theta' / (rest_g + sum theta) less, over its
     * hinges. */
    int (*factor_groups)(void *context, const double *theta, const double *rest);
    /* x (dimension), the right hand side on entry, becomes the solution. */
    void (*solve)(void *context, double *x);
};

/* The best points so far, each by its own bound; owned by the solver, there until it is run again.
 * Where J is not the identity, alpha has (A'alpha)_k = 0 up to what it was reached with. */
struct interior_fit {
    const double *w;     /* (dimension) */
    const double *alpha; /* (n), within its bounds */
    const double *tied;  /* (n) tied: the a of which w is A'a; else NULL */
    double primal, dual;
    uint64_t iterations;   /* counted on */
    enum stop_reason stop; /* of the monitor, or rounding: no more progress */
};

struct interior;
int interior_open(struct interior **interior, const struct interior_problem *problem,
                  struct error *err);
void interior_close(struct interior *interior);

/* Before the first run: starts at w (dimension), known to be good, not at 0. There all products are
 * one mu, their sum the primal at w, and A'a - w is what is far from optimality: less than from 0
 * where C is large. Where w has no such point, or one that is not finite, the start stays what it
 * is. Without groups and term. */
void interior_start_at(struct interior *interior, const double *w);

/* tied: of the counted weights only A'a can be written down, so the primal is that of A'a from here
 * on; false, as at first: that of w. Forgets the best primal point. */
void interior_tie(struct interior *interior, bool tied);

/* Goes on until primal - dual <= epsilon max(primal, least). All ranks, as what opens, and
 * rounds. */
void interior_run(struct interior *interior, double epsilon, double least,
                  const struct monitor *monitor, struct interior_fit *fit);

/* Makes as many entries of fit's alpha exactly 0 as leave primal - dual <= allowed: an interior
 * point has none of its own. */
void interior_round(struct interior *interior, double allowed, struct interior_fit *fit);

#endif
