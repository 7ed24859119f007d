#include "methods/smoothing_path.h"

#include "common/base/gap.h"

#include <math.h>

/* A step down should leave this part of the gap that is wanted, not less. */
static const double ENOUGH = 0.3;

/* A better gap is one that is lower by this part; so is half of the square of a gradient, since mu
 * was last lower than ever. */
static const double BETTER = 1e-4, FLATTER = 0.5;

/* How the way down has been so far. */
struct way {
    double factor, boldest; /* of mu: for the next step down, and the least that it may be */
    int corrections;        /* since the last one */
};

static int look(struct huber_path *path, struct error *err) {
    struct huber_point *at = &path->at;
    if (path->steps->look(path->context, path, at, err) < 0) {
        return -1;
    }
    if (at->dual > path->dual) {
        path->dual = at->dual;
        if (path->steps->keep_dual) {
            path->steps->keep_dual(path->context);
        }
    }
    if (at->primal < path->primal) {
        path->primal = at->primal;
        path->steps->keep_primal(path->context);
    }
    return 0;
}

static bool is_reached(const struct huber_path *path) {
    return gap_reached(path->primal, path->dual, path->epsilon);
}

/* True if the gap comes from the smoothing, but for `part` of it, rather than from a point that is
 * not yet its minimum. */
static bool is_smooth(const struct huber_path *path, double part) {
    return path->at.residual < part * (path->at.primal - path->at.dual);
}

/* Finds the Newton step. There is none, which ends the path, if path->reason is set. */
static int find_step(struct huber_path *path, double band, struct error *err) {
    bool found = true;
    if (path->steps->step(path->context, path, band, &found, err) < 0) {
        return -1;
    }
    path->reason = found ? STOP_REACHED : monitor_late(path->monitor) ? STOP_TIME : STOP_ROUNDING;
    return 0;
}

/* Along the step, to the minimum for the mu there is. */
static int search(struct huber_path *path, struct error *err) {
    bool moved = true;
    if (path->steps->search(path->context, path, &moved, err) < 0) {
        return -1;
    }
    if (!moved) {
        path->reason = STOP_ROUNDING;
        return 0;
    }
    return look(path, err);
}

/* Along a step that goes down from `from` to the mu there is: as much of it as stays near the path.
 * *length is what it took. */
static int move(struct huber_path *path, double from, double *length, struct error *err) {
    const struct huber_pace *pace = path->pace;
    double to = path->mu, gone = 0;
    for (*length = 1;; *length *= 0.5) {
        path->steps->move(path->context, *length - gone);
        gone = *length;
        path->mu = from + *length * (to - from);
        if (look(path, err) < 0) {
            return -1;
        }
        if (is_smooth(path, pace->far) || *length < pace->shortest || is_reached(path)) {
            return 0;
        }
    }
}

static int go_down(struct huber_path *path, struct way *way, struct error *err) {
    const struct huber_pace *pace = path->pace;
    const struct huber_point *at = &path->at;
    double smoothing = at->primal - at->dual - at->residual; /* falls with mu, linearly */
    double enough = ENOUGH * path->epsilon * at->primal / smoothing;
    double band = path->mu, length = 1;
    path->mu = fmax(band * fmin(fmax(way->factor, enough), pace->most), pace->least);
    if (path->steps->lower(path->context, band, path->mu, err) < 0 ||
        find_step(path, band, err) < 0) {
        return -1;
    }
    if (path->reason) {
        return 0;
    }
    int status = path->steps->move ? move(path, band, &length, err) : search(path, err);
    bool easy = length == 1;
    way->factor = fmax(easy ? way->factor * pace->careful : pace->careful, way->boldest);
    way->corrections = 0;
    return status;
}

static int correct(struct huber_path *path, struct way *way, struct error *err) {
    const struct huber_pace *pace = path->pace;
    if (!path->steps->move) {
        way->factor = pace->careful;
    } else if (path->kinks && ++way->corrections > pace->corrections) { /* back up */
        way->corrections = 0;
        way->boldest = way->factor = fmin(way->boldest * pace->back, pace->most);
        path->mu *= pace->back;
        if (look(path, err) < 0) {
            return -1;
        }
    }
    if (find_step(path, path->mu, err) < 0) {
        return -1;
    }
    return path->reason ? 0 : search(path, err);
}

int huber_path_run(struct huber_path *path, struct error *err) {
    const struct huber_pace *pace = path->pace;
    struct way way = {.factor = pace->careful, .boldest = pace->bold};
    double best_gap = INFINITY, least_mu = INFINITY, best_residual = INFINITY;
    int stalled = 0;
    path->reason = STOP_REACHED;
    if (look(path, err) < 0) {
        return -1;
    }
    while (!path->reason && !is_reached(path)) {
        double gap = path->primal - path->dual;
        path->iterations++;
        path->reason = monitor_check(path->monitor, path->iterations, path->primal, path->dual);
        if (path->reason) {
            return 0;
        }
        /* where mu also goes up, one that is lower than ever is progress */
        bool lower = path->mu < least_mu;
        bool flatter = path->at.residual < best_residual * (1 - FLATTER);
        bool progress = flatter || gap < best_gap * (1 - BETTER) || (lower && path->steps->move);
        stalled = progress ? 0 : stalled + 1;
        best_residual = flatter || lower ? path->at.residual : best_residual;
        best_gap = fmin(best_gap, gap);
        least_mu = fmin(least_mu, path->mu);
        bool smooth = path->kinks && is_smooth(path, pace->near);
        if (stalled >= pace->patience || (smooth && path->mu <= pace->least)) {
            path->reason = STOP_ROUNDING;
            return 0;
        }
        if ((smooth ? go_down : correct)(path, &way, err) < 0) {
            return -1;
        }
    }
    return 0;
}

int huber_path_try(struct huber_path *path, double first, double factor, double last, double *dual,
                   struct error *err) {
    double best_mu = first;
    *dual = -INFINITY;
    for (double mu = first; factor > 1 ? mu <= last : mu >= last; mu *= factor) {
        path->mu = mu;
        if (look(path, err) < 0) {
            return -1;
        }
        if (path->at.dual > *dual) {
            *dual = path->at.dual;
            best_mu = mu;
        } else if (factor > 1) {
            break;
        }
        if (monitor_late(path->monitor)) {
            break;
        }
    }
    path->mu = best_mu;
    return 0;
}
