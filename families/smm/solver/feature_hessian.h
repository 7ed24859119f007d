/* The Hessian of a smoothed binary SVM in its features, with the bias minimised out. */
#ifndef FAMILIES_SMM_SOLVER_FEATURE_HESSIAN_H
#define FAMILIES_SMM_SOLVER_FEATURE_HESSIAN_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "fit/monitor.h"

#include <stddef.h>
#include <stdint.h>

/* The lower half of H (rows->d, rows->d) = I + the sum over the rows row[0..m) of all processes of
 * (x - mean)(x - mean)' / d, for their mean weighted by 1/d. O(m rows->d^2). If the deadline of
 * the monitor passes, H is incomplete; with several processes monitor must be NULL. Fails if
 * memory runs out. */
int feature_hessian(const struct binary_rows *rows, const uint32_t *row, size_t m, const double *d,
                    const double *mean, const struct monitor *monitor, double *H,
                    struct error *err);

#endif
