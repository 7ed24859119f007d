/* Distributed block coordinate ascent (methods/distributed_ascent.h) for linear problems whose rows
 * are distributed over processes: local sweeps, then one line search along the sum of all steps.
 * Costs an allreduce of W per part of a sweep. Private to coordinate_ascent.c. */
#ifndef FAMILIES_ML_SOLVER_DISTRIBUTED_ASCENT_H
#define FAMILIES_ML_SOLVER_DISTRIBUTED_ASCENT_H

#include "common/base/error.h"
#include "families/ml/solver/coordinate_ascent.h"
#include "methods/distributed_ascent.h"

/* The point before the local steps. */
struct ml_distributed {
    struct rounds plan;
    double *W, *total; /* (n_features, width), (width), equal on all processes */
    double *step;      /* (n_features + 1, width) of both, and two sums */
    double *beta, *conjugate, *alpha_scores, *alpha; /* copies of ascent's */
    unsigned char *visited;                          /* (n) marks rows already added up */
    void *block;                                     /* all arrays */
};

/* Creates it for ascent, which is otherwise complete. The caller calls ml_distributed_free. All
 * processes. */
int ml_distributed_create(struct ml_distributed **distributed, const struct ml_ascent *ascent,
                          struct error *err);
void ml_distributed_free(struct ml_distributed *distributed);

/* Copies ascent's point, before the first local steps of a run. */
void ml_distributed_start(struct ml_distributed *distributed, const struct ml_ascent *ascent);

/* Begins local steps, in which changes of W and `total` are multiplied by store.damping. Ends them,
 * with steps in the rows order[0..n) (NULL: 0..n): moves to the best point along the sum of the
 * steps of all processes. All processes. */
void ml_distributed_begin(struct ml_distributed *distributed, struct ml_ascent *ascent);
void ml_distributed_end(struct ml_distributed *distributed, struct ml_ascent *ascent,
                        const uint32_t *order, size_t n);

#endif
