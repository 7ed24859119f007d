/* The support matrix machine of bounded rank, from one start:
 *
 *   min 1/2 |W|_F^2 + sum_i C_i l(1 - y_i (<W, X_i> + b))   over W of rank r at most, and b.
 *
 * Alternating minimisation: with W = U V' and V orthonormal, the best U is a binary SVM on the rows
 * X_i V, and likewise V on U'X_i (bilinear classifier; Pirsiavash, Ramanan & Fowlkes, NIPS 2009).
 * For losses with kinks this may end at points that are not stationary, because neither factor
 * alone can improve them. So a joint step follows, an SVM over the tangent space {U M + K V'} of
 * the matrices of rank r. Its solution is truncated to rank r, and the step halved until the
 * objective falls. The dual bound of the tangent SVM bounds the first-order gain of any joint move:
 * the measure of stationarity. A sweep costs two SVMs with r (height + width) features in all, a
 * joint step one. */
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
    bool alternate; /* alternation only, as published */
    double bound;   /* lower bound of the objective, for the monitor */
    const struct monitor *monitor;
};

/* W = U diag(s) Vt: U (height, r), s (r), Vt (r, width); and the dual variables (n) and mu of the
 * last SVM (newton.h), at which the next one starts. Allocated by smm_point_create. */
struct smm_point {
    double *U, *s, *Vt, *alpha;
    double mu;
    double bias, objective;
};

struct smm_trace {
    uint64_t iterations;    /* number of SVMs solved */
    double stationarity;    /* bound of the gain of the tangent SVM, relative to the objective */
    enum stop_reason limit; /* reason of the monitor to stop, or 0 */
    bool stalled;           /* stopped because the last sweeps or steps gained too little */
};

/* Descends from point->Vt; the first SVM computes U and s. The objective does not increase from one
 * SVM to the next. */
int smm_lowrank_descend(const struct smm_lowrank *problem, struct smm_point *point,
                        struct smm_trace *trace, struct error *err);

/* One joint step. *stationarity: the measure before it; *moved: whether the objective fell. */
int smm_lowrank_joint(const struct smm_lowrank *problem, struct smm_point *point,
                      double *stationarity, bool *moved, struct error *err);

/* Allocates a point with an infinite objective; frees it. */
int smm_point_create(struct smm_point *point, const struct smm_matrices *matrices, size_t rank,
                     struct error *err);
void smm_point_free(struct smm_point *point);

/* W (height, width) of a point. */
int smm_point_matrix(const struct smm_point *point, const struct smm_matrices *matrices,
                     size_t rank, double *W, struct error *err);

#endif
