#include "solvers/methods/certify.h"

#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/kernel/linear.h"
#include "common/kernel/rounding.h"
#include "solvers/methods/definite.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double UNIT = DBL_EPSILON / 2;

struct certify {
    const struct problem *problem;
    const struct score_map *map;
    double constant;
    double *reach; /* (n) */
    double factor; /* of the evaluation of one product of rows */
    double trace;  /* sum of the squares of the rows' own reach */
    bool pairs;
};

/* What is known of a function over the rows. */
struct evaluation {
    double *s;             /* (n, k) without a free bias; NULL where it is not kept */
    double *column;        /* (k) |f_c| of linear weights, or sum_i |b_ic| reach_i */
    double norm, rounding; /* |f|^2 and the bound of its error */
    double largest;        /* the largest of column */
    double squares;        /* kernel: sum of squares of the coefficients */
    double factor;         /* a score of row i is within factor reach_i largest of the true one */
    double *reach;         /* linear: (n) that bounds the scores' magnitudes; NULL: the rows' */
    double *first;         /* (k) scores of the first row */
    bool varies;           /* those of another row differ */
    double slack;          /* the largest error of a score */
};

int certify_create(struct certify **certify, const struct problem *problem,
                   const struct score_map *map, double constant, struct error *err) {
    struct certify *made = memory_zeros(1, sizeof *made, "a certificate", err);
    if (!made) {
        return -1;
    }
    const struct kernel linear = {.type = KERNEL_LINEAR};
    struct kernel_rows own = {0};
    const struct kernel_rows *rows = problem->gram ? gram_rows(problem->gram) : &own;
    int status = problem->gram ? 0 : kernel_rows_create(&own, &linear, problem->data, err);
    size_t all = problem->data->n_rows;
    made->problem = problem;
    made->map = map;
    made->constant = constant;
    made->reach = status < 0 ? NULL : memory_array(all, sizeof *made->reach, "norms", err);
    if (!made->reach) {
        kernel_rows_free(&own);
        free(made);
        return -1;
    }
    made->factor = kernel_rounding(rows, made->reach) + 2 * UNIT;
    for (size_t i = 0; problem->rows && i < problem->n; i++) {
        made->reach[i] = made->reach[problem->rows[i]]; /* rows ascend */
    }
    for (size_t i = 0; i < problem->n; i++) {
        made->trace += made->reach[i] * made->reach[i];
        made->reach[i] = hypot(made->reach[i], constant);
    }
    kernel_rows_free(&own);
    *certify = made;
    return 0;
}

void certify_pairs(struct certify *certify, double *reach, double factor) {
    free(certify->reach);
    certify->reach = reach;
    certify->factor = factor;
    certify->pairs = true;
}

void certify_free(struct certify *certify) {
    if (certify) {
        free(certify->reach);
        free(certify);
    }
}

double certify_factor(const struct certify *certify) {
    return certify->factor;
}

const double *certify_reach(const struct certify *certify) {
    return certify->reach;
}

double certify_sum_rounding(size_t m) {
    return ((double)m + 2) * UNIT;
}

/* ---- |f|^2 and scores ---- */

static int overflow(struct error *err) {
    return error_set(err, ERROR_RUNTIME, "scores overflow: scale the data or lower the cost");
}

/* The bound of the error of |w|^2 that errors of the rows' coefficients make, feature by feature:
 * sum_j e_j (2 max_c |w_jc| + e_j), e_j = sum_i error_i |x_ij|. */
static int add_row_errors(const struct certify *certify, size_t k, const struct certify_function *f,
                          double *rounding, struct error *err) {
    const struct data *data = certify->problem->data;
    size_t d = certify->map->dimension;
    double *off = memory_zeros(d, sizeof *off, "a certificate", err), last = 0, most = 0;
    if (!off) {
        return -1;
    }
    for (size_t i = 0; i < data->n_rows; i++) {
        uint64_t at = data->row_start ? data->row_start[i] : (uint64_t)i * data->n_features;
        uint64_t end = data->row_start ? data->row_start[i + 1] : at + data->n_features;
        for (uint64_t v = at; f->error[i] > 0 && v < end; v++) {
            size_t column = data->row_start ? data->column[v] : (size_t)(v - at);
            off[column] += f->error[i] * fabs((double)data->value[v]);
        }
        last += f->error[i] * certify->constant;
    }
    for (size_t j = 0; j < d; j++) {
        double largest = 0;
        for (size_t c = 0; c < k; c++) {
            largest = fmax(largest, fabs(f->weights[j * k + c]));
        }
        *rounding += off[j] * (2 * largest + off[j]);
    }
    for (size_t c = 0; c < k && f->bias && certify->constant > 0; c++) {
        most = fmax(most, fabs(f->bias[c]) / certify->constant);
    }
    *rounding += last * (2 * most + last);
    free(off);
    return 0;
}

/* |w|^2 with the weights of a constant feature; what is known of f but its scores. */
static int evaluate_weights(const struct certify *certify, size_t k,
                            const struct certify_function *f, struct evaluation *out,
                            struct error *err) {
    size_t d = certify->map->dimension;
    out->column = memory_zeros(k, sizeof *out->column, "a certificate", err);
    if (!out->column) {
        return -1;
    }
    for (size_t j = 0; j < d; j++) {
        for (size_t c = 0; c < k; c++) {
            out->column[c] += f->weights[j * k + c] * f->weights[j * k + c];
        }
    }
    for (size_t c = 0; c < k; c++) {
        double last = certify->constant > 0 && f->bias ? f->bias[c] / certify->constant : 0;
        out->column[c] += last * last;
        out->norm += out->column[c];
        out->column[c] = sqrt(out->column[c]) * (1 + 4 * UNIT) + f->norm_error;
        out->largest = fmax(out->largest, out->column[c]);
    }
    double terms = (double)d + (double)k + 4, exact = sqrt(out->norm);
    out->rounding = terms * UNIT * out->norm + (2 * exact + f->norm_error) * f->norm_error;
    out->factor = certify->factor + 2 * UNIT;
    return f->error ? add_row_errors(certify, k, f, &out->rounding, err) : 0;
}

/* |f|^2 of coefficients b with scores s that have the constant feature's part. */
static int evaluate_coefficients(const struct certify *certify, size_t k,
                                 const struct certify_function *f, const double *s,
                                 struct evaluation *out, struct error *err) {
    size_t n = certify->map->n, used = 0;
    const double *reach = certify->reach;
    double magnitude = 0, error = 0;
    out->column = memory_zeros(k, sizeof *out->column, "a certificate", err);
    if (!out->column) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        bool any = false;
        double off = f->error ? f->error[i] : 0;
        for (size_t c = 0; c < k; c++) {
            double b = f->weights[i * k + c], term = b * s[i * k + c];
            any = any || b != 0;
            out->column[c] += fabs(b) * reach[i];
            out->norm += term;
            magnitude += fabs(term);
            out->squares += b * b;
        }
        error += off * reach[i];
        used += any;
    }
    out->factor = certify->factor + ((double)used + 8) * UNIT;
    for (size_t c = 0; c < k; c++) {
        out->rounding += out->factor * out->column[c] * out->column[c];
        out->largest = fmax(out->largest, out->column[c]);
    }
    out->rounding += ((double)n * (double)k + 2) * UNIT * magnitude;
    if (error > 0) {
        double norm = sqrt(fmax(0, out->norm + out->rounding));
        out->rounding += (double)k * error * (2 * norm + (double)k * error);
        out->largest += error;
    }
    return 0;
}

/* The constant feature's part of kernel scores: constant^2 times the sums of the coefficients. */
static void add_constant(const struct certify *certify, size_t k, const double *b, double *s) {
    size_t n = certify->map->n;
    for (size_t c = 0; c < k && certify->constant > 0; c++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            sum += b[i * k + c];
        }
        for (size_t i = 0; i < n; i++) {
            s[i * k + c] += certify->constant * certify->constant * sum;
        }
    }
}

/* Kernel scores of f and g by one product: those of g behind those of f in its rows. Where both have
 * the same weights, g's are f's, and of_g->s is NULL. */
static int kernel_scores_of(const struct certify *certify, size_t k,
                            const struct certify_function *f, const struct certify_function *g,
                            struct evaluation *of_f, struct evaluation *of_g, struct error *err) {
    bool other = g && g->weights != f->weights, both = other && !f->exact;
    size_t n = certify->map->n, outputs = both ? 2 * k : k;
    double *b = both ? memory_array(n, outputs * sizeof *b, "a certificate", err) : NULL;
    double *s = both ? memory_array(n, outputs * sizeof *s, "a certificate", err) : NULL;
    of_f->s = memory_array(n, k * sizeof *s, "a certificate", err);
    of_g->s = other ? memory_array(n, k * sizeof *s, "a certificate", err) : NULL;
    int status = of_f->s && (!other || of_g->s) && (!both || (b && s)) ? 0 : -1;
    for (size_t i = 0; status == 0 && both && i < n; i++) {
        memcpy(b + i * outputs, f->weights + i * k, k * sizeof *b);
        memcpy(b + i * outputs + k, g->weights + i * k, k * sizeof *b);
    }
    if (status == 0 && both) {
        status = certify->map->exact(certify->map, b, outputs, s, err);
    } else if (status == 0) {
        if (f->exact) {
            memcpy(of_f->s, f->exact, n * k * sizeof *s);
        } else {
            status = certify->map->exact(certify->map, f->weights, k, of_f->s, err);
        }
        if (status == 0 && other) {
            status = certify->map->exact(certify->map, g->weights, k, of_g->s, err);
        }
    }
    for (size_t i = 0; status == 0 && both && i < n; i++) {
        memcpy(of_f->s + i * k, s + i * outputs, k * sizeof *s);
        memcpy(of_g->s + i * k, s + i * outputs + k, k * sizeof *s);
    }
    if (status == 0) {
        add_constant(certify, k, f->weights, of_f->s);
        if (other) {
            add_constant(certify, k, g->weights, of_g->s);
        }
    }
    free(b);
    free(s);
    return status;
}

/* reach (n) = sum over the features of a row of |x_ij| times the largest |w_jc|, and of the constant
 * feature: what |x| |w| bounds loosely where features have units of their own. */
static int weigh_rows(const struct certify *certify, size_t k, const struct certify_function *f,
                      double *reach, struct error *err) {
    const struct data *data = certify->problem->data;
    size_t d = certify->map->dimension;
    double *most = memory_zeros(d, sizeof *most, "a certificate", err), last = 0;
    if (!most) {
        return -1;
    }
    for (size_t j = 0; j < d * k; j++) {
        most[j / k] = fmax(most[j / k], fabs(f->weights[j]));
    }
    for (size_t c = 0; f->bias && certify->constant > 0 && c < k; c++) {
        last = fmax(last, fabs(f->bias[c]));
    }
    for (size_t i = 0; i < data->n_rows; i++) {
        uint64_t at = data->row_start ? data->row_start[i] : (uint64_t)i * data->n_features;
        uint64_t end = data->row_start ? data->row_start[i + 1] : at + data->n_features;
        double sum = last;
        for (uint64_t v = at; v < end; v++) {
            size_t column = data->row_start ? data->column[v] : (size_t)(v - at);
            sum += fabs((double)data->value[v]) * most[column];
        }
        reach[i] = sum;
    }
    free(most);
    return 0;
}

int certify_largest_score(const struct certify *certify, size_t k, const struct certify_function *f,
                          double norm, double *largest, struct error *err) {
    size_t n = certify->map->n;
    double *reach = NULL;
    *largest = 0;
    if (certify->map->primal) {
        reach = memory_array(n, sizeof *reach, "a certificate", err);
        if (!reach || weigh_rows(certify, k, f, reach, err) < 0) {
            free(reach);
            return -1;
        }
    }
    for (size_t i = 0; i < n; i++) {
        *largest = fmax(*largest, reach ? reach[i] : norm * certify->reach[i]);
    }
    free(reach);
    return 0;
}

/* ---- the loss ---- */

/* Rows first .. first + n: what is written as bias is added, or where it stands for a constant
 * feature, taken for that feature's part: both are within a rounding of each other. */
static int add_loss(const struct certify *certify, size_t k, const struct certify_function *f,
                    struct evaluation *of_f, const struct certify_family *family, size_t first,
                    size_t n, double *s, double *error, double loss[2], struct error *err) {
    double most_bias = 0, value = 0, rounding = 0;
    bool add = f->bias && (!of_f->s || certify->constant == 0);
    for (size_t c = 0; f->bias && c < k; c++) {
        most_bias = fmax(most_bias, fabs(f->bias[c]));
    }
    for (size_t i = 0; i < n; i++) {
        double reach =
            of_f->reach ? of_f->reach[first + i] : certify->reach[first + i] * of_f->largest;
        double largest = 0;
        for (size_t c = 0; add && c < k; c++) {
            s[i * k + c] += f->bias[c];
        }
        for (size_t c = 0; c < k; c++) {
            largest = fmax(largest, fabs(s[i * k + c]));
        }
        error[i] = of_f->factor * reach + 6 * UNIT * (largest + most_bias);
        if (!isfinite(error[i])) {
            return overflow(err);
        }
        of_f->slack = fmax(of_f->slack, error[i]);
        for (size_t c = 0; c < k; c++) {
            of_f->first[c] = first + i == 0 ? s[i * k + c] : of_f->first[c];
            of_f->varies |= fabs(s[i * k + c] - of_f->first[c]) > 4 * error[i];
        }
    }
    if (family->loss(family->context, first, n, s, error, &value, &rounding, err) < 0) {
        return -1;
    }
    loss[0] += value;
    loss[1] += rounding + UNIT * fabs(loss[0]);
    return 0;
}

static int evaluate_loss(const struct certify *certify, size_t k, const struct certify_function *f,
                         struct evaluation *of_f, const struct certify_family *family,
                         double loss[2], struct error *err) {
    size_t n = certify->map->n;
    size_t block = family->block > 0 && family->block < n ? family->block : n;
    double *error = memory_array(block, sizeof *error, "a certificate", err);
    double *s = of_f->s ? NULL : memory_array(block, k * sizeof *s, "a certificate", err);
    of_f->first = memory_array(k, sizeof *of_f->first, "a certificate", err);
    int status = error && of_f->first && (s || of_f->s) ? 0 : -1;
    if (status == 0 && certify->map->primal) {
        of_f->reach = memory_array(n, sizeof *of_f->reach, "a certificate", err);
        status = of_f->reach ? weigh_rows(certify, k, f, of_f->reach, err) : -1;
    }
    const struct problem *problem = certify->problem;
    for (size_t first = 0; status == 0 && first < n; first += block) {
        size_t m = n - first < block ? n - first : block;
        if (s) {
            if (f->exact) {
                memcpy(s, f->exact + first * k, m * k * sizeof *s);
            } else {
                struct data part = data_part(problem->data, first, m);
                linear_scores(&part, f->weights, certify->map->dimension, k, s, problem->threads);
            }
        }
        status = add_loss(certify, k, f, of_f, family, first, m, s ? s : of_f->s + first * k, error,
                          loss, err);
    }
    if (status == 0 && f->scores && of_f->s) {
        memcpy(f->scores, of_f->s, n * k * sizeof *f->scores);
    }
    free(error);
    free(s);
    return status;
}

/* ---- kernels that may be indefinite ---- */

/* The problem's rows that f or g use. Pair features use whatever rows there are. */
static size_t list_used(const struct certify *certify, size_t k, const struct certify_function *f,
                        const struct certify_function *g, uint32_t *rows) {
    const struct problem *problem = certify->problem;
    size_t m = 0;
    for (size_t i = 0; i < problem->n; i++) {
        bool used = certify->pairs;
        for (size_t c = 0; !used && c < k; c++) {
            used = f->weights[i * k + c] != 0 || (g && g->weights[i * k + c] != 0);
        }
        rows[m] = problem->rows ? problem->rows[i] : (uint32_t)i;
        m += used;
    }
    return m;
}

/* Where the matrix is definite but for a shift of its diagonal, the bounds are those of the shifted
 * kernel: *shift. */
static int check_kernel(const struct certify *certify, size_t k, const struct certify_function *f,
                        const struct certify_function *g, bool *definite, double *shift,
                        struct error *err) {
    const struct problem *problem = certify->problem;
    *definite = true;
    *shift = 0;
    if (!problem->gram || kernel_definite(gram_rows(problem->gram)->kernel)) {
        return 0;
    }
    uint32_t *rows = memory_array(problem->n, sizeof *rows, "a certificate", err);
    if (!rows) {
        return -1;
    }
    size_t m = list_used(certify, k, f, g, rows);
    int status = definite_check(gram_rows(problem->gram), rows, m, definite, shift, err);
    free(rows);
    if (certify->pairs) { /* of K + shift I, the kernel of pairs moves by no more in norm */
        *shift *= 2 * (2 * certify->trace + *shift);
    }
    return status;
}

/* ---- both bounds ---- */

static int evaluate(const struct certify *certify, size_t k, const struct certify_function *f,
                    const struct certify_function *g, struct evaluation *of_f,
                    struct evaluation *of_g, struct error *err) {
    if (certify->map->primal) {
        return evaluate_weights(certify, k, f, of_f, err) < 0 ||
                       (g && evaluate_weights(certify, k, g, of_g, err) < 0)
                   ? -1
                   : 0;
    }
    return kernel_scores_of(certify, k, f, g, of_f, of_g, err) < 0 ||
                   evaluate_coefficients(certify, k, f, of_f->s, of_f, err) < 0 ||
                   (g && evaluate_coefficients(certify, k, g, of_g->s ? of_g->s : of_f->s, of_g,
                                               err) < 0)
               ? -1
               : 0;
}

static void set_gap(struct certificate *certificate) {
    certificate->gap = gap_relative_to(certificate->primal, certificate->dual, certificate->nothing,
                                       certificate->paid);
}

int certify_bounds(struct certify *certify, size_t k, const struct certify_function *f,
                   const struct certify_function *g, const struct certify_family *family,
                   struct certificate *certificate, struct error *err) {
    struct evaluation of_f = {0}, of_g = {0};
    double loss[2] = {0}, shift = 0;
    bool definite = false;
    *certificate = (struct certificate){.nothing = family->nothing};
    int status = evaluate(certify, k, f, g, &of_f, &of_g, err);
    status = status < 0 ? -1 : evaluate_loss(certify, k, f, &of_f, family, loss, err);
    status = status < 0 ? -1 : check_kernel(certify, k, f, g, &definite, &shift, err);
    if (status == 0) {
        const struct evaluation *dual = g ? &of_g : &of_f;
        double norm = of_f.norm + of_f.rounding + shift * of_f.squares;
        double dual_norm = dual->norm + dual->rounding + shift * dual->squares;
        certificate->primal = (0.5 * fmax(0, norm) + loss[0] + loss[1]) * (1 + 4 * UNIT);
        double bound = family->linear - family->linear_rounding - 0.5 * fmax(0, dual_norm);
        bound -= 4 * UNIT * (fabs(family->linear) + fabs(dual_norm));
        certificate->dual = fmax(0, bound);
        certificate->norm = sqrt(fmax(0, of_f.norm));
        certificate->certified = definite;
        certificate->slack = of_f.slack;
        certificate->flat = certify->pairs ? of_f.norm == 0 : !of_f.varies;
        certificate->worse = certificate->primal > family->nothing;
        certificate->primal = fmin(certificate->primal, family->nothing);
        certificate->paid =
            loss[1] + family->linear_rounding + 0.5 * (of_f.rounding + dual->rounding);
        set_gap(certificate);
        if (!isfinite(certificate->primal) || !isfinite(bound)) {
            status = overflow(err);
        }
    }
    free(of_f.s);
    free(of_g.s);
    free(of_f.column);
    free(of_f.first);
    free(of_f.reach);
    free(of_g.column);
    return status;
}

void certify_conclude(const struct certificate *certificate, double epsilon,
                      enum stop_reason reason, struct solution *solution) {
    bool reached = certificate->certified && certificate->gap <= epsilon;
    solution->primal = certificate->primal;
    solution->dual = certificate->certified ? certificate->dual : 0;
    solution->gap = certificate->certified ? certificate->gap : NAN;
    solution->norm = certificate->worse ? 0 : certificate->norm;
    solution->certified = certificate->certified;
    solution->flat = certificate->flat || certificate->worse;
    solution->converged = reached;
    solution->reason = reached                                          ? STOP_REACHED
                       : certificate->certified || stop_limited(reason) ? reason
                                                                        : STOP_INDEFINITE;
}

void certify_sum(const struct certificate *sum, bool convex, struct solution *solution) {
    solution->primal = sum->primal;
    solution->dual = sum->dual;
    solution->gap = gap_relative_to(sum->primal, sum->dual, sum->nothing, sum->paid);
    solution->certified = convex;
    solution->flat = sum->flat;
}

void certify_join(struct certificate *certificate, const struct certificate *other) {
    if (other->certified && other->dual > certificate->dual) {
        certificate->dual = other->dual;
        set_gap(certificate);
    }
}
