/* The best multiple of the weights of a binary SVM. */
#ifndef FAMILIES_SMM_SOLVER_BINARY_SCALE_H
#define FAMILIES_SMM_SOLVER_BINARY_SCALE_H

#include "families/smm/solver/binary.h"

#include <stddef.h>

/* A multiple, the exact bias for it, and their primal; a slope: a subgradient of the primal in c
 * with the bias minimised out. */
struct binary_scale {
    double c, bias, primal, slope;
};

/* Minimises over c >= 0 and b, from c = 1,
 *
 *   1/2 c^2 square + c norm + sum_i C_i l(1 - y_i (c s_i + b)),
 *
 * for scores s (n) of this process, up to a hundredth of the gap to a lower bound `dual`. The
 * primal lies above the parabolas of second derivative `square` that touch it, so two of them
 * bound its minimum from below and say where to look next. scaled (n) and breaks (2n) are work. A
 * few times the cost of binary_bias. All processes. */
struct binary_scale binary_best_scale(const struct binary_loss *loss, const double *s, size_t n,
                                      double square, double norm, double dual, double *scaled,
                                      double *breaks);

#endif
