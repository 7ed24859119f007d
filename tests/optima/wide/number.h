/* Numbers of 640 bits, passed by value, by MPFR (https://www.mpfr.org). Every operation rounds to
 * nearest, with a relative error of at most 2^-640. No trial reaches the limits of exponents. */
#ifndef TESTS_OPTIMA_WIDE_NUMBER_H
#define TESTS_OPTIMA_WIDE_NUMBER_H

#include <gmp.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stddef.h>

enum { NUMBER_BITS = 640, NUMBER_LIMBS = NUMBER_BITS / GMP_NUMB_BITS };

typedef struct number {
    mp_limb_t limb[NUMBER_LIMBS];
    mpfr_exp_t exponent;
    int kind; /* MPFR's, with the sign; all zeros is NaN, so no number is left uninitialised */
} num;

/* Operations, rounded to NUMBER_BITS bits. n_of is exact. */
num n_of(long double value);
num n_add(num a, num b);
num n_subtract(num a, num b);
num n_multiply(num a, num b);
num n_divide(num a, num b);
num n_negative(num a);
num n_absolute(num a);
num n_root(num a);
num n_exponential(num a);
num n_tangent(num a); /* hyperbolic */

/* -1, 0 or 1; 0 also if one is NaN. */
int n_compare(num a, num b);
bool n_finite(num a);
num n_maximum(num a, num b);
num n_minimum(num a, num b);

/* a + b c and a - b c. */
num n_plus(num a, num b, num c);
num n_minus(num a, num b, num c);

/* The nearest double. */
double n_double(num a);

enum { N_WIDE = 1 };
/* As in tests/optima/number.h. */
#define N_EPSILON 0x1p-606L
#define N_UNIT 0x1p-600L
#define N_ROUNDING 0x1p-500L
#define N_LOST 0x1p-600L
#define N_BALANCED 0x1p-500L
#define N_ENOUGH 1e-22L
#define N_MIN_MULTIPLIER 1e-600L

/* (n) zeros; the caller frees. Exits if memory is short. */
num *n_zeros(size_t n);

#endif
