/* Functions at the rows once more, in double-double: what remains of the bounds' distance is then
 * what the coefficients make. Compiled without contraction, see common/double_double/dd.h. */
#include "fit/certify_private.h"

#include "common/base/memory.h"
#include "common/double_double/dd.h"
#include "common/kernel/kernel_dd.h"

#include <math.h>
#include <stdlib.h>

/* Each operation of dd.h is within this of its result. */
static const double UNIT = 0x1p-100;

/* A function among those that are evaluated together: its coefficients' places in rows of
 * `stride`. */
struct part {
    struct certify_evaluation *of;
    size_t first, stride;
};

static void take_coefficients(const struct certify *certify, const struct part *part,
                              struct dd *b) {
    size_t k = part->of->k;
    for (size_t j = 0; j < certify->map->n * k; j++) {
        b[j / k * part->stride + part->first + j % k] =
            (struct dd){part->of->function->weights[j], 0};
    }
}

/* Adds the constant feature's part to the scores of a part: what is written as its bias, where
 * there is one, for that is what the model adds. Returns what |f|^2 is more than the sum of
 * coefficients times scores: bias^2 / constant^2 is its part, not bias times the coefficients'
 * sum. */
static struct dd add_constant(const struct certify *certify, const struct part *part,
                              const struct dd *b, struct dd *s) {
    const double *bias = part->of->function->bias;
    struct dd square = dd_two_product(certify->constant, certify->constant);
    size_t n = certify->map->n;
    struct dd more = {0, 0};
    for (size_t c = 0; certify->constant > 0 && c < part->of->k; c++) {
        size_t at = part->first + c;
        struct dd sum = {0, 0};
        for (size_t i = 0; i < n; i++) {
            sum = dd_add(sum, b[i * part->stride + at]);
        }
        struct dd added = dd_multiply(sum, square);
        if (bias) {
            struct dd written = {bias[c], 0};
            struct dd apart = dd_add(written, dd_negative(added));
            more = dd_add(more, dd_multiply(written, dd_divide(apart, square)));
            added = written;
        }
        for (size_t i = 0; i < n; i++) {
            s[i * part->stride + at] = dd_add(s[i * part->stride + at], added);
        }
    }
    return more;
}

/* The scores and |f|^2 of a part, with what is left of their errors. `factor`: of a score, over the
 * rows' reach and the sum of sizes; more: of |f|^2, than scores and coefficients make. */
static int take_scores(const struct certify *certify, const struct part *part, double factor,
                       struct dd more, const struct dd *s, struct error *err) {
    struct certify_evaluation *out = part->of;
    const double *b = out->function->weights;
    size_t n = certify->map->n, k = out->k;
    struct dd norm = more;
    double magnitude = fabs(more.hi), size = 0, largest = 0;
    free(out->error);
    out->error = memory_array(n, sizeof *out->error, "a certificate", err);
    if (!out->error) {
        return -1;
    }
    for (size_t c = 0; c < k; c++) {
        largest = fmax(largest, out->column[c]);
    }
    for (size_t j = 0; j < n * k; j++) {
        struct dd score = s[j / k * part->stride + part->first + j % k];
        struct dd term = dd_multiply(score, (struct dd){b[j], 0});
        norm = dd_add(norm, term);
        magnitude += fabs(term.hi);
        size += fabs(b[j]);
        if (out->s) {
            out->s[j] = score.hi;
        }
    }
    for (size_t i = 0; i < n; i++) {
        out->error[i] =
            CERTIFY_UP * (factor * certify->reach[i] * largest + KERNEL_PRECISE_LEAST * size);
    }
    out->norm = norm.hi;
    out->summing = CERTIFY_UP * (CERTIFY_UNIT * fabs(norm.hi) +
                                 4 * ((double)n * (double)k + 2) * UNIT * magnitude);
    out->precise = true;
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

int certify_precisely(const struct certify *certify, struct certify_evaluation *f,
                      struct certify_evaluation *g, bool *sharper, struct error *err) {
    const struct problem *problem = certify->problem;
    bool other = certify_other(f, g);
    size_t n = certify->map->n, k = f->k, outputs = other ? 2 * k : k;
    const struct part of[] = {{f, 0, outputs}, {g, other ? k : 0, outputs}};
    struct dd *b = memory_array(n, 2 * outputs * sizeof *b, "a certificate", err);
    if (!b) {
        return -1;
    }
    struct dd *s = b + n * outputs;
    for (size_t p = 0; p < (other ? 2 : 1); p++) {
        take_coefficients(certify, &of[p], b);
    }
    size_t used = count_used(certify, outputs, b);
    *sharper = gram_precise_work(problem->gram, n, used, outputs) <= certify->work;
    int status = *sharper ? gram_precise_scores(problem->gram, problem->rows, n, b, outputs, s,
                                                problem->threads, err)
                          : 0;
    struct dd more[2] = {{0, 0}, {0, 0}};
    if (status == 0 && *sharper) {
        more[0] = add_constant(certify, &of[0], b, s);
        more[1] = other ? add_constant(certify, &of[1], b, s) : more[0];
        *sharper = all_finite(s, n * outputs);
    }
    if (status == 0 && *sharper) {
        double factor = gram_precise_rounding(problem->gram, n, used);
        factor += certify->constant > 0 ? ((double)n + 6) * UNIT : 0;
        status = take_scores(certify, &of[0], factor, more[0], s, err) < 0 ||
                         (g && take_scores(certify, &of[1], factor, more[1], s, err) < 0)
                     ? -1
                     : 0;
    }
    free(b);
    return status;
}
