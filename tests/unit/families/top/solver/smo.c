/* Runs that begin near the solution (smo.h): with kernel values in float on the way they end with
 * exact scores; and a run whose last evaluation takes too long ends at its last exact point. */
#include "families/top/solver/smo.h"

#include "common/base/gap.h"
#include "common/base/threads.h"
#include "common/kernel/gram.h"
#include "tests/unit/compute.h"

enum { N = 400, WIDTH = 4, POSITIVES = 80 };

static const double COST = 2, EPSILON = 1e-5;

/* A clock that advances a second with each question; `stop`: checks after which it is too late. */
struct watch {
    double left;
    int stop;
};

static double seconds_left(void *context) {
    struct watch *watch = context;
    return watch->left -= 1;
}

static enum stop_reason check(void *context, uint64_t iteration, double primal, double dual) {
    struct watch *watch = context;
    (void)iteration, (void)primal, (void)dual;
    if (watch->stop-- > 0) {
        return 0;
    }
    watch->left = -1;
    return STOP_TIME;
}

/* Exact scores of the weights (N), by the definition. */
static void check_scores(const struct problem *problem, const double *weights, const double *s) {
    const struct kernel_rows *rows = gram_rows(problem->gram);
    CHECK_TRUE(s);
    for (size_t i = 0; i < N; i++) {
        double sum = 0, size = 0;
        for (size_t j = 0; j < N; j++) {
            sum += weights[j] * kernel_value(rows, i, rows, j);
            size += fabs(weights[j]);
        }
        CHECK_CLOSE(s[i], sum, 1e-13 * size, "row %zu", i);
    }
}

/* A run with a time limit, from smo's own start, tells what its last evaluation takes. */
static void check_reserve(const struct problem *problem, const struct score_map *map,
                          struct top_risk *risk) {
    struct watch watch = {.left = 1e6, .stop = 1000000};
    const struct monitor clock = {.context = &watch, .check = check, .seconds_left = seconds_left};
    double reserved = 0;
    const struct top_smo_settings settings = {
        .cost = COST, .epsilon = EPSILON, .shrink = true, .reserved_seconds = &reserved};
    struct top_smo *smo;
    struct fit fit;
    MUST(top_smo_create(&smo, problem, map, map, risk, &err));
    MUST(top_smo_solve(smo, &settings, &clock, &fit, &err));
    check_scores(problem, fit.weights, fit.scores);
    CHECK(fit.converged && reserved > 0, "reserved %g", reserved);
    fit_free(&fit);
    top_smo_free(smo);
}

/* A run from the point of `start`; watch: the clock, or NULL. */
static void check_run(const struct problem *problem, const struct score_map *map,
                      struct top_risk *risk, const struct fit *start, struct watch *watch) {
    const struct monitor clock = {.context = watch, .check = check, .seconds_left = seconds_left};
    const struct monitor *monitor = watch ? &clock : NULL;
    const struct top_smo_settings settings = {.cost = COST, .epsilon = EPSILON, .shrink = true};
    struct top_smo *smo;
    struct fit first = {0}, fit;
    MUST(top_smo_create(&smo, problem, map, map, risk, &err));
    MUST(top_smo_start_near(smo, COST, start->alpha, start->beta, monitor, &err));
    MUST(top_smo_take_point(smo, EPSILON, &first, &err));
    MUST(top_smo_solve(smo, &settings, monitor, &fit, &err));
    check_scores(problem, fit.weights, fit.scores);
    check_scores(problem, fit.dual_weights, fit.dual_scores);
    if (watch) {
        CHECK(fit.reason == STOP_TIME && fit.iterations > 0, "reason %d", (int)fit.reason);
        CHECK_CLOSE(fit.dual, first.dual, 1e-14 * first.dual, "the dual of the first point");
        fit_free(&fit);
        MUST(top_smo_solve(smo, &settings, NULL, &fit, &err)); /* from the beginning */
    }
    CHECK(fit.converged && gap_reached(fit.primal, fit.dual, EPSILON) && fit.dual > first.dual,
          "gap %g", gap_relative(fit.primal, fit.dual));
    fit_free(&first);
    fit_free(&fit);
    top_smo_free(smo);
}

int main(void) {
    static const struct kernel rbf = {.type = KERNEL_RBF, .gamma = .3};
    const struct top_smo_settings loose = {.cost = COST, .epsilon = .3};
    struct data data = sample_data(N, WIDTH, 1, SAMPLE_SIGNED, false, false, 3);
    struct gram *gram;
    struct threads *threads;
    struct score_map map;
    for (size_t j = 0; j < POSITIVES * WIDTH; j++) {
        data.value[j] += .3F;
    }
    MUST(threads_create(&threads, 2, &err));
    MUST(gram_create(&gram, &rbf, &data, 0, false, threads, &err));
    const struct problem problem = {
        .data = &data, .gram = gram, .n = N, .threads = threads, .cache_bytes = 1 << 20};
    MUST(score_map_create(&map, &problem, &err));
    for (int round = 0; round < 6; round++) {
        struct top_risk risk;
        struct top_smo *smo;
        struct fit start;
        struct watch watch = {.left = 1e6, .stop = 1};
        MUST(top_risk_create(&risk, N, &err));
        for (size_t i = 0; i < N; i++) {
            *(i < POSITIVES ? &risk.cost[i] : &risk.mass[i]) = 1;
        }
        risk.kind = (enum top_kind)(round % 3);
        risk.square = round / 3;
        risk.theta = 1;
        risk.budget = 0.1 * (N - POSITIVES);
        top_risk_ready(&risk, 5);
        MUST(top_smo_create(&smo, &problem, &map, &map, &risk, &err));
        MUST(top_smo_solve(smo, &loose, NULL, &start, &err));
        check_run(&problem, &map, &risk, &start, NULL);
        check_run(&problem, &map, &risk, &start, &watch);
        check_reserve(&problem, &map, &risk);
        top_smo_free(smo);
        fit_free(&start);
        top_risk_free(&risk);
    }
    score_map_free(&map);
    gram_free(gram);
    threads_free(threads);
    data_free(&data);
    printf("ok: runs near the solution end with exact scores, and when there is no more time\n");
    return 0;
}
