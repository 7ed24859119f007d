/* Reduced sets: points z_a that are no rows of the data, for kernel models with few support vectors
 * (Burges, "Simplified support vector decision rules", ICML 1996; Schoelkopf et al., "Input space
 * versus feature space in kernel-based methods", IEEE Transactions on Neural Networks 10, 1999).
 *
 * Given a function f of k outputs by its scores t_i at n rows, the points minimise
 *   1/2 sum_i |t_i - sum_a b_a k(x_i, z_a)|^2 + ridge / 2 sum_a |b_a|^2
 * over z and b, for the rbf kernel. b is eliminated (variable projection: Golub, Pereyra, SIAM
 * Journal on Numerical Analysis 10, 1973); z moves by L-BFGS (Liu, Nocedal, Mathematical
 * Programming 45, 1989). A step costs n m (2 d + m + 3 k) multiplications for m points of d
 * features. */
#ifndef METHODS_REDUCED_SET_H
#define METHODS_REDUCED_SET_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/data/data.h"
#include "common/kernel/kernel.h"
#include "fit/monitor.h"

#include <stddef.h>

/* How many of n rows m points of d features should be moved by, for k outputs: so many that a step
 * takes about a second at most. 0: they stay where they are, since the kernel is not rbf, they have
 * too many values, or the rows would be few. */
size_t reduced_set_rows(const struct kernel *kernel, size_t n, size_t d, size_t m, size_t k);

/* Moves points, as wide as the rows of x, to a local minimum near them, or until the monitor's
 * deadline, and rounds them to float; both are dense. target (rows of x, k): the scores.
 * Results do not depend on the number of threads. -1 if memory is short. */
int reduced_set_move(struct data *points, const struct kernel_rows *x, const double *target,
                     size_t k, struct threads *threads, const struct monitor *monitor,
                     struct error *err);

#endif
