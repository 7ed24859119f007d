/* Fits of ml against one another, over costs, losses, folds and threads; degenerate rows;
 * limits. */
#include "tests/unit/families/ml/solver/fixture.h"

/* Warm starts over costs and losses are as good as starts from zero. */
static void check_warm(void) {
    const double costs[] = {0.1, 1, 10, 100, 3, 0.01};
    for (int free_bias = 0; free_bias < 2; free_bias++) {
        for (int kernel = 0; kernel < 2; kernel++) {
            struct bed bed;
            struct ml *ml;
            make_bed(&bed, random_data(120, 6, 8, 0.3, 21), kernel ? 0.1 : 0, 1);
            struct ml_setup setup = {.free_bias = free_bias, .shrinking = true};
            MUST(ml_create(&ml, &bed.problem, &setup, &err));
            for (int loss = 0; loss < 2; loss++) {
                for (size_t c = 0; c < sizeof costs / sizeof *costs; c += (size_t)quick_step(2)) {
                    struct solution warm, cold;
                    solve(ml, (enum ml_loss)loss, ML_AUTO, costs[c], 1e-4, &warm);
                    solve_once(&bed, &setup, (enum ml_loss)loss, ML_AUTO, costs[c], 1e-4, &cold);
                    check_overlap(&warm, &cold, "warm and cold");
                    solution_free(&warm);
                    solution_free(&cold);
                }
            }
            ml_free(ml);
            free_bed(&bed);
        }
    }
    printf("ok: warm starts over costs and losses\n");
}

/* A fold of a shared kernel matrix is the problem of its rows alone. */
static void check_fold(void) {
    enum { N = 90 };
    uint32_t rows[N];
    struct bed whole, alone;
    make_bed(&whole, random_data(150, 6, 5, 0.4, 31), 0.1, 1);
    for (uint32_t i = 0; i < N; i++) {
        rows[i] = i * 5 / 3;
    }
    struct data subset;
    MUST(data_subset(&whole.data, rows, N, &subset, &err));
    make_bed(&alone, subset, 0.1, 1);
    whole.problem.rows = rows;
    whole.problem.n = N;
    struct ml_setup setup = {.shrinking = true};
    struct solution a, b;
    solve_once(&whole, &setup, ML_HINGE, ML_AUTO, 4, 1e-7, &a);
    solve_once(&alone, &setup, ML_HINGE, ML_AUTO, 4, 1e-7, &b);
    CHECK_NEAR(a.primal, b.primal, 2e-7, "primal, and alone");
    double primal = plain_primal(&alone, &a, ML_HINGE, 4, 0);
    CHECK_NEAR(a.primal, primal, 1e-10, "primal");
    solution_free(&a);
    solution_free(&b);
    free_bed(&whole);
    free_bed(&alone);
    printf("ok: a fold of a shared matrix\n");
}

/* The same bits with one thread and three, and other bits with another seed. */
static void check_threads(void) {
    for (int kernel = 0; kernel < 2; kernel++) {
        struct bed one, three;
        make_bed(&one, random_data(1200, 12, 20, 0.2, 41), kernel ? 0.05 : 0, 1);
        make_bed(&three, random_data(1200, 12, 20, 0.2, 41), kernel ? 0.05 : 0, 3);
        struct ml_setup setup = {.bias = 1, .shrinking = true, .seed = 1};
        struct solution a, b, c;
        solve_once(&one, &setup, ML_HINGE, ML_BCD, 1, 1e-3, &a);
        solve_once(&three, &setup, ML_HINGE, ML_BCD, 1, 1e-3, &b);
        setup.seed = 2;
        solve_once(&one, &setup, ML_HINGE, ML_BCD, 1, 1e-3, &c);
        size_t size = (kernel ? 1200U : 12U) * 20 * sizeof(double);
        CHECK(memcmp(a.weights, b.weights, size) == 0, "threads matter");
        CHECK(memcmp(a.weights, c.weights, size) != 0, "the seed does not matter");
        solution_free(&a);
        solution_free(&b);
        solution_free(&c);
        free_bed(&one);
        free_bed(&three);
    }
    printf("ok: threads change nothing, the seed does\n");
}

/* Rows of zeros, rows without labels and with all, two labels, hundreds of labels, no labels. */
static void check_edges(void) {
    struct ml_setup setup = {.shrinking = true};
    struct solution solution;
    struct bed bed;
    struct ml *ml;

    /* all rows zero: P = D = C for each row with a loss */
    make_bed(&bed, random_data(20, 3, 4, 0.4, 51), 0, 1);
    memset(bed.data.value, 0, 20 * 3 * sizeof(float));
    MUST(ml_create(&ml, &bed.problem, &setup, &err));
    const struct ml_rows *rows = ml_get_rows(ml);
    CHECK(rows->n + rows->n_empty + rows->n_full == 20 && rows->n_empty > 0, "counts");
    for (int loss = 0; loss < 2; loss++) {
        solve(ml, (enum ml_loss)loss, ML_AUTO, 1, 1e-9, &solution);
        CHECK_CLOSE(solution.primal, (double)rows->n, 1e-9, "primal");
        CHECK_CLOSE(solution.dual, (double)rows->n, 1e-9, "dual");
        solution_free(&solution);
    }
    ml_free(ml);
    bed.data.label_start[20] = 0;
    memset(bed.data.label_start, 0, 20 * sizeof *bed.data.label_start);
    CHECK(ml_create(&ml, &bed.problem, &setup, &err) < 0 && strstr(err.text, "nothing to learn"),
          "rows without labels are taken");
    free_bed(&bed);

    /* two labels with one each: the binary SVM without bias on x_p - x_r */
    make_bed(&bed, random_data(60, 4, 2, 0.5, 52), 0.1, 1);
    solve_once(&bed, &setup, ML_HINGE, ML_AUTO, 1, 1e-6, &solution);
    for (size_t i = 0; i < 60; i++) {
        CHECK(fabs(solution.weights[2 * i] + solution.weights[2 * i + 1]) < 1e-12, "row %zu", i);
    }
    solution_free(&solution);
    free_bed(&bed);

    /* hundreds of labels, up to half of them relevant */
    make_bed(&bed, random_data(60, 20, 300, 0.3, 53), 0, 1);
    for (int loss = 0; loss < 2; loss++) {
        solve_once(&bed, &setup, (enum ml_loss)loss, ML_AUTO, 1, 1e-3, &solution);
        double primal = plain_primal(&bed, &solution, (enum ml_loss)loss, 1, 0);
        CHECK_NEAR(solution.primal, primal, 1e-9, "primal");
        solution_free(&solution);
    }
    setup.free_bias = true;
    solve_once(&bed, &setup, ML_HINGE, ML_AUTO, 1, 0.05, &solution);
    solution_free(&solution);
    setup.free_bias = false;

    free_bed(&bed);
    printf("ok: rows of zeros, empty and full sets, two labels and hundreds\n");
}

static enum stop_reason stop_at_two(void *context, uint64_t iteration, double primal, double dual) {
    (void)context;
    CHECK(primal >= dual, "[%g, %g]", dual, primal);
    return iteration >= 2 ? STOP_ITERATIONS : 0;
}

static void check_limits(void) {
    struct bed bed;
    struct ml *ml;
    struct monitor monitor = {.check = stop_at_two};
    make_bed(&bed, random_data(200, 10, 6, 0.4, 61), 0.1, 1);
    for (int free_bias = 0; free_bias < 2; free_bias++) {
        struct ml_setup setup = {.free_bias = free_bias, .shrinking = true};
        MUST(ml_create(&ml, &bed.problem, &setup, &err));
        struct ml_parameters parameters = {ML_HINGE, ML_BCD, 10, 1e-6};
        struct solution solution;
        MUST(ml_solve(ml, &parameters, &monitor, &solution, &err));
        CHECK(!solution.converged && solution.iterations == 2 &&
                  solution.reason == STOP_ITERATIONS && solution.primal >= solution.dual,
              "%g iterations", (double)solution.iterations);
        solution_free(&solution);
        ml_free(ml);
    }
    free_bed(&bed);
    printf("ok: limits\n");
}

int main(void) {
    check_warm();
    check_fold();
    check_threads();
    check_edges();
    check_limits();
    return 0;
}
