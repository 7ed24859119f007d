/* Conditional gradients on the multi-label dual, hinge loss: the second solver. The scores of all
 * labels of all rows are one long vector, and its risk is a sum of hinges as any other. */
#ifndef SOLVERS_ML_FW_H
#define SOLVERS_ML_FW_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "solvers/methods/monitor.h"
#include "solvers/ml/rows.h"
#include "solvers/ml/store.h"

/* Solves from 0 with K + constant; beta (rows->n, width) gets the dual point, and *iterations and
 * *reason (0: the gap is reached) say how it ended. The store's scores, or W, are spoilt. */
int ml_fw_solve(struct ml_store *store, double constant, double cost, double epsilon,
                const struct monitor *monitor, double *beta, uint64_t *iterations,
                enum stop_reason *reason, struct error *err);

#endif
