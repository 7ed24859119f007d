#include "families/top/solver/coordinate_descent.h"

#include "common/base/array.h"
#include "common/base/dispatch.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "families/top/solver/feasible_dual.h"
#include "methods/distributed_ascent.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANDOM_STREAM = 11,  /* tells this use of the seed from others */
    UNWATCHED = 1 << 24, /* products between two looks at the clock */
    ROWS_AHEAD = 2,      /* whose values are fetched, VALUES_AHEAD of each at the most */
    VALUES_AHEAD = 256,
    DUALS_AHEAD = 8, /* rows whose variable, and the place of whose values, is fetched */
};

/* Violations of the optimum, in gradients of about 1, under which rows that were left out are
 * looked at again: at first, and each time a part of the last. */
static const double FIRST_VIOLATION = 0.1, NEXT_VIOLATION = 0.1;

/* What a visit of a row wants beside its values, in one place: rows come in a random order. */
struct variable {
    double alpha;
    double q;     /* |x|^2 */
    double limit; /* the cap of alpha or, if squared, 1 / (2 C_i); 0: the row is in neither sum */
    float sign;   /* 1: a positive, -1: in J, 0: neither */
    bool resting; /* is to be left out */
    uint8_t rests, wait; /* visits in a row at which it was at rest; sweeps that pass it over */
};

/* How far a step goes of the way to the best alpha of its row alone: below 2 the dual still rises.
 * Not in the first sweep from w = 0, whose first rows go too far already. */
static const double FARTHER = 1.2;

/* Sweeps that pass over a row which was at rest at its bound once, and more than once in a row:
 * most stay there, and to see that costs half a visit. */
enum { WAIT_ONCE = 1, WAIT_LONG = 3 };

/* What is expected of the gap (struct top_descent, open), and how often it is looked at whatever
 * that is: after so many sweeps, or this part of those so far. */
enum { SWEEPS_UNSEEN = 10, PART_UNSEEN = 16 };
static const double FIRST_SHARE = 0.25;

/* Gaps above that times the one that is wanted are not for a multiple of w to close. */
static const double NEAR = 10;

struct top_descent {
    const struct problem *problem;
    const struct score_map *map;
    struct top_risk *risk;
    size_t n, dimension;
    double cost;               /* that alpha is for; 0: there is none yet */
    struct variable *variable; /* (n) */
    double *w;                 /* (dimension) the constant feature's last */
    double *s, *work;          /* (n), (2 n) */
    uint32_t *order;           /* (n) the rows in use first, of these the ones that are due */
    size_t active, due;
    double high, low;          /* slopes beyond which a row at 0, or at its cap, is left out */
    double most, least, moved; /* of this sweep: slopes that are no rest, and the largest way */
    bool whole;                /* it came to all rows, on all ranks */
    double farther;            /* FARTHER, or 1 */

    /* What this sweep found open: the sum over rows, when they were visited, of C loss - alpha +
     * alpha y f + h alpha^2 / 2, which over all rows for one w is primal - dual. Of w before the
     * sweep and after it, in a way; so the gap after it is a share of that, the smaller the faster
     * these fall. */
    double open;
    struct random random;

    struct rounds rounds; /* of a problem whose rows are spread: */
    double *start, *step; /* (dimension) w where the round began; (dimension + 3) */
    double *before;       /* (n) alpha there */
};

struct row {
    const uint32_t *column; /* NULL: dense */
    const float *value;
    size_t n;
};

static struct row get_row(const struct data *data, size_t i) {
    if (!data->row_start) {
        return (struct row){NULL, data->value + i * data->n_features, data->n_features};
    }
    uint64_t first = data->row_start[i];
    return (struct row){data->column + first, data->value + first,
                        (size_t)(data->row_start[i + 1] - first)};
}

DISPATCH static double dot_row(const struct row *row, const double *w) {
    double even = 0, odd = 0;
    if (!row->column) {
#pragma omp simd reduction(+ : even)
        for (size_t t = 0; t < row->n; t++) {
            even += (double)row->value[t] * w[t];
        }
        return even;
    }
    size_t t = 0;
    for (; t + 2 <= row->n; t += 2) { /* two chains of additions wait for each other less */
        even += (double)row->value[t] * w[row->column[t]];
        odd += (double)row->value[t + 1] * w[row->column[t + 1]];
    }
    return even + odd + (t < row->n ? (double)row->value[t] * w[row->column[t]] : 0);
}

DISPATCH static void add_row(const struct row *row, double factor, double *w) {
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

/* The second derivative of what alpha costs in the dual. */
static double curvature_of(const struct variable *variable, bool square) {
    return square ? variable->limit : 0;
}

/* Brings rows near that are to come: rows are in no order that the processor could guess. */
static inline void fetch_ahead(const struct top_descent *descent, size_t t, size_t end) {
    enum { LINE = 64 / sizeof(float) };
    const struct data *data = descent->problem->data;
    if (t + DUALS_AHEAD < end) {
        size_t i = descent->order[t + DUALS_AHEAD];
        __builtin_prefetch(descent->variable + i, 1);
        if (data->row_start) {
            __builtin_prefetch(data->row_start + i);
        }
    }
    if (t + ROWS_AHEAD < end) {
        const struct row row = get_row(data, descent->order[t + ROWS_AHEAD]);
        size_t n = row.n < VALUES_AHEAD ? row.n : VALUES_AHEAD;
        for (size_t k = 0; k < n; k += LINE) {
            __builtin_prefetch(row.value + k);
            if (row.column) {
                __builtin_prefetch(row.column + k);
            }
        }
    }
}

/* ---- sweeps ---- */

/* primal - dual, as far as a row makes it. */
static double open_at(double alpha, double slope, double cap, double h) {
    if (h > 0) { /* C (1 - m)^2 = (slope + h alpha)^2 / 2h, where that is above 0 */
        double u = slope + h * alpha;
        return u > 0 ? slope * slope / (2 * h) : alpha * (0.5 * h * alpha - u);
    }
    return slope > 0 ? (cap - alpha) * slope : -alpha * slope;
}

/* The best alpha of each of the rows order[first..end), one after the other. */
static void visit(struct top_descent *descent, size_t first, size_t end, double factor) {
    const struct data *data = descent->problem->data;
    const bool square = descent->risk->square;
    double constant = descent->problem->constant, *w = descent->w;
    double most = descent->most, least = descent->least, moved = descent->moved;
    double open = descent->open, farther = descent->farther;
    for (size_t t = first; t < end; t++) {
        size_t i = descent->order[t];
        struct row row = get_row(data, i);
        struct variable *variable = descent->variable + i;
        fetch_ahead(descent, t, end);
        double sign = (double)variable->sign, alpha = variable->alpha;
        double cap = cap_of(variable, square), h = curvature_of(variable, square);
        double f = dot_row(&row, w) + (constant > 0 ? constant * w[data->n_features] : 0);
        double slope = 1 - sign * f - h * alpha;
        double curvature = factor * variable->q + h;
        bool rests = alpha <= 0 ? slope <= 0 : alpha >= cap && slope >= 0;
        if (rests) {
            variable->resting = alpha <= 0 ? slope < descent->low : slope > descent->high;
            variable->wait = variable->rests ? WAIT_LONG : WAIT_ONCE;
            variable->rests = 1;
            continue;
        }
        variable->rests = 0;
        open += open_at(alpha, slope, cap, h);
        most = slope > most ? slope : most;
        least = slope < least ? slope : least;
        double to = curvature > 0 ? alpha + farther * slope / curvature : slope > 0 ? cap : 0;
        to = to > 0 ? to : 0;
        to = to < cap ? to : cap;
        double change = to - alpha;
        if (change == 0) {
            continue;
        }
        moved = fabs(change) > moved ? fabs(change) : moved;
        variable->alpha = to;
        add_row(&row, factor * sign * change, w);
        if (constant > 0) {
            w[data->n_features] += factor * sign * change * constant;
        }
    }
    descent->most = most;
    descent->least = least;
    descent->moved = moved;
    descent->open = open;
}

/* Joins what the visits of this round did on all ranks, as far as is best. */
static void join(struct top_descent *descent, size_t first, size_t end) {
    size_t d = descent->dimension;
    double *step = descent->step, gained = 0, curvature = 0, factor = descent->rounds.factor;
    for (size_t k = 0; k < d; k++) {
        step[k] = (descent->w[k] - descent->start[k]) / factor;
    }
    for (size_t t = first; t < end; t++) {
        size_t i = descent->order[t];
        double change = descent->variable[i].alpha - descent->before[i];
        double h = curvature_of(descent->variable + i, descent->risk->square);
        gained += change * (1 - h * descent->before[i]);
        curvature += h * change * change;
    }
    step[d] = gained;
    step[d + 1] = curvature;
    step[d + 2] = descent->open;
    cluster_sum(descent->map->cluster, step, d + 3);
    double theta = rounds_go(&descent->rounds, step[d] - array_dot(step, descent->start, d),
                             step[d + 1] + array_dot(step, step, d));
    for (size_t k = 0; k < d; k++) {
        descent->start[k] += theta * step[k];
    }
    memcpy(descent->w, descent->start, d * sizeof *descent->w);
    for (size_t t = first; t < end; t++) {
        size_t i = descent->order[t];
        double *alpha = &descent->variable[i].alpha, before = descent->before[i];
        *alpha = theta < 1 ? before + theta * (*alpha - before) : *alpha;
        descent->before[i] = *alpha;
    }
}

/* All rows are in use again. */
static void take_all(struct top_descent *descent) {
    descent->active = 0;
    for (size_t i = 0; i < descent->n; i++) {
        descent->variable[i].resting = false;
        descent->variable[i].wait = 0;
        if (descent->variable[i].limit > 0) {
            descent->order[descent->active++] = (uint32_t)i;
        }
    }
    descent->high = INFINITY;
    descent->low = -INFINITY;
}

static void leave_out(struct top_descent *descent) {
    size_t kept = 0;
    for (size_t t = 0; t < descent->active; t++) {
        uint32_t i = descent->order[t];
        descent->order[kept] = i;
        kept += !descent->variable[i].resting;
    }
    descent->active = kept;
    descent->high = descent->most > 0 ? descent->most : INFINITY;
    descent->low = descent->least < 0 ? descent->least : -INFINITY;
}

/* The rows that are due come first in the order. */
static void find_due(struct top_descent *descent) {
    descent->due = 0;
    for (size_t t = 0; t < descent->active; t++) {
        uint32_t i = descent->order[t];
        if (descent->variable[i].wait > 0) {
            descent->variable[i].wait--;
        } else {
            descent->order[t] = descent->order[descent->due];
            descent->order[descent->due++] = i;
        }
    }
}

/* A sweep over the rows in use that are due, or `repeats` of them; ends early when time is up. */
static void sweep(struct top_descent *descent, const struct monitor *monitor) {
    struct cluster *cluster = descent->map->cluster;
    const struct rounds *rounds = &descent->rounds;
    double unwatched = 0, open = 0;
    bool all = descent->high == INFINITY && descent->low == -INFINITY;
    descent->most = -INFINITY;
    descent->least = INFINITY;
    descent->moved = 0;
    find_due(descent);
    random_shuffle(&descent->random, descent->order, descent->due);
    for (size_t part = 0; part < rounds->parts; part++) {
        size_t first, end = rounds_part(rounds, descent->due, part, &first);
        for (size_t repeat = 0; repeat < rounds->repeats; repeat++) {
            descent->open = 0;
            visit(descent, first, end, cluster ? rounds->factor : 1);
        }
        if (cluster) {
            join(descent, first, end);
        }
        open += cluster ? descent->step[descent->dimension + 2] : descent->open;
        unwatched += rounds->work;
        if (unwatched > UNWATCHED) {
            unwatched = 0;
            if (monitor_late(monitor)) {
                break;
            }
        }
    }
    double ends[] = {descent->most, -descent->least, descent->moved,
                     descent->due < descent->active};
    cluster_max(cluster, ends, 4);
    descent->most = ends[0];
    descent->least = -ends[1];
    descent->moved = ends[2];
    descent->whole = all && ends[3] == 0;
    descent->open = open;
    leave_out(descent);
}

/* ---- a solve ---- */

/* Bounds of a cost, and the last alpha taken to it. */
static int set_cost(struct top_descent *descent, double cost, struct error *err) {
    const struct top_risk *risk = descent->risk;
    double factor = descent->cost > 0 ? cost / descent->cost : 0;
    for (size_t i = 0; i < descent->n; i++) {
        struct variable *variable = descent->variable + i;
        double C = cost * (variable->sign > 0 ? risk->cost[i] : risk->mass[i]);
        variable->limit = C <= 0 ? 0 : risk->square ? fmax(1 / (2 * C), DBL_TRUE_MIN) : C;
        double cap = C > 0 ? cap_of(variable, risk->square) : 0;
        variable->alpha = fmin(factor * variable->alpha, cap);
        if (descent->before) {
            descent->before[i] = variable->alpha;
        }
        descent->s[i] = (double)variable->sign * variable->alpha;
    }
    descent->cost = cost;
    descent->farther = factor > 0 ? FARTHER : 1;
    take_all(descent);
    int status = 0;
    if (factor > 0) {
        status = descent->map->adjoint(descent->map, descent->s, descent->w, err);
    } else {
        memset(descent->w, 0, descent->dimension * sizeof *descent->w);
    }
    if (descent->start) {
        memcpy(descent->start, descent->w, descent->dimension * sizeof *descent->w);
    }
    return status;
}

/* *multiple of w has the least primal, whose scores are s. */
static void seek_multiple(struct top_descent *descent, struct fit *fit, double *multiple) {
    double norm = array_dot(descent->w, descent->w, descent->dimension);
    *multiple = top_risk_multiple(descent->risk, descent->cost, norm, descent->s,
                                  TOP_MULTIPLE_ABOUT, descent->work, &fit->primal);
}

/* The dual of the point, whose |w|^2 is norm. */
static double find_dual(const struct top_descent *descent, double norm) {
    double linear = 0;
    for (size_t i = 0; i < descent->n; i++) {
        double alpha = descent->variable[i].alpha;
        double h = curvature_of(descent->variable + i, descent->risk->square);
        linear += alpha - 0.5 * h * alpha * alpha;
    }
    return cluster_total(descent->map->cluster, linear) - 0.5 * norm;
}

/* Both bounds of the point; *multiple: that of w which has the primal, 1 unless another may be what
 * is missing to the gap epsilon, and was sought. */
static int find_bounds(struct top_descent *descent, double epsilon, struct fit *fit,
                       double *multiple, struct error *err) {
    const struct score_map *map = descent->map;
    double norm = array_dot(descent->w, descent->w, descent->dimension);
    fit->dual = find_dual(descent, norm);
    if (norm == 0) { /* as at the start, or as good as */
        memset(descent->s, 0, descent->n * sizeof *descent->s);
    } else if (map->scores(map, descent->w, descent->s, err) < 0) {
        return -1;
    }
    *multiple = 1;
    fit->primal =
        0.5 * norm + descent->cost * top_risk_value(descent->risk, descent->s, descent->work);
    double gap = gap_relative(fit->primal, fit->dual);
    if (gap > epsilon && gap <= NEAR * epsilon) {
        seek_multiple(descent, fit, multiple);
    }
    return 0;
}

/* When the gap is worth a look, which costs half a sweep. */
struct outlook {
    double open[2];  /* of the last two sweeps, the last one first; 0: none yet */
    double expected; /* the gap, after the last sweep */
    bool seen; /* it has been looked at since the start, and from there it falls as `open` does */
    uint64_t next; /* iterations at which it is looked at in any case */
};

/* After a sweep: what the gap will be. */
static void expect(struct outlook *outlook, const struct top_descent *descent) {
    double norm = array_dot(descent->w, descent->w, descent->dimension), open = descent->open;
    double *last = outlook->open, dual = find_dual(descent, norm);
    double share = last[1] > 0   ? sqrt(open / last[1])
                   : last[0] > 0 ? sqrt(open / last[0])
                                 : FIRST_SHARE;
    last[1] = last[0];
    last[0] = open;
    outlook->expected =
        fmin(share, 1) * (outlook->seen ? outlook->expected : gap_relative(dual + open, dual));
}

/* After a look, which did not find the gap that is wanted. */
static void look_on(struct outlook *outlook, double gap, uint64_t iterations,
                    const struct monitor *monitor) {
    uint64_t part = iterations / PART_UNSEEN, most = monitor ? monitor->most : 0;
    outlook->expected = gap;
    outlook->seen = iterations > 0;
    outlook->next = iterations + (part > SWEEPS_UNSEEN ? part : SWEEPS_UNSEEN);
    outlook->next = most > iterations && most < outlook->next ? most : outlook->next;
}

static int run(struct top_descent *descent, double epsilon, const struct monitor *monitor,
               struct fit *fit, double *multiple, struct error *err) {
    struct outlook outlook = {.expected = INFINITY};
    double violation = FIRST_VIOLATION;
    bool ended = false;
    for (;;) {
        if (fit->iterations >= outlook.next || ended || outlook.expected <= epsilon) {
            if (find_bounds(descent, epsilon, fit, multiple, err) < 0) {
                return -1;
            }
            if (!isfinite(fit->primal) || !isfinite(fit->dual)) {
                return error_set(err, ERROR_RUNTIME,
                                 "scores overflow: scale the data or lower the cost");
            }
            fit->converged = gap_reached(fit->primal, fit->dual, epsilon);
            fit->reason = fit->converged
                              ? STOP_REACHED
                              : monitor_check(monitor, fit->iterations, fit->primal, fit->dual);
            if (fit->converged) {
                return 0;
            }
            if (fit->reason || ended) {
                if (gap_relative(fit->primal, fit->dual) >
                    NEAR * epsilon) { /* else it was sought */
                    seek_multiple(descent, fit, multiple);
                }
                fit->converged = gap_reached(fit->primal, fit->dual, epsilon);
                fit->reason = fit->converged ? STOP_REACHED
                              : fit->reason  ? fit->reason
                                             : STOP_STUCK;
                return 0;
            }
            look_on(&outlook, gap_relative(fit->primal, fit->dual), fit->iterations, monitor);
        }
        sweep(descent, monitor);
        descent->farther = FARTHER;
        fit->iterations += descent->rounds.repeats;
        expect(&outlook, descent);
        if (monitor_late(monitor)) {
            outlook.next = fit->iterations;
        }
        if (!(descent->most - descent->least > violation)) {
            ended = descent->whole && descent->moved == 0;
            violation *= NEXT_VIOLATION;
            take_all(descent);
        }
    }
}

static int copy_fit(const struct top_descent *descent, double multiple, struct fit *fit,
                    struct error *err) {
    size_t n = descent->n, d = descent->dimension;
    if (top_dual_allocate(fit, n, d, err) < 0) {
        return -1;
    }
    for (size_t k = 0; k < d; k++) {
        fit->weights[k] = multiple * descent->w[k];
    }
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
    int status = set_cost(descent, cost, err);
    if (status == 0) {
        status = run(descent, epsilon, monitor, fit, &multiple, err);
    }
    if (status == 0) {
        status = copy_fit(descent, multiple, fit, err);
    }
    if (status < 0) {
        fit_free(fit);
        descent->cost = 0;
    }
    return status;
}

/* ---- making it ---- */

static int allocate(struct top_descent *descent, struct error *err) {
    size_t n = descent->n, d = descent->dimension;
    descent->variable = memory_zeros(n, sizeof *descent->variable, "the dual point", err);
    descent->s = memory_array(n, sizeof *descent->s, "scores", err);
    descent->work = memory_array(n, 2 * sizeof(double), "scores", err);
    descent->order = memory_array(n, sizeof *descent->order, "an order", err);
    descent->w = memory_zeros(d, sizeof(double), "weights", err);
    if (!descent->variable || !descent->s || !descent->work || !descent->order || !descent->w) {
        return -1;
    }
    if (!descent->map->cluster) {
        return 0;
    }
    descent->before = memory_zeros(n, sizeof *descent->before, "the dual point", err);
    descent->start = memory_zeros(d, sizeof(double), "weights", err);
    descent->step = memory_zeros(d + 3, sizeof(double), "weights", err);
    return descent->before && descent->start && descent->step ? 0 : -1;
}

int top_descent_create(struct top_descent **descent, const struct problem *problem,
                       const struct score_map *map, struct top_risk *risk, const double *length,
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
        made->variable[i].q = length[i] * length[i];
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
    void *const array[] = {descent->variable, descent->s, descent->work,  descent->before,
                           descent->order,    descent->w, descent->start, descent->step};
    for (size_t i = 0; i < sizeof array / sizeof array[0]; i++) {
        free(array[i]);
    }
    free(descent);
}
