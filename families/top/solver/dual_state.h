/* A dual point of classification at the top, and the steps that move it: what smo runs.
 *
 * With f = sum (alpha_i - beta_i) k(x_i, .) and scores s, the dual's slopes are
 *   g_i = 1 - s_i - h_i alpha_i        of alpha_i, h = 1 / (2 C_i) if squared, else 0
 *   z_j = s_j + lift - q_j beta_j      of beta_j
 * with sum alpha = sum beta (TOP_NONE: without). Bounds are 0 <= alpha_i <= C_i (none if squared)
 * and 0 <= beta_j <= cap_rate_j level, where the level is
 *   TOP_MEAN               sum alpha
 *   TOP_QUANTILE, hinge    delta, a variable of its own with slope -budget; cap_rate = theta mass
 *   otherwise              1: caps do not move (TOP_QUANTILE squared has none, TOP_NONE C mass)
 * Where the level moves, the entries that lie at their cap move with it, as one block: with r =
 * cap_rate, U is the sum of r_j K_j over them, kappa that of r_j U_j, A that of r_j z_j (less the
 * budget), omega that of r_j. For TOP_MEAN rho = 1 - omega is left for a free entry. */
#ifndef FAMILIES_TOP_SOLVER_DUAL_STATE_H
#define FAMILIES_TOP_SOLVER_DUAL_STATE_H

#include "common/base/error.h"
#include "common/kernel/row_cache.h"
#include "families/top/solver/risk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All arrays (n) are by place: rows of the problem in the order of `rows`. Places 0..active-1 are
 * in use: s and U are up to date there, and only there may alpha or beta be above 0. */
struct top_state {
    const struct top_risk *risk;
    struct rows *rows;
    size_t n, active;
    uint32_t *at;          /* row in each place */
    double *alpha, *beta;  /* the point */
    double *C, *cap_rate;  /* bounds: 0 where a row is no positive, or not in J */
    double *h, *inverse;   /* 1 / (2 C_i) if squared; 1 / mass_j */
    double *s, *U, *K;     /* scores, U, diagonal of K */
    unsigned char *capped; /* beta is at its cap */
    double level, A, kappa, omega;
    size_t n_capped;
    double lift;
    double curl;    /* q_j = curl / mass_j */
    double squares; /* sum beta^2 / mass, kept for TOP_QUANTILE squared */
};

/* Where a place may be missing. */
enum { TOP_NO_PLACE = -1 };

/* Entries of a step: alpha or beta of a place, with the rate at which it moves. */
struct top_entry {
    size_t place;
    bool beta;
    double rate;
};

struct top_step {
    struct top_entry entry[2];
    int n;
    double block; /* rate of the level, with which the capped block moves: 0, 1, -1 */
    double slope, curvature;
};

/* Curvature is at least this part of the entries' own: rows may be equal. */
static const double TOP_STATE_FLAT = 1e-12;

/* g and z, the slopes of an entry. */
static inline double top_state_alpha_slope(const struct top_state *state, size_t i) {
    return 1 - state->s[i] - state->h[i] * state->alpha[i];
}

static inline double top_state_beta_slope(const struct top_state *state, size_t j) {
    return state->s[j] + state->lift - state->curl * state->inverse[j] * state->beta[j];
}

/* Whether caps move with a level. */
bool top_state_levelled(const struct top_state *state);

/* The cap of beta in a place. */
double top_state_cap(const struct top_state *state, size_t place);

/* Takes alpha, beta and level as they are: finds the capped entries, squares, curl; U, kappa and A
 * are the caller's to compute. Entries within rounding of their cap are put on it. */
void top_state_classify(struct top_state *state);

/* kappa, A and omega from s and U. */
void top_state_sums(struct top_state *state);

/* Takes the step, as far as it is best or allowed. */
int top_state_take(struct top_state *state, const struct top_step *step, struct error *err);

/* The dual's value from s of the places in use. */
double top_state_dual(const struct top_state *state, double *norm);

#endif
