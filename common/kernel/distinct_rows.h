/* The distinct rows among rows of data. Duplicate rows have equal kernel values: with P (n, m) the
 * matrix that has a 1 where row i is distinct row place[i], the kernel matrix is K = P K_m P',
 * K_m that of the m distinct rows. */
#ifndef COMMON_KERNEL_DISTINCT_ROWS_H
#define COMMON_KERNEL_DISTINCT_ROWS_H

#include "common/base/error.h"
#include "common/data/data.h"

#include <stddef.h>
#include <stdint.h>

struct distinct {
    size_t m;
    uint32_t *place; /* (rows) number of the distinct row that each row equals */
    uint32_t *row;   /* (m) the first row that equals each distinct row, ascending */
};

/* Finds the distinct rows of data (duplicates.h). The caller calls distinct_free. */
int distinct_find(struct distinct *distinct, const struct data *data, struct error *err);
void distinct_free(struct distinct *distinct);

/* Aggregates over duplicates: out (m, k) = P'B. Row i of B (n_rows, k) row-major belongs to row
 * rows[i] of data; rows NULL: to row i. */
void distinct_aggregate(const struct distinct *distinct, const uint32_t *rows, size_t n_rows,
                        const double *b, size_t k, double *out);

/* Broadcasts to duplicates: out (n_rows, k) = P S at the same rows, S (m, k). */
void distinct_broadcast(const struct distinct *distinct, const uint32_t *rows, size_t n_rows,
                        const double *s, size_t k, double *out);

#endif
