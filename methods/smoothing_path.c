/* The predictor-corrector loop over mu. */
#include "methods/smoothing_path.h"

#include "common/base/gap.h"

#include <math.h>

/* A predictor step aims at no less than this fraction of the target gap. */
static const double TARGET_FRACTION = 0.3;

/* Progress is a gap lower by this fraction, or a residual lower by this fraction since mu last fell
 * to a new minimum. */
static const double MIN_GAP_FALL = 1e-4, MIN_RESIDUAL_FALL = 0.5;

/* The present state of the schedule of mu. */
struct mu_state {
    double factor, min_factor; /* of mu: for the next predictor step, and its minimum */
    int corrections;           /* corrector steps since the last one */
};

static int evaluate(struct huber_path *path, struct error *err) {
    struct huber_point *point = &path->point;
    if (path->steps->evaluate(path->context, path, point, err) < 0) {
        return -1;
    }
    if (point->dual > path->dual) {
        path->dual = point->dual;
        if (path->steps->store_dual) {
            path->steps->store_dual(path->context);
        }
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

/* True if at most the fraction `part` of the gap is due to the residual, and the rest to the
 * smoothing. */
static bool is_smooth(const struct huber_path *path, double part) {
    return path->point.residual < part * (path->point.primal - path->point.dual);
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
    bool moved = true;
    if (path->steps->search(path->context, path, &moved, err) < 0) {
        return -1;
    }
    if (!moved) {
        path->reason = STOP_ROUNDING;
        return 0;
    }
    return evaluate(path, err);
}

/* Moves along a predictor step from mu = `from` to the current mu, halved until it stays near the
 * path. *length: the fraction taken. */
static int move(struct huber_path *path, double from, double *length, struct error *err) {
    const struct huber_schedule *schedule = path->schedule;
    double to = path->mu, moved_so_far = 0;
    for (*length = 1;; *length *= 0.5) {
        path->steps->move(path->context, *length - moved_so_far);
        moved_so_far = *length;
        path->mu = from + *length * (to - from);
        if (evaluate(path, err) < 0) {
            return -1;
        }
        if (is_smooth(path, schedule->max_residual) || *length < schedule->min_length ||
            is_reached(path)) {
            return 0;
        }
    }
}

static int predict(struct huber_path *path, struct mu_state *state, struct error *err) {
    const struct huber_schedule *schedule = path->schedule;
    const struct huber_point *point = &path->point;
    double smoothing = point->primal - point->dual - point->residual; /* proportional to mu */
    double target_factor = TARGET_FRACTION * path->epsilon * point->primal / smoothing;
    double region_mu = path->mu, length = 1;
    path->mu = fmax(region_mu * fmin(fmax(state->factor, target_factor), schedule->max_factor),
                    schedule->min_mu);
    if (path->steps->lower_mu(path->context, region_mu, path->mu, err) < 0 ||
        find_step(path, region_mu, err) < 0) {
        return -1;
    }
    if (path->reason) {
        return 0;
    }
    int status = path->steps->move ? move(path, region_mu, &length, err) : search(path, err);
    bool full = length == 1;
    state->factor = fmax(full ? state->factor * schedule->default_factor : schedule->default_factor,
                         state->min_factor);
    state->corrections = 0;
    return status;
}

static int correct(struct huber_path *path, struct mu_state *state, struct error *err) {
    const struct huber_schedule *schedule = path->schedule;
    if (!path->steps->move) {
        state->factor = schedule->default_factor;
    } else if (path->piecewise_linear &&
               ++state->corrections > schedule->max_corrections) { /* raise mu */
        state->corrections = 0;
        state->min_factor = state->factor =
            fmin(state->min_factor * schedule->increase, schedule->max_factor);
        path->mu *= schedule->increase;
        if (evaluate(path, err) < 0) {
            return -1;
        }
    }
    if (find_step(path, path->mu, err) < 0) {
        return -1;
    }
    return path->reason ? 0 : search(path, err);
}

int huber_path_run(struct huber_path *path, struct error *err) {
    const struct huber_schedule *schedule = path->schedule;
    struct mu_state state = {.factor = schedule->default_factor,
                             .min_factor = schedule->min_factor};
    double best_gap = INFINITY, min_mu = INFINITY, best_residual = INFINITY;
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
        /* if mu may also rise, a new minimum of it is progress */
        bool new_min = path->mu < min_mu;
        bool residual_fell = path->point.residual < best_residual * (1 - MIN_RESIDUAL_FALL);
        bool progress =
            residual_fell || gap < best_gap * (1 - MIN_GAP_FALL) || (new_min && path->steps->move);
        stalled = progress ? 0 : stalled + 1;
        best_residual = residual_fell || new_min ? path->point.residual : best_residual;
        best_gap = fmin(best_gap, gap);
        min_mu = fmin(min_mu, path->mu);
        bool smooth = path->piecewise_linear && is_smooth(path, schedule->predictor_residual);
        if (stalled >= schedule->patience || (smooth && path->mu <= schedule->min_mu)) {
            path->reason = STOP_ROUNDING;
            return 0;
        }
        if ((smooth ? predict : correct)(path, &state, err) < 0) {
            return -1;
        }
    }
    return 0;
}

int huber_path_choose_mu(struct huber_path *path, double first, double factor, double last,
                         double *dual, struct error *err) {
    double best_mu = first;
    *dual = -INFINITY;
    for (double mu = first; factor > 1 ? mu <= last : mu >= last; mu *= factor) {
        path->mu = mu;
        if (evaluate(path, err) < 0) {
            return -1;
        }
        if (path->point.dual > *dual) {
            *dual = path->point.dual;
            best_mu = mu;
        } else if (factor > 1) {
            break;
        }
        if (monitor_past_deadline(path->monitor)) {
            break;
        }
    }
    path->mu = best_mu;
    return 0;
}
