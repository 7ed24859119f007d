/* A dual point of classification at the top, and the steps of sequential minimal optimisation.
 *
 * J, C, mass, theta and budget are those of risk.h. With f = sum (alpha_i - beta_i) k(x_i, .), K_j
 * column j of the kernel matrix, and scores s, the dual's partial derivatives ("slopes") are
 *   g_i = 1 - s_i - h_i alpha_i            of alpha_i, h = 1 / (2 C_i) if squared, else 0
 *   z_j = s_j + beta_offset - q_j beta_j   of beta_j
 * with sum alpha = sum beta (TOP_NONE: without). Bounds are 0 <= alpha_i <= C_i (none if squared)
 * and 0 <= beta_j <= cap_rate_j level, where the level is
 *   TOP_MEAN               sum alpha
 *   TOP_QUANTILE, hinge    delta, a variable with slope -budget; cap_rate = theta mass
 *   otherwise              1: caps are fixed (C mass for TOP_NONE with the hinge; none if squared)
 * If the level is variable, the entries at their cap move with it as one block. With r = cap_rate,
 * sums over the block are U = sum r_j K_j, kappa = sum r_j U_j, A = sum r_j z_j (less the budget)
 * and omega = sum r_j. For TOP_MEAN, if sum alpha grows by 1, the betas of the block grow by omega
 * in sum, and rho = 1 - omega is left for a beta that is not capped. */
#ifndef FAMILIES_TOP_SOLVER_DUAL_STATE_H
#define FAMILIES_TOP_SOLVER_DUAL_STATE_H

#include "common/base/error.h"
#include "common/kernel/row_cache.h"
#include "families/top/solver/risk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All arrays (n) are by position: the order of the rows in `cache`. Positions 0..active-1 are in
 * use (not shrunk): only there s and U are up to date. At the others alpha and beta are 0, or, for
 * TOP_NONE, at their bounds. */
struct top_state {
    const struct top_risk *risk;
    struct rows *cache;
    size_t n, active;
    uint32_t *row_of;      /* row of the problem at each position */
    double *alpha, *beta;  /* the dual point */
    double *C, *cap_rate;  /* upper bounds; 0: the row is not a positive, or not in J */
    double *h;             /* 1 / (2 C_i) if squared */
    double *inverse_mass;  /* 1 / mass_j */
    double *s, *U;         /* scores, U */
    double *diagonal;      /* of K */
    unsigned char *capped; /* beta is at its cap */
    double level, A, kappa, omega;
    size_t n_capped;
    double beta_offset;
    double quadratic; /* q_j = quadratic / mass_j */
    double dual;      /* TOP_NONE: the dual's value, to which steps add their gains */
    double squares;   /* sum beta^2 / mass, maintained for TOP_QUANTILE squared */
};

/* Stands for no position. */
enum { TOP_NO_POSITION = -1 };

/* An entry of a step: alpha or beta at a position, and its rate. */
struct top_entry {
    size_t position;
    bool beta;
    double rate;
};

struct top_step {
    struct top_entry entry[2];
    int n;
    double block; /* rate of the level and of the capped block: 0, 1 or -1 */
    double slope, curvature;
};

/* Smallest curvature of a step relative to that of its entries: rows may be equal. */
static const double TOP_MIN_CURVATURE = 1e-12;

/* The slopes g and z. */
static inline double top_state_alpha_slope(const struct top_state *state, size_t i) {
    return 1 - state->s[i] - state->h[i] * state->alpha[i];
}

static inline double top_state_beta_slope(const struct top_state *state, size_t j) {
    return state->s[j] + state->beta_offset -
           state->quadratic * state->inverse_mass[j] * state->beta[j];
}

/* Whether alpha or beta at the position is above 0. */
static inline bool top_state_above(const struct top_state *state, size_t p) {
    return state->alpha[p] > 0 || state->beta[p] > 0;
}
/* Of how many of the first n positions that is true. */
size_t top_state_count_above(const struct top_state *state, size_t n);

/* The cap of beta at a position. */
double top_state_cap(const struct top_state *state, size_t position);

/* Finds the capped entries of the point, and sets level, squares and quadratic; entries within
 * rounding of their cap are set to it. The caller computes U and then top_state_sums. */
void top_state_find_capped(struct top_state *state);

/* Sets kappa, A, omega and dual from s and U. All positions are in use. */
void top_state_sums(struct top_state *state);

/* Takes the step, with the length that maximises the dual or the largest that the bounds permit,
 * whichever is smaller. */
int top_state_take(struct top_state *state, const struct top_step *step, struct error *err);

/* The sum of (alpha_p - beta_p) s_p over the positions in use. */
double top_state_product(const struct top_state *state);

/* The dual's value; *squared_norm = |f|^2. From s at the positions in use; for TOP_NONE from the
 * value of the last top_state_sums and the steps since. */
double top_state_dual(const struct top_state *state, double *squared_norm);

#endif
