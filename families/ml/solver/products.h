/* The matrix of products of a multi-label problem's rows with a loss. */
#ifndef FAMILIES_ML_SOLVER_PRODUCTS_H
#define FAMILIES_ML_SOLVER_PRODUCTS_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/ml/solver/label_sets.h"

#include <stddef.h>

/* Row i's number in the data, or in the gram. */
size_t ml_products_row(const struct problem *problem, const struct ml_rows *rows, size_t i);

/* The lower half of K (rows->n, rows->n), in double, each value by its definition. */
int ml_products(const struct problem *problem, const struct ml_rows *rows, double *K,
                struct error *err);

#endif
