/* The iteration of the active-set method: Newton steps on the free set, and the changes of the free
 * set and its factor at bounds. See active_set.h. */
#include "families/mc/solver/active_set.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "families/mc/solver/active_set_private.h"

#include <math.h>
#include <stdlib.h>

enum {
    FULL_STEPS = 3, /* Newton steps without meeting a bound: more than one corrects rounding */
    /* A free set of more than SMALL_FACE variables is factored anew when half of them are fixed, or
     * more than 1/LEAVING at once: an update moves half of the factor through memory for each, a new
     * factorisation works in the cache. */
    SMALL_FACE = 48,
    LEAVING = 32
};

/* Relative tolerance for bounds that are met at the same step length. */
static const double TOGETHER = 1e-12;
/* A step is continued beyond a bound, without the variables there, while its slope is at least this
 * part of the initial one. */
static const double LEAST_SLOPE = 0.5;
/* A step whose slope is less than this part of the largest so far is due to rounding. */
static const double FLAT = 1e-12;

int mc_active_create(struct mc_active **active, const struct mc_task *task, struct error *err) {
    struct mc_active *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->task = task;
    made->alpha = memory_array(task->shape.k, sizeof(double), "a block", err);
    made->slack = memory_array(task->shape.k + 1, sizeof(double), "a block", err);
    if (!made->alpha || !made->slack) {
        mc_active_free(made);
        return -1;
    }
    *active = made;
    return 0;
}

void mc_active_free(struct mc_active *active) {
    if (!active) {
        return;
    }
    free(active->row);
    free(active->direction);
    free(active->gradient);
    free(active->effect);
    factor_free(&active->factor);
    free(active->K);
    free(active->index);
    free(active->alpha);
    free(active->slack);
    free(active);
}

/* ---- steps ---- */

/* Sets the Newton step, and its product with the matrix (without the ridge). */
static void find_step(struct mc_active *active) {
    for (size_t t = 0; t < active->n_directions; t++) {
        active->step[t] = active->direction[t].out ? 0 : active->gradient[t];
    }
    factor_solve(&active->factor, active->step);
    for (size_t t = 0; t < active->n_directions; t++) {
        active->pull[t] = active->gradient[t] - active->ridge[t] * active->step[t];
    }
}

/* The decrease of a row's reference along the step. */
static double loss_of(const struct mc_active *active, const struct face_row *row) {
    double loss = 0;
    for (size_t t = row->first; t < row->end; t++) {
        loss += active->step[t];
    }
    return loss;
}

/* The step length at which a value that changes at this rate reaches 0 or `high`. */
static double room(double value, double high, double rate) {
    return rate < 0 ? -value / rate : rate > 0 ? (high - value) / rate : INFINITY;
}

/* The largest feasible step length, up to `most`. */
static double longest(const struct mc_active *active, const double *cap, double most) {
    for (size_t r = 0; r < active->n_rows; r++) {
        const struct face_row *row = &active->row[r];
        double high = row->reference == MC_NO_ENTRY ? cap[row->y] : INFINITY;
        for (size_t t = row->first; t < row->end; t++) {
            most = fmin(most, room(active->direction[t].value, high, active->step[t]));
        }
        if (row->reference != MC_NO_ENTRY) {
            most = fmin(most, room(row->reference_value, INFINITY, -loss_of(active, row)));
        }
    }
    return most;
}

/* Removes direction t from the step. */
static void halt(struct mc_active *active, size_t t) {
    double step = active->step[t], *row = active->factor.work;
    if (step != 0) {
        mc_active_matrix_row(active, t, 0, row);
        array_add(active->pull, -step, row, active->n_directions);
        active->step[t] = 0;
    }
}

/* Takes `length` times the step, and removes from it the directions that meet a bound. Returns their
 * number. */
static size_t go(struct mc_active *active, const double *cap, double length) {
    double reach = length * (1 + TOGETHER);
    size_t met = 0;
    array_add(active->gradient, -length, active->pull, active->n_directions);
    for (size_t r = 0; r < active->n_rows; r++) {
        struct face_row *row = &active->row[r];
        bool box = row->reference == MC_NO_ENTRY;
        double high = box ? cap[row->y] : INFINITY, loss = box ? 0 : loss_of(active, row);
        row->empty = row->empty || (!box && room(row->reference_value, INFINITY, -loss) <= reach);
        row->reference_value = row->empty ? 0 : fmax(0, row->reference_value - length * loss);
        for (size_t t = row->first; t < row->end; t++) {
            struct direction *direction = &active->direction[t];
            double step = active->step[t];
            if (step == 0) {
                continue;
            }
            bool bound = room(direction->value, high, step) <= reach;
            direction->value = bound ? (step < 0 ? 0 : high)
                                     : fmin(fmax(0, direction->value + length * step), high);
            direction->out = bound;
            met += bound || row->empty;
            if (bound || row->empty) {
                halt(active, t);
            }
        }
    }
    return met;
}

/* Goes along the step to the maximum. At bounds it continues without the directions that met them,
 * while the slope is large enough. Returns the gain; *met: whether it met bounds. */
static double follow(struct mc_active *active, const double *cap, bool *met) {
    size_t n = active->n_directions;
    double slope = array_dot(active->gradient, active->step, n), gain = 0,
           least = LEAST_SLOPE * slope;
    *met = false;
    for (double limit = 1; slope > least;) {
        double curvature = fmax(0, array_dot(active->step, active->pull, n));
        limit = *met ? slope / curvature : 1;
        double length = longest(active, cap, limit);
        gain += length * slope - length * length / 2 * curvature;
        if (go(active, cap, length) == 0) {
            break;
        }
        *met = true;
        slope = array_dot(active->gradient, active->step, n);
    }
    return gain;
}

/* Fixes direction t, and eliminates it from the factor unless that is made anew. */
static void drop(struct mc_active *active, size_t t, bool anew) {
    struct direction *direction = &active->direction[t];
    if (!direction->dropped) {
        direction->out = direction->dropped = true;
        active->gradient[t] = 0;
        active->n_moving--;
        if (!anew) {
            factor_drop(&active->factor, t);
        }
    }
}

/* Fixes the directions of a row that met a bound; updates the factor unless it is made anew. If the
 * row's reference is 0, its first direction that is not fixed becomes the reference. */
static void settle_row(struct mc_active *active, struct face_row *row, bool anew) {
    size_t first = row->end;
    for (size_t t = row->end; t-- > row->first;) {
        if (active->direction[t].out) {
            drop(active, t, anew);
        } else {
            first = t;
        }
    }
    if (!row->empty || first == row->end) {
        return;
    }
    row->empty = false;
    row->reference = active->direction[first].entry;
    row->reference_value = active->direction[first].value;
    active->direction[first].value = 0; /* the old reference, which is 0, takes its place */
    for (size_t t = first + 1; t < row->end; t++) {
        if (!active->direction[t].out) {
            active->gradient[t] -= active->gradient[first];
            if (!anew) {
                factor_subtract(&active->factor, t, first);
                mc_active_set_effect(active, t);
            }
        }
    }
    drop(active, first, anew);
}

/* Whether so many directions met bounds that a new factor costs less than updates. */
static bool is_for_new_factor(const struct mc_active *active) {
    size_t leaving = 0;
    for (size_t t = 0; t < active->n_directions; t++) {
        leaving += active->direction[t].out && !active->direction[t].dropped;
    }
    return active->n_moving > SMALL_FACE && leaving * LEAVING > active->n_moving;
}

/* Maximises over the free variables, until the maximum is reached (returns true) or a new factor is
 * needed (false). Adds to *gain. */
static bool walk(struct mc_active *active, const struct mc_round *round, double *gain) {
    size_t least = active->n_moving > SMALL_FACE ? active->n_moving / 2 : 0;
    double best = 0;
    for (int full = 0; full < FULL_STEPS;) {
        bool met;
        find_step(active);
        double slope = array_dot(active->gradient, active->step, active->n_directions);
        if (!(slope > FLAT * best) || !isfinite(slope) || monitor_late(round->monitor)) {
            return true;
        }
        best = fmax(best, slope);
        *gain += follow(active, round->cap, &met);
        full += !met;
        bool anew = met && is_for_new_factor(active);
        for (size_t r = 0; met && r < active->n_rows; r++) {
            settle_row(active, &active->row[r], anew);
        }
        if (active->n_moving == 0) {
            return true;
        }
        if (anew || active->n_moving < least) {
            return false;
        }
    }
    return true;
}

/* Maximises the dual over the chosen free set. */
static int ascend(struct mc_active *active, struct mc_round *round, struct error *err) {
    if (active->n_directions == 0) {
        return 0;
    }
    if (mc_active_open_face(active, round, err) < 0) {
        return -1;
    }
    for (bool done = false, factored = true; !done;) {
        active->n_moving = active->n_directions;
        if (mc_active_factor(active, &factored, err) < 0) {
            return -1;
        }
        if (!factored) {
            break;
        }
        done = walk(active, round, &round->gain);
        if (mc_active_store(active, round->alpha, err) < 0) {
            return -1;
        }
        mc_active_compact(active);
    }
    return 0;
}

size_t mc_active_parts(const struct mc_shape *shape) {
    return shape->form->relative || shape->form->centred ? 1 : shape->k;
}

int mc_active_run(struct mc_active *active, struct mc_round *round, struct error *err) {
    size_t parts = mc_active_parts(&active->task->shape);
    round->gain = 0;
    round->size = 0;
    round->crowded = false;
    for (size_t c = 0; c < parts && !(c > 0 && monitor_late(round->monitor)); c++) {
        size_t inside;
        if (mc_active_choose(active, round, parts > 1 ? c : MC_NO_ENTRY, &inside, err) < 0) {
            return -1;
        }
        round->size += active->n_directions;
        if (inside > MC_ACTIVE_MOST) {
            round->crowded = true;
        } else if (ascend(active, round, err) < 0) {
            return -1;
        }
    }
    return 0;
}
