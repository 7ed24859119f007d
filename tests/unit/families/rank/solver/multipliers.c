/* The losses smoothed about a centre (families/rank/solver/multipliers.h) are as defined, pair
 * by pair, with duplicate rows in one query and in several: values, gradients, dual points, and the
 * Laplacian of the smoothed region. */
#include "families/rank/solver/multipliers.h"

#include "tests/unit/families/rank/solver/fixture.h"

enum { N = 60, FEATURES = 2, BASES = 25 };

static const double MU = 0.7, COST = 3;

static double clip(double a) {
    return fmin(fmax(a, 0), 1);
}

/* a of a pair at scores s; s_centre NULL: centre 0. */
static double multiplier(bool squared, const double *s_centre, const double *s, double mu, size_t i,
                         size_t j) {
    double centre = s_centre ? multiplier(squared, NULL, s_centre, MU, i, j) : 0;
    double u = 1 - s[i] + s[j];
    return squared ? fmax((u + mu * centre) / (mu + 0.5), 0) : clip(centre + u / mu);
}

struct expected {
    double value, loss, total;
    double g[N], product[N];
};

/* By the definition, with gradients and products of duplicate rows summed at the first. */
static struct expected expect(const struct reference_pairs *pairs, bool squared,
                              const size_t *first, const double *s_centre, const double *s,
                              double mu) {
    struct expected all = {0};
    for (size_t p = 0; p < pairs->m; p++) {
        size_t i = pairs->i[p], j = pairs->j[p];
        double u = 1 - s[i] + s[j], a = multiplier(squared, s_centre, s, mu, i, j);
        double centre = s_centre ? multiplier(squared, NULL, s_centre, MU, i, j) : 0;
        double half = mu / 2 * (a - centre) * (a - centre), square = squared ? a * a / 4 : 0;
        bool same = first[i] == first[j], curved = a > 0 && (squared || a < 1) && !same;
        all.value += pairs->cost[p] * (same ? 1 : a * u - square - half);
        all.loss += pairs->cost[p] * (squared ? fmax(u, 0) * fmax(u, 0) : fmax(u, 0));
        all.total += pairs->cost[p] * (same ? 1 : a - square);
        all.g[first[i]] -= pairs->cost[p] * (same ? 0 : a);
        all.g[first[j]] += pairs->cost[p] * (same ? 0 : a);
        all.product[first[i]] += curved ? pairs->cost[p] * (s[i] - s[j]) : 0;
        all.product[first[j]] -= curved ? pairs->cost[p] * (s[i] - s[j]) : 0;
    }
    return all;
}

static void compare(struct rank_multipliers *multipliers, const struct expected *wanted,
                    const double *s, double mu) {
    double g[N], product[N], sum = 0;
    struct rank_centred_loss found = rank_multipliers_evaluate(multipliers, mu, s, g);
    CHECK_NEAR(found.value, wanted->value, 1e-12, "smoothed loss");
    CHECK_NEAR(found.loss, wanted->loss, 1e-12, "loss");
    CHECK_NEAR(found.total, wanted->total, 1e-12, "total");
    rank_multipliers_set_region(multipliers, mu, s);
    rank_multipliers_apply(multipliers, s, product);
    for (size_t i = 0; i < N; i++) {
        CHECK_CLOSE(g[i], wanted->g[i], 1e-10, "gradient");
        CHECK_CLOSE(product[i], wanted->product[i], 1e-10, "product with the Laplacian");
    }
    rank_multipliers_store(multipliers, mu, COST, s);
    for (size_t j = 0; j < multipliers->listed->n_pairs; j++) {
        double cap = COST * multipliers->listed->weight[j], alpha = multipliers->alpha[j];
        CHECK_TRUE(alpha >= 0 && (multipliers->squared || alpha <= cap));
        sum += alpha - (multipliers->squared ? alpha * alpha / (4 * cap) : 0);
    }
    CHECK_NEAR(sum, COST * wanted->total, 1e-12, "linear part of the dual");
}

/* Scores, equal for duplicate rows. */
static void draw_scores(const size_t *first, uint64_t *state, double *s) {
    for (size_t i = 0; i < N; i++) {
        s[i] = first[i] == i ? 3 * uniform(state) : s[first[i]];
    }
}

static bool equal_rows(const struct reference_data *rows, size_t i, size_t j) {
    const double *x = rows->x + i * rows->width, *z = rows->x + j * rows->width;
    return memcmp(x, z, rows->width * sizeof *x) == 0;
}

int main(void) {
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct reference_data rows = random_rows(N, FEATURES, 1 + seed % 4, seed % 3 ? 1 : 0, seed);
        struct rank_preferences all = all_pairs();
        bool squared = seed % 5 < 2;
        size_t first[N];
        double s[3][N];
        uint64_t state = seed;
        for (size_t i = BASES; i < N; i++) {
            memcpy(rows.x + i * rows.width, rows.x + i % BASES * rows.width,
                   rows.width * sizeof *rows.x);
        }
        for (size_t i = 0; i < N; i++) {
            for (first[i] = 0; !equal_rows(&rows, first[i], i); first[i]++) {
            }
        }
        struct data data = rows_to_data(&rows, seed % 2 ? SPARSE : DENSE);
        struct reference_pairs wanted = list_pairs(&rows, &all, 1);
        struct rank_pairs pairs = solver_pairs(&data, &all);
        const struct problem problem = {.data = &data, .n = N};
        const struct score_map map = {.n = N, .dimension = N};
        struct rank_listed listed;
        struct rank_multipliers multipliers;
        MUST(rank_listed_create(&listed, &problem, &map, &pairs, NULL, &err));
        MUST(rank_multipliers_create(&multipliers, &listed, squared, MU, &err));
        for (size_t k = 0; k < 3; k++) {
            draw_scores(first, &state, s[k]);
        }
        struct expected at = expect(&wanted, squared, first, NULL, s[0], MU);
        compare(&multipliers, &at, s[0], MU);
        if (squared) {
            at = expect(&wanted, squared, first, NULL, s[1], 0);
            compare(&multipliers, &at, s[1], 0);
        }
        rank_multipliers_recentre(&multipliers, MU, s[1]);
        at = expect(&wanted, squared, first, s[1], s[2], MU / 3);
        compare(&multipliers, &at, s[2], MU / 3);
        rank_multipliers_free(&multipliers);
        rank_listed_free(&listed);
        rank_pairs_free(&pairs);
        reference_pairs_free(&wanted);
        data_free(&data);
    }
    puts("ok: smoothed losses, their gradients, Laplacians and dual points are as defined");
    return 0;
}
