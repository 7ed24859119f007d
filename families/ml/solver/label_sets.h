/* The label sets of a multi-label problem's rows, in the numbers of the model's labels. */
#ifndef FAMILIES_ML_SOLVER_LABEL_SETS_H
#define FAMILIES_ML_SOLVER_LABEL_SETS_H

#include "common/base/error.h"
#include "common/data/labels.h"
#include "common/kernel/problem.h"
#include "families/ml/solver/block.h"

#include <stddef.h>
#include <stdint.h>

struct ml_rows {
    struct cluster *cluster; /* over whose ranks the problem's rows are spread, or NULL */
    struct labels labels;    /* those that occur in the rows, on any rank */
    uint32_t q;              /* how many */
    size_t n_all;            /* rows of the problem */
    uint64_t *start;         /* (n_all + 1) */
    uint32_t *relevant;      /* row i has the labels relevant[start[i] .. start[i+1]), ascending */
    size_t n;                /* rows with a loss: some label is relevant and some is not */
    uint32_t *row;           /* (n) their numbers in the problem, ascending */
    size_t n_everywhere;     /* how many of them all ranks have */
    size_t n_empty, n_full;  /* rows of all ranks */
};

/* Reads the sets of the problem's rows. Fails when no row has a loss, on any rank. All ranks. The
 * caller calls ml_rows_free. */
int ml_rows_create(struct ml_rows *rows, const struct problem *problem, struct error *err);
void ml_rows_free(struct ml_rows *rows);

/* The block of the row number i of those with a loss, lambda = cost / (|Y| (q - |Y|)). */
struct ml_block ml_rows_block(const struct ml_rows *rows, size_t i, enum ml_loss loss, double cost);

#endif
