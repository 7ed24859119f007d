/* The predictor-corrector loop over mu. */
#include "methods/smoothing_path.h"

#include "common/base/gap.h"

#include <math.h>

/* A predictor step lowers mu if the residual is below this fraction of the gap of the same point.
 */
static const double PREDICTOR_RESIDUAL = 0.5;

/* The first and largest factor by which a predictor step multiplies mu; after successive ones its
 * powers, down to the least. */
static const double FACTOR = 0.3, MIN_FACTOR = 0.01;

/* A predictor step aims at no less than this fraction of the target gap. */
static const double TARGET_FRACTION = 0.3;

enum { PATIENCE = 25 /* iterations without progress after which the path has stalled */ };

/* Progress is a gap lower by this fraction, or a residual lower by this fraction since mu last fell
 * to a new minimum. */
static const double MIN_GAP_FALL = 1e-4, MIN_RESIDUAL_FALL = 0.5;

static int evaluate(struct huber_path *path, struct error *err) {
    struct huber_point *point = &path->point;
    if (path->steps->evaluate(path->context, path, point, err) < 0) {
        return -1;
    }
    if (point->dual > path->dual) {
        path->dual = point->dual;
        path->steps->store_dual(path->context);
    }
    if (point->primal < path->primal) {
        path->primal = point->primal;
        path->steps->store_primal(path->context);
    }
    return 0;
}

static bool is_reached(const struct huber_path *path) {
    return gap_reached(path->primal, path->dual, path->epsilon);
}

/* Computes the Newton step. If there is none, sets path->reason, which ends the path. */
static int find_step(struct huber_path *path, double region_mu, struct error *err) {
    bool found = true;
    if (path->steps->step(path->context, path, region_mu, &found, err) < 0) {
        return -1;
    }
    path->reason = found                                  ? STOP_REACHED
                   : monitor_past_deadline(path->monitor) ? STOP_TIME
                                                          : STOP_ROUNDING;
    return 0;
}

/* Line search along the step for the current mu. */
static int search(struct huber_path *path, struct error *err) {
    return path->steps->search(path->context, path, err) < 0 ? -1 : evaluate(path, err);
}

/* A predictor step, which multiplies mu by the factor unless the target needs less. */
static int predict(struct huber_path *path, double factor, struct error *err) {
    const struct huber_point *point = &path->point;
    double smoothing = point->primal - point->dual - point->residual; /* proportional to mu */
    double target_factor = TARGET_FRACTION * path->epsilon * point->primal / smoothing;
    double region_mu = path->mu;
    path->mu = fmax(region_mu * fmin(fmax(factor, target_factor), FACTOR), path->min_mu);
    if (path->steps->lower_mu(path->context, region_mu, path->mu, err) < 0 ||
        find_step(path, region_mu, err) < 0) {
        return -1;
    }
    return path->reason ? 0 : search(path, err);
}

static int correct(struct huber_path *path, struct error *err) {
    if (find_step(path, path->mu, err) < 0) {
        return -1;
    }
    return path->reason ? 0 : search(path, err);
}

int huber_path_run(struct huber_path *path, struct error *err) {
    double factor = FACTOR; /* of mu for the next predictor step */
    double best_gap = INFINITY, best_residual = INFINITY;
    int stalled = 0;
    bool smooth = false;
    path->reason = STOP_REACHED;
    if (evaluate(path, err) < 0) {
        return -1;
    }
    while (!path->reason && !is_reached(path)) {
        double gap = path->primal - path->dual;
        path->iterations++;
        path->reason = monitor_check(path->monitor, path->iterations, path->primal, path->dual);
        if (path->reason) {
            return 0;
        }
        bool residual_fell = path->point.residual < best_residual * (1 - MIN_RESIDUAL_FALL);
        stalled = residual_fell || gap < best_gap * (1 - MIN_GAP_FALL) ? 0 : stalled + 1;
        /* `smooth` is that of the last iteration, which has lowered mu */
        best_residual = residual_fell || smooth ? path->point.residual : best_residual;
        best_gap = fmin(best_gap, gap);
        smooth =
            path->piecewise_linear &&
            path->point.residual < PREDICTOR_RESIDUAL * (path->point.primal - path->point.dual);
        if (stalled >= PATIENCE || (smooth && path->mu <= path->min_mu)) {
            path->reason = STOP_ROUNDING;
            return 0;
        }
        if ((smooth ? predict(path, factor, err) : correct(path, err)) < 0) {
            return -1;
        }
        factor = smooth ? fmax(factor * FACTOR, MIN_FACTOR) : FACTOR;
    }
    return 0;
}
