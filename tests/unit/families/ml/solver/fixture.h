/* Rows with label sets to fit, the objective by its definition, and one fit. */
#ifndef TESTS_UNIT_FAMILIES_ML_SOLVER_FIXTURE_H
#define TESTS_UNIT_FAMILIES_ML_SOLVER_FIXTURE_H

#include "common/base/gap.h"
#include "common/kernel/gram.h"
#include "families/ml/solver/ml.h"
#include "tests/unit/compute.h"

/* ---- problems ---- */

/* Dense rows without labels; `names` is the number of labels: "1", "2", ... */
static inline struct data make_data(size_t n, uint32_t width, uint32_t n_names) {
    struct data data = {.n_rows = n, .n_features = width, .labels = DATA_SET};
    data.value = sample_array(n * width + 1, sizeof *data.value);
    data.label_start = sample_array(n + 1, sizeof *data.label_start);
    data.label = sample_array(n * n_names + 1, sizeof *data.label);
    sample_names(&data.names, n_names);
    return data;
}

/* Row i gets the labels k with set[k]. Rows must be set in order. */
static inline void set_labels(struct data *data, size_t i, const bool *set) {
    uint64_t n = data->label_start[i];
    for (uint32_t k = 0; k < data->names.n; k++) {
        if (set[k]) {
            data->label[n++] = k;
        }
    }
    data->label_start[i + 1] = n;
}

static inline double normal(struct random *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += random_unit(random);
    }
    return sum;
}

/* Rows whose labels follow a linear model with noise; about the share `share` of the labels is
 * relevant. */
static inline struct data random_data(size_t n, uint32_t width, uint32_t q, double share,
                                      uint64_t seed) {
    struct random random = sample_random(seed, 9);
    struct data data = make_data(n, width, q);
    double *w = check_numbers((size_t)width * q);
    bool *set = check_array(q, sizeof *set);
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
    return data;
}

/* A problem and what it borrows. */
struct bed {
    struct data data;
    struct kernel kernel;
    struct gram *gram;
    struct threads *threads;
    struct problem problem;
};

static inline void make_bed(struct bed *bed, struct data data, double gamma, size_t n_threads) {
    *bed = (struct bed){.data = data,
                        .kernel = {.type = gamma > 0 ? KERNEL_RBF : KERNEL_LINEAR, .gamma = gamma}};
    MUST(threads_create(&bed->threads, n_threads, &err));
    if (gamma > 0) {
        MUST(gram_create(&bed->gram, &bed->kernel, &bed->data, (size_t)1 << 30, true, bed->threads,
                         &err));
    }
    bed->problem = (struct problem){
        .data = &bed->data, .gram = bed->gram, .n = data.n_rows, .threads = bed->threads};
}

static inline void free_bed(struct bed *bed) {
    gram_free(bed->gram);
    threads_free(bed->threads);
    data_free(&bed->data);
}

/* ---- the objective by its definition ---- */

static inline double kernel_of(const struct bed *bed, size_t i, size_t j) {
    const float *x = bed->data.value + i * bed->data.n_features;
    const float *z = bed->data.value + j * bed->data.n_features;
    double product = 0, distance = 0;
    for (uint32_t c = 0; c < bed->data.n_features; c++) {
        product += (double)x[c] * (double)z[c];
        distance += ((double)x[c] - (double)z[c]) * ((double)x[c] - (double)z[c]);
    }
    return bed->gram ? exp(-bed->kernel.gamma * distance) : product;
}

/* P of a solution of all rows; labels must be numbered in the order of their names. */
static inline double plain_primal(const struct bed *bed, const struct solution *solution,
                                  enum ml_loss loss, double cost, double bias) {
    size_t n = bed->data.n_rows, q = solution->n_outputs, d = bed->data.n_features;
    double norm = 0, sum = 0, *s = check_numbers(q);
    bool *set = check_array(q, sizeof *set);
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
    return 0.5 * norm + sum;
}

/* ---- solving ---- */

static inline void solve(struct ml *ml, enum ml_loss loss, enum ml_method method, double cost,
                         double epsilon, struct solution *solution) {
    struct ml_parameters parameters = {loss, method, cost, epsilon};
    MUST(ml_solve(ml, &parameters, NULL, solution, &err));
    /* the rounding-error bound at a large C */
    bool rounded = gap_relative(solution->primal, solution->dual) <= 1e-5;
    CHECK(solution->converged || rounded, "%s: primal %.10g, dual %.10g",
          stop_message(solution->reason), solution->primal, solution->dual);
}

static inline void solve_once(const struct bed *bed, const struct ml_setup *setup,
                              enum ml_loss loss, enum ml_method method, double cost, double epsilon,
                              struct solution *solution) {
    struct ml *ml;
    MUST(ml_create(&ml, &bed->problem, setup, &err));
    solve(ml, loss, method, cost, epsilon, solution);
    ml_free(ml);
}

static inline void check_bracket(const struct solution *solution, double optimum,
                                 const char *what) {
    CHECK(solution->dual <= optimum + 2e-8 * optimum &&
              solution->primal >= optimum - 2e-8 * optimum,
          "%s: [%.10f, %.10f], optimum %.10f", what, solution->dual, solution->primal, optimum);
}

/* The bounds of two fits of one problem overlap. */
static inline void check_overlap(const struct solution *a, const struct solution *b,
                                 const char *what) {
    const double rounding = 1 + 1e-12;
    CHECK(a->dual <= b->primal * rounding && b->dual <= a->primal * rounding,
          "%s: [%.15g, %.15g] and [%.15g, %.15g]", what, a->dual, a->primal, b->dual, b->primal);
}

#endif
