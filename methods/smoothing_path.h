/* Newton's method with smoothing continuation: a path-following method for piecewise-linear losses,
 * after the Huber hinge (Nesterov, "Smooth minimization of non-smooth functions", Math. Program.
 * 103, 2005; Chapelle, "Training a support vector machine in the primal", Neural Computation 19,
 * 2007).
 *
 * A loss max over a of a'u, with a in a box or a simplex, is smoothed to max a'u - mu/2 |a|^2. Its
 * curvature is positive only where a is in the interior: the smoothed region. alpha = C a is
 * feasible for the dual of the original loss at every iterate, so both bounds of the original
 * problem are always known. At the minimum for mu their gap is roughly proportional to mu, which is
 * lowered until the target gap is reached. As long as the same rows are in the smoothed region, the
 * minima lie on a line in mu. So a predictor step, with the gradient of the new mu and the smoothed
 * region of the old one, leads to the next minimum, and plain Newton steps correct it.
 *
 * The caller defines the problem, computes the Newton steps and stores the best iterates: rank and
 * mc do. Smooth losses (the squared hinge) use the same loop with constant mu. Cost: one Newton
 * step per iteration, usually 10 to 50 iterations. */
#ifndef METHODS_SMOOTHING_PATH_H
#define METHODS_SMOOTHING_PATH_H

#include "common/base/error.h"
#include "fit/monitor.h"
#include "fit/stop.h"

#include <stdbool.h>
#include <stdint.h>

/* An iterate. */
struct huber_point {
    double primal, dual; /* bounds of the original problem */
    double residual;     /* of the smoothed problem: half the squared norm of its gradient */
};

/* The first and largest mu, in the unit of the margins, which are 1. */
static const double HUBER_FIRST_MU = 1;

struct huber_path;

/* The operations of a problem. Each gets the path's context, and if it has such a parameter the
 * path, read-only. Functions return 0, or -1 with err set. */
struct huber_steps {
    /* Computes bounds and residual at the current point, for the smoothing path->mu. */
    int (*evaluate)(void *context, const struct huber_path *path, struct huber_point *point,
                    struct error *err);
    /* The evaluated point has the best primal so far, or its alpha the best dual: store it. */
    void (*store_primal)(void *context);
    void (*store_dual)(void *context);
    /* For a predictor step: changes the gradient to that of `mu`, with the smoothed region of the
     * current mu, region_mu. */
    int (*lower_mu)(void *context, double region_mu, double mu, struct error *err);
    /* Computes the Newton step for the current gradient and the Hessian of path->mu, with the
     * smoothed region of region_mu. *found = false if rounding leaves no Hessian that can be
     * factored, or the deadline has passed. */
    int (*step)(void *context, const struct huber_path *path, double region_mu, bool *found,
                struct error *err);
    /* Line search along the step for path->mu. */
    int (*search)(void *context, const struct huber_path *path, struct error *err);
};

struct huber_path {
    const struct huber_steps *steps;
    void *context;
    const struct monitor *monitor;
    double epsilon;        /* target of the relative gap */
    bool piecewise_linear; /* the loss is smoothed by mu; false: it is smooth, mu is constant */
    double min_mu;         /* where rounding of margins / mu ends the path */
    double mu;             /* the current smoothing */

    struct huber_point point; /* of the last evaluation */
    double primal, dual;      /* the best bounds; initially INFINITY, and of a stored dual point */
    uint64_t iterations;      /* corrector and predictor steps */
    enum stop_reason reason;  /* why it ended */
};

/* Iterates from the current point and mu until the relative gap of the best bounds is epsilon, or
 * another reason stops it (path->reason). */
int huber_path_run(struct huber_path *path, struct error *err);

#endif
