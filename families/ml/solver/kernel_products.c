/* The kernel matrix in double, one task per row. A value costs one product of two rows. */
#include "families/ml/solver/kernel_products.h"

#include "common/base/memory.h"

#include <stdlib.h>

struct products {
    const struct problem *problem;
    const struct ml_rows *rows;
    double *K;     /* (n, n) */
    double *dense; /* (workers, n_features) */
};

size_t ml_products_row(const struct problem *problem, const struct ml_rows *rows, size_t i) {
    uint32_t row = rows->row[i];
    return problem->rows ? problem->rows[row] : row;
}

static double product(struct stored_row row, const double *dense) {
    double sum = 0;
    for (size_t k = 0; k < row.n; k++) {
        sum += (double)row.value[k] * dense[stored_column(row, k)];
    }
    return sum;
}

/* One row of the lower half. */
static void product_task(void *argument, size_t task, size_t worker) {
    const struct products *products = argument;
    const struct problem *problem = products->problem;
    const struct ml_rows *own = products->rows;
    double *K = products->K + task * own->n;
    size_t row = ml_products_row(problem, own, task);
    if (problem->gram) {
        const struct kernel_rows *rows = gram_rows(problem->gram);
        for (size_t j = 0; j <= task; j++) {
            K[j] = kernel_value(rows, row, rows, ml_products_row(problem, own, j));
        }
        return;
    }
    double *dense = products->dense + worker * problem->data->n_features;
    data_row_dense(problem->data, row, problem->data->n_features, dense);
    for (size_t j = 0; j <= task; j++) {
        K[j] = product(data_stored(problem->data, ml_products_row(problem, own, j)), dense);
    }
}

int ml_products(const struct problem *problem, const struct ml_rows *rows, double *K,
                struct error *err) {
    size_t columns = problem->gram ? 0 : problem->data->n_features;
    size_t workers = threads_count(problem->threads);
    struct products products = {problem, rows, K,
                                memory_array(workers, columns * sizeof(double), "a row", err)};
    if (!products.dense) {
        return -1;
    }
    threads_run(problem->threads, rows->n, product_task, &products);
    free(products.dense);
    return 0;
}
