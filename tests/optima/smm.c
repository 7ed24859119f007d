#include "tests/optima/gram.h"
#include "tests/optima/task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static real loss(const struct task *task, const real *s, const real *off, const real *bias) {
    real sum = 0;
    for (size_t i = 0; i < task->n; i++) {
        real margin = task->sign[i] * (s[i] + bias[0]);
        sum += task->cost[i] * hinge(task, 1 - margin + off[i]);
    }
    return sum;
}

/* For the hinge: the loss is piecewise linear in the bias, with a kink for each row; for the square
 * the multiplier is as good as the point. */
static void find_bias(const struct task *task, const real *y, const real *s, const real *off,
                      real *bias) {
    bias[0] = y[0];
    real least = loss(task, s, off, bias);
    for (size_t i = 0; i < task->n; i++) {
        real kink = task->sign[i] - s[i], value = loss(task, s, off, &kink);
        if (value < least) {
            least = value;
            bias[0] = kink;
        }
    }
}

/* ---- the nuclear norm ---- */

/* Singular values and vectors of W (r, c) from the eigenvalues of (0 W; W' 0): each value twice,
 * with both signs. value (r + c), vector (r + c, r + c) as columns. */
static void decompose(const real *w, size_t r, size_t c, real *value, real *vector) {
    size_t n = r + c;
    real *a = zeros(n * n, sizeof *a);
    for (size_t i = 0; i < r; i++) {
        for (size_t j = 0; j < c; j++) {
            a[i * n + r + j] = a[(r + j) * n + i] = w[i * c + j];
        }
    }
    eigen(a, n, value, vector);
    free(a);
}

static real lowered(real value, real tau) {
    return value > tau ? value - tau : value < -tau ? value + tau : 0;
}

real smm_norms(const struct task *task, const real *w) {
    size_t r = task->trial->matrix_rows, c = task->trial->n_features / r, n = r + c;
    real *value = zeros(n + n * n, sizeof *value), sum = 0, squares = 0;
    decompose(w, r, c, value, value + n);
    for (size_t i = 0; i < n; i++) {
        sum += fabsl(value[i]) / 2;
    }
    for (size_t i = 0; i < r * c; i++) {
        squares += w[i] * w[i];
    }
    free(value);
    return squares / 2 + task->tau * sum;
}

void smm_lowered(const struct task *task, const real *a, real *w) {
    size_t r = task->trial->matrix_rows, c = task->trial->n_features / r, n = r + c;
    real *value = zeros(n + n * n, sizeof *value), *vector = value + n;
    memset(w, 0, r * c * sizeof *w);
    for (size_t i = 0; i < task->n; i++) {
        for (size_t j = 0; j < r * c; j++) {
            w[j] += a[i] * task->sign[i] * (real)task->trial->x[i][j];
        }
    }
    decompose(w, r, c, value, vector);
    for (size_t i = 0; i < r; i++) {
        for (size_t j = 0; j < c; j++) {
            w[i * c + j] = 0;
            for (size_t e = 0; e < n; e++) {
                w[i * c + j] +=
                    vector[i * n + e] * lowered(value[e], task->tau) * vector[(r + j) * n + e];
            }
        }
    }
    free(value);
}

/* Of the lowered values' derivative: how G = U g(L) U' moves with the matrix, by the divided
 * differences of g. */
static real divided(real a, real b, real tau) {
    if (fabsl(a - b) > 1e-12L * (fabsl(a) + fabsl(b))) {
        return (lowered(a, tau) - lowered(b, tau)) / (a - b);
    }
    return fabsl(a) > tau ? 1 : 0;
}

/* 1/2 |lowered matrix|^2: gradient <Z_i, lowered>, Hessian <Z_i, derivative along Z_j>, with Z_i =
 * y_i X_i; in the eigenvectors' coordinates the derivative is a product by entries. */
static void add_lowered(const void *context, const real *a, real *gradient, real *hessian) {
    const struct task *task = *(const struct task *const *)context;
    size_t r = task->trial->matrix_rows, c = task->trial->n_features / r, n = r + c, m = task->m;
    real *value = zeros(n + n * n + r * c + 2 * n * n * m, sizeof *value), *vector = value + n;
    real *w = vector + n * n, *turned = w + r * c;
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < r * c; j++) {
            w[j] += a[i] * task->sign[i] * (real)task->trial->x[i][j];
        }
    }
    decompose(w, r, c, value, vector);
    for (size_t v = 0; v < m; v++) {
        real *z = turned + v * n * n;
        for (size_t p = 0; p < n; p++) {
            for (size_t q = 0; q < n; q++) {
                for (size_t i = 0; i < r; i++) {
                    for (size_t j = 0; j < c; j++) {
                        real x = task->sign[v] * (real)task->trial->x[v][i * c + j];
                        z[p * n + q] += x * (vector[i * n + p] * vector[(r + j) * n + q] +
                                             vector[(r + j) * n + p] * vector[i * n + q]);
                    }
                }
            }
            gradient[v] += z[p * n + p] * lowered(value[p], task->tau) / 2;
        }
    }
    for (size_t u = 0; u < m; u++) {
        for (size_t v = 0; v < m; v++) {
            real sum = 0;
            for (size_t e = 0; e < n * n; e++) {
                sum += turned[u * n * n + e] * turned[v * n * n + e] *
                       divided(value[e / n], value[e % n], task->tau);
            }
            hessian[u * m + v] += sum / 2;
        }
    }
    free(value);
}

/* ---- the problem ---- */

bool smm_task(struct task *task, size_t number) {
    const struct trial *trial = task->trial;
    size_t labels = task_labels(task), positives = 0;
    bool squared = trial_is(trial, LOSS, 1);
    unsigned positive = task->label[labels == 2 ? 1 : number];
    task->matrix = trial_is(trial, FORMULATION, 1);
    task->tau = trial_option(trial, TAU);
    task_allocate(task, trial->n, 1);
    for (size_t i = 0; i < trial->n; i++) {
        unsigned label = trial->label[i];
        task->sign[i] = label == positive ? 1 : -1;
        positives += label == positive;
        task->cost[i] = (real)trial_option(trial, COST) *
                        (trial->weighted[label] ? trial->label_weight[label] : 1);
        size_t v = task_variable(task, 1, square_of(task, task->cost[i]),
                                 squared ? INFINITY : task->cost[i], task->cost[i] / 2);
        task_entry(task, i, 0, v, task->sign[i]);
    }
    real *balance = task_equation(task);
    for (size_t i = 0; i < task->m; i++) {
        balance[i] = task->sign[i];
    }
    task->loss = loss;
    task->find_bias = find_bias;
    task->more = task->matrix ? add_lowered : NULL;
    return labels > 1 && positives > 0 && positives < trial->n;
}
