/* Sweeps over shuffled rows, shrinking, and the forecast of the gap that decides when the bounds
 * are evaluated. On one process and, by rounds of combined steps, over processes. */
#include "families/top/solver/coordinate_descent.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/dispatch.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "families/top/solver/feasible_dual.h"
#include "fit/stop.h"
#include "methods/distributed_ascent.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANDOM_STREAM = 11, /* separates this stream of random numbers from others with the same seed */
    WORK_BETWEEN_CHECKS = 1 << 24, /* multiply-adds between two checks of the deadline */
    ROWS_AHEAD = 2,                /* rows that are prefetched */
};

/* Range of the projected gradient (values are about 1) below which shrunk rows are unshrunk; its
 * powers for further times. Without shrinking 20 newsgroups at C = 100 takes 1.9 times as long. */
static const double VIOLATION = 0.1;

/* The data of a row beside its feature values, kept together because rows come in random order. */
struct variable {
    double alpha;
    double q; /* |x|^2, from the bound of |x| */
    /* upper bound of alpha or, for the squared hinge, 1 / (2 C_i); 0: the row has no loss */
    double limit;
    float sign;  /* 1: positive, -1: in J, 0: neither */
    bool shrunk; /* leaves the active rows after this sweep */
};

/* Over-relaxation: the step is this multiple of the way to the best alpha of the row alone; below 2
 * the dual still increases. Without it 329 instead of 283 sweeps on 20 newsgroups at C = 100. It is
 * 1 in the first sweep from w = 0, whose first steps are already too long: without this 139 instead
 * of 95 sweeps at C = 1, to a gap of 1e-5. */
static const double OVER_RELAXATION = 1.2;

/* The bounds are evaluated when the forecast of the gap (struct top_descent, row_gaps) reaches the
 * target, and in any case after so many sweeps. */
enum { MAX_UNEVALUATED = 10 };

struct top_descent {
    const struct problem *problem;
    const struct score_map *map;
    struct top_risk *risk;
    size_t n, dimension;
    double cost;               /* cost of alpha; 0: there is no alpha yet */
    struct variable *variable; /* (n) */
    double *w;                 /* (dimension) the weight of the constant feature is the last */
    double *s, *work;          /* (n), (2 n) */
    uint32_t *order;           /* (n) active rows first */
    size_t active;
    /* a row at 0 is shrunk if its gradient is below min_kept_slope, a row at its upper bound if its
     * gradient is above max_kept_slope */
    double max_kept_slope, min_kept_slope;
    /* of this sweep: extreme gradients of rows not at a bound, and the largest change of alpha */
    double max_slope, min_slope, max_change;
    bool visited_all;  /* this sweep began with all rows active */
    double relaxation; /* OVER_RELAXATION, or 1 */

    /* Sum over the rows visited in this sweep of C loss - alpha + alpha y f + h alpha^2 / 2. Over
     * all rows and for one w it is primal - dual; here w changes during the sweep. The gap after
     * the sweep is a fraction of the sum, the smaller the faster the sums decrease. */
    double row_gaps;
    struct random random;

    struct rounds rounds; /* for rows distributed over processes: */
    double *start, *step; /* (dimension) w where the exchange began; (dimension + 3) */
    double *alpha_before; /* (n) alpha where the exchange began */
    void *block;          /* all arrays */
};

DISPATCH static double dot_row(const struct stored_row *row, const double *w) {
    double even = 0, odd = 0;
    if (!row->column) {
#pragma omp simd reduction(+ : even)
        for (size_t t = 0; t < row->n; t++) {
            even += (double)row->value[t] * w[t];
        }
        return even;
    }
    size_t t = 0;
    for (; t + 2 <= row->n; t += 2) { /* two independent chains of additions */
        even += (double)row->value[t] * w[row->column[t]];
        odd += (double)row->value[t + 1] * w[row->column[t + 1]];
    }
    return even + odd + (t < row->n ? (double)row->value[t] * w[row->column[t]] : 0);
}

DISPATCH static void add_row(const struct stored_row *row, double factor, double *w) {
    if (!row->column) {
        for (size_t t = 0; t < row->n; t++) {
            w[t] += factor * (double)row->value[t];
        }
        return;
    }
    for (size_t t = 0; t < row->n; t++) {
        w[row->column[t]] += factor * (double)row->value[t];
    }
}

static double cap_of(const struct variable *variable, bool square) {
    return square ? INFINITY : variable->limit;
}

/* The second derivative of alpha's term in the dual. */
static double curvature_of(const struct variable *variable, bool square) {
    return square ? variable->limit : 0;
}

/* Prefetches the next rows: their order is random, so the hardware cannot predict it. */
static inline void fetch_ahead(const struct top_descent *descent, size_t t, size_t end) {
    enum { LINE = 64 / sizeof(float) };
    if (t + ROWS_AHEAD < end) {
        size_t i = descent->order[t + ROWS_AHEAD];
        const struct stored_row row = data_stored(descent->problem->data, i);
        __builtin_prefetch(descent->variable + i, 1);
        for (size_t k = 0; k < row.n; k += LINE) {
            __builtin_prefetch(row.value + k);
            if (row.column) {
                __builtin_prefetch(row.column + k);
            }
        }
    }
}

/* ---- sweeps ---- */

/* The contribution of one row to primal - dual. */
static double row_gap(double alpha, double slope, double cap, double h) {
    if (h > 0) { /* C (1 - m)^2 = (slope + h alpha)^2 / 2h where slope + h alpha > 0 */
        double u = slope + h * alpha;
        return u > 0 ? slope * slope / (2 * h) : alpha * (0.5 * h * alpha - u);
    }
    return slope > 0 ? (cap - alpha) * slope : -alpha * slope;
}

/* Moves alpha of the rows order[first..end), one after the other, to their best values. */
static void visit(struct top_descent *descent, size_t first, size_t end, double factor) {
    const struct data *data = descent->problem->data;
    const bool square = descent->risk->square;
    double constant = descent->problem->constant, *w = descent->w;
    double max_slope = descent->max_slope, min_slope = descent->min_slope,
           max_change = descent->max_change;
    double row_gaps = descent->row_gaps, relaxation = descent->relaxation;
    for (size_t t = first; t < end; t++) {
        size_t i = descent->order[t];
        const struct stored_row row = data_stored(data, i);
        struct variable *variable = descent->variable + i;
        fetch_ahead(descent, t, end);
        double sign = (double)variable->sign, alpha = variable->alpha;
        double cap = cap_of(variable, square), h = curvature_of(variable, square);
        double f = dot_row(&row, w) + (constant > 0 ? constant * w[data->n_features] : 0);
        double slope = 1 - sign * f - h * alpha;
        double curvature = factor * variable->q + h;
        bool at_bound = alpha <= 0 ? slope <= 0 : alpha >= cap && slope >= 0;
        if (at_bound) {
            variable->shrunk =
                alpha <= 0 ? slope < descent->min_kept_slope : slope > descent->max_kept_slope;
            continue;
        }
        row_gaps += row_gap(alpha, slope, cap, h);
        max_slope = slope > max_slope ? slope : max_slope;
        min_slope = slope < min_slope ? slope : min_slope;
        double to = curvature > 0 ? alpha + relaxation * slope / curvature : slope > 0 ? cap : 0;
        to = to > 0 ? to : 0;
        to = to < cap ? to : cap;
        double change = to - alpha;
        if (change == 0) {
            continue;
        }
        max_change = fabs(change) > max_change ? fabs(change) : max_change;
        variable->alpha = to;
        add_row(&row, factor * sign * change, w);
        if (constant > 0) {
            w[data->n_features] += factor * sign * change * constant;
        }
    }
    descent->max_slope = max_slope;
    descent->min_slope = min_slope;
    descent->max_change = max_change;
    descent->row_gaps = row_gaps;
}

/* Combines the steps of all processes since the last exchange, with the best step length. */
static void join(struct top_descent *descent, size_t first, size_t end) {
    size_t d = descent->dimension;
    double *step = descent->step, gained = 0, curvature = 0, factor = descent->rounds.factor;
    for (size_t k = 0; k < d; k++) {
        step[k] = (descent->w[k] - descent->start[k]) / factor;
    }
    for (size_t t = first; t < end; t++) {
        size_t i = descent->order[t];
        double change = descent->variable[i].alpha - descent->alpha_before[i];
        double h = curvature_of(descent->variable + i, descent->risk->square);
        gained += change * (1 - h * descent->alpha_before[i]);
        curvature += h * change * change;
    }
    step[d] = gained;
    step[d + 1] = curvature;
    step[d + 2] = descent->row_gaps;
    cluster_sum(descent->map->cluster, step, d + 3);
    double theta =
        rounds_step_length(&descent->rounds, step[d] - array_dot(step, descent->start, d),
                           step[d + 1] + array_dot(step, step, d));
    for (size_t k = 0; k < d; k++) {
        descent->start[k] += theta * step[k];
    }
    memcpy(descent->w, descent->start, d * sizeof *descent->w);
    for (size_t t = first; t < end; t++) {
        size_t i = descent->order[t];
        double *alpha = &descent->variable[i].alpha, alpha_before = descent->alpha_before[i];
        *alpha = theta < 1 ? alpha_before + theta * (*alpha - alpha_before) : *alpha;
        descent->alpha_before[i] = *alpha;
    }
}

/* Makes all rows active again. */
static void unshrink(struct top_descent *descent) {
    descent->active = 0;
    for (size_t i = 0; i < descent->n; i++) {
        descent->variable[i].shrunk = false;
        if (descent->variable[i].limit > 0) {
            descent->order[descent->active++] = (uint32_t)i;
        }
    }
    descent->max_kept_slope = INFINITY;
    descent->min_kept_slope = -INFINITY;
}

static void shrink(struct top_descent *descent) {
    size_t kept = 0;
    for (size_t t = 0; t < descent->active; t++) {
        uint32_t i = descent->order[t];
        descent->order[kept] = i;
        kept += !descent->variable[i].shrunk;
    }
    descent->active = kept;
    descent->max_kept_slope = descent->max_slope > 0 ? descent->max_slope : INFINITY;
    descent->min_kept_slope = descent->min_slope < 0 ? descent->min_slope : -INFINITY;
}

/* One sweep over the active rows, or `repeats` sweeps; ends early at the deadline. */
static void sweep(struct top_descent *descent, const struct monitor *monitor) {
    struct cluster *cluster = descent->map->cluster;
    const struct rounds *rounds = &descent->rounds;
    double unchecked_work = 0, row_gaps = 0;
    descent->visited_all =
        descent->max_kept_slope == INFINITY && descent->min_kept_slope == -INFINITY;
    descent->max_slope = -INFINITY;
    descent->min_slope = INFINITY;
    descent->max_change = 0;
    random_shuffle(&descent->random, descent->order, descent->active);
    for (size_t part = 0; part < rounds->parts; part++) {
        size_t first, end = rounds_rows(rounds, descent->active, part, &first);
        for (size_t repeat = 0; repeat < rounds->repeats; repeat++) {
            descent->row_gaps = 0;
            visit(descent, first, end, cluster ? rounds->factor : 1);
        }
        if (cluster) {
            join(descent, first, end);
        }
        row_gaps += cluster ? descent->step[descent->dimension + 2] : descent->row_gaps;
        unchecked_work += rounds->work;
        if (unchecked_work > WORK_BETWEEN_CHECKS) {
            unchecked_work = 0;
            if (monitor_past_deadline(monitor)) {
                break;
            }
        }
    }
    double ends[] = {descent->max_slope, -descent->min_slope, descent->max_change};
    cluster_max(cluster, ends, 3);
    descent->max_slope = ends[0];
    descent->min_slope = -ends[1];
    descent->max_change = ends[2];
    descent->row_gaps = row_gaps;
    shrink(descent);
}

/* ---- a solve ---- */

/* Sets the upper bounds for a cost, and scales the last alpha to it. */
static int set_cost(struct top_descent *descent, double cost, struct error *err) {
    const struct top_risk *risk = descent->risk;
    double factor = descent->cost > 0 ? cost / descent->cost : 0;
    for (size_t i = 0; i < descent->n; i++) {
        struct variable *variable = descent->variable + i;
        double C = cost * (variable->sign > 0 ? risk->cost[i] : risk->mass[i]);
        variable->limit = C <= 0 ? 0 : risk->square ? fmax(1 / (2 * C), DBL_TRUE_MIN) : C;
        double cap = C > 0 ? cap_of(variable, risk->square) : 0;
        variable->alpha = fmin(factor * variable->alpha, cap);
        if (descent->map->cluster) {
            descent->alpha_before[i] = variable->alpha;
        }
        descent->s[i] = (double)variable->sign * variable->alpha;
    }
    descent->cost = cost;
    descent->relaxation = factor > 0 ? OVER_RELAXATION : 1;
    unshrink(descent);
    int status = 0;
    if (factor > 0) {
        status = descent->map->adjoint(descent->map, descent->s, descent->w, err);
    } else {
        memset(descent->w, 0, descent->dimension * sizeof *descent->w);
    }
    if (descent->map->cluster) {
        memcpy(descent->start, descent->w, descent->dimension * sizeof *descent->w);
    }
    return status;
}

/* The dual value; squared_norm is |w|^2. */
static double find_dual(const struct top_descent *descent, double squared_norm) {
    double linear = 0;
    for (size_t i = 0; i < descent->n; i++) {
        double alpha = descent->variable[i].alpha;
        double h = curvature_of(descent->variable + i, descent->risk->square);
        linear += alpha - 0.5 * h * alpha * alpha;
    }
    return cluster_total(descent->map->cluster, linear) - 0.5 * squared_norm;
}

/* Computes both bounds. *multiple is the multiple of w whose primal is fit->primal: 1, unless the
 * gap is above epsilon and another multiple has a smaller one. */
static int find_bounds(struct top_descent *descent, double epsilon, struct fit *fit,
                       double *multiple, struct error *err) {
    const struct score_map *map = descent->map;
    double squared_norm = array_dot(descent->w, descent->w, descent->dimension);
    fit->dual = find_dual(descent, squared_norm);
    if (squared_norm == 0) { /* at the start */
        memset(descent->s, 0, descent->n * sizeof *descent->s);
    } else if (map->scores(map, descent->w, descent->s, err) < 0) {
        return -1;
    }
    *multiple = 1;
    fit->primal = 0.5 * squared_norm +
                  descent->cost * top_risk_value(descent->risk, descent->s, descent->work);
    if (!gap_reached(fit->primal, fit->dual, epsilon)) {
        *multiple = top_risk_multiple(descent->risk, descent->cost, squared_norm, descent->s,
                                      TOP_MULTIPLE_ROUGH, descent->work, &fit->primal);
    }
    return 0;
}

/* Forecast of the gap, because an evaluation of the bounds costs half a sweep. */
struct forecast {
    double row_gaps[2]; /* row_gaps of the last two sweeps, the last one first; 0: none yet */
    double expected;    /* forecast of the gap after the last sweep */
    bool evaluated;     /* the gap has been evaluated, and the forecast continues from it */
    uint64_t next;      /* iteration of the next evaluation at the latest */
};

/* Updates the forecast after a sweep. */
static void update_forecast(struct forecast *forecast, const struct top_descent *descent) {
    double squared_norm = array_dot(descent->w, descent->w, descent->dimension),
           row_gaps = descent->row_gaps;
    double *last = forecast->row_gaps, dual = find_dual(descent, squared_norm);
    double ratio = last[1] > 0   ? sqrt(row_gaps / last[1])
                   : last[0] > 0 ? sqrt(row_gaps / last[0])
                                 : 1;
    last[1] = last[0];
    last[0] = row_gaps;
    forecast->expected =
        fmin(ratio, 1) *
        (forecast->evaluated ? forecast->expected : gap_relative(dual + row_gaps, dual));
}

/* After an evaluation that did not reach the target gap. */
static void after_evaluation(struct forecast *forecast, double gap, uint64_t iterations,
                             const struct monitor *monitor) {
    uint64_t limit = monitor ? monitor->max_iterations : 0;
    forecast->expected = gap;
    forecast->evaluated = iterations > 0;
    forecast->next = iterations + MAX_UNEVALUATED;
    forecast->next = limit > iterations && limit < forecast->next ? limit : forecast->next;
}

static int run(struct top_descent *descent, double epsilon, const struct monitor *monitor,
               struct fit *fit, double *multiple, struct error *err) {
    struct forecast forecast = {.expected = INFINITY};
    double violation = VIOLATION;
    bool ended = false;
    for (;;) {
        if (fit->iterations >= forecast.next || ended || forecast.expected <= epsilon) {
            if (find_bounds(descent, epsilon, fit, multiple, err) < 0) {
                return -1;
            }
            if (!isfinite(fit->primal) || !isfinite(fit->dual)) {
                return stop_overflow(err);
            }
            fit->converged = gap_reached(fit->primal, fit->dual, epsilon);
            fit->reason = fit->converged
                              ? STOP_REACHED
                              : monitor_check(monitor, fit->iterations, fit->primal, fit->dual);
            if (fit->converged || fit->reason || ended) {
                fit->reason = fit->converged || fit->reason ? fit->reason : STOP_STUCK;
                return 0;
            }
            after_evaluation(&forecast, gap_relative(fit->primal, fit->dual), fit->iterations,
                             monitor);
        }
        sweep(descent, monitor);
        descent->relaxation = OVER_RELAXATION;
        fit->iterations += descent->rounds.repeats;
        update_forecast(&forecast, descent);
        if (monitor_past_deadline(monitor)) {
            forecast.next = fit->iterations;
        }
        if (!(descent->max_slope - descent->min_slope > violation)) {
            ended = descent->visited_all && descent->max_change == 0;
            violation *= VIOLATION;
            unshrink(descent);
        }
    }
}

static int copy_fit(const struct top_descent *descent, double multiple, struct fit *fit,
                    struct error *err) {
    size_t n = descent->n, d = descent->dimension;
    if (top_dual_allocate(fit, n, d, err) < 0) {
        return -1;
    }
    array_multiple(fit->weights, multiple, descent->w, d);
    if (multiple == 1 && descent->problem->constant == 0) {
        fit->scores = memory_array(n, sizeof(double), "scores", err);
        if (!fit->scores) {
            return -1;
        }
        memcpy(fit->scores, descent->s, n * sizeof *descent->s);
    }
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = descent->variable + i;
        fit->alpha[i] = variable->sign > 0 ? variable->alpha : 0;
        fit->beta[i] = variable->sign < 0 ? variable->alpha : 0;
    }
    return 0;
}

int top_descent_solve(struct top_descent *descent, double cost, double epsilon,
                      const struct monitor *monitor, struct fit *fit, struct error *err) {
    double multiple = 1;
    *fit = (struct fit){0};
    if (set_cost(descent, cost, err) < 0 ||
        run(descent, epsilon, monitor, fit, &multiple, err) < 0 ||
        copy_fit(descent, multiple, fit, err) < 0) {
        fit_free(fit);
        descent->cost = 0;
        return -1;
    }
    return 0;
}

/* ---- creation ---- */

static int allocate(struct top_descent *descent, struct error *err) {
    size_t n = descent->n, d = descent->dimension;
    bool distributed = descent->map->cluster;
    size_t n_before = distributed ? n : 0, d_before = distributed ? d : 0;
    descent->block = ARRAYS_CREATE(
        "the dual point", err, ARRAYS(n, struct variable, &descent->variable),
        ARRAYS(n, double, &descent->s), ARRAYS(2 * n, double, &descent->work),
        ARRAYS(n, uint32_t, &descent->order), ARRAYS(d, double, &descent->w),
        ARRAYS(n_before, double, &descent->alpha_before), ARRAYS(d_before, double, &descent->start),
        ARRAYS(d_before + 3, double, &descent->step));
    return descent->block ? 0 : -1;
}

int top_descent_create(struct top_descent **descent, const struct problem *problem,
                       const struct score_map *map, struct top_risk *risk, const double *norm_bound,
                       uint64_t seed, struct error *err) {
    struct top_descent *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->problem = problem;
    made->map = map;
    made->risk = risk;
    made->n = risk->n;
    made->dimension = map->dimension;
    if (allocate(made, err) < 0) {
        top_descent_free(made);
        return -1;
    }
    for (size_t i = 0; i < made->n; i++) {
        made->variable[i].q = norm_bound[i] * norm_bound[i];
        made->variable[i].sign = risk->cost[i] > 0 ? 1 : risk->mass[i] > 0 ? -1 : 0;
    }
    random_start(&made->random, seed, RANDOM_STREAM);
    rounds_plan(&made->rounds, map->cluster, 2 * (double)data_values(problem->data),
                map->cluster ? (double)made->dimension : 0);
    *descent = made;
    return 0;
}

void top_descent_free(struct top_descent *descent) {
    if (!descent) {
        return;
    }
    free(descent->block);
    free(descent);
}
