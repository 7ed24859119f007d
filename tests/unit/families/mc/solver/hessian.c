/* Curvatures v'Hv of the Hessian against their sum over the rows, from slacks along v: of blocks of
 * many rows, and of rows with so many classes that a block ends early. */
#include "families/mc/solver/hessian.h"

#include "tests/unit/compute.h"

enum { ROWS = 600, FEATURES = 3, MAX_CLASSES = 90, SIZE = MAX_CLASSES * FEATURES };

/* v (k, FEATURES), with mean 0 over the classes: there the curvature of the null space is 0. */
static void draw_direction(struct random *random, size_t k, double *v) {
    for (size_t f = 0; f < FEATURES; f++) {
        double mean = 0;
        for (size_t c = 0; c < k; c++) {
            v[c * FEATURES + f] = random_unit(random) - .5;
            mean += v[c * FEATURES + f] / (double)k;
        }
        for (size_t c = 0; c < k; c++) {
            v[c * FEATURES + f] -= mean;
        }
    }
}

/* Adds a row with about a share of the terms; returns its curvature along v. */
static double add_row(struct mc_hessian *hessian, struct random *random, double share,
                      const double *v) {
    const struct mc_shape *shape = &hessian->task->shape;
    double x[FEATURES], theta[MAX_CLASSES], score[MAX_CLASSES] = {0}, slack[MAX_CLASSES];
    uint32_t class[MAX_CLASSES];
    size_t n = 0, y = (size_t)random_below(random, shape->k);
    bool joint = shape->form->simplex && random_below(random, 4) > 0;
    double rest = random_below(random, 2) > 0 ? random_unit(random) : 0, sum = rest;
    for (size_t f = 0; f < FEATURES; f++) {
        x[f] = random_unit(random) - .5;
        for (size_t c = 0; c < shape->k; c++) {
            score[c] += v[c * FEATURES + f] * x[f];
        }
    }
    mc_slacks(shape, y, score, slack); /* 1 + the derivative along v */
    double square = 0, mixed = 0;
    for (uint32_t c = 0; c < shape->k; c++) {
        if (mc_is_term(shape, y, c) && random_unit(random) < share) {
            theta[n] = random_unit(random);
            square += theta[n] * (slack[c] - 1) * (slack[c] - 1);
            mixed += theta[n] * (slack[c] - 1);
            sum += theta[n];
            class[n++] = c;
        }
    }
    mc_hessian_add(hessian, x, y, class, n, theta, joint, rest);
    return square - (joint && sum > 0 ? mixed * mixed / sum : 0);
}

static void check_form(enum mc_formulation formulation, size_t k, double share,
                       struct threads *threads) {
    const struct problem problem = {.threads = threads};
    const struct mc_task task = {.problem = &problem, .shape = mc_shape(formulation, k, .5)};
    struct mc_hessian hessian;
    double v[SIZE], expected = 0, found = 0;
    size_t size = k * FEATURES;
    struct random random = sample_random(k, (uint64_t)formulation);
    draw_direction(&random, k, v);
    MUST(mc_hessian_create(&hessian, &task, FEATURES, &err));
    mc_hessian_begin(&hessian, FEATURES);
    for (size_t i = 0; i < size; i++) {
        expected += v[i] * v[i];
    }
    for (size_t i = 0; i < ROWS; i++) {
        expected += add_row(&hessian, &random, share, v);
    }
    mc_hessian_end(&hessian);
    for (size_t i = 0; i < size; i++) {
        for (size_t j = 0; j <= i; j++) {
            found += (i == j ? 1 : 2) * hessian.H[i * size + j] * v[i] * v[j];
        }
    }
    CHECK_NEAR(found, expected, 1e-12, "%s, %zu classes", task.shape.form->name, k);
    mc_hessian_free(&hessian);
}

int main(void) {
    struct threads *threads;
    MUST(threads_create_for_blas(&threads, 2, &err));
    for (int formulation = MC_WW; formulation <= MC_OVA; formulation++) {
        check_form((enum mc_formulation)formulation, 3, 1, NULL);
        check_form((enum mc_formulation)formulation, 4, .3, threads);
        check_form((enum mc_formulation)formulation, MAX_CLASSES, 1, threads);
    }
    threads_free(threads);
    printf("ok: curvatures along directions are the sums over the rows\n");
    return 0;
}
