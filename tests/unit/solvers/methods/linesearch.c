/* The line search where values tell points apart, and where their rounding hides all that there is
 * to gain: slopes alone know how far a step is good. */
#include "solvers/methods/linesearch.h"

#include "tests/unit/compute.h"

/* R(s) = most + steep max(0, s - kink)^2 / 2 - s of one score. */
struct bent {
    double most, steep, kink;
};

static double cut(void *context, const double *s, double *g, double *offset) {
    const struct bent *bent = context;
    double over = fmax(0, s[0] - bent->kink);
    double value = bent->most + bent->steep * over * over / 2 - s[0];
    g[0] = bent->steep * over - 1;
    *offset = value - g[0] * s[0];
    return value;
}

/* theta of the search from s = 0 along d = 1, without |f|^2. */
static double find(struct bent bent, double tolerance) {
    double s = 0, d = 1, trial, g, offset;
    const struct risk risk = {.n = 1, .context = &bent, .cut = cut};
    const struct linesearch search = {.risk = &risk,
                                      .cost = 1,
                                      .s = &s,
                                      .d = &d,
                                      .value = cut(&bent, &s, &g, &offset),
                                      .slope = -1,
                                      .first = 1,
                                      .trial = &trial,
                                      .g = &g};
    return linesearch_minimise(&search, tolerance).theta;
}

int main(void) {
    /* the minimum is at kink + 1 / steep */
    double theta = find((struct bent){2, 10, .5}, 0);
    CHECK(fabs(theta - .6) <= .02, "theta %g, not .6", theta);
    /* 1e-9 is to be gained beside 1e9, whose units are 1e-7 */
    theta = find((struct bent){1e9, 1e15, 1e-9}, 0);
    CHECK(theta >= .9e-9 && theta <= 1.001e-9, "theta %g, not 1e-9", theta);
    theta = find((struct bent){1e9, 1e15, 1e-9}, 1);
    CHECK(theta == 0, "theta %g where nothing is to be gained", theta);
    printf("ok: line searches by values, and by slopes\n");
    return 0;
}
