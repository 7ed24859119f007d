/* Comparisons, and rows sorted by a key (order.h). */
#include "common/base/order.h"

#include <stdlib.h>

int order_double(const void *a, const void *b) {
    return order_doubles(*(const double *)a, *(const double *)b);
}

int order_uint32(const void *a, const void *b) {
    return order_integers(*(const uint32_t *)a, *(const uint32_t *)b);
}

int order_uint64(const void *a, const void *b) {
    return order_integers(*(const uint64_t *)a, *(const uint64_t *)b);
}

static int compare_rows(const void *a, const void *b) {
    const struct keyed_row *x = a, *y = b;
    int order = order_integers(x->key, y->key);
    return order ? order : order_integers(x->row, y->row);
}

void keyed_rows_sort(struct keyed_row *rows, size_t n) {
    if (n > 0) {
        qsort(rows, n, sizeof *rows, compare_rows);
    }
}

size_t keyed_rows_end(const struct keyed_row *rows, size_t first, size_t n) {
    size_t end = first;
    while (end < n && rows[end].key == rows[first].key) {
        end++;
    }
    return end;
}
