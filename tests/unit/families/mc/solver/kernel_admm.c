/* ADMM (kernel_admm.c), and the low-rank surrogate with what follows it (kernel_surrogate.c), reach
 * the optimum of the other methods: for every formulation, with and without a constant feature,
 * with any number of threads. */
#include "families/mc/solver/mc.h"
#include "tests/unit/families/mc/solver/kernel_fixture.h"

enum { ROWS = 40, MORE_ROWS = 520, CLASSES = 19 };

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

/* Runs the method after one iteration of coordinate descent. */
static struct mc_fit finish(method *run, struct bed *bed, int form, double bias, double cost) {
    struct mc_goal goal = {.cost = cost, .epsilon = 1e-3, .active_set = true};
    struct mc_kernel_descent *descent = descent_open(bed, form, bias, &goal);
    struct mc_fit fit;
    MUST(run(descent, &goal, NULL, &fit, &err));
    descent_close(bed, descent);
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
    struct bed bed;
    size_t bytes = 16 * n * n * sizeof(double);
    bed_open(&bed, n, 3, CLASSES, bytes, true);
    bed.problem.cache_bytes = bytes;
    for (int form = 0; form < FORMS; form += n == ROWS ? 1 : quick_step(3)) {
        for (int t = first; t < 4; t++) {
            double cost = t & 1 ? 30 : .5, bias = t & 2 ? 1.5 : 0;
            struct solution known = solve(&bed.problem, form, bias, cost);
            struct mc_fit fit = finish(run, &bed, form, bias, cost);
            CHECK(fit.certificate.gap <= 1e-3, "form %d, %d: gap %g", form, t, fit.certificate.gap);
            CHECK(fit.certificate.primal >= known.dual && fit.certificate.dual <= known.primal,
                  "form %d, %d: %.17g .. %.17g, not %.17g .. %.17g", form, t, fit.certificate.dual,
                  fit.certificate.primal, known.dual, known.primal);
            bed.problem.threads = threads;
            struct mc_fit again = finish(run, &bed, form, bias, cost);
            bed.problem.threads = NULL;
            CHECK(again.certificate.primal == fit.certificate.primal &&
                      again.certificate.dual == fit.certificate.dual &&
                      memcmp(again.weights, fit.weights, n * CLASSES * sizeof(double)) == 0,
                  "form %d, %d: the fit depends on the threads", form, t);
            mc_fit_free(&again);
            mc_fit_free(&fit);
            solution_free(&known);
        }
    }
    bed_close(&bed);
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
