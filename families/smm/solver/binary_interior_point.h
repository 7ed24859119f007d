/* The interior point for the binary SVM, where rounding and kinks hold Newton's method up: features
 * in mixed units, rows that are nearly alike, large C. */
#ifndef FAMILIES_SMM_SOLVER_BINARY_INTERIOR_POINT_H
#define FAMILIES_SMM_SOLVER_BINARY_INTERIOR_POINT_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "fit/monitor.h"

#include <stdbool.h>
#include <stdint.h>

/* Owned by whoever made it. */
struct binary_interior_fit {
    double *w;     /* (d) */
    double *alpha; /* (n) feasible, y'alpha = 0 up to rounding */
    double bias;
    double primal, dual;
    uint64_t iterations;
    enum stop_reason stop; /* of the monitor, or rounding */
};

/* Whether the rows are few enough, or their features, and all are here. */
bool binary_interior_possible(const struct binary_rows *rows);

/* Solves to a relative gap of epsilon, afresh. The caller calls binary_interior_free. */
int binary_interior_solve(const struct binary_rows *rows, const struct binary_loss *loss,
                          double epsilon, const struct monitor *monitor,
                          struct binary_interior_fit *fit, struct error *err);
void binary_interior_free(struct binary_interior_fit *fit);

/* y'alpha = 0 up to rounding: the side with the larger sum is scaled down. alpha (n) >= 0. All
 * ranks of the cluster that the rows are spread over, NULL: none. */
void binary_balance(struct cluster *cluster, const double *y, size_t n, double *alpha);

#endif
