/* The predictor-corrector loop over mu, bounds and line search. */
#include "methods/smoothing_path.h"

#include "common/base/array.h"
#include "common/base/gap.h"
#include "methods/line_search.h"

#include <math.h>
#include <string.h>

/* A point is at the minimum for the current mu if its residual is below this fraction of the gap:
 * of the same point before a predictor step, of the best points if it is to be the next centre. */
static const double RESIDUAL = 0.2;

/* The first and largest factor by which a predictor step multiplies mu; after successive ones its
 * powers, down to the least. With the first alone 2 of 6 linear fits of mc at C = 1e6, of features
 * from .01 to 200, end at 3.5e-6 instead of 3e-7. */
static const double FACTOR = 0.3, MIN_FACTOR = 0.01;

/* mu is multiplied by FACTOR if the gap has stayed above this part of that at the last centre. */
static const double CENTRE_GAIN = 0.5;

/* With centres: multiples 1 + x of w are tried, x from MIN_INCREMENT to MAX_INCREMENT by factors of
 * COARSE. */
static const double MIN_INCREMENT = 1e-9, MAX_INCREMENT = 0.1, COARSE = 8;

enum { PATIENCE = 25 /* iterations without progress after which the path has stalled */ };

double huber_inner(const struct score_map *map, const double *x, const double *y,
                   const double *y_scores) {
    return array_dot(x, map->primal ? y : y_scores, map->dimension);
}

static void evaluate_risk(struct huber_path *path) {
    path->value = path->risk.cut(path->risk.context, path->s, path->g, &path->offset);
}

/* Evaluates the smoothed risk and its gradient at w, and both bounds of the original problem. */
static int evaluate_point(struct huber_path *path, struct error *err) {
    const struct score_map *map = path->map;
    struct huber_point *at = &path->point;
    evaluate_risk(path);
    if (map->adjoint(map, path->g, path->dual_weights, err) < 0) {
        return -1;
    }
    for (size_t k = 0; k < map->dimension; k++) {
        path->dual_weights[k] *= -path->cost;
        path->gradient[k] = path->w[k] - path->dual_weights[k];
    }
    if (!map->primal && map->scores(map, path->gradient, path->gradient_s, err) < 0) {
        return -1;
    }
    path->squared_norm = huber_inner(map, path->w, path->w, path->s);
    double gradient_squared_norm =
        huber_inner(map, path->gradient, path->gradient, path->gradient_s);
    double dual_squared_norm =
        map->primal ? array_dot(path->dual_weights, path->dual_weights, map->dimension)
                    : path->squared_norm - 2 * huber_inner(map, path->gradient, path->w, path->s) +
                          gradient_squared_norm; /* |w - gradient|^2 */
    at->residual = 0.5 * gradient_squared_norm;
    at->primal = 0.5 * path->squared_norm + path->cost * *path->loss;
    if (path->steps->dual_bound(path->context, dual_squared_norm, &at->dual, err) < 0) {
        return -1;
    }
    return isfinite(at->primal) ? 0 : stop_overflow(err);
}

static int evaluate(struct huber_path *path, struct error *err) {
    if (evaluate_point(path, err) < 0) {
        return -1;
    }
    if (path->point.dual > path->dual) {
        path->dual = path->point.dual;
        path->steps->store_dual(path->context);
    }
    if (path->point.primal < path->primal) {
        path->primal = path->point.primal;
        memcpy(path->best_w, path->w, path->map->dimension * sizeof *path->w);
    }
    return 0;
}

static bool is_reached(const struct huber_path *path) {
    return gap_reached(path->primal, path->dual, path->epsilon);
}

/* Computes the Newton step. If there is none, sets path->reason, which ends the path. */
static int find_step(struct huber_path *path, double region_mu, struct error *err) {
    bool found = true;
    if (path->steps->step(path->context, region_mu, &found, err) < 0) {
        return -1;
    }
    path->reason = found                                  ? STOP_REACHED
                   : monitor_past_deadline(path->monitor) ? STOP_TIME
                                                          : STOP_ROUNDING;
    return 0;
}

/* Line search along the step for the current mu. */
static int search(struct huber_path *path, struct error *err) {
    const struct score_map *map = path->map;
    struct linesearch line = {
        .risk = &path->risk,
        .cluster = map->cluster,
        .cost = path->cost,
        .s = path->s,
        .d = path->step_s,
        .squared_norm = path->squared_norm,
        .mixed = huber_inner(map, path->w, path->step, path->step_s),
        .curvature = huber_inner(map, path->step, path->step, path->step_s),
        .value = path->value,
        .slope = cluster_total(map->cluster, array_dot(path->g, path->step_s, map->n)),
        .trial = path->trial,
        .g = path->g,
    };
    double tolerance = path->line_target > 0 ? path->line_target * path->epsilon * path->primal : 0;
    path->length = linesearch_minimise(&line, tolerance).theta;
    array_add(path->w, path->length, path->step, map->dimension);
    return map->scores(map, path->w, path->s, err) < 0 ? -1 : evaluate(path, err);
}

/* Changes the gradient to that of the current mu with the smoothed region of region_mu, and value
 * and g to those of the current mu. */
static int lower_mu(struct huber_path *path, double region_mu, struct error *err) {
    const struct score_map *map = path->map;
    path->steps->model_gradient(path->context, region_mu);
    if (map->adjoint(map, path->g, path->gradient, err) < 0) {
        return -1;
    }
    for (size_t k = 0; k < map->dimension; k++) {
        path->gradient[k] = path->w[k] + path->cost * path->gradient[k];
    }
    evaluate_risk(path);
    return 0;
}

/* A predictor step, which multiplies mu by the factor. */
static int predict(struct huber_path *path, double factor, struct error *err) {
    double region_mu = *path->mu;
    *path->mu *= factor;
    if (lower_mu(path, region_mu, err) < 0 || find_step(path, region_mu, err) < 0) {
        return -1;
    }
    return path->reason ? 0 : search(path, err);
}

/* A corrector step. If it does not move w, the path has stalled: the next one would be the same. */
static int correct(struct huber_path *path, struct error *err) {
    if (find_step(path, *path->mu, err) < 0) {
        return -1;
    }
    if (path->reason) {
        return 0;
    }
    int status = search(path, err);
    path->reason = path->length > 0 ? STOP_REACHED : STOP_ROUNDING;
    return status;
}

static bool is_at_minimum(const struct huber_path *path) {
    double gap =
        path->steps->recentre ? path->primal - path->dual : path->point.primal - path->point.dual;
    return path->point.residual < RESIDUAL * gap;
}

/* Tries multiples of w above 1 as primal points: where the loss can be 0, margins slightly below 1
 * cost more at a large C than a slightly larger norm. */
static void try_multiples(struct huber_path *path) {
    for (double increment = MIN_INCREMENT; increment < MAX_INCREMENT; increment *= COARSE) {
        double factor = 1 + increment, offset;
        array_multiple(path->trial, factor, path->s, path->map->n);
        path->risk.cut(path->risk.context, path->trial, path->g, &offset);
        double primal = 0.5 * factor * factor * path->squared_norm + path->cost * *path->loss;
        if (primal < path->primal) {
            path->primal = primal;
            array_multiple(path->best_w, factor, path->w, path->map->dimension);
        }
    }
}

/* Smooths about the current minimum, and evaluates. */
static int recentre(struct huber_path *path, double *last_gap, struct error *err) {
    double gap = path->primal - path->dual;
    bool slow = gap > CENTRE_GAIN * *last_gap;
    *last_gap = gap;
    try_multiples(path);
    path->steps->recentre(path->context, slow ? *path->mu * FACTOR : *path->mu);
    return evaluate(path, err);
}

int huber_path_run(struct huber_path *path, struct error *err) {
    double factor = FACTOR; /* of mu for the next predictor step */
    double best_gap = INFINITY, centre_gap = INFINITY;
    int stalled = 0;
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
        bool progress = gap < STOP_PROGRESS * best_gap;
        stalled = progress ? 0 : stalled + 1;
        best_gap = progress ? gap : best_gap;
        bool smooth = path->piecewise_linear && is_at_minimum(path);
        if (stalled >= PATIENCE) {
            path->reason = STOP_ROUNDING;
            return 0;
        }
        bool centres = smooth && path->steps->recentre;
        if (centres && recentre(path, &centre_gap, err) < 0) {
            return -1;
        }
        if (centres && is_reached(path)) {
            return 0;
        }
        if ((smooth && !centres ? predict(path, factor, err) : correct(path, err)) < 0) {
            return -1;
        }
        factor = smooth ? fmax(factor * FACTOR, MIN_FACTOR) : FACTOR;
    }
    return 0;
}
