/* ADMM (kernel_admm.c), and the low-rank surrogate with what follows it (kernel_surrogate.c), reach
 * the optimum of the other methods: for every formulation, with and without a constant feature,
 * with any number of threads. */
#include "common/kernel/gram.h"
#include "families/mc/solver/formulation.h"
#include "families/mc/solver/kernel_descent.h"
#include "families/mc/solver/mc.h"
#include "tests/unit/compute.h"

enum { FORMS = 8, ROWS = 40, MORE_ROWS = 520, CLASSES = 19 };

typedef int method(struct mc_kernel_descent *descent, const struct mc_goal *goal,
                   const struct monitor *monitor, struct mc_fit *fit, struct error *failure);

/* Bounds of the optimum, by mc_solve. */
static struct solution solve(const struct problem *problem, int form, double bias, double cost) {
    struct mc_setup setup = {
        .formulation = (enum mc_formulation)form, .margin_scale = 1, .bias = bias, .seed = 1};
    struct mc_parameters parameters = {MC_AUTO, cost, 1e-6};
    struct mc *mc;
    struct solution solution;
    MUST(mc_create(&mc, problem, &setup, &err));
    MUST(mc_solve(mc, &parameters, NULL, &solution, &err));
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

/* Runs the method after one iteration of coordinate descent. */
static struct mc_fit finish(method *run, struct problem *problem, int form, double bias,
                            const uint32_t *y, double cost) {
    struct score_map map;
    struct mc_kernel_descent *descent;
    double weight[MORE_ROWS];
    for (size_t i = 0; i < problem->n; i++) {
        weight[i] = 1;
    }
    struct mc_task task = {.problem = problem,
                           .shape = mc_shape((enum mc_formulation)form, CLASSES, 1),
                           .n = problem->n,
                           .n_all = problem->n,
                           .y = y,
                           .row_weight = weight,
                           .bias = bias,
                           .seed = 1};
    const struct monitor monitor = {.check = stop_at_once};
    struct mc_goal goal = {.cost = cost, .epsilon = 1e-3, .active_set = true};
    struct mc_fit fit;
    MUST(score_map_create(&map, problem, &err));
    MUST(certify_create(&task.certify, problem, &map, bias, &err));
    MUST(mc_kernel_create(&descent, &task, &err));
    goal.fallback_work = mc_kernel_admm_work(descent);
    MUST(mc_kernel_solve(descent, &goal, &monitor, &fit, &err));
    mc_fit_free(&fit);
    MUST(run(descent, &goal, NULL, &fit, &err));
    mc_kernel_free(descent);
    certify_free(task.certify);
    score_map_free(&map);
    return fit;
}

/* The surrogate, then ADMM if it asks for it, as mc_solve does. */
static int approach(struct mc_kernel_descent *descent, const struct mc_goal *goal,
                    const struct monitor *monitor, struct mc_fit *fit, struct error *failure) {
    int status = mc_kernel_surrogate(descent, goal, monitor, fit, failure);
    if (status == 0 && mc_kernel_is_slow(descent) && fit->certificate.gap > goal->epsilon) {
        mc_fit_free(fit);
        status = mc_kernel_admm(descent, goal, monitor, fit, failure);
    }
    return status;
}

/* Rows with 3 features, whose kernel matrix has nearly low rank. */
static void check(method *run, size_t n, int first, struct threads *threads) {
    struct data data = sample_data(n, 3, 1, SAMPLE_SIGNED, false, true, 5);
    struct kernel kernel = {.type = KERNEL_RBF, .gamma = .3};
    size_t bytes = 16 * n * n * sizeof(double);
    struct gram *gram;
    uint32_t number, *y = check_array(n, sizeof *y);
    char name[32];
    data.labels = DATA_NAME;
    data.label = sample_array(n, sizeof *data.label);
    for (size_t c = 0; c < CLASSES; c++) {
        snprintf(name, sizeof name, "%zu", c + 10);
        MUST(names_add(&data.names, name, strlen(name), &number, &err));
    }
    for (size_t i = 0; i < n; i++) {
        data.label[i] = y[i] = (uint32_t)(i * 7 % CLASSES);
    }
    MUST(gram_create(&gram, &kernel, &data, bytes, true, NULL, &err));
    struct problem problem = {.data = &data, .n = n, .gram = gram, .cache_bytes = bytes};
    for (int form = 0; form < FORMS; form += n == ROWS ? 1 : quick_step(3)) {
        for (int t = first; t < 4; t++) {
            double cost = t & 1 ? 30 : .5, bias = t & 2 ? 1.5 : 0;
            struct solution known = solve(&problem, form, bias, cost);
            struct mc_fit fit = finish(run, &problem, form, bias, y, cost);
            CHECK(fit.certificate.gap <= 1e-3, "form %d, %d: gap %g", form, t, fit.certificate.gap);
            CHECK(fit.certificate.primal >= known.dual && fit.certificate.dual <= known.primal,
                  "form %d, %d: %.17g .. %.17g, not %.17g .. %.17g", form, t, fit.certificate.dual,
                  fit.certificate.primal, known.dual, known.primal);
            problem.threads = threads;
            struct mc_fit again = finish(run, &problem, form, bias, y, cost);
            problem.threads = NULL;
            CHECK(again.certificate.primal == fit.certificate.primal &&
                      again.certificate.dual == fit.certificate.dual &&
                      memcmp(again.weights, fit.weights, n * CLASSES * sizeof(double)) == 0,
                  "form %d, %d: the fit depends on the threads", form, t);
            mc_fit_free(&again);
            mc_fit_free(&fit);
            solution_free(&known);
        }
    }
    gram_free(gram);
    data_free(&data);
}

int main(void) {
    struct threads *threads;
    MUST(threads_create(&threads, 3, &err));
    check(mc_kernel_admm, ROWS, 0, threads);
    check(approach, MORE_ROWS, 3, threads);
    threads_free(threads);
    printf("ok: ADMM reaches the optimum of every formulation\n");
    return 0;
}
