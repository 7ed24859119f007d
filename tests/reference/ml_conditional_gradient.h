/* Conditional gradient (Frank and Wolfe 1956) on the dual of the multi-label Rank-SVM with the
 * hinge loss, from its definition: a plain solver for comparison with those of families/ml/solver.
 * It includes no file of the project.
 *
 * With K positive semidefinite, rows i, labels Y_i of q, lambda_i = C / (|Y_i| (q - |Y_i|)), scores
 * S = K beta:  D = sum_i sum_{p in Y_i} beta_ip - tr(beta' K beta) / 2. The vertex for given scores
 * has lambda_i for each pair whose margin s_ip - s_ir is below 1; the gap is
 * <vertex - beta, grad D>, which is P - D at the weights of beta. */
#ifndef TESTS_REFERENCE_ML_CONDITIONAL_GRADIENT_H
#define TESTS_REFERENCE_ML_CONDITIONAL_GRADIENT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct reference_bounds {
    double primal, dual;
};

/* The vertex of row i at scores s (q) into v (q); returns the row's loss. */
static inline double reference_ml_vertex(const bool *set, size_t q, double cost, const double *s,
                                         double *v) {
    double n = 0, loss = 0;
    for (size_t k = 0; k < q; k++) {
        n += set[k];
        v[k] = 0;
    }
    double lambda = n > 0 && n < (double)q ? cost / (n * ((double)q - n)) : 0;
    for (size_t p = 0; p < q; p++) {
        for (size_t r = 0; set[p] && r < q; r++) {
            double hinge = 1 - (s[p] - s[r]);
            if (!set[r] && hinge > 0) {
                loss += lambda * hinge;
                v[p] += lambda;
                v[r] -= lambda;
            }
        }
    }
    return loss;
}

/* K (n, n) with the square of a constant feature added; set (n, q); the gap is relative. false:
 * memory is short, or it is not reached in max_steps. */
static inline bool reference_ml_solve(const double *K, const bool *set, size_t n, size_t q,
                                      double cost, double epsilon, int max_steps,
                                      struct reference_bounds *bounds) {
    double *S = calloc(4 * n * q + 1, sizeof *S), *beta = S + n * q, *v = beta + n * q;
    double *product = v + n * q;
    bool reached = false;
    for (int step = 0; S && !reached && step < max_steps; step++) {
        double loss = 0, linear = 0, square = 0, slope = 0, curvature = 0;
        memset(product, 0, n * q * sizeof *product);
        for (size_t i = 0; i < n; i++) {
            loss += reference_ml_vertex(set + i * q, q, cost, S + i * q, v + i * q);
            for (size_t k = 0; k < q; k++) {
                double *at = v + i * q + k, change = *at - beta[i * q + k];
                linear += set[i * q + k] ? beta[i * q + k] : 0;
                square += beta[i * q + k] * S[i * q + k];
                slope += change * ((set[i * q + k] ? 1 : 0) - S[i * q + k]);
                *at = change;
            }
        }
        *bounds = (struct reference_bounds){square / 2 + loss, linear - square / 2};
        reached = bounds->primal - bounds->dual <= epsilon * bounds->primal;
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                for (size_t k = 0; k < q; k++) {
                    product[i * q + k] += K[i * n + j] * v[j * q + k];
                }
            }
        }
        for (size_t k = 0; k < n * q; k++) {
            curvature += v[k] * product[k];
        }
        double length = curvature > 0 ? fmin(1, slope / curvature) : 1;
        for (size_t k = 0; !reached && k < n * q; k++) {
            beta[k] += length * v[k];
            S[k] += length * product[k];
        }
    }
    free(S);
    return reached;
}

#endif
