/* The arithmetic of the judges: long double, or with OPTIMA_WIDE the 640-bit numbers of
 * wide/number.h, with the same functions. */
#ifndef TESTS_OPTIMA_NUMBER_H
#define TESTS_OPTIMA_NUMBER_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

typedef long double real;

/* Allocates zeros. Exits if memory is short. */
void *zeros(size_t count, size_t size);

#ifdef OPTIMA_WIDE
#include "tests/optima/wide/number.h"
#else
typedef real num;
#define n_of(a) ((num)(a))
#define n_add(a, b) ((a) + (b))
#define n_subtract(a, b) ((a) - (b))
#define n_multiply(a, b) ((a) * (b))
#define n_divide(a, b) ((a) / (b))
#define n_negative(a) (-(a))
#define n_absolute(a) fabsl(a)
#define n_root(a) sqrtl(a)
#define n_exponential(a) expl(a)
#define n_tangent(a) tanhl(a)
#define n_finite(a) isfinite(a)
#define n_maximum(a, b) fmaxl(a, b)
#define n_minimum(a, b) fminl(a, b)
#define n_plus(a, b, c) ((a) + (b) * (c))
#define n_minus(a, b, c) ((a) - (b) * (c))
#define n_compare(a, b) (((a) > (b)) - ((a) < (b)))
#define n_zeros(n) ((num *)zeros(n, sizeof(num)))
enum { N_WIDE = 0 };
#define N_EPSILON LDBL_EPSILON           /* relative error of an operation */
#define N_UNIT (64 * LDBL_EPSILON)       /* error of a sum, relative to its terms' magnitudes */
#define N_ROUNDING (4096 * LDBL_EPSILON) /* the same, with a margin */
#define N_LOST (4 * LDBL_EPSILON)        /* relative size of a pivot that is only rounding */
#define N_BALANCED 1e-12L       /* residual of an equation, relative to its terms' magnitudes */
#define N_ENOUGH 1e-14L         /* gap at which bounds are equal, relative to the upper one */
#define N_MIN_MULTIPLIER 1e-30L /* smallest nonzero multiplier at the start */
#endif

static inline bool n_positive(num a) {
    return n_compare(a, n_of(0)) > 0;
}

#endif
