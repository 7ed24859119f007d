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
    MAX_IDLE = 30,   /* iterations without weight after which a plane is removed */
    MAX_STALLED = 40 /* iterations without progress of the gap: rounding stops it */
};

/* The point between the best iterate (0) and the master's (1) at which the next plane is computed:
 * 0.1 in OCAS. At 1 rank takes 226 instead of 39 planes (6,000 rows in 60 queries, rbf, C = 1). */
static const double CUT_AT = 0.1;

/* Accuracy of the master problem and the line search, relative to the target gap. With 0.1 a hard
 * fit of rank ends at 4 times the gap. */
static const double INNER = 0.01;

struct plane {
    double *a; /* (dimension) A'g */
    double *q; /* (n) A A'g; NULL when weights are primal */
    double offset;
    struct risk_rounding rounding;
    void *record;  /* from the risk; NULL: none */
    uint64_t used; /* the last iteration in which its weight was positive */
};

struct cutting_planes {
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
    double best_risk, best_squared_norm;
};

static size_t dimension(const struct cutting_planes *planes) {
    return planes->map->dimension;
}

/* |f|^2 of weights with scores s. */
static double squared_norm(const struct cutting_planes *planes, const double *weights,
                           const double *s) {
    const double *other = planes->map->primal ? weights : s;
    return array_dot(weights, other, dimension(planes));
}

static int grow(struct cutting_planes *planes, struct error *err) {
    size_t old = planes->capacity, capacity = old ? 2 * old : 32;
    const double *G = planes->G, *mu = planes->mu;
    if (memory_grow(&planes->plane, old, capacity, sizeof *planes->plane, "planes", err) < 0) {
        return -1;
    }
    double *master = ARRAYS_CREATE("planes", err,
                                   ARRAYS(capacity * capacity, double, &planes->G, &planes->scaled),
                                   ARRAYS(capacity, double, &planes->linear, &planes->mu));
    if (!master) {
        return -1;
    }
    for (size_t t = 0; t < planes->n_planes; t++) {
        memcpy(planes->G + t * capacity, G + t * old, planes->n_planes * sizeof *G);
        planes->mu[t] = mu[t];
    }
    free(planes->master);
    planes->master = master;
    planes->capacity = capacity;
    return 0;
}

static void free_plane(struct plane *plane) {
    free(plane->a);
    free(plane->q);
    free(plane->record);
}

/* Adds the plane (g, offset) with weight 0; `cut`: it is the risk's last one, with rounding and
 * record. */
static int add_plane(struct cutting_planes *planes, const double *g, double offset, bool cut,
                     struct error *err) {
    const struct score_map *map = planes->map;
    if (planes->n_planes == planes->capacity && grow(planes, err) < 0) {
        return -1;
    }
    struct plane plane = {.offset = offset, .used = planes->iteration};
    if (cut && planes->risk->rounding) {
        plane.rounding = planes->risk->rounding(planes->risk->context);
    }
    plane.a = memory_array(map->dimension, sizeof *plane.a, "a plane", err);
    plane.q =
        plane.a && !map->primal ? memory_array(map->n, sizeof *plane.q, "a plane", err) : NULL;
    if (!plane.a || (!plane.q && !map->primal) || map->adjoint(map, g, plane.a, err) < 0 ||
        (plane.q && map->scores(map, plane.a, plane.q, err) < 0) ||
        (cut && planes->risk->record &&
         planes->risk->record(planes->risk->context, &plane.record, err) < 0)) {
        free_plane(&plane);
        return -1;
    }
    size_t p = planes->n_planes++;
    planes->plane[p] = plane;
    planes->mu[p] = 0;
    const double *side = map->primal ? plane.a : plane.q;
    for (size_t t = 0; t <= p; t++) {
        double product = array_dot(planes->plane[t].a, side, map->dimension);
        planes->G[t * planes->capacity + p] = planes->G[p * planes->capacity + t] = product;
    }
    return 0;
}

static void drop_idle_planes(struct cutting_planes *planes) {
    size_t n_kept = 0;
    for (size_t t = 0; t < planes->n_planes; t++) {
        if (t > 0 && planes->plane[t].used + MAX_IDLE < planes->iteration) {
            free_plane(&planes->plane[t]);
            continue;
        }
        if (n_kept < t) {
            planes->plane[n_kept] = planes->plane[t];
            planes->mu[n_kept] = planes->mu[t];
            /* Row and column t move to n_kept; the rows before n_kept are in place. */
            memmove(planes->G + n_kept * planes->capacity, planes->G + t * planes->capacity,
                    planes->n_planes * sizeof *planes->G);
            for (size_t u = 0; u < planes->n_planes; u++) {
                planes->G[u * planes->capacity + n_kept] = planes->G[u * planes->capacity + t];
            }
        }
        n_kept++;
    }
    planes->n_planes = n_kept;
}

int cutting_planes_create(struct cutting_planes **planes, const struct score_map *map,
                          const struct risk *risk, struct error *err) {
    struct cutting_planes *made = memory_zeros(1, sizeof *made, "cutting planes", err);
    if (!made) {
        return -1;
    }
    made->map = map;
    made->risk = risk;
    size_t n = map->n, d = map->dimension;
    made->points = ARRAYS_CREATE("cutting planes", err,
                                 ARRAYS(d, double, &made->best_weights, &made->master_weights),
                                 ARRAYS(n, double, &made->best_s, &made->best_g, &made->master_s,
                                        &made->direction, &made->trial, &made->g));
    /* The zero plane, valid since R >= 0, makes D >= 0; then the plane at f = 0. */
    double offset;
    int status = made->points ? add_plane(made, made->g, 0, false, err) : -1;
    if (status == 0) {
        made->mu[0] = 1;
        made->best_risk = risk->cut(risk->context, made->best_s, made->best_g, &offset);
        status = add_plane(made, made->best_g, offset, true, err);
    }
    if (status < 0) {
        cutting_planes_free(made);
        return -1;
    }
    *planes = made;
    return 0;
}

void cutting_planes_free(struct cutting_planes *planes) {
    if (!planes) {
        return;
    }
    for (size_t t = 0; t < planes->n_planes; t++) {
        free_plane(&planes->plane[t]);
    }
    free(planes->plane);
    free(planes->master);
    free(planes->points);
    free(planes);
}

/* Solves the master problem for mu; computes its weights and scores, and *dual = D. */
static int solve_master(struct cutting_planes *planes, double cost, double tolerance, double *dual,
                        struct error *err) {
    size_t p = planes->n_planes;
    for (size_t t = 0; t < p; t++) {
        planes->linear[t] = cost * planes->plane[t].offset;
        for (size_t u = 0; u < p; u++) {
            planes->scaled[t * planes->capacity + u] =
                cost * cost * planes->G[t * planes->capacity + u];
        }
    }
    if (simplex_maximise(p, planes->scaled, planes->capacity, planes->linear, tolerance, planes->mu,
                         err) < 0) {
        return -1;
    }
    const struct score_map *map = planes->map;
    memset(planes->master_weights, 0, map->dimension * sizeof(double));
    if (!map->primal) {
        memset(planes->master_s, 0, map->n * sizeof(double));
    }
    double offset = 0;
    for (size_t t = 0; t < p; t++) {
        double mu = planes->mu[t];
        if (mu > 0) {
            planes->plane[t].used = planes->iteration;
            offset += mu * planes->linear[t];
            array_add(planes->master_weights, -cost * mu, planes->plane[t].a, map->dimension);
            if (!map->primal) {
                array_add(planes->master_s, -cost * mu, planes->plane[t].q, map->n);
            }
        }
    }
    if (map->primal && map->scores(map, planes->master_weights, planes->master_s, err) < 0) {
        return -1;
    }
    *dual = offset - 0.5 * squared_norm(planes, planes->master_weights, planes->master_s);
    return 0;
}

/* Moves the best iterate towards the master's point by a line search, and adds the next plane. */
static int step_and_cut(struct cutting_planes *planes, double cost, double tolerance,
                        struct error *err) {
    const struct score_map *map = planes->map;
    size_t n = map->n;
    for (size_t i = 0; i < n; i++) {
        planes->direction[i] = planes->master_s[i] - planes->best_s[i];
    }
    double cross =
        array_dot(planes->best_weights, map->primal ? planes->master_weights : planes->master_s,
                  map->dimension);
    double master_squared_norm = squared_norm(planes, planes->master_weights, planes->master_s);
    struct linesearch search = {
        .risk = planes->risk,
        .cluster = map->cluster,
        .cost = cost,
        .s = planes->best_s,
        .d = planes->direction,
        .squared_norm = planes->best_squared_norm,
        .mixed = cross - planes->best_squared_norm,
        .curvature = fmax(0, master_squared_norm - 2 * cross + planes->best_squared_norm),
        .value = planes->best_risk,
        .slope = cluster_total(map->cluster, array_dot(planes->best_g, planes->direction, n)),
        .trial = planes->trial,
        .g = planes->g,
    };
    struct linesearch_result found = linesearch_minimise(&search, tolerance);
    if (found.theta > 0) {
        for (size_t k = 0; k < map->dimension; k++) {
            planes->best_weights[k] +=
                found.theta * (planes->master_weights[k] - planes->best_weights[k]);
        }
        array_add(planes->best_s, found.theta, planes->direction, n);
        planes->best_risk = found.value;
        memcpy(planes->best_g, planes->g, n * sizeof *planes->g);
        planes->best_squared_norm = squared_norm(planes, planes->best_weights, planes->best_s);
    }
    for (size_t i = 0; i < n; i++) {
        planes->trial[i] = planes->best_s[i] + CUT_AT * (planes->master_s[i] - planes->best_s[i]);
    }
    double offset;
    planes->risk->cut(planes->risk->context, planes->trial, planes->g, &offset);
    return add_plane(planes, planes->g, offset, true, err);
}

/* Adds the rounding-error bounds of the combination of planes. The computed weights sum to 1 up to
 * one rounding error per plane. */
static void add_rounding(const struct cutting_planes *planes, struct risk_rounding *rounding) {
    double terms = ((double)planes->n_planes + 4) * DBL_EPSILON;
    for (size_t t = 0; t < planes->n_planes; t++) {
        const struct plane *plane = &planes->plane[t];
        double mu = planes->mu[t];
        rounding->offset += mu * (plane->rounding.offset + terms * fabs(plane->offset));
        rounding->gradient += mu * (plane->rounding.gradient + terms * plane->rounding.size);
        rounding->size += mu * plane->rounding.size;
    }
}

static int copy_fit(const struct cutting_planes *planes, double cost, struct fit *fit,
                    struct error *err) {
    size_t d = dimension(planes);
    fit->weights = memory_array(d, sizeof(double), "weights", err);
    fit->dual_weights = memory_array(d, sizeof(double), "weights", err);
    if (!fit->weights || !fit->dual_weights) {
        fit_free(fit);
        return -1;
    }
    memcpy(fit->weights, planes->best_weights, d * sizeof(double));
    memcpy(fit->dual_weights, planes->master_weights, d * sizeof(double));
    fit->dual_offset = 0;
    for (size_t t = 0; t < planes->n_planes; t++) {
        fit->dual_offset += cost * planes->mu[t] * planes->plane[t].offset;
    }
    add_rounding(planes, &fit->rounding);
    return 0;
}

int cutting_planes_solve(struct cutting_planes *planes, double cost, double epsilon,
                         const struct monitor *monitor, struct fit *fit, struct error *err) {
    *fit = (struct fit){0};
    double best_gap = INFINITY;
    int stalled = 0;
    double primal = 0.5 * planes->best_squared_norm + cost * planes->best_risk, dual = 0;
    for (;;) {
        planes->iteration++;
        fit->iterations++;
        double tolerance = INNER * fmin(epsilon, 1) * primal;
        if (solve_master(planes, cost, tolerance, &dual, err) < 0) {
            return -1;
        }
        primal = 0.5 * planes->best_squared_norm + cost * planes->best_risk;
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
        if (stalled >= MAX_STALLED) {
            fit->reason = STOP_ROUNDING;
            break;
        }
        if (step_and_cut(planes, cost, tolerance, err) < 0) {
            return -1;
        }
        drop_idle_planes(planes);
    }
    fit->primal = primal;
    fit->dual = dual;
    return copy_fit(planes, cost, fit, err);
}

void cutting_planes_visit_dual(const struct cutting_planes *planes, double cost,
                               void (*visit)(void *context, double weight, const void *record),
                               void *context) {
    for (size_t t = 0; t < planes->n_planes; t++) {
        if (planes->mu[t] > 0 && planes->plane[t].record) {
            visit(context, cost * planes->mu[t], planes->plane[t].record);
        }
    }
}
