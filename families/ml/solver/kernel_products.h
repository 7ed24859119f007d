/* The kernel matrix of the rows with a loss, in double. */
#ifndef FAMILIES_ML_SOLVER_KERNEL_PRODUCTS_H
#define FAMILIES_ML_SOLVER_KERNEL_PRODUCTS_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/ml/solver/label_sets.h"

#include <stddef.h>

/* Number of row i in the data, or in the Gram matrix. */
size_t ml_products_row(const struct problem *problem, const struct ml_rows *rows, size_t i);

/* Lower half of K (rows->n, rows->n), each value computed in double by its definition. */
int ml_products(const struct problem *problem, const struct ml_rows *rows, double *K,
                struct error *err);

#endif
