/* The curvature of losses of margins in W, (k, d) class by class, as systems of linear machines
 * have it. */
#ifndef FAMILIES_MC_SOLVER_CURVATURE_H
#define FAMILIES_MC_SOLVER_CURVATURE_H

#include "families/mc/solver/formulation.h"

#include <stddef.h>

/* H (k d, k d), the curvature by scores in its lower half, becomes that by weights, P H P where
 * scores are centred, P taking off means over classes. Where they are, or margins are between
 * classes, the same for all classes added to W has no curvature but |W|^2 / 2 and W no such part:
 * it gets the diagonal's mean, for the 1 would drown in the rounding of what is large elsewhere.
 * The upper half is work. */
void mc_curvature_close(const struct mc_shape *shape, size_t d, double *H);

#endif
