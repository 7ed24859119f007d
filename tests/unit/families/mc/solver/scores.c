/* Scores in float of mc's kernel engine, of which certificates take those of rows without
 * coefficients, are within what they are said to be off by (families/mc/solver/kernel_bounds.c). */
#include "common/kernel/gram.h"
#include "families/mc/solver/formulation.h"
#include "families/mc/solver/kernel_descent_private.h"
#include "tests/unit/compute.h"

enum { ROWS = 600, FEATURES = 3, CLASSES = 5 };

/* Of a fit to the gap; returns how many rows have no coefficients, and scores within less than
 * what would be noticed. */
static size_t check_scores(const struct mc_kernel *kernel, const struct problem *problem) {
    size_t k = kernel->k, n_clear = 0;
    double square = kernel->task->bias * kernel->task->bias, sum[CLASSES] = {0};
    double *exact = sample_array(ROWS * k, sizeof *exact);
    struct error err;
    CHECK(kernel->moved, "what scores are off by is not known");
    MUST(kernel_scores(gram_rows(problem->gram), gram_rows(problem->gram), kernel->B, k, exact,
                       NULL, &err));
    for (size_t j = 0; j < ROWS * k; j++) {
        sum[j % k] += square * kernel->B[j];
    }
    for (size_t i = 0; i < ROWS; i++) {
        double size = 0, most = kernel->relative[i] * kernel->moved[i];
        for (size_t c = 0; c < k; c++) {
            double own = exact[i * k + c] + sum[c], off = fabs(kernel->F[i * k + c] - own);
            size += fabs(kernel->B[i * k + c]);
            CHECK(off <= most, "score %zu of row %zu: off by %g, not %g", c, i, off, most);
        }
        n_clear += size == 0 && most < .5;
    }
    free(exact);
    return n_clear;
}

/* Clusters, dense: columns are not kept, and working sets leave scores whose bound is not known.
 * Away from the origin by `shift` distances are off by more. */
static void check(double bias, double shift, double cost, double epsilon) {
    struct data data = sample_data(ROWS, FEATURES, 1, SAMPLE_SIGNED, false, false, 5);
    struct kernel kernel = {.type = KERNEL_RBF, .gamma = .5};
    struct gram *gram;
    struct error err;
    uint32_t y[ROWS];
    double weight[CLASSES];
    for (size_t i = 0; i < ROWS; i++) {
        y[i] = (uint32_t)(i % CLASSES);
        for (size_t f = 0; f < FEATURES; f++) {
            data.value[i * FEATURES + f] +=
                (float)shift + (float)(y[i] == f) * 2 - (float)(y[i] == f + 2) * 2;
        }
    }
    for (size_t c = 0; c < CLASSES; c++) {
        weight[c] = 1;
    }
    MUST(gram_create(&gram, &kernel, &data, 1 << 16, false, NULL, &err));
    struct problem problem = {.data = &data, .n = ROWS, .gram = gram, .cache_bytes = 1 << 24};
    struct mc_task task = {.problem = &problem,
                           .shape = mc_shape(MC_WW, CLASSES, 1),
                           .n = ROWS,
                           .n_all = ROWS,
                           .y = y,
                           .weight = weight,
                           .bias = bias,
                           .seed = 1};
    struct mc_goal goal = {.cost = cost, .epsilon = epsilon, .active_set = true};
    struct score_map map;
    struct mc_kernel *solver;
    struct mc_fit fit;
    MUST(score_map_create(&map, &problem, &err));
    MUST(certify_create(&task.certify, &problem, &map, bias, &err));
    MUST(mc_kernel_create(&solver, &task, &err));
    goal.fallback_work = mc_kernel_split_work(solver);
    MUST(mc_kernel_solve(solver, &goal, NULL, &fit, &err));
    CHECK(fit.certificate.gap <= epsilon, "gap %g", fit.certificate.gap);
    size_t n_clear = check_scores(solver, &problem);
    CHECK(n_clear > 20, "%zu rows in all are out of reach of a loss", n_clear);
    mc_fit_free(&fit);
    mc_kernel_free(solver);
    certify_free(task.certify);
    score_map_free(&map);
    gram_free(gram);
    data_free(&data);
}

int main(void) {
    for (int bias = 0; bias < 2; bias++) {
        for (double shift = 0; shift <= 20; shift += 10) {
            check(bias, shift, 1, .1);
            check(bias, shift, 1, 1e-3);
            check(bias, shift, 100, 1e-3);
        }
    }
    puts("ok: scores in float are within what they are said to be off by");
    return 0;
}
