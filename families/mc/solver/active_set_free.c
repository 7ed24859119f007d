/* The free set of an active-set iteration: the choice of the variables, their effects on the
 * coefficients, and the (negative) Hessian of the dual in them. */
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/order.h"
#include "common/kernel/gram.h"
#include "common/linear_algebra/cholesky.h"
#include "families/mc/solver/active_set_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A slack variable of at most this part of the cost, for each class, is 0. Otherwise 3,000 rows of
 * letter, cs at C = 1,000, take 11 iterations instead of 6. */
static const double MAX_ROUNDING = 1e-15;

/* ---- the free variables ---- */

/* The effect of increasing `entry`, and decreasing `reference` (k or MC_NO_ENTRY: none) as much. */
static struct effect effect_of(const struct mc_shape *shape, size_t y, size_t entry,
                               size_t reference) {
    double margin = shape->margin;
    if (entry >= shape->k) { /* the slack variable has no effect of its own */
        struct effect effect = effect_of(shape, y, reference, MC_NO_ENTRY);
        effect.value[0] = -effect.value[0];
        effect.value[1] = -effect.value[1];
        return effect;
    }
    bool alone = reference >= shape->k;
    if (shape->form->relative) {
        return (struct effect){{alone ? y : reference, entry}, {margin, -margin}};
    }
    double own = entry == y ? 1 : -1, other = reference == y ? -1 : 1;
    return (struct effect){{entry, alone ? entry : reference}, {own, alone ? 0 : other}};
}

static double effect_dot(const struct mc_shape *shape, const struct effect *a,
                         const struct effect *b) {
    double dot = 0;
    for (int s = 0; s < 2; s++) {
        for (int t = 0; t < 2; t++) {
            dot += a->class[s] == b->class[t] ? a->value[s] * b->value[t] : 0;
        }
    }
    if (shape->form->centred) {
        dot -= (a->value[0] + a->value[1]) * (b->value[0] + b->value[1]) / (double)shape->k;
    }
    return dot;
}

static int add_direction(struct mc_active *active, struct direction direction, struct error *err) {
    size_t n = active->n_directions;
    if (memory_grow(&active->direction, active->directions_room, n + 1, sizeof direction,
                    "a free set", err) < 0) {
        return -1;
    }
    active->directions_room = memory_room(active->directions_room, n + 1);
    active->direction[active->n_directions++] = direction;
    return 0;
}

static int add_row(struct mc_active *active, struct free_row row, struct error *err) {
    size_t n = active->n_rows;
    if (memory_grow(&active->row, active->rows_room, n + 1, sizeof row, "a free set", err) < 0) {
        return -1;
    }
    active->rows_room = memory_room(active->rows_room, n + 1);
    active->row[active->n_rows++] = row;
    return 0;
}

/* Whether class c duplicates the term of the row's class: with two classes and centred scores,
 * which sum to zero, both terms are the same. With both, atm on heart_scale (polynomial of degree
 * 2, C = 1e4, gap 1e-5) takes 28 iterations instead of 3. */
static bool is_duplicate(const struct mc_shape *shape, size_t y, size_t c) {
    return shape->k == 2 && shape->form->centred && shape->form->own && shape->form->others &&
           c == 1 - y;
}

/* slack (k + 1) = the derivatives of the dual by the alpha of a row with scores s, and by its slack
 * variable, 0. */
static void fill_slack(const struct mc_shape *shape, size_t y, const double *s, double *slack) {
    mc_slacks(shape, y, s, slack);
    slack[shape->k] = 0;
}

/* Adds the free variables of a row whose alpha are in a box, of one class or (MC_NO_ENTRY) all.
 * Returns how many of them are strictly between their bounds; SIZE_MAX if memory is short. */
static size_t box_directions(struct mc_active *active, uint32_t row, size_t y, double cap,
                             size_t only, struct error *err) {
    const struct mc_shape *shape = &active->task->shape;
    size_t n_inside = 0;
    for (size_t c = 0; c < shape->k; c++) {
        double value = active->alpha[c], g = active->slack[c];
        bool low = !(value > 0), high = value >= cap;
        if (!mc_is_term(shape, y, c) || (only != MC_NO_ENTRY && c != only) || (low && !(g > 0)) ||
            (high && !(g < 0))) {
            continue;
        }
        n_inside += !low && !high;
        struct direction direction = {.row = row,
                                      .entry = (uint32_t)c,
                                      .value = fmin(fmax(value, 0), cap),
                                      .gain = low || high ? g * g : INFINITY};
        if (add_direction(active, direction, err) < 0) {
            return SIZE_MAX;
        }
    }
    return n_inside;
}

/* The same for a row on a simplex. The reference is its largest entry. */
static size_t simplex_directions(struct mc_active *active, struct free_row *row, double cap,
                                 struct error *err) {
    const struct mc_shape *shape = &active->task->shape;
    size_t k = shape->k, n_inside = 0;
    double rest = cap;
    bool duplicate = is_duplicate(shape, row->y, 1 - row->y);
    if (duplicate) {
        active->alpha[row->y] += active->alpha[1 - row->y];
        active->alpha[1 - row->y] = 0;
    }
    for (size_t c = 0; c < k; c++) {
        rest -= active->alpha[c];
    }
    rest = rest <= MAX_ROUNDING * (double)k * cap ? 0 : rest;
    row->reference = (uint32_t)k;
    row->reference_value = rest;
    for (size_t c = 0; c < k; c++) {
        if (active->alpha[c] > row->reference_value) {
            row->reference = (uint32_t)c;
            row->reference_value = active->alpha[c];
        }
    }
    for (size_t c = 0; c <= k; c++) {
        double value = c < k ? active->alpha[c] : rest;
        double g = active->slack[c] - active->slack[row->reference];
        if (c == row->reference || (c < k && !mc_is_term(shape, row->y, c)) ||
            is_duplicate(shape, row->y, c) || (value == 0 && !(g > 0))) {
            continue;
        }
        n_inside += value > 0;
        struct direction direction = {.row = (uint32_t)active->n_rows,
                                      .entry = (uint32_t)c,
                                      .value = value,
                                      .gain = value > 0 ? INFINITY : g * g};
        if (add_direction(active, direction, err) < 0) {
            return SIZE_MAX;
        }
    }
    return n_inside;
}

/* ---- the limit of free variables ---- */

/* Keeps the `max` directions with the largest gains. */
static int keep_best(struct mc_active *active, size_t max, struct error *err) {
    size_t n = active->n_directions;
    if (n <= max) {
        return 0;
    }
    double *gain = memory_array(n, sizeof *gain, "a free set", err);
    if (!gain) {
        return -1;
    }
    for (size_t t = 0; t < n; t++) {
        gain[t] = active->direction[t].gain;
    }
    qsort(gain, n, sizeof *gain, order_double);
    double min = gain[n - max];
    size_t n_equal = 0;
    for (size_t t = n - max; t < n && gain[t] == min; t++) {
        n_equal++;
    }
    free(gain);
    for (size_t t = 0; t < n; t++) {
        struct direction *direction = &active->direction[t];
        bool equal = direction->gain == min;
        direction->fixed = equal ? n_equal == 0 : !(direction->gain > min);
        n_equal -= equal && n_equal > 0;
    }
    mc_active_compact(active, NULL);
    return 0;
}

int mc_active_choose(struct mc_active *active, const struct mc_active_iteration *iteration,
                     size_t only, size_t *n_inside, struct error *err) {
    const struct mc_task *task = active->task;
    const struct mc_shape *shape = &task->shape;
    active->n_rows = active->n_directions = *n_inside = 0;
    for (size_t i = 0; i < task->n && *n_inside <= iteration->max; i++) {
        size_t y = task->y[i], first = active->n_directions;
        double cap = iteration->row_cap[i];
        if (!(iteration->q[i] > 0) || !(cap > 0)) {
            continue;
        }
        mc_alpha_load(iteration->alpha, i, active->alpha);
        fill_slack(shape, y, iteration->F + i * shape->k, active->slack);
        struct free_row row = {
            .i = (uint32_t)i, .y = (uint32_t)y, .reference = MC_NO_ENTRY, .first = first};
        size_t found = shape->form->simplex
                           ? simplex_directions(active, &row, cap, err)
                           : box_directions(active, (uint32_t)active->n_rows, y, cap, only, err);
        row.end = active->n_directions;
        if (found == SIZE_MAX || (row.end > first && add_row(active, row, err) < 0)) {
            return -1;
        }
        *n_inside += found;
    }
    double few = (1 + MC_ACTIVE_MAX_FREED) * (double)*n_inside + 1;
    double max = (double)iteration->max;
    max = iteration->few ? fmin(few, max) : max;
    return keep_best(active, (size_t)max, err);
}

/* ---- the matrix ---- */

static int reserve(struct mc_active *active, struct error *err) {
    size_t n = active->n_directions, rows = active->n_rows;
    if (n > active->work_room) {
        free(active->work);
        active->work = ARRAYS_CREATE(
            "a free set", err,
            ARRAYS(n, double, &active->gradient, &active->step, &active->decrease, &active->ridge),
            ARRAYS(n, struct effect, &active->effect));
        active->work_room = active->work ? n : 0;
    }
    if (rows > active->K_room) {
        free(active->K_block);
        active->K_block = ARRAYS_CREATE("a free set", err, ARRAYS(rows * rows, double, &active->K),
                                        ARRAYS(rows, uint32_t, &active->index));
        active->K_room = active->K_block ? rows : 0;
    }
    return n > active->work_room || rows > active->K_room ? -1 : 0;
}

int mc_active_open(struct mc_active *active, const struct mc_active_iteration *iteration,
                   struct error *err) {
    if (reserve(active, err) < 0) {
        return -1;
    }
    const struct mc_shape *shape = &active->task->shape;
    for (size_t r = 0; r < active->n_rows; r++) {
        const struct free_row *row = &active->row[r];
        fill_slack(shape, row->y, iteration->F + row->i * shape->k, active->slack);
        double base = row->reference == MC_NO_ENTRY ? 0 : active->slack[row->reference];
        for (size_t t = row->first; t < row->end; t++) {
            active->gradient[t] = active->slack[active->direction[t].entry] - base;
        }
    }
    return 0;
}

/* K = the kernel matrix at the rows of the free set, with the constant feature. */
static int fill_kernel(struct mc_active *active, struct error *err) {
    const struct problem *problem = active->task->problem;
    size_t n = active->n_rows;
    double square = active->task->bias * active->task->bias;
    for (size_t r = 0; r < n; r++) {
        uint32_t i = active->row[r].i;
        active->index[r] = problem->rows ? problem->rows[i] : i;
    }
    if (gram_block(problem->gram, active->index, n, active->index, n, active->K, err) < 0) {
        return -1;
    }
    for (size_t j = 0; square > 0 && j < n * n; j++) {
        active->K[j] += square;
    }
    return 0;
}

void mc_active_set_effect(struct mc_active *active, size_t t) {
    const struct direction *direction = &active->direction[t];
    const struct free_row *row = &active->row[direction->row];
    active->effect[t] = effect_of(&active->task->shape, row->y, direction->entry, row->reference);
}

void mc_active_matrix_row(const struct mc_active *active, size_t s, size_t first, double *out) {
    const double *K = active->K + active->direction[s].row * active->n_rows;
    for (size_t t = first; t < active->n_directions; t++) {
        out[t] = K[active->direction[t].row] *
                 effect_dot(&active->task->shape, &active->effect[s], &active->effect[t]);
    }
}

/* Fills the upper half of the matrix; `ridge` is relative to its diagonal. */
static void fill_matrix(struct mc_active *active, double ridge) {
    size_t n = active->n_directions;
    for (size_t s = 0; s < n; s++) {
        double *out = active->factor.U + s * n;
        mc_active_matrix_row(active, s, s, out);
        active->ridge[s] = ridge * out[s];
        out[s] += active->ridge[s];
    }
}

int mc_active_factor(struct mc_active *active, bool *done, struct error *err) {
    size_t n = active->n_directions;
    if (fill_kernel(active, err) < 0 || factor_allocate(&active->factor, n, err) < 0) {
        return -1;
    }
    for (size_t t = 0; t < n; t++) {
        mc_active_set_effect(active, t);
    }
    *done = false;
    /* always a ridge: along directions without curvature the step then ends at a bound */
    double ridge = 0;
    while (!*done && (ridge = cholesky_next_ridge(ridge)) < INFINITY) {
        fill_matrix(active, (double)n * ridge);
        *done = factor_compute(&active->factor) == 0;
    }
    return 0;
}

/* ---- results ---- */

int mc_active_store(struct mc_active *active, struct mc_alpha *alpha, struct error *err) {
    size_t k = active->task->shape.k;
    for (size_t r = 0; r < active->n_rows; r++) {
        const struct free_row *row = &active->row[r];
        if (row->reference == MC_NO_ENTRY) {
            mc_alpha_load(alpha, row->i, active->alpha);
        } else { /* entries without a direction are 0 */
            memset(active->alpha, 0, k * sizeof *active->alpha);
        }
        for (size_t t = row->first; t < row->end; t++) {
            if (active->direction[t].entry < k) {
                active->alpha[active->direction[t].entry] = active->direction[t].value;
            }
        }
        if (row->reference < k) {
            active->alpha[row->reference] = row->reference_value;
        }
        if (mc_alpha_store(alpha, row->i, active->alpha, err) < 0) {
            return -1;
        }
    }
    return 0;
}

void mc_active_compact(struct mc_active *active, double *gradient) {
    size_t kept = 0, rows = 0;
    for (size_t r = 0; r < active->n_rows; r++) {
        struct free_row row = active->row[r];
        size_t first = kept;
        for (size_t t = row.first; t < row.end; t++) {
            if (!active->direction[t].fixed) {
                if (gradient) {
                    gradient[kept] = gradient[t];
                }
                active->direction[kept] = active->direction[t];
                active->direction[kept++].row = (uint32_t)rows;
            }
        }
        if (kept > first) {
            row.first = first;
            row.end = kept;
            active->row[rows++] = row;
        }
    }
    active->n_rows = rows;
    active->n_directions = kept;
}
