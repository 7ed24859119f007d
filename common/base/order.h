/* Comparisons for qsort, and rows sorted by a key. */
#ifndef COMMON_BASE_ORDER_H
#define COMMON_BASE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* -1, 0 or 1: a is smaller, equal or larger. */
static inline int order_doubles(double a, double b) {
    return (a > b) - (a < b);
}

static inline int order_integers(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

/* Functions for qsort and bsearch: ascending elements of these types. */
int order_double(const void *a, const void *b);
int order_uint32(const void *a, const void *b);
int order_uint64(const void *a, const void *b);

/* A row and what it is sorted by. */
struct keyed_row {
    uint64_t key;
    uint32_t row;
};

/* Sorts by key, then by row. */
void keyed_rows_sort(struct keyed_row *rows, size_t n);

/* The end of the rows with the key of rows[first], of n sorted ones. */
size_t keyed_rows_end(const struct keyed_row *rows, size_t first, size_t n);

#endif
