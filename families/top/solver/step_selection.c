/* Second-order selection of the entries of a step, and of the rows to shrink. */
#include "families/top/solver/step_selection.h"

#include "families/top/solver/position_scan.h"
#include "methods/select_largest.h"

#include <math.h>

/* rho below this is a rounding error of 0. */
static const double MIN_REMAINDER = 1e-11;

/* slope^2 / curvature, twice the gain of the step; 0 unless the slope is positive. */
static double gain_of(double slope, double curvature) {
    return slope > 0 ? slope * slope / curvature : 0;
}

static double alpha_curvature(const struct top_state *state, size_t i) {
    return state->diagonal[i] + state->h[i];
}

/* The term in sqrt(squares) contributes its part for this entry only. */
static double beta_curvature(const struct top_state *state, size_t j) {
    return state->diagonal[j] + state->quadratic * state->inverse_mass[j];
}

static inline double slope_of(const struct top_state *state, size_t p, bool beta) {
    return beta ? top_state_beta_slope(state, p) : top_state_alpha_slope(state, p);
}

static inline double curvature_of(const struct top_state *state, size_t p, bool beta) {
    return beta ? beta_curvature(state, p) : alpha_curvature(state, p);
}

static double at_least(double curvature, double scale) {
    return curvature > TOP_MIN_CURVATURE * scale ? curvature : TOP_MIN_CURVATURE * scale + 1e-300;
}

static double remaining_rate(const struct top_state *state) {
    double rho = 1 - state->omega;
    return rho > MIN_REMAINDER ? rho : 0;
}

/* Replaces *step by the two-entry step if that gains more. */
static void offer(struct top_step *step, double *gain, const struct candidate *candidate,
                  struct top_entry first, bool beta, double rate, double block) {
    if (candidate->position != TOP_NO_POSITION && candidate->gain > *gain) {
        *gain = candidate->gain;
        *step = (struct top_step){.entry = {first, {(size_t)candidate->position, beta, rate}},
                                  .n = 2,
                                  .block = block,
                                  .slope = candidate->slope,
                                  .curvature = candidate->curvature};
    }
}

/* The best step in which alpha at position k increases (sign 1) or decreases (-1). */
static void with_alpha(const struct top_state *state, const float *row, size_t k, double sign,
                       struct top_step *step, double *gain) {
    struct top_entry first = {k, false, sign};
    double own = alpha_curvature(state, k), g = top_state_alpha_slope(state, k);
    struct scan pair = {
        .fixed = sign * g, .sign = -sign, .base = own, .weight = 1, .cross = -1, .falls = sign > 0};
    struct candidate candidate = top_find_second(state, row, &pair, false);
    offer(step, gain, &candidate, first, false, -sign, 0);
    struct scan mixed = {
        .fixed = sign * g, .sign = sign, .base = own, .weight = 1, .cross = -1, .falls = sign < 0};
    double rho = 1, block = 0;
    if (state->risk->kind == TOP_MEAN) { /* the block moves with the level */
        rho = remaining_rate(state);
        block = sign;
        mixed.fixed += sign * state->A;
        mixed.sign = sign * rho;
        mixed.base += state->kappa - 2 * state->U[k];
        mixed.weight = rho;
        mixed.cross = -rho;
        mixed.block = rho;
        mixed.free_only = true;
    }
    if (rho == 0) {
        double curvature = at_least(mixed.base, own);
        if (gain_of(mixed.fixed, curvature) > *gain) {
            *gain = gain_of(mixed.fixed, curvature);
            *step = (struct top_step){.entry = {first},
                                      .n = 1,
                                      .block = block,
                                      .slope = mixed.fixed,
                                      .curvature = curvature};
        }
        return;
    }
    candidate = top_find_second(state, row, &mixed, true);
    offer(step, gain, &candidate, first, true, sign * rho, block);
}

/* The best step in which beta at position k increases. */
static void with_beta(const struct top_state *state, const float *row, size_t k,
                      struct top_step *step, double *gain) {
    double own = beta_curvature(state, k), z = top_state_beta_slope(state, k);
    struct scan pair = {
        .fixed = z, .sign = -1, .base = own, .weight = 1, .cross = -1, .falls = true};
    struct candidate candidate = top_find_second(state, row, &pair, true);
    offer(step, gain, &candidate, (struct top_entry){k, true, 1}, true, -1, 0);
    struct scan mixed = {.fixed = z, .sign = 1, .base = own, .weight = 1, .cross = -1};
    double rho = 1, block = 0;
    if (state->risk->kind == TOP_MEAN) {
        rho = remaining_rate(state);
        block = 1;
        mixed.fixed = state->A + rho * z;
        mixed.base = state->kappa + rho * rho * own + 2 * rho * state->U[k];
        mixed.cross = -rho;
        mixed.block = -1;
    }
    if (rho == 0) {
        return; /* alpha and the block move without it */
    }
    candidate = top_find_second(state, row, &mixed, false);
    offer(step, gain, &candidate, (struct top_entry){k, true, rho}, false, 1, block);
}

/* TOP_QUANTILE, hinge: the level increases (sign 1) or decreases, and an alpha or a beta keeps the
 * sums equal. */
static void with_level(const struct top_state *state, const struct extremes *e, double sign,
                       struct top_step *step, double *gain) {
    double omega = state->omega;
    ptrdiff_t alpha = sign > 0 ? e->alpha_up.position : e->alpha_down.position;
    ptrdiff_t beta = sign > 0 ? e->beta_down.position : e->beta_up.position;
    for (int kind = 0; kind < 2; kind++) {
        ptrdiff_t position = kind ? beta : alpha;
        if (position == TOP_NO_POSITION) {
            continue;
        }
        size_t p = (size_t)position;
        double own = omega * omega * curvature_of(state, p, kind);
        double slope = sign * (state->A + (kind ? -omega : omega) * slope_of(state, p, kind));
        double curvature = at_least(state->kappa - 2 * omega * state->U[p] + own, own);
        if (gain_of(slope, curvature) > *gain) {
            *gain = gain_of(slope, curvature);
            *step = (struct top_step){.entry = {{p, kind != 0, (kind ? -sign : sign) * omega}},
                                      .n = 1,
                                      .block = sign,
                                      .slope = slope,
                                      .curvature = curvature};
        }
    }
}

/* The entry of a row for TOP_NONE: its slope and curvature, how far it can increase and decrease,
 * and its sign in f. */
struct entry {
    bool beta;
    double slope, own, up, down, sign;
};

static struct entry entry_of(const struct top_state *state, size_t p) {
    bool beta = state->cap_rate[p] > 0;
    double value = beta ? state->beta[p] : state->alpha[p];
    return (struct entry){.beta = beta,
                          .slope = slope_of(state, p, beta),
                          .own = at_least(curvature_of(state, p, beta), 1e-300),
                          .up = (beta ? top_state_cap(state, p) : state->C[p]) - value,
                          .down = value,
                          .sign = beta ? -1 : 1};
}

/* TOP_NONE: the entry whose single step gains most within its bounds. */
static void choose_single(const struct top_state *state, struct top_step *step, double *gain) {
    struct single best = top_find_single(state);
    *gain = best.gain;
    if (best.position == TOP_NO_POSITION) {
        return;
    }
    size_t p = (size_t)best.position;
    struct entry entry = entry_of(state, p);
    *step = (struct top_step){.entry = {{p, entry.beta, entry.slope > 0 ? 1 : -1}},
                              .n = 1,
                              .slope = fabs(entry.slope),
                              .curvature = entry.own};
}

/* TOP_NONE: adds a second entry if the joint step, towards the maximum over both, gains more: of
 * two nearly equal rows with opposite labels neither gets far alone (Steinwart, Hush and Scovel,
 * "Training SVMs without offset", JMLR 12, 2011). row: of K, for the first entry. */
static void choose_second(const struct top_state *state, const float *row, struct top_step *step,
                          double *gain) {
    size_t first = step->entry[0].position;
    struct entry one = entry_of(state, first);
    const struct joint joint = {.slope = one.slope,
                                .own = one.own,
                                .up = one.up,
                                .down = one.down,
                                .sign = one.sign,
                                .gain = *gain,
                                .position = (ptrdiff_t)first};
    struct single best = top_find_joint(state, row, &joint);
    if (best.position == TOP_NO_POSITION) {
        return;
    }
    size_t p = (size_t)best.position;
    struct entry other = entry_of(state, p);
    double cross = one.sign * other.sign * (double)row[p];
    double both = one.own * other.own, determinant = at_least(both - cross * cross, both);
    double rate = (other.own * one.slope - cross * other.slope) / determinant;
    double other_rate = (one.own * other.slope - cross * one.slope) / determinant;
    double sizes = one.own * rate * rate + other.own * other_rate * other_rate;
    *gain = best.gain;
    *step = (struct top_step){.entry = {{first, one.beta, rate}, {p, other.beta, other_rate}},
                              .n = 2,
                              .slope = one.slope * rate + other.slope * other_rate,
                              .curvature = at_least(sizes + 2 * cross * rate * other_rate, sizes)};
}

/* The kinds of steps, for the selection of the first entry. */
enum kind { BOTH_ALPHA, BOTH_BETA, MIXED_UP, MIXED_DOWN, KINDS };

/* The gain of a step of two entries of alpha, or of beta. */
static double pair_gain(const struct top_state *state, const struct extreme *up,
                        const struct extreme *down, bool beta) {
    if (up->position == TOP_NO_POSITION || down->position == TOP_NO_POSITION) {
        return 0;
    }
    return gain_of(up->slope - down->slope, curvature_of(state, (size_t)up->position, beta) +
                                                curvature_of(state, (size_t)down->position, beta) +
                                                1e-300);
}

/* The gain of an alpha and a beta that both increase, or both decrease. */
static double mixed_gain(const struct top_state *state, const struct extreme *alpha,
                         const struct extreme *beta, bool falls) {
    bool mean = state->risk->kind == TOP_MEAN;
    double rho = mean ? remaining_rate(state) : 1;
    if (alpha->position == TOP_NO_POSITION || (beta->position == TOP_NO_POSITION && rho > 0)) {
        return 0;
    }
    size_t k = (size_t)alpha->position;
    double slope = alpha->slope, curvature = alpha_curvature(state, k);
    if (mean) {
        slope += state->A;
        curvature += state->kappa - 2 * state->U[k];
    }
    if (rho > 0) {
        size_t l = (size_t)beta->position;
        slope += rho * beta->slope;
        curvature += rho * rho * beta_curvature(state, l) + (mean ? 2 * rho * state->U[l] : 0);
    }
    return gain_of(falls ? -slope : slope, at_least(curvature, state->diagonal[k]));
}

/* The kind with the largest gain of its steepest entries, as if their rows were orthogonal. */
static enum kind steepest(const struct top_state *state, const struct extremes *e,
                          double *max_gain) {
    bool mean = state->risk->kind == TOP_MEAN;
    const double gain[KINDS] = {
        [BOTH_ALPHA] = pair_gain(state, &e->alpha_up, &e->alpha_down, false),
        [BOTH_BETA] = pair_gain(state, &e->beta_up, &e->beta_down, true),
        [MIXED_UP] = mixed_gain(state, &e->alpha_up, &e->beta_up, false),
        [MIXED_DOWN] =
            mixed_gain(state, &e->alpha_down, mean ? &e->beta_free : &e->beta_down, true)};
    enum kind best = BOTH_ALPHA;
    for (enum kind kind = BOTH_ALPHA; kind < KINDS; kind++) {
        best = gain[kind] > gain[best] ? kind : best;
    }
    *max_gain = gain[best];
    return best;
}

int top_choose_step(struct top_state *state, struct top_step *step, bool *found,
                    struct error *err) {
    double gain = 0;
    *found = false;
    if (state->risk->kind == TOP_NONE) {
        choose_single(state, step, &gain);
        *found = gain > 0;
        const float *row =
            *found ? row_cache_get(state->cache, step->entry[0].position, state->active, err)
                   : NULL;
        if (row) {
            choose_second(state, row, step, &gain);
        }
        return *found && !row ? -1 : 0;
    }
    struct extremes e = top_find_extremes(state);
    double max_gain;
    enum kind kind = steepest(state, &e, &max_gain);
    if (top_risk_levelled(state->risk) && state->risk->kind == TOP_QUANTILE && state->omega > 0) {
        with_level(state, &e, 1, step, &gain);
        with_level(state, &e, -1, step, &gain);
    }
    if (max_gain > 0) {
        size_t k = (size_t)(kind == BOTH_BETA    ? e.beta_up.position
                            : kind == MIXED_DOWN ? e.alpha_down.position
                                                 : e.alpha_up.position);
        const float *row = row_cache_get(state->cache, k, state->active, err);
        if (!row) {
            return -1;
        }
        if (kind == BOTH_BETA) {
            with_beta(state, row, k, step, &gain);
        } else {
            with_alpha(state, row, k, kind == MIXED_DOWN ? -1 : 1, step, &gain);
        }
    }
    *found = gain > 0;
    return 0;
}

/* ---- shrinking ---- */

/* TOP_NONE: an entry at a bound is shrunk if its slope points out of the interval and is larger in
 * size than that of each entry that can move uphill. */
static size_t choose_unshrunk_rows(const struct top_state *state, unsigned char *keep) {
    double steepest = 0;
    for (size_t p = 0; p < state->active; p++) {
        struct entry entry = entry_of(state, p);
        double room = entry.slope > 0 ? entry.up : entry.down;
        steepest = room > 0 ? fmax(steepest, fabs(entry.slope)) : steepest;
    }
    size_t kept = 0;
    for (size_t p = 0; p < state->active; p++) {
        struct entry entry = entry_of(state, p);
        keep[p] = (entry.down > 0 || entry.slope >= -steepest) &&
                  (entry.up > 0 || entry.slope <= steepest) && entry.up + entry.down > 0;
        kept += keep[p];
    }
    return kept;
}

size_t top_choose_unshrunk(const struct top_state *state, unsigned char *keep) {
    if (state->risk->kind == TOP_NONE) {
        return choose_unshrunk_rows(state, keep);
    }
    struct extremes e = top_find_extremes(state);
    double rho = state->risk->kind == TOP_MEAN ? remaining_rate(state) : 1;
    double block = state->risk->kind == TOP_MEAN ? state->A : 0;
    /* slopes from which an entry could increase in some step */
    double min_alpha_slope = fmin(e.alpha_down.slope, -(block + rho * e.beta_up.slope));
    double min_beta_slope =
        rho > 0 ? fmin(e.beta_down.slope, -(e.alpha_up.slope + block) / rho) : e.beta_down.slope;
    if (top_risk_levelled(state->risk) && state->risk->kind == TOP_QUANTILE && state->omega > 0) {
        min_alpha_slope = fmin(min_alpha_slope, -state->A / state->omega);
        min_beta_slope = fmin(min_beta_slope, state->A / state->omega);
    }
    size_t kept = 0;
    for (size_t p = 0; p < state->active; p++) {
        bool alpha = state->C[p] > 0 &&
                     (state->alpha[p] > 0 || !(top_state_alpha_slope(state, p) < min_alpha_slope));
        bool beta = state->cap_rate[p] > 0 && (state->beta[p] > 0 || state->capped[p] ||
                                               !(top_state_beta_slope(state, p) < min_beta_slope));
        keep[p] = alpha || beta;
        kept += keep[p];
    }
    return kept;
}

static bool is_nonzero(const struct top_state *state, size_t p) {
    return top_state_above(state, p) || state->capped[p];
}

size_t top_choose_steepest(const struct top_state *state, size_t room, unsigned char *keep,
                           double *value, double *share, uint32_t *order) {
    enum { CHOSEN = 2 };
    for (int beta = 0; beta < 2; beta++) {
        size_t n = 0;
        for (size_t p = 0; p < state->active; p++) {
            if (keep[p] && !is_nonzero(state, p) && (beta ? state->cap_rate[p] : state->C[p]) > 0) {
                value[p] = slope_of(state, p, beta);
                share[p] = 1;
                order[n++] = (uint32_t)p;
            }
        }
        double left;
        size_t chosen = select_largest(NULL, value, share, (double)room, order, n, &left, NULL);
        for (size_t t = 0; t < chosen; t++) {
            keep[order[t]] = CHOSEN;
        }
    }
    size_t kept = 0;
    for (size_t p = 0; p < state->active; p++) {
        keep[p] = keep[p] == CHOSEN || (keep[p] && is_nonzero(state, p));
        kept += keep[p];
    }
    return kept;
}
