/* The matrix of small problems. */
#include "common/kernel/problem.h"

#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/cholesky.h"

#include <stdlib.h>

enum { BLOCK = 128 /* rows per block of products */ };

static int fill_linear(const struct data *data, const uint32_t *rows, size_t n, double *K,
                       struct error *err) {
    static const struct kernel linear = {.type = KERNEL_LINEAR};
    struct data part = {0};
    struct kernel_rows own = {0};
    struct kernel_scratch *scratch = NULL;
    int status = data_subset(data, rows, n, &part, err) < 0 ||
                         kernel_rows_create(&own, &linear, &part, err) < 0 ||
                         kernel_scratch_create(&scratch, err) < 0
                     ? -1
                     : 0;
    for (size_t i = 0; i < n && status == 0; i += BLOCK) {
        size_t height = smaller(BLOCK, n - i);
        status =
            kernel_block_double(&own, i, height, &own, 0, i + height, K + i * n, n, scratch, err);
    }
    kernel_scratch_free(scratch);
    kernel_rows_free(&own);
    data_free(&part);
    return status;
}

int problem_matrix(const struct problem *problem, const uint32_t *rows, size_t n, double *K,
                   struct error *err) {
    uint32_t *index = memory_array(n, sizeof *index, "rows", err);
    if (!index) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t row = rows ? rows[i] : (uint32_t)i;
        index[i] = problem->rows ? problem->rows[row] : row;
    }
    int status = problem->gram ? gram_block_exact(problem->gram, index, n, index, n, K, err)
                               : fill_linear(problem->data, index, n, K, err);
    free(index);
    double square = problem->constant * problem->constant;
    for (size_t i = 0; status == 0 && square > 0 && i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            K[i * n + j] += square;
        }
    }
    if (status == 0) {
        cholesky_mirror(K, n, CHOLESKY_FROM_LOWER);
    }
    return status;
}
