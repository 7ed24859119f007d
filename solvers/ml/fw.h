/* Conditional gradients on the multi-label dual, hinge loss: the second solver. The scores of all
 * labels of all rows are one long vector, and its risk is a sum of hinges as any other. */
#ifndef SOLVERS_ML_FW_H
#define SOLVERS_ML_FW_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "solvers/methods/fit.h"
#include "solvers/methods/monitor.h"
#include "solvers/ml/rows.h"
#include "solvers/ml/store.h"

/* Solves from 0 with K + constant. The caller calls fit_free. fit's weights have rows of store's
 * width: linear (n_features + 1, width), the last row that of the constant feature of value
 * sqrt(constant); kernel (rows->n, width). The store's scores are spoilt. */
int ml_fw_solve(struct ml_store *store, double constant, double cost, double epsilon,
                const struct monitor *monitor, struct fit *fit, struct error *err);

#endif
