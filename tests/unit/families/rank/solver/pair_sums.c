/* The sums over pairs of the solvers of rank, compared with listed pairs, and the gradient of the
 * squared hinge at a fit. */
#define _GNU_SOURCE
#include "families/rank/solver/extended_sums.h"
#include "families/rank/solver/risk.h"
#include "tests/unit/families/rank/solver/fixture.h"

#include <float.h>

/* The risks at scores s (n), and their results, compared with the listed pairs. */
static void check_risk(enum rank_risk_type type, double mu, struct rank_pairs *sums,
                       const struct reference_pairs *pairs, const double *s, size_t n) {
    struct rank_risk risk;
    MUST(rank_risk_create(&risk, sums, type, &err));
    double *g = check_numbers(n), *due = check_numbers(n);
    double *follow = check_numbers(n), *band = check_numbers(n);
    double value = 0, truth = 0, linear = 0, active = 0, all = 0, offset, dot = 0, most = 0;
    risk.mu = mu;
    for (size_t p = 0; p < pairs->m; p++) {
        size_t i = pairs->i[p], j = pairs->j[p];
        double c = pairs->cost[p], u = 1 - (s[i] - s[j]), slope = 0, in_band = 0;
        all += c;
        if (u > 0) {
            bool huber = type == RANK_RISK_HUBER, square = type == RANK_RISK_SQUARE;
            slope = square ? 2 * u : huber ? fmin(u / mu, 1) : 1;
            value += c * (square ? u * u : !huber ? u : u < mu ? u * u / (2 * mu) : u - mu / 2);
            truth += c * (square ? u * u : u);
            linear += c * (square ? 2 * u - u * u : slope);
            in_band = u <= 2 * mu ? u / mu : 1;
            active += c;
        }
        due[i] -= c * slope;
        due[j] += c * slope;
        band[i] -= c * in_band;
        band[j] += c * in_band;
    }
    double found = rank_risk_evaluate(&risk, s, g, &offset);
    for (size_t i = 0; i < n; i++) {
        CHECK_CLOSE(g[i], due[i], 1e-9 * (1 + all), "type %d: slope", (int)type);
        dot += due[i] * s[i];
        most = fmax(most, fabs(s[i]));
    }
    CHECK_CLOSE(risk.total, all, 1e-9 * (1 + all), "pairs");
    CHECK_CLOSE(found, value, 1e-9 * (1 + value), "type %d: risk", (int)type);
    CHECK_CLOSE(offset, value - dot, 1e-8 * (1 + value), "offset");
    CHECK_CLOSE(risk.true_value, truth, 1e-9 * (1 + truth), "loss");
    CHECK_CLOSE(risk.dual_offset, linear, 1e-8 * (1 + truth), "linear part");
    /* rounding-error bound: by the number of terms of the sums and the size of the terms */
    double size = 1 + 2 * most;
    double terms = (double)(sums->max_rows + sums->n_groups) + (double)sums->n / 32 + 64;
    double unit = terms * DBL_EPSILON * size;
    const struct risk_rounding paid =
        type == RANK_RISK_HINGE
            ? (struct risk_rounding){((double)sums->n_groups + 4) * DBL_EPSILON * active,
                                     4 * DBL_EPSILON, 1}
        : type == RANK_RISK_SQUARE
            ? (struct risk_rounding){12 * unit * size * active, 4 * unit, 2 * size}
            : (struct risk_rounding){4 * unit / mu * active, 4 * unit / mu, 1 + 4 * unit / mu};
    struct risk risk_functions = rank_risk_functions(&risk, true);
    struct risk_rounding rounding = risk_functions.rounding(risk_functions.context);
    CHECK_NEAR(rounding.offset, paid.offset, 1e-9, "type %d: for rounding", (int)type);
    CHECK_NEAR(rounding.gradient, paid.gradient, 1e-9, "type %d: for rounding", (int)type);
    CHECK_NEAR(rounding.size, paid.size, 1e-12, "type %d: for rounding", (int)type);
    void *record;
    CHECK(risk_functions.n == n &&
              risk_functions.record(risk_functions.context, &record, &err) == 0,
          "%s", err.text);
    CHECK(memcmp(record, s, n * sizeof *s) == 0, "a record that is not the scores");
    free(record);
    CHECK(!rank_risk_functions(&risk, false).record, "records, without a request");
    rank_risk_model_gradient(&risk, s, 2 * mu, follow);
    for (size_t i = 0; i < n; i++) {
        CHECK_CLOSE(follow[i], band[i], 1e-9 * (1 + all), "slope of a wider band");
    }
    rank_risk_free(&risk);
}

/* The sums over pairs of the solvers, compared with listed pairs: the hinge, its subgradient, the
 * squared hinge, and its gradient by central differences of the definition. */
static void check_sums(void) {
    static const uint64_t query[] = {3, 5};
    static const double weight[] = {2.5, .25};
    struct reference_data rows = random_rows(41, 2, 3, 1, 15);
    for (int kind = 0; kind < 32; kind++) {
        struct rank_preferences preferences = all_pairs();
        preferences.gap_low = kind & 1 ? 2 : 1;
        preferences.gap_high = kind & 2 ? 3 : UINT32_MAX;
        preferences.unit = kind & 4 ? RANK_QUERY : RANK_PAIR;
        preferences.n_weights = kind & 8 ? 2 : 0;
        preferences.weight_query = query;
        preferences.weight = weight;
        struct data data = rows_to_data(&rows, SPARSE);
        struct reference_pairs pairs = list_pairs(&rows, &preferences, 1);
        struct rank_pairs sums = solver_pairs(&data, &preferences);
        double *s = check_numbers(rows.n), *count = check_numbers(rows.n);
        double *moment = check_numbers(rows.n), *expected = check_numbers(rows.n);
        uint64_t seed = (uint64_t)kind;
        for (size_t i = 0; i < rows.n; i++) { /* half of the kinds have many equal scores */
            s[i] = 3 * uniform(&seed);
            s[i] = kind & 16 ? floor(s[i] * 2) / 2 : s[i];
        }
        double sum = rank_pairs_sums(&sums, s, 1, count, moment), active = 0;
        double hinge = 0, square = 0, by_count = sum, by_moment = 0;
        for (size_t p = 0; p < pairs.m; p++) {
            double u = 1 - (s[pairs.i[p]] - s[pairs.j[p]]);
            hinge += pairs.cost[p] * reference_loss(u, false);
            square += pairs.cost[p] * reference_loss(u, true);
            if (u > 0) {
                active += pairs.cost[p];
                expected[pairs.i[p]] += pairs.cost[p];
                expected[pairs.j[p]] -= pairs.cost[p];
            }
        }
        for (size_t i = 0; i < rows.n; i++) {
            by_count -= count[i] * s[i];
            by_moment -= moment[i] * s[i];
            CHECK_CLOSE(count[i], expected[i], 1e-9, "kind %d row %zu", kind, i);
            double step = 1e-5, at = s[i], side[2] = {0, 0};
            for (int up = 0; up < 2; up++) {
                s[i] = up ? at + step : at - step;
                for (size_t p = 0; p < pairs.m; p++) {
                    double u = 1 - (s[pairs.i[p]] - s[pairs.j[p]]);
                    side[up] += pairs.cost[p] * reference_loss(u, true);
                }
            }
            s[i] = at;
            double slope = (side[1] - side[0]) / (2 * step);
            CHECK_CLOSE(-2 * moment[i], slope, 1e-3 * (1 + fabs(slope)),
                        "kind %d row %zu: gradient", kind, i);
        }
        CHECK_CLOSE(sum, active, 1e-9 * (1 + active), "kind %d: active", kind);
        CHECK_CLOSE(by_count, hinge, 1e-9 * (1 + hinge), "kind %d: hinge", kind);
        CHECK_CLOSE(by_count + by_moment, square, 1e-9 * (1 + square), "kind %d: square", kind);
        check_risk(RANK_RISK_HINGE, 1, &sums, &pairs, s, rows.n);
        check_risk(RANK_RISK_SQUARE, 1, &sums, &pairs, s, rows.n);
        check_risk(RANK_RISK_HUBER, .25, &sums, &pairs, s, rows.n);
        check_risk(RANK_RISK_HUBER, 1.5, &sums, &pairs, s, rows.n);
        rank_pairs_free(&sums);
        reference_pairs_free(&pairs);
        data_free(&data);
    }
    puts("ok: sums over pairs and their gradients are those of the listed pairs");
}

/* At the optimum of the squared hinge every partial derivative of the primal is zero, by central
 * differences of the definition. */
static void check_gradient(void) {
    struct reference_data rows = random_rows(40, 6, 2, 1, 31);
    for (int kind = 0; kind < 4; kind++) {
        bool linear = kind & 1;
        double cost = kind & 2 ? 5 : .05;
        struct fit fit = fit_of(&rows, linear, (struct reference_kernel){linear ? 0 : 2, 3, .5, 0},
                                SPARSE, RANK_NEWTON, cost, 1e-11);
        fit.parameters.loss = RANK_SQUARED_HINGE;
        struct solution solution;
        solve_and_check(&fit, &solution);
        double *gram = reference_gram(&fit.kernel, &rows), step = 1e-4;
        struct reference_pairs pairs = list_pairs(&rows, &fit.preferences, cost);
        for (size_t c = 0; c < (linear ? rows.width - 1 : rows.n); c++) {
            double at = solution.weights[c], scale = 1;
            solution.weights[c] = at + step;
            double up = objective(&rows, gram, &pairs, true, linear, &solution);
            solution.weights[c] = at - step;
            double down = objective(&rows, gram, &pairs, true, linear, &solution);
            solution.weights[c] = at;
            /* curvature along the axis, so that the tolerance has the right unit */
            scale = (up + down - 2 * solution.primal) / (step * step);
            CHECK(fabs(up - down) / (2 * step) <= 2e-5 * (fabs(scale) + solution.primal),
                  "slope %g along %zu, curvature %g: %s", (up - down) / (2 * step), c, scale,
                  describe(&fit));
            CHECK(up > solution.primal - 1e-9 && down > solution.primal - 1e-9,
                  "a step along %zu lowers the objective: %s", c, describe(&fit));
        }
        reference_pairs_free(&pairs);
        free(gram);
        solution_free(&solution);
    }
    puts("ok: the squared hinge's gradient vanishes at the fit, by finite differences");
}

/* On the grid the coefficients of a dual point are integer multiples of its unit, up to the
 * rounding of the division by mu: for groups summed pair by pair, and for one that is not. */
static void check_grid(void) {
    for (int kind = 0; kind < 4; kind++) {
        bool large = kind % 2 == 1, fine = kind >= 2;
        struct rank_preferences preferences = all_pairs();
        struct reference_data rows = random_rows(large ? 900 : 90, 2, large ? 1 : 3, 0, 5);
        struct data data = rows_to_data(&rows, DENSE);
        struct rank_pairs sums = solver_pairs(&data, &preferences);
        double *s = check_numbers(rows.n), *b = check_numbers(rows.n);
        double *slack = check_numbers(rows.n);
        long long *due = check_array(rows.n, sizeof *due);
        double start = fine ? 1e-8 : .3, mu = start, unit = 1, linear, rounding;
        long double all = 0;
        uint64_t seed = 8;
        for (size_t i = 0; i < rows.n; i++) {
            s[i] = 1e3 + 2 * uniform(&seed);
        }
        double grid = rank_extended_round(&sums, s, &mu);
        CHECK(grid > 0 && fabs(mu - start) <= grid, "a grid of %g, mu %g", grid, mu);
        long long whole = (long long)(1 / grid), band = (long long)(mu / grid);
        for (size_t p = 0; p < rows.n * rows.n; p++) {
            size_t i = p / rows.n, j = p % rows.n;
            if (rows.query[i] == rows.query[j] && rows.t[i] > rows.t[j]) {
                long long u = whole - (long long)((s[i] - s[j]) / grid);
                u = u < 0 ? 0 : u > band ? band : u;
                due[i] += u;
                due[j] -= u;
                all += (long double)u / (long double)band;
            }
        }
        MUST(rank_extended_dual(&sums, s, mu, grid, b, slack, &unit, &linear, &rounding, &err));
        CHECK(unit == 0, "the bound includes an error of %g weights", unit);
        CHECK(fabs(linear - (double)all) <= rounding && rounding <= 1e-13 * linear / mu,
              "a linear part of %.17g, off by %g, not %.17g", linear, rounding, (double)all);
        for (size_t i = 0; i < rows.n; i++) {
            double is = (double)((long double)due[i] / (long double)band);
            CHECK(fabs(b[i] - is) <= DBL_EPSILON * fabs(is) && slack[i] >= fabs(b[i] - is),
                  "row %zu: %.17g, not %.17g", i, b[i], is);
        }
        rank_pairs_free(&sums);
        data_free(&data);
    }
    puts("ok: on a grid the coefficients of a dual point are exact");
}

/* The loss of the certificate is within its own error bound of the sum pair by pair. Groups of
 * several sizes, with weights. */
static void check_loss(void) {
    struct rank_preferences preferences = all_pairs();
    preferences.unit = RANK_QUERY;
    struct reference_data rows = random_rows(2100, 2, 3, 0, 6);
    struct data data = rows_to_data(&rows, DENSE);
    struct rank_pairs sums = solver_pairs(&data, &preferences);
    double *s = check_numbers(rows.n);
    uint64_t seed = 9;
    for (size_t i = 0; i < rows.n; i++) {
        s[i] = 1e3 * (double)rows.query[i] + 2 * uniform(&seed);
    }
    for (int squared = 0; squared < 2; squared++) {
        long double due = 0;
        for (size_t g = 0; g < sums.n_groups; g++) {
            for (size_t k = sums.start[g]; k < sums.start[g + 1]; k++) {
                for (size_t p = sums.below_first[k]; p < sums.below_end[k]; p++) {
                    long double above = s[sums.row[sums.start[g] + p]];
                    long double u = 1 - (s[sums.row[k]] - above);
                    due += u <= 0 ? 0 : (squared ? u * u : u) * (long double)sums.weight[g];
                }
            }
        }
        double value, rounding, exact = 32 * DBL_EPSILON * (double)due;
        MUST(rank_extended_loss(&sums, s, squared, &value, &rounding, &err));
        CHECK(fabs(value - (double)due) <= rounding && rounding <= exact,
              "a loss of %.17g, off by %g, not %.17g", value, rounding, (double)due);
    }
    rank_pairs_free(&sums);
    data_free(&data);
    puts("ok: the loss is that of the pairs, within what it says of itself");
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    check_sums();
    check_gradient();
    check_grid();
    check_loss();
    return 0;
}
