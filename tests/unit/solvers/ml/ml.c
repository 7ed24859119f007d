/* solvers/ml.h against optima of the problem written out pair by pair, and against itself: both
 * steps, both solvers, folds, warm starts, threads, permuted labels.
 *
 * The optima of the toy were made with numpy and scipy: all pairs as variables of a box-constrained
 * QP (L-BFGS-B to 1e-12), with the equations of the free bias added for SLSQP; a proximal-point
 * method of its own gave 3.778866727 and 8.454402562 for the free bias, too. */
#include "solvers/ml/ml.h"

#include "common/base/random.h"
#include "common/kernel/gram.h"
#include "solvers/ml/bias.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- problems ---- */

enum { TOY_ROWS = 14, TOY_FEATURES = 5, TOY_LABELS = 5 };

/* Values in 1024ths. */
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

static void *need(void *block) {
    CHECK(block, "out of memory");
    return block;
}

/* Dense rows without labels; names is how many labels there are to be: "1", "2", ... */
static struct data make_data(size_t n, uint32_t width, uint32_t n_names) {
    struct error err;
    struct data data = {.n_rows = n, .n_features = width, .labels = DATA_SET};
    data.value = need(calloc(n * width + 1, sizeof *data.value));
    data.label_start = need(calloc(n + 1, sizeof *data.label_start));
    data.label = need(calloc(n * n_names + 1, sizeof *data.label));
    for (uint32_t k = 0; k < n_names; k++) {
        char name[16];
        uint32_t number;
        snprintf(name, sizeof name, "%u", (unsigned)k + 1);
        CHECK(names_add(&data.names, name, strlen(name), &number, &err) == 0, "%s", err.text);
    }
    return data;
}

/* Row i, to be called in order, gets the labels k with set[k]. */
static void set_labels(struct data *data, size_t i, const bool *set) {
    uint64_t n = data->label_start[i];
    for (uint32_t k = 0; k < data->names.n; k++) {
        if (set[k]) {
            data->label[n++] = k;
        }
    }
    data->label_start[i + 1] = n;
}

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

static double normal(struct random *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += random_unit(random);
    }
    return sum;
}

/* Rows whose labels follow a linear model with noise; about `share` of the labels are relevant. */
static struct data random_data(size_t n, uint32_t width, uint32_t q, double share, uint64_t seed) {
    struct random random;
    random_start(&random, seed, 9);
    struct data data = make_data(n, width, q);
    double *w = need(calloc((size_t)width * q, sizeof *w));
    bool *set = need(calloc(q, sizeof *set));
    for (size_t k = 0; k < (size_t)width * q; k++) {
        w[k] = normal(&random);
    }
    for (size_t i = 0; i < n; i++) {
        float *x = data.value + i * width;
        for (uint32_t c = 0; c < width; c++) {
            x[c] = (float)normal(&random);
        }
        for (uint32_t k = 0; k < q; k++) {
            double s = normal(&random) * sqrt(width) + (1 - 2 * share) * -2 * sqrt(width);
            for (uint32_t c = 0; c < width; c++) {
                s += w[(size_t)c * q + k] * (double)x[c];
            }
            set[k] = s > 0;
        }
        set_labels(&data, i, set);
    }
    free(w);
    free(set);
    return data;
}

/* A problem with what it borrows. */
struct bed {
    struct data data;
    struct kernel kernel;
    struct gram *gram;
    struct threads *threads;
    struct problem problem;
};

static void make_bed(struct bed *bed, struct data data, double gamma, size_t n_threads) {
    struct error err;
    *bed = (struct bed){.data = data,
                        .kernel = {.type = gamma > 0 ? KERNEL_RBF : KERNEL_LINEAR, .gamma = gamma}};
    CHECK(threads_create(&bed->threads, n_threads, &err) == 0, "%s", err.text);
    if (gamma > 0) {
        CHECK(gram_create(&bed->gram, &bed->kernel, &bed->data, (size_t)1 << 30, true, bed->threads,
                          &err) == 0,
              "%s", err.text);
    }
    bed->problem = (struct problem){
        .data = &bed->data, .gram = bed->gram, .n = data.n_rows, .threads = bed->threads};
}

static void free_bed(struct bed *bed) {
    gram_free(bed->gram);
    threads_free(bed->threads);
    data_free(&bed->data);
}

/* ---- the objective, from its definition ---- */

static double kernel_of(const struct bed *bed, size_t i, size_t j) {
    const float *x = bed->data.value + i * bed->data.n_features;
    const float *z = bed->data.value + j * bed->data.n_features;
    double product = 0, distance = 0;
    for (uint32_t c = 0; c < bed->data.n_features; c++) {
        product += (double)x[c] * (double)z[c];
        distance += ((double)x[c] - (double)z[c]) * ((double)x[c] - (double)z[c]);
    }
    return bed->gram ? exp(-bed->kernel.gamma * distance) : product;
}

/* P of a solution without row lists; the labels must be numbered in the order of their names. */
static double plain_primal(const struct bed *bed, const struct solution *solution,
                           enum ml_loss loss, double cost, double bias) {
    size_t n = bed->data.n_rows, q = solution->n_outputs, d = bed->data.n_features;
    double norm = 0, sum = 0;
    double *s = need(calloc(q, sizeof *s));
    bool *set = need(calloc(q, sizeof *set));
    for (size_t i = 0; i < n; i++) {
        double n_relevant = 0;
        for (size_t k = 0; k < q; k++) {
            s[k] = solution->bias ? solution->bias[k] : 0;
            set[k] = false;
        }
        for (size_t j = 0; j < (bed->gram ? n : d); j++) {
            double x = bed->gram ? kernel_of(bed, i, j) : (double)bed->data.value[i * d + j];
            for (size_t k = 0; k < q; k++) {
                s[k] += x * solution->weights[j * q + k];
                norm +=
                    bed->gram ? solution->weights[i * q + k] * x * solution->weights[j * q + k] : 0;
            }
        }
        for (uint64_t at = bed->data.label_start[i]; at < bed->data.label_start[i + 1]; at++) {
            set[bed->data.label[at]] = true;
            n_relevant++;
        }
        for (size_t p = 0; p < q; p++) {
            for (size_t r = 0; set[p] && r < q; r++) {
                double x = 1 - s[p] + s[r];
                if (!set[r] && x > 0) {
                    sum += cost / (n_relevant * ((double)q - n_relevant)) *
                           (loss == ML_HINGE ? x : x * x);
                }
            }
        }
    }
    for (size_t k = 0; !bed->gram && k < d * q; k++) {
        norm += solution->weights[k] * solution->weights[k];
    }
    for (size_t k = 0; bias > 0 && k < q; k++) {
        norm += solution->bias[k] * solution->bias[k] / (bias * bias);
    }
    free(s);
    free(set);
    return 0.5 * norm + sum;
}

/* ---- solving ---- */

static void solve(struct ml *ml, enum ml_loss loss, enum ml_method method, double cost,
                  double epsilon, struct solution *solution) {
    struct error err;
    struct ml_parameters parameters = {loss, method, cost, epsilon};
    CHECK(ml_solve(ml, &parameters, NULL, solution, &err) == 0, "%s", err.text);
    CHECK(solution->converged, "%s: primal %.10g, dual %.10g", solution->reason, solution->primal,
          solution->dual);
}

static void solve_once(const struct bed *bed, const struct ml_setup *setup, enum ml_loss loss,
                       enum ml_method method, double cost, double epsilon,
                       struct solution *solution) {
    struct error err;
    struct ml *ml;
    CHECK(ml_open(&ml, &bed->problem, setup, &err) == 0, "%s", err.text);
    solve(ml, loss, method, cost, epsilon, solution);
    ml_close(ml);
}

static void check_bracket(const struct solution *solution, double optimum, const char *what) {
    CHECK(solution->dual <= optimum + 2e-8 * optimum &&
              solution->primal >= optimum - 2e-8 * optimum,
          "%s: [%.10f, %.10f], optimum %.10f", what, solution->dual, solution->primal, optimum);
}

/* Two fits of one problem bound the same optimum. */
static void check_overlap(const struct solution *a, const struct solution *b, const char *what) {
    const double rounding = 1 + 1e-12;
    CHECK(a->dual <= b->primal * rounding && b->dual <= a->primal * rounding,
          "%s: [%.15g, %.15g] and [%.15g, %.15g]", what, a->dual, a->primal, b->dual, b->primal);
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
            for (int step = ML_STEP_PAIRS; step <= ML_STEP_EXACT; step++) {
                struct ml_setup setup = {.bias = cases[c].bias,
                                         .free_bias = cases[c].free_bias,
                                         .shrinking = step == ML_STEP_PAIRS,
                                         .step = (enum ml_step)step,
                                         .seed = 1};
                char what[160];
                snprintf(what, sizeof what, "gamma %g, bias %g, free %d, loss %d, step %d",
                         cases[c].gamma, cases[c].bias, cases[c].free_bias, loss, step);
                struct solution solution;
                solve_once(&bed, &setup, (enum ml_loss)loss, ML_BCD, cost, 1e-7, &solution);
                check_bracket(&solution, cases[c].optimum[loss], what);
                double primal =
                    plain_primal(&bed, &solution, (enum ml_loss)loss, cost, cases[c].bias);
                CHECK(fabs(primal - solution.primal) <= 1e-10 * primal, "%s: %.15g, plain %.15g",
                      what, solution.primal, primal);
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
    printf("ok: the optima of the toy, linear and rbf, both losses, steps and biases\n");
}

/* Both solvers, both steps and the automatic choice bracket one optimum. */
static void check_agreement(void) {
    for (int kernel = 0; kernel < 2; kernel++) {
        for (int biased = 0; biased < 2; biased++) {
            struct bed bed;
            make_bed(&bed, random_data(150, 8, 9, 0.3, 4), kernel ? 0.05 : 0, 1);
            struct ml_setup setup = {.bias = biased, .shrinking = true, .step = ML_STEP_EXACT};
            struct solution exact, pairs, fw;
            solve_once(&bed, &setup, ML_HINGE, ML_BCD, 2, 1e-6, &exact);
            setup.step = ML_STEP_PAIRS;
            solve_once(&bed, &setup, ML_HINGE, ML_BCD, 2, 1e-6, &pairs);
            setup.step = ML_STEP_AUTO;
            solve_once(&bed, &setup, ML_HINGE, ML_FW, 2, 2e-3, &fw);
            double optimum = 0.5 * (exact.primal + exact.dual);
            CHECK(fabs(pairs.primal - exact.primal) <= 2e-6 * optimum, "%.10g, exact %.10g",
                  pairs.primal, exact.primal);
            CHECK(fw.dual <= optimum * (1 + 1e-6) && fw.primal >= optimum * (1 - 1e-6),
                  "fw [%.10g, %.10g], bcd %.10g", fw.dual, fw.primal, optimum);
            double primal = plain_primal(&bed, &fw, ML_HINGE, 2, biased);
            CHECK(fabs(primal - fw.primal) <= 1e-9 * primal, "fw %.15g, plain %.15g", fw.primal,
                  primal);
            solution_free(&exact);
            solution_free(&pairs);
            solution_free(&fw);
            free_bed(&bed);
        }
    }
    printf("ok: steps by pairs, exact blocks and conditional gradients agree\n");
}

/* A bound from any point of the dual is below the primal at any other point: here those of a slack
 * fit and of a tight one. And a slack fit is what it says. */
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

/* Labels in another order: outputs in that order. */
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
                CHECK(fabs(a.weights[c * LABELS + k] - b.weights[c * LABELS + to[k]]) < 1e-3,
                      "feature %zu, label %zu: %g, permuted %g", c, k, a.weights[c * LABELS + k],
                      b.weights[c * LABELS + to[k]]);
            }
        }
        solution_free(&a);
        solution_free(&b);
    }
    free_bed(&bed);
    free_bed(&other);
    printf("ok: permuting labels permutes the weights\n");
}

/* From cost to cost, from loss to loss and back: as good as from scratch. */
static void check_warm(void) {
    const double costs[] = {0.1, 1, 10, 100, 3, 0.01};
    for (int free_bias = 0; free_bias < 2; free_bias++) {
        for (int kernel = 0; kernel < 2; kernel++) {
            struct error err;
            struct bed bed;
            struct ml *ml;
            make_bed(&bed, random_data(120, 6, 8, 0.3, 21), kernel ? 0.1 : 0, 1);
            struct ml_setup setup = {.free_bias = free_bias, .shrinking = true};
            CHECK(ml_open(&ml, &bed.problem, &setup, &err) == 0, "%s", err.text);
            for (int loss = 0; loss < 2; loss++) {
                for (size_t c = 0; c < sizeof costs / sizeof *costs; c++) {
                    struct solution warm, cold;
                    solve(ml, (enum ml_loss)loss, ML_AUTO, costs[c], 1e-4, &warm);
                    solve_once(&bed, &setup, (enum ml_loss)loss, ML_AUTO, costs[c], 1e-4, &cold);
                    check_overlap(&warm, &cold, "warm and cold");
                    solution_free(&warm);
                    solution_free(&cold);
                }
            }
            if (!free_bias) { /* the other solver leaves nothing behind that harms */
                struct solution fw, again;
                solve(ml, ML_HINGE, ML_FW, 0.1, 1e-2, &fw);
                solve(ml, ML_HINGE, ML_BCD, 0.1, 1e-4, &again);
                check_overlap(&fw, &again, "fw and the solver after it");
                solution_free(&fw);
                solution_free(&again);
            }
            ml_close(ml);
            free_bed(&bed);
        }
    }
    printf("ok: warm starts over costs and losses\n");
}

/* A fold of a shared matrix is the problem of its rows alone. */
static void check_fold(void) {
    enum { N = 90 };
    struct error err;
    uint32_t rows[N];
    struct bed whole, alone;
    make_bed(&whole, random_data(150, 6, 5, 0.4, 31), 0.1, 1);
    struct random random;
    random_start(&random, 1, 1);
    size_t n = 0;
    for (uint32_t i = 0; i < 150 && n < N; i++) {
        if (random_below(&random, 10) < 7) {
            rows[n++] = i;
        }
    }
    struct data subset;
    CHECK(data_subset(&whole.data, rows, n, &subset, &err) == 0, "%s", err.text);
    make_bed(&alone, subset, 0.1, 1);
    whole.problem.rows = rows;
    whole.problem.n = n;
    struct ml_setup setup = {.shrinking = true};
    struct solution a, b;
    solve_once(&whole, &setup, ML_HINGE, ML_AUTO, 4, 1e-7, &a);
    solve_once(&alone, &setup, ML_HINGE, ML_AUTO, 4, 1e-7, &b);
    CHECK(fabs(a.primal - b.primal) <= 2e-7 * a.primal, "%.10g, alone %.10g", a.primal, b.primal);
    double primal = plain_primal(&alone, &a, ML_HINGE, 4, 0);
    CHECK(fabs(a.primal - primal) <= 1e-10 * primal, "%.15g, plain %.15g", a.primal, primal);
    solution_free(&a);
    solution_free(&b);
    free_bed(&whole);
    free_bed(&alone);
    printf("ok: a fold of a shared matrix\n");
}

/* The same bits with one thread and three, and for the same seed only. */
static void check_threads(void) {
    for (int kernel = 0; kernel < 2; kernel++) {
        struct bed one, three;
        make_bed(&one, random_data(1200, 12, 20, 0.2, 41), kernel ? 0.05 : 0, 1);
        make_bed(&three, random_data(1200, 12, 20, 0.2, 41), kernel ? 0.05 : 0, 3);
        for (int method = ML_BCD; method <= ML_FW; method++) {
            struct ml_setup setup = {.bias = 1, .shrinking = true, .seed = 1};
            struct solution a, b, c;
            double epsilon = method == ML_FW ? 0.05 : 1e-3;
            solve_once(&one, &setup, ML_HINGE, (enum ml_method)method, 1, epsilon, &a);
            solve_once(&three, &setup, ML_HINGE, (enum ml_method)method, 1, epsilon, &b);
            setup.seed = 2;
            solve_once(&one, &setup, ML_HINGE, (enum ml_method)method, 1, epsilon, &c);
            size_t size = (kernel ? 1200U : 12U) * 20 * sizeof(double);
            CHECK(memcmp(a.weights, b.weights, size) == 0, "method %d: threads matter", method);
            CHECK((memcmp(a.weights, c.weights, size) == 0) == (method == ML_FW),
                  "method %d: the seed", method);
            solution_free(&a);
            solution_free(&b);
            solution_free(&c);
        }
        free_bed(&one);
        free_bed(&three);
    }
    printf("ok: threads change nothing, the seed does\n");
}

/* Rows of zeros, rows without labels and with all, two labels, a thousand, none at all. */
static void check_edges(void) {
    struct error err;
    struct ml_setup setup = {.shrinking = true};
    struct ml_parameters parameters = {ML_HINGE, ML_AUTO, 1, 1e-3};
    struct solution solution;
    struct bed bed;
    struct ml *ml;

    /* all rows zero: nothing can be learnt, P = D = C for each row with a loss */
    make_bed(&bed, random_data(20, 3, 4, 0.4, 51), 0, 1);
    memset(bed.data.value, 0, 20 * 3 * sizeof(float));
    CHECK(ml_open(&ml, &bed.problem, &setup, &err) == 0, "%s", err.text);
    const struct ml_rows *rows = ml_get_rows(ml);
    CHECK(rows->n + rows->n_empty + rows->n_full == 20 && rows->n_empty > 0, "counts");
    for (int loss = 0; loss < 2; loss++) {
        solve(ml, (enum ml_loss)loss, ML_AUTO, 1, 1e-9, &solution);
        CHECK(fabs(solution.primal - (double)rows->n) < 1e-9 &&
                  fabs(solution.dual - (double)rows->n) < 1e-9,
              "[%g, %g] for %zu rows", solution.dual, solution.primal, rows->n);
        solution_free(&solution);
    }
    ml_close(ml);
    bed.data.label_start[20] = 0;
    memset(bed.data.label_start, 0, 20 * sizeof *bed.data.label_start);
    CHECK(ml_open(&ml, &bed.problem, &setup, &err) < 0 && strstr(err.text, "nothing to learn"),
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

    /* a thousand labels, up to half of them relevant */
    make_bed(&bed, random_data(60, 20, 1000, 0.3, 53), 0, 1);
    for (int loss = 0; loss < 2; loss++) {
        solve_once(&bed, &setup, (enum ml_loss)loss, ML_AUTO, 1, 1e-3, &solution);
        double primal = plain_primal(&bed, &solution, (enum ml_loss)loss, 1, 0);
        CHECK(fabs(primal - solution.primal) <= 1e-9 * primal, "%.15g, plain %.15g",
              solution.primal, primal);
        solution_free(&solution);
    }
    setup.free_bias = true;
    solve_once(&bed, &setup, ML_HINGE, ML_AUTO, 1, 0.05, &solution);
    solution_free(&solution);
    setup.free_bias = false;

    /* a solver that is told to stop says so */
    parameters.epsilon = 1e-12;
    CHECK(ml_open(&ml, &bed.problem, &setup, &err) == 0, "%s", err.text);
    parameters.method = ML_FW;
    parameters.loss = ML_SQUARED_HINGE;
    CHECK(ml_solve(ml, &parameters, NULL, &solution, &err) < 0, "fw takes the squared hinge");
    ml_close(ml);
    free_bed(&bed);
    printf("ok: rows of zeros, empty and full sets, two labels and a thousand\n");
}

static bool stop_at_two(void *context, uint64_t iteration, double primal, double dual) {
    (void)context;
    CHECK(primal >= dual, "[%g, %g]", dual, primal);
    return iteration >= 2;
}

static void check_limits(void) {
    struct error err;
    struct bed bed;
    struct ml *ml;
    struct monitor monitor = {.check = stop_at_two};
    make_bed(&bed, random_data(200, 10, 6, 0.4, 61), 0.1, 1);
    for (int free_bias = 0; free_bias < 2; free_bias++) {
        struct ml_setup setup = {.free_bias = free_bias, .shrinking = true};
        CHECK(ml_open(&ml, &bed.problem, &setup, &err) == 0, "%s", err.text);
        for (int method = ML_BCD; method <= (free_bias ? ML_BCD : ML_FW); method++) {
            struct ml_parameters parameters = {ML_HINGE, (enum ml_method)method, 10, 1e-6};
            struct solution solution;
            CHECK(ml_solve(ml, &parameters, &monitor, &solution, &err) == 0, "%s", err.text);
            CHECK(!solution.converged && solution.iterations == 2 &&
                      solution.primal >= solution.dual,
                  "method %d: %g iterations", method, (double)solution.iterations);
            solution_free(&solution);
        }
        ml_close(ml);
    }
    free_bed(&bed);
    printf("ok: limits\n");
}

/* A flow made to circulate: every label sends what it gets, and no entry has grown. */
static void check_circulation(void) {
    enum { Q = 40 };
    struct random random;
    struct error err;
    random_start(&random, 71, 1);
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
        CHECK(ml_bias_circulate(flow, q, &err) == 0, "%s", err.text);
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
        /* paths of the taken back are simple: no more than q - 1 edges each */
        CHECK(before - after <= excess * (q - 1) + 1e-9, "%g taken for %g", before - after, excess);
    }
    printf("ok: flows are made to circulate\n");
}

int main(void) {
    check_circulation();
    check_toy();
    check_agreement();
    check_slack();
    check_permuted();
    check_warm();
    check_fold();
    check_threads();
    check_edges();
    check_limits();
    return 0;
}
