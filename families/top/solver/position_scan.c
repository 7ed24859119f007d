/* Scans of positions by vectors, for the best in each lane or of all lanes. */
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

/* The slopes, values, curvatures and bounds of n entries from p on; each row has one entry, alpha
 * or beta. sign: of the entry in f. */
struct entries {
    vector slope, value, own, bound, sign;
};

INLINE void load_entries(const struct top_state *state, size_t p, size_t n,
                         struct entries *entries) {
    const vector zero = {0}, unit = zero + 1e-300, down = zero - 1;
    vector s, alpha, beta, max_alpha, cap, h, inverse_mass, diagonal;
    load(&s, state->s + p, n);
    load(&alpha, state->alpha + p, n);
    load(&beta, state->beta + p, n);
    load(&max_alpha, state->C + p, n);
    load(&cap, state->cap_rate + p, n);
    load(&h, state->h + p, n);
    load(&inverse_mass, state->inverse_mass + p, n);
    load(&diagonal, state->diagonal + p, n);
    vector term = h + state->quadratic * inverse_mass;
    lanes is_beta = cap > zero;
    entries->sign = zero + 1;
    choose(&entries->sign, &is_beta, &down);
    entries->value = alpha + beta;
    entries->bound = max_alpha + cap;
    entries->slope = 1 - entries->sign * s - term * entries->value;
    entries->own = diagonal + term;
    raise_curvature(&entries->own, unit);
}

INLINE bool any_of(const lanes *truths) {
    bytes values = __builtin_convertvector(*truths, bytes);
    unsigned char any[sizeof(uint64_t)] = {0};
    uint64_t bits;
    memcpy(any, &values, sizeof values);
    memcpy(&bits, any, sizeof bits);
    return bits != 0;
}

/* The best entry so far: the first of equal ones. */
INLINE void take_best(struct single *best, const lanes *allowed, const lanes *position,
                      vector gain) {
    for (size_t l = 0; l < LANES; l++) {
        if ((*allowed)[l] && gain[l] > best->gain) {
            *best = (struct single){(ptrdiff_t)(*position)[l], gain[l]};
        }
    }
}

/* room = up where rate is 0 or more, otherwise down; then takes the absolute value of rate. */
INLINE void take_absolute_rate(vector *room, vector *rate, vector up, vector down) {
    vector falling = -*rate;
    lanes falls = *rate < (vector){0};
    *room = up;
    choose(room, &falls, &down);
    choose(rate, &falls, &falling);
}

/* Takes an entry that gains more than the best so far. Bounds of the gains, without quotients, are
 * compared first. */
INLINE void take_single(const struct top_state *state, size_t p, size_t n, struct single *best) {
    struct entries entries;
    vector room;
    lanes position;
    load_entries(state, p, n, &entries);
    vector slope = entries.slope, own = entries.own;
    take_absolute_rate(&room, &slope, entries.bound - entries.value, entries.value);
    lanes allowed = (slope * slope > best->gain * own) & (2 * slope * room > best->gain);
    if (!any_of(&allowed)) {
        return;
    }
    first_positions(&position);
    position += (int64_t)p;
    vector size = slope / own;
    lanes far = size > room;
    choose(&size, &far, &room);
    take_best(best, &allowed, &position, 2 * slope * size - own * size * size);
}

DISPATCH static void scan_singles(const struct top_state *state, struct single *best) {
    size_t p = 0;
    for (; p + LANES <= state->active; p += LANES) {
        take_single(state, p, LANES, best);
    }
    take_single(state, p, state->active - p, best);
}

struct single top_find_single(const struct top_state *state) {
    struct single best = {TOP_NO_POSITION, 0};
    scan_singles(state, &best);
    return best;
}

/* Takes an entry whose joint step with the first one gains more than the best so far: towards the
 * maximum over both, as far as the bounds permit. A part t <= 1 of the step without bounds gains
 * 2 t - t^2 <= min(1, 2 t) of it; so much is compared first, without quotients. */
INLINE void take_joint(const struct top_state *state, const float *row, const struct joint *joint,
                       size_t p, size_t n, struct single *best) {
    const vector zero = {0};
    struct entries other;
    vector entry, room, first_room;
    lanes position;
    load_entries(state, p, n, &other);
    load_floats(&entry, row + p, n);
    vector up = other.bound - other.value, slope = other.slope, own = other.own;
    vector cross = joint->sign * other.sign * entry;
    vector both = joint->own * own, determinant = both - cross * cross;
    raise_curvature(&determinant, both);
    /* the rates, times the determinant */
    vector rate = joint->own * slope - cross * joint->slope;
    vector first_rate = own * joint->slope - cross * slope;
    vector free_gain = first_rate * joint->slope + rate * slope;
    vector size = rate, first_size = first_rate;
    take_absolute_rate(&room, &size, up, other.value);
    take_absolute_rate(&first_room, &first_size, zero + joint->up, zero + joint->down);
    lanes allowed = (free_gain > best->gain * determinant) & (room > zero) &
                    (2 * free_gain * room > best->gain * size) &
                    (2 * free_gain * first_room > best->gain * first_size);
    if (!any_of(&allowed)) {
        return;
    }
    rate /= determinant;
    first_rate /= determinant;
    vector total = joint->slope * first_rate + slope * rate;
    vector sizes = joint->own * first_rate * first_rate + own * rate * rate;
    vector curvature = sizes + 2 * cross * first_rate * rate;
    raise_curvature(&curvature, sizes);
    vector length = total / curvature;
    room *= determinant / size; /* in lengths: infinite at rate 0 */
    first_room *= determinant / first_size;
    lanes less = first_room < length;
    choose(&length, &less, &first_room);
    less = room < length;
    choose(&length, &less, &room);
    first_positions(&position);
    position += (int64_t)p;
    allowed &= position != (int64_t)joint->position;
    take_best(best, &allowed, &position, 2 * total * length - curvature * length * length);
}

DISPATCH static void scan_joint(const struct top_state *state, const float *row,
                                const struct joint *joint, struct single *best) {
    size_t p = 0;
    for (; p + LANES <= state->active; p += LANES) {
        take_joint(state, row, joint, p, LANES, best);
    }
    take_joint(state, row, joint, p, state->active - p, best);
}

struct single top_find_joint(const struct top_state *state, const float *row,
                             const struct joint *joint) {
    struct single best = {TOP_NO_POSITION, joint->gain};
    scan_joint(state, row, joint, &best);
    return best;
}
