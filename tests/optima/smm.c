#include "tests/optima/gram.h"
#include "tests/optima/task.h"

#include <stdlib.h>

static num loss(const struct task *task, const num *s, const num *off, const num *bias) {
    num sum = n_of(0);
    for (size_t i = 0; i < task->n; i++) {
        num margin = n_multiply(n_of(task->sign[i]), n_add(s[i], bias[0]));
        num u = n_add(n_subtract(n_of(1), margin), off[i]);
        sum = n_plus(sum, n_of(task->cost[i]), hinge(task, u));
    }
    return sum;
}

/* Hinge: the loss is piecewise linear in the bias, with a breakpoint per row, and the best one is
 * found. Squared hinge: the multiplier, as accurate as the point. */
static void find_bias(const struct task *task, const num *y, const num *s, const num *off,
                      num *bias) {
    bias[0] = y[0];
    num least = loss(task, s, off, bias);
    for (size_t i = 0; i < task->n; i++) {
        num kink = n_subtract(n_of(task->sign[i]), s[i]), value = loss(task, s, off, &kink);
        if (n_compare(value, least) < 0) {
            least = value;
            bias[0] = kink;
        }
    }
}

/* ---- the nuclear norm ---- */

/* Singular values and vectors of W (r, c) from the eigenvalues of (0 W; W' 0), which are the
 * singular values with both signs. value (r + c), vector (r + c, r + c) as columns. */
static void decompose(const num *w, size_t r, size_t c, num *value, num *vector) {
    size_t n = r + c;
    num *a = n_zeros(n * n);
    for (size_t i = 0; i < r; i++) {
        for (size_t j = 0; j < c; j++) {
            a[i * n + r + j] = a[(r + j) * n + i] = w[i * c + j];
        }
    }
    eigen(a, n, value, vector);
    free(a);
}

static num lowered(num value, real tau) {
    num low = n_maximum(n_of(0), n_subtract(n_absolute(value), n_of(tau)));
    return n_positive(value) ? low : n_negative(low);
}

num smm_norms(const struct task *task, const num *w) {
    size_t r = task->trial->matrix_rows, c = task->trial->n_features / r, n = r + c;
    num *value = n_zeros(n + n * n), sum = n_of(0), half = n_of(0.5L);
    decompose(w, r, c, value, value + n);
    for (size_t i = 0; i < n; i++) {
        sum = n_plus(sum, n_of(task->tau / 2), n_absolute(value[i]));
    }
    for (size_t i = 0; i < r * c; i++) {
        sum = n_plus(sum, half, n_multiply(w[i], w[i]));
    }
    free(value);
    return sum;
}

/* w (features) = sum_i a_i y_i X_i. */
static void sum_up(const struct task *task, const num *a, num *w) {
    for (size_t j = 0; j < task->trial->n_features; j++) {
        w[j] = n_of(0);
        for (size_t i = 0; i < task->n; i++) {
            w[j] = n_plus(w[j], a[i], n_of(task->sign[i] * (real)task->trial->x[i][j]));
        }
    }
}

void smm_lowered(const struct task *task, const num *a, num *w) {
    size_t r = task->trial->matrix_rows, c = task->trial->n_features / r, n = r + c;
    num *value = n_zeros(n + n * n), *vector = value + n;
    sum_up(task, a, w);
    decompose(w, r, c, value, vector);
    for (size_t j = 0; j < r * c; j++) {
        w[j] = n_of(0);
        for (size_t e = 0; e < n; e++) {
            num left = n_multiply(vector[j / c * n + e], vector[(r + j % c) * n + e]);
            w[j] = n_plus(w[j], lowered(value[e], task->tau), left);
        }
    }
    free(value);
}

/* The divided difference of soft thresholding g, which gives the derivative of G = U g(L) U'. */
static num divided(num a, num b, real tau) {
    num apart = n_subtract(a, b), size = n_add(n_absolute(a), n_absolute(b));
    if (n_compare(n_absolute(apart), n_multiply(n_of(1e-12L), size)) > 0) {
        return n_divide(n_subtract(lowered(a, tau), lowered(b, tau)), apart);
    }
    return n_of(n_compare(n_absolute(a), n_of(tau)) > 0);
}

/* The term 1/2 |G|^2 of the soft-thresholded matrix G: gradient <Z_i, G>, Hessian <Z_i, derivative
 * of G along Z_j>, with Z_i = y_i X_i. In the eigenvectors' coordinates the derivative is an
 * entrywise product. */
static void add_lowered(const void *context, const num *a, num *gradient, num *hessian) {
    const struct task *task = *(const struct task *const *)context;
    size_t r = task->trial->matrix_rows, c = task->trial->n_features / r, n = r + c, m = task->m;
    num *value = n_zeros(n + n * n + r * c + n * n * m), *vector = value + n, half = n_of(0.5L);
    num *w = vector + n * n, *turned = w + r * c;
    sum_up(task, a, w);
    decompose(w, r, c, value, vector);
    for (size_t v = 0; v < m; v++) {
        num *z = turned + v * n * n;
        for (size_t e = 0; e < n * n; e++) {
            size_t p = e / n, q = e % n;
            for (size_t j = 0; j < r * c; j++) {
                const num *left = vector + j / c * n, *right = vector + (r + j % c) * n;
                num x = n_of(task->sign[v] * (real)task->trial->x[v][j]);
                z[e] = n_plus(z[e], x, n_plus(n_multiply(left[p], right[q]), right[p], left[q]));
            }
        }
        for (size_t p = 0; p < n; p++) {
            num part = n_multiply(half, lowered(value[p], task->tau));
            gradient[v] = n_plus(gradient[v], z[p * n + p], part);
        }
    }
    for (size_t e = 0; e < n * n; e++) {
        num part = n_multiply(half, divided(value[e / n], value[e % n], task->tau));
        for (size_t h = 0; h < m * m; h++) {
            num product = n_multiply(turned[h / m * n * n + e], turned[h % m * n * n + e]);
            hessian[h] = n_plus(hessian[h], part, product);
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
                        (trial->weighted[label] ? trial->label_weight[label] : 1) *
                        (trial->row_weights ? trial->weight[i] : 1);
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
