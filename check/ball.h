/* Ball arithmetic: a real number is represented by a double-double midpoint and a radius. Each
 * operation returns a ball that contains the result for all numbers in the balls of its operands.
 *
 * Sums and products of dd.h have the errors proved there; other functions are within 2^-100 of
 * their result. Radii are rounded up by a factor that also covers terms of order u^3. A value that
 * is not finite, or unknown, has radius infinity. */
#ifndef CHECK_BALL_H
#define CHECK_BALL_H

#include "common/double_double/dd.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

struct ball {
    struct dd m; /* the midpoint */
    double r;    /* the radius, >= 0 */
};

/* Error bounds of a sum, a product and any other function, relative to the result. */
static const double BALL_OF_SUM = 3 * 0x1p-106, BALL_OF_PRODUCT = 5 * 0x1p-106,
                    BALL_UNIT = 0x1p-100;
static const double BALL_UP = 1 + 0x1p-48;
/* Products below BALL_SMALL may have lost low bits by underflow, at most BALL_LOST. */
static const double BALL_SMALL = 1e-240, BALL_LOST = 1e-270;

static inline struct ball ball_of(double value) {
    return (struct ball){{value, 0}, isfinite(value) ? 0 : INFINITY};
}

static inline bool ball_is_zero(struct ball a) {
    return a.m.hi == 0 && a.m.lo == 0 && a.r == 0;
}

/* An upper bound of the magnitude. */
static inline double ball_magnitude(struct ball a) {
    return (fabs(a.m.hi) + fabs(a.m.lo) + a.r) * BALL_UP;
}

/* A ball around a result of dd arithmetic with relative error `part`, plus the radius r. */
static inline struct ball ball_within(struct dd m, double part, double r) {
    r = (r + part * fabs(m.hi)) * BALL_UP;
    bool good = isfinite(m.hi) && isfinite(m.lo) && r < INFINITY;
    return good ? (struct ball){m, r} : (struct ball){{0, 0}, INFINITY};
}

static inline struct ball ball_make(struct dd m, double r) {
    return ball_within(m, BALL_UNIT, r);
}

static inline struct ball ball_add(struct ball a, struct ball b) {
    if (ball_is_zero(a) || ball_is_zero(b)) {
        return ball_is_zero(a) ? b : a;
    }
    struct dd m = dd_add(a.m, b.m);
    struct dd exact = dd_two_sum(a.m.hi, b.m.hi);
    if (a.r == 0 && b.r == 0 && a.m.lo == 0 && b.m.lo == 0 && isfinite(exact.hi)) {
        return (struct ball){exact, 0};
    }
    return ball_within(m, BALL_OF_SUM, a.r + b.r);
}

static inline struct ball ball_negative(struct ball a) {
    return (struct ball){dd_negative(a.m), a.r};
}

static inline struct ball ball_subtract(struct ball a, struct ball b) {
    return ball_add(a, ball_negative(b));
}

static inline struct ball ball_multiply(struct ball a, struct ball b) {
    if (ball_is_zero(a) || ball_is_zero(b)) {
        return ball_of(0);
    }
    struct dd m = dd_multiply(a.m, b.m);
    double r = (fabs(a.m.hi) * b.r + fabs(b.m.hi) * a.r) * BALL_UP + a.r * b.r * BALL_UP;
    if (fabs(m.hi) < BALL_SMALL) {
        r += BALL_LOST;
    } else if (a.r == 0 && b.r == 0 && a.m.lo == 0 && b.m.lo == 0) {
        struct dd exact = dd_two_product(a.m.hi, b.m.hi);
        if (isfinite(exact.hi)) {
            return (struct ball){exact, 0};
        }
    }
    return ball_within(m, BALL_OF_PRODUCT, r);
}

/* 2^exponent a: exact except near the ends of the range of doubles. */
struct ball ball_scale(struct ball a, int exponent);

/* A long sum with its error bound. All bits 0 is the empty sum. */
struct ball_sum {
    struct dd m;
    double r; /* sum of the radii of the terms and of rounding errors, but without the rounding of r
              itself and underflow */
    size_t n;
};

/* Adds a b. */
static inline void ball_sum_product(struct ball_sum *sum, struct ball a, struct ball b) {
    double size = fabs(a.m.hi) * fabs(b.m.hi);
    if (size == 0 && (ball_is_zero(a) || ball_is_zero(b))) {
        return;
    }
    sum->m = dd_add(sum->m, dd_multiply(a.m, b.m));
    sum->r += fabs(a.m.hi) * b.r + a.r * (fabs(b.m.hi) + b.r) + BALL_OF_PRODUCT * size +
              BALL_OF_SUM * fabs(sum->m.hi);
    sum->n++;
}

/* Adds an exact number. */
static inline void ball_sum_add(struct ball_sum *sum, struct dd a) {
    sum->m = dd_add(sum->m, a);
    sum->r += BALL_OF_SUM * fabs(sum->m.hi);
    sum->n++;
}

static inline struct ball ball_sum_end(const struct ball_sum *sum) {
    double n = (double)sum->n, up = 1 + 8 * (n + 2) * 0x1p-52;
    if (sum->n == 0) {
        return ball_of(0);
    }
    return ball_within(sum->m, 0, sum->r * up + n * BALL_LOST);
}

/* a / b; unknown if b may be 0. */
struct ball ball_divide(struct ball a, struct ball b);

/* The square root of a, or of max(0, a) if a may be negative. */
struct ball ball_root(struct ball a);

/* e^a; unknown above a = 690, near the overflow of doubles. */
struct ball ball_exponential(struct ball a);
struct ball ball_logarithm(struct ball a); /* unknown if a may be 0 */
struct ball ball_tangent(struct ball a);   /* tanh */
struct ball ball_power(struct ball a, int degree);

/* max(0, a), |a|, and the smaller and the larger of two. */
struct ball ball_positive(struct ball a);
struct ball ball_absolute(struct ball a);
struct ball ball_minimum(struct ball a, struct ball b);
struct ball ball_maximum(struct ball a, struct ball b);

/* A ball that contains both. */
struct ball ball_join(struct ball a, struct ball b);

/* a'b, of n entries. */
struct ball ball_dot(const struct ball *a, const struct ball *b, size_t n);

/* Order of qsort: the larger midpoint first. */
int ball_descending(const void *a, const void *b);

/* -1 if a < b is certain, 1 if a > b is certain, else 0. Equal numbers give 0. */
int ball_compare(struct ball a, struct ball b);

/* True if a <= b is certain. */
bool ball_at_most(struct ball a, struct ball b);

/* Doubles that are lower and upper bounds of all numbers of the ball. */
double ball_low(struct ball a);
double ball_high(struct ball a);

#endif
