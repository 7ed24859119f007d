/* Balls contain the exact results: constants, inverse functions, and exact sums. */
#include "check/ball.h"
#include "common/base/random.h"
#include "tests/unit/check.h"

static bool holds(struct ball a, struct dd value) {
    struct dd off = dd_add(a.m, dd_negative(value));
    return fabs(off.hi) <= a.r + 0x1p-104 * fabs(value.hi);
}

/* The radius is at most a part of the value: a ball that contains everything would prove nothing.
 */
static bool is_small(struct ball a) {
    return a.r <= 1e-24 * fabs(a.m.hi);
}

static double uniform(struct random *random, double size) {
    return size * (2 * random_unit(random) - 1);
}

/* `found` is the ball from low to high, up to a tiny error. */
static bool spans(struct ball found, double low, double high) {
    double size = 1e-9 * (1 + high - low);
    return ball_low(found) <= low && ball_low(found) > low - size && ball_high(found) >= high &&
           ball_high(found) < high + size;
}

static struct ball ball_between(double low, double high) {
    return (struct ball){{(low + high) / 2, 0}, (high - low) / 2};
}

/* Balls that contain two others extend from end to end, and no further. */
static void test_ends(void) {
    const double end[] = {-3, -1, 0, 2, 7};
    enum { ENDS = sizeof end / sizeof end[0] };
    for (int i = 0; i < ENDS * ENDS * ENDS * ENDS; i++) {
        double a = end[i % ENDS], b = end[i / ENDS % ENDS], c = end[i / ENDS / ENDS % ENDS],
               d = end[i / ENDS / ENDS / ENDS];
        if (a <= b && c <= d) {
            struct ball joined = ball_join(ball_between(a, b), ball_between(c, d));
            CHECK(spans(joined, fmin(a, c), fmax(b, d)), "%g .. %g and %g .. %g", a, b, c, d);
            struct ball positive = ball_positive(ball_between(a, b));
            CHECK(spans(positive, fmax(0, a), fmax(0, b)), "above 0 of %g .. %g", a, b);
        }
    }
    CHECK(isinf(ball_join(ball_of(1), ball_of(INFINITY)).r), "joined with what is unknown");
    CHECK(isinf(ball_positive(ball_of(INFINITY)).r), "above 0 of what is unknown");
}

/* ---- sums ---- */

__extension__ typedef __int128 wide;

static wide exactly(struct dd a) {
    return (wide)a.hi + (wide)a.lo;
}

/* An integer of about 55 bits, of which a double holds all but the last two. */
static struct ball whole(struct random *random) {
    double hi = 4 * floor(uniform(random, 0x1p53)), lo = floor(uniform(random, 2) + 0.5);
    return (struct ball){dd_two_sum(hi, lo), 0};
}

/* Sums of products, against integers: within their radius, which is 3 u^2 of the partial sums and 5
 * u^2 of the products. */
static void test_sums(struct random *random) {
    enum { TERMS = 300 };
    for (int i = 0; i < 200; i++) {
        struct ball_sum sum = {{0, 0}, 0, 0};
        wide all = 0;
        double size = 0;
        for (int t = 0; t < TERMS; t++) {
            struct ball a = whole(random), b = whole(random);
            ball_sum_product(&sum, a, b);
            all += exactly(a.m) * exactly(b.m);
            ball_sum_add(&sum, b.m);
            all += exactly(b.m);
            size += fabs(a.m.hi * b.m.hi);
        }
        struct ball found = ball_sum_end(&sum);
        wide off = exactly(found.m) - all;
        CHECK(fabs((double)off) <= found.r, "a sum off by %g, by no more than %g", (double)off,
              found.r);
        CHECK(found.r <= (5 + 3 * 2 * TERMS) * 0x1p-106 * size * 1.01, "%g of %g", found.r, size);
    }
    CHECK(ball_sum_end(&(struct ball_sum){{0, 0}, 0, 0}).r == 0, "the empty sum is 0");
}

int main(void) {
    const struct dd one = {1, 0}, e = {2.718281828459045091e+00, 1.445646891729250158e-16};
    const struct dd root_2 = {1.414213562373095145e+00, -9.667293313452913451e-17};
    CHECK(holds(ball_exponential(ball_of(1)), e), "e");
    CHECK(holds(ball_root(ball_of(2)), root_2), "the root of 2");
    struct random random;
    random_start(&random, 1, 0);
    for (int i = 0; i < 20000; i++) {
        double size = i % 3 == 0 ? 300 : i % 3 == 1 ? 1 : 1e-6;
        struct ball a = ball_of(uniform(&random, size)), b = ball_of(uniform(&random, 1) + 2);
        struct ball both = ball_multiply(ball_exponential(a), ball_exponential(ball_negative(a)));
        CHECK(holds(both, one) && is_small(both), "exp(a) exp(-a) at %g", a.m.hi);
        struct ball quotient = ball_multiply(ball_divide(a, b), b);
        CHECK(holds(quotient, a.m) && is_small(quotient), "a / b b at %g", a.m.hi);
        struct ball root = ball_root(b), square = ball_multiply(root, root);
        CHECK(holds(square, b.m) && is_small(square), "the root of %g", b.m.hi);
        struct ball t = ball_tangent(a), minus = ball_tangent(ball_negative(a));
        CHECK(holds(ball_add(t, minus), (struct dd){0, 0}), "tanh at %g", a.m.hi);
        struct ball difference = ball_subtract(ball_add(a, b), b);
        CHECK(holds(difference, a.m), "a + b - b at %g", a.m.hi);
        CHECK(ball_low(t) <= t.m.hi && ball_high(t) >= t.m.hi, "ends at %g", a.m.hi);
    }
    struct ball far = ball_tangent((struct ball){{-1e34, 0}, 1e5});
    CHECK(holds(far, (struct dd){-1, 0}) && is_small(far), "tanh far from 0, not known closely");
    CHECK(ball_compare(ball_of(1), ball_of(2)) < 0 && ball_at_most(ball_of(1), ball_of(1)),
          "order");
    CHECK(!ball_at_most((struct ball){{1, 0}, 1e-30}, ball_of(1)),
          "what may be more is not at most");
    CHECK(isinf(ball_divide(ball_of(1), ball_of(0)).r), "1 / 0 is unknown");
    CHECK(isinf(ball_exponential(ball_of(1e5)).r), "exp(1e5) is unknown");
    test_ends();
    test_sums(&random);
    printf("ok: balls\n");
    return 0;
}
