/* Evaluation of functions at the rows in double, with a priori bounds of the errors. */
#include "fit/certify_private.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/kernel/linear.h"
#include "common/kernel/rounding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds the error of |w|^2 that errors of the rows' coefficients cause, feature by feature:
 * sum_j e_j (2 max_c |w_jc| + e_j), e_j = sum_i error_i |x_ij|. */
static int add_row_errors(const struct certify *certify, const double *largest,
                          struct certify_evaluation *out, struct error *err) {
    const struct certify_function *f = out->function;
    const struct data *data = certify->problem->data;
    size_t d = certify->map->dimension;
    double *error_by_feature = memory_zeros(d, sizeof *error_by_feature, "a certificate", err),
           bias_error = 0, max_bias_weight = 0;
    if (!error_by_feature || linear_adjoint_sizes(data, f->error, error_by_feature,
                                                  certify->problem->threads, err) < 0) {
        free(error_by_feature);
        return -1;
    }
    for (size_t i = 0; i < data->n_rows; i++) {
        bias_error += f->error[i] * certify->constant;
    }
    cluster_sum(certify->map->cluster, error_by_feature, d);
    bias_error = cluster_total(certify->map->cluster, bias_error);
    for (size_t j = 0; j < d; j++) {
        out->rounding += error_by_feature[j] * (2 * largest[j] + error_by_feature[j]);
    }
    for (size_t c = 0; c < out->k && f->bias && certify->constant > 0; c++) {
        max_bias_weight = fmax(max_bias_weight, fabs(f->bias[c]) / certify->constant);
    }
    out->rounding +=
        bias_error * (2 * max_bias_weight + bias_error) + 3 * ((double)d + 1) * CERTIFY_UNDERFLOW;
    free(error_by_feature);
    return 0;
}

/* |w|^2, the weights of a constant feature included, and the largest weight of each feature. */
static int evaluate_norm(const struct certify *certify, struct certify_evaluation *out,
                         struct error *err) {
    const struct certify_function *f = out->function;
    size_t d = certify->map->dimension, k = out->k;
    double *square = memory_zeros(k, sizeof *square, "a certificate", err);
    out->feature_max = memory_array(d, sizeof *out->feature_max, "a certificate", err);
    if (!square || !out->feature_max) {
        free(square);
        return -1;
    }
    for (size_t j = 0; j < d; j++) {
        const double *w = f->weights + j * k;
        for (size_t c = 0; c < k; c++) {
            square[c] += w[c] * w[c];
        }
        out->feature_max[j] = array_largest(w, k);
    }
    for (size_t c = 0; c < k; c++) {
        double last = certify->constant > 0 && f->bias ? f->bias[c] / certify->constant : 0;
        out->squared_norm += square[c] + last * last;
    }
    free(square);
    return 0;
}

/* Evaluates linear weights, without their scores. `same`: the evaluation of a function with the
 * same weights, or NULL. */
static int evaluate_weights(const struct certify *certify, const struct certify_evaluation *same,
                            struct certify_evaluation *out, struct error *err) {
    const struct certify_function *f = out->function;
    size_t k = out->k;
    if (!same && evaluate_norm(certify, out, err) < 0) {
        return -1;
    }
    out->squared_norm = same ? same->squared_norm : out->squared_norm;
    double terms = (double)certify->map->dimension + (double)k + 4, exact = sqrt(out->squared_norm);
    out->rounding =
        terms * CERTIFY_UNIT * out->squared_norm + (2 * exact + f->norm_error) * f->norm_error;
    out->factor = certify->factor + 2 * CERTIFY_UNIT;
    const double *largest = same ? same->feature_max : out->feature_max;
    bool last = certify->constant > 0 && f->bias && array_largest(f->bias, k) > 0;
    if (last || array_largest(largest, certify->map->dimension) > 0) {
        out->rounding += 4 * terms * (double)k * CERTIFY_UNDERFLOW;
    }
    return f->error ? add_row_errors(certify, largest, out, err) : 0;
}

void certify_set_rounding(const struct certify *certify, struct certify_evaluation *out) {
    size_t k = out->k;
    double entries = 0;
    out->rounding = out->largest = 0;
    for (size_t c = 0; c < k; c++) {
        out->rounding += out->factor * out->column[c] * out->column[c];
        out->largest = fmax(out->largest, out->column[c]);
    }
    for (size_t j = 0; out->error && j < certify->map->n * k; j++) {
        entries += fabs(out->function->weights[j]) * out->error[j / k];
    }
    out->rounding = out->error ? fmin(out->rounding, entries) : out->rounding;
    if (out->largest > 0) {
        out->rounding += 4 * ((double)certify->map->n + 1) * (double)k * CERTIFY_UNDERFLOW;
    }
    out->rounding += out->summing;
    if (out->coefficient_error > 0) {
        double norm = sqrt(fmax(0, out->squared_norm + out->rounding));
        out->rounding +=
            (double)k * out->coefficient_error * (2 * norm + (double)k * out->coefficient_error);
        out->largest += out->coefficient_error;
    }
}

/* Corrects |f|^2 for the bias. The scores contain the bias in place of constant^2 times the sum of
 * the coefficients, so its term in |f|^2 is bias^2 / constant^2, not bias times that sum. */
static void correct_bias(const struct certify *certify, size_t n, struct certify_evaluation *out) {
    const struct certify_function *f = out->function;
    double square = certify->constant * certify->constant;
    size_t k = out->k;
    for (size_t c = 0; c < k && f->bias && square > 0; c++) {
        double sum = 0, size = 0, bias = f->bias[c];
        for (size_t i = 0; i < n; i++) {
            sum += f->weights[i * k + c];
            size += fabs(f->weights[i * k + c]);
        }
        double difference = bias - square * sum, rounding = ((double)n + 4) * CERTIFY_UNIT * size;
        if (fabs(difference) >
            square * rounding) { /* else the error factor of the scores covers it */
            out->squared_norm += bias * (difference / square);
            out->summing += fabs(bias) * (rounding + 8 * CERTIFY_UNIT * (fabs(bias) / square));
        }
    }
}

/* The rounding errors of one unit that each term of a score has, if `used` rows have coefficients.
 * The constant feature's sum of all coefficients adds them in turn. */
static double score_units(const struct certify *certify, size_t used) {
    bool plain = certify->constant > 0;
    return (double)(plain ? used : gram_exact_additions(certify->problem->gram, used));
}

/* The rows that have the coefficients of a function. */
struct terms {
    size_t n;
    const double *norm_bound; /* (n) */
    const double *s;          /* (n, k) scores there, which include the constant feature */
    double factor;            /* error factor of a score; 0: that of the problem's rows */
};

static struct terms terms_of_rows(const struct certify *certify, const double *s) {
    return (struct terms){.n = certify->map->n, .norm_bound = certify->norm_bound, .s = s};
}

/* |f|^2 of coefficients. */
static int evaluate_coefficients(const struct certify *certify, struct terms terms,
                                 struct certify_evaluation *out, struct error *err) {
    const struct certify_function *f = out->function;
    size_t n = terms.n, k = out->k, used = 0;
    const double *norm_bound = terms.norm_bound, *s = terms.s;
    out->column = memory_zeros(k, sizeof *out->column, "a certificate", err);
    if (!out->column) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        bool any = false;
        double own_error = f->error ? f->error[i] : 0;
        for (size_t c = 0; c < k; c++) {
            double b = f->weights[i * k + c], term = b * s[i * k + c];
            any = any || b != 0;
            out->column[c] += fabs(b) * norm_bound[i];
            out->squared_norm += term;
            out->summing += ((double)n * (double)k + 2) * CERTIFY_UNIT * fabs(term);
        }
        out->coefficient_error += own_error * norm_bound[i];
        used += any;
    }
    correct_bias(certify, n, out);
    /* the error factor of pairs includes the rounding of their sums */
    double units = certify->pair ? 0 : score_units(certify, used) + 8;
    out->factor = terms.factor > 0 ? terms.factor : certify->factor + units * CERTIFY_UNIT;
    certify_set_rounding(certify, out);
    return 0;
}

/* Adds the constant feature to kernel scores s (n, k): the bias if there is one, else constant^2
 * times the sums of the n_terms coefficients. */
static void add_constant(const struct certify *certify, size_t k, const struct certify_function *f,
                         size_t n_terms, double *s, size_t n) {
    for (size_t c = 0; c < k && certify->constant > 0; c++) {
        double sum = 0;
        for (size_t i = 0; i < n_terms; i++) {
            sum += f->weights[i * k + c];
        }
        double added = f->bias ? f->bias[c] : certify->constant * certify->constant * sum;
        for (size_t i = 0; i < n; i++) {
            s[i * k + c] += added;
        }
    }
}

bool certify_other(const struct certify_evaluation *f, const struct certify_evaluation *g) {
    return g && g->function->weights != f->function->weights;
}

/* of->s: the exact scores of its function, given or computed. */
static int exact_scores(const struct certify *certify, struct certify_evaluation *of,
                        struct error *err) {
    const struct certify_function *function = of->function;
    if (function->exact) {
        memcpy(of->s, function->exact, certify->map->n * of->k * sizeof *of->s);
        return 0;
    }
    return certify->map->exact(certify->map, function->weights, of->k, of->s, err);
}

/* Kernel scores of f and g by one product, with the columns of g after those of f. If both have the
 * same weights, of_g->s is NULL. */
static int kernel_scores_of(const struct certify *certify, struct certify_evaluation *of_f,
                            struct certify_evaluation *of_g, struct error *err) {
    const struct certify_function *f = of_f->function, *g = of_g ? of_g->function : NULL;
    bool other = certify_other(of_f, of_g);
    size_t n = certify->map->n, k = of_f->k;
    of_f->s = memory_array(n, k * sizeof *of_f->s, "a certificate", err);
    if (other) {
        of_g->s = memory_array(n, k * sizeof *of_g->s, "a certificate", err);
    }
    if (!of_f->s || (other && !of_g->s)) {
        return -1;
    }
    int status = other && !f->exact ? score_map_exact_two(certify->map, f->weights, g->weights, k,
                                                          of_f->s, of_g->s, err)
                 : exact_scores(certify, of_f, err) < 0 ? -1
                 : other                                ? exact_scores(certify, of_g, err)
                                                        : 0;
    if (status == 0) {
        add_constant(certify, k, f, n, of_f->s, n);
        if (other) {
            add_constant(certify, k, g, n, of_g->s, n);
        }
    }
    return status;
}

/* norm_bound (n) = sum over a row's features of |x_ij| times the largest |w_jc|, feature_max (d),
 * plus the constant feature. |x| |w| is a loose bound if features have different units. */
static void bound_scores(const struct certify *certify, size_t k, const struct certify_function *f,
                         const double *feature_max, double *norm_bound) {
    const struct problem *problem = certify->problem;
    double last = 0;
    for (size_t c = 0; f->bias && certify->constant > 0 && c < k; c++) {
        last = fmax(last, fabs(f->bias[c]));
    }
    linear_sizes(problem->data, feature_max, certify->map->dimension, norm_bound, problem->threads);
    for (size_t i = 0; i < problem->data->n_rows; i++) {
        norm_bound[i] += last;
    }
}

int certify_score_bound(const struct certify *certify, size_t k, const struct certify_function *f,
                        double *largest, struct error *err) {
    bool linear = certify->map->primal;
    size_t n = certify->map->n;
    struct certify_evaluation of_f = {.function = f, .k = k};
    double *bound = memory_array(n, sizeof *bound, "a certificate", err);
    int status = !bound ? -1
                 : linear
                     ? evaluate_norm(certify, &of_f, err)
                     : evaluate_coefficients(certify, terms_of_rows(certify, f->exact), &of_f, err);
    if (status == 0 && linear) {
        bound_scores(certify, k, f, of_f.feature_max, bound);
    }
    *largest = 0;
    for (size_t i = 0; status == 0 && i < n; i++) {
        double error = of_f.factor * of_f.largest + of_f.coefficient_error;
        bound[i] =
            linear ? bound[i] : array_largest(f->exact + i * k, k) + certify->norm_bound[i] * error;
        *largest = fmax(*largest, bound[i]);
    }
    *largest = cluster_largest(certify->map->cluster, *largest);
    certify_evaluation_free(&of_f);
    free(bound);
    return status;
}

/* ---- the loss ---- */

/* Adds the loss of rows first .. first + n, with the bias added to scores that do not include
 * it. */
static int add_loss(const struct certify *certify, struct certify_evaluation *of_f,
                    const struct certify_family *family, size_t first, size_t n, double *s,
                    double *error, double loss[2], struct error *err) {
    const struct certify_function *f = of_f->function;
    size_t k = of_f->k;
    double max_bias = 0, value = 0, rounding = 0;
    bool add = f->bias && (!of_f->s || (certify->constant == 0 && !of_f->biased));
    for (size_t c = 0; f->bias && c < k; c++) {
        max_bias = fmax(max_bias, fabs(f->bias[c]));
    }
    for (size_t i = 0; i < n; i++) {
        double norm_bound = of_f->norm_bound ? of_f->norm_bound[first + i]
                                             : certify->norm_bound[first + i] * of_f->largest;
        for (size_t c = 0; add && c < k; c++) {
            s[i * k + c] += f->bias[c];
        }
        double largest = array_largest(s + i * k, k);
        error[i] = of_f->factor * norm_bound;
        error[i] = of_f->error ? fmin(error[i], of_f->error[first + i]) : error[i];
        error[i] += 6 * CERTIFY_UNIT * (largest + max_bias);
        error[i] += ((double)certify->map->dimension + 4) * CERTIFY_UNDERFLOW;
        if (!isfinite(error[i])) {
            return stop_overflow(err);
        }
        of_f->score_error = fmax(of_f->score_error, error[i]);
        of_f->first_error = first + i == 0 ? error[i] : of_f->first_error;
        for (size_t c = 0; c < k; c++) {
            of_f->first[c] = first + i == 0 ? s[i * k + c] : of_f->first[c];
            of_f->varies |=
                fabs(s[i * k + c] - of_f->first[c]) > 2 * (error[i] + of_f->first_error);
        }
    }
    if (family->loss(family->context, first, n, s, error, &value, &rounding, err) < 0) {
        return -1;
    }
    loss[0] += value;
    loss[1] += rounding + CERTIFY_UNIT * fabs(loss[0]);
    return 0;
}

/* Sums the loss over processes, and finds whether scores vary over all rows. */
static int reduce_over_processes(struct cluster *cluster, size_t n, struct certify_evaluation *of_f,
                                 double loss[2], struct error *err) {
    size_t k = of_f->k;
    if (!cluster) {
        return 0;
    }
    /* The largest and, negated, the smallest of the processes' first scores; the slack; whether the
     * scores of one process vary. */
    double *maxima = memory_array(k + 1, 2 * sizeof *maxima, "a certificate", err);
    if (!maxima) {
        return -1;
    }
    for (size_t c = 0; c < k; c++) {
        maxima[2 * c] = n > 0 ? of_f->first[c] : -INFINITY;
        maxima[2 * c + 1] = n > 0 ? -of_f->first[c] : -INFINITY;
    }
    maxima[2 * k] = of_f->score_error;
    maxima[2 * k + 1] = of_f->varies;
    cluster_max(cluster, maxima, 2 * k + 2);
    of_f->score_error = maxima[2 * k];
    of_f->varies = maxima[2 * k + 1] > 0;
    for (size_t c = 0; c < k; c++) {
        of_f->varies |= maxima[2 * c] + maxima[2 * c + 1] > 4 * of_f->score_error;
    }
    free(maxima);
    cluster_sum(cluster, loss, 2);
    loss[1] += (double)cluster_size(cluster) * CERTIFY_UNIT * (fabs(loss[0]) + loss[1]);
    return 0;
}

void certify_linear_scores(const struct certify *certify, const struct certify_evaluation *f,
                           size_t first, size_t n, double *s) {
    const struct problem *problem = certify->problem;
    const struct certify_function *function = f->function;
    if (function->exact) {
        memcpy(s, function->exact + first * f->k, n * f->k * sizeof *s);
    } else {
        struct data part = data_view(problem->data, first, n);
        linear_scores(&part, function->weights, certify->map->dimension, f->k, s, problem->threads);
    }
}

int certify_evaluate_loss(const struct certify *certify, struct certify_evaluation *of_f,
                          const struct certify_family *family, double loss[2], struct error *err) {
    const struct certify_function *f = of_f->function;
    size_t n = certify->map->n, k = of_f->k;
    size_t block = family->block > 0 && family->block < n ? family->block : n;
    bool keep = of_f->s || family->compute_scaling;
    double *error = memory_array(keep ? n : block, sizeof *error, "a certificate", err);
    double *s = of_f->s ? NULL : memory_array(block, k * sizeof *s, "a certificate", err);
    free(of_f->first);
    of_f->first = memory_array(k, sizeof *of_f->first, "a certificate", err);
    of_f->score_error = 0;
    of_f->varies = false;
    int status = error && of_f->first && (s || of_f->s) ? 0 : -1;
    if (status == 0 && certify->map->primal) {
        of_f->norm_bound = memory_array(n, sizeof *of_f->norm_bound, "a certificate", err);
        status = of_f->norm_bound ? 0 : -1;
    }
    if (status == 0 && of_f->norm_bound) {
        bound_scores(certify, k, f, of_f->feature_max, of_f->norm_bound);
    }
    size_t first = 0, m;
    do { /* also once with no rows: a loss may communicate */
        m = n - first < block ? n - first : block;
        if (status == 0 && s) {
            certify_linear_scores(certify, of_f, first, m, s);
        }
        status = status < 0 ? -1
                            : add_loss(certify, of_f, family, first, m, s ? s : of_f->s + first * k,
                                       error + (keep ? first : 0), loss, err);
        first += m;
    } while (status == 0 && first < n);
    if (status == 0) {
        status = reduce_over_processes(certify->map->cluster, n, of_f, loss, err);
    }
    of_f->biased = true;
    if (keep) {
        free(of_f->loss_error);
        of_f->loss_error = error;
    } else {
        free(error);
    }
    free(s);
    return status;
}

/* Scores and |f|^2 of coefficients of points that are no rows. */
static int evaluate_points(const struct certify *certify, struct certify_evaluation *of,
                           struct error *err) {
    const struct certify_function *f = of->function;
    const struct problem *problem = certify->problem;
    const struct kernel_rows *x = gram_rows(problem->gram);
    size_t n = certify->map->n, m = f->points->n_rows, all = x->data->n_rows, k = of->k;
    struct kernel_rows z;
    if (kernel_rows_create(&z, x->kernel, f->points, err) < 0) {
        return -1;
    }
    double *norm_bound, *own, *scores;
    void *block = ARRAYS_CREATE("a certificate", err, ARRAYS(m, double, &norm_bound),
                                ARRAYS(m * k, double, &own), ARRAYS(all * k, double, &scores));
    of->s = memory_array(n, k * sizeof *of->s, "a certificate", err);
    int status = block && of->s ? 0 : -1;
    if (status == 0 && (kernel_scores(x, &z, f->weights, k, scores, problem->threads, err) < 0 ||
                        kernel_scores(&z, &z, f->weights, k, own, problem->threads, err) < 0)) {
        status = -1;
    }
    if (status == 0) {
        kernel_norm_bounds(&z, norm_bound);
        for (size_t a = 0; a < m; a++) {
            norm_bound[a] = hypot(norm_bound[a], certify->constant);
        }
        for (size_t i = 0; i < n; i++) {
            memcpy(of->s + i * k, scores + (problem->rows ? problem->rows[i] : i) * k,
                   k * sizeof *scores);
        }
        add_constant(certify, k, f, m, of->s, n);
        add_constant(certify, k, f, m, own, m);
        const struct terms terms = {m, norm_bound, own,
                                    kernel_rounding(x, &z) + ((double)m + 10) * CERTIFY_UNIT};
        status = evaluate_coefficients(certify, terms, of, err);
    }
    free(block);
    kernel_rows_free(&z);
    return status;
}

/* Scores and |f|^2 of kernel functions. */
static int evaluate_rows(const struct certify *certify, struct certify_evaluation *f,
                         struct certify_evaluation *g, struct error *err) {
    if (kernel_scores_of(certify, f, g, err) < 0 ||
        evaluate_coefficients(certify, terms_of_rows(certify, f->s), f, err) < 0) {
        return -1;
    }
    const double *s = g && g->s ? g->s : f->s;
    return g ? evaluate_coefficients(certify, terms_of_rows(certify, s), g, err) : 0;
}

int certify_evaluate(const struct certify *certify, struct certify_evaluation *f,
                     struct certify_evaluation *g, struct error *err) {
    if (certify->map->primal) {
        bool same = g && !certify_other(f, g) && g->function->bias == f->function->bias;
        return evaluate_weights(certify, NULL, f, err) < 0 ||
                       (g && evaluate_weights(certify, same ? f : NULL, g, err) < 0)
                   ? -1
                   : 0;
    }
    if (f->function->points) { /* g is another function */
        return evaluate_points(certify, f, err) < 0 || evaluate_rows(certify, g, NULL, err) < 0 ? -1
                                                                                                : 0;
    }
    return evaluate_rows(certify, f, g, err);
}

/* ---- entrywise error bounds ---- */

/* size (rows of the data), with stride `stride`, = the largest |coefficient| of each row. Returns
 * their sum and adds to *used the number of nonzero ones. */
static double coefficient_sizes(const struct certify *certify, const struct certify_evaluation *f,
                                size_t stride, double *size, size_t *used) {
    const uint32_t *rows = certify->problem->rows;
    double sum = 0;
    for (size_t i = 0; i < certify->map->n; i++) {
        double largest = array_largest(f->function->weights + i * f->k, f->k);
        size[(rows ? rows[i] : i) * stride] = largest;
        sum += largest;
        *used += largest > 0;
    }
    return sum;
}

/* Stores the errors of the problem's rows, from those of all rows of the data with stride `stride`,
 * plus the error of the constant feature. */
static int set_errors(const struct certify *certify, size_t stride, const double *error,
                      double constant, struct certify_evaluation *out, struct error *err) {
    const uint32_t *rows = certify->problem->rows;
    size_t n = certify->map->n;
    out->error = memory_array(n, sizeof *out->error, "a certificate", err);
    for (size_t i = 0; out->error && i < n; i++) {
        out->error[i] = error[(rows ? rows[i] : i) * stride] + constant;
    }
    if (!out->error) {
        return -1;
    }
    certify_set_rounding(certify, out);
    return 0;
}

int certify_sharpen_entrywise(const struct certify *certify, struct certify_evaluation *f,
                              struct certify_evaluation *g, bool *sharper, struct error *err) {
    const struct problem *problem = certify->problem;
    bool other = certify_other(f, g);
    size_t all = problem->data->n_rows, stride = other ? 2 : 1, used = 0, used_g = 0;
    double square = certify->constant * certify->constant;
    double *size = memory_zeros(all, 2 * stride * sizeof *size, "a certificate", err);
    *sharper = true;
    if (!size) {
        return -1;
    }
    double *error = size + stride * all, sum = coefficient_sizes(certify, f, stride, size, &used);
    double sum_g = other ? coefficient_sizes(certify, g, stride, size + 1, &used_g) : sum;
    double units = score_units(certify, larger(used, used_g)) + 10; /* of their sum */
    double part = square * units * CERTIFY_UNIT;
    int status = gram_rounding_scores(problem->gram, units, size, stride, error, problem->threads,
                                      err) < 0 ||
                         set_errors(certify, stride, error, part * sum, f, err) < 0 ||
                         (g && set_errors(certify, stride, error + (other ? 1 : 0), part * sum_g, g,
                                          err) < 0)
                     ? -1
                     : 0;
    free(size);
    return status;
}

void certify_evaluation_free(struct certify_evaluation *evaluation) {
    free(evaluation->s);
    free(evaluation->column);
    free(evaluation->first);
    free(evaluation->error);
    free(evaluation->loss_error);
    free(evaluation->norm_bound);
    free(evaluation->feature_max);
}
