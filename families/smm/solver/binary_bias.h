/* The bias of a binary SVM: minimisers of sums of losses in b alone, over the rows of all
 * processes; and the line search of Newton steps. */
#ifndef FAMILIES_SMM_SOLVER_BINARY_BIAS_H
#define FAMILIES_SMM_SOLVER_BINARY_BIAS_H

#include "families/smm/solver/binary.h"

/* The b that minimises sum_i C_i h(m_i - y_i (s_i + b)), with m = margin (n; NULL: all 1), by
 * Newton's method in a bracket, started at `start`. h is the Moreau envelope of the loss: the Huber
 * hinge of width mu, or max(0, u)^2 / (1 + 2 mu) for the squared hinge. alpha (n) = C_i h'(u_i),
 * and y'alpha = 0 up to rounding. O(n) per step. */
double binary_smooth_bias(const struct binary_loss *loss, const double *margin, const double *s,
                          size_t n, double mu, double start, double *alpha);

/* Derivative of a convex function along a step, at a length; or -1 with err set. */
typedef int (*length_derivative)(void *context, double length, double *derivative,
                                 struct error *err);

/* length: where the derivative is at most a tenth of `slope`, that at 0, by regula falsi
 * (Illinois). *length = 0 if the deadline passes (monitor; NULL: none), or with *moved = false if
 * the step is no descent direction, or the slope at 0 is not finite. Fails if derivative_at fails.
 */
int search_length(length_derivative derivative_at, void *context, double slope,
                  const struct monitor *monitor, double *length, bool *moved, struct error *err);

#endif
