/* Ranking measures against their definitions, pair by pair and order by order, and against values
 * worked by hand. */
#include "families/rank/metrics.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static uint32_t below(uint64_t *state, uint32_t n) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % n);
}

static bool same(double a, double b) {
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
}

/* --- the definitions, plainly --- */

static int sign(double x) {
    return (x > 0) - (x < 0);
}

static double plain_pairwise(size_t n, const double *t, const double *s) {
    double right = 0, pairs = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            if (t[i] > t[j]) {
                pairs++;
                right += s[i] > s[j] ? 1 : s[i] == s[j] ? 0.5 : 0;
            }
        }
    }
    return pairs > 0 ? right / pairs : NAN;
}

static double plain_kendall(size_t n, const double *t, const double *s) {
    double sum = 0, in_t = 0, in_s = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            sum += sign(t[i] - t[j]) * sign(s[i] - s[j]);
            in_t += t[i] != t[j];
            in_s += s[i] != s[j];
        }
    }
    return in_t == 0 ? NAN : in_s == 0 ? 0 : sum / sqrt(in_t * in_s);
}

static double plain_rank(size_t n, const double *x, size_t i) {
    double rank = 0.5;
    for (size_t j = 0; j < n; j++) {
        rank += x[j] < x[i] ? 1 : x[j] == x[i] ? 0.5 : 0;
    }
    return rank;
}

static double plain_spearman(size_t n, const double *t, const double *s) {
    double xy = 0, xx = 0, yy = 0, mean = ((double)n + 1) / 2;
    for (size_t i = 0; i < n; i++) {
        double x = plain_rank(n, t, i) - mean, y = plain_rank(n, s, i) - mean;
        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    return xx == 0 ? NAN : yy == 0 ? 0 : xy / sqrt(xx * yy);
}

static double worth(double t, bool linear) {
    return t <= 0 ? 0 : linear ? t : pow(2, t) - 1;
}

static double ordered_dcg(size_t n, const double *t, const size_t *order, size_t k, bool linear) {
    double sum = 0;
    for (size_t p = 0; p < n && p < k; p++) {
        sum += worth(t[order[p]], linear) / log2((double)p + 2);
    }
    return sum;
}

/* The user goes down the places until a row satisfies. */
static double ordered_err(size_t n, const double *t, const size_t *order, size_t k, double most) {
    double sum = 0, goes_on = 1;
    for (size_t p = 0; p < n && p < k; p++) {
        double satisfies = worth(fmin(t[order[p]], most), false) / pow(2, most);
        sum += goes_on * satisfies / ((double)p + 1);
        goes_on *= 1 - satisfies;
    }
    return sum;
}

/* Sums map, mrr and measures at k over all orders of the n rows that agree with the scores, by
 * going through every permutation (n up to 7). Also the best DCG, the maximum over permutations. */
struct expectation {
    size_t k;
    double threshold, most;
    bool linear;
    double orders, map, mrr, dcg, best, precision, err;
};

static void visit(size_t n, const double *t, const double *s, size_t *order, size_t depth,
                  struct expectation *e) {
    if (depth < n) {
        for (size_t i = depth; i < n; i++) {
            size_t swap = order[depth];
            order[depth] = order[i];
            order[i] = swap;
            visit(n, t, s, order, depth + 1, e);
            order[i] = order[depth];
            order[depth] = swap;
        }
        return;
    }
    double dcg = ordered_dcg(n, t, order, e->k, e->linear);
    e->best = fmax(e->best, dcg);
    for (size_t p = 1; p < n; p++) {
        if (s[order[p]] > s[order[p - 1]]) {
            return;
        }
    }
    double found = 0, precisions = 0, reciprocal = 0;
    for (size_t p = 0; p < n; p++) {
        if (t[order[p]] >= e->threshold) {
            found++;
            e->precision += p < e->k ? 1 / (double)e->k : 0;
            precisions += found / ((double)p + 1);
            reciprocal = found == 1 ? 1 / ((double)p + 1) : reciprocal;
        }
    }
    e->orders++;
    e->map += found > 0 ? precisions / found : NAN;
    e->mrr += found > 0 ? reciprocal : NAN;
    e->dcg += dcg;
    e->err += ordered_err(n, t, order, e->k, e->most);
}

/* --- checks --- */

static struct metrics_settings usual(size_t min_group) {
    return (struct metrics_settings){
        .min_group = min_group, .threshold = NAN, .empty = NAN, .max_grade = 4};
}

/* With ndcg at[0..n_at). */
static void measure(struct metrics *m, size_t n, const double *t, const double *s,
                    const uint64_t *query, const uint32_t *at, size_t n_at, size_t min_group) {
    struct error err;
    struct metrics_cut cut[4] = {{0}};
    struct metrics_settings settings = usual(min_group);
    for (size_t i = 0; i < n_at; i++) {
        cut[i] = (struct metrics_cut){METRICS_NDCG, at[i]};
    }
    settings.cut = cut;
    settings.n_cuts = n_at;
    CHECK(metrics_rank(m, n, t, s, query, &settings, &err) == 0, "%s", err.text);
}

static void check_definitions(void) {
    uint64_t state = 7;
    double t[MOST], s[MOST];
    for (int set = 0; set < 3000; set++) {
        size_t n = 1 + below(&state, MOST);
        uint32_t levels_t = 1 + below(&state, 12), levels_s = 1 + below(&state, 40);
        for (size_t i = 0; i < n; i++) {
            t[i] = (double)below(&state, levels_t) - 3;
            s[i] = (double)below(&state, levels_s) / 7 - 1;
        }
        struct metrics m;
        measure(&m, n, t, s, NULL, NULL, 0, 1);
        double want[3] = {plain_pairwise(n, t, s), plain_kendall(n, t, s), plain_spearman(n, t, s)};
        for (size_t k = 0; k < 3; k++) {
            CHECK(same(m.mean[k], want[k]), "set %d: measure %zu %.17g, by definition %.17g", set,
                  k, m.mean[k], want[k]);
        }
        metrics_free(&m);
    }
    printf("ok: pairwise accuracy, tau-b and Spearman by definition\n");
}

static void check_orders(void) {
    uint64_t state = 11;
    double t[7], s[7];
    for (int set = 0; set < 300; set++) {
        size_t n = 1 + below(&state, 7);
        uint32_t levels_s = 1 + below(&state, 5), k = 1 + below(&state, 8);
        for (size_t i = 0; i < n; i++) {
            t[i] = (double)below(&state, 5) - set % 2; /* -1 has no gain */
            s[i] = below(&state, levels_s);
        }
        size_t order[7] = {0, 1, 2, 3, 4, 5, 6};
        struct expectation e = {.k = k,
                                .threshold = set % 3 ? 1 : 2,
                                .most = 1 + below(&state, 5),
                                .linear = set % 4 > 1};
        visit(n, t, s, order, 0, &e);
        const struct metrics_cut cut[3] = {
            {METRICS_NDCG, k}, {METRICS_PRECISION, k}, {METRICS_ERR, k}};
        struct metrics_settings settings = usual(1);
        settings.cut = cut;
        settings.n_cuts = 3;
        settings.linear_gain = e.linear;
        settings.threshold = set % 3 ? NAN : 2;
        settings.max_grade = e.most;
        struct metrics m;
        struct error err;
        CHECK(metrics_rank(&m, n, t, s, NULL, &settings, &err) == 0, "%s", err.text);
        bool gains = e.best > 0, relevant = !isnan(e.map);
        double want[5] = {e.map / e.orders, e.mrr / e.orders,
                          gains ? e.dcg / e.orders / e.best : NAN,
                          relevant ? e.precision / e.orders : NAN, gains ? e.err / e.orders : NAN};
        for (size_t i = 0; i < 5; i++) {
            CHECK(same(m.mean[METRICS_MAP + i], want[i]),
                  "set %d: measure %zu (at %u) %.17g, over all orders %.17g", set, METRICS_MAP + i,
                  k, m.mean[METRICS_MAP + i], want[i]);
        }
        metrics_free(&m);
    }
    printf("ok: MAP, MRR, NDCG, precision and ERR are expectations over the orders of ties\n");
}

/* Queries without a relevant row, and what is relevant. */
static void check_empty(void) {
    /* query 1: grades 0 0, query 2: 0 1, ranked right */
    const uint64_t q[4] = {1, 1, 2, 2};
    const double t[4] = {0, 0, 0, 1}, s[4] = {1, 2, 1, 2};
    const struct metrics_cut cut[3] = {{METRICS_NDCG, 1}, {METRICS_PRECISION, 1}, {METRICS_ERR, 1}};
    const double of_second[5] = {1, 1, 1, 1, 0.5}, empty[3] = {NAN, 0, 1};
    struct metrics_settings settings = usual(1);
    settings.cut = cut;
    settings.n_cuts = 3;
    settings.max_grade = 1;
    struct metrics m;
    struct error err;
    for (size_t way = 0; way < 3; way++) {
        settings.empty = empty[way];
        CHECK(metrics_rank(&m, 4, t, s, q, &settings, &err) == 0, "%s", err.text);
        for (size_t i = 0; i < 5; i++) {
            double want = way == 0 ? of_second[i] : (of_second[i] + empty[way]) / 2;
            CHECK(same(m.mean[METRICS_MAP + i], want) &&
                      m.n_counted[METRICS_MAP + i] == (way == 0 ? 1 : 2),
                  "empty %g: measure %zu is %.17g of %zu, not %.17g", empty[way], METRICS_MAP + i,
                  m.mean[METRICS_MAP + i], m.n_counted[METRICS_MAP + i], want);
        }
        CHECK(m.n_relevant == 1, "%zu groups with a relevant row", m.n_relevant);
        metrics_free(&m);
    }
    /* with a threshold what is no grade has relevant rows too */
    const double times[4] = {0.5, 2.5, 1.5, 3.5};
    settings.empty = NAN;
    for (int given = 0; given < 2; given++) {
        settings.threshold = given ? 2.5 : NAN;
        CHECK(metrics_rank(&m, 4, times, s, q, &settings, &err) == 0, "%s", err.text);
        for (size_t i = 0; i < 5; i++) {
            bool of_grades = i == 2 || i == 4;
            CHECK(same(m.mean[METRICS_MAP + i], given && !of_grades ? 1 : NAN),
                  "times, %d: measure %zu is %g", given, METRICS_MAP + i, m.mean[METRICS_MAP + i]);
        }
        CHECK(m.n_relevant == (given ? 2 : 0), "%zu groups with a relevant row", m.n_relevant);
        metrics_free(&m);
    }
    printf("ok: queries without relevant rows, and thresholds\n");
}

/* The tie of all of many rows: ERR is linear in rows, and a thousand places are no matter. */
static void check_long_tie(void) {
    enum { N = 50000 };
    double *t = malloc(N * sizeof *t), *s = calloc(N, sizeof *s);
    CHECK(t && s, "out of memory");
    for (size_t i = 0; i < N; i++) {
        t[i] = (double)(i % 2);
    }
    const struct metrics_cut cut = {METRICS_ERR, METRICS_MOST_ERR};
    struct metrics_settings settings = usual(1);
    settings.cut = &cut;
    settings.n_cuts = 1;
    settings.max_grade = 1;
    struct metrics m;
    struct error err;
    CHECK(metrics_rank(&m, N, t, s, NULL, &settings, &err) == 0, "%s", err.text);
    /* places nearly independent, satisfied with probability 1/4: sum of (3/4)^(j-1) / (4 j) */
    double want = log(4) / 3;
    CHECK(fabs(m.mean[METRICS_CUTS] - want) < 1e-4, "%.17g, not about %.17g", m.mean[METRICS_CUTS],
          want);
    metrics_free(&m);
    free(t);
    free(s);
    printf("ok: ERR over a long tie\n");
}

static void check_hand(void) {
    struct metrics m;
    const uint32_t at[3] = {1, 3, 100};
    /* no ties, one swap of neighbours: 5 of 6 pairs; tau 4/6; rho 1 - 6*2/60 */
    double t[4] = {1, 2, 3, 4}, s[4] = {10, 30, 20, 40};
    measure(&m, 4, t, s, NULL, NULL, 0, 1);
    CHECK(same(m.mean[METRICS_PAIRWISE], 5.0 / 6), "%.17g", m.mean[METRICS_PAIRWISE]);
    CHECK(same(m.mean[METRICS_KENDALL], 2.0 / 3), "%.17g", m.mean[METRICS_KENDALL]);
    CHECK(same(m.mean[METRICS_SPEARMAN], 0.8), "%.17g", m.mean[METRICS_SPEARMAN]);
    metrics_free(&m);
    /* t = 1 2 2 3, s = 1 2 3 3: C = 4, D = 0, one tie in each alone: tau-b = 4/5 */
    double t2[4] = {1, 2, 2, 3}, s2[4] = {1, 2, 3, 3};
    measure(&m, 4, t2, s2, NULL, NULL, 0, 1);
    CHECK(same(m.mean[METRICS_KENDALL], 0.8), "%.17g", m.mean[METRICS_KENDALL]);
    CHECK(same(m.mean[METRICS_PAIRWISE], 4.5 / 5), "%.17g", m.mean[METRICS_PAIRWISE]);
    CHECK(m.group[0].n_pairs == 5, "%g pairs", m.group[0].n_pairs);
    metrics_free(&m);
    /* places by score: grades 2 0 1; DCG@3 = 3/1 + 0 + 1/2, best 3 + 1/log2(3) */
    double t3[3] = {0, 1, 2}, s3[3] = {2, 1, 3};
    measure(&m, 3, t3, s3, NULL, at, 3, 1);
    double best = 3 + 1 / log2(3);
    CHECK(m.mean[METRICS_CUTS] == 1, "ndcg@1 %.17g", m.mean[METRICS_CUTS]);
    CHECK(same(m.mean[METRICS_CUTS + 1], 3.5 / best), "ndcg@3 %.17g", m.mean[METRICS_CUTS + 1]);
    CHECK(same(m.mean[METRICS_CUTS + 2], 3.5 / best), "ndcg@100 %.17g", m.mean[METRICS_CUTS + 2]);
    CHECK(same(m.mean[METRICS_MAP], (1 + 2.0 / 3) / 2), "map %.17g", m.mean[METRICS_MAP]);
    CHECK(m.mean[METRICS_MRR] == 1, "mrr %.17g", m.mean[METRICS_MRR]);
    metrics_free(&m);
    printf("ok: values worked by hand\n");
}

static void check_groups(void) {
    struct metrics m;
    const uint32_t at = 10;
    /* unsorted queries: 9 (4 rows, perfect), 2 (4 rows, reversed), 5 (one target only), 7 (small),
     * and a row without target */
    uint64_t q[14] = {9, 2, 9, 2, 5, 7, 9, 2, 9, 2, 5, 5, 7, 5};
    double t[14] = {1, 1, 2, 2, 3, 1, 3, 3, 4, 4, 3, 3, 2, NAN};
    double s[14] = {1, 4, 2, 3, 1, 1, 3, 2, 4, 1, 2, 3, 2, 9};
    measure(&m, 14, t, s, q, &at, 1, 3);
    CHECK(m.n_groups == 4 && m.n_small == 1, "%zu groups, %zu small", m.n_groups, m.n_small);
    static const uint64_t number[4] = {2, 5, 7, 9};
    static const size_t rows[4] = {4, 3, 2, 4};
    static const double pairs[4] = {6, 0, 1, 6}, accuracy[4] = {0, NAN, 1, 1};
    for (size_t g = 0; g < 4; g++) {
        CHECK(m.group[g].query == number[g] && m.group[g].n_rows == rows[g] &&
                  m.group[g].n_pairs == pairs[g],
              "group %zu", g);
        CHECK(same(m.value[g * m.n_measures], accuracy[g]), "group %zu: accuracy %g", g,
              m.value[g * m.n_measures]);
    }
    CHECK(m.mean[METRICS_PAIRWISE] == 0.5 && m.n_counted[METRICS_PAIRWISE] == 2, "mean %g of %zu",
          m.mean[METRICS_PAIRWISE], m.n_counted[METRICS_PAIRWISE]);
    CHECK(m.mean[METRICS_KENDALL] == 0 && m.n_counted[METRICS_KENDALL] == 2, "tau %g of %zu",
          m.mean[METRICS_KENDALL], m.n_counted[METRICS_KENDALL]);
    CHECK(m.mean[METRICS_MAP] == 1 && m.n_counted[METRICS_MAP] == 3, "map %g of %zu",
          m.mean[METRICS_MAP], m.n_counted[METRICS_MAP]);
    metrics_free(&m);
    measure(&m, 14, t, s, q, &at, 1, 100);
    CHECK(isnan(m.mean[METRICS_PAIRWISE]) && m.n_counted[METRICS_PAIRWISE] == 0 && m.n_small == 4,
          "means of no group");
    metrics_free(&m);
    printf("ok: groups are told apart, small ones and those without value are left out\n");
}

static void check_unsuitable(void) {
    struct metrics m;
    struct error err;
    const uint32_t at = 5;
    double t[3] = {1, 2, 3}, s[3] = {1, 2, 3};
    static const double ungraded[3] = {-0.5, 1.5, 61};
    for (int i = 0; i < 3; i++) {
        t[0] = ungraded[i];
        measure(&m, 3, t, s, NULL, &at, 1, 1);
        CHECK(isnan(m.mean[METRICS_CUTS]) && m.n_counted[METRICS_CUTS] == 0, "target %g: ndcg %g",
              t[0], m.mean[METRICS_CUTS]);
        CHECK(isnan(m.mean[METRICS_MAP]) && isnan(m.mean[METRICS_MRR]), "target %g: map %g", t[0],
              m.mean[METRICS_MAP]);
        CHECK(!isnan(m.mean[METRICS_PAIRWISE]), "target %g: no accuracy", t[0]);
        metrics_free(&m);
    }
    t[0] = 60;
    measure(&m, 3, t, s, NULL, &at, 1, 1);
    CHECK(isfinite(m.mean[METRICS_CUTS]), "target 60: ndcg %g", m.mean[METRICS_CUTS]);
    metrics_free(&m);
    double none[3] = {0, 0, 0};
    measure(&m, 3, none, s, NULL, &at, 1, 1);
    for (size_t k = 0; k < m.n_measures; k++) {
        CHECK(isnan(m.mean[k]), "all targets 0: measure %zu is %g", k, m.mean[k]);
    }
    metrics_free(&m);
    struct metrics_settings settings = usual(1);
    double bad[3] = {1, NAN, 2}, missing[3] = {NAN, NAN, NAN};
    CHECK(metrics_rank(&m, 3, t, bad, NULL, &settings, &err) == -1, "a NaN score is accepted");
    bad[1] = INFINITY;
    CHECK(metrics_rank(&m, 3, t, bad, NULL, &settings, &err) == -1, "inf score is accepted");
    CHECK(metrics_rank(&m, 3, missing, s, NULL, &settings, &err) == -1, "no target is accepted");
    CHECK(metrics_rank(&m, 0, t, s, NULL, &settings, &err) == -1, "no row is accepted");
    printf("ok: targets that are no grades, scores that are no numbers\n");
}

static void check_many_rows(void) {
    /* 2^20 rows, targets 0..2^20-1 in a scattered order, scores reversed at the top half: pairs
     * within the upper half are wrong, all others right. An n^2 count would take minutes. */
    size_t n = (size_t)1 << 20;
    double *t = malloc(n * sizeof *t), *s = malloc(n * sizeof *s);
    CHECK(t && s, "out of memory");
    for (size_t i = 0; i < n; i++) {
        size_t x = (i * 40503 + 7) % n;
        t[i] = (double)x;
        s[i] = x < n / 2 ? (double)x : (double)(n / 2 + n - x);
    }
    struct metrics m;
    measure(&m, n, t, s, NULL, NULL, 0, 1);
    double all = 0.5 * (double)n * ((double)n - 1);
    double wrong = 0.5 * (double)(n / 2) * ((double)(n / 2) - 1);
    CHECK(m.group[0].n_pairs == all, "%.17g pairs", m.group[0].n_pairs);
    CHECK(same(m.mean[METRICS_PAIRWISE], 1 - wrong / all), "%.17g", m.mean[METRICS_PAIRWISE]);
    CHECK(same(m.mean[METRICS_KENDALL], 1 - 2 * wrong / all), "%.17g", m.mean[METRICS_KENDALL]);
    metrics_free(&m);
    free(t);
    free(s);
    printf("ok: a million rows in one group\n");
}

static void check_pairs(void) {
    uint64_t state = 3;
    enum { N = 23 };
    double t[N], s[N], margin[N * N];
    for (size_t i = 0; i < N; i++) {
        t[i] = below(&state, 6);
        s[i] = below(&state, 9);
    }
    double right = 0, pairs = 0;
    for (size_t first = 0; first < N; first += 5) { /* row blocks of 5, the last of 3 */
        size_t rows = N - first < 5 ? N - first : 5;
        for (size_t i = 0; i < rows; i++) {
            for (size_t j = 0; j < N; j++) {
                margin[i * N + j] = s[first + i] - s[j];
            }
        }
        metrics_pairs(rows, t + first, N, t, margin, &right, &pairs);
    }
    CHECK(same(right / pairs, plain_pairwise(N, t, s)), "%.17g for %.17g", right / pairs,
          plain_pairwise(N, t, s));
    printf("ok: accuracy from margins is that from scores\n");
}

int main(void) {
    check_definitions();
    check_orders();
    check_empty();
    check_long_tie();
    check_hand();
    check_groups();
    check_unsuitable();
    check_many_rows();
    check_pairs();
    return 0;
}
