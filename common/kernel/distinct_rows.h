/* The distinct ones among rows of data. Values of a kernel with equal rows are equal: with P (n, m)
 * the matrix that has a 1 where row i is distinct row place[i], the kernel matrix is K = P K_m P',
 * K_m that of the m distinct rows. */
#ifndef COMMON_KERNEL_DISTINCT_ROWS_H
#define COMMON_KERNEL_DISTINCT_ROWS_H

#include "common/base/error.h"
#include "common/data/data.h"

#include <stddef.h>
#include <stdint.h>

struct distinct {
    size_t n, m;
    uint32_t *place; /* (n) number of each row among the distinct ones, */
    uint32_t *row;   /* (m) of which these are the first, in order */
};

/* Finds the distinct rows of data: equal ones have equal values in all columns (twins.h). The
 * caller calls distinct_free. */
int distinct_find(struct distinct *distinct, const struct data *data, struct error *err);
void distinct_free(struct distinct *distinct);

/* out (m, k) = P' B: the sums of B's rows over equal ones. B (n_rows, k) row-major is of rows
 * rows[0..n_rows); NULL: of all. */
void distinct_gather(const struct distinct *distinct, const uint32_t *rows, size_t n_rows,
                     const double *b, size_t k, double *out);

/* out (n_rows, k) = P S at those rows, S (m, k). */
void distinct_spread(const struct distinct *distinct, const uint32_t *rows, size_t n_rows,
                     const double *s, size_t k, double *out);

#endif
