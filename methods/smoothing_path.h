/* Newton's method down a path of smoothed problems, after Huber's hinge.
 *
 * A loss with kinks, max over a of a'u with a in a box or a simplex, becomes max a'u - mu/2 |a|^2,
 * which bends only where a is inside: in the band. alpha = C a is feasible for the dual of the loss
 * itself wherever the solver is, so both bounds of the true problem are always known. At the
 * minimum for mu they lie a distance apart that falls with mu, about linearly: mu goes down until
 * the gap is what is wanted. Minima move with mu along a line as long as the band keeps its
 * members: so a Newton step with the gradient of the new mu and the band of the old one leads to
 * the next of them, and plain Newton steps correct it.
 *
 * What the problem is, how its Newton steps are computed and which points are kept is the caller's:
 * rank, mc and smm have one each. Losses without kinks (the squared hinge) go the same way, with no
 * mu to lower. */
#ifndef METHODS_SMOOTHING_PATH_H
#define METHODS_SMOOTHING_PATH_H

#include "common/base/error.h"
#include "fit/monitor.h"
#include "fit/stop.h"

#include <stdbool.h>
#include <stdint.h>

/* A point on the way. */
struct huber_point {
    double primal, dual; /* bounds of the true problem */
    double residual;     /* of the smooth one: half the squared norm of its gradient */
};

/* How mu goes down. Steps down are by `careful`, and by its powers as long as they come easy. */
struct huber_pace {
    double near;                /* part of the gap that the residual may be for mu to go down */
    double careful, bold, most; /* factors of mu: usually, the boldest, the most timid */
    double least;               /* mu at which rounding of u / mu ends it */
    int patience;               /* steps without a better gap, after which rounding ends it */

    /* with `move` only: */
    double far;      /* part of the gap that the residual may be at the end of a step down, */
    double shortest; /* unless the step is cut to less than this */
    int corrections; /* steps at one mu that should do; more: kinks are in the way, and mu goes */
    double back;     /* up by this factor, then down in shorter steps */
};

struct huber_path;

/* What a problem does for the path. Each function gets the path's context and, where it has one,
 * the path to read; it returns 0, or -1 with err set. */
struct huber_steps {
    /* Bounds and residual at the point where the solver is, smoothed by path->mu. */
    int (*look)(void *context, const struct huber_path *path, struct huber_point *at,
                struct error *err);
    /* The point looked at has the best primal so far; its alpha the best dual. NULL: not kept. */
    void (*keep_primal)(void *context);
    void (*keep_dual)(void *context);
    /* The gradient becomes that of `mu`, with the band that it has at the present mu, `band`. */
    int (*lower)(void *context, double band, double mu, struct error *err);
    /* The Newton step for the gradient at hand and the Hessian of path->mu, with the band of mu =
     * `band`. *found = false if rounding leaves no Hessian that can be factored,
     * or it is late. */
    int (*step)(void *context, const struct huber_path *path, double band, bool *found,
                struct error *err);
    /* Goes along the step to the minimum for path->mu. *moved = false if it leads nowhere. */
    int (*search)(void *context, const struct huber_path *path, bool *moved, struct error *err);
    /* Goes along the step by `length` of it. With this, a step down is cut, and mu's with it, where
     * it leads too far from the path: for minima of mu between the old and the new one lie nearly
     * on the line to the new one. (A search with the new mu would put most rows out of the band.)
     * NULL: it is searched along as any other. */
    void (*move)(void *context, double length);
};

struct huber_path {
    const struct huber_steps *steps;
    void *context;
    const struct huber_pace *pace;
    const struct monitor *monitor;
    double epsilon;
    bool kinks; /* the loss has some: mu counts */
    double mu;

    struct huber_point at; /* of the last look */
    double primal, dual; /* the best so far; at first INFINITY, and of a dual point that is kept */
    uint64_t iterations; /* steps and steps down, counted on */
    enum stop_reason reason; /* of the last run */
};

/* Goes on from the point and mu where the solver is, until the best bounds are within epsilon of
 * one another, or for another reason. */
int huber_path_run(struct huber_path *path, struct error *err);

/* Looks at the point for mu = first, first * factor, ... up or down to last, and leaves mu where
 * the dual bound is best; upwards it ends where that falls. *dual gets it. */
int huber_path_try(struct huber_path *path, double first, double factor, double last, double *dual,
                   struct error *err);

#endif
