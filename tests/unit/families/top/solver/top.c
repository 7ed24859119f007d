/* Classification at the top, against its definitions (fixture.h), and its solvers against one
 * another; tests/optima has optima of another one. */
#include "fit/monitor.h"
#include "tests/unit/families/top/solver/fixture.h"

/* ---- optima ---- */

static const struct top_setting settings[] = {
    {.formulation = TOP_PUSH, .positive = is_positive},
    {.formulation = TOP_PUSH_K, .positive = is_positive, .k = 3},
    {.formulation = TOP_PUSH_K, .positive = is_positive, .k = 2.5},
    {.formulation = TOP_TAU_FPL, .positive = is_positive, .tau = .15},
    {.formulation = TOP_MEAN_K, .positive = is_positive, .tau = .4},
    {.formulation = TOP_PAT_MAT, .positive = is_positive, .tau = .2, .theta = 1},
    {.formulation = TOP_PAT_MAT, .positive = is_positive, .tau = .2, .theta = .1},
    {.formulation = TOP_PAT_MAT_NP, .positive = is_positive, .tau = .1, .theta = 1},
    {.formulation = TOP_PAT_MAT_NP, .positive = is_positive, .tau = .3, .theta = .3}};

/* One problem by all solvers: the largest dual is the optimum up to 1e-6. Returns how far pairs
 * alone are from it. */
static double check_solvers(const struct setup *setup, const struct top_setting *setting,
                            struct top_parameters parameters, const char *what) {
    static const enum top_method methods[] = {TOP_AUTO, TOP_SMO, TOP_BUNDLE, TOP_CD};
    double lowest = INFINITY, highest = 0, dual = 0, distance = 0;
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        parameters.method = methods[m];
        struct fit fit = fit_at(setup, setting, &parameters);
        double primal = fit.solution.primal, gap = primal - fit.solution.dual;
        bool stuck = methods[m] == TOP_CD && !fit.solution.converged;
        dual = fit.solution.dual;
        lowest = fmin(lowest, primal);
        highest = fmax(highest, dual);
        CHECK(stuck || (fit.solution.converged && gap <= 1e-6 * primal), "%s, method %zu: gap %g",
              what, m, gap_relative(primal, dual));
        CHECK(highest <= lowest * (1 + 1e-9), "%s, method %zu: %.12g above %.12g", what, m, highest,
              lowest);
        double plain = plain_primal(setup, setting, &parameters, fit.solution.weights);
        CHECK_NEAR(primal, plain, 1e-9, "%s, method %zu", what, m);
        /* cd must end at the optimum if no moving cap stalls it */
        bool quantile =
            setting->formulation == TOP_PAT_MAT || setting->formulation == TOP_PAT_MAT_NP;
        bool caps = setting->formulation != TOP_PUSH && (!quantile || parameters.loss == TOP_HINGE);
        CHECK(methods[m] != TOP_CD || caps || gap <= 1e-4 * primal, "%s: cd ends at a gap of %g",
              what, gap_relative(primal, dual));
        distance = stuck ? (highest - dual) / highest : 0;
        solution_free(&fit.solution);
    }
    return distance;
}

static void check_optima(void) {
    struct data data = random_rows(36, 4, 12, 1, 13);
    struct kernel rbf = {.type = KERNEL_RBF, .gamma = 0.125};
    double furthest = 0;
    for (size_t f = 0; f < sizeof settings / sizeof settings[0]; f++) {
        for (int variant = 0; variant < 8; variant++) {
            struct setup setup = {.data = &data, .kernel = variant & 1 ? &rbf : NULL};
            struct top_parameters parameters = parameters_of(
                variant & 2 ? TOP_SQUARED_HINGE : TOP_HINGE, TOP_AUTO, variant & 4 ? 2 : .1, 1e-6);
            char what[64];
            snprintf(what, sizeof what, "setting %zu, variant %d", f, variant);
            furthest = fmax(furthest, check_solvers(&setup, &settings[f], parameters, what));
        }
    }
    CHECK(furthest > 0.01, "pairs alone are expected to stall");
    data_free(&data);
    printf("ok: solvers agree (pairs alone end up to %.0f%% off)\n", 100 * furthest);
}

/* Pairs alone stall at moving caps; steps of the capped block do not. */
static void check_aggregate(void) {
    struct data data = random_rows(200, 5, 40, 1, 3);
    struct kernel rbf = {.type = KERNEL_RBF, .gamma = 0.2};
    struct setup setup = {.data = &data, .kernel = &rbf};
    const struct top_setting capped[] = {setting_of(TOP_TAU_FPL, 0, 0.3, 0),
                                         setting_of(TOP_PAT_MAT_NP, 0, 0.05, 0.05)};
    for (size_t i = 0; i < 2; i++) {
        double dual[2];
        for (int pairs = 0; pairs < 2; pairs++) {
            struct top_parameters parameters =
                parameters_of(TOP_HINGE, pairs ? TOP_CD : TOP_SMO, 5, 1e-6);
            struct fit fit = fit_at(&setup, &capped[i], &parameters);
            CHECK(fit.solution.converged == !pairs, "setting %zu: gap %g", i,
                  gap_relative(fit.solution.primal, fit.solution.dual));
            dual[pairs] = fit.solution.dual;
            solution_free(&fit.solution);
        }
        CHECK(dual[1] < 0.99 * dual[0], "setting %zu: pairs alone reach %g of %g", i, dual[1],
              dual[0]);
    }
    data_free(&data);
    printf("ok: with the capped block moving, smo converges where pairs alone stall\n");
}

/* ---- extreme inputs ---- */

static void check_ends(void) {
    struct kernel rbf = {.type = KERNEL_RBF, .gamma = 0.25};
    static const enum top_formulation formulations[] = {
        TOP_PUSH, TOP_PUSH_K, TOP_TAU_FPL, TOP_MEAN_K, TOP_PAT_MAT, TOP_PAT_MAT_NP, TOP_SVM};
    static const double costs[] = {1e-6, 1, 1e6};
    enum { KINDS = 7 };
    size_t fits = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        /* plain, one positive, one negative, equal rows, ties, zero rows, all rows equal */
        size_t n = 24, positives = kind == 1 ? 1 : kind == 2 ? 23 : 8;
        struct data data = random_rows(n, 3, positives, 1.5, 51 + (uint64_t)kind);
        for (size_t i = 0; i < n * 3; i++) {
            if (kind == 3) {
                data.value[i] = data.value[i % 18];
            } else if (kind == 4) {
                data.value[i] = roundf(data.value[i]);
            } else if (kind == 5 && i / 3 % 4 == 0) {
                data.value[i] = 0;
            } else if (kind == 6) {
                data.value[i] = 1;
            }
        }
        for (size_t f = 0; f < sizeof formulations / sizeof formulations[0]; f++) {
            for (int c = 0; c < 3; c++) {
                for (int variant = 0; variant < 8; variant += quick_step(3)) {
                    double n_negative = (double)(n - positives);
                    struct top_setting setting =
                        variant & 4 ? setting_of(formulations[f], n_negative, 1e-3, 1e-5)
                                    : setting_of(formulations[f], fmin(n_negative, 2.5), .4, 1);
                    struct top_parameters parameters = parameters_of(
                        variant & 1 ? TOP_SQUARED_HINGE : TOP_HINGE, TOP_AUTO, costs[c], 1e-6);
                    struct setup setup = {.data = &data, .kernel = variant & 2 ? &rbf : NULL};
                    struct fit fit = fit_at(&setup, &setting, &parameters);
                    char what[80];
                    snprintf(what, sizeof what, "kind %d formulation %zu C %g variant %d", kind, f,
                             costs[c], variant);
                    CHECK(fit.solution.converged, "%s: gap %g %s", what,
                          gap_relative(fit.solution.primal, fit.solution.dual),
                          stop_message(fit.solution.reason));
                    double plain =
                        plain_primal(&setup, &setting, &parameters, fit.solution.weights);
                    /* the rounding-error bound is a part of the gap */
                    CHECK(plain <= fit.solution.primal * (1 + 1e-12) &&
                              fit.solution.primal <= plain * (1 + 1e-6),
                          "%s: %.12g is %.12g", what, fit.solution.primal, plain);
                    solution_free(&fit.solution);
                    fits++;
                }
            }
        }
        data_free(&data);
    }
    printf("ok: %zu fits at the ends of what may come reach 1e-6\n", fits);
}

static void check_trivial(void) {
    /* positives in the middle of negatives: no w is better than 0 */
    static const float cross[] = {0, 0, 0.1F, 0, -0.1F, 0, 2, 0, -2, 0, 0, 2, 0, -2};
    struct data data = rows_of(cross, 7, 2, 3);
    for (int f = 0; f < 4; f++) {
        static const enum top_formulation formulations[] = {TOP_PUSH, TOP_PUSH_K, TOP_MEAN_K,
                                                            TOP_TAU_FPL};
        for (int method = TOP_AUTO; method <= TOP_BUNDLE; method++) {
            for (int loss = 0; loss < 2; loss++) {
                struct top_setting setting = setting_of(formulations[f], 2, .3, 0);
                struct top_parameters parameters =
                    parameters_of((enum top_loss)loss, (enum top_method)method, 2, 1e-3);
                struct fit fit = fit_at(&(struct setup){.data = &data}, &setting, &parameters);
                CHECK(fit.solution.zero && fit.solution.converged,
                      "formulation %d method %d: not seen: primal %.17g, dual %.17g", f, method,
                      fit.solution.primal, fit.solution.dual);
                CHECK_TRUE(fit.solution.weights[0] == 0 && fit.solution.weights[1] == 0);
                CHECK_CLOSE(fit.solution.primal, 6, 1e-12, "primal");
                solution_free(&fit.solution);
            }
        }
    }
    data_free(&data);
    /* a tiny C has a tiny w, which is not 0 */
    data = random_rows(40, 3, 10, 2, 61);
    struct top_setting setting = setting_of(TOP_PUSH_K, 3, 0, 0);
    for (int method = TOP_AUTO; method <= TOP_BUNDLE; method++) {
        struct top_parameters parameters =
            parameters_of(TOP_HINGE, (enum top_method)method, 1e-6, 1e-3);
        struct fit fit = fit_at(&(struct setup){.data = &data}, &setting, &parameters);
        CHECK(!fit.solution.zero && fit.solution.weights[0] > 0, "method %d: nothing at a small C",
              method);
        solution_free(&fit.solution);
    }
    data_free(&data);
    printf("ok: w = 0 is said to be optimal where it is, and only there\n");
}

/* ---- limits and refusals ---- */

static enum stop_reason stop_at_once(void *context, uint64_t iteration, double primal,
                                     double dual) {
    (void)primal, (void)dual;
    return iteration >= *(uint64_t *)context ? STOP_ITERATIONS : 0;
}

static void check_limits(void) {
    struct data data = random_rows(300, 6, 60, 0.3, 81);
    struct kernel rbf = {.type = KERNEL_RBF, .gamma = 0.5};
    uint64_t most = 100;
    struct monitor monitor = {.context = &most, .check = stop_at_once};
    struct top_setting setting = setting_of(TOP_PUSH_K, 3, 0, 0);
    for (int method = TOP_AUTO; method <= TOP_CD; method++) {
        struct top_parameters parameters =
            parameters_of(TOP_HINGE, (enum top_method)method, 100, 1e-9);
        most = method == TOP_SMO || method == TOP_AUTO ? 100 : 3;
        struct setup setup = {.data = &data, .kernel = &rbf, .monitor = &monitor};
        struct fit fit = fit_at(&setup, &setting, &parameters);
        double plain = plain_primal(&setup, &setting, &parameters, fit.solution.weights);
        CHECK(!fit.solution.converged && fit.solution.reason == STOP_ITERATIONS,
              "method %d did not stop", method);
        CHECK_NEAR(fit.solution.primal, plain, 1e-9, "method %d: primal", method);
        CHECK(fit.solution.dual <= fit.solution.primal, "method %d: dual %g", method,
              fit.solution.dual);
        solution_free(&fit.solution);
    }
    struct top *top;
    struct problem problem = {.data = &data, .n = data.n_rows};
    const bool none[2] = {false, false}, all[2] = {true, true};
    setting.positive = none;
    CHECK(top_create(&top, &problem, &setting, &err) < 0 && strstr(err.text, "positive"), "%s",
          err.text);
    setting.positive = all;
    CHECK(top_create(&top, &problem, &setting, &err) < 0 && strstr(err.text, "negative"), "%s",
          err.text);
    setting.positive = is_positive;
    setting.k = 241;
    CHECK(top_create(&top, &problem, &setting, &err) < 0 && strstr(err.text, "K is 241"), "%s",
          err.text);
    data_free(&data);
    printf("ok: a fit that is stopped has its true gap; one class is refused\n");
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    check_optima();
    check_aggregate();
    check_ends();
    check_trivial();
    check_limits();
    return 0;
}
