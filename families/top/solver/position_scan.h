/* The loops over the positions in use that select the entries of a step, a vector of positions at a
 * time. Private to step_selection.c. */
#ifndef FAMILIES_TOP_SOLVER_POSITION_SCAN_H
#define FAMILIES_TOP_SOLVER_POSITION_SCAN_H

#include "families/top/solver/dual_state.h"

/* An entry with the largest slope, or the smallest. */
struct extreme {
    ptrdiff_t position;
    double slope;
};

/* The steepest entries that can increase and decrease; beta_free is not capped. */
struct extremes {
    struct extreme alpha_up, alpha_down, beta_up, beta_down, beta_free;
};

/* Of equal slopes the first position's; TOP_NO_POSITION and an infinite slope if there is none. */
struct extremes top_find_extremes(const struct top_state *state);

/* The terms of a step that do not depend on its second entry p. `falls`: p's rate is negative.
 *   slope = fixed + sign * own slope
 *   curvature = base + weight^2 own curvature + 2 (cross K_kp + block U_p) */
struct scan {
    double fixed, sign, base, weight, cross, block;
    bool falls, free_only;
};

/* A second entry: slope^2 / curvature, and both. TOP_NO_POSITION: there is none. */
struct candidate {
    ptrdiff_t position;
    double gain, slope, curvature;
};

/* The second entry in alpha, or in beta, with the largest slope^2 / curvature. row: of K, for the
 * first entry. */
struct candidate top_find_second(const struct top_state *state, const float *row,
                                 const struct scan *scan, bool beta);

/* TOP_NONE, where a row has one entry: the row of an entry of a step, and the step's gain;
 * TOP_NO_POSITION: none gains enough. */
struct single {
    ptrdiff_t position;
    double gain;
};

/* The entry whose single step gains most within its bounds. */
struct single top_find_single(const struct top_state *state);

/* The first entry of a step of two: its slope and curvature, how far it can increase and decrease,
 * and its sign in f; and the gain to exceed. */
struct joint {
    double slope, own, up, down, sign, gain;
    ptrdiff_t position;
};

/* The second entry whose joint step with the first gains most. row: of K, for the first. */
struct single top_find_joint(const struct top_state *state, const float *row,
                             const struct joint *joint);

#endif
