/* The Hessian of losses by the weights W, (k, d) class by class, for the linear systems of Newton's
 * method and the interior-point method. */
#ifndef FAMILIES_MC_SOLVER_CURVATURE_H
#define FAMILIES_MC_SOLVER_CURVATURE_H

#include "families/mc/solver/formulation.h"

#include <stddef.h>

/* H (k d, k d) holds in its lower half the Hessian by the scores before centring. If scores are
 * centred, H becomes P H P, where P subtracts the mean over classes. If they are, or if margins are
 * relative, adding the same vector to all classes of W changes no loss; the minimiser has no such
 * component. In these directions H is singular, and the 1 that |W|^2 / 2 adds to the diagonal would
 * be lost to rounding. So they get the mean of the diagonal as curvature, which does not change the
 * solution. The upper half of H is work. */
void mc_curvature_close(const struct mc_shape *shape, size_t d, double *H);

#endif
