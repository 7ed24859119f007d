/* The predictor-corrector loop over mu. */
#include "methods/smoothing_path.h"

#include "common/base/gap.h"

#include <math.h>

/* A predictor step aims at no less than this fraction of the target gap. */
static const double TARGET_FRACTION = 0.3;

/* Progress is a gap lower by this fraction, or a residual lower by this fraction since mu last fell
 * to a new minimum. */
static const double MIN_GAP_FALL = 1e-4, MIN_RESIDUAL_FALL = 0.5;

/* The state of the schedule of mu. */
struct schedule {
    double factor, min_factor; /* of mu: for the next predictor step, and its minimum */
    int corrections;           /* corrector steps since the last one */
};

static int evaluate(struct huber_path *path, struct error *err) {
    struct huber_point *point = &path->at;
    if (path->steps->look(path->context, path, point, err) < 0) {
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
    return path->at.residual < part * (path->at.primal - path->at.dual);
}

/* Computes the Newton step. If there is none, sets path->reason, which ends the path. */
static int find_step(struct huber_path *path, double band, struct error *err) {
    bool found = true;
    if (path->steps->step(path->context, path, band, &found, err) < 0) {
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
    const struct huber_schedule *pace = path->pace;
    double to = path->mu, moved_so_far = 0;
    for (*length = 1;; *length *= 0.5) {
        path->steps->move(path->context, *length - moved_so_far);
        moved_so_far = *length;
        path->mu = from + *length * (to - from);
        if (evaluate(path, err) < 0) {
            return -1;
        }
        if (is_smooth(path, pace->far) || *length < pace->shortest || is_reached(path)) {
            return 0;
        }
    }
}

static int predict(struct huber_path *path, struct schedule *schedule, struct error *err) {
    const struct huber_schedule *pace = path->pace;
    const struct huber_point *point = &path->at;
    double smoothing = point->primal - point->dual - point->residual; /* proportional to mu */
    double target_factor = TARGET_FRACTION * path->epsilon * point->primal / smoothing;
    double band = path->mu, length = 1;
    path->mu = fmax(band * fmin(fmax(schedule->factor, target_factor), pace->most), pace->least);
    if (path->steps->lower(path->context, band, path->mu, err) < 0 ||
        find_step(path, band, err) < 0) {
        return -1;
    }
    if (path->reason) {
        return 0;
    }
    int status = path->steps->move ? move(path, band, &length, err) : search(path, err);
    bool full = length == 1;
    schedule->factor =
        fmax(full ? schedule->factor * pace->careful : pace->careful, schedule->min_factor);
    schedule->corrections = 0;
    return status;
}

static int correct(struct huber_path *path, struct schedule *schedule, struct error *err) {
    const struct huber_schedule *pace = path->pace;
    if (!path->steps->move) {
        schedule->factor = pace->careful;
    } else if (path->kinks && ++schedule->corrections > pace->corrections) { /* raise mu */
        schedule->corrections = 0;
        schedule->min_factor = schedule->factor =
            fmin(schedule->min_factor * pace->back, pace->most);
        path->mu *= pace->back;
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
    const struct huber_schedule *pace = path->pace;
    struct schedule schedule = {.factor = pace->careful, .min_factor = pace->bold};
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
        bool residual_fell = path->at.residual < best_residual * (1 - MIN_RESIDUAL_FALL);
        bool progress =
            residual_fell || gap < best_gap * (1 - MIN_GAP_FALL) || (new_min && path->steps->move);
        stalled = progress ? 0 : stalled + 1;
        best_residual = residual_fell || new_min ? path->at.residual : best_residual;
        best_gap = fmin(best_gap, gap);
        min_mu = fmin(min_mu, path->mu);
        bool smooth = path->kinks && is_smooth(path, pace->near);
        if (stalled >= pace->patience || (smooth && path->mu <= pace->least)) {
            path->reason = STOP_ROUNDING;
            return 0;
        }
        if ((smooth ? predict : correct)(path, &schedule, err) < 0) {
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
        if (path->at.dual > *dual) {
            *dual = path->at.dual;
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
