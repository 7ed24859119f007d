/* Rows with the largest values, by their bits, on one rank: against sorting. */
#include "solvers/methods/select.h"

#include "common/base/random.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdbool.h>

enum { MOST = 60, ROUNDS = 3000 };

struct sample {
    size_t n;
    double value[MOST], share[MOST];
};

/* Values of both signs and all sizes, zeros of both signs, infinities, and equal ones. */
static double draw_value(struct random *random) {
    static const double special[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, 5e-324, -5e-324};
    if (random_unit(random) < 0.3) {
        return special[(size_t)(random_unit(random) * (sizeof special / sizeof special[0]))];
    }
    double size = ldexp(random_unit(random), (int)(random_unit(random) * 80) - 40);
    return random_unit(random) < 0.5 ? -size : size;
}

/* Shares are multiples of 1/64, whose sums are exact. */
static void draw(struct sample *sample, struct random *random) {
    sample->n = (size_t)(random_unit(random) * (MOST + 1));
    for (size_t i = 0; i < sample->n; i++) {
        sample->value[i] = draw_value(random);
        sample->share[i] = floor(random_unit(random) * 33) / 64;
    }
}

static void check_sample(const struct sample *sample, double amount) {
    uint32_t order[MOST];
    bool whole[MOST] = {false};
    for (size_t i = 0; i < sample->n; i++) {
        order[i] = (uint32_t)i;
    }
    double left, last, sum = 0;
    size_t n =
        select_largest(NULL, sample->value, sample->share, amount, order, sample->n, &left, &last);
    CHECK(n <= sample->n, "%zu of %zu rows", n, sample->n);
    for (size_t i = 0; i < n; i++) {
        CHECK_TRUE(!whole[order[i]]);
        whole[order[i]] = true;
        sum += sample->share[order[i]];
    }
    for (size_t i = 0; i < sample->n; i++) {
        CHECK(!whole[i] || sample->value[i] >= last, "%g is taken, and %g is not", sample->value[i],
              last);
        CHECK(whole[i] || sample->value[i] <= last, "%g is not taken, and %g is", sample->value[i],
              last);
    }
    if (n == sample->n) {
        CHECK(sum <= amount, "%g of %g", sum, amount);
        return;
    }
    CHECK(sum + left == amount, "%g and %g of %g", sum, left, amount);
    CHECK(sample->value[order[n]] == last, "%g is next, not %g", sample->value[order[n]], last);
    CHECK(sample->share[order[n]] > left, "%g has room for %g", left, sample->share[order[n]]);
}

int main(void) {
    struct random random;
    struct sample sample;
    random_start(&random, 1, 1);
    for (int round = 0; round < ROUNDS; round++) {
        draw(&sample, &random);
        check_sample(&sample, floor(random_unit(&random) * 256) / 64);
        check_sample(&sample, 0);
    }
    printf("ok: rows of the largest values, by their bits\n");
    return 0;
}
