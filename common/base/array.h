/* Operations on arrays of doubles. The order of summation depends only on the length. */
#ifndef COMMON_BASE_ARRAY_H
#define COMMON_BASE_ARRAY_H

#include <math.h>
#include <stddef.h>

/* a'b over n entries, summed in a fixed order. */
double array_dot(const double *a, const double *b, size_t n);

/* y += factor x over n entries. */
void array_add(double *y, double factor, const double *x, size_t n);

/* x *= factor over n entries. */
static inline void array_scale(double *x, double factor, size_t n) {
    for (size_t i = 0; i < n; i++) {
        x[i] *= factor;
    }
}

/* y = factor x over n entries. */
static inline void array_multiple(double *y, double factor, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        y[i] = factor * x[i];
    }
}

/* y = x over n entries, rounded to float. */
static inline void array_narrow(float *y, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        y[i] = (float)x[i];
    }
}

/* The sum of n entries, added in their order. */
static inline double array_sum(const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
    }
    return sum;
}

/* The largest magnitude of n entries; 0 if n is 0. */
static inline double array_largest(const double *x, size_t n) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        double size = fabs(x[i]);
        largest = size > largest ? size : largest; /* fmax would be a call */
    }
    return largest;
}

/* Exchanges two pointers to arrays. */
static inline void array_swap(double **a, double **b) {
    double *spare = *a;
    *a = *b;
    *b = spare;
}

#endif
