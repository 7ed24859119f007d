/* Functions of balls. The exponential is computed in double-double from the Taylor series. */
#include "check/ball.h"

#include <stdint.h>
#include <string.h>

static struct ball unknown(void) {
    return (struct ball){{0, 0}, INFINITY};
}

struct ball ball_scale(struct ball a, int exponent) {
    struct dd m = {ldexp(a.m.hi, exponent), ldexp(a.m.lo, exponent)};
    double r = a.r == 0 ? 0 : ldexp(a.r, exponent) * BALL_UP;
    if (exponent == 0 || ball_is_zero(a)) {
        return a;
    }
    if (fabs(m.hi) < BALL_SMALL) { /* low bits of m and r may be lost */
        bool exact = a.r == 0 && a.m.lo == 0 && ldexp(m.hi, -exponent) == a.m.hi;
        r += exact ? 0 : BALL_LOST;
    }
    return ball_within(m, 0, r);
}

struct ball ball_divide(struct ball a, struct ball b) {
    double min_size = fabs(b.m.hi) * (1 - 0x1p-48) - b.r * BALL_UP;
    if (!(min_size > 0) || !isfinite(a.r)) {
        return unknown();
    }
    if (ball_is_zero(a)) {
        return a;
    }
    struct dd m = dd_divide(a.m, b.m);
    /* |a'/b' - a/b| <= (r_a + |a/b| r_b) / (|b| - r_b) */
    double r = (a.r + fabs(m.hi) * BALL_UP * b.r) / min_size * BALL_UP;
    if (fabs(m.hi) < BALL_SMALL || fabs(a.m.hi) < BALL_SMALL) {
        r += BALL_LOST / fmin(1, min_size);
    }
    return ball_make(m, r);
}

struct ball ball_root(struct ball a) {
    double high = ball_high(a);
    if (!isfinite(a.r)) {
        return unknown();
    }
    if (!(high > 0)) {
        return ball_of(0);
    }
    if (!(a.m.hi > 2 * a.r)) { /* 0 is near: the ball from 0 to the root of the upper end */
        double root = sqrt(high) * BALL_UP;
        return ball_make((struct dd){root / 2, 0}, root / 2);
    }
    /* one Newton step from the root in double, which squares its error */
    double x = sqrt(a.m.hi);
    struct dd rest = dd_add(a.m, dd_negative(dd_two_product(x, x)));
    struct dd m = dd_quick_sum(x, rest.hi / (2 * x));
    /* |sqrt(a') - sqrt(a)| <= r / sqrt(a) */
    double underflow = a.m.hi < BALL_SMALL ? sqrt(BALL_LOST) : 0;
    return ball_make(m, a.r / x * BALL_UP + underflow + 0x1p-98 * x);
}

/* ---- exponentials ---- */

/* ln 2 to 106 bits and more. */
static const struct dd LN2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

enum { HALVINGS = 7, TERMS = 9, DOUBLES = 5 };

static const struct dd INVERSE[TERMS] = {
    {0x1.0000000000000p+0, 0x0.0p+0},               /* 1/1 */
    {0x1.0000000000000p-1, 0x0.0p+0},               /* 1/2 */
    {0x1.5555555555555p-2, 0x1.5555555555555p-56},  /* 1/3 */
    {0x1.0000000000000p-2, 0x0.0p+0},               /* 1/4 */
    {0x1.999999999999ap-3, -0x1.999999999999ap-57}, /* 1/5 */
    {0x1.5555555555555p-3, 0x1.5555555555555p-57},  /* 1/6 */
    {0x1.2492492492492p-3, 0x1.2492492492492p-57},  /* 1/7 */
    {0x1.0000000000000p-3, 0x0.0p+0},               /* 1/8 */
    {0x1.c71c71c71c71cp-4, 0x1.c71c71c71c71cp-58},  /* 1/9 */
};

/* 2^n, |n| <= 1000. */
static double power_of_two(int n) {
    uint64_t bits = (uint64_t)(n + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* exp of a midpoint: a = n ln 2 + x, x halved 7 times, |x| < 3e-3; e = exp(x) - 1 by 9 terms of the
 * Taylor series, x^9 / 10! < 2^-98, then doubled by e -> 2 e + e^2. Terms from the sixth on are
 * below 2^-51 of the first and are summed in double. Each of about 30 operations adds 2^-104 of a
 * number of the size of e, and doubling preserves relative errors: a total of 2^-92 is ample. */
static struct dd exponential(struct dd a) {
    const double part_of = 0x1p-7; /* 2^-HALVINGS */
    double n = nearbyint(a.hi / LN2.hi), tail = 0, power;
    struct dd x = dd_add(a, dd_negative(dd_multiply(LN2, (struct dd){n, 0})));
    x = (struct dd){x.hi * part_of, x.lo * part_of};
    for (int k = TERMS; k > DOUBLES; k--) { /* sum = x/k (1 + sum) */
        tail = x.hi * INVERSE[k - 1].hi * (1 + tail);
    }
    struct dd sum = {tail, 0};
    for (int k = DOUBLES; k >= 1; k--) {
        struct dd part = dd_multiply(x, INVERSE[k - 1]);
        sum = dd_multiply(part, dd_add((struct dd){1, 0}, sum));
    }
    for (int k = 0; k < HALVINGS; k++) {
        struct dd square = dd_multiply(sum, sum);
        sum = dd_add((struct dd){2 * sum.hi, 2 * sum.lo}, square);
    }
    sum = dd_add((struct dd){1, 0}, sum);
    power = power_of_two((int)n);
    return (struct dd){sum.hi * power, sum.lo * power};
}

struct ball ball_exponential(struct ball a) {
    const double max = 690, min = -600, tiny = 1e-260; /* exp(-600) = 3e-261 */
    double high = ball_high(a);
    if (ball_is_zero(a)) {
        return ball_of(1);
    }
    if (high < min) {
        return (struct ball){{tiny / 2, 0}, tiny / 2};
    }
    if (high > max) {
        return unknown();
    }
    if (a.m.hi < min || a.r > 1) { /* the ball from 0 to the exponential of the upper end */
        double half = exp(high) * BALL_UP / 2;
        return (struct ball){{half, 0}, half * BALL_UP};
    }
    struct dd m = exponential(a.m);
    /* exp(r) - 1 <= 2 r for r <= 1 */
    return ball_make(m, m.hi * (2 * a.r + 0x1p-92) * BALL_UP);
}

/* With y near log a and t = a exp(-y) - 1, log a = y + log(1 + t) = y + t - t^2 / 2 + ..., with a
 * remainder of at most |t|^3 for |t| < 1/2. */
struct ball ball_logarithm(struct ball a) {
    if (!(a.m.hi - a.r > 0) || !(a.m.hi < INFINITY)) {
        return unknown();
    }
    struct ball y = ball_of(log(a.m.hi));
    struct ball t = ball_subtract(ball_multiply(a, ball_exponential(ball_negative(y))), ball_of(1));
    double size = ball_magnitude(t);
    if (!(size < 0.5)) {
        return unknown();
    }
    struct ball half = ball_divide(ball_multiply(t, t), ball_of(2));
    struct ball sum = ball_add(y, ball_subtract(t, half));
    return ball_make(sum.m, sum.r + size * size * size * BALL_UP);
}

/* 1 - 2 / (exp(2 a) + 1). */
struct ball ball_tangent(struct ball a) {
    const double far = 300;
    struct ball one = ball_of(1);
    if (fabs(a.m.hi) - a.r > far) {
        return (struct ball){{a.m.hi > 0 ? 1 : -1, 0}, 1e-200};
    }
    if (a.r > 1) {
        return (struct ball){{0, 0}, isfinite(a.r) ? 1 : INFINITY};
    }
    if (ball_is_zero(a)) {
        return a;
    }
    struct ball twice = ball_exponential(ball_add(a, a));
    return ball_subtract(one, ball_divide(ball_of(2), ball_add(twice, one)));
}

struct ball ball_power(struct ball a, int degree) {
    struct ball power = ball_of(1);
    for (int bit = degree; bit > 0; bit >>= 1) {
        power = bit & 1 ? ball_multiply(power, a) : power;
        a = bit > 1 ? ball_multiply(a, a) : a;
    }
    return power;
}

struct ball ball_dot(const struct ball *a, const struct ball *b, size_t n) {
    struct ball sum = ball_of(0);
    for (size_t i = 0; i < n; i++) {
        sum = ball_add(sum, ball_multiply(a[i], b[i]));
    }
    return sum;
}

/* ---- order ---- */

int ball_descending(const void *a, const void *b) {
    const struct ball *x = a, *y = b;
    return x->m.hi != y->m.hi ? (x->m.hi > y->m.hi ? -1 : 1)
                              : (x->m.lo < y->m.lo) - (x->m.lo > y->m.lo);
}

int ball_compare(struct ball a, struct ball b) {
    double between = (a.r + b.r) * BALL_UP;
    struct dd d = dd_add(a.m, dd_negative(b.m));
    if (!isfinite(between) || !isfinite(d.hi)) {
        return 0;
    }
    double slack = between + 2 * BALL_UNIT * fabs(d.hi);
    return d.hi > slack * BALL_UP ? 1 : d.hi < -slack * BALL_UP ? -1 : 0;
}

bool ball_at_most(struct ball a, struct ball b) {
    bool equal = a.r == 0 && b.r == 0 && a.m.hi == b.m.hi && a.m.lo == b.m.lo;
    return equal || ball_compare(a, b) < 0;
}

/* If neither ball contains the other, the smallest ball from end to end: the midpoint moves towards
 * b by the growth of the radius. */
struct ball ball_join(struct ball a, struct ball b) {
    struct dd difference = dd_add(b.m, dd_negative(a.m));
    double distance = fabs(difference.hi) * BALL_UP;
    if (!(distance + b.r > a.r) || !(distance + a.r > b.r)) {
        return ball_make(a.r < b.r ? b.m : a.m, fmax(a.r, b.r));
    }
    double r = (distance + a.r + b.r) / 2 * BALL_UP, move = difference.hi < 0 ? a.r - r : r - a.r;
    return ball_make(dd_add(a.m, (struct dd){move, 0}), r);
}

struct ball ball_positive(struct ball a) {
    const struct ball zero = ball_of(0);
    int side = ball_compare(a, zero);
    if (side != 0 || ball_is_zero(a)) {
        return side > 0 ? a : zero;
    }
    double half = fmax(0, ball_high(a)) / 2;
    return (struct ball){{half, 0}, half * BALL_UP};
}

struct ball ball_absolute(struct ball a) {
    int side = ball_compare(a, ball_of(0));
    if (side != 0) {
        return side > 0 ? a : ball_negative(a);
    }
    return ball_positive((struct ball){{0, 0}, ball_is_zero(a) ? 0 : ball_magnitude(a)});
}

struct ball ball_minimum(struct ball a, struct ball b) {
    int order = ball_compare(a, b);
    return order < 0 ? a : order > 0 ? b : ball_at_most(a, b) ? a : ball_join(a, b);
}

struct ball ball_maximum(struct ball a, struct ball b) {
    return ball_negative(ball_minimum(ball_negative(a), ball_negative(b)));
}

double ball_low(struct ball a) {
    double rest = nextafter(a.m.lo - a.r, -INFINITY);
    if (a.r == 0 && a.m.lo == 0) {
        return a.m.hi;
    }
    return isfinite(a.r) ? nextafter(a.m.hi + rest, -INFINITY) : -INFINITY;
}

double ball_high(struct ball a) {
    return -ball_low(ball_negative(a));
}
