/* The bounds of the kernel engine: coefficients and scores of alpha, and what they prove. */
#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/kernel/rounding.h"
#include "families/mc/solver/certify.h"
#include "families/mc/solver/kernel_descent_private.h"
#include "families/mc/solver/rescaling.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Less of the gap that is wanted is not worth a better multiple of W. */
static const double LEAST_GAIN = 0.1;

/* Most times that W is made longer, and how many times what rounding it anew has cost. */
enum { STRETCHES = 3 };
static const double FURTHER = 2;

void mc_kernel_row_coefficients(const struct mc_kernel *kernel, size_t i, const double *alpha,
                                double *b) {
    const struct mc_task *task = kernel->task;
    double mean = 0;
    mc_coefficients(&task->shape, task->y[i], alpha, b);
    for (size_t c = 0; task->shape.form->centred && c < kernel->k; c++) {
        mean += b[c] / (double)kernel->k;
    }
    for (size_t c = 0; c < kernel->k; c++) {
        b[c] -= mean;
    }
}

/* b (k) = the coefficients of row i's alpha, which is made feasible. */
static void take_coefficients(struct mc_kernel *kernel, size_t i, double *b) {
    const struct mc_task *task = kernel->task;
    double cap = kernel->cap[task->y[i]];
    double sum = task->shape.form->maximum ? mc_alpha_sum(&kernel->alpha, i) : 0;
    if (sum > cap) { /* by rounding: at a small cost it is more than the gap allows */
        mc_alpha_scale(&kernel->alpha, i, cap / sum);
    }
    mc_alpha_load(&kernel->alpha, i, kernel->row);
    mc_kernel_row_coefficients(kernel, i, kernel->row, b);
}

void mc_kernel_coefficients(struct mc_kernel *kernel) {
    for (size_t i = 0; i < kernel->n; i++) {
        take_coefficients(kernel, i, kernel->B + i * kernel->k);
    }
}

/* Losses of all rows at theta F, of a line. */
static double losses(void *context, double theta, double *slope) {
    const struct mc_kernel *kernel = context;
    const struct mc_task *task = kernel->task;
    double loss = 0;
    *slope = 0;
    for (size_t i = 0; i < kernel->n; i++) {
        size_t y = task->y[i];
        double along;
        loss += kernel->cap[y] *
                mc_loss_along(&task->shape, y, kernel->F + i * kernel->k, theta, &along);
        *slope += kernel->cap[y] * along;
    }
    return loss;
}

void mc_kernel_primal(struct mc_kernel *kernel, double epsilon) {
    struct mc_line line = {.norm = kernel->norm, .losses = losses, .context = kernel};
    double wanted = kernel->dual / (1 - epsilon);
    kernel->scale = mc_scale(&line, wanted, LEAST_GAIN * (wanted - kernel->dual), &kernel->primal);
}

/* Both bounds from F = K B. */
static int bounds(struct mc_kernel *kernel, double epsilon, struct error *err) {
    const struct mc_task *task = kernel->task;
    double sum = 0;
    kernel->norm = array_dot(kernel->B, kernel->F, kernel->n * kernel->k);
    for (size_t i = 0; i < kernel->n; i++) {
        sum += kernel->q[i] > 0 ? mc_alpha_sum(&kernel->alpha, i)
                                : kernel->cap[task->y[i]] * mc_most(&task->shape);
    }
    kernel->dual = sum - kernel->norm / 2;
    mc_kernel_primal(kernel, epsilon);
    return isfinite(kernel->primal)
               ? 0
               : error_set(err, ERROR_RUNTIME, "scores overflow: scale the data or lower the cost");
}

/* ---- how far F is off ---- */

/* Double is nothing beside float, see columns_rounding: of scores in double, and of all that is
 * done to F in double, this part of the coefficients' sizes is at most as much of `relative` as
 * they are off. */
static const double DOUBLE = 0x1p-16;

/* The sum of the coefficients' sizes, of those that cancel in a row too. */
static double size_of_all(const struct mc_kernel *kernel) {
    double sum = 0;
    for (size_t i = 0; i < kernel->n; i++) {
        sum += mc_alpha_sum(&kernel->alpha, i);
    }
    double square = kernel->task->bias * kernel->task->bias;
    return 2 * fmax(1, kernel->task->shape.margin) * (1 + square) * sum;
}

/* What F is off by at the least, over `relative`, with rows whose coefficients add up to `size`. */
static double least_moved(const struct mc_kernel *kernel, double size) {
    return DOUBLE * (1 + (double)kernel->n * 0x1p-20) * size;
}

int mc_kernel_watch(struct mc_kernel *kernel, struct error *err) {
    const struct problem *problem = kernel->task->problem;
    const struct kernel_rows *rows = gram_rows(problem->gram);
    size_t n = kernel->n, all = rows->data->n_rows;
    double *relative = memory_array(all, sizeof *relative, "bounds of rounding", err);
    if (!relative) {
        return -1;
    }
    if (!kernel->map.exact_at || !kernel_rounding_float(rows, relative)) {
        free(relative);
        return 0;
    }
    for (size_t i = 0; i < n; i++) { /* rows ascend */
        relative[i] = relative[problem->rows ? problem->rows[i] : i];
        relative[i] += columns_rounding(kernel->columns) * (1 + relative[i]);
    }
    kernel->relative = relative;
    kernel->moved = memory_zeros(n, sizeof *kernel->moved, "bounds of rounding", err);
    return kernel->moved ? 0 : -1;
}

void mc_kernel_rescaled(struct mc_kernel *kernel, double ratio) {
    double size = kernel->moved ? least_moved(kernel, size_of_all(kernel)) : 0;
    for (size_t i = 0; kernel->moved && i < kernel->n; i++) {
        kernel->moved[i] = ratio * kernel->moved[i] + size;
    }
}

/* ---- scores that go along ---- */

/* F += the columns set[0..m) times the first k of `width` numbers in each row of change, at rows
 * at[0..n). The last, the largest size of the others, goes to `moved`. */
static int add_columns(struct mc_kernel *kernel, size_t m, const double *change, size_t width,
                       const uint32_t *at, size_t n, struct error *err) {
    size_t k = kernel->k, all = kernel->n;
    if (width == k) {
        return columns_multiply(kernel->columns, kernel->set, m, change, k, at, n, kernel->F, err);
    }
    double *both = memory_array(all, width * sizeof *both, "scores", err), size = 0;
    for (size_t i = 0; both && i < all; i++) {
        memcpy(both + i * width, kernel->F + i * k, k * sizeof *both);
        both[i * width + k] = 0;
    }
    int status =
        both ? columns_multiply(kernel->columns, kernel->set, m, change, width, at, n, both, err)
             : -1;
    for (size_t a = 0; a < m; a++) {
        size += change[a * width + k];
    }
    double square = kernel->task->bias * kernel->task->bias;
    double least =
        least_moved(kernel, (1 + square) * size); /* and more than values that are 0 in float */
    for (size_t i = 0; status == 0 && i < all; i++) {
        memcpy(kernel->F + i * k, both + i * width, k * sizeof *both);
        kernel->moved[i] += 1.02 * both[i * width + k] + least;
    }
    free(both);
    return status;
}

/* Brings B up to what alpha is now. set: the *m rows where it was not; *change (*m, width), the
 * caller's to free: by how much, with the largest size of a row's behind it where width has
 * room. */
static int bring_up_coefficients(struct mc_kernel *kernel, size_t width, double **change, size_t *m,
                                 struct error *err) {
    size_t k = kernel->k;
    *m = 0;
    for (size_t i = 0; i < kernel->n; i++) {
        take_coefficients(kernel, i, kernel->u);
        if (memcmp(kernel->u, kernel->B + i * k, k * sizeof *kernel->u) != 0) {
            kernel->set[(*m)++] = (uint32_t)i;
        }
    }
    *change = memory_zeros(*m, width * sizeof **change, "coefficients", err);
    for (size_t a = 0; *change && a < *m; a++) {
        double *b = kernel->B + kernel->set[a] * k, *row = *change + a * width;
        take_coefficients(kernel, kernel->set[a], kernel->u);
        for (size_t c = 0; c < k; c++) {
            row[c] = kernel->u[c] - b[c];
            if (width > k) {
                row[k] = fmax(row[k], fabs(row[c]));
            }
        }
        memcpy(b, kernel->u, k * sizeof *b);
    }
    return *change ? 0 : -1;
}

/* The rows that are not ahead: none is then. The caller frees them. */
static uint32_t *list_behind(struct mc_kernel *kernel, size_t *n, struct error *err) {
    uint32_t *behind = memory_array(kernel->n, sizeof *behind, "rows", err);
    *n = 0;
    for (size_t i = 0; behind && i < kernel->n; i++) {
        if (!kernel->ahead[i]) {
            behind[(*n)++] = (uint32_t)i;
        }
        kernel->ahead[i] = false;
    }
    return behind;
}

/* Brings B, and F = K B, up to what alpha is now. */
static int bring_up(struct mc_kernel *kernel, struct error *err) {
    size_t k = kernel->k, width = k + (kernel->moved != NULL), m, n;
    double square = kernel->task->bias * kernel->task->bias, *change = NULL;
    uint32_t *behind = list_behind(kernel, &n, err);
    int status = behind ? bring_up_coefficients(kernel, width, &change, &m, err) : -1;
    if (status == 0 && square > 0) {
        memset(kernel->s, 0, k * sizeof *kernel->s);
        for (size_t a = 0; a < m; a++) {
            array_add(kernel->s, square, change + a * width, k);
        }
        for (size_t i = 0; i < n; i++) {
            array_add(kernel->F + behind[i] * k, 1, kernel->s, k);
        }
    }
    if (status == 0 && m > 0) {
        status = add_columns(kernel, m, change, width, n < kernel->n ? behind : NULL, n, err);
    }
    free(change);
    free(behind);
    return status;
}

int mc_kernel_refresh(struct mc_kernel *kernel, double epsilon, struct error *err) {
    return bring_up(kernel, err) < 0 ? -1 : bounds(kernel, epsilon, err);
}

/* ---- certificates ---- */

/* The part of the constant feature in the scores of U (n, k), (k); NULL without one, or without
 * memory. */
static double *bias_of(const struct mc_kernel *kernel, const double *U, struct error *err) {
    size_t k = kernel->k;
    double square = kernel->task->bias * kernel->task->bias;
    double *bias = kernel->task->bias > 0 ? memory_zeros(k, sizeof *bias, "bias", err) : NULL;
    for (size_t j = 0; bias && j < kernel->n * k; j++) {
        bias[j % k] += square * U[j];
    }
    return bias;
}

/* The fit's weights and bias: scale times those of U (n, k) and `bias`. */
static int set_weights(const struct mc_kernel *kernel, const double *U, const double *bias,
                       struct mc_fit *fit, struct error *err) {
    size_t size = kernel->n * kernel->k;
    free(fit->weights);
    free(fit->bias);
    fit->weights = memory_array(size, sizeof(double), "coefficients", err);
    fit->bias = bias ? memory_array(kernel->k, sizeof(double), "bias", err) : NULL;
    if (!fit->weights || (bias && !fit->bias)) {
        return -1;
    }
    for (size_t j = 0; j < size; j++) {
        fit->weights[j] = kernel->scale * U[j];
    }
    for (size_t c = 0; bias && c < kernel->k; c++) {
        fit->bias[c] = kernel->scale * bias[c];
    }
    return 0;
}

/* With scores (2, n, k): those of alpha, the second, serve for both points; NULL: they are
 * computed. error: what those of the first may be off by besides; NULL: nothing. */
static int certify_scores(const struct mc_kernel *kernel, const double *bias, const double *scores,
                          const double *error, struct mc_fit *fit, struct error *err) {
    const struct mc_task *task = kernel->task;
    struct mc_dual dual = {.alpha = &kernel->alpha,
                           .weights = kernel->B,
                           .bias = bias,
                           .exact = {scores, scores ? scores + kernel->n * kernel->k : NULL},
                           .q = kernel->q,
                           .error = error,
                           .enough = kernel->epsilon,
                           .lengthen = true};
    return mc_certify(task, kernel->cost, &dual, NULL, fit, err);
}

/* Takes the scores (2, n, k) of alpha at row i into F, and to those of the primal point. */
static void take_scores(struct mc_kernel *kernel, const double *bias, size_t i, double *scores) {
    size_t k = kernel->k;
    double *primal = scores + i * k, *dual = scores + (kernel->n + i) * k;
    for (size_t c = 0; c < k; c++) {
        primal[c] = kernel->scale * dual[c];
        kernel->F[i * k + c] = dual[c] + (bias ? bias[c] : 0);
    }
}

/* Exact scores of alpha at the rows at[0..n_at), taken into F. */
static int exact_at(struct mc_kernel *kernel, const double *bias, const uint32_t *at, size_t n_at,
                    double *scores, struct error *err) {
    double *dual = scores + kernel->n * kernel->k;
    if (n_at > 0 && kernel->map.exact_at(&kernel->map, kernel->B, kernel->k, at, n_at, dual, err)) {
        return -1;
    }
    double moved = least_moved(kernel, size_of_all(kernel));
    for (size_t a = 0; a < n_at; a++) {
        take_scores(kernel, bias, at[a], scores);
        kernel->moved[at[a]] = moved;
    }
    return 0;
}

/* Whether row i may have a loss at the multiple of W at hand, with scores off by `error`. */
static bool may_lose(struct mc_kernel *kernel, size_t i, double error) {
    for (size_t c = 0; c < kernel->k; c++) {
        kernel->s[c] = kernel->scale * kernel->F[i * kernel->k + c];
    }
    return mc_may_lose(&kernel->task->shape, kernel->task->y[i], kernel->s, error, kernel->u);
}

/* Scores of the rows at[0..*n) from F, and their errors; those that may have a loss stay in the
 * list, and have none then. */
static void take_running(struct mc_kernel *kernel, const double *bias, double *scores,
                         double *error, uint32_t *at, size_t *n) {
    size_t k = kernel->k, left = 0;
    for (size_t a = 0; a < *n; a++) {
        size_t i = at[a];
        double *primal = scores + i * k, *dual = scores + (kernel->n + i) * k;
        for (size_t c = 0; c < k; c++) {
            dual[c] = kernel->F[i * k + c] - (bias ? bias[c] : 0);
            primal[c] = kernel->scale * dual[c];
        }
        error[i] = fmax(DBL_MIN, kernel->scale * kernel->relative[i] * kernel->moved[i]);
        if (!isfinite(error[i]) || may_lose(kernel, i, 1.01 * error[i])) {
            error[i] = 0;
            at[left++] = (uint32_t)i;
        }
    }
    *n = left;
}

/* F anew, in float, from the coefficients of the rows set[0..m), at those of at[0..n_at) that have
 * no loss if it is right: by how much it may be off has added up, or is not known. */
static int sum_anew(struct mc_kernel *kernel, const double *bias, size_t m, const uint32_t *at,
                    size_t n_at, struct error *err) {
    size_t k = kernel->k, n = 0;
    uint32_t *rows = memory_array(n_at, sizeof *rows, "rows", err);
    for (size_t a = 0; rows && a < n_at; a++) {
        size_t i = at[a];
        if (may_lose(kernel, i, 0)) {
            continue;
        }
        rows[n++] = (uint32_t)i;
        for (size_t c = 0; c < k; c++) {
            kernel->F[i * k + c] = bias ? bias[c] : 0;
        }
        kernel->moved[i] = 0;
    }
    size_t used = n > 0 ? m : 0;
    double *b = memory_zeros(used, (k + 1) * sizeof *b, "coefficients", err);
    for (size_t a = 0; b && a < used; a++) {
        double *row = b + a * (k + 1);
        memcpy(row, kernel->B + kernel->set[a] * k, k * sizeof *row);
        for (size_t c = 0; c < k; c++) {
            row[k] = fmax(row[k], fabs(row[c]));
        }
    }
    int status = !rows || !b ? -1 : n == 0 ? 0 : add_columns(kernel, used, b, k + 1, rows, n, err);
    free(b);
    free(rows);
    return status;
}

/* Puts others[0..n) between set[0..m); both ascend. */
static void merge(uint32_t *set, size_t m, const uint32_t *others, size_t n) {
    while (n > 0) {
        bool own = m > 0 && set[m - 1] > others[n - 1];
        set[m + n - 1] = own ? set[m - 1] : others[n - 1];
        m -= own;
        n -= !own;
    }
}

/* Exact scores where there are coefficients, and where there may be a loss; elsewhere those that
 * went along will do, or sums in float. error (n) */
static int certify_some(struct mc_kernel *kernel, const double *bias, double epsilon,
                        double *scores, double *error, struct mc_fit *fit, struct error *err) {
    size_t k = kernel->k, n = 0, m = 0;
    uint32_t *others = memory_array(kernel->n, sizeof *others, "rows", err);
    for (size_t i = 0; others && i < kernel->n; i++) {
        bool any = false;
        for (size_t c = 0; c < k; c++) {
            any = any || kernel->B[i * k + c] != 0;
        }
        error[i] = 0;
        if (any) {
            kernel->set[m++] = (uint32_t)i;
        } else {
            others[n++] = (uint32_t)i;
        }
    }
    int status = others ? 0 : -1;
    if (status == 0) {
        take_running(kernel, bias, scores, error, others, &n);
        status = sum_anew(kernel, bias, m, others, n, err);
    }
    if (status == 0) {
        take_running(kernel, bias, scores, error, others, &n);
        merge(kernel->set, m, others, n); /* at once: they share columns */
        status = exact_at(kernel, bias, kernel->set, m + n, scores, err);
    }
    status = status < 0 ? -1 : certify_scores(kernel, bias, scores, error, fit, err);
    n = 0;
    for (size_t i = 0; status == 0 && fit->certificate.gap > epsilon && i < kernel->n; i++) {
        if (error[i] > 0) {
            others[n++] = (uint32_t)i;
        }
    }
    status = status < 0 ? -1 : exact_at(kernel, bias, others, n, scores, err);
    free(others);
    return status;
}

/* Exact scores everywhere. */
static int certify_all(struct mc_kernel *kernel, const double *bias, double *scores,
                       struct mc_fit *fit, struct error *err) {
    double *dual = scores + kernel->n * kernel->k;
    if (kernel->map.exact(&kernel->map, kernel->B, kernel->k, dual, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < kernel->n; i++) {
        take_scores(kernel, bias, i, scores);
    }
    return certify_scores(kernel, bias, scores, NULL, fit, err);
}

/* A primal point and the dual one, alpha. */
struct points {
    const double *U, *bias;  /* (n, k), and (k) of the constant feature or NULL */
    const double *dual_bias; /* (k) of B or NULL */
    double *scores;          /* (2, n, k) exact ones of U's fit and of B, or NULL; for U = B */
};

static int certify_scaled(struct mc_kernel *kernel, const struct points *points, double scale,
                          struct mc_fit *fit, struct error *err) {
    size_t size = kernel->n * kernel->k;
    kernel->scale = scale;
    for (size_t j = 0; points->scores && j < size; j++) {
        points->scores[j] = scale * points->scores[size + j];
    }
    return set_weights(kernel, points->U, points->bias, fit, err) < 0
               ? -1
               : certify_scores(kernel, points->dual_bias, points->scores, NULL, fit, err);
}

/* Margins that rounding leaves short cost C times what they lack, and next to nothing if W is
 * longer by as much. Longer coefficients are rounded anew, and leave others short: then somewhat
 * longer still. */
static int stretch(struct mc_kernel *kernel, const struct points *points, double epsilon,
                   struct mc_fit *fit, struct error *err) {
    struct certificate best = fit->certificate;
    double scale = kernel->scale, next = scale * best.length;
    int status = 0;
    for (int t = 0; t < STRETCHES && status == 0 && next > kernel->scale && best.gap > epsilon;
         t++) {
        status = certify_scaled(kernel, points, next, fit, err);
        next = kernel->scale * (1 + FURTHER * (fit->certificate.length - 1));
        bool better = fit->primal < best.primal;
        scale = better ? kernel->scale : scale;
        certify_join(better ? &fit->certificate : &best, better ? &best : &fit->certificate);
        best = better ? fit->certificate : best;
    }
    if (status == 0 && kernel->scale != scale) {
        kernel->scale = scale;
        status = set_weights(kernel, points->U, points->bias, fit, err);
    }
    fit->certificate = best;
    fit->primal = best.primal;
    fit->dual = best.dual;
    return status;
}

/* What the primal is above that of scores in double has been lost to their rounding, and to that of
 * the coefficients. */
static void blame(double primal, struct mc_fit *fit) {
    fit->certificate.lost = fmax(0, fit->primal - primal);
}

int mc_kernel_certify(struct mc_kernel *kernel, double epsilon, struct mc_fit *fit,
                      struct error *err) {
    size_t size = kernel->n * kernel->k;
    bool some = kernel->moved != NULL;
    double own = kernel->primal;
    if (some) { /* B is what F is of */
        if (bring_up(kernel, err) < 0) {
            return -1;
        }
    } else {
        mc_kernel_coefficients(kernel);
    }
    double *bias = bias_of(kernel, kernel->B, err);
    double *scores = memory_array(size, 2 * sizeof *scores, "scores", err);
    double *error = memory_array(kernel->n, sizeof *error, "scores", err);
    const struct points points = {kernel->B, bias, bias, scores};
    int status = scores && error && (bias || kernel->task->bias == 0) &&
                         set_weights(kernel, kernel->B, bias, fit, err) == 0
                     ? 0
                     : -1;
    if (status == 0) {
        status = some ? certify_some(kernel, bias, epsilon, scores, error, fit, err)
                      : certify_all(kernel, bias, scores, fit, err);
    }
    status = status < 0 || stretch(kernel, &points, epsilon, fit, err) < 0
                 ? -1
                 : bounds(kernel, epsilon, err);
    if (status == 0 && kernel->exact) { /* else it is the solver's precision */
        blame(own, fit);
    }
    free(error);
    free(scores);
    free(bias);
    return status;
}

int mc_kernel_certify_point(struct mc_kernel *kernel, const double *primal, const double *scores,
                            double own, struct mc_fit *fit, struct error *err) {
    bool constant = kernel->task->bias > 0;
    double *bias = bias_of(kernel, primal, err), *dual_bias = bias_of(kernel, kernel->B, err);
    const struct points points = {primal, bias, dual_bias, NULL};
    kernel->scale = 1;
    int status = (constant && (!bias || !dual_bias)) ||
                         set_weights(kernel, primal, bias, fit, err) < 0 ||
                         certify_scores(kernel, dual_bias, scores, NULL, fit, err) < 0 ||
                         stretch(kernel, &points, kernel->epsilon, fit, err) < 0
                     ? -1
                     : 0;
    if (status == 0) {
        blame(own, fit);
    }
    free(bias);
    free(dual_bias);
    return status;
}
