/* Solutions x of H x = g: v'Hx, summed over the rows from slacks along v and x, must be v'g. Rows
 * with so many classes that a block ends early are among them. */
#include "families/mc/solver/hessian.h"

#include "tests/unit/compute.h"

/* Batches end early by rows with few classes, and by terms with many, whose weights are too many
 * for one matrix of centred scores. */
enum { ROWS = 5000, FEATURES = 3, MAX_CLASSES = 180, SIZE = MAX_CLASSES * FEATURES };

struct row {
    double x[FEATURES], theta[MAX_CLASSES], rest;
    uint32_t class[MAX_CLASSES];
    size_t y, n;
    bool joint;
};

/* v (k, FEATURES), with mean 0 over the classes if that is the space of the weights. */
static void draw_direction(struct random *random, const struct mc_shape *shape, double *v) {
    size_t k = shape->k;
    for (size_t f = 0; f < FEATURES; f++) {
        double mean = 0;
        for (size_t c = 0; c < k; c++) {
            v[c * FEATURES + f] = random_unit(random) - .5;
            mean += v[c * FEATURES + f] / (double)k;
        }
        for (size_t c = 0; c < k && (shape->form->relative || shape->form->centred); c++) {
            v[c * FEATURES + f] -= mean;
        }
    }
}

/* A row with about a share of the terms. */
static void draw_row(struct random *random, const struct mc_shape *shape, double share,
                     struct row *row) {
    row->n = 0;
    row->y = (size_t)random_below(random, shape->k);
    row->joint = shape->form->simplex && random_below(random, 4) > 0;
    row->rest = random_below(random, 2) > 0 ? random_unit(random) : 0;
    for (size_t f = 0; f < FEATURES; f++) {
        row->x[f] = random_unit(random) - .5;
    }
    for (uint32_t c = 0; c < shape->k; c++) {
        if (mc_is_term(shape, row->y, c) && random_unit(random) < share) {
            row->theta[row->n] = random_unit(random);
            row->class[row->n++] = c;
        }
    }
}

/* slack (k) = the derivatives of the row's slacks along v. */
static void slacks_along(const struct mc_shape *shape, const struct row *row, const double *v,
                         double *slack) {
    double score[MAX_CLASSES] = {0};
    for (size_t f = 0; f < FEATURES; f++) {
        for (size_t c = 0; c < shape->k; c++) {
            score[c] += v[c * FEATURES + f] * row->x[f];
        }
    }
    mc_slacks(shape, row->y, score, slack);
    for (size_t c = 0; c < shape->k; c++) {
        slack[c] -= 1;
    }
}

/* The row's part of v'H w. */
static double row_product(const struct mc_shape *shape, const struct row *row, const double *v,
                          const double *w) {
    double along_v[MAX_CLASSES], along_w[MAX_CLASSES];
    double product = 0, sum_v = 0, sum_w = 0, sum = row->rest;
    slacks_along(shape, row, v, along_v);
    slacks_along(shape, row, w, along_w);
    for (size_t p = 0; p < row->n; p++) {
        double theta = row->theta[p], of_v = along_v[row->class[p]], of_w = along_w[row->class[p]];
        product += theta * of_v * of_w;
        sum_v += theta * of_v;
        sum_w += theta * of_w;
        sum += theta;
    }
    return product - (row->joint && sum > 0 ? sum_v * sum_w / sum : 0);
}

static void check_form(enum mc_formulation formulation, size_t k, double share, bool ridge,
                       struct threads *threads) {
    const struct problem problem = {.threads = threads};
    const struct mc_task task = {.problem = &problem, .shape = mc_shape(formulation, k, .5)};
    struct mc_hessian hessian;
    double v[SIZE], g[SIZE], x[SIZE];
    struct random random = sample_random(k, (uint64_t)formulation);
    struct row *rows = sample_array(ROWS, sizeof *rows);
    MUST(mc_hessian_create(&hessian, &task, FEATURES, &err));
    mc_hessian_begin(&hessian, FEATURES);
    for (size_t i = 0; i < ROWS; i++) {
        struct row *row = &rows[i];
        draw_row(&random, &task.shape, share, row);
        mc_hessian_add(&hessian, row->x, row->y, row->class, row->n, row->theta, row->joint,
                       row->rest);
    }
    mc_hessian_end(&hessian);
    CHECK(mc_hessian_factor(&hessian, ridge) == 0, "%s: not factored", task.shape.form->name);
    draw_direction(&random, &task.shape, g);
    memcpy(x, g, sizeof x);
    mc_hessian_solve(&hessian, x);
    for (size_t f = 0; f < FEATURES && (task.shape.form->relative || task.shape.form->centred);
         f++) {
        double sum = 0, size = 0;
        for (size_t c = 0; c < k; c++) {
            sum += x[c * FEATURES + f];
            size += fabs(x[c * FEATURES + f]);
        }
        CHECK(fabs(sum) <= 1e-10 * size, "%s: sum %g, not 0", task.shape.form->name, sum);
    }
    for (int trial = 0; trial < 5; trial++) {
        double expected = 0, found = 0;
        draw_direction(&random, &task.shape, v);
        for (size_t j = 0; j < k * FEATURES; j++) {
            expected += v[j] * g[j];
            found += v[j] * x[j];
        }
        for (size_t i = 0; i < ROWS; i++) {
            found += row_product(&task.shape, &rows[i], v, x);
        }
        CHECK_NEAR(found, expected, 1e-10, "%s, %zu classes", task.shape.form->name, k);
    }
    mc_hessian_free(&hessian);
    free(rows);
}

int main(void) {
    struct threads *threads;
    MUST(threads_create_for_blas(&threads, 2, &err));
    for (int formulation = MC_WW; formulation <= MC_OVA; formulation++) {
        check_form((enum mc_formulation)formulation, 3, 1, false, NULL);
        check_form((enum mc_formulation)formulation, 4, .3, true, threads);
        check_form((enum mc_formulation)formulation, MAX_CLASSES, .2, true, threads);
    }
    threads_free(threads);
    printf("ok: solutions of the Hessian's system agree with sums over the rows\n");
    return 0;
}
