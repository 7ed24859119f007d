/* Numbers of which is known where they are: a double-double in the middle, and a radius. Each
 * operation gives a ball that holds the result for all numbers of its operands' balls.
 *
 * Sums and products of dd.h are taken to be as near their result as is proven of them there, other
 * functions within 2^-100 of it; a radius is rounded up by a factor, far above terms of u^3.
 * What is not finite, or not known at all, has the radius infinity. */
#ifndef CHECK_BALL_H
#define CHECK_BALL_H

#include "common/double_double/dd.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

struct ball {
    struct dd m; /* the middle */
    double r;    /* the radius, 0 or more */
};

/* Of a sum, a product and any other function, relative to the result. */
static const double BALL_OF_SUM = 3 * 0x1p-106, BALL_OF_PRODUCT = 5 * 0x1p-106,
                    BALL_UNIT = 0x1p-100;
static const double BALL_UP = 1 + 0x1p-48;
/* Products below this may have lost low bits by underflow; no more than that much. */
static const double BALL_SMALL = 1e-240, BALL_LOST = 1e-270;

static inline struct ball ball_of(double value) {
    return (struct ball){{value, 0}, isfinite(value) ? 0 : INFINITY};
}

static inline bool ball_is_zero(struct ball a) {
    return a.m.hi == 0 && a.m.lo == 0 && a.r == 0;
}

/* A bound of the magnitude. */
static inline double ball_most(struct ball a) {
    return (fabs(a.m.hi) + fabs(a.m.lo) + a.r) * BALL_UP;
}

/* A ball around what dd arithmetic has made to within a part of it, with the radius r besides. */
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

/* 2^exponent a: exact, but for what is next to the ends of doubles. */
struct ball ball_scale(struct ball a, int exponent);

/* A long sum, with what bounds its error. All bits 0 is the empty one. */
struct ball_sum {
    struct dd m;
    double r; /* of the terms' radii and of rounding, but for r's own and for what underflows */
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

/* Adds a number that is what it is. */
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

/* a / b; unknown where b may be 0. */
struct ball ball_divide(struct ball a, struct ball b);

/* The root of a, of max(0, a) if that may be below 0. */
struct ball ball_root(struct ball a);

/* e^a; unknown above a = 690, near the end of doubles. */
struct ball ball_exponential(struct ball a);
struct ball ball_logarithm(struct ball a); /* unknown where a may be 0 */
struct ball ball_tangent(struct ball a);   /* tanh */
struct ball ball_power(struct ball a, int degree);

/* max(0, a), |a|, and the smaller and the larger of two. */
struct ball ball_positive(struct ball a);
struct ball ball_absolute(struct ball a);
struct ball ball_minimum(struct ball a, struct ball b);
struct ball ball_maximum(struct ball a, struct ball b);

/* A ball that holds both. */
struct ball ball_join(struct ball a, struct ball b);

/* -1: a < b for certain; 1: a > b for certain; 0: neither. Equal numbers are 0. */
int ball_compare(struct ball a, struct ball b);

/* a <= b for certain: they may be equal. */
bool ball_at_most(struct ball a, struct ball b);

/* Doubles at or below, and at or above, all numbers of the ball. */
double ball_low(struct ball a);
double ball_high(struct ball a);

#endif
