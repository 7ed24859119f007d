/* Which step to take from a dual point of classification at the top, and which rows to leave out.
 *
 * Candidates are pairs of two alphas, two betas, or one of each, and steps of the capped block with
 * one or two entries. The first entry is that of the kind with the largest slope^2 / curvature as
 * if its rows were orthogonal; with its row of K the second is chosen by the true one, over all
 * kinds that the first can be part of. Of TOP_NONE, without a balance to keep, the first is the one
 * that gains most by itself, and it moves alone or with the one it gains most with. */
#ifndef FAMILIES_TOP_SOLVER_STEP_SELECTION_H
#define FAMILIES_TOP_SOLVER_STEP_SELECTION_H

#include "families/top/solver/dual_state.h"

/* The step that promises most. *found is false if no step promises anything. */
int top_choose_step(struct top_state *state, struct top_step *step, bool *found, struct error *err);

/* Marks the places in use that rest at 0 and cannot rise in any step: keep (active) is 0 there.
 * Returns how many are kept. */
size_t top_choose_unshrunk(const struct top_state *state, unsigned char *keep);

/* Of the places that keep (active) marks, leaves those above 0, and of alphas at 0 and of betas at
 * 0 at most `room` each, those of the largest slopes: the others may well rise later. value, share
 * and order (active) are to work in. Returns how many are kept. */
size_t top_choose_steepest(const struct top_state *state, size_t room, unsigned char *keep,
                           double *value, double *share, uint32_t *order);

#endif
