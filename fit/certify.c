#include "fit/certify_private.h"

#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/double_double/exactness.h"
#include "common/kernel/rounding.h"
#include "fit/definiteness.h"

#include <math.h>
#include <stdlib.h>

/* A payment for rounding of more than this part of the gap is looked at again, entry by entry. */
static const double SHARPEN = 0.1;
/* Lengths of f that are looked at: 1 and these, by factors, then between the best one's neighbours;
 * one is told if it takes this part off the gap. */
static const double FIRST_MORE = 1e-15, MOST_MORE = 0.1, MORE = 8, BETWEEN = 1.3, WORTH = 0.1;

/* The row of the data, counted from 0, with the largest reach (n) of the problem's. */
static size_t largest_row(const struct problem *problem, const double *reach) {
    size_t largest = 0;
    for (size_t i = 1; i < problem->n; i++) {
        largest = reach[i] > reach[largest] || isnan(reach[i]) ? i : largest;
    }
    return problem->rows ? problem->rows[largest] : largest;
}

/* reach by row of the problem, of the kernel alone. */
static void measure(struct certify *certify) {
    const struct problem *problem = certify->problem;
    if (problem->gram) {
        kernel_reach(gram_rows(problem->gram), certify->reach);
    } else {
        const struct kernel linear = {.type = KERNEL_LINEAR};
        const struct kernel_rows rows = {
            .kernel = &linear, .data = problem->data, .norm = certify->reach};
        kernel_squares(problem->data, certify->reach);
        kernel_reach(&rows, certify->reach);
    }
    for (size_t i = 0; problem->rows && i < problem->n; i++) {
        certify->reach[i] = certify->reach[problem->rows[i]]; /* rows ascend */
    }
}

/* Adds the constant feature's part. */
static void complete(struct certify *certify) {
    for (size_t i = 0; i < certify->problem->n; i++) {
        certify->reach[i] = hypot(certify->reach[i], certify->constant);
    }
    certify->measured = true;
}

/* Whether the trace of the kernel matrix is a number. */
static int check_trace(const struct certify *certify, struct error *err) {
    double trace = 0;
    for (size_t i = 0; i < certify->problem->n; i++) {
        trace += certify->reach[i] * certify->reach[i];
    }
    if (!isfinite(trace)) {
        return error_set(err, ERROR_RUNTIME,
                         "kernel values overflow, row %zu has the largest: scale the features "
                         "(--scale std), or lower gamma or degree",
                         largest_row(certify->problem, certify->reach) + 1);
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
    made->reach = memory_array(problem->data->n_rows, sizeof *made->reach, "norms", err);
    int status = made->reach ? 0 : -1;
    if (status == 0 && problem->gram) { /* of the linear kernel it is, with values in float */
        measure(made);
        status = check_trace(made, err);
        complete(made);
    }
    if (status < 0) {
        certify_free(made);
        return -1;
    }
    made->factor = kernel_rounding(rows) + 2 * CERTIFY_UNIT;
    made->factor = cluster_largest(map->cluster, made->factor);
    *certify = made;
    return 0;
}

void certify_pairs(struct certify *certify, double *reach, double factor,
                   struct certify_pair *pair) {
    certify->row_reach = certify->reach;
    certify->reach = reach;
    certify->factor = factor;
    certify->pair = pair;
}

void certify_refine(struct certify *certify, double factor) {
    certify->factor = factor;
}

void certify_allow(struct certify *certify, double nanoseconds) {
    certify->work = fmax(CERTIFY_WORK, nanoseconds);
}

void certify_free(struct certify *certify) {
    if (certify) {
        free(certify->reach);
        free(certify->row_reach);
        free(certify->pair);
        free(certify->shift);
        free(certify);
    }
}

double certify_factor(const struct certify *certify) {
    return certify->factor;
}

const double *certify_reach(struct certify *certify) {
    if (!certify->measured) {
        measure(certify);
        complete(certify);
    }
    return certify->reach;
}

double certify_sum_rounding(size_t m) {
    return ((double)m + 2) * CERTIFY_UNIT;
}

void certify_total_add(struct certify_total *total, double a, double b) {
    const double whole = 0x1p-960; /* the rest of a product below it may underflow */
    double product = a * b, sum = total->sum + product, part = sum - total->sum;
    bool exact = (a == 0 || b == 0 || product >= whole) && fma(a, b, -product) == 0 &&
                 (total->sum - (sum - part)) + (product - part) == 0;
    total->rounded = total->rounded || !exact;
    total->sum = sum;
    total->n++;
}

void certify_total_join(struct certify_total *total, struct cluster *cluster) {
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

/* Whether the matrix over all rows of the problem is definite but for a shift of its diagonal: over
 * those that a point uses it may be, and a model with other rows still lie below that point's dual.
 * The bounds are those of the shifted kernel. Looked at once. */
static int check_kernel(struct certify *certify, struct error *err) {
    const struct problem *problem = certify->problem;
    if (certify->checked) {
        return 0;
    }
    certify->definite = !problem->gram || kernel_definite(gram_rows(problem->gram)->kernel);
    if (!certify->definite) {
        const double *reach = certify->pair ? certify->row_reach : certify->reach;
        uint32_t *rows = memory_array(problem->n, sizeof *rows, "a certificate", err);
        certify->shift = memory_array(problem->n, sizeof *certify->shift, "a certificate", err);
        for (size_t i = 0; rows && i < problem->n; i++) {
            rows[i] = problem->rows ? problem->rows[i] : (uint32_t)i;
        }
        int status = rows && certify->shift
                         ? definite_check(gram_rows(problem->gram), rows, reach, problem->n,
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

/* With E added to K's diagonal <S, K S K> of S, skew, grows by 2 <S, K S E> + <S, E S E>: of each
 * pair's coefficient b, and by S_j'K S_j <= (sum of |S_ij| reach_i)^2, where reach_i^2 bounds K_ii,
 * or is K_ii + E_ii itself, for K + E is positive semidefinite. */
static int lift_pairs(const struct certify *certify, const double *b, double *lift,
                      struct error *err) {
    const struct problem *problem = certify->problem;
    const struct kernel_rows *rows = gram_rows(problem->gram);
    const double *shift = certify->shift;
    size_t n = problem->n;
    double *size = memory_zeros(n, 2 * sizeof *size, "a certificate", err);
    double *reach = size ? size + n : NULL;
    for (size_t i = 0; size && i < n; i++) {
        size_t row = problem->rows ? problem->rows[i] : i;
        double own = fabs(kernel_value(rows, row, rows, row)) + shift[i];
        reach[i] = fmin(certify->row_reach[i], sqrt(own) * CERTIFY_UP);
    }
    for (size_t p = 0; size && p < certify->map->n; p++) {
        struct certify_pair pair = certify->pair[p];
        size[pair.one] += fabs(b[p]) * reach[pair.other];
        size[pair.other] += fabs(b[p]) * reach[pair.one];
        *lift += 2 * b[p] * b[p] * shift[pair.one] * shift[pair.other];
    }
    for (size_t i = 0; size && i < n; i++) {
        *lift += 2 * shift[i] * size[i] * size[i];
    }
    free(size);
    return size ? 0 : -1;
}

/* What the shift adds to |f|^2: *lift. */
static int lift(const struct certify *certify, const struct certify_evaluation *f, double *lift,
                struct error *err) {
    const double *b = f->function->weights;
    *lift = 0;
    if (!certify->shift) {
        return 0;
    }
    if (certify->pair) {
        return lift_pairs(certify, b, lift, err);
    }
    for (size_t i = 0; i < certify->map->n * f->k; i++) {
        *lift += b[i] * b[i] * certify->shift[i / f->k];
    }
    return 0;
}

/* ---- both bounds ---- */

void certify_compare(struct certificate *certificate) {
    double primal = certificate->primal, dual = certificate->dual;
    if (certificate->certified && !(isfinite(primal) && dual <= primal)) {
        certificate->certified = false;
        certificate->failed = isfinite(primal) ? STOP_CROSSED : STOP_INFINITE;
    }
    certificate->gap = gap_relative_to(primal, dual, certificate->nothing, certificate->paid);
}

/* What makes a certificate. */
struct making {
    const struct certify_family *family;
    struct certify_evaluation f, g; /* without g's function, it is f's */
    double lifted, dual_lifted;
};

/* x, or 0 if x is below; what is not a number stays so. */
static double not_below_zero(double x) {
    return x < 0 ? 0 : x;
}

/* Both bounds from what is known of both points. */
static int put_together(struct certify *certify, struct making *making,
                        struct certificate *certificate, struct error *err) {
    const struct certify_family *family = making->family;
    const struct certify_evaluation *f = &making->f, *g = making->g.function ? &making->g : f;
    double loss[2] = {0};
    *certificate = (struct certificate){.nothing = family->nothing};
    if (certify_evaluate_loss(certify, &making->f, family, loss, err) < 0) {
        return -1;
    }
    double norm = f->norm + f->rounding + making->lifted;
    double dual_norm = g->norm + g->rounding + making->dual_lifted;
    certificate->primal = (0.5 * not_below_zero(norm) + loss[0] + loss[1]) * (1 + 4 * CERTIFY_UNIT);
    certificate->primal += certificate->primal > 0 ? 4 * CERTIFY_UNDERFLOW : 0;
    double bound = family->linear - family->linear_rounding - 0.5 * not_below_zero(dual_norm);
    bound -= 4 * CERTIFY_UNIT * (fabs(family->linear) + fabs(dual_norm)) + 4 * CERTIFY_UNDERFLOW;
    certificate->dual = fmax(0, bound);
    certificate->norm = sqrt(fmax(0, f->norm));
    certificate->certified = certify->definite;
    certificate->slack = f->slack;
    certificate->flat = certify->pair ? f->norm == 0 : !f->varies;
    certificate->worse = !(certificate->primal <= family->nothing);
    certificate->primal = fmin(certificate->primal, family->nothing);
    certificate->paid = loss[1] + family->linear_rounding +
                        0.5 * (f->rounding + g->rounding + making->lifted + making->dual_lifted);
    certificate->length = 1;
    certify_compare(certificate);
    return isfinite(certificate->primal) && isfinite(bound) ? 0 : stop_overflow(err);
}

/* Looks at the rounding of kernel values once more, where what is paid for it is a good part of the
 * gap. Nothing is to be had for weights, and for pairs. */
static int sharpen(struct certify *certify, struct making *making, certify_look *look,
                   struct certificate *certificate, struct error *err) {
    bool sharper;
    double paid = certificate->paid - making->family->linear_rounding -
                  0.5 * (making->lifted + making->dual_lifted);
    bool possible = certify->definite && certify->problem->gram && !certify->pair;
    if (!possible || certificate->gap <= making->family->enough ||
        !(paid > SHARPEN * (certificate->primal - certificate->dual))) {
        return 0;
    }
    struct certify_evaluation *g = making->g.function ? &making->g : NULL;
    int status = look(certify, &making->f, g, &sharper, err);
    return status == 0 && sharper ? put_together(certify, making, certificate, err) : status;
}

/* The primal of t times f with scores s (n, k): these and their errors t times what they are,
 * `scaled` room for both. */
static int primal_at(const struct certify *certify, const struct making *making, const double *s,
                     double t, double *scaled, double *primal, struct error *err) {
    const struct certify_family *family = making->family;
    const struct certify_evaluation *f = &making->f;
    size_t n = certify->map->n, k = f->k;
    size_t block = family->block > 0 && family->block < n ? family->block : n, first = 0, m;
    double *error = scaled + n * k, loss = 0;
    for (size_t j = 0; j < n * k; j++) {
        scaled[j] = t * s[j];
    }
    for (size_t i = 0; i < n; i++) {
        error[i] = t * f->off_by[i];
    }
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
    *primal = t * t / 2 * (f->norm + f->rounding + making->lifted) +
              cluster_total(certify->map->cluster, loss);
    return 0;
}

/* The primal is lowest so far at 1 + *more times f. */
struct length {
    double more, primal;
};

/* Tries f so many times as long more than once: `from`, and by factors up to `to`. No length whose
 * norm alone is above the lowest primal is lower. */
static int try_lengths(const struct certify *certify, const struct making *making, const double *s,
                       double from, double to, double factor, double *scaled, struct length *best,
                       struct error *err) {
    double norm = fmax(0, making->f.norm + making->f.rounding + making->lifted), primal;
    for (double more = from; more < to && (1 + more) * (1 + more) * norm / 2 < best->primal;
         more *= factor) {
        if (primal_at(certify, making, s, 1 + more, scaled, &primal, err) < 0) {
            return -1;
        }
        *best = primal < best->primal ? (struct length){more, primal} : *best;
    }
    return 0;
}

/* Where C is large, margins that rounding leaves a little short of 1 cost more than f that is
 * longer by as much: finds how much is best. */
static int find_length(const struct certify *certify, const struct making *making,
                       struct certificate *certificate, struct error *err) {
    const struct certify_evaluation *f = &making->f;
    size_t n = certify->map->n, k = f->k;
    const double *bias = f->function->bias;
    if (!making->family->lengthen || !certify->definite ||
        certificate->gap <= making->family->enough) {
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
    struct length best = {0,
                          certificate->primal - WORTH * (certificate->primal - certificate->dual)};
    if (status == 0) {
        status = try_lengths(certify, making, s, FIRST_MORE, MOST_MORE, MORE, scaled, &best, err);
    }
    if (status == 0) {
        status = try_lengths(certify, making, s, best.more / MORE * BETWEEN, best.more * MORE,
                             BETWEEN, scaled, &best, err);
    }
    certificate->length = 1 + best.more;
    free(scaled);
    free(own);
    return status;
}

int certify_bounds(struct certify *certify, size_t k, const struct certify_function *f,
                   const struct certify_function *g, const struct certify_family *family,
                   struct certificate *certificate, struct error *err) {
    struct making making = {
        .family = family, .f = {.function = f, .k = k}, .g = {.function = g, .k = k}};
    struct certify_evaluation *other = g ? &making.g : NULL;
    int status = certify_evaluate(certify, &making.f, other, err) < 0 ||
                         check_kernel(certify, err) < 0 ||
                         lift(certify, &making.f, &making.lifted, err) < 0 ||
                         lift(certify, other ? other : &making.f, &making.dual_lifted, err) < 0 ||
                         put_together(certify, &making, certificate, err) < 0 ||
                         sharpen(certify, &making, certify_sharpen, certificate, err) < 0 ||
                         sharpen(certify, &making, certify_precisely, certificate, err) < 0 ||
                         find_length(certify, &making, certificate, err) < 0
                     ? -1
                     : 0;
    certify_evaluation_free(&making.f);
    certify_evaluation_free(&making.g);
    return status;
}

enum stop_reason certify_reason(const struct certificate *certificate, enum stop_reason reason) {
    bool blamed = reason == STOP_ROUNDING || reason == STOP_PRECISION;
    double gap = certificate->primal - certificate->dual;
    return blamed && 2 * (certificate->paid + certificate->lost) < gap ? STOP_STALLED : reason;
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
    solution->reason = reached               ? STOP_REACHED
                       : certificate->failed ? certificate->failed
                       : certificate->certified || stop_limited(reason)
                           ? certify_reason(certificate, reason)
                           : STOP_INDEFINITE;
}

void certify_nothing(const struct problem *problem, double nothing, struct solution *solution) {
    struct certificate zero = {.primal = nothing, .nothing = nothing, .flat = true, .worse = true};
    zero.certified = !problem->gram || kernel_definite(gram_rows(problem->gram)->kernel);
    certify_compare(&zero);
    certify_conclude(&zero, 0, STOP_TIME, solution);
    solution->unsolved = true;
    solution->converged = false;
    solution->reason = zero.failed ? zero.failed : STOP_TIME;
}

/* The sum, and in *rest what its rounding has lost. */
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
    sum->nothing += certificate->nothing;
    sum->paid += certificate->paid;
    sum->flat &= certificate->flat || certificate->worse;
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
    solution->flat = whole.flat;
}

void certify_join(struct certificate *certificate, const struct certificate *other) {
    if (other->certified && other->dual > certificate->dual) {
        certificate->dual = other->dual;
        certify_compare(certificate);
    }
    if (other->certified) {
        double own = other->primal - other->lost;
        certificate->lost = fmax(certificate->lost, fmin(certificate->primal, other->primal) - own);
    }
}
