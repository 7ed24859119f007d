/* solvers/rank.h against the definition in reference.h: explicit pairs, kernels one value at
 * a time, plain coordinate ascent.
 *
 * Every fit is held to the same four promises: the reported primal is the objective at the
 * returned weights; dual <= optimum <= primal; the reported gap is (P - D) / P and within epsilon
 * when the fit says that it converged; and it does say so on problems as small as these. */
#define _GNU_SOURCE
#include "solvers/rank/rank.h"

#include "common/base/gap.h"
#include "common/kernel/gram.h"
#include "common/kernel/kernel.h"
#include "solvers/rank/pairs.h"
#include "tests/unit/check.h"
#include "tests/unit/solvers/rank/reference.h"

static double uniform(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* ---- problems: the same rows for the reference and for the product ---- */

enum shape { SPARSE, DENSE };

static void random_rows(struct reference_data *rows, size_t n, size_t features, size_t groups,
                        int grades, uint64_t seed) {
    rows->n = n;
    rows->width = features + 1;
    rows->x = reference_alloc(n * rows->width, sizeof(double));
    rows->t = reference_alloc(n, sizeof(double));
    rows->query = reference_alloc(n, sizeof(unsigned long));
    for (size_t i = 0; i < n; i++) {
        double sum = 2 * (uniform(&seed) - .5);
        for (size_t c = 1; c <= features; c++) {
            double value = uniform(&seed) < .3 ? 0 : 2 * uniform(&seed);
            rows->x[i * rows->width + c] = (double)(float)value;
            sum += (c % 2 ? value : -value);
        }
        rows->t[i] = grades > 0 ? floor(sum) : sum;
        rows->query[i] = (unsigned long)(3 + i % groups);
    }
}

/* Rows as data; index c of the reference is column c - 1. The caller calls data_free. */
static void rows_to_data(struct data *data, const struct reference_data *rows, enum shape shape) {
    size_t n = rows->n, features = rows->width - 1, stored = 0;
    memset(data, 0, sizeof *data);
    data->n_rows = n;
    data->n_features = (uint32_t)features;
    data->labels = DATA_NUMBER;
    data->target = reference_alloc(n, sizeof(double));
    data->query = reference_alloc(n, sizeof(uint64_t));
    data->value = reference_alloc(n * features, sizeof(float));
    if (shape == SPARSE) {
        data->row_start = reference_alloc(n + 1, sizeof(uint64_t));
        data->column = reference_alloc(n * features, sizeof(uint32_t));
    }
    for (size_t i = 0; i < n; i++) {
        data->target[i] = rows->t[i];
        data->query[i] = rows->query[i];
        for (size_t c = 1; c <= features; c++) {
            double value = rows->x[i * rows->width + c];
            if (shape == DENSE || value != 0) {
                if (shape == SPARSE) {
                    data->column[stored] = (uint32_t)(c - 1);
                }
                data->value[stored++] = (float)value;
            }
        }
        if (shape == SPARSE) {
            data->row_start[i + 1] = stored;
        }
    }
}

static struct rank_preferences all_pairs(void) {
    struct rank_preferences preferences = {
        .gap_low = 1, .gap_high = UINT32_MAX, .fraction = 1, .seed = 1};
    return preferences;
}

/* What the reference makes of the same preferences (fraction 1). */
static void list_pairs(struct reference_pairs *pairs, const struct reference_data *rows,
                       const struct rank_preferences *preferences, double cost) {
    reference_pairs_list(pairs, rows, preferences->gap_low, preferences->gap_high, cost,
                         preferences->per_query);
    for (size_t p = 0; p < pairs->m; p++) {
        for (size_t w = 0; w < preferences->n_weights; w++) {
            if (rows->query[pairs->i[p]] == preferences->weight_query[w]) {
                pairs->cost[p] *= preferences->weight[w];
            }
        }
    }
}

/* ---- the objective at a solution, by definition ---- */

static double *exterior_margins(const struct reference_pairs *pairs, const double *gram, size_t n,
                                const struct pair_coefficient *pair, size_t n_coefficients,
                                double *norm) {
    struct reference_pairs support = {n_coefficients, NULL, NULL, NULL};
    support.i = reference_alloc(n_coefficients, sizeof(size_t));
    support.j = reference_alloc(n_coefficients, sizeof(size_t));
    double *margin = reference_alloc(pairs->m, sizeof(double));
    for (size_t a = 0; a < n_coefficients; a++) {
        support.i[a] = pair[a].u;
        support.j[a] = pair[a].v;
    }
    double *q = reference_pair_gram(gram, n, &support, true);
    *norm = 0;
    for (size_t a = 0; a < n_coefficients; a++) {
        for (size_t b = 0; b < n_coefficients; b++) {
            *norm += pair[a].value * q[a * n_coefficients + b] * pair[b].value;
        }
        size_t u = pair[a].u, v = pair[a].v;
        for (size_t p = 0; p < pairs->m; p++) {
            size_t i = pairs->i[p], j = pairs->j[p];
            margin[p] += pair[a].value * 2 *
                         (gram[i * n + u] * gram[j * n + v] - gram[i * n + v] * gram[j * n + u]);
        }
    }
    free(q);
    reference_pairs_free(&support);
    return margin;
}

/* 1/2 |f|^2 + sum_p C_p l(1 - margin). linear: weights are w (n_features), else b (n). */
static double objective(const struct reference_data *rows, const double *gram,
                        const struct reference_pairs *pairs, bool squared, bool linear,
                        const struct solution *solution) {
    size_t n = rows->n, features = rows->width - 1;
    double *score = reference_alloc(n, sizeof(double)), norm = 0, loss = 0, *margin;
    if (solution->pairs) {
        margin = exterior_margins(pairs, gram, n, solution->pairs, solution->n_pairs, &norm);
    } else {
        for (size_t i = 0; i < n; i++) {
            for (size_t c = 0; c < (linear ? features : n); c++) {
                score[i] += solution->weights[c] *
                            (linear ? rows->x[i * rows->width + c + 1] : gram[i * n + c]);
            }
            norm += linear ? 0 : solution->weights[i] * score[i];
        }
        for (size_t c = 0; linear && c < features; c++) {
            norm += solution->weights[c] * solution->weights[c];
        }
        margin = reference_alloc(pairs->m, sizeof(double));
        for (size_t p = 0; p < pairs->m; p++) {
            margin[p] = score[pairs->i[p]] - score[pairs->j[p]];
        }
    }
    for (size_t p = 0; p < pairs->m; p++) {
        loss += pairs->cost[p] * reference_loss(1 - margin[p], squared);
    }
    free(margin);
    free(score);
    return norm / 2 + loss;
}

/* ---- one fit, held to the promises ---- */

struct watch {
    double optimum, slack; /* bounds told on the way may err by slack, relative */
    uint64_t stop_after;   /* 0: never */
    uint64_t calls;
    double crossed; /* by how much a bound lay on the wrong side, over the slack */
};

static bool watch_check(void *context, uint64_t iteration, double primal, double dual) {
    struct watch *watch = context;
    (void)iteration;
    watch->calls++;
    double slack = watch->slack * fabs(watch->optimum);
    watch->crossed = fmax(watch->crossed, (watch->optimum - primal) / slack);
    watch->crossed = fmax(watch->crossed, (dual - watch->optimum) / slack);
    return watch->stop_after > 0 && watch->calls >= watch->stop_after;
}

struct fit {
    const struct reference_data *rows;
    struct reference_kernel kernel;
    bool linear; /* w in feature space: no gram */
    enum shape shape;
    struct rank_preferences preferences;
    struct rank_parameters parameters;
    uint64_t stop_after;
    size_t n_threads;
};

static const char *describe(const struct fit *fit) {
    static char text[300];
    snprintf(text, sizeof text,
             "%s kernel %d %s loss %d method %d C %g epsilon %g window %u:%u%s%s n %zu",
             fit->linear ? "linear" : "gram", fit->kernel.type,
             fit->shape == DENSE ? "dense" : "sparse", (int)fit->parameters.loss,
             (int)fit->parameters.method, fit->parameters.cost, fit->parameters.epsilon,
             (unsigned)fit->preferences.gap_low, (unsigned)fit->preferences.gap_high,
             fit->preferences.per_query ? " per query" : "",
             fit->preferences.exterior ? " exterior" : "", fit->rows->n);
    return text;
}

/* Solves and checks the promises; *solution is the caller's to free. False if it failed. */
static bool solve_and_check(const struct fit *fit, struct solution *solution) {
    const struct reference_data *rows = fit->rows;
    bool squared = fit->parameters.loss == RANK_SQUARED_HINGE, solved = false;
    bool exact = fit->linear || fit->parameters.epsilon < 1e-4; /* else kernels in float */
    struct error err = {0};
    struct kernel kernel = {(enum kernel_type)fit->kernel.type, fit->kernel.degree,
                            fit->kernel.gamma, fit->kernel.coef0};
    struct data data;
    struct gram *gram = NULL;
    struct threads *threads = NULL;
    struct rank *rank = NULL;
    struct reference_pairs pairs;
    double optimum_primal, optimum_dual;
    memset(solution, 0, sizeof *solution);
    rows_to_data(&data, rows, fit->shape);
    list_pairs(&pairs, rows, &fit->preferences, fit->parameters.cost);
    bool reached = reference_optimum(rows, &fit->kernel, &pairs, fit->preferences.exterior, squared,
                                     1e-9, &optimum_primal, &optimum_dual);
    CHECK(reached, "the reference stopped at %g: %s",
          (optimum_primal - optimum_dual) / optimum_primal, describe(fit));
    bool ready = fit->n_threads < 2 || threads_create(&threads, fit->n_threads, &err) == 0;
    ready = ready && (fit->linear || gram_create(&gram, &kernel, &data, (size_t)1 << 24, exact,
                                                 threads, &err) == 0);
    struct problem problem = {.data = &data, .gram = gram, .n = data.n_rows, .threads = threads};
    ready = ready && rank_open(&rank, &problem, &fit->preferences, &err) == 0;
    CHECK(ready, "%s: %s", err.text, describe(fit));
    if (ready) {
        /* with entries in float, what is told on the way is as good as these; the end is exact */
        double slack = exact ? 1e-6 : 1;
        struct watch watch = {optimum_dual, slack, fit->stop_after, 0, 0};
        struct monitor monitor = {.context = &watch, .check = watch_check};
        CHECK(rank_counts(rank).n_pairs == (double)pairs.m, "%g pairs, not %zu: %s",
              rank_counts(rank).n_pairs, pairs.m, describe(fit));
        solved = rank_solve(rank, &fit->parameters, &monitor, solution, &err) == 0;
        CHECK(solved, "%s: %s", err.text, describe(fit));
        CHECK(watch.crossed <= 1, "a bound told on the way is on the wrong side by %g: %s",
              watch.crossed * watch.slack, describe(fit));
    }
    if (solved) {
        double *matrix = reference_gram(&fit->kernel, rows);
        double primal = objective(rows, matrix, &pairs, squared, fit->linear, solution);
        double slack = 2e-9 * optimum_primal;
        CHECK(fabs(primal - solution->primal) <= 1e-9 * primal,
              "%.17g at the weights, said %.17g: %s", primal, solution->primal, describe(fit));
        CHECK(solution->primal >= optimum_dual - slack, "primal %.17g, optimum %.17g: %s",
              solution->primal, optimum_dual, describe(fit));
        CHECK(solution->dual <= optimum_primal + slack, "dual %.17g, optimum %.17g: %s",
              solution->dual, optimum_primal, describe(fit));
        double gap = gap_relative(solution->primal, solution->dual);
        if (fit->parameters.stop == RANK_GAP || fit->parameters.method != RANK_FW) {
            CHECK(!solution->converged || gap <= fit->parameters.epsilon, "gap %g: %s", gap,
                  describe(fit));
        }
        if (fit->stop_after == 0 && !exact && fit->parameters.cost > 100) {
            CHECK(gap <= 1e-2 && (solution->converged || solution->reason), "gap %g: %s", gap,
                  describe(fit)); /* entries in float may end it, and it says so */
        } else if (fit->stop_after == 0) {
            CHECK(solution->converged, "gap %g after %llu iterations, %s: %s", gap,
                  (unsigned long long)solution->iterations,
                  solution->reason ? solution->reason : "no reason", describe(fit));
        } else {
            CHECK(solution->converged || solution->reason, "no reason: %s", describe(fit));
        }
        free(matrix);
    }
    rank_close(rank);
    gram_free(gram);
    threads_free(threads);
    data_free(&data);
    reference_pairs_free(&pairs);
    return solved;
}

static void fit_once(const struct fit *fit) {
    struct solution solution;
    solve_and_check(fit, &solution);
    solution_free(&solution);
}

/* ---- the checks ---- */

static const double costs[] = {1e-3, 1e-1, 1, 30, 1e3};
enum { N_COSTS = sizeof costs / sizeof *costs };

static void check_linear(void) {
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct reference_data rows;
        random_rows(&rows, 36, seed == 3 ? 40 : 4, seed, seed == 2 ? 0 : 1, seed);
        for (int c = 0; c < N_COSTS; c++) {
            for (int kind = 0; kind < 10; kind++) {
                struct fit fit = {&rows,       {0, 3, 1, 0},
                                  true,        kind % 2 ? DENSE : SPARSE,
                                  all_pairs(), {RANK_HINGE, RANK_AUTO, costs[c], 1e-3, 0, 0},
                                  0,           1};
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
        reference_data_free(&rows);
    }
    puts("ok: linear fits by every method bracket the optimum to the gap");
}

static void check_kernels(void) {
    static const struct reference_kernel kernels[] = {{0, 3, 1, 0},  {1, 2, .5, 1}, {1, 3, .25, .5},
                                                      {2, 3, .5, 0}, {5, 3, 1, 0},  {6, 3, 1, 0}};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        struct reference_data rows;
        random_rows(&rows, 33, 4, 1 + k % 3, k % 2 ? 1 : 0, 10 + k);
        for (int c = 0; c < N_COSTS; c++) {
            for (int kind = 0; kind < 4; kind++) {
                struct fit fit = {&rows,       kernels[k],
                                  false,       kind % 2 ? DENSE : SPARSE,
                                  all_pairs(), {RANK_HINGE, RANK_OCAS, costs[c], 1e-3, 0, 0},
                                  0,           1};
                fit.parameters.loss = kind < 2 ? RANK_HINGE : RANK_SQUARED_HINGE;
                fit.parameters.method = kind < 2 ? RANK_OCAS : RANK_NEWTON;
                fit_once(&fit);
                fit.parameters.method = RANK_AUTO;
                fit.parameters.epsilon = kind < 2 ? 1e-6 : 1e-8;
                fit_once(&fit);
            }
        }
        reference_data_free(&rows);
    }
    puts("ok: kernel fits of both losses bracket the optimum to the gap");
}

static void check_preferences(void) {
    static const uint64_t query[] = {3, 5};
    static const double weight[] = {2.5, .25};
    struct reference_data rows;
    random_rows(&rows, 34, 3, 4, 1, 77);
    for (int kind = 0; kind < 64; kind++) {
        struct fit fit = {&rows,       {6, 3, 1, 0},
                          kind & 1,    SPARSE,
                          all_pairs(), {RANK_HINGE, RANK_AUTO, 1, 1e-6, 0, 0},
                          0,           1};
        if (fit.linear) {
            fit.kernel.type = 0;
        }
        fit.parameters.loss = kind & 2 ? RANK_SQUARED_HINGE : RANK_HINGE;
        fit.preferences.per_query = kind & 4;
        fit.preferences.n_weights = kind & 8 ? 2 : 0;
        fit.preferences.weight_query = query;
        fit.preferences.weight = weight;
        fit.preferences.gap_low = kind & 16 ? 2 : 1;
        fit.preferences.gap_high = kind & 32 ? 2 : UINT32_MAX;
        fit_once(&fit);
    }
    reference_data_free(&rows);
    puts(
        "ok: rank windows, costs per query and weights of queries are those of the explicit pairs");
}

static void check_conditional_gradient(void) {
    struct reference_data rows;
    random_rows(&rows, 24, 4, 2, 1, 5);
    for (int kind = 0; kind < 16; kind++) {
        struct fit fit = {&rows,       {kind & 1 ? 2 : 0, 3, .5, 0},
                          !(kind & 1), SPARSE,
                          all_pairs(), {RANK_HINGE, RANK_FW, kind & 2 ? .3 : 3e-3, 2e-2, 0, 0},
                          0,           1};
        fit.parameters.step = kind & 4 ? RANK_DIMINISHING : RANK_LINESEARCH;
        fit.parameters.stop = kind & 8 ? RANK_DECAY : RANK_GAP;
        fit_once(&fit);
    }
    reference_data_free(&rows);
    puts("ok: conditional gradient, both steps and both rules, agrees with the other solvers");
}

static void check_exterior(void) {
    struct reference_data rows;
    random_rows(&rows, 16, 3, 2, 1, 21);
    for (int c = 0; c < N_COSTS; c++) {
        for (int type = 0; type <= 6; type += 3) {
            struct fit fit = {&rows,       {type == 3 ? 2 : type, 3, .5, 0},
                              false,       DENSE,
                              all_pairs(), {RANK_HINGE, RANK_AUTO, costs[c], 1e-5, 0, 0},
                              0,           1};
            fit.preferences.exterior = true;
            fit_once(&fit);
            fit.preferences.gap_low = 2;
            fit.preferences.per_query = true;
            fit_once(&fit);
        }
    }
    /* The kernel 2(K_iu K_jv - K_iv K_ju) against the features themselves, linear in 3 columns. */
    struct fit fit = {
        &rows, {0, 3, 1, 0}, false, DENSE, all_pairs(), {RANK_HINGE, RANK_AUTO, .5, 1e-6, 0, 0}, 0,
        1};
    struct solution solution;
    fit.preferences.exterior = true;
    if (solve_and_check(&fit, &solution)) {
        double w[3][3] = {{0}}, norm = 0, loss = 0;
        struct reference_pairs pairs;
        for (size_t p = 0; p < solution.n_pairs; p++) {
            const double *u = rows.x + solution.pairs[p].u * rows.width + 1;
            const double *v = rows.x + solution.pairs[p].v * rows.width + 1;
            for (int a = 0; a < 3; a++) {
                for (int b = 0; b < 3; b++) {
                    w[a][b] += solution.pairs[p].value * (u[a] * v[b] - v[a] * u[b]);
                }
            }
        }
        list_pairs(&pairs, &rows, &fit.preferences, .5);
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
        CHECK(fabs(norm / 2 + loss - solution.primal) <= 1e-9 * solution.primal,
              "%.17g by features, said %.17g", norm / 2 + loss, solution.primal);
        reference_pairs_free(&pairs);
    }
    solution_free(&solution);
    reference_data_free(&rows);
    puts("ok: exterior-product features agree with explicit products");
}

/* The sums over pairs that every solver works from, against the listed pairs: the hinge, its
 * subgradient, the squared hinge, and its gradient by central differences of the definition. */
static void check_sums(void) {
    static const uint64_t query[] = {3, 5};
    static const double weight[] = {2.5, .25};
    struct reference_data rows;
    random_rows(&rows, 41, 2, 3, 1, 15);
    for (int kind = 0; kind < 32; kind++) {
        struct error err = {0};
        struct data data;
        struct rank_pairs sums;
        struct reference_pairs pairs;
        struct rank_preferences preferences = all_pairs();
        preferences.gap_low = kind & 1 ? 2 : 1;
        preferences.gap_high = kind & 2 ? 3 : UINT32_MAX;
        preferences.per_query = kind & 4;
        preferences.n_weights = kind & 8 ? 2 : 0;
        preferences.weight_query = query;
        preferences.weight = weight;
        rows_to_data(&data, &rows, SPARSE);
        list_pairs(&pairs, &rows, &preferences, 1);
        struct problem problem = {.data = &data, .n = rows.n};
        if (rank_pairs_create(&sums, &problem, &preferences, &err) != 0) {
            CHECK(false, "%s", err.text);
        } else {
            double *s = reference_alloc(rows.n, sizeof(double));
            double *count = reference_alloc(rows.n, sizeof(double));
            double *moment = reference_alloc(rows.n, sizeof(double));
            double *expected = reference_alloc(rows.n, sizeof(double));
            uint64_t seed = (uint64_t)kind;
            for (size_t i = 0; i < rows.n; i++) { /* half of the kinds with many equal scores */
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
                CHECK(fabs(count[i] - expected[i]) <= 1e-9, "kind %d row %zu: %g, by pairs %g",
                      kind, i, count[i], expected[i]);
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
                CHECK(fabs(slope + 2 * moment[i]) <= 1e-3 * (1 + fabs(slope)),
                      "kind %d row %zu: gradient %g, by differences %g", kind, i, -2 * moment[i],
                      slope);
            }
            CHECK(fabs(sum - active) <= 1e-9 * (1 + active), "kind %d: %g active, by pairs %g",
                  kind, sum, active);
            CHECK(fabs(by_count - hinge) <= 1e-9 * (1 + hinge), "kind %d: hinge %g, by pairs %g",
                  kind, by_count, hinge);
            CHECK(fabs(by_count + by_moment - square) <= 1e-9 * (1 + square),
                  "kind %d: square %g, by pairs %g", kind, by_count + by_moment, square);
            free(s);
            free(count);
            free(moment);
            free(expected);
            rank_pairs_free(&sums);
        }
        reference_pairs_free(&pairs);
        data_free(&data);
    }
    reference_data_free(&rows);
    puts("ok: sums over pairs and their gradients are those of the listed pairs");
}

/* At the optimum of the squared hinge every partial derivative of the primal is zero; central
 * differences of the objective by definition see it. */
static void check_gradient(void) {
    struct reference_data rows;
    random_rows(&rows, 40, 6, 2, 1, 31);
    for (int kind = 0; kind < 4; kind++) {
        bool linear = kind & 1;
        double cost = kind & 2 ? 5 : .05;
        struct fit fit = {&rows,       {linear ? 0 : 2, 3, .5, 0},
                          linear,      SPARSE,
                          all_pairs(), {RANK_SQUARED_HINGE, RANK_NEWTON, cost, 1e-11, 0, 0},
                          0,           1};
        struct solution solution;
        if (solve_and_check(&fit, &solution)) {
            double *gram = reference_gram(&fit.kernel, &rows), step = 1e-4;
            struct reference_pairs pairs;
            list_pairs(&pairs, &rows, &fit.preferences, cost);
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
        }
        solution_free(&solution);
    }
    reference_data_free(&rows);
    puts("ok: the squared hinge's gradient vanishes at the fit, by finite differences");
}

static void check_early_stop(void) {
    struct reference_data rows;
    random_rows(&rows, 30, 5, 2, 1, 41);
    for (uint64_t stop = 1; stop <= 4; stop++) {
        for (int kind = 0; kind < 6; kind++) {
            struct fit fit = {&rows,       {kind % 2 ? 6 : 0, 3, 1, 0},
                              !(kind % 2), SPARSE,
                              all_pairs(), {RANK_HINGE, RANK_OCAS, 10, 1e-9, 0, 0},
                              stop,        1};
            fit.parameters.loss = kind / 2 == 1 ? RANK_SQUARED_HINGE : RANK_HINGE;
            fit.parameters.method = kind / 2 == 0   ? RANK_OCAS
                                    : kind / 2 == 1 ? RANK_NEWTON
                                                    : RANK_FW;
            fit_once(&fit);
        }
    }
    reference_data_free(&rows);
    puts("ok: a fit that is stopped early still brackets the optimum and says why it stopped");
}

/* ---- checks that keep a handle open ---- */

static void check_path(void) {
    struct reference_data rows;
    random_rows(&rows, 40, 4, 3, 1, 51);
    for (int kind = 0; kind < 4; kind++) {
        bool linear = kind & 1;
        struct error err = {0};
        struct data data;
        struct gram *gram = NULL;
        struct rank *rank = NULL;
        struct kernel kernel = {KERNEL_TANIMOTO, 3, 1, 0};
        struct rank_preferences preferences = all_pairs();
        struct reference_kernel reference = {linear ? 0 : 5, 3, 1, 0};
        rows_to_data(&data, &rows, DENSE);
        CHECK(linear || gram_create(&gram, &kernel, &data, 1 << 24, true, NULL, &err) == 0, "%s",
              err.text);
        struct problem problem = {.data = &data, .gram = gram, .n = data.n_rows};
        if (rank_open(&rank, &problem, &preferences, &err) != 0) {
            CHECK(false, "%s", err.text);
        }
        /* up, down, and one point twice: a start must never change what is reached */
        static const double path[] = {1e-3, 1e-2, 1, 50, 50, 3, 1e-3, 1e3, 1e-1};
        for (size_t c = 0; rank && c < sizeof path / sizeof *path; c++) {
            struct rank_parameters parameters = {
                kind & 2 ? RANK_SQUARED_HINGE : RANK_HINGE, RANK_AUTO, path[c], 1e-6, 0, 0};
            struct solution solution = {0};
            struct reference_pairs pairs;
            double primal, dual;
            list_pairs(&pairs, &rows, &preferences, path[c]);
            reference_optimum(&rows, &reference, &pairs, false, kind & 2, 1e-9, &primal, &dual);
            int status = rank_solve(rank, &parameters, NULL, &solution, &err);
            CHECK(status == 0 && solution.converged, "kind %d C %g: %s", kind, path[c],
                  status ? err.text : "not converged");
            CHECK(status || (solution.primal >= dual * (1 - 2e-9) &&
                             solution.dual <= primal * (1 + 2e-9) &&
                             gap_relative(solution.primal, solution.dual) <= 1e-6),
                  "kind %d C %g: [%.12g, %.12g], optimum %.12g", kind, path[c], solution.dual,
                  solution.primal, primal);
            solution_free(&solution);
            reference_pairs_free(&pairs);
        }
        rank_close(rank);
        gram_free(gram);
        data_free(&data);
    }
    reference_data_free(&rows);
    puts("ok: a path over C in any order reaches each optimum");
}

static void check_subset(void) {
    struct reference_data rows, part;
    random_rows(&rows, 50, 4, 3, 1, 61);
    random_rows(&part, 25, 4, 1, 1, 62);
    uint32_t chosen[25];
    for (size_t i = 0; i < 25; i++) { /* every second row, backwards */
        chosen[i] = (uint32_t)(48 - 2 * i);
        memcpy(part.x + i * part.width, rows.x + chosen[i] * rows.width,
               part.width * sizeof(double));
        part.t[i] = rows.t[chosen[i]];
        part.query[i] = rows.query[chosen[i]];
    }
    struct error err = {0};
    struct data data;
    struct gram *gram = NULL;
    struct rank *rank = NULL;
    struct kernel kernel = {KERNEL_RBF, 3, .5, 0};
    struct reference_kernel reference = {2, 3, .5, 0};
    struct rank_preferences preferences = all_pairs();
    rows_to_data(&data, &rows, SPARSE);
    CHECK(gram_create(&gram, &kernel, &data, 1 << 24, true, NULL, &err) == 0, "%s", err.text);
    struct problem problem = {.data = &data, .gram = gram, .rows = chosen, .n = 25};
    CHECK(rank_open(&rank, &problem, &preferences, &err) == 0, "%s", err.text);
    for (int loss = 0; rank && loss < 2; loss++) {
        struct rank_parameters parameters = {
            loss ? RANK_SQUARED_HINGE : RANK_HINGE, RANK_AUTO, 2, 1e-6, 0, 0};
        struct solution solution = {0};
        struct reference_pairs pairs;
        double primal, dual, *matrix = reference_gram(&reference, &part);
        list_pairs(&pairs, &part, &preferences, 2);
        reference_optimum(&part, &reference, &pairs, false, loss, 1e-9, &primal, &dual);
        CHECK(rank_solve(rank, &parameters, NULL, &solution, &err) == 0, "%s", err.text);
        double at = objective(&part, matrix, &pairs, loss, false, &solution);
        CHECK(fabs(at - solution.primal) <= 1e-9 * at, "%.17g at the weights, said %.17g", at,
              solution.primal);
        CHECK(solution.primal >= dual * (1 - 2e-9) && solution.dual <= primal * (1 + 2e-9) &&
                  gap_relative(solution.primal, solution.dual) <= 1e-6,
              "[%.12g, %.12g], optimum %.12g", solution.dual, solution.primal, primal);
        solution_free(&solution);
        reference_pairs_free(&pairs);
        free(matrix);
    }
    rank_close(rank);
    gram_free(gram);
    data_free(&data);
    reference_data_free(&part);
    reference_data_free(&rows);
    puts("ok: some rows of a shared kernel matrix are fitted as a set of their own");
}

/* Fits and gives the weights, for comparisons between fits; the caller frees the solution. */
static void plain_fit(const struct reference_data *rows, bool linear, enum rank_loss loss,
                      const struct rank_preferences *preferences, size_t n_threads,
                      struct rank_counts *counts, struct solution *solution) {
    struct error err = {0};
    struct data data;
    struct gram *gram = NULL;
    struct rank *rank = NULL;
    struct threads *threads = NULL;
    struct kernel kernel = {KERNEL_MINMAX, 3, 1, 0};
    struct rank_parameters parameters = {loss, RANK_AUTO, 1, 1e-7, 0, 0};
    memset(solution, 0, sizeof *solution);
    rows_to_data(&data, rows, SPARSE);
    bool ok = n_threads < 2 || threads_create(&threads, n_threads, &err) == 0;
    ok = ok && (linear || gram_create(&gram, &kernel, &data, 1 << 24, true, threads, &err) == 0);
    struct problem problem = {.data = &data, .gram = gram, .n = data.n_rows, .threads = threads};
    ok = ok && rank_open(&rank, &problem, preferences, &err) == 0;
    if (ok) {
        *counts = rank_counts(rank);
        ok = rank_solve(rank, &parameters, NULL, solution, &err) == 0;
    }
    CHECK(ok, "%s", err.text);
    rank_close(rank);
    gram_free(gram);
    threads_free(threads);
    data_free(&data);
}

static void check_threads(void) {
    struct reference_data rows;
    struct rank_preferences preferences = all_pairs();
    random_rows(&rows, 700, 12, 5, 0, 71);
    for (int kind = 0; kind < 4; kind++) {
        struct solution one, two;
        struct rank_counts counts;
        bool linear = kind & 1;
        size_t size = linear ? rows.width - 1 : rows.n;
        enum rank_loss loss = kind & 2 ? RANK_SQUARED_HINGE : RANK_HINGE;
        plain_fit(&rows, linear, loss, &preferences, 1, &counts, &one);
        plain_fit(&rows, linear, loss, &preferences, 2, &counts, &two);
        if (one.weights && two.weights) {
            CHECK(memcmp(one.weights, two.weights, size * sizeof(double)) == 0,
                  "kind %d: weights differ", kind);
            CHECK(one.primal == two.primal && one.dual == two.dual, "kind %d: bounds differ", kind);
        }
        solution_free(&one);
        solution_free(&two);
    }
    reference_data_free(&rows);
    puts("ok: one and two threads give the same bits");
}

static void check_fraction(void) {
    struct reference_data rows;
    random_rows(&rows, 60, 4, 2, 0, 81);
    struct rank_preferences preferences = all_pairs();
    struct rank_counts all, part, again, other;
    struct solution full, one, same, different;
    plain_fit(&rows, true, RANK_SQUARED_HINGE, &preferences, 1, &all, &full);
    preferences.fraction = .3;
    plain_fit(&rows, true, RANK_SQUARED_HINGE, &preferences, 1, &part, &one);
    plain_fit(&rows, true, RANK_SQUARED_HINGE, &preferences, 1, &again, &same);
    preferences.seed = 2;
    plain_fit(&rows, true, RANK_SQUARED_HINGE, &preferences, 1, &other, &different);
    CHECK(fabs(part.n_pairs - .3 * all.n_pairs) <= 2, "%g of %g pairs", part.n_pairs, all.n_pairs);
    CHECK(part.n_pairs == again.n_pairs && part.n_pairs == other.n_pairs, "%g, %g, %g pairs",
          part.n_pairs, again.n_pairs, other.n_pairs);
    if (full.weights && one.weights && same.weights && different.weights) {
        size_t bytes = (rows.width - 1) * sizeof(double);
        CHECK(memcmp(one.weights, same.weights, bytes) == 0, "one seed, two fits");
        CHECK(memcmp(one.weights, different.weights, bytes) != 0, "two seeds, one fit");
        CHECK(one.dual < full.primal, "fewer pairs cost more: %g, all %g", one.dual, full.primal);
    }
    solution_free(&full);
    solution_free(&one);
    solution_free(&same);
    solution_free(&different);
    reference_data_free(&rows);
    puts("ok: a fraction of the pairs is drawn by the seed alone");
}

/* ---- degenerate problems ---- */

static void check_degenerate(void) {
    struct reference_data rows;
    random_rows(&rows, 12, 2, 2, 1, 91);
    memset(rows.x, 0, rows.n * rows.width * sizeof(double));
    for (int kind = 0; kind < 8; kind++) { /* all rows zero, then all rows equal: f = 0 */
        struct fit fit = {
            &rows,       {kind & 1 ? 2 : 0, 3, 1, 0},
            !(kind & 1), SPARSE,
            all_pairs(), {kind & 2 ? RANK_SQUARED_HINGE : RANK_HINGE, RANK_AUTO, 10, 1e-6, 0, 0},
            0,           1};
        for (size_t i = 0; kind == 4 && i < rows.n; i++) {
            rows.x[i * rows.width + 1] = 3;
        }
        fit_once(&fit);
    }
    reference_data_free(&rows);

    random_rows(&rows, 2, 1, 1, 0, 92); /* one pair, on paper: alpha = min(C, 1/|x_i - x_j|^2) */
    rows.x[1] = 3, rows.x[3] = 1, rows.t[0] = 1, rows.t[1] = 0;
    for (int c = 0; c < N_COSTS; c++) {
        struct fit fit = {&rows,       {0, 3, 1, 0},
                          true,        DENSE,
                          all_pairs(), {RANK_HINGE, RANK_AUTO, costs[c], 1e-6, 0, 0},
                          0,           1};
        struct solution solution;
        double alpha = costs[c] < .25 ? costs[c] : .25;
        if (solve_and_check(&fit, &solution)) {
            CHECK(fabs(solution.weights[0] - 2 * alpha) < 1e-2 * alpha, "w %g at C %g",
                  solution.weights[0], costs[c]);
        }
        solution_free(&solution);
        fit.parameters.loss = RANK_SQUARED_HINGE;
        alpha = 1 / (4 + 1 / (2 * costs[c]));
        if (solve_and_check(&fit, &solution)) {
            CHECK(fabs(solution.weights[0] - 2 * alpha) < 1e-2 * alpha, "w %g at C %g",
                  solution.weights[0], costs[c]);
        }
        solution_free(&solution);
    }
    reference_data_free(&rows);
    puts("ok: rows that are all equal, and one pair, are solved as on paper");
}

static void check_refusals(void) {
    struct reference_data rows;
    struct error err = {0};
    struct data data;
    struct rank *rank = NULL;
    struct rank_preferences preferences = all_pairs();
    random_rows(&rows, 10, 2, 2, 1, 95);
    for (size_t i = 0; i < rows.n; i++) {
        rows.t[i] = (double)rows.query[i]; /* equal within each query */
    }
    rows_to_data(&data, &rows, SPARSE);
    struct problem problem = {.data = &data, .n = data.n_rows};
    CHECK(rank_open(&rank, &problem, &preferences, &err) == -1, "no pair was accepted");
    CHECK(err.kind == ERROR_RUNTIME && err.text[0], "no pair: kind %d text %s", (int)err.kind,
          err.text);
    data_free(&data);

    rows.t[0] += 1; /* query 3 has pairs now, query 4 none */
    rows_to_data(&data, &rows, SPARSE);
    memset(&err, 0, sizeof err);
    CHECK(rank_open(&rank, &problem, &preferences, &err) == 0, "%s", err.text);
    struct rank_counts counts = rank_counts(rank);
    CHECK(counts.n_groups == 2 && counts.n_groups_without_pairs == 1 && counts.n_pairs == 4,
          "%zu groups, %zu without, %g pairs", counts.n_groups, counts.n_groups_without_pairs,
          counts.n_pairs);
    struct rank_parameters parameters = {RANK_SQUARED_HINGE, RANK_FW, 1, 1e-3, 0, 0};
    struct solution solution = {0};
    CHECK(rank_solve(rank, &parameters, NULL, &solution, &err) == -1 && err.text[0],
          "fw took the squared hinge");
    solution_free(&solution);
    rank_close(rank);
    rank = NULL;

    data_free(&data);

    for (size_t i = 0; i < rows.n; i++) { /* scores near or beyond what numbers hold */
        rows.t[i] = (double)i;
        rows.x[i * rows.width + 1] = (double)(float)(i % 3 ? 3e38 : -3e38);
    }
    rows_to_data(&data, &rows, SPARSE);
    problem.gram = NULL;
    memset(&err, 0, sizeof err);
    memset(&solution, 0, sizeof solution);
    parameters.method = RANK_AUTO;
    if (rank_open(&rank, &problem, &preferences, &err) == 0) {
        int status = rank_solve(rank, &parameters, NULL, &solution, &err);
        CHECK(status == 0 ? isfinite(solution.primal) && solution.dual <= solution.primal
                          : err.text[0] != 0,
              "status %d primal %g dual %g", status, solution.primal, solution.dual);
        solution_free(&solution);
        rank_close(rank);
    } else {
        CHECK(err.text[0], "refused without a word");
    }
    data_free(&data);
    reference_data_free(&rows);
    puts("ok: what cannot be solved is refused with a reason");
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    check_sums();
    check_linear();
    check_kernels();
    check_preferences();
    check_conditional_gradient();
    check_exterior();
    check_gradient();
    check_early_stop();
    check_path();
    check_subset();
    check_threads();
    check_fraction();
    check_degenerate();
    check_refusals();
    return 0;
}
