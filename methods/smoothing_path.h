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
 * With `recentre`, each minimum is that of the loss smoothed about the a of the last one instead:
 * the method of multipliers, which converges for any mu, so mu is lowered only where the gap does
 * not fall by half from one centre to the next. Multiples of these minima are tried as the best w.
 *
 * The caller defines the problem, computes the Newton steps and stores the best dual points: rank
 * and mc do. Smooth losses (the squared hinge) use the same loop with constant mu. Cost: one Newton
 * step per iteration, usually 10 to 50 iterations. */
#ifndef METHODS_SMOOTHING_PATH_H
#define METHODS_SMOOTHING_PATH_H

#include "fit/monitor.h"
#include "fit/risk.h"
#include "fit/score_map.h"
#include "fit/stop.h"

/* An iterate. */
struct huber_point {
    double primal, dual; /* bounds of the original problem */
    double residual;     /* of the smoothed problem: half the squared norm of its gradient */
};

/* The operations of a problem, which get the path's context. They return 0, or -1 with err set. */
struct huber_steps {
    /* *dual = the dual bound at the evaluated point, for |dual_weights|^2 = squared_norm. */
    int (*dual_bound)(void *context, double squared_norm, double *dual, struct error *err);
    /* The alpha of the evaluated point has the best dual so far: store it. */
    void (*store_dual)(void *context);
    /* For a predictor step: g = the gradient of the risk by the scores, for the current mu, with
     * the smoothed region of region_mu. NULL with `recentre`, which leaves no predictor steps. */
    void (*model_gradient)(void *context, double region_mu);
    /* Smooths about the a of this minimum (max a'u - mu/2 |a - centre|^2), with this mu. NULL:
     * about 0, and mu is lowered. */
    void (*recentre)(void *context, double mu);
    /* Computes the Newton step and step_s for the current gradient and the Hessian of mu, with the
     * smoothed region of region_mu. *found = false if rounding leaves no Hessian that can be
     * factored, or the deadline has passed. */
    int (*step)(void *context, double region_mu, bool *found, struct error *err);
};

struct huber_path {
    const struct huber_steps *steps;
    void *context;
    const struct monitor *monitor;
    const struct score_map *map;
    struct risk risk;      /* the smoothed risk, for *mu */
    double *mu;            /* the current smoothing */
    const double *loss;    /* the original risk at the last evaluation of `risk` */
    double cost;           /* C */
    double epsilon;        /* target of the relative gap */
    bool piecewise_linear; /* the loss is smoothed by mu; false: mu is constant */
    /* accuracy of the line search, relative to the target of primal - dual; 0: exact, however
     * little is gained */
    double line_target;

    /* (dimension) iterate, gradient, Newton step, the dual point's weights -C A'g; and the iterate
     * with the best primal */
    double *w, *gradient, *step, *dual_weights, *best_w;
    /* (n) A w, gradient of the risk by the scores, A step, work of the line search, A gradient
     * (unless map->primal) */
    double *s, *g, *step_s, *trial, *gradient_s;
    double length;                      /* of the last step, as a multiple of Newton's */
    double squared_norm, value, offset; /* |w|^2, the smoothed risk at w and its offset */

    struct huber_point point; /* of the last evaluation */
    double primal, dual;      /* the best bounds; initially INFINITY, and of a stored dual point */
    uint64_t iterations;      /* corrector and predictor steps */
    enum stop_reason reason;  /* why it ended */
};

/* <x, y>: of weights, or of the functions with coefficients x and y; y_scores (n) = A y. */
double huber_inner(const struct score_map *map, const double *x, const double *y,
                   const double *y_scores);

/* Iterates from w, its scores s and mu until the relative gap of the best
 * bounds is epsilon, or another reason stops it (path->reason). The caller allocates all arrays. */
int huber_path_run(struct huber_path *path, struct error *err);

#endif
