/* families/ml/solver/ml.h against optima of the problem written out pair by pair, and against
 * itself: both solvers, small and large blocks, permuted labels.
 *
 * The optima of the toy were computed with numpy and scipy: all pairs as variables of a
 * box-constrained QP (L-BFGS-B to 1e-12), with the equations of the free bias added for SLSQP. An
 * independent proximal-point method gave 3.778866727 and 8.454402562 for the free bias, too. */
#include "families/ml/solver/bias.h"
#include "tests/reference/ml_conditional_gradient.h"
#include "tests/unit/families/ml/solver/fixture.h"

enum { TOY_ROWS = 14, TOY_FEATURES = 5, TOY_LABELS = 5 };

/* in units of 1/1024 */
static const struct {
    int x[TOY_FEATURES];
    const char *set;
} toy[TOY_ROWS] = {
    {{354, 841, 338, -1334, 927}, "01001"},    {{457, -550, 595, 373, 301}, "11011"},
    {{29, 560, -754, -167, -494}, "00010"},    {{613, 41, -299, -801, -263}, "01010"},
    {{8, -282, 1325, 1031, -2776}, "00000"},   {{-1934, -179, -432, 219, 223}, "00101"},
    {{2169, -1139, -387, 2092, 662}, "10111"}, {{679, -526, -1688, 171, 112}, "00110"},
    {{-1257, -700, -74, -967, -101}, "01100"}, {{98, 36, -518, 608, 913}, "01111"},
    {{329, -838, 749, -513, 900}, "11001"},    {{-1098, 936, -21, -1279, -321}, "00000"},
    {{55, 279, -1006, -1134, 204}, "00100"},   {{-478, 241, 778, -1688, 260}, "01001"}};

static struct data toy_data(void) {
    struct data data = make_data(TOY_ROWS, TOY_FEATURES, TOY_LABELS);
    for (size_t i = 0; i < TOY_ROWS; i++) {
        bool set[TOY_LABELS];
        for (size_t k = 0; k < TOY_LABELS; k++) {
            set[k] = toy[i].set[k] == '1';
        }
        for (size_t c = 0; c < TOY_FEATURES; c++) {
            data.value[i * TOY_FEATURES + c] = (float)toy[i].x[c] / 1024;
        }
        set_labels(&data, i, set);
    }
    return data;
}

static void check_toy(void) {
    static const struct {
        double gamma, bias;
        bool free_bias;
        double optimum[2]; /* hinge, squared hinge */
    } cases[] = {
        {0, 0, false, {5.648089081, 4.251772399}},     {0, 1.5, false, {4.130399136, 2.865877931}},
        {0, 0, true, {3.778866727, 2.717793905}},      {0.2, 0, false, {8.781671487, 6.297118667}},
        {0.2, 1.5, false, {8.502022784, 6.101320599}}, {0.2, 0, true, {8.454402561, 6.065256772}}};
    const double cost = 3;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct bed bed;
        make_bed(&bed, toy_data(), cases[c].gamma, 1);
        for (int loss = 0; loss < 2; loss++) {
            for (int steps = 0; steps < 2; steps++) {
                enum ml_method method = steps ? ML_BCD : ML_INTERIOR;
                struct ml_setup setup = {.bias = cases[c].bias,
                                         .free_bias = cases[c].free_bias,
                                         .shrinking = steps,
                                         .seed = 1};
                char what[160];
                snprintf(what, sizeof what, "gamma %g, bias %g, free %d, loss %d, method %d",
                         cases[c].gamma, cases[c].bias, cases[c].free_bias, loss, method);
                struct solution solution;
                solve_once(&bed, &setup, (enum ml_loss)loss, method, cost, 1e-7, &solution);
                check_bracket(&solution, cases[c].optimum[loss], what);
                double primal =
                    plain_primal(&bed, &solution, (enum ml_loss)loss, cost, cases[c].bias);
                CHECK_NEAR(solution.primal, primal, 1e-10, "%s", what);
                double mean = 0;
                for (size_t k = 0; cases[c].free_bias && k < TOY_LABELS; k++) {
                    mean += solution.bias[k];
                }
                CHECK(fabs(mean) < 1e-12, "%s: the bias is not centred: %g", what, mean);
                CHECK((cases[c].bias > 0 || cases[c].free_bias) == (solution.bias != NULL),
                      "%s: bias", what);
                solution_free(&solution);
            }
        }
        free_bed(&bed);
    }
    printf("ok: the optima of the toy, linear and rbf, both losses, methods and biases\n");
}

/* Bounds of the plain solver. */
static struct reference_bounds reference_of(const struct bed *bed, double cost, double bias,
                                            double epsilon) {
    size_t n = bed->data.n_rows, q = bed->data.names.n;
    double *K = check_numbers(n * n);
    bool *set = check_array(n * q, sizeof *set);
    struct reference_bounds bounds;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            K[i * n + j] = kernel_of(bed, i, j) + bias * bias;
        }
        for (uint64_t at = bed->data.label_start[i]; at < bed->data.label_start[i + 1]; at++) {
            set[i * q + bed->data.label[at]] = true;
        }
    }
    CHECK_TRUE(reference_ml_solve(K, set, n, q, cost, epsilon, 100000, &bounds));
    return bounds;
}

/* Both solvers and the plain solver of tests/reference bracket one optimum: with few labels, which
 * have pair steps, and with more, whose blocks are solved exactly. */
static void check_agreement(void) {
    for (int kernel = 0; kernel < 2; kernel++) {
        for (int biased = 0; biased < 2; biased++) {
            struct bed bed;
            uint32_t labels = kernel == biased ? 9 : 24;
            make_bed(&bed, random_data(150, 8, labels, 0.3, 4), kernel ? 0.05 : 0, 1);
            struct ml_setup setup = {.bias = biased, .shrinking = true};
            struct solution steps, interior;
            solve_once(&bed, &setup, ML_HINGE, ML_BCD, 2, 1e-6, &steps);
            solve_once(&bed, &setup, ML_HINGE, ML_INTERIOR, 2, 1e-6, &interior);
            check_overlap(&interior, &steps, "the interior point and steps");
            struct reference_bounds known = reference_of(&bed, 2, biased, 2e-3);
            double optimum = 0.5 * (steps.primal + steps.dual);
            CHECK(known.dual <= optimum * (1 + 1e-6) && known.primal >= optimum * (1 - 1e-6),
                  "conditional gradient [%.10g, %.10g], bcd %.10g", known.dual, known.primal,
                  optimum);
            solution_free(&steps);
            solution_free(&interior);
            free_bed(&bed);
        }
    }
    printf("ok: steps by pairs, exact blocks, conditional gradients and interior points agree\n");
}

/* A dual bound from any point is below the primal at any other point: here of a loose and of a
 * tight fit. A loose fit has the gap it claims. */
static void check_slack(void) {
    struct bed bed;
    make_bed(&bed, random_data(200, 10, 6, 0.4, 8), 0.1, 1);
    struct ml_setup setup = {.shrinking = true};
    struct solution slack, tight;
    for (int loss = 0; loss < 2; loss++) {
        solve_once(&bed, &setup, (enum ml_loss)loss, ML_AUTO, 5, 0.1, &slack);
        solve_once(&bed, &setup, (enum ml_loss)loss, ML_AUTO, 5, 1e-8, &tight);
        check_overlap(&slack, &tight, "slack and tight");
        CHECK(slack.iterations < tight.iterations, "%g sweeps", (double)slack.iterations);
        solution_free(&slack);
        solution_free(&tight);
    }
    free_bed(&bed);
    printf("ok: bounds hold at any gap, down to 1e-8\n");
}

/* Features in units from counts to populations, and costs over ten decades. Under `auto` each fit
 * reaches its gap with the primal that it claims, and the bounds of a loose and a tight fit
 * overlap. */
static void check_units(void) {
    static const float units[] = {1, 5, 180, 2e3F, 1e6F, 1e-3F};
    enum { N = 60, D = 6, Q = 4 };
    for (int form = 0; form < 3; form++) { /* no bias, a constant feature, a free bias */
        struct data data = random_data(N, D, Q, 0.4, 51);
        for (size_t k = 0; k < (size_t)N * D; k++) {
            data.value[k] = roundf(data.value[k] * 8) / 8 * units[k % D];
        }
        struct bed bed;
        make_bed(&bed, data, 0, 1);
        struct ml_setup setup = {
            .bias = form == 1 ? 2 : 0, .free_bias = form == 2, .shrinking = true};
        for (int loss = 0; loss < 2; loss++) {
            for (double cost = 1e-4; cost < 1e7; cost *= 1e5) {
                struct solution slack, tight;
                solve_once(&bed, &setup, (enum ml_loss)loss, ML_AUTO, cost, 1e-2, &slack);
                solve_once(&bed, &setup, (enum ml_loss)loss, ML_AUTO, cost, 1e-6, &tight);
                check_overlap(&slack, &tight, "slack and tight");
                double primal = plain_primal(&bed, &tight, (enum ml_loss)loss, cost, setup.bias);
                double paid = tight.primal - primal; /* the rounding-error bound */
                CHECK(paid >= -1e-12 * primal && paid <= 1e-6 * primal, "%.15g, plain %.15g",
                      tight.primal, primal);
                solution_free(&slack);
                solution_free(&tight);
            }
        }
        free_bed(&bed);
    }
    printf("ok: features in any units, costs from 1e-4 to 1e6\n");
}

/* Permuted labels permute the outputs. */
static void check_permuted(void) {
    enum { LABELS = 7 };
    static const uint32_t to[LABELS] = {3, 6, 0, 5, 1, 4, 2};
    struct bed bed, other;
    make_bed(&bed, random_data(80, 6, LABELS, 0.3, 11), 0, 1);
    struct data data = random_data(80, 6, LABELS, 0.3, 11);
    for (uint64_t at = 0; at < data.label_start[data.n_rows]; at++) {
        data.label[at] = to[data.label[at]];
    }
    make_bed(&other, data, 0, 1);
    struct ml_setup setup = {.bias = 1, .shrinking = true};
    struct solution a, b;
    for (int loss = 0; loss < 2; loss++) {
        solve_once(&bed, &setup, (enum ml_loss)loss, ML_AUTO, 1, 1e-9, &a);
        solve_once(&other, &setup, (enum ml_loss)loss, ML_AUTO, 1, 1e-9, &b);
        for (size_t c = 0; c < 6; c++) {
            for (size_t k = 0; k < LABELS; k++) {
                CHECK_CLOSE(a.weights[c * LABELS + k], b.weights[c * LABELS + to[k]], 1e-3,
                            "feature %zu, label %zu", c, k);
            }
        }
        solution_free(&a);
        solution_free(&b);
    }
    free_bed(&bed);
    free_bed(&other);
    printf("ok: permuting labels permutes the weights\n");
}

/* A flow made into a circulation: outflow equals inflow for each label, and no entry has grown. */
static void check_circulation(void) {
    enum { Q = 40 };
    struct random random = sample_random(71, 1);
    for (int round = 0; round < 100; round++) {
        double flow[Q * Q] = {0}, given[Q * Q], before = 0, after = 0, excess = 0;
        uint32_t q = 2 + (uint32_t)random_below(&random, Q - 1);
        for (uint32_t p = 0; p < q; p++) {
            for (uint32_t r = 0; r < q; r++) {
                bool there = p != r && random_below(&random, 3) == 0;
                flow[p * q + r] = there ? random_unit(&random) : 0;
            }
        }
        memcpy(given, flow, sizeof flow);
        MUST(ml_bias_circulate(flow, q, &err));
        for (uint32_t p = 0; p < q; p++) {
            double sent = 0, had = 0;
            for (uint32_t r = 0; r < q; r++) {
                CHECK(flow[p * q + r] >= 0 && flow[p * q + r] <= given[p * q + r], "%g of %g",
                      flow[p * q + r], given[p * q + r]);
                sent += flow[p * q + r] - flow[r * q + p];
                had += given[p * q + r] - given[r * q + p];
                before += given[p * q + r];
                after += flow[p * q + r];
            }
            CHECK(fabs(sent) <= 1e-12 * (before + 1), "label %u sends %g", p, sent);
            excess += fabs(had) / 2;
        }
        /* cancelled paths are simple: at most q - 1 edges each */
        CHECK(before - after <= excess * (q - 1) + 1e-9, "%g taken for %g", before - after, excess);
    }
    printf("ok: flows become circulations\n");
}

int main(void) {
    check_circulation();
    check_toy();
    check_agreement();
    check_slack();
    check_units();
    check_permuted();
    return 0;
}
