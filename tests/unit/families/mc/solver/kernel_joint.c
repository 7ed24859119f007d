/* Steps of all rows at once (kernel_joint.c): for every formulation, with and without a constant
 * feature, they raise the dual, keep F = K B, and approach the optimum; the average is a primal
 * point with the primal that it claims, and the certificate uses it. */
#include "tests/unit/families/mc/solver/kernel_fixture.h"

enum { ROWS = 400, CLASSES = 5, STEPS = 12 };

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

static void check(struct bed *bed, int form, double bias, double cost) {
    struct mc_goal goal = {.cost = cost, .epsilon = 1e-9};
    struct mc_kernel_descent *descent = descent_open(bed, form, bias, &goal);
    struct mc_fit fit;
    double difference;
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
    CHECK_NEAR(descent->average_primal, value, 1e-4, "form %d", form);
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
    descent_close(bed, descent);
}

int main(void) {
    struct bed bed;
    bed_open(&bed, ROWS, 6, CLASSES, 0, false);
    for (size_t i = 0; i < ROWS; i += 3) {
        bed.weight[i] = 2;
    }
    for (int form = 0; form < FORMS; form++) {
        check(&bed, form, 0, 1);
        check(&bed, form, 1.5, 3);
    }
    bed_close(&bed);
    printf("ok: joint steps approach the optimum of every formulation\n");
    return 0;
}
