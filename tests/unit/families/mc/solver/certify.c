/* mc_certify against plain computations by its definition: the loss with its rounding-error bound,
 * and the dual less its own. */
#include "families/mc/solver/certify.h"

#include "tests/unit/fit/line.h"

enum { N = 9, K = 4, FORMS = 8 };

struct scene {
    struct line line;
    struct mc_task task;
    uint32_t y[N];
    double weight[N], s[N * K], zero[N * K], g[N * K];
    struct mc_alpha alpha;
};

static void open_scene(struct scene *scene, float *x, int form, bool kernel, double margin,
                       struct random *random) {
    *scene = (struct scene){0};
    for (size_t i = 0; i < N; i++) {
        x[i] = i == 4 ? 0 : (float)(2 * random_unit(random) - 1);
        scene->y[i] = (uint32_t)(i % K);
        scene->weight[i] = .5 + .25 * (double)i;
    }
    line_open(&scene->line, x, N, kernel, (struct data){0});
    scene->task = (struct mc_task){.problem = &scene->line.problem,
                                   .shape = mc_shape((enum mc_formulation)form, K, margin),
                                   .n = N,
                                   .n_all = N,
                                   .y = scene->y,
                                   .row_weight = scene->weight,
                                   .certify = scene->line.certify};
    MUST(mc_alpha_create(&scene->alpha, N, K, &err));
    for (size_t i = 0; i < N; i++) {
        double row[K];
        for (size_t c = 0; c < K; c++) {
            bool term = mc_is_term(&scene->task.shape, scene->y[i], c);
            row[c] = term && i != 4 ? .1 * random_unit(random) : 0;
            /* some rows have a loss, some do not */
            scene->s[i * K + c] =
                (c == scene->y[i] ? 5 * (double)(i % 3) : 0) + random_unit(random);
        }
        MUST(mc_alpha_store(&scene->alpha, i, row, &err));
    }
    for (size_t j = 0; j < line_weights(&scene->line) * K; j++) {
        scene->g[j] = random_unit(random) - .4;
    }
}

static void close_scene(struct scene *scene) {
    mc_alpha_free(&scene->alpha);
    line_close(&scene->line);
}

/* The loss at the scores, and *rounding, its error bound for scores with errors of 6 units of a
 * row's largest. */
static double plain_loss(const struct scene *scene, double cost, double *rounding) {
    const struct mc_shape *shape = &scene->task.shape;
    double value = 0, slope = 2 * fmax(1, shape->margin);
    *rounding = 0;
    for (size_t i = 0; i < N; i++) {
        const double *s = scene->s + i * K;
        double u[K], max = 0, high = -INFINITY, weight = cost * scene->weight[i];
        mc_slacks(shape, scene->y[i], s, u);
        for (size_t c = 0; c < K; c++) {
            max = fmax(max, fabs(s[c]));
            high = mc_is_term(shape, scene->y[i], c) ? fmax(high, u[c]) : high;
        }
        double off = slope * 6 * line_unit * max + (K + 8) * DBL_EPSILON * (1 + slope * max);
        value += weight * mc_loss(shape, scene->y[i], s);
        *rounding += high + off > 0 ? weight * mc_max_alpha_sum(shape) * off : 0;
    }
    *rounding += (N * DBL_EPSILON + line_unit) * value;
    return value;
}

/* The sum of the scene's alpha; row 4, of zeros, has its maximal alpha. */
static double plain_sum(const struct scene *scene, double cost) {
    double sum = 0;
    for (size_t i = 0; i < N; i++) {
        sum += i == 4 ? cost * scene->weight[i] * mc_max_alpha_sum(&scene->task.shape)
                      : mc_alpha_sum(&scene->alpha, i);
    }
    return sum;
}

static void check_certificate(struct scene *scene, double cost) {
    const struct mc_shape *shape = &scene->task.shape;
    bool kernel = scene->line.gram;
    double error[N], norm, lost, sum = 0, width = 2 * fmax(1, shape->margin), terms = 0;
    struct mc_fit fit = {.weights = scene->zero};
    const struct mc_dual dual = {
        .alpha = &scene->alpha, .weights = scene->g, .exact = {scene->s, NULL}};
    double linear = plain_sum(scene, cost);
    for (size_t i = 0; i < N; i++) {
        error[i] = width * mc_alpha_sum(&scene->alpha, i);
        terms += error[i] > 0;
    }
    double unit = (K + 8) * DBL_EPSILON + (kernel ? 0 : (terms + 2) * line_unit);
    for (size_t i = 0; i < N; i++) {
        error[i] = unit * error[i];
        /* row 4 has its maximal alpha, but no coefficients */
        error[i] += i == 4 ? width * cost * scene->weight[i] * mc_max_alpha_sum(shape) : 0;
        sum += cost * scene->weight[i] * mc_max_alpha_sum(shape);
    }
    double value = plain_loss(scene, cost, &lost);
    double of_g = line_rounding(&scene->line, K, scene->g, error, &norm);
    MUST(mc_certify(&scene->task, cost, &dual, &fit, &err));
    CHECK_NEAR(fit.certificate.primal, fmin(value, sum), 1e-12, "primal");
    CHECK_CLOSE(fit.certificate.dual, fmax(0, linear - .5 * norm), 1e-12 * linear, "dual");
    CHECK(near(fit.certificate.zero_primal, sum, 1e-13) &&
              fit.certificate.zero_primal >= sum * (1 - 1e-15),
          "nothing %g", fit.certificate.zero_primal);
    double paid = lost + (3 * (K + 4) + N + 4) * DBL_EPSILON * linear + .5 * of_g;
    CHECK_NEAR(fit.certificate.rounding, paid, 1e-9, "%s: paid", shape->form->name);
}

/* The stored dual point: rows of zeros have their maximal alpha. */
static void check_kept(struct scene *scene, double cost) {
    const struct mc_shape *shape = &scene->task.shape;
    struct mc_fit fit = {.weights = scene->zero};
    const struct mc_dual dual = {
        .alpha = &scene->alpha, .weights = scene->g, .exact = {scene->s, NULL}};
    scene->task.keep = true;
    MUST(mc_certify(&scene->task, cost, &dual, &fit, &err));
    for (size_t i = 0; i < N; i++) {
        double kept[K], row[K], due[K], sum = 0, none[K] = {0};
        mc_vertex(shape, scene->y[i], cost * scene->weight[i], none, due);
        mc_alpha_load(&fit.alpha, i, kept);
        mc_alpha_load(&scene->alpha, i, row);
        for (size_t c = 0; c < K; c++) {
            CHECK(kept[c] == (i == 4 ? due[c] : row[c]), "row %zu: alpha %g", i, kept[c]);
            sum += kept[c];
        }
        CHECK(i != 4 || near(sum, cost * scene->weight[i] * mc_max_alpha_sum(shape), 1e-14),
              "a row of zeros has %g", sum);
    }
    mc_alpha_free(&fit.alpha);
    scene->task.keep = false;
}

/* A dual point above its caps is scaled down; one that scaling cannot make feasible gives the
 * trivial bound. */
static void check_infeasible(struct scene *scene, double cost) {
    const struct mc_shape *shape = &scene->task.shape;
    struct mc_fit fit = {.weights = scene->zero};
    double none[N * K] = {0}, row[K], cap = cost * scene->weight[0], before[K];
    const struct mc_dual dual = {
        .alpha = &scene->alpha, .weights = none, .exact = {scene->s, NULL}};
    mc_alpha_load(&scene->alpha, 0, before);
    mc_vertex(shape, scene->y[0], 1.25 * cap, none, row);
    CHECK_TRUE(mc_alpha_store(&scene->alpha, 0, row, &err) == 0);
    double sum = plain_sum(scene, cost);
    MUST(mc_certify(&scene->task, cost, &dual, &fit, &err));
    CHECK(fit.certificate.dual > .74 * sum && fit.certificate.dual <= sum / 1.25,
          "%s: over a cap: %g of %g", shape->form->name, fit.certificate.dual, sum);
    for (int wrong = 0; wrong < 2; wrong++) {
        size_t c = wrong == 0 && mc_is_term(shape, scene->y[0], 0) ? 1 : 0;
        if (wrong == 0 && mc_is_term(shape, scene->y[0], c)) {
            continue; /* all classes are terms */
        }
        memcpy(row, before, sizeof row);
        row[c] = wrong == 0 ? .01 : -.01;
        CHECK_TRUE(mc_alpha_store(&scene->alpha, 0, row, &err) == 0);
        MUST(mc_certify(&scene->task, cost, &dual, &fit, &err));
        CHECK(fit.certificate.dual == 0 && fit.certificate.certified,
              "%s: alpha %g is no dual point: D %g", shape->form->name, row[c],
              fit.certificate.dual);
    }
    CHECK_TRUE(mc_alpha_store(&scene->alpha, 0, before, &err) == 0);
}

static void check_certificates(void) {
    struct random random = sample_random(5, 0);
    for (int round = 0; round < 8 * FORMS; round++) {
        float x[N];
        struct scene scene;
        open_scene(&scene, x, round % FORMS, round & 8, round & 16 ? .5 : 1, &random);
        check_certificate(&scene, 1.5);
        check_kept(&scene, 1.5);
        check_infeasible(&scene, 1.5);
        close_scene(&scene);
    }
    struct certificate certificate = {.primal = 12.2, .dual = 1, .certified = true};
    CHECK(!mc_is_rounding(&certificate, 10), "a gap of 11.2 with 10 for rounding");
    certificate.primal = 12;
    CHECK(mc_is_rounding(&certificate, 10), "a gap of 11 with 10 for rounding");
    certificate.certified = false;
    CHECK(!mc_is_rounding(&certificate, 10), "without a certificate");
    printf("ok: certificates have the bounds and rounding errors of the definition\n");
}

int main(void) {
    check_certificates();
    return 0;
}
