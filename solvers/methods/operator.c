#include "solvers/methods/operator.h"

#include "common/base/dispatch.h"
#include "common/kernel/linear.h"
#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

DISPATCH double operator_dot(const double *a, const double *b, size_t n) {
    enum { LANES = 32 };
    double sum[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (size_t k = 0; k < LANES; k++) {
            sum[k] += a[i + k] * b[i + k];
        }
    }
    double total = 0;
    for (; i < n; i++) {
        total += a[i] * b[i];
    }
    for (size_t k = 0; k < LANES; k++) {
        total += sum[k];
    }
    return total;
}

DISPATCH void operator_add(double *restrict y, double factor, const double *restrict x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        y[i] += factor * x[i];
    }
}

int operator_each(const struct operator *operator, const double *weights, size_t n_outputs,
                  double *s, struct error *err) {
    size_t n = operator->n, d = operator->dimension;
    double *column = memory_array(n + d, sizeof *column, "scores", err);
    int status = column ? 0 : -1;
    for (size_t k = 0; status == 0 && k < n_outputs; k++) {
        for (size_t j = 0; j < d; j++) {
            column[j] = weights[j * n_outputs + k];
        }
        status = operator->scores(operator, column, column + d, err);
        for (size_t i = 0; status == 0 && i < n; i++) {
            s[i * n_outputs + k] = column[d + i];
        }
    }
    free(column);
    return status;
}

static int linear_operator_scores(const struct operator *operator, const double *weights,
                                  double *s, struct error *err) {
    (void)err;
    const struct problem *problem = operator->context;
    linear_scores(problem->data, weights, operator->dimension, 1, s, operator->threads);
    return 0;
}

static int linear_operator_adjoint(const struct operator *operator, const double *r,
                                   double *weights, struct error *err) {
    const struct problem *problem = operator->context;
    return linear_adjoint(problem->data, r, weights, operator->threads, err);
}

static int linear_operator_exact(const struct operator *operator, const double *weights,
                                 size_t n_outputs, double *s, struct error *err) {
    (void)err;
    const struct problem *problem = operator->context;
    linear_scores(problem->data, weights, operator->dimension, n_outputs, s, operator->threads);
    return 0;
}

static void linear_operator_release(struct operator *operator) {
    operator->context = NULL;
}

/* A view of some rows of the whole kernel matrix, with room to spread their coefficients. */
struct gram_view {
    const struct problem *problem;
    size_t size;      /* of the whole matrix */
    uint32_t *all;    /* (n) the rows, whether problem->rows is NULL or not */
    double *spread_b; /* (size), zero outside the rows */
    double *spread_s; /* (size) */
};

static int gram_operator_scores(const struct operator *operator, const double *weights, double *s,
                                struct error *err) {
    const struct gram_view *view = operator->context;
    const struct problem *problem = view->problem;
    if (!problem->rows) {
        return gram_product(problem->gram, weights, s, operator->threads, err);
    }
    for (size_t i = 0; i < operator->n; i++) {
        view->spread_b[problem->rows[i]] = weights[i];
    }
    if (gram_product(problem->gram, view->spread_b, view->spread_s, operator->threads, err)) {
        return -1;
    }
    for (size_t i = 0; i < operator->n; i++) {
        s[i] = view->spread_s[problem->rows[i]];
    }
    return 0;
}

static int gram_operator_adjoint(const struct operator *operator, const double *r, double *weights,
                                 struct error *err) {
    (void)err;
    memcpy(weights, r, operator->n * sizeof *weights);
    return 0;
}

static int gram_operator_exact(const struct operator *operator, const double *weights,
                               size_t n_outputs, double *s, struct error *err) {
    const struct gram_view *view = operator->context;
    const struct problem *problem = view->problem;
    if (gram_is_wide(problem->gram)) {
        return operator_each(operator, weights, n_outputs, s, err);
    }
    const struct kernel_rows *all = gram_rows(problem->gram);
    if (!problem->rows) {
        return kernel_scores(all, all, weights, n_outputs, s, operator->threads, err);
    }
    double *b = memory_zeros(view->size, n_outputs * sizeof *b, "coefficients", err);
    double *full = b ? memory_array(view->size, n_outputs * sizeof *full, "scores", err) : NULL;
    int status = -1;
    if (full) {
        for (size_t i = 0; i < operator->n; i++) {
            memcpy(b + problem->rows[i] * n_outputs, weights + i * n_outputs,
                   n_outputs * sizeof *b);
        }
        status = kernel_scores(all, all, b, n_outputs, full, operator->threads, err);
    }
    for (size_t i = 0; status == 0 && i < operator->n; i++) {
        memcpy(s + i * n_outputs, full + problem->rows[i] * n_outputs, n_outputs * sizeof *s);
    }
    free(full);
    free(b);
    return status;
}

static uint32_t gram_row(const struct gram_view *view, size_t i) {
    return view->problem->rows ? view->problem->rows[i] : (uint32_t)i;
}

static int gram_operator_column(const struct operator *operator, uint32_t i, double *column,
                                struct error *err) {
    const struct gram_view *view = operator->context;
    uint32_t row = gram_row(view, i);
    return gram_block(view->problem->gram, view->all, operator->n, &row, 1, column, err);
}

static int gram_operator_diagonal(const struct operator *operator, double *diagonal,
                                  struct error *err) {
    (void)err;
    const struct gram_view *view = operator->context;
    const struct kernel_rows *rows = gram_rows(view->problem->gram);
    for (size_t i = 0; i < operator->n; i++) {
        diagonal[i] = kernel_value(rows, view->all[i], rows, view->all[i]);
    }
    return 0;
}

static void gram_operator_release(struct operator *operator) {
    struct gram_view *view = operator->context;
    if (view) {
        free(view->all);
        free(view->spread_b);
        free(view->spread_s);
        free(view);
        operator->context = NULL;
    }
}

int operator_create(struct operator *operator, const struct problem *problem, struct error *err) {
    *operator = (struct operator){
        .n = problem->n,
        .dimension = problem->data->n_features,
        .primal = true,
        .context = (void *)(uintptr_t)problem,
        .threads = problem->threads,
        .scores = linear_operator_scores,
        .adjoint = linear_operator_adjoint,
        .exact = linear_operator_exact,
        .release = linear_operator_release,
    };
    if (!problem->gram) {
        return 0;
    }
    struct gram_view *view = memory_zeros(1, sizeof *view, "a kernel view", err);
    if (!view) {
        return -1;
    }
    view->problem = problem;
    view->size = gram_size(problem->gram);
    operator->dimension = problem->n;
    operator->primal = false;
    operator->context = view;
    operator->scores = gram_operator_scores;
    operator->adjoint = gram_operator_adjoint;
    operator->exact = gram_operator_exact;
    operator->release = gram_operator_release;
    operator->column = gram_operator_column;
    operator->diagonal = gram_operator_diagonal;
    view->all = memory_array(problem->n, sizeof *view->all, "a kernel view", err);
    for (size_t i = 0; view->all && i < problem->n; i++) {
        view->all[i] = gram_row(view, i);
    }
    if (problem->rows && view->all) {
        view->spread_b = memory_zeros(view->size, sizeof *view->spread_b, "coefficients", err);
        view->spread_s = memory_array(view->size, sizeof *view->spread_s, "scores", err);
    }
    if (!view->all || (problem->rows && (!view->spread_b || !view->spread_s))) {
        gram_operator_release(operator);
        return -1;
    }
    return 0;
}

void operator_free(struct operator *operator) {
    if (operator->release) {
        operator->release(operator);
        operator->release = NULL;
    }
}
