/* Limited-memory BFGS with a weak Wolfe line search from several starts. */
#include "families/top/solver/grill.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "families/top/solver/risk.h"
#include "fit/score_map.h"
#include "fit/stop.h"
#include "methods/lbfgs.h"
#include "methods/select_largest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW = 10,    /* iterations over which a start must improve by epsilon */
    MAX_TRIALS = 40 /* of a line search */
};

/* A point w with its value and gradient. */
struct point {
    double *w, *g; /* (d) */
    double value, threshold;
};

struct run {
    const struct top_grill *grill;
    struct score_map map;
    size_t n, d;
    double positive, negative; /* sums of the weights of positives and of negatives */
    void *pool;                /* all arrays */
    double *share;             /* (n) */
    double *s, *r;             /* (n) */
    uint32_t *order;           /* (n) */
    struct point at, trial, best;
    double *direction; /* (d) */
    struct lbfgs lbfgs;
    uint64_t iterations;
};

static void copy_point(struct point *to, const struct point *from, size_t d) {
    memcpy(to->w, from->w, d * sizeof(double));
    memcpy(to->g, from->g, d * sizeof(double));
    to->value = from->value;
    to->threshold = from->threshold;
}

static int allocate(struct run *run, struct error *err) {
    size_t n = run->n, d = run->d;
    run->lbfgs = (struct lbfgs){.size = d, .max = LBFGS_MAX_PAIRS};
    run->pool =
        ARRAYS_CREATE("scores and weights", err, ARRAYS(n, double, &run->share, &run->s, &run->r),
                      ARRAYS(n, uint32_t, &run->order),
                      ARRAYS(d, double, &run->at.w, &run->at.g, &run->trial.w, &run->trial.g,
                             &run->best.w, &run->best.g, &run->direction),
                      ARRAYS(LBFGS_MAX_PAIRS * d, double, &run->lbfgs.step, &run->lbfgs.change));
    return run->pool ? 0 : -1;
}

/* Sets shares such that rows strictly above the quantile have at most 1 together, and the sums of
 * both classes. */
static void prepare(struct run *run) {
    const struct top_grill *grill = run->grill;
    double mass = 0;
    for (size_t i = 0; i < run->n; i++) {
        mass += grill->mass[i];
        run->positive += grill->cost[i];
        run->negative += grill->negative[i];
    }
    /* slightly less, so that sums that are whole stay whole */
    for (size_t i = 0; i < run->n; i++) {
        run->share[i] = grill->mass[i] / (grill->tau * mass) * (1 - 1e-12);
    }
}

/* The row at the quantile: the highest row of J that is not among the top tau. */
static size_t quantile_row(struct run *run) {
    size_t n = 0;
    for (size_t i = 0; i < run->n; i++) {
        if (run->grill->mass[i] > 0) {
            run->order[n++] = (uint32_t)i;
        }
    }
    double left;
    size_t at = select_largest(NULL, run->s, run->share, 1, run->order, n, &left, NULL);
    if (at == n) { /* tau = 1: the lowest row */
        at = 0;
        for (size_t i = 1; i < n; i++) {
            at = run->s[run->order[i]] < run->s[run->order[at]] ? i : at;
        }
        return run->order[at];
    }
    for (size_t i = at + 1; i < n; i++) {
        at = run->s[run->order[i]] > run->s[run->order[at]] ? i : at;
    }
    return run->order[at];
}

/* Value and gradient at point->w. */
static int evaluate(struct run *run, struct point *point, struct error *err) {
    const struct top_grill *grill = run->grill;
    if (run->map.scores(&run->map, point->w, run->s, err) < 0) {
        return -1;
    }
    size_t row = quantile_row(run);
    double t = run->s[row], ratio = run->positive / run->negative, value = 0, slopes = 0;
    for (size_t i = 0; i < run->n; i++) {
        run->r[i] = 0;
        if (grill->cost[i] > 0) {
            value += grill->cost[i] * top_loss(grill->square, t - run->s[i]);
            run->r[i] = -grill->C * grill->cost[i] * top_slope(grill->square, t - run->s[i]);
        } else if (grill->negative[i] > 0) {
            double cost = ratio * grill->negative[i];
            value += cost * top_loss(grill->square, run->s[i] - t);
            run->r[i] = grill->C * cost * top_slope(grill->square, run->s[i] - t);
        }
        slopes -= run->r[i];
    }
    run->r[row] += slopes;
    if (run->map.adjoint(&run->map, run->r, point->g, err) < 0) {
        return -1;
    }
    array_add(point->g, 1, point->w, run->d);
    point->value = 0.5 * array_dot(point->w, point->w, run->d) + grill->C * value;
    point->threshold = t;
    return isfinite(point->value) ? 0 : stop_overflow(err);
}

/* Line search with weak Wolfe conditions by doubling and bisection (Lewis and Overton 2013), which
 * also works at kinks. *improved: `trial` is lower than `at`. */
static int search_line(struct run *run, double slope, double first, const struct monitor *monitor,
                       bool *improved, struct error *err) {
    double low = 0, high = INFINITY, x = first;
    *improved = false;
    for (int i = 0; i < MAX_TRIALS && !monitor_past_deadline(monitor); i++) {
        memcpy(run->trial.w, run->at.w, run->d * sizeof(double));
        array_add(run->trial.w, x, run->direction, run->d);
        if (evaluate(run, &run->trial, err) < 0) {
            return -1;
        }
        if (!(run->trial.value < run->at.value + 1e-4 * x * slope)) {
            high = x;
        } else if (array_dot(run->trial.g, run->direction, run->d) < 0.9 * slope) {
            *improved = true;
            low = x;
        } else {
            *improved = true;
            return 0;
        }
        x = high < INFINITY ? 0.5 * (low + high) : 2 * x;
        if (x == low || x == high) {
            break;
        }
    }
    if (*improved) { /* the last trial may be too far */
        memcpy(run->trial.w, run->at.w, run->d * sizeof(double));
        array_add(run->trial.w, low, run->direction, run->d);
        return evaluate(run, &run->trial, err);
    }
    return 0;
}

/* Minimises from `at` until the improvement is small. *stopped: the monitor's stop reason. */
static int descend(struct run *run, const struct monitor *monitor, enum stop_reason *stopped,
                   struct error *err) {
    double before = run->at.value;
    run->lbfgs.n = 0;
    for (uint64_t i = 1;; i++) {
        *stopped = monitor_check(monitor, ++run->iterations, run->at.value, 0);
        if (*stopped) {
            return 0;
        }
        lbfgs_direction(&run->lbfgs, run->at.g, run->direction);
        double slope = array_dot(run->at.g, run->direction, run->d);
        double norm = sqrt(array_dot(run->at.g, run->at.g, run->d));
        bool improved = false;
        if (slope < 0 && search_line(run, slope, run->lbfgs.n ? 1 : 1 / fmax(1, norm), monitor,
                                     &improved, err) < 0) {
            return -1;
        }
        if (!improved && run->lbfgs.n > 0) { /* restart along the gradient */
            run->lbfgs.n = 0;
            continue;
        }
        if (!improved) {
            return 0;
        }
        lbfgs_store(&run->lbfgs, run->at.w, run->trial.w, run->at.g, run->trial.g, 0);
        copy_point(&run->at, &run->trial, run->d);
        if (i % WINDOW == 0) {
            if (before - run->at.value <= run->grill->epsilon * run->at.value) {
                return 0;
            }
            before = run->at.value;
        }
    }
}

/* Scales the direction in `at` by the best power of two among those that the deadline permits, at
 * least one. */
static int scale_start(struct run *run, const struct monitor *monitor, struct error *err) {
    double length = sqrt(array_dot(run->at.w, run->at.w, run->d)), best = INFINITY;
    for (size_t k = 0; k < run->d; k++) {
        run->direction[k] = length > 0 ? run->at.w[k] / length : 0;
    }
    for (int power = -20; power <= 20; power++) {
        for (size_t k = 0; k < run->d; k++) {
            run->trial.w[k] = ldexp(run->direction[k], power);
        }
        if (evaluate(run, &run->trial, err) < 0) {
            return -1;
        }
        if (run->trial.value < best) {
            best = run->trial.value;
            copy_point(&run->at, &run->trial, run->d);
        }
        if (monitor_past_deadline(monitor)) {
            break;
        }
    }
    return 0;
}

/* The first start goes from centroid to centroid; the others add a random direction of the same
 * length to it, with a weight that grows to 2. */
static int start(struct run *run, size_t number, const struct monitor *monitor, struct error *err) {
    const struct top_grill *grill = run->grill;
    for (size_t i = 0; i < run->n; i++) {
        run->r[i] = grill->cost[i] / run->positive - grill->negative[i] / run->negative;
    }
    if (run->map.adjoint(&run->map, run->r, run->at.w, err) < 0) {
        return -1;
    }
    struct random random;
    random_start(&random, grill->seed, 8 + number);
    double length = sqrt(array_dot(run->at.w, run->at.w, run->d)), drawn = 0;
    for (size_t k = 0; k < run->d; k++) { /* approximately normal */
        double sum = -6;
        for (int i = 0; i < 12; i++) {
            sum += random_unit(&random);
        }
        run->trial.w[k] = sum;
        drawn += sum * sum;
    }
    double part = number == 0 ? 0 : 2 * (double)number / (double)grill->starts;
    double factor = drawn > 0 ? part * (length > 0 ? length : 1) / sqrt(drawn) : 0;
    array_add(run->at.w, factor, run->trial.w, run->d);
    return scale_start(run, monitor, err);
}

/* Takes the best start of all processes, the first of equal ones; adds up their iterations. */
static void take_best(struct run *run, size_t own, enum stop_reason *stopped) {
    struct cluster *cluster = run->grill->problem->starts;
    double value = -cluster_largest(cluster, -run->best.value);
    double number = run->best.value == value ? (double)own : INFINITY;
    double first = -cluster_largest(cluster, -number);
    double rank = number == first ? (double)cluster_rank(cluster) : -1;
    size_t from = (size_t)cluster_largest(cluster, rank);
    double point[2] = {run->best.value, run->best.threshold};
    cluster_broadcast(cluster, run->best.w, run->d * sizeof *run->best.w, from);
    cluster_broadcast(cluster, point, sizeof point, from);
    run->best.value = point[0];
    run->best.threshold = point[1];
    run->iterations = (uint64_t)cluster_total(cluster, (double)run->iterations);
    *stopped = (enum stop_reason)cluster_largest(cluster, (double)*stopped);
}

/* With distributed starts, a process takes the next one when it is done with the last. */
static int run_all(struct run *run, const struct monitor *monitor, enum stop_reason *stopped,
                   struct error *err) {
    size_t n = run->grill->starts, best = n;
    struct cluster *cluster = run->grill->problem->starts;
    struct cluster_tasks tasks = cluster_create_tasks(cluster, n);
    run->best.value = INFINITY;
    while (!*stopped) {
        size_t number = cluster_next_task(cluster, &tasks);
        if (number == n) {
            break;
        }
        if (start(run, number, monitor, err) < 0 || descend(run, monitor, stopped, err) < 0) {
            return -1;
        }
        if (run->at.value < run->best.value) {
            copy_point(&run->best, &run->at, run->d);
            best = number;
        }
    }
    if (cluster) {
        take_best(run, best, stopped);
    }
    return 0;
}

int top_grill_solve(const struct top_grill *grill, const struct monitor *monitor,
                    struct solution *solution, double *threshold, struct error *err) {
    struct run run = {.grill = grill, .n = grill->problem->n};
    *solution = (struct solution){0};
    if (score_map_create(&run.map, grill->problem, err) < 0) {
        return -1;
    }
    run.d = run.map.dimension;
    enum stop_reason stopped = 0;
    int status = allocate(&run, err);
    if (status == 0) {
        prepare(&run);
        status = run_all(&run, monitor, &stopped, err);
    }
    if (status == 0) {
        *solution =
            (struct solution){.n_outputs = 1,
                              .weights = memory_array(run.d, sizeof(double), "weights", err),
                              .primal = run.best.value,
                              .iterations = run.iterations,
                              .converged = !stopped,
                              .reason = stopped,
                              .gap = NAN};
        *threshold = run.best.threshold;
        status = solution->weights ? 0 : -1;
    }
    if (status == 0) {
        memcpy(solution->weights, run.best.w, run.d * sizeof(double));
    }
    score_map_free(&run.map);
    free(run.pool);
    return status;
}
