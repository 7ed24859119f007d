/* Evaluation of kernel functions at the rows in double-double, so that rounding is no longer a part
 * of the gap. Compiled without contraction, see common/double_double/dd.h. */
#include "fit/certify_private.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/double_double/dd.h"
#include "common/kernel/kernel_dd.h"

#include <math.h>
#include <stdlib.h>

/* The relative error of each operation of dd.h is at most this. */
static const double UNIT = 0x1p-100;

/* The columns of one function in the (n, stride) matrix of coefficients of all functions. */
struct columns {
    struct certify_evaluation *of;
    size_t first, stride;
};

static void copy_coefficients(const struct certify *certify, const struct columns *columns,
                              struct dd *b) {
    size_t k = columns->of->k;
    for (size_t j = 0; j < certify->map->n * k; j++) {
        b[j / k * columns->stride + columns->first + j % k] =
            (struct dd){columns->of->function->weights[j], 0};
    }
}

/* Adds the constant feature to the scores of a function: its bias if it has one, since the model
 * adds that. Returns the correction of |f|^2, the sum of coefficients times scores: the bias
 * contributes bias^2 / constant^2, not bias times the sum of the coefficients. */
static struct dd add_constant(const struct certify *certify, const struct columns *columns,
                              const struct dd *b, struct dd *s) {
    const double *bias = columns->of->function->bias;
    struct dd square = dd_two_product(certify->constant, certify->constant);
    size_t n = certify->map->n;
    struct dd correction = {0, 0};
    for (size_t c = 0; certify->constant > 0 && c < columns->of->k; c++) {
        size_t column = columns->first + c;
        struct dd sum = {0, 0};
        for (size_t i = 0; i < n; i++) {
            sum = dd_add(sum, b[i * columns->stride + column]);
        }
        struct dd added = dd_multiply(sum, square);
        if (bias) {
            struct dd bias_dd = {bias[c], 0};
            struct dd difference = dd_add(bias_dd, dd_negative(added));
            correction = dd_add(correction, dd_multiply(bias_dd, dd_divide(difference, square)));
            added = bias_dd;
        }
        for (size_t i = 0; i < n; i++) {
            s[i * columns->stride + column] = dd_add(s[i * columns->stride + column], added);
        }
    }
    return correction;
}

/* Stores the scores and |f|^2 of a function, with the remaining error bounds. factor: the error of
 * a score, divided by the row's norm bound and the sum of sizes; correction: of |f|^2. */
static int store_scores(const struct certify *certify, const struct columns *columns, double factor,
                        struct dd correction, const struct dd *s, struct error *err) {
    struct certify_evaluation *out = columns->of;
    const double *b = out->function->weights;
    size_t n = certify->map->n, k = out->k;
    struct dd squared_norm = correction;
    double magnitude = fabs(correction.hi), size = 0, largest = 0;
    free(out->error);
    out->error = memory_array(n, sizeof *out->error, "a certificate", err);
    if (!out->error) {
        return -1;
    }
    for (size_t c = 0; c < k; c++) {
        largest = fmax(largest, out->column[c]);
    }
    for (size_t j = 0; j < n * k; j++) {
        struct dd score = s[j / k * columns->stride + columns->first + j % k];
        struct dd term = dd_multiply(score, (struct dd){b[j], 0});
        squared_norm = dd_add(squared_norm, term);
        magnitude += fabs(term.hi);
        size += fabs(b[j]);
        if (out->s) {
            out->s[j] = score.hi;
        }
    }
    for (size_t i = 0; i < n; i++) {
        out->error[i] =
            CERTIFY_UP * (factor * certify->norm_bound[i] * largest + KERNEL_MIN_ERROR_DD * size);
    }
    out->squared_norm = squared_norm.hi;
    out->summing = CERTIFY_UP * (CERTIFY_UNIT * fabs(squared_norm.hi) +
                                 4 * ((double)n * (double)k + 2) * UNIT * magnitude);
    out->biased = false;
    certify_set_rounding(certify, out);
    return 0;
}

static bool all_finite(const struct dd *s, size_t n) {
    bool finite = true;
    for (size_t j = 0; j < n; j++) {
        finite = finite && isfinite(s[j].hi + s[j].lo);
    }
    return finite;
}

static size_t count_used(const struct certify *certify, size_t outputs, const struct dd *b) {
    size_t used = 0;
    for (size_t i = 0; i < certify->map->n; i++) {
        bool any = false;
        for (size_t c = 0; c < outputs; c++) {
            any = any || b[i * outputs + c].hi != 0;
        }
        used += any;
    }
    return used;
}

int certify_sharpen_dd(const struct certify *certify, struct certify_evaluation *f,
                       struct certify_evaluation *g, bool *sharper, struct error *err) {
    const struct problem *problem = certify->problem;
    bool other = certify_other(f, g);
    size_t n = certify->map->n, k = f->k, outputs = other ? 2 * k : k;
    const struct columns of[] = {{f, 0, outputs}, {g, other ? k : 0, outputs}};
    struct dd *b = memory_array(n, 2 * outputs * sizeof *b, "a certificate", err);
    if (!b) {
        return -1;
    }
    struct dd *s = b + n * outputs;
    for (size_t p = 0; p < (other ? 2 : 1); p++) {
        copy_coefficients(certify, &of[p], b);
    }
    size_t used = count_used(certify, outputs, b);
    double nanoseconds = gram_work_dd(problem->gram, n, used, outputs);
    *sharper = nanoseconds <= certify->work &&
               (problem->end_time == 0 || clock_seconds() + 1e-9 * nanoseconds < problem->end_time);
    int status = *sharper ? gram_scores_dd(problem->gram, problem->rows, n, b, outputs, s,
                                           problem->threads, err)
                          : 0;
    struct dd correction[2] = {{0, 0}, {0, 0}};
    if (status == 0 && *sharper) {
        correction[0] = add_constant(certify, &of[0], b, s);
        correction[1] = other ? add_constant(certify, &of[1], b, s) : correction[0];
        *sharper = all_finite(s, n * outputs);
    }
    if (status == 0 && *sharper) {
        double factor = gram_rounding_dd(problem->gram, n, used);
        factor += certify->constant > 0 ? ((double)n + 6) * UNIT : 0;
        status = store_scores(certify, &of[0], factor, correction[0], s, err) < 0 ||
                         (g && store_scores(certify, &of[1], factor, correction[1], s, err) < 0)
                     ? -1
                     : 0;
    }
    free(b);
    return status;
}
