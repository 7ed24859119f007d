/* Selection of steps from a dual point of classification at the top, and of the rows that are
 * shrunk.
 *
 * Candidates are pairs of two alphas, two betas, or one of each, and steps of the capped block with
 * one or two entries. The first entry is that of the kind with the largest slope^2 / curvature as
 * if its rows were orthogonal; the second maximises slope^2 / curvature with the first entry's row
 * of K, over all kinds that the first can be part of. For TOP_NONE, which has no equality
 * constraint, the first entry is the one with the largest gain alone, and it moves alone or with
 * the best second one. A selection costs one row of K and some loops over the positions in use. */
#ifndef FAMILIES_TOP_SOLVER_STEP_SELECTION_H
#define FAMILIES_TOP_SOLVER_STEP_SELECTION_H

#include "families/top/solver/dual_state.h"

/* The step with the largest gain. *found is false if no step gains anything. */
int top_choose_step(struct top_state *state, struct top_step *step, bool *found, struct error *err);

/* Marks the positions in use that are at 0 and cannot increase in any step: keep (active) is 0
 * there. For TOP_NONE it is 0 at those at 0 or at their bound that are unlikely to leave it.
 * Returns how many are kept. */
size_t top_choose_unshrunk(const struct top_state *state, unsigned char *keep);

/* Of the positions marked by keep (active), keeps those above 0, and of alphas at 0 and of betas
 * at 0 at most `room` each, those with the largest slopes. value, share and order (active) are
 * work. Returns how many are kept. */
size_t top_choose_steepest(const struct top_state *state, size_t room, unsigned char *keep,
                           double *value, double *share, uint32_t *order);

#endif
