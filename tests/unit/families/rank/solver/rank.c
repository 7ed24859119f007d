/* Fits of families/rank/solver/rank.h compared with the definition in reference.h: explicit pairs,
 * kernel values one by one, coordinate ascent. The promises of fixture.h are checked for every fit.
 */
#define _GNU_SOURCE
#include "tests/unit/families/rank/solver/fixture.h"

static void check_linear(void) {
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct reference_data rows =
            random_rows(36, seed == 3 ? 40 : 4, seed, seed == 2 ? 0 : 1, seed);
        for (int c = 0; c < N_COSTS; c++) {
            for (int kind = c % quick_step(3); kind < 10; kind += quick_step(3)) {
                struct fit fit = fit_of(&rows, true, (struct reference_kernel){0, 3, 1, 0},
                                        kind % 2 ? DENSE : SPARSE, RANK_AUTO, costs[c], 1e-3);
                struct rank_parameters *to = &fit.parameters;
                to->loss = kind / 2 < 3 ? RANK_HINGE : RANK_SQUARED_HINGE;
                to->method = kind / 2 == 1   ? RANK_OCAS
                             : kind / 2 == 2 ? RANK_NEWTON
                             : kind / 2 == 4 ? RANK_NEWTON
                                             : RANK_AUTO;
                fit_once(&fit);
                to->epsilon = to->loss == RANK_HINGE ? 1e-6 : 1e-8;
                fit_once(&fit);
            }
        }
    }
    puts("ok: linear fits by every method bracket the optimum to the gap");
}

static void check_kernels(void) {
    static const struct reference_kernel kernels[] = {{0, 3, 1, 0},  {1, 2, .5, 1}, {1, 3, .25, .5},
                                                      {2, 3, .5, 0}, {5, 3, 1, 0},  {6, 3, 1, 0}};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        struct reference_data rows = random_rows(33, 4, 1 + k % 3, k % 2 ? 1 : 0, 10 + k);
        for (int c = 0; c < N_COSTS; c++) {
            for (int kind = c % quick_step(3); kind < 4; kind += quick_step(3)) {
                struct fit fit = fit_of(&rows, false, kernels[k], kind % 2 ? DENSE : SPARSE,
                                        RANK_OCAS, costs[c], 1e-3);
                fit.parameters.loss = kind < 2 ? RANK_HINGE : RANK_SQUARED_HINGE;
                fit.parameters.method = kind < 2 ? RANK_OCAS : RANK_NEWTON;
                fit_once(&fit);
                fit.parameters.method = RANK_AUTO;
                fit.parameters.epsilon = kind < 2 ? 1e-6 : 1e-8;
                fit_once(&fit);
            }
        }
    }
    puts("ok: kernel fits of both losses bracket the optimum to the gap");
}

static void check_preferences(void) {
    static const uint64_t query[] = {3, 5};
    static const double weight[] = {2.5, .25};
    struct reference_data rows = random_rows(34, 3, 4, 1, 77);
    for (int kind = 0; kind < 128; kind += quick_step(7)) {
        struct fit fit = fit_of(&rows, kind & 1, (struct reference_kernel){6, 3, 1, 0}, SPARSE,
                                RANK_AUTO, 1, 1e-6);
        if (fit.linear) {
            fit.kernel.type = 0;
        }
        fit.parameters.loss = kind & 2 ? RANK_SQUARED_HINGE : RANK_HINGE;
        fit.preferences.unit = kind >= 96   ? RANK_GAIN
                               : kind >= 64 ? RANK_NDCG
                               : kind & 4   ? RANK_QUERY
                                            : RANK_PAIR;
        fit.preferences.linear_gain = kind >= 64 && kind & 4;
        fit.preferences.n_weights = kind & 8 ? 2 : 0;
        fit.preferences.weight_query = query;
        fit.preferences.weight = weight;
        fit.preferences.gap_low = kind & 16 ? 2 : 1;
        fit.preferences.gap_high = kind & 32 ? 2 : UINT32_MAX;
        fit_once(&fit);
    }
    puts("ok: rank windows, costs per query, ndcg and gain and weights of queries are those of the "
         "explicit pairs");
}

static void check_conditional_gradient(void) {
    struct reference_data rows = random_rows(24, 4, 2, 1, 5);
    for (int kind = 0; kind < 20; kind++) {
        struct fit fit =
            fit_of(&rows, !(kind & 1), (struct reference_kernel){kind & 1 ? 2 : 0, 3, .5, 0},
                   SPARSE, RANK_FW, kind & 2 ? .3 : 3e-3, 2e-2);
        fit.parameters.step = kind & 4 ? RANK_DIMINISHING : RANK_LINESEARCH;
        fit.parameters.stop = kind & 8 ? RANK_DECAY : RANK_GAP;
        fit.preferences.unit = kind & 16 ? RANK_NDCG : RANK_PAIR;
        fit_once(&fit);
    }
    puts("ok: conditional gradient, both steps and both rules, agrees with the other solvers");
}

static void check_exterior(void) {
    struct reference_data rows = random_rows(16, 3, 2, 1, 21);
    for (int c = 0; c < N_COSTS; c++) {
        for (int type = 0; type <= 6; type += 3) {
            struct fit fit =
                fit_of(&rows, false, (struct reference_kernel){type == 3 ? 2 : type, 3, .5, 0},
                       DENSE, RANK_AUTO, costs[c], 1e-5);
            fit.preferences.exterior = true;
            fit_once(&fit);
            fit.preferences.gap_low = 2;
            fit.preferences.unit = RANK_QUERY;
            fit_once(&fit);
            fit.preferences.unit = RANK_NDCG;
            fit_once(&fit);
        }
    }
    /* The kernel 2(K_iu K_jv - K_iv K_ju) compared with explicit features, linear in 3 columns. */
    struct fit fit =
        fit_of(&rows, false, (struct reference_kernel){0, 3, 1, 0}, DENSE, RANK_AUTO, .5, 1e-6);
    struct solution solution;
    fit.preferences.exterior = true;
    solve_and_check(&fit, &solution);
    double w[3][3] = {{0}}, norm = 0, loss = 0;
    for (size_t p = 0; p < solution.n_pairs; p++) {
        const double *u = rows.x + solution.pairs[p].u * rows.width + 1;
        const double *v = rows.x + solution.pairs[p].v * rows.width + 1;
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b < 3; b++) {
                w[a][b] += solution.pairs[p].value * (u[a] * v[b] - v[a] * u[b]);
            }
        }
    }
    struct reference_pairs pairs = list_pairs(&rows, &fit.preferences, .5);
    for (size_t p = 0; p < pairs.m; p++) {
        const double *i = rows.x + pairs.i[p] * rows.width + 1;
        const double *j = rows.x + pairs.j[p] * rows.width + 1;
        double margin = 0;
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b < 3; b++) {
                margin += w[a][b] * (i[a] * j[b] - j[a] * i[b]);
            }
        }
        loss += pairs.cost[p] * reference_loss(1 - margin, false);
    }
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            norm += w[a][b] * w[a][b];
        }
    }
    CHECK_NEAR(solution.primal, norm / 2 + loss, 1e-9, "primal by features");
    reference_pairs_free(&pairs);
    solution_free(&solution);
    puts("ok: exterior-product features agree with explicit products");
}

static void check_early_stop(void) {
    struct reference_data rows = random_rows(30, 5, 2, 1, 41);
    for (uint64_t stop = 1; stop <= 4; stop++) {
        for (int kind = 0; kind < 6; kind++) {
            struct fit fit =
                fit_of(&rows, !(kind % 2), (struct reference_kernel){kind % 2 ? 6 : 0, 3, 1, 0},
                       SPARSE, RANK_OCAS, 10, 1e-9);
            fit.stop_after = stop;
            fit.parameters.loss = kind / 2 == 1 ? RANK_SQUARED_HINGE : RANK_HINGE;
            fit.parameters.method = kind / 2 == 0   ? RANK_OCAS
                                    : kind / 2 == 1 ? RANK_NEWTON
                                                    : RANK_FW;
            fit_once(&fit);
        }
    }
    puts("ok: a fit that is stopped early still brackets the optimum and says why it stopped");
}

/* ---- degenerate problems ---- */

static void check_degenerate(void) {
    struct reference_data rows = random_rows(12, 2, 2, 1, 91);
    memset(rows.x, 0, rows.n * rows.width * sizeof(double));
    /* all rows zero, then all rows equal: the optimum is f = 0 */
    for (int kind = 0; kind < 8; kind++) {
        struct fit fit =
            fit_of(&rows, !(kind & 1), (struct reference_kernel){kind & 1 ? 2 : 0, 3, 1, 0}, SPARSE,
                   RANK_AUTO, 10, 1e-6);
        fit.parameters.loss = kind & 2 ? RANK_SQUARED_HINGE : RANK_HINGE;
        for (size_t i = 0; kind == 4 && i < rows.n; i++) {
            rows.x[i * rows.width + 1] = 3;
        }
        fit_once(&fit);
    }

    rows = random_rows(2, 1, 1, 0, 92); /* one pair, by hand: alpha = min(C, 1/|x_i - x_j|^2) */
    rows.x[1] = 3, rows.x[3] = 1, rows.t[0] = 1, rows.t[1] = 0;
    for (int c = 0; c < 2 * N_COSTS; c++) {
        double cost = costs[c / 2];
        struct fit fit = fit_of(&rows, true, (struct reference_kernel){0, 3, 1, 0}, DENSE,
                                RANK_AUTO, cost, 1e-6);
        struct solution solution;
        double alpha = c % 2 ? 1 / (4 + 1 / (2 * cost)) : fmin(cost, .25);
        fit.parameters.loss = c % 2 ? RANK_SQUARED_HINGE : RANK_HINGE;
        solve_and_check(&fit, &solution);
        CHECK_CLOSE(solution.weights[0], 2 * alpha, 1e-2 * alpha, "w at C %g", cost);
        solution_free(&solution);
    }
    puts("ok: rows that are all equal, and one pair, are solved as on paper");
}

static void check_refusals(void) {
    struct rank *rank;
    struct rank_preferences preferences = all_pairs();
    struct reference_data rows = random_rows(10, 2, 2, 1, 95);
    for (size_t i = 0; i < rows.n; i++) {
        rows.t[i] = (double)rows.query[i]; /* equal within each query */
    }
    struct data data = rows_to_data(&rows, SPARSE);
    struct problem problem = {.data = &data, .n = data.n_rows};
    CHECK(rank_create(&rank, &problem, &preferences, &err) == -1, "no pair was accepted");
    CHECK(err.kind == ERROR_RUNTIME && err.text[0], "no pair: kind %d text %s", (int)err.kind,
          err.text);
    data_free(&data);

    rows.t[0] += 1; /* now query 3 has pairs and query 4 has none */
    data = rows_to_data(&rows, SPARSE);
    memset(&err, 0, sizeof err);
    MUST(rank_create(&rank, &problem, &preferences, &err));
    struct rank_counts counts = rank_counts(rank);
    CHECK(counts.n_groups == 2 && counts.n_groups_without_pairs == 1 && counts.n_pairs == 4,
          "%zu groups, %zu without, %g pairs", counts.n_groups, counts.n_groups_without_pairs,
          counts.n_pairs);
    struct rank_parameters parameters = {RANK_SQUARED_HINGE, RANK_FW, 1, 1e-3, 0, 0};
    struct solution solution = {0};
    CHECK(rank_solve(rank, &parameters, NULL, &solution, &err) == -1 && err.text[0],
          "fw took the squared hinge");
    solution_free(&solution);
    rank_free(rank);
    data_free(&data);

    for (size_t i = 0; i < rows.n; i++) { /* scores near overflow and beyond */
        rows.t[i] = (double)i;
        rows.x[i * rows.width + 1] = (double)(float)(i % 3 ? 3e38 : -3e38);
    }
    data = rows_to_data(&rows, SPARSE);
    memset(&err, 0, sizeof err);
    memset(&solution, 0, sizeof solution);
    parameters.method = RANK_AUTO;
    MUST(rank_create(&rank, &problem, &preferences, &err));
    int status = rank_solve(rank, &parameters, NULL, &solution, &err);
    CHECK(status == 0 ? isfinite(solution.primal) && solution.dual <= solution.primal
                      : err.text[0] != 0,
          "status %d primal %g dual %g", status, solution.primal, solution.dual);
    solution_free(&solution);
    rank_free(rank);
    data_free(&data);
    puts("ok: what cannot be solved is refused with a reason");
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    check_linear();
    check_kernels();
    check_preferences();
    check_conditional_gradient();
    check_exterior();
    check_early_stop();
    check_degenerate();
    check_refusals();
    return 0;
}
