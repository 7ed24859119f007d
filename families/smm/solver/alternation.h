/* The support matrix machine of bounded rank, from one start:
 *
 *   min 1/2 |W|_F^2 + sum_i C_i l(1 - y_i (<W, X_i> + b))   over W of rank r at most, and b.
 *
 * With W = U V' and V orthonormal the best U is a binary SVM on the rows X_i V, and so for V on
 * U'X_i: alternation. Where the loss has kinks that may stop at points which are not even
 * stationary, for no move of U alone or V alone improves them: so a joint step, an SVM over the
 * tangent space {U M + K V'} of the matrices of rank r, follows; what it finds is cut back to rank
 * r, and its length halved until the objective falls. The tangent SVM's dual bounds what any joint
 * move can gain to first order: the measure of stationarity. */
#ifndef FAMILIES_SMM_SOLVER_ALTERNATION_H
#define FAMILIES_SMM_SOLVER_ALTERNATION_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "families/smm/solver/matrix_rows.h"
#include "fit/monitor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct smm_lowrank {
    const struct smm_matrices *matrices;
    const struct binary_loss *loss;
    size_t rank; /* 1 .. min(height, width) */
    double epsilon;
    bool alternate; /* only alternate: the published method */
    double bound;   /* a lower bound of the objective, for the monitor */
    const struct monitor *monitor;
};

/* W = U diag(s) Vt, owned by whoever allocates them: U (height, r), s (r), Vt (r, width). */
struct smm_point {
    double *U, *s, *Vt;
    double bias, objective;
};

struct smm_trace {
    uint64_t iterations;    /* SVMs that were solved */
    double stationarity;    /* what the tangent SVM could gain at most, relative to the objective */
    enum stop_reason limit; /* the monitor asked to stop */
    bool stalled;           /* ended because rounds gained next to nothing */
};

/* Goes from point->Vt (U and s are not used: the first SVM finds them) downhill; the objective
 * never rises from one SVM to the next. */
int smm_lowrank_descend(const struct smm_lowrank *problem, struct smm_point *point,
                        struct smm_trace *trace, struct error *err);

/* The joint step; *stationarity gets the measure before it, *moved whether the objective fell. */
int smm_lowrank_joint(const struct smm_lowrank *problem, struct smm_point *point,
                      double *stationarity, bool *moved, struct error *err);

/* Makes room for a point, objective infinite; and gives it back. */
int smm_point_create(struct smm_point *point, const struct smm_matrices *matrices, size_t rank,
                     struct error *err);
void smm_point_free(struct smm_point *point);

/* W (height, width) of a point. */
int smm_point_matrix(const struct smm_point *point, const struct smm_matrices *matrices,
                     size_t rank, double *W, struct error *err);

#endif
