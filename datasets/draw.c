/* Draws from integers and sums of uniform numbers. */
#include "datasets/draw.h"

#include "common/base/order.h"

#include <stdlib.h>

enum { TERMS = 12 }; /* a sum of so many uniform numbers has variance 1 */

double draw_normal(struct random *random) {
    double sum = -TERMS / 2;
    for (int i = 0; i < TERMS; i++) {
        sum += random_unit(random);
    }
    return sum;
}

int64_t draw_bell(struct random *random, int64_t unit) {
    int64_t sum = 0;
    for (int i = 0; i < TERMS; i++) {
        sum += (int64_t)random_below(random, (uint64_t)unit) - unit / 2;
    }
    return sum;
}

uint64_t draw_power_law(struct random *random, uint64_t n) {
    uint64_t u = random_bits(random) >> 32;
    return ((((u * u >> 32) * u) >> 32) * n) >> 32;
}

uint32_t draw_column(struct random *random, uint64_t n) {
    return (uint32_t)(draw_power_law(random, n) * 2654435761u % n);
}

void sort_columns(uint32_t *column, size_t n) {
    qsort(column, n, sizeof *column, order_uint32);
}

size_t sort_distinct_columns(uint32_t *column, size_t n) {
    size_t n_distinct = 0;
    sort_columns(column, n);
    for (size_t i = 0; i < n; i++) {
        if (n_distinct == 0 || column[i] != column[n_distinct - 1]) {
            column[n_distinct++] = column[i];
        }
    }
    return n_distinct;
}
