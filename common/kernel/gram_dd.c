/* Sums of coefficients in double-double. */
#include "common/kernel/gram_dd.h"

#include "common/double_double/dd.h"

void gram_aggregate_dd(const uint32_t *place, size_t n, size_t k, const struct dd *b,
                       struct dd *sums) {
    for (size_t j = 0; j < n * k; j++) {
        struct dd *sum = &sums[place[j / k] * k + j % k];
        *sum = dd_add(*sum, b[j]);
    }
}
