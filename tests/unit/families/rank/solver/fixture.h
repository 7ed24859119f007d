/* Random preference problems, the objective by its definition, and a fit whose promises are
 * checked: the reported primal is the objective at the returned weights; dual <= optimum <= primal;
 * the reported gap is (P - D) / P, and within epsilon if the fit says that it converged; and it
 * converges on problems as small as these. */
#ifndef TESTS_UNIT_FAMILIES_RANK_SOLVER_FIXTURE_H
#define TESTS_UNIT_FAMILIES_RANK_SOLVER_FIXTURE_H

#include "common/base/gap.h"
#include "common/kernel/gram.h"
#include "common/kernel/kernel.h"
#include "families/rank/solver/pairs.h"
#include "families/rank/solver/rank.h"
#include "tests/unit/check.h"
#include "tests/unit/families/rank/solver/reference.h"

static inline double uniform(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* ---- problems: the same rows for the reference and for the solver ---- */

enum shape { SPARSE, DENSE };

static inline struct reference_data random_rows(size_t n, size_t features, size_t groups,
                                                int grades, uint64_t seed) {
    struct reference_data rows = {.n = n, .width = features + 1};
    rows.x = check_numbers(n * rows.width);
    rows.t = check_numbers(n);
    rows.query = check_array(n, sizeof(unsigned long));
    for (size_t i = 0; i < n; i++) {
        double sum = 2 * (uniform(&seed) - .5);
        for (size_t c = 1; c <= features; c++) {
            double value = uniform(&seed) < .3 ? 0 : 2 * uniform(&seed);
            rows.x[i * rows.width + c] = (double)(float)value;
            sum += (c % 2 ? value : -value);
        }
        rows.t[i] = grades > 0 ? floor(sum) : sum;
        rows.query[i] = (unsigned long)(3 + i % groups);
    }
    return rows;
}

/* Rows as data. Column c - 1 of the reference is index c. The caller calls data_free. */
static inline struct data rows_to_data(const struct reference_data *rows, enum shape shape) {
    size_t n = rows->n, features = rows->width - 1;
    struct data data = {.n_rows = n, .n_features = (uint32_t)features, .labels = DATA_NUMBER};
    data.target = reference_alloc(n, sizeof(double));
    data.query = reference_alloc(n, sizeof(uint64_t));
    data.value = reference_alloc(n * features, sizeof(float));
    for (size_t i = 0; i < n; i++) {
        data.target[i] = rows->t[i];
        data.query[i] = rows->query[i];
        for (size_t c = 0; c < features; c++) {
            data.value[i * features + c] = (float)rows->x[i * rows->width + c + 1];
        }
    }
    if (shape == SPARSE) {
        MUST(data_make_sparse(&data, &err));
    }
    return data;
}

static inline struct rank_preferences all_pairs(void) {
    struct rank_preferences preferences = {
        .gap_low = 1, .gap_high = UINT32_MAX, .fraction = 1, .seed = 1};
    return preferences;
}

/* The reference problem of the same preferences (fraction 1). */
static inline struct reference_pairs list_pairs(const struct reference_data *rows,
                                                const struct rank_preferences *preferences,
                                                double cost) {
    unsigned unit = preferences->unit + (preferences->linear_gain ? 2U : 0);
    struct reference_pairs pairs = reference_pairs_list(
        rows, preferences->gap_low, preferences->gap_high, cost, (enum reference_unit)unit);
    for (size_t p = 0; p < pairs.m; p++) {
        for (size_t w = 0; w < preferences->n_weights; w++) {
            if (rows->query[pairs.i[p]] == preferences->weight_query[w]) {
                pairs.cost[p] *= preferences->weight[w];
            }
        }
    }
    return pairs;
}

/* The same in the solver. The caller calls rank_pairs_free. */
static inline struct rank_pairs solver_pairs(const struct data *data,
                                             const struct rank_preferences *preferences) {
    const struct problem problem = {.data = data, .n = data->n_rows};
    struct rank_pairs pairs;
    MUST(rank_pairs_create(&pairs, &problem, preferences, &err));
    return pairs;
}

/* ---- the objective at a solution, by definition ---- */

static inline double *exterior_margins(const struct reference_pairs *pairs, const double *gram,
                                       size_t n, const struct pair_coefficient *pair,
                                       size_t n_coefficients, double *norm) {
    struct reference_pairs support = {n_coefficients, NULL, NULL, NULL};
    support.i = reference_alloc(n_coefficients, sizeof(size_t));
    support.j = reference_alloc(n_coefficients, sizeof(size_t));
    double *margin = check_numbers(pairs->m);
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
static inline double objective(const struct reference_data *rows, const double *gram,
                               const struct reference_pairs *pairs, bool squared, bool linear,
                               const struct solution *solution) {
    size_t n = rows->n, features = rows->width - 1;
    double *score = check_numbers(n), norm = 0, loss = 0, *margin;
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
        margin = check_numbers(pairs->m);
        for (size_t p = 0; p < pairs->m; p++) {
            margin[p] = score[pairs->i[p]] - score[pairs->j[p]];
        }
    }
    for (size_t p = 0; p < pairs->m; p++) {
        loss += pairs->cost[p] * reference_loss(1 - margin[p], squared);
    }
    return norm / 2 + loss;
}

/* ---- one fit and its promises ---- */

struct watch {
    double optimum, slack; /* running bounds may err by slack, relative to the optimum */
    uint64_t stop_after;   /* iterations after which the monitor stops the fit; 0: never */
    uint64_t calls;
    double crossed; /* by how much a running bound was on the wrong side, over the slack */
};

static inline enum stop_reason watch_check(void *context, uint64_t iteration, double primal,
                                           double dual) {
    struct watch *watch = context;
    (void)iteration;
    watch->calls++;
    double slack = watch->slack * fabs(watch->optimum);
    watch->crossed = fmax(watch->crossed, (watch->optimum - primal) / slack);
    watch->crossed = fmax(watch->crossed, (dual - watch->optimum) / slack);
    return watch->stop_after > 0 && watch->calls >= watch->stop_after ? STOP_ITERATIONS : 0;
}

struct fit {
    const struct reference_data *rows;
    struct reference_kernel kernel;
    bool linear; /* w in feature space: no kernel matrix */
    enum shape shape;
    struct rank_preferences preferences;
    struct rank_parameters parameters;
    uint64_t stop_after;
};

/* A fit with the hinge, to its end. */
static inline struct fit fit_of(const struct reference_data *rows, bool linear,
                                struct reference_kernel kernel, enum shape shape,
                                enum rank_method method, double cost, double epsilon) {
    return (struct fit){.rows = rows,
                        .kernel = kernel,
                        .linear = linear,
                        .shape = shape,
                        .preferences = all_pairs(),
                        .parameters = {RANK_HINGE, method, cost, epsilon, 0, 0}};
}

static const char *describe(const struct fit *fit) {
    static const char *const unit[] = {"", " per query", " per ndcg", " per gain"};
    static char text[300];
    snprintf(text, sizeof text,
             "%s kernel %d %s loss %d method %d C %g epsilon %g window %u:%u%s%s n %zu",
             fit->linear ? "linear" : "gram", fit->kernel.type,
             fit->shape == DENSE ? "dense" : "sparse", (int)fit->parameters.loss,
             (int)fit->parameters.method, fit->parameters.cost, fit->parameters.epsilon,
             (unsigned)fit->preferences.gap_low, (unsigned)fit->preferences.gap_high,
             unit[fit->preferences.unit], fit->preferences.exterior ? " exterior" : "",
             fit->rows->n);
    return text;
}

/* Solves and checks the promises. *solution is to be freed by the caller. */
static inline void solve_and_check(const struct fit *fit, struct solution *solution) {
    const struct reference_data *rows = fit->rows;
    bool squared = fit->parameters.loss == RANK_SQUARED_HINGE;
    /* else the kernel matrix is in float */
    bool exact = fit->linear || fit->parameters.epsilon < 1e-4;
    struct kernel kernel = {(enum kernel_type)fit->kernel.type, fit->kernel.degree,
                            fit->kernel.gamma, fit->kernel.coef0};
    struct gram *gram = NULL;
    struct rank *rank;
    double optimum_primal, optimum_dual;
    struct data data = rows_to_data(rows, fit->shape);
    struct reference_pairs pairs = list_pairs(rows, &fit->preferences, fit->parameters.cost);
    bool reached = reference_optimum(rows, &fit->kernel, &pairs, fit->preferences.exterior, squared,
                                     1e-9, &optimum_primal, &optimum_dual);
    CHECK(reached, "the reference stopped at %g: %s",
          (optimum_primal - optimum_dual) / optimum_primal, describe(fit));
    if (!fit->linear) {
        MUST(gram_create(&gram, &kernel, &data, (size_t)1 << 24, exact, NULL, &err));
    }
    struct problem problem = {
        .data = &data, .gram = gram, .n = data.n_rows, .cache_bytes = (size_t)1 << 24};
    CHECK(rank_create(&rank, &problem, &fit->preferences, &err) == 0, "%s: %s", err.text,
          describe(fit));
    /* with a matrix in float, running bounds are as inaccurate; the final ones are exact */
    struct watch watch = {optimum_dual, exact ? 1e-6 : 1, fit->stop_after, 0, 0};
    struct monitor monitor = {.context = &watch, .check = watch_check};
    CHECK(rank_counts(rank).n_pairs == (double)pairs.m, "%g pairs, not %zu: %s",
          rank_counts(rank).n_pairs, pairs.m, describe(fit));
    CHECK(rank_solve(rank, &fit->parameters, &monitor, solution, &err) == 0, "%s: %s", err.text,
          describe(fit));
    CHECK(watch.crossed <= 1, "a bound told on the way is on the wrong side by %g: %s",
          watch.crossed * watch.slack, describe(fit));
    double *matrix = reference_gram(&fit->kernel, rows);
    double primal = objective(rows, matrix, &pairs, squared, fit->linear, solution);
    double slack = 2e-9 * optimum_primal;
    double paid = solution->primal - primal; /* rounding-error bound */
    CHECK(paid >= -1e-12 * primal && paid <= 1e-6 * primal, "%.17g at the weights, said %.17g: %s",
          primal, solution->primal, describe(fit));
    CHECK(solution->primal >= optimum_dual - slack, "primal %.17g, optimum %.17g: %s",
          solution->primal, optimum_dual, describe(fit));
    CHECK(solution->dual <= optimum_primal + slack, "dual %.17g, optimum %.17g: %s", solution->dual,
          optimum_primal, describe(fit));
    double gap = gap_relative(solution->primal, solution->dual);
    if (fit->parameters.stop == RANK_GAP || fit->parameters.method != RANK_FW) {
        CHECK(!solution->converged || gap <= fit->parameters.epsilon, "gap %g: %s", gap,
              describe(fit));
    }
    if (fit->stop_after == 0 && !exact && fit->parameters.cost > 100) {
        /* rounding of a matrix in float may end the fit, and it must say so */
        CHECK(gap <= 1e-2 && (solution->converged || solution->reason), "gap %g: %s", gap,
              describe(fit));
    } else if (fit->stop_after == 0) {
        /* a smaller gap may be the rounding-error bound */
        CHECK(solution->converged || gap <= 1e-7, "gap %g after %llu iterations, %s: %s", gap,
              (unsigned long long)solution->iterations, stop_message(solution->reason),
              describe(fit));
    } else {
        CHECK(solution->converged || solution->reason, "no reason: %s", describe(fit));
    }
    free(matrix);
    rank_free(rank);
    gram_free(gram);
    data_free(&data);
    reference_pairs_free(&pairs);
}

static inline void fit_once(const struct fit *fit) {
    struct solution solution;
    solve_and_check(fit, &solution);
    solution_free(&solution);
}

static const double costs[] = {1e-3, 1e-1, 1, 30, 1e3};
enum { N_COSTS = sizeof costs / sizeof *costs };

#endif
