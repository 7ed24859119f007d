/* Fits at the top against one another: weights for copies of rows, caches, shrinking, threads and
 * folds, paths over C, and the starts of grill. */
#include "tests/unit/families/top/solver/fixture.h"

/* A row of weight 2 equals two rows. */
static void check_weights(void) {
    enum { N = 30, D = 3, POSITIVES = 8 };
    struct data single = random_rows(N, D, POSITIVES, 1, 21);
    float *x = check_array((size_t)2 * N * D, sizeof *x);
    size_t order[2 * N], n = 0, positives = 0;
    single.weight = sample_array(N, sizeof *single.weight);
    for (size_t i = 0; i < N; i++) { /* weights 0, 1 and 2 */
        single.weight[i] = (double)(i % 3 == 0 ? 2 : i % 7 == 1 ? 0 : 1);
        for (int copy = 0; copy < (int)single.weight[i]; copy++) {
            positives += i < POSITIVES;
            order[n++] = i;
        }
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(x + i * D, single.value + order[i] * D, D * sizeof *x);
    }
    struct data twice = rows_of(x, n, D, positives);
    static const enum top_formulation formulations[] = {
        TOP_PUSH, TOP_PUSH_K, TOP_TAU_FPL, TOP_MEAN_K, TOP_PAT_MAT, TOP_PAT_MAT_NP, TOP_SVM};
    static const enum top_method methods[] = {TOP_SMO, TOP_BUNDLE};
    for (size_t f = 0; f < sizeof formulations / sizeof formulations[0]; f++) {
        for (int loss = 0; loss < 2; loss++) {
            for (int m = 0; m < 2; m++) {
                struct top_setting setting =
                    setting_of(formulations[f], 3.5, formulations[f] == TOP_MEAN_K ? .5 : .2, 0.7);
                struct top_parameters parameters =
                    parameters_of((enum top_loss)loss, methods[m], 0.8, 1e-7);
                struct fit a = fit_at(&(struct setup){.data = &single}, &setting, &parameters);
                struct fit b = fit_at(&(struct setup){.data = &twice}, &setting, &parameters);
                CHECK_NEAR(a.solution.primal, b.solution.primal, 2e-7,
                           "formulation %zu, weights and copies", f);
                solution_free(&a.solution);
                solution_free(&b.solution);
            }
        }
    }
    /* the weight of a label multiplies that of its rows */
    double labels[2] = {2.5, 0.5};
    for (size_t i = 0; i < N; i++) {
        single.weight[i] = labels[single.label[i]];
    }
    struct top_setting setting = setting_of(TOP_PAT_MAT, 0, .2, 1);
    struct top_parameters parameters = {.method = TOP_SMO, .cost = 1, .epsilon = 1e-7};
    struct fit a = fit_at(&(struct setup){.data = &single}, &setting, &parameters);
    free(single.weight);
    single.weight = NULL;
    setting.weight = labels;
    struct fit b = fit_at(&(struct setup){.data = &single}, &setting, &parameters);
    CHECK(a.solution.primal == b.solution.primal, "weights of rows and of labels differ");
    solution_free(&a.solution);
    solution_free(&b.solution);
    data_free(&single);
    data_free(&twice);
    printf("ok: a row of weight w is as good as w equal rows\n");
}

/* Results do not depend on the cache, shrinking or threads beyond the gap; a fold is its rows. */
static void check_ways(void) {
    struct data data = random_rows(150, 4, 30, 0.7, 31);
    struct kernel rbf = {.type = KERNEL_RBF, .gamma = 0.3};
    struct threads *threads;
    MUST(threads_create(&threads, 2, &err));
    struct top_setting setting = setting_of(TOP_PAT_MAT_NP, 0, .1, 1);
    struct top_parameters parameters = parameters_of(TOP_HINGE, TOP_SMO, 3, 1e-5);
    struct fit fit = fit_at(&(struct setup){.data = &data, .kernel = &rbf}, &setting, &parameters);
    const struct setup setups[] = {
        {.data = &data, .kernel = &rbf, .cache_bytes = 1},
        {.data = &data, .kernel = &rbf, .cache_bytes = 8000, .nothing_kept = true},
        {.data = &data, .kernel = &rbf, .threads = threads}};
    size_t bytes = data.n_rows * sizeof(double);
    for (size_t i = 0; i < 3; i++) {
        struct fit same = fit_at(&setups[i], &setting, &parameters);
        CHECK(memcmp(fit.solution.weights, same.solution.weights, bytes) == 0 ||
                  (i == 1 && same.solution.converged),
              "setup %zu changes the weights", i);
        CHECK_NEAR(same.solution.dual, fit.solution.dual, 1e-5, "setup %zu: dual", i);
        solution_free(&same.solution);
    }
    parameters.shrink = false;
    struct fit whole =
        fit_at(&(struct setup){.data = &data, .kernel = &rbf}, &setting, &parameters);
    CHECK(whole.solution.converged, "without shrinking");
    CHECK_NEAR(whole.solution.dual, fit.solution.dual, 1e-5, "dual without shrinking");

    uint32_t rows[100];
    for (uint32_t i = 0; i < 100; i++) {
        rows[i] = i % 2 ? 149 - i / 2 : i / 2;
    }
    struct data part;
    MUST(data_subset(&data, rows, 100, &part, &err));
    parameters.shrink = true;
    struct fit fold = fit_at(&(struct setup){.data = &data, .kernel = &rbf, .rows = rows, .n = 100},
                             &setting, &parameters);
    struct fit alone =
        fit_at(&(struct setup){.data = &part, .kernel = &rbf}, &setting, &parameters);
    CHECK_NEAR(fold.solution.primal, alone.solution.primal, 2e-5, "a fold");
    solution_free(&fold.solution);
    solution_free(&alone.solution);
    solution_free(&whole.solution);
    solution_free(&fit.solution);
    data_free(&part);
    data_free(&data);
    threads_free(threads);
    printf("ok: cache, shrinking, threads and folds leave the optimum alone\n");
}

/* A path of costs, up and down, each fit with a warm start from the last one. */
static void check_path(void) {
    struct data data = random_rows(120, 4, 25, 0.7, 41);
    struct kernel rbf = {.type = KERNEL_RBF, .gamma = 0.3};
    struct gram *gram;
    MUST(gram_create(&gram, &rbf, &data, 1 << 24, true, NULL, &err));
    struct problem problem = {
        .data = &data, .gram = gram, .n = data.n_rows, .cache_bytes = 1 << 24};
    static const enum top_formulation formulations[] = {TOP_PUSH_K, TOP_PAT_MAT_NP, TOP_PAT_MAT};
    static const double costs[] = {0.1, 1, 30, 0.01, 1};
    for (size_t f = 0; f < 3; f++) {
        for (int loss = 0; loss < 2; loss++) {
            for (int method = TOP_SMO; method <= TOP_BUNDLE; method++) {
                struct top_setting setting = setting_of(formulations[f], 4, .1, .5);
                struct top *top;
                MUST(top_create(&top, &problem, &setting, &err));
                double at_one = 0;
                for (size_t c = 0; c < 5; c++) {
                    struct top_parameters parameters =
                        parameters_of((enum top_loss)loss, (enum top_method)method, costs[c], 1e-6);
                    struct solution solution;
                    MUST(top_solve(top, &parameters, NULL, &solution, &err));
                    CHECK(solution.converged, "cost %g: gap %g", costs[c],
                          gap_relative(solution.primal, solution.dual));
                    at_one = costs[c] == 1 && at_one == 0 ? solution.primal : at_one;
                    CHECK(costs[c] != 1 || fabs(solution.primal - at_one) <= 1e-6 * at_one,
                          "%g, then %g", at_one, solution.primal);
                    solution_free(&solution);
                }
                top_free(top);
            }
        }
    }
    gram_free(gram);
    data_free(&data);
    printf("ok: along a path of costs each fit starts from the last, and ends as if alone\n");
}

/* ---- grill ---- */

static void check_grill(void) {
    struct data data = random_rows(80, 4, 20, 1, 71);
    for (int variant = 0; variant < 4; variant++) {
        struct top_setting setting = setting_of(variant & 1 ? TOP_GRILL_NP : TOP_GRILL, 0, .1, 0);
        struct top_parameters parameters =
            parameters_of(variant & 2 ? TOP_SQUARED_HINGE : TOP_HINGE, TOP_AUTO, .5, 1e-6);
        parameters.seed = 5;
        parameters.starts = 8;
        struct setup setup = {.data = &data};
        struct fit fit = fit_at(&setup, &setting, &parameters);
        struct fit again = fit_at(&setup, &setting, &parameters);
        parameters.starts = 1;
        struct fit one = fit_at(&setup, &setting, &parameters);
        CHECK(!fit.solution.certified && fit.solution.dual == 0, "grill claims a bound");
        CHECK(memcmp(fit.solution.weights, again.solution.weights, 4 * sizeof(double)) == 0,
              "one seed, two fits");
        CHECK(fit.solution.primal <= one.solution.primal, "more starts end higher: %g, %g",
              fit.solution.primal, one.solution.primal);
        double s[80], z[80], sum = 0, norm = 0;
        size_t n = 0;
        for (size_t i = 0; i < 80; i++) {
            s[i] = 0;
            for (size_t j = 0; j < 4; j++) {
                s[i] += fit.solution.weights[j] * (double)data.value[i * 4 + j];
            }
            if (!(variant & 1) || i >= 20) {
                z[n++] = s[i];
            }
        }
        qsort(z, n, sizeof z[0], descending);
        double t = z[n / 10]; /* a tenth of the rows lies above */
        CHECK_CLOSE(fit.threshold, t, 1e-12, "threshold");
        for (size_t i = 0; i < 80; i++) {
            sum += i < 20 ? loss_of(parameters.loss, t - s[i])
                          : loss_of(parameters.loss, s[i] - t) * 20 / 60;
        }
        for (size_t j = 0; j < 4; j++) {
            norm += fit.solution.weights[j] * fit.solution.weights[j];
        }
        double plain = 0.5 * norm + .5 * sum;
        CHECK_NEAR(fit.solution.primal, plain, 1e-10, "primal");
        solution_free(&fit.solution);
        solution_free(&again.solution);
        solution_free(&one.solution);
    }
    data_free(&data);
    printf("ok: grill keeps the best of seeded starts, and claims no bound\n");
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    check_weights();
    check_ways();
    check_path();
    check_grill();
    return 0;
}
