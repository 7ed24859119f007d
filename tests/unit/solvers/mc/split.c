/* Operator splitting (solvers/mc/kernel_split.c) comes to the optimum of the other methods, for
 * every formulation, with and without a constant feature, whatever the threads. */
#include "common/base/memory.h"
#include "common/kernel/gram.h"
#include "solvers/mc/form.h"
#include "solvers/mc/kernel.h"
#include "solvers/mc/mc.h"
#include "tests/unit/compute.h"

enum { FORMS = 8, ROWS = 40, CLASSES = 19 };

/* The optimum's bounds, by the solver as users have it. */
static struct solution solve(const struct problem *problem, int form, double bias, double cost) {
    struct mc_setup setup = {
        .formulation = (enum mc_formulation)form, .margin_scale = 1, .bias = bias, .seed = 1};
    struct mc_parameters parameters = {MC_AUTO, cost, 1e-6};
    struct mc *mc;
    struct error err;
    struct solution solution;
    CHECK(mc_create(&mc, problem, &setup, &err) == 0, "%s", err.text);
    CHECK(mc_solve(mc, &parameters, NULL, &solution, &err) == 0, "%s", err.text);
    mc_free(mc);
    return solution;
}

static enum stop_reason stop_at_once(void *context, uint64_t iteration, double primal,
                                     double dual) {
    (void)context;
    (void)iteration;
    (void)primal;
    (void)dual;
    return STOP_ITERATIONS;
}

/* A task that has hardly begun, and what splitting makes of it. */
static struct mc_fit split(struct problem *problem, int form, double bias, const uint32_t *y,
                           double cost) {
    struct score_map map;
    struct error err;
    struct mc_kernel *kernel;
    double weight[CLASSES];
    for (size_t c = 0; c < CLASSES; c++) {
        weight[c] = 1;
    }
    struct mc_task task = {.problem = problem,
                           .shape = mc_shape((enum mc_formulation)form, CLASSES, 1),
                           .n = ROWS,
                           .n_all = ROWS,
                           .y = y,
                           .weight = weight,
                           .bias = bias,
                           .seed = 1};
    const struct monitor monitor = {.check = stop_at_once};
    struct mc_goal goal = {.cost = cost, .epsilon = 1e-3};
    struct mc_fit fit;
    CHECK(score_map_create(&map, problem, &err) == 0, "%s", err.text);
    CHECK(certify_create(&task.certify, problem, &map, bias, &err) == 0, "%s", err.text);
    CHECK(mc_kernel_create(&kernel, &task, &err) == 0, "%s", err.text);
    CHECK(mc_kernel_solve(kernel, &goal, &monitor, &fit, &err) == 0, "%s", err.text);
    mc_fit_free(&fit);
    CHECK(mc_kernel_split(kernel, &goal, NULL, &fit, &err) == 0, "%s", err.text);
    mc_kernel_free(kernel);
    certify_free(task.certify);
    score_map_free(&map);
    return fit;
}

int main(void) {
    struct data data = sample_data(ROWS, 3, 1, SAMPLE_SIGNED, false, true, 5);
    struct kernel kernel = {.type = KERNEL_RBF, .gamma = .3};
    struct error err;
    struct gram *gram;
    struct threads *threads;
    uint32_t y[ROWS], number;
    char name[32];
    data.labels = DATA_NAME;
    data.label = sample_array(ROWS, sizeof *data.label);
    for (size_t c = 0; c < CLASSES; c++) {
        snprintf(name, sizeof name, "%zu", c + 10);
        CHECK(names_add(&data.names, name, strlen(name), &number, &err) == 0, "%s", err.text);
    }
    for (size_t i = 0; i < ROWS; i++) {
        data.label[i] = y[i] = (uint32_t)(i * 7 % CLASSES);
    }
    CHECK(threads_create(&threads, 3, &err) == 0, "%s", err.text);
    CHECK(gram_create(&gram, &kernel, &data, (size_t)1 << 20, true, NULL, &err) == 0, "%s",
          err.text);
    struct problem problem = {
        .data = &data, .n = ROWS, .gram = gram, .cache_bytes = (size_t)1 << 20};
    for (int form = 0; form < FORMS; form++) {
        for (int t = 0; t < 4; t++) {
            double cost = t & 1 ? 30 : .5, bias = t & 2 ? 1.5 : 0;
            struct solution known = solve(&problem, form, bias, cost);
            struct mc_fit fit = split(&problem, form, bias, y, cost);
            CHECK(fit.certificate.gap <= 1e-3, "form %d, %d: gap %g", form, t, fit.certificate.gap);
            CHECK(fit.primal >= known.dual && fit.dual <= known.primal,
                  "form %d, %d: %.17g .. %.17g, not %.17g .. %.17g", form, t, fit.dual, fit.primal,
                  known.dual, known.primal);
            problem.threads = threads;
            struct mc_fit again = split(&problem, form, bias, y, cost);
            problem.threads = NULL;
            CHECK(again.primal == fit.primal && again.dual == fit.dual &&
                      memcmp(again.weights, fit.weights, ROWS * CLASSES * sizeof(double)) == 0,
                  "form %d, %d: the fit depends on the threads", form, t);
            mc_fit_free(&again);
            mc_fit_free(&fit);
            solution_free(&known);
        }
    }
    gram_free(gram);
    threads_free(threads);
    data_free(&data);
    printf("ok: splitting comes to the optimum of every formulation\n");
    return 0;
}
