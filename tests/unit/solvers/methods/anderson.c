/* Anderson's acceleration against what is known of it: a linear f of d numbers is solved by d
 * differences, whatever its contraction; a step that makes the residual larger is taken back. */
#include "solvers/methods/anderson.h"
#include "tests/unit/compute.h"

enum { D = 6, MOST = 4000 };

/* Iterations of y = b + A y until the residual is 1e-9, A diagonal with the rates; memory 0:
 * plain. */
static int iterations(const double *rate, const double *b, size_t memory) {
    struct anderson *anderson = NULL;
    struct error err;
    double y[D] = {0}, f[D];
    int t = 0;
    CHECK_TRUE(memory == 0 || anderson_create(&anderson, D, memory, &err) == 0);
    for (double norm = 1; norm > 1e-18 && t < MOST; t++) {
        norm = 0;
        for (size_t j = 0; j < D; j++) {
            f[j] = b[j] + rate[j] * y[j];
            norm += (f[j] - y[j]) * (f[j] - y[j]);
        }
        if (anderson) {
            anderson_next(anderson, y, f);
        }
        memcpy(y, f, sizeof y);
    }
    for (size_t j = 0; t < MOST && j < D; j++) {
        double fixed = b[j] / (1 - rate[j]);
        CHECK(fabs(y[j] - fixed) <= 1e-7 * fabs(fixed) / (1 - rate[j]), "%zu: %g, not %g", j, y[j],
              fixed);
    }
    anderson_free(anderson);
    return t;
}

static void check_linear(void) {
    const double rate[D] = {.9, .99, .5, .97, .7, .999}, b[D] = {1, -2, 3, 1, 4, -1};
    int plain = iterations(rate, b, 0), with = iterations(rate, b, 2 * D);
    CHECK(plain == MOST || plain > 1000, "%d iterations without it", plain);
    CHECK(with <= 30, "%d iterations with %d differences", with, 2 * D);
    int few = iterations(rate, b, 2);
    CHECK(few < plain && few > with, "%d iterations with 2 differences", few);
    printf("ok: a linear iteration of %d numbers ends after some differences more\n", D);
}

/* What f is of a point that was combined is far from it: the next point is f of the one before, and
 * combinations begin anew. */
static void check_safe(void) {
    struct anderson *anderson;
    struct error err;
    CHECK_TRUE(anderson_arrays(3) == 9 && anderson_create(&anderson, 1, 3, &err) == 0);
    double y = 0, f = 1;
    anderson_next(anderson, &y, &f);
    CHECK_TRUE(f == 1); /* there is nothing to combine yet */
    y = f;
    f = 1.5; /* as y = 1 + y / 2 has it, whose fixed point is 2 */
    anderson_next(anderson, &y, &f);
    CHECK(fabs(f - 2) < 1e-6, "the secant's %g", f);
    y = f;
    f = 7;
    anderson_next(anderson, &y, &f);
    CHECK(f == 1.5, "%g, which the point before has", f);
    y = f;
    f = 1.75;
    anderson_next(anderson, &y, &f);
    CHECK(f == 1.75, "%g: all points are forgotten", f);
    f = NAN;
    y = 1.75;
    anderson_restart(anderson);
    anderson_next(anderson, &y, &f);
    CHECK_TRUE(isnan(f));
    anderson_free(anderson);
    printf("ok: what makes the residual larger is taken back\n");
}

int main(void) {
    check_linear();
    check_safe();
    return 0;
}
