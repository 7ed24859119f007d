/* Steps of all rows at once (kernel_joint.c): for every formulation, with and without a constant
 * feature, they raise the dual, keep F = K B, and approach the optimum; the average is a primal
 * point with the primal that it claims, and the certificate uses it. */
#include "common/kernel/gram.h"
#include "families/mc/solver/formulation.h"
#include "families/mc/solver/kernel_descent_private.h"
#include "tests/unit/compute.h"

enum { FORMS = 8, ROWS = 400, CLASSES = 5, STEPS = 12 };

static enum stop_reason stop_at_once(void *context, uint64_t iteration, double primal,
                                     double dual) {
    (void)context;
    (void)iteration;
    (void)primal;
    (void)dual;
    return STOP_ITERATIONS;
}

/* The primal of the coefficients U, and the largest difference of their scores from S (NULL: not
 * compared). */
static double primal_of(const struct mc_kernel_descent *descent, const double *U, const double *S,
                        double *difference) {
    const struct kernel_rows *rows = gram_rows(descent->task->problem->gram);
    double value = 0, square = descent->task->bias * descent->task->bias;
    *difference = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double s[CLASSES] = {0};
        for (size_t j = 0; j < ROWS; j++) {
            double entry = kernel_value(rows, i, rows, j) + square;
            for (size_t c = 0; c < CLASSES; c++) {
                s[c] += entry * U[j * CLASSES + c];
            }
        }
        size_t y = descent->task->y[i];
        value += descent->row_cap[i] * mc_loss(&descent->task->shape, y, s);
        for (size_t c = 0; c < CLASSES; c++) {
            value += U[i * CLASSES + c] * s[c] / 2;
            *difference = fmax(*difference, S ? fabs(s[c] - S[i * CLASSES + c]) : 0);
        }
    }
    return value;
}

static void check(struct problem *problem, const uint32_t *y, int form, double bias, double cost) {
    struct score_map map;
    struct mc_kernel_descent *descent;
    double difference, *weight = check_array(ROWS, sizeof *weight);
    for (size_t i = 0; i < ROWS; i++) {
        weight[i] = i % 3 ? 1 : 2;
    }
    struct mc_task task = {.problem = problem,
                           .shape = mc_shape((enum mc_formulation)form, CLASSES, 1),
                           .n = ROWS,
                           .n_all = ROWS,
                           .y = y,
                           .row_weight = weight,
                           .bias = bias,
                           .seed = 1};
    const struct monitor monitor = {.check = stop_at_once};
    const struct mc_goal goal = {.cost = cost, .epsilon = 1e-9, .fallback_work = INFINITY};
    struct mc_fit fit;
    MUST(score_map_create(&map, problem, &err));
    MUST(certify_create(&task.certify, problem, &map, bias, &err));
    MUST(mc_kernel_create(&descent, &task, &err));
    MUST(mc_kernel_solve(descent, &goal, &monitor, &fit, &err)); /* sets the cost */
    mc_fit_free(&fit);
    MUST(mc_kernel_refresh(descent, goal.epsilon, &err));
    MUST(mc_kernel_joint_open(descent, &err));
    for (int t = 0; t < STEPS; t++) {
        double dual = descent->dual, primal = t > 0 ? descent->average_primal : INFINITY;
        MUST(mc_kernel_joint_step(descent, NULL, &err));
        MUST(mc_kernel_refresh(descent, goal.epsilon, &err));
        MUST(mc_kernel_average(descent, &err));
        CHECK(descent->dual >= dual - 1e-5 * fabs(dual), "form %d, step %d: dual %g after %g", form,
              t, descent->dual, dual);
        CHECK_TRUE(descent->average_primal <= primal);
    }
    primal_of(descent, descent->B, descent->F, &difference);
    CHECK(difference <= 1e-4 * (1 + cost), "form %d: scores differ by %g", form, difference);
    double value =
        primal_of(descent, descent->average, descent->average + ROWS * CLASSES, &difference);
    CHECK(difference <= 1e-4 * (1 + cost), "form %d: average scores differ by %g", form,
          difference);
    CHECK(fabs(value - descent->average_primal) <= 1e-4 * value, "form %d: %g, claimed %g", form,
          value, descent->average_primal);
    descent->primal = descent->average_primal;
    MUST(mc_kernel_certify(descent, &fit, &err));
    CHECK(fabs(fit.certificate.primal - value) <= 1e-4 * value && fit.certificate.gap < .05,
          "form %d, bias %g, cost %g: certified %g, not %g, gap %g", form, bias, cost,
          fit.certificate.primal, value, fit.certificate.gap);
    primal_of(descent, descent->B, descent->F, &difference);
    CHECK(difference <= 1e-9 * (1 + cost), "form %d: exact scores differ by %g", form, difference);
    mc_fit_free(&fit);
    landmarks_free(&descent->landmarks);
    free(descent->average);
    descent->average = NULL;
    mc_kernel_free(descent);
    certify_free(task.certify);
    score_map_free(&map);
}

int main(void) {
    struct data data = sample_data(ROWS, 6, 1, SAMPLE_SIGNED, false, true, 5);
    struct kernel kernel = {.type = KERNEL_RBF, .gamma = .3};
    struct gram *gram;
    uint32_t number, *y = check_array(ROWS, sizeof *y);
    char name[32];
    data.labels = DATA_NAME;
    data.label = sample_array(ROWS, sizeof *data.label);
    for (size_t c = 0; c < CLASSES; c++) {
        snprintf(name, sizeof name, "%zu", c + 10);
        MUST(names_add(&data.names, name, strlen(name), &number, &err));
    }
    for (size_t i = 0; i < ROWS; i++) {
        data.label[i] = y[i] = (uint32_t)(i * 7 % CLASSES);
    }
    MUST(gram_create(&gram, &kernel, &data, 0, false, NULL, &err));
    struct problem problem = {.data = &data, .n = ROWS, .gram = gram, .cache_bytes = 1 << 20};
    for (int form = 0; form < FORMS; form++) {
        check(&problem, y, form, 0, 1);
        check(&problem, y, form, 1.5, 3);
    }
    gram_free(gram);
    data_free(&data);
    printf("ok: joint steps approach the optimum of every formulation\n");
    return 0;
}
