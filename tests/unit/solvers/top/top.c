/* Classification at the top, against its definitions written out plainly, against optima found by
 * other programs (optima.h), and its solvers against each other. */
#include "solvers/top/top.h"
#include "common/base/gap.h"
#include "common/base/threads.h"
#include "common/kernel/gram.h"
#include "common/kernel/kernel.h"
#include "solvers/methods/monitor.h"
#include "solvers/top/projection.h"
#include "solvers/top/risk.h"
#include "tests/unit/compute.h"
#include "tests/unit/solvers/top/optima.h"

/* ---- problems ---- */

/* n rows of two labels, 0 (positive) and 1. */
static struct data rows_of(const float *x, size_t n, size_t width, size_t positives) {
    struct data data = {.n_rows = n, .n_features = (uint32_t)width, .labels = DATA_NAME};
    struct error err;
    data.value = sample_array(n * width, sizeof *data.value);
    memcpy(data.value, x, n * width * sizeof *x);
    data.label = sample_array(n, sizeof *data.label);
    uint32_t number;
    CHECK(names_add(&data.names, "+1", 2, &number, &err) == 0 &&
              names_add(&data.names, "-1", 2, &number, &err) == 0,
          "%s", err.text);
    for (size_t i = 0; i < n; i++) {
        data.label[i] = i >= positives;
    }
    return data;
}

/* Random rows; positives lie higher in the first two features. */
static struct data random_rows(size_t n, size_t width, size_t positives, double shift,
                               uint64_t seed) {
    float *x = sample_array(n * width, sizeof *x);
    struct random random;
    random_start(&random, seed, 0);
    for (size_t i = 0; i < n * width; i++) {
        double u = random_unit(&random) + random_unit(&random) + random_unit(&random) - 1.5;
        x[i] = (float)(2 * u + (i / width < positives && i % width < 2 ? shift : 0));
    }
    struct data data = rows_of(x, n, width, positives);
    free(x);
    return data;
}

static const bool is_positive[2] = {true, false};

/* A fit of one problem at one point. */
struct fit {
    struct solution solution;
    double threshold;
    bool trivial;
};

struct setup {
    const struct data *data;
    const struct kernel *kernel; /* NULL: linear */
    const uint32_t *rows;        /* NULL: all */
    size_t n;
    struct threads *threads;
    size_t cache_bytes; /* 0: 16 MiB */
    bool nothing_kept;  /* by the gram */
    const struct monitor *monitor;
};

static struct fit fit_at(const struct setup *setup, const struct top_setting *setting,
                         const struct top_parameters *parameters) {
    struct fit fit = {.threshold = 0};
    struct error err = {.kind = ERROR_NONE};
    struct gram *gram = NULL;
    struct problem problem = {.data = setup->data,
                              .rows = setup->rows,
                              .n = setup->rows ? setup->n : setup->data->n_rows,
                              .threads = setup->threads,
                              .cache_bytes = setup->cache_bytes ? setup->cache_bytes : 1 << 24};
    if (setup->kernel) {
        CHECK(gram_create(&gram, setup->kernel, setup->data, setup->nothing_kept ? 0 : 1 << 24,
                          parameters->epsilon < 1e-4, NULL, &err) == 0,
              "%s", err.text);
        problem.gram = gram;
    }
    struct top *top;
    CHECK(top_open(&top, &problem, setting, &err) == 0, "%s", err.text);
    CHECK(top_solve(top, parameters, setup->monitor, &fit.solution, &err) == 0, "%s", err.text);
    fit.threshold = top_threshold(top);
    fit.trivial = top_trivial(top) != NULL;
    top_close(top);
    gram_free(gram);
    return fit;
}

/* ---- the definitions, plainly ---- */

static double loss_of(enum top_loss loss, double u) {
    double v = u > -1 ? 1 + u : 0;
    return loss == TOP_HINGE ? v : v * v;
}

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The threshold of n scores by sorting them, or by bisection. All weights are 1. */
static double plain_threshold(const struct top_setting *setting, enum top_loss loss,
                              const double *scores, size_t n) {
    double *z = sample_array(n, sizeof *z);
    memcpy(z, scores, n * sizeof *z);
    qsort(z, n, sizeof *z, descending);
    double t = 0;
    if (setting->formulation == TOP_PAT_MAT || setting->formulation == TOP_PAT_MAT_NP) {
        double low = z[n - 1] - 2 / setting->theta, high = z[0] + 1 / setting->theta;
        for (int i = 0; i < 200; i++) {
            t = 0.5 * (low + high);
            double sum = 0;
            for (size_t j = 0; j < n; j++) {
                sum += loss_of(loss, setting->theta * (z[j] - t));
            }
            *(sum > (double)n * setting->tau ? &low : &high) = t;
        }
    } else {
        double k = setting->formulation == TOP_PUSH ? 1
                   : setting->formulation == TOP_PUSH_K
                       ? setting->k
                       : fmax(1, nearbyint(setting->tau * (double)n));
        for (size_t j = 0; j < n; j++) {
            t += z[j] * fmin(1, fmax(0, k - (double)j)) / k;
        }
    }
    free(z);
    return t;
}

/* The objective at weights, from the definition. */
static double plain_primal(const struct setup *setup, const struct top_setting *setting,
                           const struct top_parameters *parameters, const double *weights) {
    const struct data *data = setup->data;
    size_t n = data->n_rows, d = data->n_features, n_top = 0;
    double *s = sample_array(n, sizeof *s), *z = sample_array(n, sizeof *z), norm = 0, sum = 0;
    struct kernel_rows rows = {0};
    struct error err;
    if (setup->kernel) {
        CHECK(kernel_rows_create(&rows, setup->kernel, data, &err) == 0, "%s", err.text);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < (setup->kernel ? n : d); j++) {
            s[i] += weights[j] * (setup->kernel ? kernel_value(&rows, i, &rows, j)
                                                : (double)data->value[i * d + j]);
        }
    }
    for (size_t j = 0; j < (setup->kernel ? n : d); j++) {
        norm += weights[j] * (setup->kernel ? s[j] : weights[j]);
    }
    bool all = setting->formulation == TOP_MEAN_K || setting->formulation == TOP_PAT_MAT;
    for (size_t i = 0; i < n; i++) {
        if (all || data->label[i] == 1) {
            z[n_top++] = s[i];
        }
    }
    bool svm = setting->formulation == TOP_SVM;
    double t = svm ? 0 : plain_threshold(setting, parameters->loss, z, n_top);
    for (size_t i = 0; i < n; i++) {
        if (data->label[i] == 0) {
            sum += loss_of(parameters->loss, t - s[i]);
        } else if (svm) {
            sum += loss_of(parameters->loss, s[i]);
        }
    }
    kernel_rows_free(&rows);
    free(s);
    free(z);
    return 0.5 * norm + parameters->cost * sum;
}

/* ---- optima ---- */

static void check_optima(void) {
    struct data data = rows_of(&optima_x[0][0], OPTIMA_ROWS, OPTIMA_WIDTH, OPTIMA_POSITIVES);
    struct kernel rbf = {.type = KERNEL_RBF, .gamma = 0.125};
    static const enum top_method methods[] = {TOP_AUTO, TOP_SMO, TOP_BUNDLE, TOP_CD};
    double furthest = 0;
    for (size_t i = 0; i < OPTIMA; i++) {
        const struct optimum *o = &optima[i];
        struct setup setup = {.data = &data, .kernel = o->rbf ? &rbf : NULL};
        struct top_setting setting = {.formulation = o->formulation,
                                      .positive = is_positive,
                                      .k = o->k,
                                      .tau = o->tau,
                                      .theta = o->theta};
        for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
            struct top_parameters parameters = {.loss = o->loss,
                                                .method = methods[m],
                                                .cost = o->cost,
                                                .epsilon = 1e-6,
                                                .shrink = true,
                                                .seed = 1};
            struct fit fit = fit_at(&setup, &setting, &parameters);
            double primal = fit.solution.primal, dual = fit.solution.dual;
            bool stuck = methods[m] == TOP_CD && !fit.solution.converged;
            CHECK(fit.solution.converged || stuck, "case %zu method %zu: gap %g", i, m,
                  gap_relative(primal, dual));
            CHECK(stuck || primal - dual <= 1e-6 * primal, "case %zu method %zu: %g %g", i, m,
                  primal, dual);
            CHECK(primal >= o->value * (1 - 1e-9) && dual <= o->value * (1 + 1e-9),
                  "case %zu method %zu: %.12g %.12g do not hold %.12g", i, m, primal, dual,
                  o->value);
            double plain = plain_primal(&setup, &setting, &parameters, fit.solution.weights);
            CHECK(fabs(plain - primal) <= 1e-9 * primal, "case %zu method %zu: %.12g is %.12g", i,
                  m, primal, plain);
            /* cd must end at the optimum where there is no moving cap to be stuck at */
            bool caps = o->formulation != TOP_PUSH &&
                        ((o->formulation != TOP_PAT_MAT && o->formulation != TOP_PAT_MAT_NP) ||
                         o->loss == TOP_HINGE);
            CHECK(methods[m] != TOP_CD || caps || primal - dual <= 1e-4 * primal,
                  "case %zu: cd ends at a gap of %g", i, gap_relative(primal, dual));
            if (stuck) {
                furthest = fmax(furthest, (o->value - dual) / o->value);
            }
            solution_free(&fit.solution);
        }
    }
    CHECK(furthest > 0.01, "pairs alone are expected to stall");
    data_free(&data);
    printf("ok: %d optima of other programs, by every solver (pairs alone end up to %.0f%% off)\n",
           (int)OPTIMA, 100 * furthest);
}

/* Pairs alone stall where caps move; the aggregate direction does not. */
static void check_aggregate(void) {
    struct data data = random_rows(200, 5, 40, 1, 3);
    struct kernel rbf = {.type = KERNEL_RBF, .gamma = 0.2};
    struct setup setup = {.data = &data, .kernel = &rbf};
    struct top_setting settings[] = {
        {.formulation = TOP_TAU_FPL, .positive = is_positive, .tau = 0.3},
        {.formulation = TOP_PAT_MAT_NP, .positive = is_positive, .tau = 0.05, .theta = 0.05}};
    for (size_t i = 0; i < 2; i++) {
        double dual[2];
        for (int pairs = 0; pairs < 2; pairs++) {
            struct top_parameters parameters = {.method = pairs ? TOP_CD : TOP_SMO,
                                                .cost = 5,
                                                .epsilon = 1e-6,
                                                .shrink = true,
                                                .seed = 1};
            struct fit fit = fit_at(&setup, &settings[i], &parameters);
            CHECK(fit.solution.converged == !pairs, "setting %zu: gap %g", i,
                  gap_relative(fit.solution.primal, fit.solution.dual));
            dual[pairs] = fit.solution.dual;
            solution_free(&fit.solution);
        }
        CHECK(dual[1] < 0.99 * dual[0], "setting %zu: pairs alone reach %g of %g", i, dual[1],
              dual[0]);
    }
    data_free(&data);
    printf("ok: with the capped block moving, smo converges where pairs alone stall\n");
}

/* ---- parts ---- */

static void fill_risk(struct top_risk *risk, enum top_kind kind, bool square, struct random *random,
                      size_t n, bool weights, double k) {
    struct error err;
    CHECK(top_risk_create(risk, n, &err) == 0, "%s", err.text);
    risk->kind = kind;
    risk->square = square;
    for (size_t i = 0; i < n; i++) {
        double weight = weights && i > 0 ? (double)random_below(random, 4) / 2 : 1;
        *(i < n / 3 ? &risk->cost[i] : &risk->mass[i]) = weight;
        risk->mass[i] += i % 5 == 0 && i < n / 3; /* in both */
    }
    double mass = 0;
    for (size_t i = 0; i < n; i++) {
        mass += risk->mass[i];
    }
    risk->theta = exp(6 * random_unit(random) - 4);
    risk->budget = mass * (0.01 + 0.6 * random_unit(random));
    CHECK(top_risk_ready(risk, fmin(k, mass), &err) == 0, "%s", err.text);
}

static void check_risk(void) {
    struct random random;
    random_start(&random, 7, 0);
    for (int round = 0; round < 600; round++) {
        size_t n = 3 + (size_t)random_below(&random, 40);
        struct top_risk risk;
        fill_risk(&risk, (enum top_kind)(round % 3), round % 2, &random, n, round % 4 > 1,
                  1 + 5 * random_unit(&random));
        double *s = sample_array(n, sizeof *s), *other = sample_array(n, sizeof *s);
        double *g = sample_array(n, sizeof *s), *h = sample_array(n, sizeof *s);
        for (size_t i = 0; i < n; i++) { /* with ties */
            s[i] = (double)random_below(&random, 9) / 3 - 1;
            other[i] = 4 * random_unit(&random) - 2;
        }
        double offset, ignored, value = top_risk_cut(&risk, s, g, &offset), dot = 0, linear = 0;
        double t = risk.threshold, p_sum = 0, p_s = 0;
        for (size_t i = 0; i < n; i++) {
            dot += g[i] * s[i];
            linear += g[i] * other[i];
            p_sum += risk.p[i];
            p_s += risk.p[i] * s[i];
            CHECK(risk.p[i] >= 0 && (risk.mass[i] > 0 || risk.p[i] == 0), "p %g", risk.p[i]);
            CHECK(risk.kind != TOP_MEAN || risk.p[i] <= risk.share[i] * (1 + 1e-12),
                  "p over share");
        }
        CHECK(fabs(value - dot - offset) <= 1e-12 * (1 + fabs(value)), "offset");
        CHECK(risk.kind == TOP_NONE || fabs(p_sum - 1) < 1e-12, "p sums to %g", p_sum);
        CHECK(risk.kind != TOP_MEAN || fabs(p_s - t) < 1e-12 * (1 + fabs(t)), "t %g p's %g", t,
              p_s);
        if (risk.kind == TOP_QUANTILE) {
            double sum = 0;
            for (size_t i = 0; i < n; i++) {
                sum += risk.mass[i] * top_loss(risk.square, risk.theta * (s[i] - t));
            }
            CHECK(fabs(sum - risk.budget) < 1e-11 * risk.budget, "equation %g for %g", sum,
                  risk.budget);
        }
        /* a plane below the risk */
        double there = top_risk_cut(&risk, other, h, &ignored);
        CHECK(there >= offset + linear - 1e-11 * (1 + fabs(there)), "round %d: not a subgradient",
              round);
        /* the best multiple is no worse than those about it */
        double norm = 5, found, work[2 * 64];
        double x = top_risk_multiple(&risk, 2, norm, other, 1, work, &found);
        for (int k = -3; k <= 3; k++) {
            for (size_t i = 0; i < n; i++) {
                g[i] = x * (1 + 0.02 * k) * other[i];
            }
            double y = x * (1 + 0.02 * k);
            double here = 0.5 * y * y * norm + 2 * top_risk_cut(&risk, g, h, &ignored);
            CHECK(here >= found * (1 - 1e-6), "multiple %g: %g, at %g: %g", x, found, y, here);
        }
        free(s);
        free(other);
        free(g);
        free(h);
        top_risk_free(&risk);
    }
    printf("ok: thresholds solve their equations, and their planes lie below the risk\n");
}

/* A feasible point of the set by its definition, at random: for the nearest point p of x0, no
 * direction to a feasible y makes an acute angle with x0 - p. */
static void check_projections(void) {
    struct random random;
    random_start(&random, 11, 0);
    enum { N = 12, MEAN = 0, LEVEL = 1, FREE = 2 };
    for (int round = 0; round < 900; round++) {
        int set = round % 3;
        double alpha0[N], beta0[N], alpha[N], beta[N], bound[N], share[N], shares = 0;
        double C = exp(6 * random_unit(&random) - 3), k = 1 + 4 * random_unit(&random);
        for (size_t i = 0; i < N; i++) {
            bound[i] =
                i < 5 ? (round % 2 ? (double)INFINITY : C * (0.5 + random_unit(&random))) : 0;
            share[i] = i == 2 || i >= 5 ? (set == MEAN ? fmin(1, (0.8 + random_unit(&random)) / k)
                                                       : 0.2 + random_unit(&random))
                                        : 0;
            shares += share[i];
            alpha[i] = alpha0[i] = 2 * random_unit(&random) - 1;
            beta[i] = beta0[i] = 2 * random_unit(&random) - 1;
        }
        double delta0 = 2 * random_unit(&random) - 1, delta = 0;
        if (set == MEAN && shares < 1) {
            continue;
        }
        if (set == MEAN) {
            top_projection_mean(alpha, bound, beta, share, N);
        } else if (set == LEVEL) {
            delta = top_projection_level(alpha, bound, beta, share, delta0, N);
        } else {
            top_projection_free(alpha, bound, beta, share, N);
        }
        double a = 0, b = 0, scale = 1e-8;
        for (size_t i = 0; i < N; i++) {
            a += alpha[i];
            b += beta[i];
            CHECK(alpha[i] >= 0 && alpha[i] <= bound[i] && beta[i] >= 0, "bounds");
        }
        CHECK(fabs(a - b) <= scale * (1 + a), "round %d: sums %g %g", round, a, b);
        for (size_t i = 0; i < N; i++) {
            double cap = set == MEAN    ? share[i] * a
                         : set == LEVEL ? share[i] * delta
                         : share[i] > 0 ? (double)INFINITY
                                        : 0;
            CHECK(beta[i] <= cap + 1e-12, "cap");
        }
        for (int trial = 0; trial < 200; trial++) {
            double y[N] = {0}, z[N] = {0}, sum = 0, left, level = 0;
            for (size_t i = 0; i < 5; i++) {
                y[i] = fmin(bound[i], random_below(&random, 3) ? 0 : 3 * C * random_unit(&random));
                sum += y[i];
            }
            left = sum;
            if (set == LEVEL) {
                level = sum / shares * (1 + 3 * random_unit(&random));
            }
            size_t first = (size_t)random_below(&random, N);
            for (size_t i = 0; i < N; i++) { /* fills caps from a random row on */
                size_t j = (first + i) % N;
                double cap = set == MEAN    ? share[j] * sum
                             : set == LEVEL ? share[j] * level
                             : share[j] > 0 ? sum * random_unit(&random)
                                            : 0;
                z[j] = fmin(left, cap);
                left -= z[j];
            }
            if (left > 0 && set == FREE) {
                z[N - 1] += left;
            } else if (left > 1e-12 * (1 + sum)) {
                continue;
            }
            double angle = set == LEVEL ? (delta0 - delta) * (level - delta) : 0, size = 1;
            for (size_t i = 0; i < N; i++) {
                angle += (bound[i] > 0 ? (alpha0[i] - alpha[i]) * (y[i] - alpha[i]) : 0) +
                         (share[i] > 0 ? (beta0[i] - beta[i]) * (z[i] - beta[i]) : 0);
                size += fabs(y[i]) + fabs(z[i]);
            }
            CHECK(angle <= 1e-7 * size, "round %d set %d: a nearer point: %g", round, set, angle);
        }
    }
    printf("ok: no feasible point is nearer than the projections\n");
}

/* ---- invariances ---- */

/* A row of weight 2 is as good as two equal rows. */
static void check_weights(void) {
    enum { N = 30, D = 3, POSITIVES = 8 };
    struct data single = random_rows(N, D, POSITIVES, 1, 21);
    float *x = sample_array((size_t)2 * N * D, sizeof *x);
    size_t order[2 * N], n = 0, positives = 0;
    single.weight = sample_array(N, sizeof *single.weight);
    for (size_t i = 0; i < N; i++) { /* weights 0, 1 and 2 */
        single.weight[i] = (double)(i % 3 == 0 ? 2 : i % 7 == 1 ? 0 : 1);
        for (int copy = 0; copy < (int)single.weight[i]; copy++) {
            positives += i < POSITIVES;
            order[n++] = i;
        }
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(x + i * D, single.value + order[i] * D, D * sizeof *x);
    }
    struct data twice = rows_of(x, n, D, positives);
    static const enum top_formulation formulations[] = {
        TOP_PUSH, TOP_PUSH_K, TOP_TAU_FPL, TOP_MEAN_K, TOP_PAT_MAT, TOP_PAT_MAT_NP, TOP_SVM};
    static const enum top_method methods[] = {TOP_SMO, TOP_BUNDLE};
    for (size_t f = 0; f < sizeof formulations / sizeof formulations[0]; f++) {
        for (int loss = 0; loss < 2; loss++) {
            for (int m = 0; m < 2; m++) {
                struct top_setting setting = {.formulation = formulations[f],
                                              .positive = is_positive,
                                              .k = 3.5,
                                              .tau = formulations[f] == TOP_MEAN_K ? .5 : .2,
                                              .theta = 0.7};
                struct top_parameters parameters = {.loss = (enum top_loss)loss,
                                                    .method = methods[m],
                                                    .cost = 0.8,
                                                    .epsilon = 1e-7,
                                                    .shrink = true};
                struct fit a = fit_at(&(struct setup){.data = &single}, &setting, &parameters);
                struct fit b = fit_at(&(struct setup){.data = &twice}, &setting, &parameters);
                CHECK(fabs(a.solution.primal - b.solution.primal) <= 2e-7 * b.solution.primal,
                      "formulation %zu: %.12g with weights, %.12g with copies", f,
                      a.solution.primal, b.solution.primal);
                solution_free(&a.solution);
                solution_free(&b.solution);
            }
        }
    }
    /* the weight of a label is that of its rows */
    double labels[2] = {2.5, 0.5};
    for (size_t i = 0; i < N; i++) {
        single.weight[i] = labels[single.label[i]];
    }
    struct top_setting setting = {
        .formulation = TOP_PAT_MAT, .positive = is_positive, .tau = .2, .theta = 1};
    struct top_parameters parameters = {.method = TOP_SMO, .cost = 1, .epsilon = 1e-7};
    struct fit a = fit_at(&(struct setup){.data = &single}, &setting, &parameters);
    free(single.weight);
    single.weight = NULL;
    setting.weight = labels;
    struct fit b = fit_at(&(struct setup){.data = &single}, &setting, &parameters);
    CHECK(a.solution.primal == b.solution.primal, "weights of rows and of labels differ");
    solution_free(&a.solution);
    solution_free(&b.solution);
    free(x);
    data_free(&single);
    data_free(&twice);
    printf("ok: a row of weight w is as good as w equal rows\n");
}

/* Results do not depend on the cache, shrinking or threads beyond the gap; a fold is its rows. */
static void check_ways(void) {
    struct data data = random_rows(150, 4, 30, 0.7, 31);
    struct kernel rbf = {.type = KERNEL_RBF, .gamma = 0.3};
    struct threads *threads;
    struct error err;
    CHECK(threads_create(&threads, 2, &err) == 0, "%s", err.text);
    struct top_setting setting = {
        .formulation = TOP_PAT_MAT_NP, .positive = is_positive, .tau = .1, .theta = 1};
    struct top_parameters parameters = {
        .method = TOP_SMO, .cost = 3, .epsilon = 1e-5, .shrink = true};
    struct fit fit = fit_at(&(struct setup){.data = &data, .kernel = &rbf}, &setting, &parameters);
    const struct setup setups[] = {
        {.data = &data, .kernel = &rbf, .cache_bytes = 1},
        {.data = &data, .kernel = &rbf, .cache_bytes = 8000, .nothing_kept = true},
        {.data = &data, .kernel = &rbf, .threads = threads}};
    size_t bytes = data.n_rows * sizeof(double);
    for (size_t i = 0; i < 3; i++) {
        struct fit same = fit_at(&setups[i], &setting, &parameters);
        CHECK(memcmp(fit.solution.weights, same.solution.weights, bytes) == 0 ||
                  (i == 1 && same.solution.converged),
              "setup %zu changes the weights", i);
        CHECK(fabs(same.solution.dual - fit.solution.dual) <= 1e-5 * fit.solution.dual,
              "setup %zu: dual %g, not %g", i, same.solution.dual, fit.solution.dual);
        solution_free(&same.solution);
    }
    parameters.shrink = false;
    struct fit whole =
        fit_at(&(struct setup){.data = &data, .kernel = &rbf}, &setting, &parameters);
    CHECK(whole.solution.converged &&
              fabs(whole.solution.dual - fit.solution.dual) <= 1e-5 * fit.solution.dual,
          "without shrinking: %g, with %g", whole.solution.dual, fit.solution.dual);

    uint32_t rows[100];
    for (uint32_t i = 0; i < 100; i++) {
        rows[i] = i % 2 ? 149 - i / 2 : i / 2;
    }
    struct data part;
    CHECK(data_subset(&data, rows, 100, &part, &err) == 0, "%s", err.text);
    parameters.shrink = true;
    struct fit fold = fit_at(&(struct setup){.data = &data, .kernel = &rbf, .rows = rows, .n = 100},
                             &setting, &parameters);
    struct fit alone =
        fit_at(&(struct setup){.data = &part, .kernel = &rbf}, &setting, &parameters);
    CHECK(fabs(fold.solution.primal - alone.solution.primal) <= 2e-5 * alone.solution.primal,
          "a fold: %g, its rows: %g", fold.solution.primal, alone.solution.primal);
    solution_free(&fold.solution);
    solution_free(&alone.solution);
    solution_free(&whole.solution);
    solution_free(&fit.solution);
    data_free(&part);
    data_free(&data);
    threads_free(threads);
    printf("ok: cache, shrinking, threads and folds leave the optimum alone\n");
}

/* A path of costs, each from the last solution, up and down. */
static void check_path(void) {
    struct data data = random_rows(120, 4, 25, 0.7, 41);
    struct kernel rbf = {.type = KERNEL_RBF, .gamma = 0.3};
    struct error err;
    struct gram *gram;
    CHECK(gram_create(&gram, &rbf, &data, 1 << 24, true, NULL, &err) == 0, "%s", err.text);
    struct problem problem = {
        .data = &data, .gram = gram, .n = data.n_rows, .cache_bytes = 1 << 24};
    static const enum top_formulation formulations[] = {TOP_PUSH_K, TOP_PAT_MAT_NP, TOP_PAT_MAT};
    static const double costs[] = {0.1, 1, 30, 0.01, 1};
    for (size_t f = 0; f < 3; f++) {
        for (int loss = 0; loss < 2; loss++) {
            for (int method = TOP_SMO; method <= TOP_BUNDLE; method++) {
                struct top_setting setting = {.formulation = formulations[f],
                                              .positive = is_positive,
                                              .k = 4,
                                              .tau = .1,
                                              .theta = .5};
                struct top *top;
                CHECK(top_open(&top, &problem, &setting, &err) == 0, "%s", err.text);
                double at_one = 0;
                for (size_t c = 0; c < 5; c++) {
                    struct top_parameters parameters = {.loss = (enum top_loss)loss,
                                                        .method = (enum top_method)method,
                                                        .cost = costs[c],
                                                        .epsilon = 1e-6,
                                                        .shrink = true};
                    struct solution solution;
                    CHECK(top_solve(top, &parameters, NULL, &solution, &err) == 0, "%s", err.text);
                    CHECK(solution.converged, "cost %g: gap %g", costs[c],
                          gap_relative(solution.primal, solution.dual));
                    if (costs[c] == 1 && at_one == 0) {
                        at_one = solution.primal;
                    }
                    CHECK(costs[c] != 1 || fabs(solution.primal - at_one) <= 1e-6 * at_one,
                          "%g, then %g", at_one, solution.primal);
                    solution_free(&solution);
                }
                top_close(top);
            }
        }
    }
    gram_free(gram);
    data_free(&data);
    printf("ok: along a path of costs each fit starts from the last, and ends as if alone\n");
}

/* ---- the ends of what may come ---- */

static void check_ends(void) {
    struct kernel rbf = {.type = KERNEL_RBF, .gamma = 0.25};
    static const enum top_formulation formulations[] = {
        TOP_PUSH, TOP_PUSH_K, TOP_TAU_FPL, TOP_MEAN_K, TOP_PAT_MAT, TOP_PAT_MAT_NP, TOP_SVM};
    static const double costs[] = {1e-6, 1, 1e6};
    enum { KINDS = 7 };
    size_t fits = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        /* plain, one positive, one negative, equal rows, ties, zero rows, all rows equal */
        size_t n = 24, positives = kind == 1 ? 1 : kind == 2 ? 23 : 8;
        struct data data = random_rows(n, 3, positives, 1.5, 51 + (uint64_t)kind);
        for (size_t i = 0; i < n * 3; i++) {
            if (kind == 3) {
                data.value[i] = data.value[i % 18];
            } else if (kind == 4) {
                data.value[i] = roundf(data.value[i]);
            } else if (kind == 5 && i / 3 % 4 == 0) {
                data.value[i] = 0;
            } else if (kind == 6) {
                data.value[i] = 1;
            }
        }
        for (size_t f = 0; f < sizeof formulations / sizeof formulations[0]; f++) {
            for (int c = 0; c < 3; c++) {
                for (int variant = 0; variant < 8; variant++) {
                    double n_negative = (double)(n - positives);
                    struct top_setting setting = {.formulation = formulations[f],
                                                  .positive = is_positive,
                                                  .k = variant & 4 ? n_negative
                                                                   : fmin(n_negative, 2.5),
                                                  .tau = variant & 4 ? 1e-3 : .4,
                                                  .theta = variant & 4 ? 1e-5 : 1};
                    struct top_parameters parameters = {.loss = variant & 1 ? TOP_SQUARED_HINGE
                                                                            : TOP_HINGE,
                                                        .cost = costs[c],
                                                        .epsilon = 1e-6,
                                                        .shrink = true};
                    struct setup setup = {.data = &data, .kernel = variant & 2 ? &rbf : NULL};
                    struct fit fit = fit_at(&setup, &setting, &parameters);
                    CHECK(fit.solution.converged,
                          "kind %d formulation %zu C %g variant %d: gap %g %s", kind, f, costs[c],
                          variant, gap_relative(fit.solution.primal, fit.solution.dual),
                          stop_message(fit.solution.reason));
                    double plain =
                        plain_primal(&setup, &setting, &parameters, fit.solution.weights);
                    CHECK(fabs(plain - fit.solution.primal) <= 1e-8 * plain,
                          "kind %d formulation %zu C %g variant %d: %.12g is %.12g", kind, f,
                          costs[c], variant, fit.solution.primal, plain);
                    solution_free(&fit.solution);
                    fits++;
                }
            }
        }
        data_free(&data);
    }
    printf("ok: %zu fits at the ends of what may come reach 1e-6\n", fits);
}

static void check_trivial(void) {
    /* positives in the middle of negatives: no w is better than 0 */
    static const float cross[] = {0, 0, 0.1F, 0, -0.1F, 0, 2, 0, -2, 0, 0, 2, 0, -2};
    struct data data = rows_of(cross, 7, 2, 3);
    for (int f = 0; f < 4; f++) {
        static const enum top_formulation formulations[] = {TOP_PUSH, TOP_PUSH_K, TOP_MEAN_K,
                                                            TOP_TAU_FPL};
        for (int method = TOP_AUTO; method <= TOP_BUNDLE; method++) {
            for (int loss = 0; loss < 2; loss++) {
                struct top_setting setting = {
                    .formulation = formulations[f], .positive = is_positive, .k = 2, .tau = .3};
                struct top_parameters parameters = {.loss = (enum top_loss)loss,
                                                    .method = (enum top_method)method,
                                                    .cost = 2,
                                                    .epsilon = 1e-3,
                                                    .shrink = true};
                struct fit fit = fit_at(&(struct setup){.data = &data}, &setting, &parameters);
                CHECK(fit.trivial && fit.solution.converged, "formulation %d method %d: not seen",
                      f, method);
                CHECK(fit.solution.weights[0] == 0 && fit.solution.weights[1] == 0 &&
                          fit.solution.primal == 6,
                      "w = (%g, %g), primal %g", fit.solution.weights[0], fit.solution.weights[1],
                      fit.solution.primal);
                solution_free(&fit.solution);
            }
        }
    }
    data_free(&data);
    /* a tiny C has a tiny w, which is not nothing */
    data = random_rows(40, 3, 10, 2, 61);
    struct top_setting setting = {.formulation = TOP_PUSH_K, .positive = is_positive, .k = 3};
    for (int method = TOP_AUTO; method <= TOP_BUNDLE; method++) {
        struct top_parameters parameters = {
            .method = (enum top_method)method, .cost = 1e-6, .epsilon = 1e-3, .shrink = true};
        struct fit fit = fit_at(&(struct setup){.data = &data}, &setting, &parameters);
        CHECK(!fit.trivial && fit.solution.weights[0] > 0, "method %d: nothing at a small C",
              method);
        solution_free(&fit.solution);
    }
    data_free(&data);
    printf("ok: w = 0 is said to be optimal where it is, and only there\n");
}

/* ---- grill ---- */

static void check_grill(void) {
    struct data data = random_rows(80, 4, 20, 1, 71);
    for (int variant = 0; variant < 4; variant++) {
        struct top_setting setting = {.formulation = variant & 1 ? TOP_GRILL_NP : TOP_GRILL,
                                      .positive = is_positive,
                                      .tau = .1};
        struct top_parameters parameters = {.loss = variant & 2 ? TOP_SQUARED_HINGE : TOP_HINGE,
                                            .cost = .5,
                                            .epsilon = 1e-6,
                                            .seed = 5,
                                            .starts = 8};
        struct setup setup = {.data = &data};
        struct fit fit = fit_at(&setup, &setting, &parameters);
        struct fit again = fit_at(&setup, &setting, &parameters);
        parameters.starts = 1;
        struct fit one = fit_at(&setup, &setting, &parameters);
        CHECK(fit.solution.uncertified && fit.solution.dual == 0, "grill claims a bound");
        CHECK(memcmp(fit.solution.weights, again.solution.weights, 4 * sizeof(double)) == 0,
              "one seed, two fits");
        CHECK(fit.solution.primal <= one.solution.primal, "more starts end higher: %g, %g",
              fit.solution.primal, one.solution.primal);
        double s[80], z[80], sum = 0, norm = 0;
        size_t n = 0;
        for (size_t i = 0; i < 80; i++) {
            s[i] = 0;
            for (size_t j = 0; j < 4; j++) {
                s[i] += fit.solution.weights[j] * (double)data.value[i * 4 + j];
            }
            if (!(variant & 1) || i >= 20) {
                z[n++] = s[i];
            }
        }
        qsort(z, n, sizeof z[0], descending);
        double t = z[n / 10]; /* a tenth of the rows lies above */
        CHECK(fabs(t - fit.threshold) < 1e-12, "threshold %g is %g", fit.threshold, t);
        for (size_t i = 0; i < 80; i++) {
            sum += i < 20 ? loss_of(parameters.loss, t - s[i])
                          : loss_of(parameters.loss, s[i] - t) * 20 / 60;
        }
        for (size_t j = 0; j < 4; j++) {
            norm += fit.solution.weights[j] * fit.solution.weights[j];
        }
        double plain = 0.5 * norm + .5 * sum;
        CHECK(fabs(plain - fit.solution.primal) < 1e-10 * plain, "primal %g is %g",
              fit.solution.primal, plain);
        solution_free(&fit.solution);
        solution_free(&again.solution);
        solution_free(&one.solution);
    }
    data_free(&data);
    printf("ok: grill keeps the best of seeded starts, and claims no bound\n");
}

/* ---- limits and refusals ---- */

static enum stop_reason stop_at_once(void *context, uint64_t iteration, double primal,
                                     double dual) {
    (void)primal;
    (void)dual;
    return iteration >= *(uint64_t *)context ? STOP_ITERATIONS : 0;
}

static void check_limits(void) {
    struct data data = random_rows(300, 6, 60, 0.3, 81);
    struct kernel rbf = {.type = KERNEL_RBF, .gamma = 0.5};
    uint64_t most = 100;
    struct monitor monitor = {.context = &most, .check = stop_at_once};
    struct top_setting setting = {.formulation = TOP_PUSH_K, .positive = is_positive, .k = 3};
    for (int method = TOP_AUTO; method <= TOP_CD; method++) {
        struct top_parameters parameters = {
            .method = (enum top_method)method, .cost = 100, .epsilon = 1e-9, .shrink = true};
        most = method == TOP_SMO || method == TOP_AUTO ? 100 : 3;
        struct setup setup = {.data = &data, .kernel = &rbf, .monitor = &monitor};
        struct fit fit = fit_at(&setup, &setting, &parameters);
        double plain = plain_primal(&setup, &setting, &parameters, fit.solution.weights);
        CHECK(!fit.solution.converged && fit.solution.reason == STOP_ITERATIONS,
              "method %d did not stop", method);
        CHECK(fabs(plain - fit.solution.primal) < 1e-9 * plain &&
                  fit.solution.dual <= fit.solution.primal,
              "method %d: primal %g is %g, dual %g", method, fit.solution.primal, plain,
              fit.solution.dual);
        solution_free(&fit.solution);
    }
    struct error err = {.kind = ERROR_NONE};
    struct top *top;
    struct problem problem = {.data = &data, .n = data.n_rows};
    const bool none[2] = {false, false}, all[2] = {true, true};
    setting.positive = none;
    CHECK(top_open(&top, &problem, &setting, &err) < 0 && strstr(err.text, "positive"), "%s",
          err.text);
    setting.positive = all;
    CHECK(top_open(&top, &problem, &setting, &err) < 0 && strstr(err.text, "negative"), "%s",
          err.text);
    setting.positive = is_positive;
    setting.k = 241;
    CHECK(top_open(&top, &problem, &setting, &err) < 0 && strstr(err.text, "K is 241"), "%s",
          err.text);
    data_free(&data);
    printf("ok: a fit that is stopped has its true gap; one class is refused\n");
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    check_risk();
    check_projections();
    check_optima();
    check_aggregate();
    check_weights();
    check_ways();
    check_path();
    check_ends();
    check_trivial();
    check_grill();
    check_limits();
    return 0;
}
