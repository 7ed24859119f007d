/* Arrays of doubles: sums over them are in an order that depends on their length alone. */
#ifndef COMMON_BASE_ARRAY_H
#define COMMON_BASE_ARRAY_H

#include <stddef.h>

/* a'b over n entries, summed in a fixed order. */
double array_dot(const double *a, const double *b, size_t n);

/* y += factor x over n entries. */
void array_add(double *y, double factor, const double *x, size_t n);

/* Exchanges two pointers to arrays. */
static inline void array_swap(double **a, double **b) {
    double *spare = *a;
    *a = *b;
    *b = spare;
}

#endif
