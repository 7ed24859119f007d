/* Rows with one nonzero feature, points on a line, and the rounding-error bound that certificates
 * (fit/certify.h) have for |g|^2 there. The rest of a certificate's `rounding` is the family's own
 * bound. */
#ifndef TESTS_UNIT_FIT_LINE_H
#define TESTS_UNIT_FIT_LINE_H

#include "common/kernel/gram.h"
#include "fit/certify.h"
#include "tests/unit/compute.h"

#include <float.h>

static const double line_unit = DBL_EPSILON / 2;

/* Whether a is b up to a relative error of `part`. */
static inline bool near(double a, double b, double part) {
    return fabs(a - b) <= part * fabs(b);
}

/* A loss with the value of the context, a double, and without a rounding error. */
static inline int no_loss(void *context, size_t first, size_t n, const double *s,
                          const double *error, double *value, double *rounding,
                          struct error *failure) {
    (void)first, (void)n, (void)s, (void)error, (void)failure;
    *value = *(double *)context;
    *rounding = 0;
    return 0;
}

struct line {
    size_t n;
    const float *x; /* (n) */
    struct data data;
    struct kernel kernel;
    struct gram *gram; /* of x z; NULL: linear */
    struct problem problem;
    struct score_map map;
    struct certify *certify;
};

/* Borrows x (n), and creates what certificates of its rows need. data: labels, or empty; if it has
 * features and values of its own, x has the values of the one that is not 0. constant: the value of
 * the constant feature. */
static inline void line_open_with(struct line *line, float *x, size_t n, bool kernel,
                                  struct data data, double constant) {
    *line = (struct line){.n = n, .x = x, .data = data, .kernel = {.type = KERNEL_LINEAR}};
    line->data.n_rows = n;
    if (line->data.n_features == 0) {
        line->data.n_features = 1;
        line->data.value = x;
    }
    if (kernel) {
        MUST(gram_create(&line->gram, &line->kernel, &line->data, 1 << 20, true, NULL, &err));
    }
    line->problem = (struct problem){.data = &line->data, .gram = line->gram, .n = n};
    MUST(score_map_create(&line->map, &line->problem, &err));
    MUST(certify_create(&line->certify, &line->problem, &line->map, constant, &err));
}

static inline void line_open(struct line *line, float *x, size_t n, bool kernel, struct data data) {
    line_open_with(line, x, n, kernel, data, 0);
}

static inline void line_close(struct line *line) {
    certify_free(line->certify);
    score_map_free(&line->map);
    gram_free(line->gram);
}

/* The number of rows of a matrix of weights: one for each row, or one for the feature. */
static inline size_t line_weights(const struct line *line) {
    return line->gram ? line->n : 1;
}

/* *norm = |g|^2 of weights (line_weights, k), and the bound of its error, where the coefficients of
 * the rows are off by error (n). */
static inline double line_rounding(const struct line *line, size_t k, const double *weights,
                                   const double *error, double *norm) {
    double off = 0, most = 0, rounding = 0, size = 0, factor = certify_error_factor(line->certify);
    size_t used = 0;
    *norm = 0;
    for (size_t i = 0; i < line->n; i++) {
        bool any = false;
        off += error[i] * fabs((double)line->x[i]);
        for (size_t c = 0; c < k && line->gram; c++) {
            any |= weights[i * k + c] != 0;
        }
        used += any;
    }
    factor += (double)(used + 8) * line_unit;
    for (size_t c = 0; c < k; c++) {
        double w = 0, magnitude = 0;
        for (size_t i = 0; i < line_weights(line); i++) {
            w += weights[i * k + c] * (line->gram ? (double)line->x[i] : 1);
            magnitude += fabs(weights[i * k + c] * (line->gram ? (double)line->x[i] : 1));
        }
        *norm += w * w;
        most = fmax(most, fabs(w));
        rounding += factor * magnitude * magnitude;
        size += magnitude * fabs(w); /* of sum b s, s = x w */
    }
    double n = (double)line->n, outputs = (double)k;
    return line->gram ? rounding + (n * outputs + 2) * line_unit * size +
                            outputs * off *
                                (2 * sqrt(fmax(0, *norm + rounding +
                                                      (n * outputs + 2) * line_unit * size)) +
                                 outputs * off)
                      : (1 + outputs + 4) * line_unit * *norm + off * (2 * most + off);
}

#endif
