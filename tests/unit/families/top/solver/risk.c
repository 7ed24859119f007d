/* The risks at the top: thresholds and slopes, against their definitions. */
#include "families/top/solver/risk.h"
#include "tests/unit/compute.h"

static void fill_risk(struct top_risk *risk, enum top_kind kind, bool square, struct random *random,
                      size_t n, bool weights, double k) {
    MUST(top_risk_create(risk, n, &err));
    risk->kind = kind;
    risk->square = square;
    for (size_t i = 0; i < n; i++) {
        double weight = weights && i > 0 ? (double)random_below(random, 4) / 2 : 1;
        *(i < n / 3 ? &risk->cost[i] : &risk->mass[i]) = weight;
        risk->mass[i] += i % 5 == 0 && i < n / 3; /* in both */
    }
    double mass = 0;
    for (size_t i = 0; i < n; i++) {
        mass += risk->mass[i];
    }
    risk->theta = exp(6 * random_unit(random) - 4);
    risk->budget = mass * (0.01 + 0.6 * random_unit(random));
    top_risk_ready(risk, fmin(k, mass));
}

static void check_risk(void) {
    struct random random = sample_random(7, 0);
    for (int round = 0; round < 600; round++) {
        size_t n = 3 + (size_t)random_below(&random, 40);
        struct top_risk risk;
        fill_risk(&risk, (enum top_kind)(round % 3), round % 2, &random, n, round % 4 > 1,
                  1 + 5 * random_unit(&random));
        double *s = check_array(n, sizeof *s), *other = check_array(n, sizeof *s);
        double *g = check_array(n, sizeof *s), *h = check_array(n, sizeof *s);
        for (size_t i = 0; i < n; i++) { /* with ties */
            s[i] = (double)random_below(&random, 9) / 3 - 1;
            other[i] = 4 * random_unit(&random) - 2;
        }
        double offset, ignored, value = top_risk_cut(&risk, s, g, &offset), dot = 0, linear = 0;
        double t = risk.threshold, p_sum = 0, p_s = 0;
        for (size_t i = 0; i < n; i++) {
            dot += g[i] * s[i];
            linear += g[i] * other[i];
            p_sum += risk.p[i];
            p_s += risk.p[i] * s[i];
            CHECK(risk.p[i] >= 0 && (risk.mass[i] > 0 || risk.p[i] == 0), "p %g", risk.p[i]);
            CHECK(risk.kind != TOP_MEAN || risk.p[i] <= risk.share[i] * (1 + 1e-12),
                  "p over share");
        }
        CHECK(fabs(value - dot - offset) <= 1e-12 * (1 + fabs(value)), "offset");
        CHECK(risk.kind == TOP_NONE || fabs(p_sum - 1) < 1e-12, "p sums to %g", p_sum);
        CHECK(risk.kind != TOP_MEAN || fabs(p_s - t) < 1e-12 * (1 + fabs(t)), "t %g p's %g", t,
              p_s);
        if (risk.kind == TOP_QUANTILE) {
            double sum = 0;
            for (size_t i = 0; i < n; i++) {
                sum += risk.mass[i] * top_loss(risk.square, risk.theta * (s[i] - t));
            }
            CHECK_NEAR(sum, risk.budget, 1e-11, "equation");
        }
        /* a plane below the risk */
        double there = top_risk_cut(&risk, other, h, &ignored);
        CHECK(there >= offset + linear - 1e-11 * (1 + fabs(there)), "round %d: not a subgradient",
              round);
        /* the best multiple is no worse than its neighbours */
        double norm = 5, found, work[2 * 64];
        double x = top_risk_multiple(&risk, 2, norm, other, TOP_MULTIPLE_ROUGH, work, &found);
        for (int k = -3; k <= 3; k++) {
            for (size_t i = 0; i < n; i++) {
                g[i] = x * (1 + 0.02 * k) * other[i];
            }
            double y = x * (1 + 0.02 * k);
            double here = 0.5 * y * y * norm + 2 * top_risk_cut(&risk, g, h, &ignored);
            CHECK(here >= found * (1 - 1e-6), "multiple %g: %g, at %g: %g", x, found, y, here);
        }
        top_risk_free(&risk);
    }
    printf("ok: thresholds solve their equations, and their planes lie below the risk\n");
}

/* If the masses sum to less than K, the shares are equal and sum to 1. */
static void check_shares(void) {
    enum { N = 4 };
    struct top_risk risk;
    MUST(top_risk_create(&risk, N, &err));
    risk.kind = TOP_MEAN;
    risk.cost[N - 1] = 1;
    for (size_t i = 0; i < N; i++) {
        risk.mass[i] = .2;
    }
    top_risk_ready(&risk, 1);
    for (size_t i = 0; i < N; i++) {
        CHECK_CLOSE(risk.share[i], 1. / N, 1e-15, "share %zu", i);
    }
    top_risk_free(&risk);
    printf("ok: shares sum to 1\n");
}

/* ---- by hand ---- */

enum { FEW = 4 };

/* The last row has a cost, the others have a mass. */
static void open_rows(struct top_risk *risk, size_t n, enum top_kind kind, double mass, double k) {
    MUST(top_risk_create(risk, n, &err));
    risk->kind = kind;
    risk->theta = 1;
    risk->cost[n - 1] = 1;
    for (size_t i = 0; i < n - 1; i++) {
        risk->mass[i] = mass;
    }
    top_risk_ready(risk, k);
}

static void open_few(struct top_risk *risk, enum top_kind kind, bool square, double mass,
                     double budget) {
    open_rows(risk, FEW, kind, mass, 2);
    risk->square = square;
    risk->budget = budget;
}

static void check_ready(void) {
    struct top_risk risk;
    open_few(&risk, TOP_MEAN, false, 1.5, 1);
    CHECK(risk.n_all == FEW && risk.total_cost == 1 && risk.total_mass == 4.5, "%zu rows",
          risk.n_all);
    for (size_t i = 0; i < FEW; i++) {
        CHECK(risk.share[i] == (i < 3 ? .75 : 0), "share %zu: %g", i, risk.share[i]);
    }
    top_risk_free(&risk);
    open_few(&risk, TOP_MEAN, false, 3, 1);
    CHECK(risk.share[0] == 1, "a share of %g, of more than all", risk.share[0]);
    top_risk_free(&risk);
    open_few(&risk, TOP_QUANTILE, false, 1, 1);
    CHECK(risk.share[0] == 0, "a share of %g without a mean", risk.share[0]);
    top_risk_free(&risk);
    printf("ok: rows are counted\n");
}

/* Whether the threshold's equation holds, and its gradient sums to 1. */
static void check_quantile(struct top_risk *risk, const double *s, const char *what) {
    double p[FEW], t = top_risk_threshold(risk, s, p), sum = 0, all = 0;
    for (size_t i = 0; i < FEW; i++) {
        sum += risk->mass[i] * top_loss(risk->square, risk->theta * (s[i] - t));
        all += p[i];
    }
    CHECK(fabs(sum - risk->budget) <= 1e-12 * (risk->budget + 1e-3) && fabs(all - 1) <= 1e-15,
          "%s: equation %.15g for %g, gradient %.17g", what, sum, risk->budget, all);
}

static void check_thresholds(void) {
    static const double lowest[FEW] = {-.7, 0, 0, 9}, levels[FEW] = {1, .5, -2, 9};
    for (int square = 0; square < 2; square++) {
        struct top_risk risk;
        double p[FEW] = {1, 1, 1, 1}, zeros[FEW] = {0}, high[FEW];
        open_few(&risk, TOP_QUANTILE, square, 1, 1.8);
        check_quantile(&risk, lowest, "the first row is below the others");
        check_quantile(&risk, levels, "three levels");
        double t = top_risk_threshold(&risk, levels, p);
        for (size_t i = 0; i < FEW; i++) {
            high[i] = levels[i] + 0x1p30;
        }
        double higher = top_risk_threshold(&risk, high, p) - 0x1p30;
        CHECK_CLOSE(higher, t, 0x1p-21, "threshold far from 0");
        risk.theta = 3;
        double none = top_risk_threshold_at_zero(&risk),
               of_zeros = top_risk_threshold(&risk, zeros, p);
        CHECK(fabs(none - of_zeros) <= 1e-15 && none != 0, "of nothing %g, not %g", none, of_zeros);
        risk.theta = 1;
        risk.budget = 1e-40; /* below the rounding error of 1 */
        t = top_risk_threshold(&risk, levels, p);
        CHECK(fabs(t - 2) <= 1e-15 && p[0] == 1 && p[1] == 0 && p[2] == 0 && p[3] == 0,
              "tiny budget: threshold %g, gradient %g %g", t, p[0], p[1]);
        risk.budget = .999 * risk.total_mass;
        t = top_risk_threshold(&risk, levels, p);
        for (size_t i = 0; i < FEW; i++) {
            risk.mass[i] *= 0x1p-40;
        }
        risk.total_mass *= 0x1p-40;
        risk.budget *= 0x1p-40;
        double tiny = top_risk_threshold(&risk, levels, p);
        CHECK_CLOSE(tiny, t, 1e-15, "threshold of tiny masses");
        risk.kind = TOP_NONE;
        p[3] = 5;
        CHECK(top_risk_threshold(&risk, levels, p) == 0 && p[0] == 0 && p[3] == 0,
              "without a threshold its gradient is %g", p[3]);
        CHECK_TRUE(top_risk_threshold_at_zero(&risk) == 0);
        risk.kind = TOP_MEAN;
        CHECK_TRUE(top_risk_threshold_at_zero(&risk) == 0);
        top_risk_free(&risk);
    }
    printf("ok: thresholds of few rows, by hand\n");
}

/* A row far below the others does not change their threshold, and one with a mass far above theirs
 * leaves it as exact as they are. */
static void check_outliers(void) {
    static const double far[] = {1e6, 1e8, 1e13, 1e16, 1e18, 1e100, 1e200, 1e300};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        const double s[FEW] = {1, .5, -far[i], 9}, mass[FEW] = {1, 1, 1e-12, 0};
        double p[FEW];
        struct top_risk risk;
        for (int square = 0; square < 2; square++) {
            for (int light = 0; light < 2; light++) {
                open_few(&risk, TOP_QUANTILE, square, 1, .6);
                memcpy(risk.mass, mass, light ? sizeof mass : 0);
                check_quantile(&risk, s, "an outlier");
                CHECK(top_risk_threshold(&risk, s, p) < 1.5 && p[2] == 0, "outlier %g", far[i]);
                top_risk_free(&risk);
            }
        }
        open_few(&risk, TOP_MEAN, false, 1, 0);
        double mean = top_risk_threshold(&risk, s, p);
        CHECK(mean == .75 && p[2] == 0, "mean with an outlier %g: %.17g", far[i], mean);
        top_risk_free(&risk);
    }
    /* the mean of three rows, whose shares of a third are rounded, and of .1 thrice */
    for (int tenths = 0; tenths < 2; tenths++) {
        enum { ROWS = 5 };
        const double s[ROWS] = {.25, 1, -1e300, .5, 9}, mass = tenths ? .1 : 1;
        double p[ROWS];
        struct top_risk risk;
        open_rows(&risk, ROWS, TOP_MEAN, mass, 3 * mass);
        double mean = top_risk_threshold(&risk, s, p);
        CHECK(fabs(mean - 1.75 / 3) <= 1e-15 && p[2] == 0, "mean of three: %.17g", mean);
        top_risk_free(&risk);
    }
    /* a heavy row just below the root for the first one, and just above */
    for (int above = 0; above < 2; above++) {
        const double s[FEW] = {1, .5, 0, 9}, p_heavy = above ? 1 - 1e-12 : 0;
        double p[FEW], budget = above ? .5 + 0x1p-20 : .5 - 0x1p-20;
        struct top_risk risk;
        open_few(&risk, TOP_QUANTILE, false, 1, budget);
        risk.mass[1] = 1e12;
        double t = top_risk_threshold(&risk, s, p), wanted = above ? 1.5 : 2 - budget;
        CHECK(fabs(t - wanted) <= 1e-15 && fabs(p[1] - p_heavy) <= 1e-15,
              "a heavy row: threshold %.17g, not %.17g, gradient %.17g", t, wanted, p[1]);
        top_risk_free(&risk);
    }
    printf("ok: outliers leave the threshold to the others\n");
}

/* The dual's linear part and squares by their definition. */
static void check_dual(void) {
    struct random random = sample_random(13, 0);
    for (int round = 0; round < 96; round++) {
        struct top_risk risk;
        enum top_kind kind = (enum top_kind)(round % 3);
        bool square = round & 1, sole = round & 8;
        double alpha[FEW] = {0}, beta[FEW] = {0}, C = .25 + random_unit(&random);
        open_few(&risk, kind, square, .75, 1.25);
        risk.theta = .5 + random_unit(&random);
        risk.cost[1] = 2.5;
        alpha[1] = random_unit(&random);
        alpha[3] = random_unit(&random);
        for (size_t i = 0; i < (sole ? 1 : 3) && !(round & 16); i++) {
            risk.mass[i] = .5 + random_unit(&random);
            beta[i] = random_unit(&random) * (round & 4 ? 1e-200 : 3);
        }
        double value = 0, betas = 0, largest = 0, squares = 0;
        for (size_t i = 0; i < FEW; i++) {
            value += alpha[i];
            value -= square && risk.cost[i] > 0 ? alpha[i] * alpha[i] / (4 * C * risk.cost[i]) : 0;
            betas += beta[i];
            largest = risk.mass[i] > 0 ? fmax(largest, beta[i] / risk.mass[i]) : largest;
            double root = risk.mass[i] > 0 ? 1e200 * beta[i] / sqrt(risk.mass[i]) : 0;
            squares = hypot(squares, root);
        }
        squares *= 1e-200; /* the root of sum beta^2 / mass */
        double part = kind == TOP_MEAN   ? 0
                      : kind == TOP_NONE ? betas - (square ? squares * squares / (4 * C) : 0)
                      : square           ? (betas - sqrt(risk.budget) * squares) / risk.theta
                                         : (betas - risk.budget * largest) / risk.theta;
        double found = top_risk_dual(&risk, C, alpha, beta);
        CHECK(fabs(found - value - part) <= 1e-14 * (1 + betas), "kind %d: %.15g, not %.15g",
              (int)kind, found, value + part);
        memset(alpha, 0, sizeof alpha); /* beta's part alone, at any size */
        found = top_risk_dual(&risk, C, alpha, beta);
        CHECK_CLOSE(found, part, 1e-13 * betas, "kind %d: beta's part", (int)kind);
        top_risk_free(&risk);
    }
    printf("ok: the dual is that of its definition\n");
}

/* The exact multiple is where the derivative of the objective changes its sign, also if the
 * derivative is steep on one side only, at costs at which the classes are separable. */
static void check_multiple(void) {
    struct random random = sample_random(14, 0);
    for (int round = 0; round < 120; round++) {
        struct top_risk risk;
        enum { N = 30 };
        double s[N], g[N], scaled[N], work[2 * N], primal, offset, norm = 2;
        bool steep = round >= 60;
        double cost = steep ? 1e9 : 2;
        fill_risk(&risk, (enum top_kind)(round % 3), !steep, &random, N, false, 3);
        for (size_t i = 0; i < N; i++) {
            s[i] = 2 * random_unit(&random) - (i < N / 3 ? .5 : 1.5);
            s[i] += !steep ? 0 : i < N / 3 ? 1 : -1;
        }
        double x = top_risk_multiple(&risk, cost, norm, s, TOP_MULTIPLE_EXACT, work, &primal);
        double low = 0, high = 1e4;
        for (int k = 0; k < 200; k++) {
            double y = .5 * (low + high), slope = y * norm;
            for (size_t i = 0; i < N; i++) {
                scaled[i] = y * s[i];
            }
            top_risk_cut(&risk, scaled, g, &offset);
            for (size_t i = 0; i < N; i++) {
                slope += cost * g[i] * s[i];
            }
            *(slope > 0 ? &high : &low) = y;
        }
        CHECK(high < 1e-5 || fabs(x - high) <= 1e-7 * high, "multiple %.12g, not %.12g", x, high);
        top_risk_free(&risk);
    }
    printf("ok: the best multiple is where the slope is 0\n");
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    check_risk();
    check_shares();
    check_ready();
    check_thresholds();
    check_outliers();
    check_dual();
    check_multiple();
    return 0;
}
