/* Kernel functions of rows of sums, vectorised. tiles.h includes this file once for each type, with
 * REAL and its constants defined; private to tiles.h.
 *
 * exp: u = n ln 2 + r, |r| <= ln(2)/2; exp(u) = 2^n exp(r), exp(r) by Taylor's series. The largest
 * errors seen are 1 ulp for exp, and 1.5 (float) and 3 ulp (double) for tanh. */

#include "common/base/dispatch.h"
#include "common/kernel/table.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { MAX_ROW_VALUES = 256 }; /* maximum number of values of one call */

static inline BITS bits_of(REAL value) {
    BITS bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline REAL from_bits(BITS bits) {
    REAL value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* exp(u) = 2^n (1 + *rest) for u within the exponents' range; returns 2^n. The sum with ROUND
 * leaves round(u / ln 2) in the low bits of the mantissa. */
static inline REAL exp_parts(REAL u, REAL *rest) {
    REAL shifted = u * LOG2_E + ROUND;
    REAL n = shifted - ROUND;
    REAL r = (u - n * LN2_HIGH) - n * LN2_LOW;
    *rest = r + r * r * (EXP_TAIL(r));
    return from_bits((BITS)((bits_of(shifted) + EXPONENT_BIAS) << MANTISSA_BITS));
}

/* v = factor v, factor v <= 0, at least EXP_LOWEST. NaN stays. Not a part of exp_row: compilers
 * branch to the constant result there instead of vectorising that loop. */
DISPATCH static void exponent_row(REAL *v, size_t n, REAL factor) {
    for (size_t i = 0; i < n; i++) {
        REAL u = factor * v[i];
        v[i] = u < EXP_LOWEST ? EXP_LOWEST : u;
    }
}

/* v = exp(v), v as exponent_row leaves it; 0 where that is below the smallest normal number, since
 * arithmetic on subnormal numbers is slow. NaN stays. */
DISPATCH static void exp_row(REAL *v, size_t n) {
    for (size_t i = 0; i < n; i++) {
        REAL rest, scale = exp_parts(v[i], &rest);
        REAL e = scale + scale * rest;
        v[i] = e <= MIN_EXP_RESULT ? 0 : e;
    }
}

/* tanh(|u|) = m / (m + 2), m = exp(2|u|) - 1 = (scale - 1) + scale rest. NaN where dot
 * overflowed. */
DISPATCH static void tanh_row(const REAL *dot, size_t n, REAL gamma, REAL coef0,
                              REAL *restrict out) {
    for (size_t i = 0; i < n; i++) {
        REAL u = gamma * dot[i] + coef0, rest;
        REAL twice = 2 * ABS(u);
        twice = twice > TANH_END ? TANH_END : twice;
        REAL scale = exp_parts(twice, &rest);
        REAL m = (scale - 1) + scale * rest;
        REAL t = m / (m + 2);
        out[i] = COPY_SIGN(t, u) + dot[i] * 0; /* a sum that overflowed: its sign may be wrong */
    }
}

/* out = (gamma dot + coef0)^degree; n <= MAX_ROW_VALUES */
DISPATCH static void power_row(const REAL *dot, size_t n, REAL gamma, REAL coef0, int degree,
                               REAL *restrict out) {
    REAL base[MAX_ROW_VALUES];
    for (size_t i = 0; i < n; i++) {
        base[i] = gamma * dot[i] + coef0;
        out[i] = 1;
    }
    for (int d = degree; d > 0; d >>= 1) {
        if (d & 1) {
            for (size_t i = 0; i < n; i++) {
                out[i] *= base[i];
            }
        }
        if (d > 1) {
            for (size_t i = 0; i < n; i++) {
                base[i] *= base[i];
            }
        }
    }
}

/* The distance |x - z|^2 from products, or |x - z|_1 from overlaps, and the norms; NaN if
 * cancellation leaves too few accurate bits (KERNEL_NEAR). */
DISPATCH static void distance_row(const REAL *dot, size_t n, REAL x_norm, const REAL *z_norm,
                                  REAL *restrict out) {
    for (size_t i = 0; i < n; i++) {
        REAL norms = x_norm + z_norm[i];
        REAL square = norms - 2 * dot[i];
        out[i] = square > (REAL)KERNEL_NEAR * norms ? square : (REAL)NAN;
    }
}

/* v = 1 / (1 + factor v); 0 where that product overflows. NaN stays. */
DISPATCH static void inverse_row(REAL *v, size_t n, REAL factor) {
    for (size_t i = 0; i < n; i++) {
        v[i] = 1 / (1 + factor * v[i]);
    }
}

/* tanimoto from products, minmax from minima. Two zero rows, and norms that overflow, give NaN. */
DISPATCH static void ratio_row(const REAL *dot, size_t n, REAL x_norm, const REAL *z_norm,
                               REAL *restrict out) {
    for (size_t i = 0; i < n; i++) {
        REAL other = x_norm + z_norm[i] - dot[i];
        out[i] = dot[i] / other + other * 0; /* not 0 where the sum overflowed */
    }
}

/* True if no exponent is all ones. In integer arithmetic, since compilers do not vectorise a
 * reduction over comparisons of floats. */
DISPATCH static bool all_finite(const REAL *v, size_t n) {
    const BITS ones = (BITS)(2 * EXPONENT_BIAS + 1) << MANTISSA_BITS;
    BITS bad = 0;
    for (size_t i = 0; i < n; i++) {
        bad |= (bits_of(v[i]) & ones) == ones;
    }
    return bad == 0;
}

/* out (n) = the kernel values of a row x and n rows z, from their sums (n) and norms. */
static void apply_function(const struct kernel *kernel, REAL x_norm, const REAL *z_norm,
                           const REAL *sum, size_t n, REAL *out) {
    REAL gamma = (REAL)kernel->gamma, coef0 = (REAL)kernel->coef0;
    switch (kernel_table[kernel->type].function) {
    case FUNCTION_PLAIN:
        memcpy(out, sum, n * sizeof *out);
        return;
    case FUNCTION_POWER:
        power_row(sum, n, gamma, coef0, kernel->degree, out);
        return;
    case FUNCTION_DECAY:
        distance_row(sum, n, x_norm, z_norm, out);
        exponent_row(out, n, -gamma);
        exp_row(out, n);
        return;
    case FUNCTION_INVERSE:
        distance_row(sum, n, x_norm, z_norm, out);
        inverse_row(out, n, gamma);
        return;
    case FUNCTION_TANH:
        tanh_row(sum, n, gamma, coef0, out);
        return;
    case FUNCTION_RATIO:
        ratio_row(sum, n, x_norm, z_norm, out);
        return;
    }
}
