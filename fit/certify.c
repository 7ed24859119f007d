/* Both bounds of a certificate, and how solutions report them. */
#include "fit/certify_private.h"

#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/double_double/exactness.h"
#include "common/kernel/rounding.h"
#include "fit/definiteness.h"

#include <math.h>
#include <stdlib.h>

/* Sharper rounding-error bounds are computed if the bounds exceed this fraction of the gap. */
static const double SHARPEN = 0.1;
/* Scaling factors 1 + x of f that are tried: x from MIN_INCREMENT to MAX_INCREMENT by factors of
 * COARSE, then by factors of FINE between the neighbours of the best one. A factor is reported only
 * if it lowers the gap by at least the fraction MIN_GAIN. */
static const double MIN_INCREMENT = 1e-15, MAX_INCREMENT = 0.1, COARSE = 8, FINE = 1.3,
                    MIN_GAIN = 0.1;

/* The row of the data, from 0, with the largest norm bound; norm_bound (n). */
static size_t largest_row(const struct problem *problem, const double *norm_bound) {
    size_t largest = 0;
    for (size_t i = 1; i < problem->n; i++) {
        largest = norm_bound[i] > norm_bound[largest] || isnan(norm_bound[i]) ? i : largest;
    }
    return problem->rows ? problem->rows[largest] : largest;
}

/* Computes the norm bounds by row of the problem, without the constant feature. */
static void compute_reach(struct certify *certify) {
    const struct problem *problem = certify->problem;
    if (problem->gram) {
        kernel_norm_bounds(gram_rows(problem->gram), certify->norm_bound);
    } else {
        const struct kernel linear = {.type = KERNEL_LINEAR};
        const struct kernel_rows rows = {
            .kernel = &linear, .data = problem->data, .norm = certify->norm_bound};
        kernel_squares(problem->data, certify->norm_bound);
        kernel_norm_bounds(&rows, certify->norm_bound);
    }
    for (size_t i = 0; problem->rows && i < problem->n; i++) {
        certify->norm_bound[i] = certify->norm_bound[problem->rows[i]]; /* rows ascend */
    }
}

/* Adds the constant feature to the norm bounds. */
static void add_constant_feature(struct certify *certify) {
    for (size_t i = 0; i < certify->problem->n; i++) {
        certify->norm_bound[i] = hypot(certify->norm_bound[i], certify->constant);
    }
    certify->measured = true;
}

/* Fails if the trace of the kernel matrix is not finite. */
static int check_trace(const struct certify *certify, struct error *err) {
    double trace = 0;
    for (size_t i = 0; i < certify->problem->n; i++) {
        trace += certify->norm_bound[i] * certify->norm_bound[i];
    }
    if (!isfinite(trace)) {
        return error_set(err, ERROR_RUNTIME,
                         "kernel values overflow, row %zu has the largest: scale the features "
                         "(--scale std), or lower gamma or degree",
                         largest_row(certify->problem, certify->norm_bound) + 1);
    }
    return 0;
}

int certify_create(struct certify **certify, const struct problem *problem,
                   const struct score_map *map, double constant, struct error *err) {
    if (!dd_is_exact()) {
        return error_set(
            err, ERROR_RUNTIME,
            "no certificate: this build contracts or reorders double-double arithmetic: "
            "compile files named *_dd.c with -ffp-contract=off and without -ffast-math");
    }
    struct certify *made = memory_zeros(1, sizeof *made, "a certificate", err);
    if (!made) {
        return -1;
    }
    const struct kernel linear = {.type = KERNEL_LINEAR};
    const struct kernel_rows own = {.kernel = &linear, .data = problem->data};
    const struct kernel_rows *rows = problem->gram ? gram_rows(problem->gram) : &own;
    made->problem = problem;
    made->map = map;
    made->constant = constant;
    made->work = CERTIFY_WORK;
    made->norm_bound = memory_array(problem->data->n_rows, sizeof *made->norm_bound, "norms", err);
    int status = made->norm_bound ? 0 : -1;
    if (status == 0 && problem->gram) { /* finite with the linear kernel, whose values are floats */
        compute_reach(made);
        status = check_trace(made, err);
        add_constant_feature(made);
    }
    if (status < 0) {
        certify_free(made);
        return -1;
    }
    made->factor = kernel_rounding(rows, rows) + 2 * CERTIFY_UNIT;
    made->factor = cluster_largest(map->cluster, made->factor);
    *certify = made;
    return 0;
}

void certify_pairs(struct certify *certify, double *norm_bound, double factor,
                   struct certify_pair *pair) {
    certify->row_norm_bound = certify->norm_bound;
    certify->norm_bound = norm_bound;
    certify->factor = factor;
    certify->pair = pair;
}

void certify_set_pair_factor(struct certify *certify, double factor) {
    certify->factor = factor;
}

void certify_raise_work_limit(struct certify *certify, double nanoseconds) {
    certify->work = fmax(CERTIFY_WORK, nanoseconds);
}

void certify_free(struct certify *certify) {
    if (certify) {
        free(certify->norm_bound);
        free(certify->row_norm_bound);
        free(certify->pair);
        free(certify->shift);
        free(certify);
    }
}

double certify_error_factor(const struct certify *certify) {
    return certify->factor;
}

const double *certify_norm_bounds(struct certify *certify) {
    if (!certify->measured) {
        compute_reach(certify);
        add_constant_feature(certify);
    }
    return certify->norm_bound;
}

double certify_coefficient_rounding(size_t m) {
    return ((double)m + 2) * CERTIFY_UNIT;
}

void certify_total_add(struct certify_total *total, double a, double b) {
    const double whole = 0x1p-960; /* below it the rounding error of a product may underflow */
    double product = a * b, sum = total->sum + product, part = sum - total->sum;
    bool exact = (a == 0 || b == 0 || product >= whole) && fma(a, b, -product) == 0 &&
                 (total->sum - (sum - part)) + (product - part) == 0;
    total->rounded = total->rounded || !exact;
    total->sum = sum;
    total->n++;
}

void certify_total_over_processes(struct certify_total *total, struct cluster *cluster) {
    if (cluster) { /* whole numbers below 2^53 have exact sums */
        total->rounded = cluster_any(cluster, total->rounded || total->sum != floor(total->sum));
        total->n = cluster_count(cluster, total->n);
        total->sum = cluster_total(cluster, total->sum);
        total->rounded = total->rounded || total->sum >= 1 / CERTIFY_UNIT;
    }
}

double certify_total_times(const struct certify_total *total, double factor) {
    struct certify_total all = *total;
    all.sum = 0;
    certify_total_add(&all, factor, total->sum);
    double n = (double)all.n + 2;
    return all.rounded ? all.sum * (1 + 2 * n * CERTIFY_UNIT) + n * CERTIFY_UNDERFLOW : all.sum;
}

/* ---- kernels that may be indefinite ---- */

/* Checks once whether the matrix over all rows of the problem is positive semidefinite up to a
 * shift of its diagonal. The rows with nonzero coefficients are not enough: a model with other rows
 * could then have a primal below the dual bound. Both norms are those of the shifted kernel, the
 * scores those of the plain one (definiteness.h). */
static int check_kernel(struct certify *certify, struct error *err) {
    const struct problem *problem = certify->problem;
    if (certify->checked) {
        return 0;
    }
    certify->definite = !problem->gram || kernel_definite(gram_rows(problem->gram)->kernel);
    if (!certify->definite) {
        const double *norm_bound = certify->pair ? certify->row_norm_bound : certify->norm_bound;
        uint32_t *rows = memory_array(problem->n, sizeof *rows, "a certificate", err);
        certify->shift = memory_array(problem->n, sizeof *certify->shift, "a certificate", err);
        for (size_t i = 0; rows && i < problem->n; i++) {
            rows[i] = problem->rows ? problem->rows[i] : (uint32_t)i;
        }
        int status = rows && certify->shift
                         ? definite_check(gram_rows(problem->gram), rows, norm_bound, problem->n,
                                          &certify->definite, certify->shift, err)
                         : -1;
        free(rows);
        if (status < 0) {
            return -1;
        }
        if (!certify->definite) {
            free(certify->shift);
            certify->shift = NULL;
        }
    }
    certify->checked = true;
    return 0;
}

int certify_definite(struct certify *certify, bool *definite, struct error *err) {
    if (check_kernel(certify, err) < 0) {
        return -1;
    }
    *definite = certify->definite;
    return 0;
}

/* *added += what the shift adds to |f|^2 for pair features. With the skew matrix S of the pairs'
 * coefficients b and E added to K's diagonal, <S, K S K> grows by 2 <S, K S E> + <S, E S E>. The
 * bound uses S_j'K S_j <= (sum of |S_ij| norm_bound_i)^2, where norm_bound_i^2 is a bound of K_ii,
 * or K_ii + E_ii itself since K + E is positive semidefinite. */
static int shift_norm_of_pairs(const struct certify *certify, const double *b, double *added,
                               struct error *err) {
    const struct problem *problem = certify->problem;
    const struct kernel_rows *rows = gram_rows(problem->gram);
    const double *shift = certify->shift;
    size_t n = problem->n;
    double *size = memory_zeros(n, 2 * sizeof *size, "a certificate", err);
    double *norm_bound = size ? size + n : NULL;
    for (size_t i = 0; size && i < n; i++) {
        size_t row = problem->rows ? problem->rows[i] : i;
        double own = fabs(kernel_value(rows, row, rows, row)) + shift[i];
        norm_bound[i] = fmin(certify->row_norm_bound[i], sqrt(own) * CERTIFY_UP);
    }
    for (size_t p = 0; size && p < certify->map->n; p++) {
        struct certify_pair pair = certify->pair[p];
        size[pair.one] += fabs(b[p]) * norm_bound[pair.other];
        size[pair.other] += fabs(b[p]) * norm_bound[pair.one];
        *added += 2 * b[p] * b[p] * shift[pair.one] * shift[pair.other];
    }
    for (size_t i = 0; size && i < n; i++) {
        *added += 2 * shift[i] * size[i] * size[i];
    }
    free(size);
    return size ? 0 : -1;
}

/* *added: what the shift adds to |f|^2. */
static int shift_norm(const struct certify *certify, const struct certify_evaluation *f,
                      double *added, struct error *err) {
    const double *b = f->function->weights;
    *added = 0;
    if (!certify->shift) {
        return 0;
    }
    if (certify->pair) {
        return shift_norm_of_pairs(certify, b, added, err);
    }
    for (size_t i = 0; i < certify->map->n * f->k; i++) {
        *added += b[i] * b[i] * certify->shift[i / f->k];
    }
    return 0;
}

/* ---- both bounds ---- */

void certify_compare(struct certificate *certificate) {
    double primal = certificate->primal, dual = certificate->dual;
    if (certificate->certified && !(isfinite(primal) && dual <= primal)) {
        certificate->certified = false;
        certificate->failed = isfinite(primal) ? STOP_CONTRADICTORY : STOP_INFINITE;
    }
    certificate->gap =
        gap_relative_to(primal, dual, certificate->zero_primal, certificate->rounding);
}

/* A certificate in progress. */
struct inputs {
    const struct certify_family *family;
    struct certify_evaluation f, g; /* g.function NULL: g is f */
    double f_shift, g_shift;
    double bound; /* the dual bound, which may be below 0 */
};

/* max(x, 0); NaN stays NaN. */
static double not_below_zero(double x) {
    return x < 0 ? 0 : x;
}

/* Computes both bounds from the evaluations of both points. */
static int compute_bounds(struct certify *certify, struct inputs *inputs,
                          struct certificate *certificate, struct error *err) {
    const struct certify_family *family = inputs->family;
    const struct certify_evaluation *f = &inputs->f, *g = inputs->g.function ? &inputs->g : f;
    double loss[2] = {0};
    *certificate = (struct certificate){.zero_primal = family->zero_primal};
    if (certify_evaluate_loss(certify, &inputs->f, family, loss, err) < 0) {
        return -1;
    }
    double squared_norm = f->squared_norm + f->rounding + inputs->f_shift;
    double dual_squared_norm = g->squared_norm + g->rounding + inputs->g_shift;
    certificate->primal =
        (0.5 * not_below_zero(squared_norm) + loss[0] + loss[1]) * (1 + 4 * CERTIFY_UNIT);
    certificate->primal += certificate->primal > 0 ? 4 * CERTIFY_UNDERFLOW : 0;
    double bound =
        family->linear - family->linear_rounding - 0.5 * not_below_zero(dual_squared_norm);
    bound -=
        4 * CERTIFY_UNIT * (fabs(family->linear) + fabs(dual_squared_norm)) + 4 * CERTIFY_UNDERFLOW;
    inputs->bound = bound;
    certificate->dual = fmax(0, bound);
    certificate->norm = sqrt(fmax(0, f->squared_norm));
    certificate->certified = certify->definite;
    certificate->score_error = f->score_error;
    certificate->constant_scores = certify->pair ? f->squared_norm == 0 : !f->varies;
    certificate->zero_is_better = !(certificate->primal <= family->zero_primal);
    certificate->primal = fmin(certificate->primal, family->zero_primal);
    certificate->rounding = loss[1] + family->linear_rounding +
                            0.5 * (f->rounding + g->rounding + inputs->f_shift + inputs->g_shift);
    certificate->scaling = 1;
    certify_compare(certificate);
    bool finite = isfinite(certificate->primal) && isfinite(family->zero_primal) && isfinite(bound);
    return finite ? 0 : stop_overflow(err);
}

/* Computes sharper error bounds of kernel values if they are a large part of the gap. There are
 * none for weights and for pairs. */
static int sharpen(struct certify *certify, struct inputs *inputs, certify_look *evaluate,
                   struct certificate *certificate, struct error *err) {
    bool sharper;
    double g_rounding = 0.5 * (inputs->g.function ? inputs->g : inputs->f).rounding;
    double paid = certificate->rounding - inputs->family->linear_rounding -
                  0.5 * (inputs->f_shift + inputs->g_shift) - g_rounding;
    paid += fmin(g_rounding, fmax(0, inputs->bound + 2 * g_rounding) - certificate->dual);
    bool possible = certify->definite && certify->problem->gram && !certify->pair &&
                    !inputs->f.function->points;
    if (!possible || certificate->gap <= inputs->family->target_gap ||
        !(paid > SHARPEN * (certificate->primal - certificate->dual))) {
        return 0;
    }
    struct certify_evaluation *g = inputs->g.function ? &inputs->g : NULL;
    int status = evaluate(certify, &inputs->f, g, &sharper, err);
    return status == 0 && sharper ? compute_bounds(certify, inputs, certificate, err) : status;
}

/* *primal: the primal of t times f with scores s (n, k). scaled (n, k + 1) is work, for scores and
 * errors times t. */
static int primal_at(const struct certify *certify, const struct inputs *inputs, const double *s,
                     double t, double *scaled, double *primal, struct error *err) {
    const struct certify_family *family = inputs->family;
    const struct certify_evaluation *f = &inputs->f;
    size_t n = certify->map->n, k = f->k;
    size_t block = family->block > 0 && family->block < n ? family->block : n, first = 0, m;
    double *error = scaled + n * k, loss = 0;
    array_multiple(scaled, t, s, n * k);
    array_multiple(error, t, f->loss_error, n);
    do {
        double value, rounding;
        m = n - first < block ? n - first : block;
        if (family->loss(family->context, first, m, scaled + first * k, error + first, &value,
                         &rounding, err) < 0) {
            return -1;
        }
        loss += value + rounding;
        first += m;
    } while (first < n);
    *primal = t * t / 2 * (f->squared_norm + f->rounding + inputs->f_shift) +
              cluster_total(certify->map->cluster, loss);
    return 0;
}

/* The best scaling factor so far, 1 + increment, and its primal. */
struct scaling {
    double increment, primal;
};

/* Tries the scaling factors 1 + x, x = from, from * factor, ... below `to`. Ends where the norm
 * term alone exceeds the lowest primal. */
static int try_scalings(const struct certify *certify, const struct inputs *inputs, const double *s,
                        double from, double to, double factor, double *scaled, struct scaling *best,
                        struct error *err) {
    double squared_norm = fmax(0, inputs->f.squared_norm + inputs->f.rounding + inputs->f_shift),
           primal;
    for (double increment = from;
         increment < to && (1 + increment) * (1 + increment) * squared_norm / 2 < best->primal;
         increment *= factor) {
        if (primal_at(certify, inputs, s, 1 + increment, scaled, &primal, err) < 0) {
            return -1;
        }
        *best = primal < best->primal ? (struct scaling){increment, primal} : *best;
    }
    return 0;
}

/* Finds the best scaling factor of f. With a large C, margins that rounding leaves slightly below 1
 * cost more than a slightly larger norm. */
static int find_scaling(const struct certify *certify, const struct inputs *inputs,
                        struct certificate *certificate, struct error *err) {
    const struct certify_evaluation *f = &inputs->f;
    size_t n = certify->map->n, k = f->k;
    const double *bias = f->function->bias;
    if (!inputs->family->compute_scaling || !certify->definite ||
        certificate->gap <= inputs->family->target_gap) {
        return 0;
    }
    double *scaled = memory_array(n, (k + 1) * sizeof *scaled, "a certificate", err);
    double *own = f->s ? NULL : memory_array(n, k * sizeof *own, "a certificate", err);
    int status = scaled && (f->s || own) ? 0 : -1;
    if (status == 0 && own) {
        certify_linear_scores(certify, f, 0, n, own);
        for (size_t j = 0; bias && j < n * k; j++) {
            own[j] += bias[j % k];
        }
    }
    const double *s = own ? own : f->s;
    struct scaling best = {0, certificate->primal -
                                  MIN_GAIN * (certificate->primal - certificate->dual)};
    if (status == 0) {
        status = try_scalings(certify, inputs, s, MIN_INCREMENT, MAX_INCREMENT, COARSE, scaled,
                              &best, err);
    }
    if (status == 0) {
        status = try_scalings(certify, inputs, s, best.increment / COARSE * FINE,
                              best.increment * COARSE, FINE, scaled, &best, err);
    }
    certificate->scaling = 1 + best.increment;
    free(scaled);
    free(own);
    return status;
}

int certify_bounds(struct certify *certify, size_t k, const struct certify_function *f,
                   const struct certify_function *g, const struct certify_family *family,
                   struct certificate *certificate, struct error *err) {
    struct inputs inputs = {
        .family = family, .f = {.function = f, .k = k}, .g = {.function = g, .k = k}};
    struct certify_evaluation *other = g ? &inputs.g : NULL;
    struct stopwatch *time = certify->problem->certify_time; /* to which exact products add, too */
    double start = clock_seconds(), before = stopwatch_seconds(time);
    int status =
        certify_evaluate(certify, &inputs.f, other, err) < 0 || check_kernel(certify, err) < 0 ||
                shift_norm(certify, &inputs.f, &inputs.f_shift, err) < 0 ||
                shift_norm(certify, other ? other : &inputs.f, &inputs.g_shift, err) < 0 ||
                compute_bounds(certify, &inputs, certificate, err) < 0 ||
                sharpen(certify, &inputs, certify_sharpen_entrywise, certificate, err) < 0 ||
                sharpen(certify, &inputs, certify_sharpen_dd, certificate, err) < 0 ||
                find_scaling(certify, &inputs, certificate, err) < 0
            ? -1
            : 0;
    certify_evaluation_free(&inputs.f);
    certify_evaluation_free(&inputs.g);
    stopwatch_add(time, fmax(0, clock_seconds() - start - (stopwatch_seconds(time) - before)));
    return status;
}

enum stop_reason certify_reason(const struct certificate *certificate, enum stop_reason reason) {
    bool blamed = reason == STOP_ROUNDING || reason == STOP_FLOAT_KERNEL;
    double gap = certificate->primal - certificate->dual;
    return blamed && 2 * (certificate->rounding + certificate->solver_rounding) < gap ? STOP_STALLED
                                                                                      : reason;
}

void certify_conclude(const struct certificate *certificate, double epsilon,
                      enum stop_reason reason, struct solution *solution) {
    bool reached = certificate->certified && certificate->gap <= epsilon;
    solution->primal = certificate->primal;
    solution->dual = certificate->certified ? certificate->dual : 0;
    solution->gap = certificate->certified ? certificate->gap : NAN;
    solution->norm = certificate->zero_is_better ? 0 : certificate->norm;
    solution->certified = certificate->certified;
    solution->constant_scores = certificate->constant_scores || certificate->zero_is_better;
    solution->converged = reached;
    solution->reason = reached               ? STOP_REACHED
                       : certificate->failed ? certificate->failed
                       : certificate->certified || stop_limited(reason)
                           ? certify_reason(certificate, reason)
                           : STOP_INDEFINITE;
}

int certify_zero_solution(const struct problem *problem, double zero_primal, size_t n_weights,
                          size_t n_outputs, bool biased, struct solution *solution,
                          struct error *err) {
    struct certificate zero = {.primal = zero_primal,
                               .zero_primal = zero_primal,
                               .constant_scores = true,
                               .zero_is_better = true};
    zero.certified = !problem->gram || kernel_definite(gram_rows(problem->gram)->kernel);
    certify_compare(&zero);
    certify_conclude(&zero, 0, STOP_TIME, solution);
    solution->zero_only = true;
    solution->converged = false;
    solution->reason = zero.failed ? zero.failed : STOP_TIME;
    solution->n_outputs = n_outputs;
    if (!solution->pairs) {
        solution->weights = memory_zeros(n_weights, sizeof *solution->weights, "weights", err);
    }
    solution->bias =
        biased ? memory_zeros(n_outputs, sizeof *solution->bias, "weights", err) : NULL;
    if ((!solution->weights && !solution->pairs) || (biased && !solution->bias)) {
        solution_free(solution);
        return -1;
    }
    return 0;
}

/* Returns the sum; *rest gets its rounding error. */
static double add_exactly(double a, double b, double *rest) {
    double sum = a + b, part = sum - a;
    *rest = (a - (sum - part)) + (b - part);
    return sum;
}

void certify_add(struct certificate *sum, double primal, double dual,
                 const struct certificate *certificate) {
    double lost;
    sum->primal = add_exactly(sum->primal, primal, &lost);
    sum->primal = lost > 0 ? nextafter(sum->primal, INFINITY) : sum->primal;
    sum->dual = add_exactly(sum->dual, dual, &lost);
    sum->dual = lost < 0 ? nextafter(sum->dual, -INFINITY) : sum->dual;
    sum->zero_primal += certificate->zero_primal;
    sum->rounding += certificate->rounding;
    sum->constant_scores &= certificate->constant_scores || certificate->zero_is_better;
    sum->certified &= certificate->certified;
    sum->failed = sum->failed ? sum->failed : certificate->failed;
}

void certify_sum(const struct certificate *sum, bool convex, double epsilon,
                 struct solution *solution) {
    struct certificate whole = *sum;
    certify_compare(&whole);
    bool failed = convex && whole.failed;
    solution->primal = whole.primal;
    solution->dual = failed ? 0 : whole.dual;
    solution->gap = failed ? NAN : whole.gap;
    solution->certified = convex && whole.certified;
    if (solution->certified && whole.gap <= epsilon) {
        solution->converged = true;
        solution->reason = STOP_REACHED;
    } else if (failed) {
        solution->converged = false;
        solution->reason = whole.failed;
    }
    solution->constant_scores = whole.constant_scores;
}

void certify_take_better_dual(struct certificate *certificate, const struct certificate *other) {
    if (other->certified && other->dual > certificate->dual) {
        certificate->dual = other->dual;
        certify_compare(certificate);
    }
    if (other->certified) {
        double own = other->primal - other->solver_rounding;
        certificate->solver_rounding =
            fmax(certificate->solver_rounding, fmin(certificate->primal, other->primal) - own);
    }
}
