/* RankSVM by landmarks: its primal is that of its function, an upper bound of the optimum; the dual
 * of its dual point is a lower bound, and the estimate of it is near the truth. With many landmarks
 * the gap is the target's, with few it is honest. */
#include "families/rank/solver/low_rank.h"

#include "common/base/gap.h"
#include "families/rank/solver/risk.h"
#include "tests/unit/compute.h"

enum { N = 600, QUERIES = 6, FEATURES = 3 };

static void set_targets(struct data *data) {
    data->target = sample_array(N, sizeof *data->target);
    data->query = sample_array(N, sizeof *data->query);
    for (size_t i = 0; i < N; i++) {
        const float *x = data->value + i * FEATURES;
        data->target[i] = floor(3 * sin(3 * (double)x[0]) + 2 * (double)(x[1] * x[2]));
        data->query[i] = i % QUERIES;
    }
}

/* s = K b by the definition; returns b's. */
static double multiply(const struct gram *gram, const double *b, double *s) {
    const struct kernel_rows *rows = gram_rows(gram);
    double squared_norm = 0;
    for (size_t i = 0; i < N; i++) {
        s[i] = 0;
        for (size_t j = 0; j < N; j++) {
            s[i] += b[j] == 0 ? 0 : b[j] * kernel_value(rows, i, rows, j);
        }
        squared_norm += b[i] * s[i];
    }
    return squared_norm;
}

/* The optimum lies between low and high. Returns the gap. */
static double solve(const struct problem *problem, struct rank_pairs *pairs, enum rank_loss loss,
                    size_t size, double cost, double low, double high) {
    struct rank_risk risk;
    struct rank_low_rank *solver;
    struct fit fit;
    double s[N], g[N], offset;
    MUST(rank_risk_create(&risk, pairs, loss == RANK_HINGE ? RANK_RISK_HINGE : RANK_RISK_SQUARE,
                          &err));
    const struct risk functions = rank_risk_functions(&risk, false);
    MUST(rank_low_rank_create(&solver, problem, pairs, size, 5, NULL, &err));
    MUST(rank_low_rank_solve(solver, loss, &functions, cost, 1e-2, NULL, &fit, &err));
    double squared_norm = multiply(problem->gram, fit.weights, s);
    double primal = squared_norm / 2 + cost * functions.cut(functions.context, s, g, &offset);
    double dual = fit.dual_offset - multiply(problem->gram, fit.dual_weights, s) / 2;
    double gap = gap_relative(primal, fmax(0, dual)), told = gap_relative(fit.primal, fit.dual);
    CHECK(primal >= low * (1 - 1e-9), "primal %g below the optimum %g", primal, low);
    CHECK(dual <= high * (1 + 1e-9), "dual %g above the optimum %g", dual, high);
    CHECK_NEAR(fit.primal, primal, 1e-4, "primal");
    CHECK_CLOSE(told, gap, .2 * gap + 1e-4, "gap");
    CHECK_TRUE((loss == RANK_HINGE) == (rank_low_rank_planes(solver) != NULL));
    fit_free(&fit);
    rank_low_rank_free(solver);
    rank_risk_free(&risk);
    return gap;
}

int main(void) {
    struct data data = sample_data(N, FEATURES, 1, SAMPLE_SIGNED, false, false, 11);
    const struct kernel kernel = {.type = KERNEL_RBF, .gamma = 1};
    const struct rank_preferences all = {.gap_low = 1, .gap_high = UINT32_MAX, .fraction = 1};
    struct gram *gram;
    set_targets(&data);
    MUST(gram_create(&gram, &kernel, &data, 1 << 24, true, NULL, &err));
    const struct problem problem = {.data = &data, .gram = gram, .n = N, .cache_bytes = 1 << 24};
    for (int loss = 0; loss < 2; loss++) {
        const struct rank_parameters parameters = {
            .loss = (enum rank_loss)loss, .cost = .1, .epsilon = 1e-6};
        struct rank_pairs pairs;
        struct rank *rank;
        struct solution optimum;
        MUST(rank_create(&rank, &problem, &all, &err));
        MUST(rank_solve(rank, &parameters, NULL, &optimum, &err));
        MUST(rank_pairs_create(&pairs, &problem, &all, &err));
        double few = 1, gap = 1;
        for (size_t size = 64; size <= 512; size *= 2) {
            gap = solve(&problem, &pairs, parameters.loss, size, parameters.cost, optimum.dual,
                        optimum.primal);
            few = size == 64 ? gap : few;
        }
        CHECK(gap <= 1e-2, "gap %g with all landmarks", gap);
        CHECK(few > gap, "gaps %g with few landmarks, %g with many", few, gap);
        rank_pairs_free(&pairs);
        free(optimum.weights);
        rank_free(rank);
    }
    gram_free(gram);
    data_free(&data);
    printf("ok: ranking by landmarks is honest about its gap\n");
    return 0;
}
