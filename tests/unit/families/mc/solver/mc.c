/* mc_solve against the definition in reference.h, for every formulation: bounds, all solvers,
 * kernels, bias, weights, warm starts. */
#include "families/mc/solver/mc.h"

#include "common/kernel/gram.h"
#include "families/mc/solver/formulation.h"
#include "tests/unit/compute.h"
#include "tests/unit/families/mc/solver/reference.h"

enum { FORMS = 8 };

/* ---- problems ---- */

/* Names "1".."k" and random labels; every class has a row if n >= k. */
static void add_labels(struct data *data, size_t k, uint64_t seed) {
    struct random random = sample_random(seed, 7);
    data->labels = DATA_NAME;
    data->label = sample_array(data->n_rows, sizeof *data->label);
    sample_names(&data->names, k);
    for (size_t i = 0; i < data->n_rows; i++) {
        data->label[i] = (uint32_t)(i < k ? i : random_below(&random, k));
    }
}

static struct data problem_data(size_t n, uint32_t d, size_t k, bool sparse, uint64_t seed) {
    struct data data = sample_data(n, d, sparse ? .4 : 1, SAMPLE_SIGNED, sparse, true, seed);
    add_labels(&data, k, seed);
    return data;
}

/* The same for the reference, with the constant feature last. */
static double *dense_rows(const struct data *data, double bias) {
    size_t d = data->n_features;
    double *x = check_array(data->n_rows * (d + 1), sizeof *x);
    for (size_t i = 0; i < data->n_rows; i++) {
        data_row_dense(data, i, d, x + i * (d + 1));
        x[i * (d + 1) + d] = bias;
    }
    return x;
}

static struct mc_setup make_setup(int form, double margin, double bias) {
    return (struct mc_setup){.formulation = (enum mc_formulation)form,
                             .margin_scale = mc_definitions[form].relative ? margin : 1,
                             .bias = bias,
                             .seed = 1};
}

static struct solution solve(const struct problem *problem, const struct mc_setup *setup,
                             enum mc_method method, double cost, double epsilon) {
    struct mc *mc;
    struct solution solution;
    struct mc_parameters parameters = {method, cost, epsilon};
    MUST(mc_create(&mc, problem, setup, &err));
    MUST(mc_solve(mc, &parameters, NULL, &solution, &err));
    mc_free(mc);
    return solution;
}

/* ---- solutions ---- */

struct scene {
    size_t n;
    uint32_t d;
    size_t k;
    bool sparse;
    double cost, bias, margin;
};

static const struct scene scenes[] = {{20, 4, 3, false, 1, 0, 1},
                                      {24, 6, 4, true, .1, 1, 1},
                                      {15, 3, 2, false, 10, 0, .5},
                                      {30, 8, 5, true, 1, .5, .5},
                                      {12, 5, 3, false, .01, 0, 1}};
enum { SCENES = sizeof scenes / sizeof *scenes };

static void check_primal(const struct mc_reference *r, const struct data *data, double bias,
                         const struct solution *solution, const char *what) {
    size_t k = r->k, d = data->n_features;
    double *W = check_array((d + 1) * k, sizeof *W);
    memcpy(W, solution->weights, d * k * sizeof *W);
    for (size_t c = 0; bias > 0 && c < k; c++) {
        W[d * k + c] = solution->bias[c] / bias;
    }
    double primal = mc_reference_primal(r, W);
    CHECK_NEAR(solution->primal, primal, 1e-10, "%s: primal", what);
    for (size_t f = 0; r->definition.sum_to_zero && f <= d; f++) {
        double sum = 0;
        for (size_t c = 0; c < k; c++) {
            sum += W[f * k + c];
        }
        CHECK(fabs(sum) < 1e-10, "%s: weights of feature %zu sum to %g", what, f, sum);
    }
}

static void check_bounds(const struct mc_reference *r, const struct solution *solution,
                         double epsilon, const char *what) {
    CHECK(solution->converged, "%s %s: not converged: %s, P %.10g D %.10g", r->definition.name,
          what, stop_message(solution->reason), solution->primal, solution->dual);
    CHECK(solution->primal - solution->dual <= epsilon * solution->primal, "%s %s: gap",
          r->definition.name, what);
    CHECK(solution->primal >= r->dual * (1 - 1e-9), "%s %s: primal %.12g below %.12g",
          r->definition.name, what, solution->primal, r->dual);
    CHECK(solution->dual <= r->primal * (1 + 1e-9), "%s %s: dual %.12g above %.12g",
          r->definition.name, what, solution->dual, r->primal);
}

static void check_scene(const struct scene *scene, int form, uint64_t seed) {
    struct data data = problem_data(scene->n, scene->d, scene->k, scene->sparse, seed);
    double *x = dense_rows(&data, scene->bias), *cost = check_array(scene->n, sizeof *cost);
    double *W = check_array((scene->d + 1) * scene->k, sizeof *W);
    struct mc_setup setup = make_setup(form, scene->margin, scene->bias);
    double *weight = check_array(data.names.n, sizeof *weight);
    for (size_t l = 0; l < data.names.n; l++) {
        weight[l] = l == 0 ? 3 : 1;
    }
    setup.weight = weight;
    for (size_t i = 0; i < scene->n; i++) {
        cost[i] = scene->cost * (data.label[i] == 0 ? 3 : 1);
    }
    struct mc_reference r = {.n = scene->n,
                             .d = scene->d + (size_t)1,
                             .k = scene->k,
                             .x = x,
                             .y = data.label,
                             .cost = cost,
                             .margin = setup.margin_scale,
                             .definition = mc_definitions[form]};
    mc_reference_solve(&r, 1e-8, W);
    CHECK(r.primal - r.dual <= 1e-8 * r.primal, "the reference has not converged: %s",
          r.definition.name);
    struct problem problem = {.data = &data, .n = data.n_rows};
    static const struct {
        enum mc_method method;
        double epsilon;
        const char *what;
    } ways[] = {{MC_BCD, 1e-3, "bcd"},
                {MC_BCD, 1e-7, "bcd tight"},
                {MC_NEWTON, 1e-3, "newton"},
                {MC_NEWTON, 1e-7, "newton tight"},
                {MC_AUTO, 1e-4, "auto"}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        struct solution solution =
            solve(&problem, &setup, ways[w].method, scene->cost, ways[w].epsilon);
        check_bounds(&r, &solution, ways[w].epsilon, ways[w].what);
        check_primal(&r, &data, scene->bias, &solution, ways[w].what);
        solution_free(&solution);
    }
    struct kernel kernel = {.type = KERNEL_LINEAR};
    struct gram *gram;
    MUST(gram_create(&gram, &kernel, &data, (size_t)1 << 20, true, NULL, &err));
    problem.gram = gram;
    static const double epsilons[] = {1e-3, 1e-7};
    for (int w = 0; w < 2; w++) {
        struct solution solution = solve(&problem, &setup, MC_AUTO, scene->cost, epsilons[w]);
        check_bounds(&r, &solution, epsilons[w], "kernel");
        solution_free(&solution);
    }
    gram_free(gram);
    data_free(&data);
}

static void test_scenes(void) {
    for (int form = 0; form < FORMS; form++) {
        size_t step = (size_t)quick_step(5);
        for (size_t z = (size_t)form % step; z < SCENES; z += step) {
            check_scene(&scenes[z], form, 10 * (uint64_t)form + z);
        }
    }
    printf("ok: every formulation, solver and kernel bounds the optimum of projected gradient\n");
}

/* ---- identities ---- */

/* k = 2, M = 1 at C is the binary SVM at 2C with w = 2 w_1: its objective is twice ours. */
static void test_binary(void) {
    struct data data = problem_data(40, 5, 2, false, 5);
    double *x = dense_rows(&data, 0), *cost = check_array(data.n_rows, sizeof *cost);
    struct problem problem = {.data = &data, .n = data.n_rows};
    struct mc_setup setup = make_setup(MC_WW, 1, 0);
    struct solution solution = solve(&problem, &setup, MC_BCD, .7, 1e-9);
    double binary = 0;
    for (size_t f = 0; f < data.n_features; f++) {
        double w = 2 * solution.weights[2 * f];
        CHECK(fabs(solution.weights[2 * f] + solution.weights[2 * f + 1]) < 1e-12, "not opposite");
        binary += w * w / 2;
    }
    for (size_t i = 0; i < data.n_rows; i++) {
        double s = 0;
        for (size_t f = 0; f < data.n_features; f++) {
            s += 2 * solution.weights[2 * f] * x[i * (data.n_features + 1) + f];
        }
        binary += 2 * .7 * fmax(0, 1 - (data.label[i] == 0 ? s : -s));
    }
    CHECK_NEAR(2 * solution.primal, binary, 1e-10, "twice the primal");
    /* and the optimum of one-against-all, both of whose problems are that SVM */
    setup = make_setup(MC_OVA, 1, 0);
    struct solution ova = solve(&problem, &setup, MC_BCD, 1.4, 1e-9);
    CHECK_NEAR(ova.primal, 2 * binary, 5e-7, "one against all");
    solution_free(&solution);
    solution_free(&ova);
    data_free(&data);
    printf("ok: two classes are the binary SVM at 2C\n");
}

/* M = 1/2 at 4C is M = 1 at C with W' = 2 W and P' = 4 P. */
static void test_margin_scale(void) {
    struct data data = problem_data(40, 5, 4, true, 6);
    struct problem problem = {.data = &data, .n = data.n_rows};
    struct mc_setup one = make_setup(MC_WW, 1, 1), half = make_setup(MC_WW, .5, 1);
    struct solution a = solve(&problem, &one, MC_BCD, .3, 1e-9);
    struct solution b = solve(&problem, &half, MC_BCD, 1.2, 1e-9);
    CHECK_NEAR(4 * a.primal, b.primal, 1e-8, "4 times the primal");
    for (size_t j = 0; j < data.n_features * 4; j++) {
        CHECK_CLOSE(b.weights[j], 2 * a.weights[j], 1e-3, "weight %zu", j);
    }
    solution_free(&a);
    solution_free(&b);
    data_free(&data);
    printf("ok: margins at half the scale are those at a quarter of the cost\n");
}

/* Names in reverse order reverse the columns of W. */
static void test_permutation(void) {
    struct data data = problem_data(60, 6, 3, false, 8);
    struct problem problem = {.data = &data, .n = data.n_rows};
    for (int form = 0; form < FORMS; form++) {
        struct mc_setup setup = make_setup(form, 1, 0);
        struct solution a = solve(&problem, &setup, MC_BCD, 1, 1e-10);
        for (size_t i = 0; i < data.n_rows; i++) {
            data.label[i] = 2 - data.label[i];
        }
        struct solution b = solve(&problem, &setup, MC_BCD, 1, 1e-10);
        for (size_t j = 0; j < data.n_features * 3; j++) {
            size_t mirrored = j / 3 * 3 + 2 - j % 3;
            CHECK_CLOSE(a.weights[j], b.weights[mirrored], 1e-3, "%s: weight %zu",
                        mc_definitions[form].name, j);
        }
        solution_free(&a);
        solution_free(&b);
    }
    data_free(&data);
    printf("ok: permuting classes permutes W\n");
}

/* Costs up and down, warm-started, against cold starts. */
static void test_warm_starts(void) {
    static const double costs[] = {.1, 1, 10, .5};
    struct data data = problem_data(60, 6, 4, true, 9);
    struct kernel kernel = {.type = KERNEL_RBF, .gamma = .5};
    struct gram *gram;
    MUST(gram_create(&gram, &kernel, &data, (size_t)1 << 20, true, NULL, &err));
    for (int way = 0; way < 2; way++) {
        struct problem problem = {.data = &data, .n = data.n_rows, .gram = way ? gram : NULL};
        for (int form = 0; form < FORMS; form++) {
            struct mc_setup setup = make_setup(form, 1, 1);
            struct mc *mc;
            MUST(mc_create(&mc, &problem, &setup, &err));
            for (int c = 0; c < 4; c++) {
                struct mc_parameters parameters = {MC_BCD, costs[c], 1e-5};
                struct solution warm, cold;
                MUST(mc_solve(mc, &parameters, NULL, &warm, &err));
                CHECK(warm.converged, "%s, %s, C = %g: P %.10g D %.10g: %s",
                      mc_definitions[form].name, way ? "rbf" : "linear", costs[c], warm.primal,
                      warm.dual, stop_message(warm.reason));
                cold = solve(&problem, &setup, MC_BCD, costs[c], 1e-5);
                double rounding = 1e-12 * cold.primal;
                CHECK(warm.primal >= cold.dual - rounding && cold.primal >= warm.dual - rounding,
                      "%s, %s, C = %g: %.12g %.12g, %.12g %.12g", mc_definitions[form].name,
                      way ? "rbf" : "linear", costs[c], warm.primal, warm.dual, cold.primal,
                      cold.dual);
                solution_free(&warm);
                solution_free(&cold);
            }
            mc_free(mc);
        }
    }
    gram_free(gram);
    data_free(&data);
    printf("ok: each cost from the last one's solution, linear and rbf\n");
}

/* More classes than are stored dense, with rows for few of them. */
static void test_many_classes(void) {
    for (int form = 0; form < FORMS; form++) {
        struct data data = problem_data(200, 30, 100, true, 11);
        struct problem problem = {.data = &data, .n = data.n_rows};
        struct mc_setup setup = make_setup(form, 1, 1);
        struct solution a = solve(&problem, &setup, MC_BCD, 1, 1e-4);
        struct solution b = solve(&problem, &setup, MC_BCD, 1, 1e-6);
        CHECK(a.converged && b.converged, "%s", mc_definitions[form].name);
        CHECK(a.primal >= b.dual && b.primal >= a.dual, "%s", mc_definitions[form].name);
        solution_free(&a);
        solution_free(&b);
        data_free(&data);
    }
    printf("ok: a hundred classes, alpha in lists\n");
}

/* All rows are zero: primal and dual are the constant, up to rounding-error bounds. */
static void test_empty_rows(void) {
    struct data data = problem_data(9, 3, 3, false, 12);
    memset(data.value, 0, data.n_rows * data.n_features * sizeof *data.value);
    struct problem problem = {.data = &data, .n = data.n_rows};
    for (int form = 0; form < FORMS; form++) {
        struct mc_setup setup = make_setup(form, 1, 0);
        struct mc_shape shape = mc_shape((enum mc_formulation)form, 3, 1);
        struct solution solution = solve(&problem, &setup, MC_AUTO, 2, 1e-3);
        double P = solution.primal, D = solution.dual, optimum = 9 * 2 * mc_max_alpha_sum(&shape);
        CHECK(D <= optimum && optimum <= P && P - D <= 1e-13 * optimum, "%s: P %.17g D %.17g",
              mc_definitions[form].name, P, D);
        solution_free(&solution);
    }
    data_free(&data);
    printf("ok: rows of zeros cost a constant\n");
}

static void test_one_class(void) {
    struct data data = problem_data(5, 3, 1, false, 13);
    struct problem problem = {.data = &data, .n = data.n_rows};
    struct mc_setup setup = make_setup(MC_WW, 1, 0);
    struct mc *mc;
    CHECK(mc_create(&mc, &problem, &setup, &err) == -1, "one class was taken");
    CHECK(strstr(err.text, "'1'"), "%s", err.text);
    data_free(&data);
    printf("ok: one class is an error\n");
}

int main(void) {
    test_scenes();
    test_binary();
    test_margin_scale();
    test_permutation();
    test_warm_starts();
    test_many_classes();
    test_empty_rows();
    test_one_class();
    return 0;
}
