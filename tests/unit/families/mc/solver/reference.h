/* A plain reference for multi-class SVMs, independent of the solvers: margins from their
 * definition, the dual by projected gradient over all alpha. */
#ifndef TESTS_UNIT_FAMILIES_MC_SOLVER_REFERENCE_H
#define TESTS_UNIT_FAMILIES_MC_SOLVER_REFERENCE_H

#include "tests/unit/check.h"

#include <stdbool.h>
#include <string.h>

/* The formulations by their two letters of the paper's table: which margin, whether scores sum to
 * zero, which terms, and how terms are joined. */
struct mc_definition {
    const char *name;
    bool relative, sum_to_zero;
    bool own, others;
    bool maximum;
};

static const struct mc_definition mc_definitions[] = {
    {"ww", true, false, false, true, false},  {"cs", true, false, false, true, true},
    {"llw", false, true, false, true, false}, {"adm", false, true, false, true, true},
    {"atm", false, true, true, true, true},   {"ats", false, true, true, true, false},
    {"mmr", false, true, true, false, false}, {"ova", false, false, true, true, false}};

struct mc_reference {
    size_t n, d, k;
    const double *x;    /* (n, d) */
    const unsigned *y;  /* (n) */
    const double *cost; /* (n) */
    double margin;      /* M */
    struct mc_definition definition;
    double primal, dual; /* results */
};

/* The margin of class c for a row of class y with scores s, centred if the form is. */
static double mc_reference_margin(const struct mc_reference *r, size_t y, size_t c,
                                  const double *s) {
    if (r->definition.relative) {
        return r->margin * (s[y] - s[c]);
    }
    return c == y ? s[c] : -s[c];
}

static bool mc_reference_term(const struct mc_reference *r, size_t y, size_t c) {
    return c == y ? r->definition.own : r->definition.others;
}

/* d margin_c / d s (k). */
static void mc_reference_slope(const struct mc_reference *r, size_t y, size_t c, double *slope) {
    memset(slope, 0, r->k * sizeof *slope);
    if (r->definition.relative) {
        slope[y] += r->margin;
        slope[c] -= r->margin;
    } else {
        slope[c] = c == y ? 1 : -1;
    }
}

static double mc_reference_loss(const struct mc_reference *r, size_t y, const double *s) {
    double sum = 0, max = 0;
    for (size_t c = 0; c < r->k; c++) {
        if (mc_reference_term(r, y, c)) {
            double loss = fmax(0, 1 - mc_reference_margin(r, y, c, s));
            sum += loss;
            max = fmax(max, loss);
        }
    }
    return r->definition.maximum ? max : sum;
}

static void mc_reference_scores(const struct mc_reference *r, const double *W, size_t i,
                                double *s) {
    for (size_t c = 0; c < r->k; c++) {
        s[c] = 0;
        for (size_t f = 0; f < r->d; f++) {
            s[c] += W[f * r->k + c] * r->x[i * r->d + f];
        }
    }
}

/* W (d, k) of alpha (n, k): the sum over terms of alpha x slope', projected to sums of zero over
 * classes if the form is centred. */
static void mc_reference_weights(const struct mc_reference *r, const double *alpha, double *W) {
    double *slope = malloc(r->k * sizeof *slope);
    memset(W, 0, r->d * r->k * sizeof *W);
    for (size_t i = 0; i < r->n; i++) {
        for (size_t c = 0; c < r->k; c++) {
            mc_reference_slope(r, r->y[i], c, slope);
            for (size_t f = 0; f < r->d; f++) {
                for (size_t e = 0; e < r->k; e++) {
                    W[f * r->k + e] += alpha[i * r->k + c] * slope[e] * r->x[i * r->d + f];
                }
            }
        }
    }
    for (size_t f = 0; r->definition.sum_to_zero && f < r->d; f++) {
        double mean = 0;
        for (size_t c = 0; c < r->k; c++) {
            mean += W[f * r->k + c] / (double)r->k;
        }
        for (size_t c = 0; c < r->k; c++) {
            W[f * r->k + c] -= mean;
        }
    }
    free(slope);
}

static double mc_reference_primal(const struct mc_reference *r, const double *W) {
    double value = 0, *s = malloc(r->k * sizeof *s);
    for (size_t j = 0; j < r->d * r->k; j++) {
        value += W[j] * W[j] / 2;
    }
    for (size_t i = 0; i < r->n; i++) {
        mc_reference_scores(r, W, i, s);
        value += r->cost[i] * mc_reference_loss(r, r->y[i], s);
    }
    free(s);
    return value;
}

static double mc_reference_dual(const struct mc_reference *r, const double *alpha,
                                const double *W) {
    double value = 0;
    for (size_t j = 0; j < r->n * r->k; j++) {
        value += alpha[j];
    }
    for (size_t j = 0; j < r->d * r->k; j++) {
        value -= W[j] * W[j] / 2;
    }
    return value;
}

/* Projection to a row's dual set: the box, or the simplex sum <= cost, by bisection. */
static void mc_reference_project(const struct mc_reference *r, size_t i, double *alpha) {
    double low = 0, high = 0, cost = r->cost[i];
    for (size_t c = 0; c < r->k; c++) {
        if (!mc_reference_term(r, r->y[i], c)) {
            alpha[c] = 0;
        } else if (!r->definition.maximum) {
            alpha[c] = fmin(fmax(alpha[c], 0), cost);
        }
        high = fmax(high, alpha[c]);
    }
    for (int step = 0; r->definition.maximum && step < 100; step++) {
        double theta = step == 0 ? 0 : (low + high) / 2, sum = 0;
        for (size_t c = 0; c < r->k; c++) {
            sum += mc_reference_term(r, r->y[i], c) ? fmax(0, alpha[c] - theta) : 0;
        }
        if (step == 0 && sum <= cost) {
            high = 0;
            break;
        }
        if (sum > cost) {
            low = theta;
        } else {
            high = theta;
        }
    }
    for (size_t c = 0; r->definition.maximum && c < r->k; c++) {
        alpha[c] = mc_reference_term(r, r->y[i], c) ? fmax(0, alpha[c] - high) : 0;
    }
}

/* Accelerated projected gradient (FISTA, restarted when the dual falls) to a relative gap. */
static void mc_reference_solve(struct mc_reference *r, double gap, double *W) {
    size_t m = r->n * r->k;
    double *alpha = check_numbers(m), *point = check_numbers(m), *next = check_numbers(m);
    double *s = check_numbers(r->k), *V = check_numbers(r->d * r->k);
    double lipschitz = 0, momentum = 1;
    for (size_t i = 0; i < r->n; i++) { /* trace of K, times the largest eigenvalue of a block */
        for (size_t f = 0; f < r->d; f++) {
            lipschitz += r->x[i * r->d + f] * r->x[i * r->d + f];
        }
    }
    lipschitz *= r->definition.relative ? r->margin * r->margin * (double)r->k : 1;
    for (long step = 0; step < 4000000; step++) {
        mc_reference_weights(r, point, V);
        for (size_t i = 0; i < r->n; i++) {
            mc_reference_scores(r, V, i, s);
            for (size_t c = 0; c < r->k; c++) {
                double margin = mc_reference_margin(r, r->y[i], c, s);
                next[i * r->k + c] = point[i * r->k + c] + (1 - margin) / lipschitz;
            }
            mc_reference_project(r, i, next + i * r->k);
        }
        double along = 0, following = (1 + sqrt(1 + 4 * momentum * momentum)) / 2;
        for (size_t j = 0; j < m; j++) {
            along += (point[j] - next[j]) * (next[j] - alpha[j]);
        }
        double ahead = along > 0 ? 0 : (momentum - 1) / following;
        momentum = along > 0 ? 1 : following;
        for (size_t j = 0; j < m; j++) {
            point[j] = next[j] + ahead * (next[j] - alpha[j]);
            alpha[j] = next[j];
        }
        if (step % 50 == 0) {
            mc_reference_weights(r, alpha, W);
            r->primal = mc_reference_primal(r, W);
            r->dual = mc_reference_dual(r, alpha, W);
            if (r->primal - r->dual <= gap * r->primal) {
                break;
            }
        }
    }
}

#endif
