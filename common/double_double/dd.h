/* Double-double numbers: hi + lo with |lo| <= ulp(hi) / 2, some 106 bits (Dekker 1971; Joldes,
 * Muller, Popescu, "Tight and rigorous error bounds for basic building blocks of double-word
 * arithmetic", ACM TOMS 44, 2017: the sum's error is 3 u^2 of the result at most, the product's 5
 * u^2, the quotient's 15 u^2, u = 2^-53).
 *
 * Only files named *_dd.c, and those of check/, include this header: the Makefile compiles them
 * without contraction, since a fused product and sum would break the error-free transformations
 * below. Callers avoid magnitudes near underflow. */
#ifndef COMMON_DOUBLE_DOUBLE_DD_H
#define COMMON_DOUBLE_DOUBLE_DD_H

#include "common/double_double/type.h"

#include <float.h>
#include <math.h>

#if FLT_EVAL_METHOD != 0
#error "double-double arithmetic requires FLT_EVAL_METHOD 0: doubles evaluated as doubles"
#endif

/* a + b exactly. */
static inline struct dd dd_two_sum(double a, double b) {
    double s = a + b, v = s - a;
    return (struct dd){s, (a - (s - v)) + (b - v)};
}

/* The same for |a| >= |b|. */
static inline struct dd dd_quick_sum(double a, double b) {
    double s = a + b;
    return (struct dd){s, b - (s - a)};
}

/* a b exactly. */
static inline struct dd dd_two_product(double a, double b) {
    double p = a * b;
    return (struct dd){p, fma(a, b, -p)};
}

static inline struct dd dd_add(struct dd a, struct dd b) {
    struct dd s = dd_two_sum(a.hi, b.hi), t = dd_two_sum(a.lo, b.lo);
    s = dd_quick_sum(s.hi, s.lo + t.hi);
    return dd_quick_sum(s.hi, s.lo + t.lo);
}

static inline struct dd dd_negative(struct dd a) {
    return (struct dd){-a.hi, -a.lo};
}

static inline struct dd dd_multiply(struct dd a, struct dd b) {
    struct dd p = dd_two_product(a.hi, b.hi);
    double cross = fma(a.hi, b.lo, a.lo * b.lo);
    return dd_quick_sum(p.hi, p.lo + fma(a.lo, b.hi, cross));
}

static inline struct dd dd_divide(struct dd a, struct dd b) {
    double q = a.hi / b.hi;
    struct dd rest = dd_add(a, dd_negative(dd_multiply(b, (struct dd){q, 0})));
    double r = rest.hi / b.hi;
    rest = dd_add(rest, dd_negative(dd_multiply(b, (struct dd){r, 0})));
    return dd_add(dd_quick_sum(q, r), (struct dd){rest.hi / b.hi, 0});
}

/* The square root of a > 0, by one Newton step from that of a.hi. */
static inline struct dd dd_root(struct dd a) {
    double root = sqrt(a.hi);
    struct dd rest = dd_add(a, dd_negative(dd_two_product(root, root)));
    return dd_quick_sum(root, rest.hi / (2 * root));
}

#endif
