/* Aggregation over duplicate rows in double-double. Private to gram.c. */
#ifndef COMMON_KERNEL_GRAM_DD_H
#define COMMON_KERNEL_GRAM_DD_H

#include <stddef.h>
#include <stdint.h>

struct dd; /* common/double_double/type.h */

/* sums (m, k) += b (n, k), both row-major: row i of b is added to row place[i] < m. Each of the
 * at most n additions to an entry has a relative error of at most 3 u^2, u = 2^-53. */
void gram_aggregate_dd(const uint32_t *place, size_t n, size_t k, const struct dd *b,
                       struct dd *sums);

#endif
