/* The iteration of the active-set method: Newton steps on the free set, and the changes of the free
 * set and its factor at bounds. See active_set.h. */
#include "families/mc/solver/active_set.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "families/mc/solver/active_set_private.h"

#include <math.h>
#include <stdlib.h>

/* A new factor of n variables takes the time of n / ELIMINATIONS eliminations, or of some
 * MIN_ELIMINATIONS where the factor stays in the cache. */
enum { ELIMINATIONS = 16, MIN_ELIMINATIONS = 32 };

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
    free(active->work);
    factor_free(&active->factor);
    free(active->K_block);
    free(active->alpha);
    free(active->slack);
    free(active);
}

/* ---- steps ---- */

/* Sets the Newton step, and its product with the matrix (without the ridge). */
static void find_step(struct mc_active *active) {
    for (size_t t = 0; t < active->n_directions; t++) {
        active->step[t] = active->direction[t].fixed ? 0 : active->gradient[t];
    }
    factor_solve(&active->factor, active->step);
    for (size_t t = 0; t < active->n_directions; t++) {
        active->decrease[t] = active->gradient[t] - active->ridge[t] * active->step[t];
    }
}

/* The decrease of a row's reference along the step. */
static double reference_decrease(const struct mc_active *active, const struct free_row *row) {
    double decrease_rate = 0;
    for (size_t t = row->first; t < row->end; t++) {
        decrease_rate += active->step[t];
    }
    return decrease_rate;
}

/* The step length at which a value that changes at this rate reaches 0 or `high`. */
static double length_to_bound(double value, double high, double rate) {
    return rate < 0 ? -value / rate : rate > 0 ? (high - value) / rate : INFINITY;
}

/* The largest feasible step length, up to `max`. */
static double max_length(const struct mc_active *active, const double *row_cap, double max) {
    for (size_t r = 0; r < active->n_rows; r++) {
        const struct free_row *row = &active->row[r];
        double high = row->reference == MC_NO_ENTRY ? row_cap[row->i] : INFINITY;
        for (size_t t = row->first; t < row->end; t++) {
            max = fmin(max, length_to_bound(active->direction[t].value, high, active->step[t]));
        }
        if (row->reference != MC_NO_ENTRY) {
            max = fmin(max, length_to_bound(row->reference_value, INFINITY,
                                            -reference_decrease(active, row)));
        }
    }
    return max;
}

/* Removes direction t from the step. */
static void remove_from_step(struct mc_active *active, size_t t) {
    double step = active->step[t], *row = active->factor.work;
    if (step != 0) {
        mc_active_matrix_row(active, t, 0, row);
        array_add(active->decrease, -step, row, active->n_directions);
        active->step[t] = 0;
    }
}

/* Takes `length` times the step, and removes from it the directions that meet a bound, and those of
 * rows whose reference becomes 0. Returns the number of both, of directions and of such rows. */
static size_t take_step(struct mc_active *active, const double *row_cap, double length) {
    size_t met = 0;
    array_add(active->gradient, -length, active->decrease, active->n_directions);
    for (size_t r = 0; r < active->n_rows; r++) {
        struct free_row *row = &active->row[r];
        bool box = row->reference == MC_NO_ENTRY;
        double high = box ? row_cap[row->i] : INFINITY,
               decrease_rate = box ? 0 : reference_decrease(active, row);
        bool emptied = !row->empty && !box &&
                       length_to_bound(row->reference_value, INFINITY, -decrease_rate) <= length;
        row->empty = row->empty || emptied;
        met += emptied;
        row->reference_value =
            row->empty ? 0 : fmax(0, row->reference_value - length * decrease_rate);
        for (size_t t = row->first; t < row->end; t++) {
            struct direction *direction = &active->direction[t];
            double step = active->step[t];
            if (step == 0) {
                continue;
            }
            bool bound = length_to_bound(direction->value, high, step) <= length;
            direction->value = bound ? (step < 0 ? 0 : high)
                                     : fmin(fmax(0, direction->value + length * step), high);
            direction->fixed = bound;
            met += bound;
            if (bound || row->empty) {
                remove_from_step(active, t);
            }
        }
    }
    return met;
}

/* Goes along the step to the maximum. At bounds it continues without the directions that met them,
 * while the dual rises. Returns the gain; *met: the number of bounds met, each an elimination. */
static double search(struct mc_active *active, const double *row_cap, size_t *met) {
    size_t n = active->n_directions, more = 1;
    double slope = array_dot(active->gradient, active->step, n), gain = 0;
    *met = 0;
    while (slope > 0 && more > 0) {
        double curvature = fmax(0, array_dot(active->step, active->decrease, n));
        double length = max_length(active, row_cap, *met > 0 ? slope / curvature : 1);
        gain += length * slope - length * length / 2 * curvature;
        more = take_step(active, row_cap, length);
        *met += more;
        slope = array_dot(active->gradient, active->step, n);
    }
    return gain;
}

/* Fixes direction t, and eliminates it from the factor, unless that is computed anew. */
static void fix(struct mc_active *active, size_t t) {
    struct direction *direction = &active->direction[t];
    if (!direction->eliminated) {
        direction->fixed = direction->eliminated = true;
        active->gradient[t] = 0;
        active->n_moving--;
        if (!active->outdated) {
            factor_remove(&active->factor, t);
        }
    }
}

/* Fixes the directions of a row that met a bound, and updates the factor. If the row's reference is
 * 0, its first direction that is not fixed becomes the reference. */
static void update_row(struct mc_active *active, struct free_row *row) {
    size_t first = row->end;
    for (size_t t = row->end; t-- > row->first;) {
        if (active->direction[t].fixed) {
            fix(active, t);
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
        if (!active->direction[t].fixed) {
            active->gradient[t] -= active->gradient[first];
            if (!active->outdated) {
                factor_subtract(&active->factor, t, first);
                mc_active_set_effect(active, t);
            }
        }
    }
    fix(active, first);
}

/* Maximises over the free variables, until the maximum is reached (returns true), or a new factor
 * takes less time than to eliminate those that are fixed (false): many at once, or more than half.
 * Adds to *gain. */
static bool maximise(struct mc_active *active, const struct mc_active_iteration *iteration,
                     double *gain) {
    size_t min = active->n_moving / 2, met = 1;
    active->outdated = false;
    while (met > 0 && !active->outdated) {
        find_step(active);
        double slope = array_dot(active->gradient, active->step, active->n_directions);
        if (!(slope > 0) || !isfinite(slope) || monitor_past_deadline(iteration->monitor)) {
            return true;
        }
        *gain += search(active, iteration->row_cap, &met);
        active->outdated = met > larger(MIN_ELIMINATIONS, active->n_directions / ELIMINATIONS);
        for (size_t r = 0; met > 0 && r < active->n_rows; r++) {
            update_row(active, &active->row[r]);
        }
        if (active->n_moving == 0) {
            return true;
        }
        active->outdated = active->outdated || active->n_moving < min;
    }
    return !active->outdated;
}

/* Whether a new factor can be computed before the time limit: the estimate is twice what it takes
 * on a quiet machine. */
static bool has_time(const struct mc_active *active, const struct monitor *monitor) {
    double n = (double)active->n_directions;
    return 2e-11 * n * n * n < monitor_seconds_left(monitor);
}

/* Maximises the dual over the chosen free set. */
static int ascend(struct mc_active *active, struct mc_active_iteration *iteration,
                  struct error *err) {
    if (active->n_directions == 0) {
        return 0;
    }
    if (mc_active_open(active, iteration, err) < 0) {
        return -1;
    }
    for (bool done = false, factored = true; !done && has_time(active, iteration->monitor);) {
        active->n_moving = active->n_directions;
        if (mc_active_factor(active, &factored, err) < 0) {
            return -1;
        }
        if (!factored) {
            break;
        }
        done = maximise(active, iteration, &iteration->gain);
        if (mc_active_store(active, iteration->alpha, err) < 0) {
            return -1;
        }
        mc_active_compact(active, active->gradient);
    }
    return 0;
}

size_t mc_active_subproblems(const struct mc_shape *shape) {
    return shape->form->relative || shape->form->centred ? 1 : shape->k;
}

int mc_active_iterate(struct mc_active *active, struct mc_active_iteration *iteration,
                      struct error *err) {
    size_t n_subproblems = mc_active_subproblems(&active->task->shape);
    iteration->gain = 0;
    iteration->size = 0;
    iteration->too_many = false;
    for (size_t c = 0; c < n_subproblems && !(c > 0 && monitor_past_deadline(iteration->monitor));
         c++) {
        size_t n_inside;
        if (mc_active_choose(active, iteration, n_subproblems > 1 ? c : MC_NO_ENTRY, &n_inside,
                             err) < 0) {
            return -1;
        }
        iteration->size += active->n_directions;
        if (n_inside > iteration->max) {
            iteration->too_many = true;
        } else if (ascend(active, iteration, err) < 0) {
            return -1;
        }
    }
    return 0;
}
