/* Vectors of positions, with the best of each lane. */
#include "families/top/solver/position_scan.h"

#include "common/base/dispatch.h"

#include <math.h>
#include <string.h>

enum { LANES = VECTOR_BYTES / sizeof(double) };

/* LANES numbers, and as many integers, which also are truth values: all bits or none. */
typedef double vector __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t lanes __attribute__((vector_size(VECTOR_BYTES)));
typedef float floats __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef unsigned char bytes __attribute__((vector_size(LANES)));

#define INLINE static inline __attribute__((always_inline))

/* Loads n <= LANES values; the others are 0. */
INLINE void load(vector *to, const double *from, size_t n) {
    *to = (vector){0};
    memcpy(to, from, n * sizeof *from);
}

INLINE void load_floats(vector *to, const float *from, size_t n) {
    floats values = {0};
    memcpy(&values, from, n * sizeof *from);
    *to = __builtin_convertvector(values, vector);
}

INLINE void load_truths(lanes *to, const unsigned char *from, size_t n) {
    bytes values = {0};
    memcpy(&values, from, n);
    *to = __builtin_convertvector(values, lanes) != 0;
}

INLINE void choose(vector *x, const lanes *where, const vector *other) {
    *x = (vector)((*where & (lanes)*other) | (~*where & (lanes)*x));
}

/* The slopes g and z of positions p..p + n, and whether beta is capped. */
INLINE void load_slopes(const struct top_state *state, size_t p, size_t n, bool beta, vector *slope,
                        vector *value) {
    vector s, factor;
    load(&s, state->s + p, n);
    load(value, (beta ? state->beta : state->alpha) + p, n);
    load(&factor, (beta ? state->inverse_mass : state->h) + p, n);
    *slope = beta ? s + state->beta_offset - state->quadratic * factor * *value
                  : 1 - s - factor * *value;
}

/* ---- steepest slopes ---- */

/* The largest values in each lane, and where: the first of equal ones. */
struct largest {
    vector value;
    lanes position;
};

INLINE void take_larger(struct largest *largest, const lanes *allowed, const lanes *position,
                        vector value) {
    lanes larger = *allowed & (value > largest->value);
    choose(&largest->value, &larger, &value);
    largest->position = (larger & *position) | (~larger & largest->position);
}

/* The lane with the largest value; of equal ones the one with the first position. */
static size_t largest_lane(const struct largest *largest) {
    size_t best = 0;
    for (size_t l = 1; l < LANES; l++) {
        bool equal = largest->value[l] == largest->value[best];
        bool first = largest->position[l] < largest->position[best];
        best = largest->value[l] > largest->value[best] || (equal && first) ? l : best;
    }
    return best;
}

/* sign times the values are slopes; -infinity: there is none. */
static struct extreme extreme_of(const struct largest *largest, double sign) {
    size_t l = largest_lane(largest);
    bool none = largest->value[l] == -(double)INFINITY;
    return (struct extreme){none ? TOP_NO_POSITION : (ptrdiff_t)largest->position[l],
                            sign * largest->value[l]};
}

enum { ALPHA_UP, ALPHA_DOWN, BETA_UP, BETA_DOWN, BETA_FREE, EXTREMES };

INLINE void take_extremes(const struct top_state *state, size_t p, size_t n, const lanes *position,
                          struct largest *e) {
    vector slope, value, bound, zero = {0};
    lanes capped, allowed;
    load_slopes(state, p, n, false, &slope, &value);
    load(&bound, state->C + p, n);
    allowed = value < bound;
    take_larger(&e[ALPHA_UP], &allowed, position, slope);
    allowed = value > zero;
    take_larger(&e[ALPHA_DOWN], &allowed, position, -slope);
    load_slopes(state, p, n, true, &slope, &value);
    load(&bound, state->cap_rate + p, n);
    load_truths(&capped, state->capped + p, n);
    allowed = (bound > zero) & ~capped;
    take_larger(&e[BETA_UP], &allowed, position, slope);
    allowed = value > zero;
    take_larger(&e[BETA_DOWN], &allowed, position, -slope);
    allowed &= ~capped;
    take_larger(&e[BETA_FREE], &allowed, position, -slope);
}

DISPATCH static void scan_extremes(const struct top_state *state, struct largest *e) {
    lanes position;
    size_t p = 0;
    for (int k = 0; k < EXTREMES; k++) {
        e[k] = (struct largest){.value = (vector){0} - (double)INFINITY};
    }
    for (size_t l = 0; l < LANES; l++) {
        position[l] = (int64_t)l;
    }
    for (; p + LANES <= state->active; p += LANES) {
        take_extremes(state, p, LANES, &position, e);
        position += LANES;
    }
    take_extremes(state, p, state->active - p, &position, e);
}

struct extremes top_find_extremes(const struct top_state *state) {
    struct largest e[EXTREMES];
    scan_extremes(state, e);
    return (struct extremes){extreme_of(&e[ALPHA_UP], 1), extreme_of(&e[ALPHA_DOWN], -1),
                             extreme_of(&e[BETA_UP], 1), extreme_of(&e[BETA_DOWN], -1),
                             extreme_of(&e[BETA_FREE], -1)};
}

/* ---- second entries ---- */

/* The best second entries so far in each lane, by slope^2 / curvature = over / under. */
struct seconds {
    vector over, under;
    lanes position;
};

INLINE void take_seconds(const struct top_state *state, const float *row, const struct scan *scan,
                         bool beta, size_t p, size_t n, const lanes *position,
                         struct seconds *best) {
    vector slope, value, bound, diagonal, term, entry, U, zero = {0};
    lanes capped, allowed;
    load_slopes(state, p, n, beta, &slope, &value);
    load(&bound, (beta ? state->cap_rate : state->C) + p, n);
    load_truths(&capped, state->capped + p, n);
    if (scan->falls) {
        allowed = value > zero;
        allowed &= beta && scan->free_only ? ~capped : allowed;
    } else {
        allowed = beta ? (bound > zero) & ~capped : value < bound;
    }
    slope = scan->fixed + scan->sign * slope;
    load(&diagonal, state->diagonal + p, n);
    load(&term, (beta ? state->inverse_mass : state->h) + p, n);
    load(&U, state->U + p, n);
    load_floats(&entry, row + p, n);
    vector own = scan->weight * scan->weight * (diagonal + (beta ? state->quadratic * term : term));
    vector curvature = scan->base + own + 2 * (scan->cross * entry + scan->block * U);
    vector least = TOP_MIN_CURVATURE * own, tiny = least + 1e-300;
    lanes low = ~(curvature > least);
    choose(&curvature, &low, &tiny);
    vector over = slope * slope;
    lanes better = allowed & (slope > zero) & (over * best->under > best->over * curvature);
    choose(&best->over, &better, &over);
    choose(&best->under, &better, &curvature);
    best->position = (better & *position) | (~better & best->position);
}

INLINE void scan_lanes(const struct top_state *state, const float *row, const struct scan *scan,
                       bool beta, struct seconds *best) {
    lanes position;
    size_t p = 0;
    *best = (struct seconds){.under = (vector){0} + 1};
    for (size_t l = 0; l < LANES; l++) {
        position[l] = (int64_t)l;
    }
    for (; p + LANES <= state->active; p += LANES) {
        take_seconds(state, row, scan, beta, p, LANES, &position, best);
        position += LANES;
    }
    take_seconds(state, row, scan, beta, p, state->active - p, &position, best);
}

DISPATCH static void scan_alphas(const struct top_state *state, const float *row,
                                 const struct scan *scan, struct seconds *best) {
    scan_lanes(state, row, scan, false, best);
}

DISPATCH static void scan_betas(const struct top_state *state, const float *row,
                                const struct scan *scan, struct seconds *best) {
    scan_lanes(state, row, scan, true, best);
}

struct candidate top_find_second(const struct top_state *state, const float *row,
                                 const struct scan *scan, bool beta) {
    struct seconds best;
    (beta ? scan_betas : scan_alphas)(state, row, scan, &best);
    const struct largest gains = {best.over / best.under, best.position};
    size_t l = largest_lane(&gains), p = (size_t)best.position[l];
    double own = beta ? top_state_beta_slope(state, p) : top_state_alpha_slope(state, p);
    double slope = scan->fixed + scan->sign * own;
    return gains.value[l] > 0
               ? (struct candidate){(ptrdiff_t)p, gains.value[l], slope, best.under[l]}
               : (struct candidate){TOP_NO_POSITION, 0, 0, 0};
}
