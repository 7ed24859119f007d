/* The label sets of a problem's rows. Labels are numbered as in the model. */
#ifndef FAMILIES_ML_SOLVER_LABEL_SETS_H
#define FAMILIES_ML_SOLVER_LABEL_SETS_H

#include "common/base/error.h"
#include "common/data/labels.h"
#include "common/kernel/problem.h"
#include "families/ml/solver/block.h"
#include "fit/certify.h"

#include <stddef.h>
#include <stdint.h>

struct ml_rows {
    struct cluster *cluster; /* over whose processes the rows are distributed; NULL: none */
    struct labels labels;    /* labels that occur in the rows of any process */
    uint32_t q;              /* number of labels */
    size_t n_all;            /* number of rows of the problem */
    uint64_t *start;         /* (n_all + 1) */
    uint32_t *relevant;      /* row i has the labels relevant[start[i] .. start[i+1]), ascending */
    size_t n;                /* rows with a loss: some labels are relevant, some are not */
    uint32_t *row;           /* (n) their row numbers in the problem, ascending */
    double *weight;          /* (n_all) row weights; NULL: all 1 */
    size_t n_everywhere;     /* n summed over processes */
    struct certify_total total_weight; /* of the rows with a loss, over all processes */
    size_t n_empty, n_full;            /* rows without labels and with all, over all processes */
};

/* Reads the label sets and weights of the problem's rows. Fails if no row of any process has a
 * loss, or a row the weight 0. All processes. The caller calls ml_rows_free. */
int ml_rows_create(struct ml_rows *rows, const struct problem *problem, struct error *err);
void ml_rows_free(struct ml_rows *rows);

/* The number of the i-th row with a loss in the data, or in the Gram matrix. */
size_t ml_rows_index(const struct ml_rows *rows, const struct problem *problem, size_t i);

/* Block of the i-th row with a loss, with lambda = cost times its weight / (|Y| (q - |Y|)). */
struct ml_block ml_rows_block(const struct ml_rows *rows, size_t i, enum ml_loss loss, double cost);

#endif
