/* The set of planes, the master problem and the iterations of OCAS. */
#include "methods/cutting_planes.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "methods/line_search.h"
#include "methods/simplex_qp.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_IDLE = 30,    /* iterations without weight after which a plane is removed */
    MAX_STALLED = 40, /* iterations without progress of the gap: rounding stops it */
    MAX_UNSOLVED = 10 /* successive iterations whose master problem was not solved */
};

/* The point between the best iterate (0) and the master's (1) at which the next plane is computed:
 * 0.1 in OCAS. */
static const double CUT_AT = 0.1;

/* Accuracy of the master problem and the line search, relative to the target gap. */
static const double INNER = 0.01;

struct plane {
    double *a; /* (dimension) A'g */
    double *q; /* (n) A A'g; NULL when weights are primal */
    double offset;
    struct risk_rounding rounding;
    void *record;  /* from the risk; NULL: none */
    uint64_t used; /* the last iteration in which its weight was positive */
};

struct bundle {
    const struct score_map *map;
    const struct risk *risk;
    struct plane *plane;
    size_t n_planes, capacity;
    double *master;      /* the block of the next four arrays */
    double *G;           /* (capacity, capacity) inner products of planes */
    double *scaled;      /* (capacity, capacity) C^2 G */
    double *linear, *mu; /* (capacity) */
    uint64_t iteration;  /* iterations over all solves */
    double *points;      /* the block of the best iterate, the master's point, and work arrays */
    double *best_weights, *master_weights;                      /* (dimension) */
    double *best_s, *best_g, *master_s, *direction, *trial, *g; /* (n) */
    double best_risk, best_norm;
};

static size_t dimension(const struct bundle *bundle) {
    return bundle->map->dimension;
}

/* |f|^2 of weights with scores s. */
static double norm(const struct bundle *bundle, const double *weights, const double *s) {
    const double *other = bundle->map->primal ? weights : s;
    return array_dot(weights, other, dimension(bundle));
}

static int grow(struct bundle *bundle, struct error *err) {
    size_t old = bundle->capacity, capacity = old ? 2 * old : 32;
    const double *G = bundle->G, *mu = bundle->mu;
    if (memory_grow(&bundle->plane, old, capacity, sizeof *bundle->plane, "planes", err) < 0) {
        return -1;
    }
    const struct array_part parts[] = {{&bundle->G, capacity * capacity},
                                       {&bundle->scaled, capacity * capacity},
                                       {&bundle->linear, capacity},
                                       {&bundle->mu, capacity}};
    double *master = arrays_create(parts, sizeof parts / sizeof parts[0], "planes", err);
    if (!master) {
        return -1;
    }
    for (size_t t = 0; t < bundle->n_planes; t++) {
        memcpy(bundle->G + t * capacity, G + t * old, bundle->n_planes * sizeof *G);
        bundle->mu[t] = mu[t];
    }
    free(bundle->master);
    bundle->master = master;
    bundle->capacity = capacity;
    return 0;
}

static void free_plane(struct plane *plane) {
    free(plane->a);
    free(plane->q);
    free(plane->record);
}

/* Adds the plane (g, offset) with weight 0; `cut`: it is the risk's last one, with rounding and
 * record. */
static int add_plane(struct bundle *bundle, const double *g, double offset, bool cut,
                     struct error *err) {
    const struct score_map *map = bundle->map;
    if (bundle->n_planes == bundle->capacity && grow(bundle, err) < 0) {
        return -1;
    }
    struct plane plane = {.offset = offset, .used = bundle->iteration};
    if (offset > 0 && bundle->risk->rounding) {
        plane.rounding = bundle->risk->rounding(bundle->risk->context);
    }
    plane.a = memory_array(map->dimension, sizeof *plane.a, "a plane", err);
    plane.q =
        plane.a && !map->primal ? memory_array(map->n, sizeof *plane.q, "a plane", err) : NULL;
    if (!plane.a || (!plane.q && !map->primal) || map->adjoint(map, g, plane.a, err) < 0 ||
        (plane.q && map->scores(map, plane.a, plane.q, err) < 0) ||
        (cut && bundle->risk->record &&
         bundle->risk->record(bundle->risk->context, &plane.record, err) < 0)) {
        free_plane(&plane);
        return -1;
    }
    size_t p = bundle->n_planes++;
    bundle->plane[p] = plane;
    bundle->mu[p] = 0;
    const double *side = map->primal ? plane.a : plane.q;
    for (size_t t = 0; t <= p; t++) {
        double product = array_dot(bundle->plane[t].a, side, map->dimension);
        bundle->G[t * bundle->capacity + p] = bundle->G[p * bundle->capacity + t] = product;
    }
    return 0;
}

static void drop_idle_planes(struct bundle *bundle) {
    size_t n_kept = 0;
    for (size_t t = 0; t < bundle->n_planes; t++) {
        if (t > 0 && bundle->plane[t].used + MAX_IDLE < bundle->iteration) {
            free_plane(&bundle->plane[t]);
            continue;
        }
        if (n_kept < t) {
            bundle->plane[n_kept] = bundle->plane[t];
            bundle->mu[n_kept] = bundle->mu[t];
            /* Row and column t move to n_kept; the rows before n_kept are in place. */
            memmove(bundle->G + n_kept * bundle->capacity, bundle->G + t * bundle->capacity,
                    bundle->n_planes * sizeof *bundle->G);
            for (size_t u = 0; u < bundle->n_planes; u++) {
                bundle->G[u * bundle->capacity + n_kept] = bundle->G[u * bundle->capacity + t];
            }
        }
        n_kept++;
    }
    bundle->n_planes = n_kept;
}

int bundle_create(struct bundle **bundle, const struct score_map *map, const struct risk *risk,
                  struct error *err) {
    struct bundle *made = memory_zeros(1, sizeof *made, "cutting planes", err);
    if (!made) {
        return -1;
    }
    made->map = map;
    made->risk = risk;
    size_t n = map->n, d = map->dimension;
    const struct array_part parts[] = {{&made->best_weights, d}, {&made->master_weights, d},
                                       {&made->best_s, n},       {&made->best_g, n},
                                       {&made->master_s, n},     {&made->direction, n},
                                       {&made->trial, n},        {&made->g, n}};
    made->points = arrays_create(parts, sizeof parts / sizeof parts[0], "cutting planes", err);
    /* The zero plane, valid since R >= 0, makes D >= 0; then the plane at f = 0. */
    double offset;
    if (!made->points || add_plane(made, made->g, 0, false, err) < 0) {
        bundle_free(made);
        return -1;
    }
    made->mu[0] = 1;
    made->best_risk = risk->cut(risk->context, made->best_s, made->best_g, &offset);
    if (add_plane(made, made->best_g, offset, true, err) < 0) {
        bundle_free(made);
        return -1;
    }
    *bundle = made;
    return 0;
}

void bundle_free(struct bundle *bundle) {
    if (!bundle) {
        return;
    }
    for (size_t t = 0; t < bundle->n_planes; t++) {
        free_plane(&bundle->plane[t]);
    }
    free(bundle->plane);
    free(bundle->master);
    free(bundle->points);
    free(bundle);
}

/* Solves the master problem for mu; computes its weights and scores, and *dual = D. */
static int solve_master(struct bundle *bundle, double cost, double tolerance, double *dual,
                        bool *solved, struct error *err) {
    size_t p = bundle->n_planes;
    for (size_t t = 0; t < p; t++) {
        bundle->linear[t] = cost * bundle->plane[t].offset;
        for (size_t u = 0; u < p; u++) {
            bundle->scaled[t * bundle->capacity + u] =
                cost * cost * bundle->G[t * bundle->capacity + u];
        }
    }
    if (simplex_maximise(p, bundle->scaled, bundle->capacity, bundle->linear, tolerance, bundle->mu,
                         solved, err) < 0) {
        return -1;
    }
    const struct score_map *map = bundle->map;
    memset(bundle->master_weights, 0, map->dimension * sizeof(double));
    if (!map->primal) {
        memset(bundle->master_s, 0, map->n * sizeof(double));
    }
    double offset = 0;
    for (size_t t = 0; t < p; t++) {
        double mu = bundle->mu[t];
        if (mu > 0) {
            bundle->plane[t].used = bundle->iteration;
            offset += mu * bundle->linear[t];
            array_add(bundle->master_weights, -cost * mu, bundle->plane[t].a, map->dimension);
            if (!map->primal) {
                array_add(bundle->master_s, -cost * mu, bundle->plane[t].q, map->n);
            }
        }
    }
    if (map->primal && map->scores(map, bundle->master_weights, bundle->master_s, err) < 0) {
        return -1;
    }
    *dual = offset - 0.5 * norm(bundle, bundle->master_weights, bundle->master_s);
    return 0;
}

/* Moves the best iterate towards the master's point by a line search, and adds the next plane. */
static int step_and_cut(struct bundle *bundle, double cost, double tolerance, struct error *err) {
    const struct score_map *map = bundle->map;
    size_t n = map->n;
    for (size_t i = 0; i < n; i++) {
        bundle->direction[i] = bundle->master_s[i] - bundle->best_s[i];
    }
    double cross =
        array_dot(bundle->best_weights, map->primal ? bundle->master_weights : bundle->master_s,
                  map->dimension);
    double master_norm = norm(bundle, bundle->master_weights, bundle->master_s);
    struct linesearch search = {
        .risk = bundle->risk,
        .cluster = map->cluster,
        .cost = cost,
        .s = bundle->best_s,
        .d = bundle->direction,
        .norm = bundle->best_norm,
        .mixed = cross - bundle->best_norm,
        .curvature = fmax(0, master_norm - 2 * cross + bundle->best_norm),
        .value = bundle->best_risk,
        .slope = cluster_total(map->cluster, array_dot(bundle->best_g, bundle->direction, n)),
        .first = 1,
        .trial = bundle->trial,
        .g = bundle->g,
    };
    struct linesearch_result found = linesearch_minimise(&search, tolerance);
    if (found.theta > 0) {
        for (size_t k = 0; k < map->dimension; k++) {
            bundle->best_weights[k] +=
                found.theta * (bundle->master_weights[k] - bundle->best_weights[k]);
        }
        array_add(bundle->best_s, found.theta, bundle->direction, n);
        bundle->best_risk = found.value;
        memcpy(bundle->best_g, bundle->g, n * sizeof *bundle->g);
        bundle->best_norm = norm(bundle, bundle->best_weights, bundle->best_s);
    }
    for (size_t i = 0; i < n; i++) {
        bundle->trial[i] = bundle->best_s[i] + CUT_AT * (bundle->master_s[i] - bundle->best_s[i]);
    }
    double offset;
    bundle->risk->cut(bundle->risk->context, bundle->trial, bundle->g, &offset);
    return add_plane(bundle, bundle->g, offset, true, err);
}

/* Adds the rounding-error bounds of the combination of planes. The computed weights sum to 1 up to
 * one rounding error per plane. */
static void add_rounding(const struct bundle *bundle, struct risk_rounding *rounding) {
    double terms = ((double)bundle->n_planes + 4) * DBL_EPSILON;
    for (size_t t = 0; t < bundle->n_planes; t++) {
        const struct plane *plane = &bundle->plane[t];
        double mu = bundle->mu[t];
        rounding->offset += mu * (plane->rounding.offset + terms * plane->offset);
        rounding->gradient += mu * (plane->rounding.gradient + terms * plane->rounding.size);
        rounding->size += mu * plane->rounding.size;
    }
}

static int copy_fit(const struct bundle *bundle, double cost, struct fit *fit, struct error *err) {
    size_t d = dimension(bundle);
    fit->weights = memory_array(d, sizeof(double), "weights", err);
    fit->dual_weights = memory_array(d, sizeof(double), "weights", err);
    if (!fit->weights || !fit->dual_weights) {
        fit_free(fit);
        return -1;
    }
    memcpy(fit->weights, bundle->best_weights, d * sizeof(double));
    memcpy(fit->dual_weights, bundle->master_weights, d * sizeof(double));
    fit->dual_offset = 0;
    for (size_t t = 0; t < bundle->n_planes; t++) {
        fit->dual_offset += cost * bundle->mu[t] * bundle->plane[t].offset;
    }
    add_rounding(bundle, &fit->rounding);
    return 0;
}

int bundle_solve(struct bundle *bundle, double cost, double epsilon, const struct monitor *monitor,
                 struct fit *fit, struct error *err) {
    *fit = (struct fit){0};
    double best_gap = INFINITY;
    int stalled = 0, zero_only = 0;
    double primal = 0.5 * bundle->best_norm + cost * bundle->best_risk, dual = 0;
    for (;;) {
        bundle->iteration++;
        fit->iterations++;
        double tolerance = INNER * fmin(epsilon, 1) * primal;
        bool solved;
        if (solve_master(bundle, cost, tolerance, &dual, &solved, err) < 0) {
            return -1;
        }
        primal = 0.5 * bundle->best_norm + cost * bundle->best_risk;
        if (!isfinite(primal) || !isfinite(dual)) {
            return stop_overflow(err);
        }
        if (gap_reached(primal, dual, epsilon)) {
            fit->converged = true;
            break;
        }
        fit->reason = monitor_check(monitor, fit->iterations, primal, dual);
        if (fit->reason) {
            break;
        }
        stalled = primal - dual < best_gap * (1 - 1e-6) ? 0 : stalled + 1;
        best_gap = fmin(best_gap, primal - dual);
        zero_only = solved ? 0 : zero_only + 1;
        if (stalled >= MAX_STALLED || zero_only >= MAX_UNSOLVED) {
            fit->reason = STOP_ROUNDING;
            break;
        }
        if (step_and_cut(bundle, cost, tolerance, err) < 0) {
            return -1;
        }
        drop_idle_planes(bundle);
    }
    fit->primal = primal;
    fit->dual = dual;
    return copy_fit(bundle, cost, fit, err);
}

void bundle_visit_dual(const struct bundle *bundle, double cost,
                       void (*visit)(void *context, double weight, const void *record),
                       void *context) {
    for (size_t t = 0; t < bundle->n_planes; t++) {
        if (bundle->mu[t] > 0 && bundle->plane[t].record) {
            visit(context, cost * bundle->mu[t], bundle->plane[t].record);
        }
    }
}
