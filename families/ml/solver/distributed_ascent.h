/* Rounds of ranks (methods/distributed_ascent.h) of block coordinate ascent, for linear problems
 * whose rows are spread. Nobody but bcd.c includes this. */
#ifndef FAMILIES_ML_SOLVER_DISTRIBUTED_ASCENT_H
#define FAMILIES_ML_SOLVER_DISTRIBUTED_ASCENT_H

#include "common/base/error.h"
#include "families/ml/solver/coordinate_ascent.h"
#include "methods/distributed_ascent.h"

/* Where a round began. */
struct ml_rounds {
    struct rounds plan;
    double *W, *total; /* (n_features, width), (width), as all ranks had them */
    double *step;      /* (n_features + 1, width) of both, and two numbers */
    double *beta, *conjugate, *stand, *alpha; /* as bcd has them */
    unsigned char *seen;                      /* (n) rows that are looked at */
};

/* For bcd, which is made but for this. The caller calls ml_rounds_free. All ranks. */
int ml_rounds_create(struct ml_rounds **rounds, const struct ml_bcd *bcd, struct error *err);
void ml_rounds_free(struct ml_rounds *rounds);

/* Before the first round of several: bcd's point is where it begins. */
void ml_rounds_start(struct ml_rounds *rounds, const struct ml_bcd *bcd);

/* Begins a round, in which the store and bcd's total take changes times their factor; ends it, with
 * steps in the rows order[0..n) (NULL: 0..n): the point goes as far along the steps of all ranks as
 * is best. All ranks. */
void ml_rounds_begin(struct ml_rounds *rounds, struct ml_bcd *bcd);
void ml_rounds_end(struct ml_rounds *rounds, struct ml_bcd *bcd, const uint32_t *order, size_t n);

#endif
