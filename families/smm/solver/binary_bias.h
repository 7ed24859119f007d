/* The bias of a binary SVM, minimised out: sums of losses as functions of b alone, over the rows of
 * all ranks of the loss. */
#ifndef FAMILIES_SMM_SOLVER_BINARY_BIAS_H
#define FAMILIES_SMM_SOLVER_BINARY_BIAS_H

#include "families/smm/solver/binary.h"

/* The b that minimises sum_i C_i h(m_i - y_i (s_i + b)), for h the huberised hinge of width mu, or
 * the squared hinge of `loss`, near b = start, with m = margin (n; NULL: all 1). alpha (n) gets C_i h'(u_i), for which y'alpha = 0 up
 * to rounding. */
double binary_smooth_bias(const struct binary_loss *loss, const double *margin, const double *s,
                          size_t n, double mu, double start, double *alpha);

/* The slope of a convex function at a length along a step, or -1 with err set. */
typedef int (*length_slope)(void *context, double length, double *slope, struct error *err);

/* The length where the slope is within a tenth of what it is at 0, by false positions that keep a
 * bracket; 0 if it is late (monitor; NULL: it never is), or with *moved = false if the step does
 * not lead down. -1 as the slope says. */
int find_length(length_slope slope_at, void *context, const struct monitor *monitor, double *length,
                bool *moved, struct error *err);

#endif
