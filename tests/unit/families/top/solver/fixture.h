/* Random rows with positives, one fit, and its objective by the definition. */
#ifndef TESTS_UNIT_FAMILIES_TOP_SOLVER_FIXTURE_H
#define TESTS_UNIT_FAMILIES_TOP_SOLVER_FIXTURE_H

#include "common/base/gap.h"
#include "common/base/threads.h"
#include "common/kernel/gram.h"
#include "common/kernel/kernel.h"
#include "families/top/solver/top.h"
#include "tests/unit/compute.h"

/* ---- problems ---- */

/* n rows of two labels, 0 (positive) and 1. */
static inline struct data rows_of(const float *x, size_t n, size_t width, size_t positives) {
    struct data data = {.n_rows = n, .n_features = (uint32_t)width, .labels = DATA_NAME};
    data.value = sample_array(n * width, sizeof *data.value);
    memcpy(data.value, x, n * width * sizeof *x);
    data.label = sample_array(n, sizeof *data.label);
    sample_names(&data.names, 2);
    for (size_t i = 0; i < n; i++) {
        data.label[i] = i >= positives;
    }
    return data;
}

/* Random rows; positives lie higher in the first two features. */
static inline struct data random_rows(size_t n, size_t width, size_t positives, double shift,
                                      uint64_t seed) {
    float *x = check_array(n * width, sizeof *x);
    struct random random = sample_random(seed, 0);
    for (size_t i = 0; i < n * width; i++) {
        double u = random_unit(&random) + random_unit(&random) + random_unit(&random) - 1.5;
        x[i] = (float)(2 * u + (i / width < positives && i % width < 2 ? shift : 0));
    }
    struct data data = rows_of(x, n, width, positives);
    return data;
}

static const bool is_positive[2] = {true, false};

static inline struct top_setting setting_of(enum top_formulation formulation, double k, double tau,
                                            double theta) {
    return (struct top_setting){
        .formulation = formulation, .positive = is_positive, .k = k, .tau = tau, .theta = theta};
}

static inline struct top_parameters parameters_of(enum top_loss loss, enum top_method method,
                                                  double cost, double epsilon) {
    return (struct top_parameters){
        .loss = loss, .method = method, .cost = cost, .epsilon = epsilon, .shrink = true};
}

/* A fit of one problem at one point. */
struct fit {
    struct solution solution;
    double threshold;
};

struct setup {
    const struct data *data;
    const struct kernel *kernel; /* NULL: linear */
    const uint32_t *rows;        /* NULL: all */
    size_t n;
    struct threads *threads;
    size_t cache_bytes; /* 0: 16 MiB */
    bool nothing_kept;  /* no gram */
    const struct monitor *monitor;
};

static inline struct fit fit_at(const struct setup *setup, const struct top_setting *setting,
                                const struct top_parameters *parameters) {
    struct fit fit = {.threshold = 0};
    struct gram *gram = NULL;
    struct problem problem = {.data = setup->data,
                              .rows = setup->rows,
                              .n = setup->rows ? setup->n : setup->data->n_rows,
                              .threads = setup->threads,
                              .cache_bytes = setup->cache_bytes ? setup->cache_bytes : 1 << 24};
    if (setup->kernel) {
        MUST(gram_create(&gram, setup->kernel, setup->data, setup->nothing_kept ? 0 : 1 << 24,
                         parameters->epsilon < 1e-4, NULL, &err));
        problem.gram = gram;
    }
    struct top *top;
    MUST(top_create(&top, &problem, setting, &err));
    MUST(top_solve(top, parameters, setup->monitor, &fit.solution, &err));
    fit.threshold = top_last(top).threshold;
    top_free(top);
    gram_free(gram);
    return fit;
}

/* ---- definitions ---- */

static inline double loss_of(enum top_loss loss, double u) {
    double v = u > -1 ? 1 + u : 0;
    return loss == TOP_HINGE ? v : v * v;
}

static inline int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The threshold of n scores by sorting them, or by bisection. All weights are 1. */
static inline double plain_threshold(const struct top_setting *setting, enum top_loss loss,
                                     const double *scores, size_t n) {
    double *z = check_array(n, sizeof *z);
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
    return t;
}

/* The objective at weights, from the definition. */
static inline double plain_primal(const struct setup *setup, const struct top_setting *setting,
                                  const struct top_parameters *parameters, const double *weights) {
    const struct data *data = setup->data;
    size_t n = data->n_rows, d = data->n_features, n_top = 0;
    double *s = check_array(n, sizeof *s), *z = check_array(n, sizeof *z), norm = 0, sum = 0;
    struct kernel_rows rows = {0};
    if (setup->kernel) {
        MUST(kernel_rows_create(&rows, setup->kernel, data, &err));
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
    return 0.5 * norm + parameters->cost * sum;
}

#endif
