/* Rounds of ranks (methods/distributed_ascent.h) of block coordinate ascent, for linear problems
 * whose rows are spread. Nobody but bcd.c includes this. */
#ifndef FAMILIES_ML_SOLVER_DISTRIBUTED_ASCENT_H
#define FAMILIES_ML_SOLVER_DISTRIBUTED_ASCENT_H

#include "common/base/error.h"
#include "families/ml/solver/coordinate_ascent.h"
#include "methods/distributed_ascent.h"

/* Where a round began. */
struct ml_distributed {
    struct rounds plan;
    double *W, *total; /* (n_features, width), (width), as all ranks had them */
    double *step;      /* (n_features + 1, width) of both, and two numbers */
    double *beta, *conjugate, *slope_scores, *alpha; /* as bcd has them */
    unsigned char *visited;                      /* (n) rows that are looked at */
};

/* For bcd, which is made but for this. The caller calls ml_distributed_free. All ranks. */
int ml_distributed_create(struct ml_distributed **rounds, const struct ml_bcd *bcd, struct error *err);
void ml_distributed_free(struct ml_distributed *rounds);

/* Before the first round of several: bcd's point is where it begins. */
void ml_distributed_start(struct ml_distributed *rounds, const struct ml_bcd *bcd);

/* Begins a round, in which the store and bcd's total take changes times their factor; ends it, with
 * steps in the rows order[0..n) (NULL: 0..n): the point goes as far along the steps of all ranks as
 * is best. All ranks. */
void ml_distributed_begin(struct ml_distributed *rounds, struct ml_bcd *bcd);
void ml_distributed_end(struct ml_distributed *rounds, struct ml_bcd *bcd, const uint32_t *order, size_t n);

#endif
