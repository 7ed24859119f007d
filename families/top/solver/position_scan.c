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

/* The diagonal of the Hessian. */
INLINE void load_curvatures(const struct top_state *state, size_t p, size_t n, bool beta,
                            vector *curvature) {
    vector diagonal, term;
    load(&diagonal, state->diagonal + p, n);
    load(&term, (beta ? state->inverse_mass : state->h) + p, n);
    *curvature = diagonal + (beta ? state->quadratic * term : term);
}

/* x, or a little above TOP_MIN_CURVATURE scale if it is not above that. */
INLINE void raise_curvature(vector *x, vector scale) {
    vector least = TOP_MIN_CURVATURE * scale, tiny = least + 1e-300;
    lanes low = ~(*x > least);
    choose(x, &low, &tiny);
}

INLINE void first_positions(lanes *position) {
    for (size_t l = 0; l < LANES; l++) {
        (*position)[l] = (int64_t)l;
    }
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
    first_positions(&position);
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
    vector slope, value, bound, own, entry, U, zero = {0};
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
    load_curvatures(state, p, n, beta, &own);
    load(&U, state->U + p, n);
    load_floats(&entry, row + p, n);
    own = scan->weight * scan->weight * own;
    vector curvature = scan->base + own + 2 * (scan->cross * entry + scan->block * U);
    raise_curvature(&curvature, own);
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
    first_positions(&position);
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

/* ---- steps without an equality constraint ---- */

/* The slopes, curvatures and bounds of n entries from p on. */
struct entries {
    vector slope, value, own, bound;
};

INLINE void load_entries(const struct top_state *state, size_t p, size_t n, bool beta,
                         struct entries *entries) {
    const vector unit = (vector){0} + 1e-300;
    load_slopes(state, p, n, beta, &entries->slope, &entries->value);
    load_curvatures(state, p, n, beta, &entries->own);
    raise_curvature(&entries->own, unit);
    load(&entries->bound, (beta ? state->cap_rate : state->C) + p, n);
}

INLINE void take_single(const struct top_state *state, size_t p, size_t n, bool beta,
                        const lanes *position, struct largest *best) {
    const vector zero = {0};
    struct entries entries;
    load_entries(state, p, n, beta, &entries);
    vector slope = entries.slope, room = entries.value, up = entries.bound - entries.value;
    vector size, falling = -slope;
    lanes rises = slope > zero;
    choose(&room, &rises, &up);
    rises = ~rises;
    choose(&slope, &rises, &falling); /* the absolute value */
    size = slope / entries.own;
    lanes far = size > room;
    choose(&size, &far, &room);
    lanes allowed = (entries.bound > zero) & (room > zero);
    take_larger(best, &allowed, position, 2 * slope * size - entries.own * size * size);
}

DISPATCH static void scan_singles(const struct top_state *state, struct largest *best) {
    lanes position;
    size_t p = 0;
    best[0] = best[1] = (struct largest){.value = {0}};
    first_positions(&position);
    for (; p + LANES <= state->active; p += LANES) {
        take_single(state, p, LANES, false, &position, &best[0]);
        take_single(state, p, LANES, true, &position, &best[1]);
        position += LANES;
    }
    take_single(state, p, state->active - p, false, &position, &best[0]);
    take_single(state, p, state->active - p, true, &position, &best[1]);
}

/* The better of the best entries of alpha and of beta, if it gains more than `least`. */
static struct single better_of(const struct largest best[2], double least) {
    size_t l[2] = {largest_lane(&best[0]), largest_lane(&best[1])};
    bool beta = best[1].value[l[1]] > best[0].value[l[0]];
    double gain = best[beta].value[l[beta]];
    return (struct single){gain > least ? (ptrdiff_t)best[beta].position[l[beta]] : TOP_NO_POSITION,
                           beta, gain};
}

struct single top_find_single(const struct top_state *state) {
    struct largest best[2];
    scan_singles(state, best);
    return better_of(best, 0);
}

/* The step length at which entries reach their bounds at this rate. */
INLINE void find_room(vector *room, vector rate, vector up, vector down) {
    const vector zero = {0};
    lanes rises = rate > zero, falls = rate < zero;
    up = up / rate;
    down = down / -rate;
    *room = zero + (double)INFINITY;
    choose(room, &rises, &up);
    choose(room, &falls, &down);
}

/* Takes the entries whose joint step with the first one gains more than the best so far. */
INLINE void take_joint(const struct top_state *state, const float *row, const struct joint *joint,
                       size_t p, size_t n, bool beta, const lanes *position, struct largest *best) {
    const vector zero = {0};
    struct entries entries;
    vector entry, room, first_room;
    load_entries(state, p, n, beta, &entries);
    load_floats(&entry, row + p, n);
    vector slope = entries.slope, own = entries.own, up = entries.bound - entries.value;
    vector cross = beta == joint->beta ? entry : -entry;
    vector both = joint->own * own, determinant = both - cross * cross;
    raise_curvature(&determinant, both);
    vector rate = joint->own * slope - cross * joint->slope;
    vector first_rate = own * joint->slope - cross * slope;
    lanes allowed =
        ((rate > zero) & (up > zero)) | (rate == zero) | ((rate < zero) & (entries.value > zero));
    allowed &= (entries.bound > zero) & (*position != (int64_t)joint->position);
    /* without its bounds it gains no less */
    vector free_gain = first_rate * joint->slope + rate * slope;
    allowed &= free_gain > best->value * determinant;
    int64_t any = 0;
    for (size_t l = 0; l < LANES; l++) {
        any |= allowed[l];
    }
    if (!any) {
        return;
    }
    rate = rate / determinant;
    first_rate = first_rate / determinant;
    find_room(&room, rate, up, entries.value);
    find_room(&first_room, first_rate, zero + joint->up, zero + joint->down);
    vector total = joint->slope * first_rate + slope * rate;
    vector sizes = joint->own * first_rate * first_rate + own * rate * rate;
    vector curvature = sizes + 2 * cross * first_rate * rate;
    raise_curvature(&curvature, sizes);
    vector size = total / curvature;
    lanes less = first_room < room;
    choose(&room, &less, &first_room);
    less = room < size;
    choose(&size, &less, &room);
    take_larger(best, &allowed, position, 2 * total * size - curvature * size * size);
}

DISPATCH static void scan_joint(const struct top_state *state, const float *row,
                                const struct joint *joint, struct largest *best) {
    lanes position;
    size_t p = 0;
    best[0] = best[1] = (struct largest){.value = (vector){0} + joint->gain};
    first_positions(&position);
    for (; p + LANES <= state->active; p += LANES) {
        take_joint(state, row, joint, p, LANES, false, &position, &best[0]);
        take_joint(state, row, joint, p, LANES, true, &position, &best[1]);
        position += LANES;
    }
    take_joint(state, row, joint, p, state->active - p, false, &position, &best[0]);
    take_joint(state, row, joint, p, state->active - p, true, &position, &best[1]);
}

struct single top_find_joint(const struct top_state *state, const float *row,
                             const struct joint *joint) {
    struct largest best[2];
    scan_joint(state, row, joint, best);
    return better_of(best, joint->gain);
}
