/* The iterations and the stall rule. */
#include "methods/conditional_gradient.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/gap.h"
#include "common/base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* After this many successive exact steps that do not raise D, rounding stops the method. */
enum { MAX_STALLED = 100 };

/* The run stalls if the smallest gap has not fallen to STOP_PROGRESS of its value within so many
 * iterations. */
enum { MAX_WAIT = 250000 };

struct progress {
    double gap;         /* the smallest gap at the last progress */
    uint64_t iteration; /* of the last progress */
};

struct state {
    double *weights, *vertex; /* (dimension) */
    double *s, *vertex_s, *g; /* (n) */
};

static bool is_stalled(struct progress *progress, uint64_t iteration, double gap) {
    if (gap <= STOP_PROGRESS * progress->gap) {
        *progress = (struct progress){gap, iteration};
    }
    return iteration - progress->iteration > MAX_WAIT;
}

/* Computes the direction: the vertex of the linear oracle (every active pair at C, the others at 0)
 * minus the iterate, as weights and scores. */
static int set_direction(const struct score_map *map, double cost, struct state *state,
                         struct error *err) {
    array_scale(state->g, -cost, map->n);
    if (map->adjoint(map, state->g, state->vertex, err) < 0 ||
        map->scores(map, state->vertex, state->vertex_s, err) < 0) {
        return -1;
    }
    array_add(state->vertex_s, -1, state->s, map->n);
    array_add(state->vertex, -1, state->weights, map->dimension);
    return 0;
}

static int iterate(const struct score_map *map, const struct risk *risk,
                   const struct conditional *how, const struct monitor *monitor,
                   struct state *state, struct fit *fit, struct error *err) {
    size_t n = map->n, d = map->dimension;
    double e = 0, first = 0, squared_norm = 0, best = -INFINITY;
    int stalled = 0;
    struct progress progress = {INFINITY, 0};
    struct risk_rounding vertex = {0}, *sum = &fit->rounding;
    for (;;) {
        double offset;
        double value = risk->cut(risk->context, state->s, state->g, &offset);
        fit->primal = 0.5 * squared_norm + how->cost * value;
        fit->dual = e - 0.5 * squared_norm;
        fit->dual_offset = e;
        double gain = fit->primal - fit->dual;
        if (!isfinite(gain)) {
            return stop_overflow(err);
        }
        first = fit->iterations == 0 ? gain : first;
        if (risk->rounding) { /* of the next vertex */
            vertex = risk->rounding(risk->context);
        }
        if (how->decay ? gain <= how->epsilon * first
                       : gap_reached(fit->primal, fit->dual, how->epsilon)) {
            fit->converged = true;
            return 0;
        }
        fit->iterations++;
        fit->reason = monitor_check(monitor, fit->iterations, fit->primal, fit->dual);
        if (fit->reason) {
            return 0;
        }
        stalled = fit->dual > best ? 0 : stalled + 1;
        best = fmax(best, fit->dual);
        bool rounding = !how->diminishing && stalled >= MAX_STALLED;
        if (rounding || is_stalled(&progress, fit->iterations, gain)) {
            fit->reason = rounding ? STOP_ROUNDING : STOP_STALLED;
            return 0;
        }
        if (set_direction(map, how->cost, state, err) < 0) {
            return -1;
        }
        double curvature =
            array_dot(state->vertex, map->primal ? state->vertex : state->vertex_s, d);
        double step = 2 / (double)(fit->iterations + 1);
        if (!how->diminishing) {
            step = curvature > 0 ? fmin(gain / curvature, 1) : 1;
        }
        array_add(state->weights, step, state->vertex, d);
        array_add(state->s, step, state->vertex_s, n);
        e += step * (how->cost * offset - e);
        sum->offset += step * (vertex.offset - sum->offset) + 4 * DBL_EPSILON * fabs(offset);
        sum->gradient += step * (vertex.gradient - sum->gradient) + 4 * DBL_EPSILON * vertex.size;
        sum->size = fmax(sum->size, vertex.size);
        squared_norm = array_dot(state->weights, map->primal ? state->weights : state->s, d);
    }
}

int conditional_gradient_solve(const struct score_map *map, const struct risk *risk,
                               const struct conditional *how, const struct monitor *monitor,
                               struct fit *fit, struct error *err) {
    *fit = (struct fit){0};
    size_t n = map->n, d = map->dimension;
    struct state state;
    double *block = ARRAYS_CREATE("scores", err, ARRAYS(d, double, &state.vertex),
                                  ARRAYS(n, double, &state.s, &state.vertex_s, &state.g));
    state.weights = fit->weights = memory_zeros(d, sizeof(double), "weights", err);
    fit->dual_weights = memory_array(d, sizeof(double), "weights", err);
    int status = block && fit->weights && fit->dual_weights
                     ? iterate(map, risk, how, monitor, &state, fit, err)
                     : -1;
    if (status == 0) {
        memcpy(fit->dual_weights, fit->weights, d * sizeof(double));
    } else {
        fit_free(fit);
    }
    free(block);
    return status;
}
