/* Tests of one problem (families/rank/solver/rank.h) that is solved several times, and comparisons
 * of fits: paths over C, folds of a shared kernel matrix, threads, shares of the pairs. */
#define _GNU_SOURCE
#include "tests/unit/families/rank/solver/fixture.h"

static void check_bracket(const struct solution *solution, double primal, double dual) {
    CHECK(solution->primal >= dual * (1 - 2e-9) && solution->dual <= primal * (1 + 2e-9) &&
              gap_relative(solution->primal, solution->dual) <= 1e-6,
          "[%.12g, %.12g], optimum %.12g", solution->dual, solution->primal, primal);
}

static void check_path(void) {
    struct reference_data rows = random_rows(40, 4, 3, 1, 51);
    for (int kind = 0; kind < 4; kind++) {
        bool linear = kind & 1;
        struct gram *gram = NULL;
        struct rank *rank;
        struct kernel kernel = {KERNEL_TANIMOTO, 3, 1, 0};
        struct rank_preferences preferences = all_pairs();
        struct reference_kernel reference = {linear ? 0 : 5, 3, 1, 0};
        struct data data = rows_to_data(&rows, DENSE);
        CHECK(linear || gram_create(&gram, &kernel, &data, 1 << 24, true, NULL, &err) == 0, "%s",
              err.text);
        struct problem problem = {.data = &data, .gram = gram, .n = data.n_rows};
        MUST(rank_create(&rank, &problem, &preferences, &err));
        /* up, down, and one point twice: a warm start must not change the optimum */
        static const double path[] = {1e-3, 1e-2, 1, 50, 50, 3, 1e-3, 1e3, 1e-1};
        for (size_t c = 0; c < sizeof path / sizeof *path; c++) {
            struct rank_parameters parameters = {
                kind & 2 ? RANK_SQUARED_HINGE : RANK_HINGE, RANK_AUTO, path[c], 1e-6, 0, 0};
            struct solution solution;
            struct reference_pairs pairs = list_pairs(&rows, &preferences, path[c]);
            double primal, dual;
            reference_optimum(&rows, &reference, &pairs, false, kind & 2, 1e-9, &primal, &dual);
            MUST(rank_solve(rank, &parameters, NULL, &solution, &err));
            CHECK(solution.converged, "kind %d C %g: not converged", kind, path[c]);
            check_bracket(&solution, primal, dual);
            solution_free(&solution);
            reference_pairs_free(&pairs);
        }
        rank_free(rank);
        gram_free(gram);
        data_free(&data);
    }
    puts("ok: a path over C in any order reaches each optimum");
}

static void check_subset(void) {
    struct reference_data rows = random_rows(50, 4, 3, 1, 61), part = random_rows(25, 4, 1, 1, 62);
    uint32_t chosen[25];
    for (size_t i = 0; i < 25; i++) { /* every second row, backwards */
        chosen[i] = (uint32_t)(48 - 2 * i);
        memcpy(part.x + i * part.width, rows.x + chosen[i] * rows.width,
               part.width * sizeof(double));
        part.t[i] = rows.t[chosen[i]];
        part.query[i] = rows.query[chosen[i]];
    }
    struct gram *gram = NULL;
    struct rank *rank = NULL;
    struct kernel kernel = {KERNEL_RBF, 3, .5, 0};
    struct reference_kernel reference = {2, 3, .5, 0};
    struct rank_preferences preferences = all_pairs();
    struct data data = rows_to_data(&rows, SPARSE);
    MUST(gram_create(&gram, &kernel, &data, 1 << 24, true, NULL, &err));
    struct problem problem = {.data = &data, .gram = gram, .rows = chosen, .n = 25};
    MUST(rank_create(&rank, &problem, &preferences, &err));
    for (int loss = 0; loss < 2; loss++) {
        struct rank_parameters parameters = {
            loss ? RANK_SQUARED_HINGE : RANK_HINGE, RANK_AUTO, 2, 1e-6, 0, 0};
        struct solution solution = {0};
        struct reference_pairs pairs = list_pairs(&part, &preferences, 2);
        double primal, dual, *matrix = reference_gram(&reference, &part);
        reference_optimum(&part, &reference, &pairs, false, loss, 1e-9, &primal, &dual);
        MUST(rank_solve(rank, &parameters, NULL, &solution, &err));
        double at = objective(&part, matrix, &pairs, loss, false, &solution);
        CHECK_NEAR(solution.primal, at, 1e-9, "primal");
        check_bracket(&solution, primal, dual);
        solution_free(&solution);
        reference_pairs_free(&pairs);
        free(matrix);
    }
    rank_free(rank);
    gram_free(gram);
    data_free(&data);
    puts("ok: some rows of a shared kernel matrix are fitted as a set of their own");
}

/* Fits and returns the weights, to compare fits. The caller frees the solution. */
static void plain_fit(const struct reference_data *rows, bool linear, enum rank_loss loss,
                      const struct rank_preferences *preferences, size_t n_threads,
                      struct rank_counts *counts, struct solution *solution) {
    struct gram *gram = NULL;
    struct rank *rank;
    struct threads *threads = NULL;
    struct kernel kernel = {KERNEL_MINMAX, 3, 1, 0};
    struct rank_parameters parameters = {loss, RANK_AUTO, 1, 1e-7, 0, 0};
    struct data data = rows_to_data(rows, SPARSE);
    CHECK(n_threads < 2 || threads_create(&threads, n_threads, &err) == 0, "%s", err.text);
    CHECK(linear || gram_create(&gram, &kernel, &data, 1 << 24, true, threads, &err) == 0, "%s",
          err.text);
    struct problem problem = {.data = &data, .gram = gram, .n = data.n_rows, .threads = threads};
    MUST(rank_create(&rank, &problem, preferences, &err));
    *counts = rank_counts(rank);
    MUST(rank_solve(rank, &parameters, NULL, solution, &err));
    rank_free(rank);
    gram_free(gram);
    threads_free(threads);
    data_free(&data);
}

static void check_threads(void) {
    struct rank_preferences preferences = all_pairs();
    struct reference_data rows = random_rows(700, 12, 5, 0, 71);
    for (int kind = 0; kind < 4; kind += quick_step(3)) {
        struct solution one, two;
        struct rank_counts counts;
        bool linear = kind & 1;
        size_t size = linear ? rows.width - 1 : rows.n;
        enum rank_loss loss = kind & 2 ? RANK_SQUARED_HINGE : RANK_HINGE;
        plain_fit(&rows, linear, loss, &preferences, 1, &counts, &one);
        plain_fit(&rows, linear, loss, &preferences, 2, &counts, &two);
        CHECK(memcmp(one.weights, two.weights, size * sizeof(double)) == 0,
              "kind %d: weights differ", kind);
        CHECK(one.primal == two.primal && one.dual == two.dual, "kind %d: bounds differ", kind);
        solution_free(&one);
        solution_free(&two);
    }
    puts("ok: one and two threads give the same bits");
}

static void check_fraction(void) {
    struct reference_data rows = random_rows(60, 4, 2, 0, 81);
    struct rank_preferences preferences = all_pairs();
    struct rank_counts all, part, again, other;
    struct solution full, one, same, different;
    plain_fit(&rows, true, RANK_SQUARED_HINGE, &preferences, 1, &all, &full);
    preferences.fraction = .3;
    plain_fit(&rows, true, RANK_SQUARED_HINGE, &preferences, 1, &part, &one);
    plain_fit(&rows, true, RANK_SQUARED_HINGE, &preferences, 1, &again, &same);
    preferences.seed = 2;
    plain_fit(&rows, true, RANK_SQUARED_HINGE, &preferences, 1, &other, &different);
    CHECK_CLOSE(part.n_pairs, .3 * all.n_pairs, 2, "pairs");
    CHECK(part.n_pairs == again.n_pairs && part.n_pairs == other.n_pairs, "%g, %g, %g pairs",
          part.n_pairs, again.n_pairs, other.n_pairs);
    size_t bytes = (rows.width - 1) * sizeof(double);
    CHECK(memcmp(one.weights, same.weights, bytes) == 0, "one seed, two fits");
    CHECK(memcmp(one.weights, different.weights, bytes) != 0, "two seeds, one fit");
    CHECK(one.dual < full.primal, "fewer pairs cost more: %g, all %g", one.dual, full.primal);
    solution_free(&full);
    solution_free(&one);
    solution_free(&same);
    solution_free(&different);
    puts("ok: a fraction of the pairs is drawn by the seed alone");
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    check_path();
    check_subset();
    check_threads();
    check_fraction();
    return 0;
}
