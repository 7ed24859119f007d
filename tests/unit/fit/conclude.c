/* Tests of the other parts of certificates (fit/certify.h): constant scores, in one process and
 * over several, shifts of a kernel's diagonal, sums of certificates, and the bounds that solutions
 * report. */
#define _GNU_SOURCE

#include "fit/definiteness.h"
#include "tests/unit/fit/line.h"
#include "tests/unit/ranks.h"

/* Whether scores s (n, k) count as constant, with error bounds from `size`: each row has its own
 * features, and two large ones that cancel. *most: the largest slack. */
static bool is_flat(size_t n, size_t k, const double *s, const double *size, double *most) {
    enum { MOST = 3 };
    float value[MOST * 3];
    double w[3 * 2] = {0}, zero = 0;
    for (size_t i = 0; i < n; i++) {
        value[3 * i] = 1;
        value[3 * i + 1] = value[3 * i + 2] = (float)size[i];
    }
    struct line line;
    struct certificate found;
    w[k] = 1;
    w[2 * k] = -1;
    line_open(&line, value, n, false, (struct data){.n_features = 3, .value = value});
    const struct certify_family family = {.context = &zero, .loss = no_loss, .zero_primal = 2};
    const struct certify_function f = {.weights = w, .exact = s};
    MUST(certify_bounds(line.certify, k, &f, NULL, &family, &found, &err));
    *most = found.score_error;
    line_close(&line);
    return found.constant_scores;
}

/* The hinge loss C max(0, 1 - s) with exact scores. */
static int hinge_loss(void *context, size_t first, size_t n, const double *s, const double *error,
                      double *value, double *rounding, struct error *failure) {
    (void)first, (void)failure;
    *value = *rounding = 0;
    for (size_t i = 0; i < n; i++) {
        *value += *(double *)context * fmax(0, 1 - s[i]);
        *rounding += s[i] - 2 * error[i] < 1 ? *(double *)context * 2 * error[i] : 0;
    }
    return 0;
}

/* The certificate of weight w on rows 1 and 2, with cost C and bias `added`. */
static struct certificate scaled(double w, const double *added, double cost, bool wanted,
                                 double enough, bool kernel) {
    float value[] = {1, 2};
    double b[] = {w, 0};
    struct line line;
    struct certificate found;
    struct certify_family family = {
        .context = &cost, .loss = hinge_loss, .linear = w * w, .zero_primal = 2 * cost};
    family.target_gap = enough;
    family.compute_scaling = wanted;
    const struct certify_function f = {.weights = b, .bias = added};
    line_open(&line, value, 2, kernel, (struct data){0});
    MUST(certify_bounds(line.certify, 1, &f, NULL, &family, &found, &err));
    line_close(&line);
    return found;
}

/* With a large C, a margin that is too small by d leads to a scaling factor of 1 + d, up to the
 * factor between two trials; the bias is scaled with f. */
static void check_length(void) {
    const double cost = 1e9;
    for (int kernel = 0; kernel < 2; kernel++) {
        for (double d = 1e-11; d < 1e-2; d *= 10) {
            double more = scaled(1 - d, NULL, cost, true, 0, kernel).scaling - 1;
            CHECK(more >= 0.9 * d && more <= 1.4 * d, "kernel %d: %g for %g", kernel, more, d);
            double half = 0.5;
            more = scaled(0.5 - d, &half, cost, true, 0, kernel).scaling - 1;
            CHECK(more >= 0.9 * d && more <= 1.4 * d, "kernel %d: %g for %g, added", kernel, more,
                  d);
        }
        CHECK_TRUE(scaled(1.5, NULL, cost, true, 0, kernel).scaling == 1);
        CHECK_TRUE(scaled(1 - 1e-6, NULL, cost, false, 0, kernel).scaling == 1);
        CHECK_TRUE(scaled(1 - 1e-6, NULL, cost, true, 1, kernel).scaling == 1);
        CHECK_TRUE(scaled(0.99, NULL, 0.1, true, 0, kernel).scaling == 1);
    }
    printf("ok: how much longer a function had better be\n");
}

/* Scores are not constant if, in any output, those of the first row and another differ by more than
 * twice the sum of their error bounds. */
static void check_equal_scores(void) {
    const double alike[] = {1, 1, 1}, first[] = {64, 1, 1}, last[] = {1, 1, 64};
    double small, large, other, s[6] = {1, 1, 1, 1, 1, 1};
    CHECK_TRUE(is_flat(3, 1, s, alike, &small) && is_flat(3, 1, s, first, &large) &&
               large > 16 * small);
    for (size_t i = 1; i < 3; i++) {
        s[i] = 1 + 3.5 * small;
        CHECK(is_flat(3, 1, s, alike, &small), "row %zu, within the errors", i);
        s[i] = 1 + 4.5 * small;
        CHECK(!is_flat(3, 1, s, alike, &small), "row %zu, beyond the errors", i);
        s[i] = 1 + 1.5 * large;
        CHECK(is_flat(3, 1, s, first, &large), "row %zu, within the first row's error", i);
        CHECK(is_flat(3, 1, s, last, &large) == (i == 2), "row %zu, the last one's error", i);
        s[i] = 1;
        s[2 * i + 1] = 2;
        CHECK(!is_flat(3, 2, s, alike, &other), "row %zu, the second score", i);
        s[2 * i + 1] = 1;
    }
    printf("ok: scores that errors hide are taken for equal, others are not\n");
}

/* Rows whose scores are constant within each process; those of process `odd` differ by `apart`
 * slacks in output `which`. */
struct levels {
    double apart;
    size_t which, odd;
    bool flat;            /* the result */
    bool alone, negative; /* only the first row of process `odd` differs; scores are about -1 */
};

static void work_level(struct cluster *cluster, void *context) {
    struct levels *levels = context;
    size_t rank = cluster_rank(cluster), n = rank + 1 < cluster_size(cluster) ? 2 : 0;
    float value[2] = {1, 1};
    double sign = levels->negative ? -1 : 1, s[4] = {sign, sign, sign, sign};
    double w[2] = {1, 1}, zero = 0;
    struct data data = {.n_rows = n, .n_features = 1, .value = value};
    const struct problem problem = {.data = &data, .n = n, .cluster = cluster};
    struct score_map map;
    struct certify *certify;
    struct certificate found;
    MUST(score_map_create(&map, &problem, &err));
    MUST(certify_create(&certify, &problem, &map, 0, &err));
    const struct certify_family family = {.context = &zero, .loss = no_loss, .zero_primal = 2};
    const struct certify_function f = {.weights = w, .exact = s};
    CHECK(certify_bounds(certify, 2, &f, NULL, &family, &found, &err) == 0 && found.constant_scores,
          "flat");
    for (size_t i = 0; i < (levels->alone ? 1 : 2) && rank == levels->odd; i++) {
        s[2 * i + levels->which] += levels->apart * found.score_error;
    }
    MUST(certify_bounds(certify, 2, &f, NULL, &family, &found, &err));
    CHECK(found.constant_scores == cluster_any(cluster, found.constant_scores),
          "rank %zu alone says so", rank);
    if (rank == 0) {
        levels->flat = found.constant_scores;
    }
    certify_free(certify);
    score_map_free(&map);
}

static void check_levels(void) {
    for (size_t at = 0; at < 64; at++) {
        struct levels levels = {
            .apart = at & 1 ? 3.5 : 4.5, .which = at >> 1 & 1, .odd = at >> 2 & 1};
        levels.apart *= at & 8 ? -1 : 1;
        levels.alone = at & 16;
        levels.negative = at & 32;
        ranks_run(3, work_level, &levels);
        CHECK(levels.flat == (at & 1), "rank %zu, output %zu: %g slacks apart", levels.odd,
              levels.which, levels.apart);
    }
    printf("ok: scores that differ between ranks are told from those that errors hide\n");
}

/* ---- pairs of rows with a kernel whose matrix must be checked ---- */

/* The shift of the diagonal raises |f|^2 of pairs; there are no other errors here. */
static void check_shift(void) {
    enum { ROWS = 3, PAIRS = 4 };
    static const struct certify_pair pairs[PAIRS] = {{0, 1}, {2, 1}, {2, 0}, {1, 0}};
    static const double b[PAIRS] = {1, -2, .5, 3}, none[PAIRS] = {0};
    float value[] = {1, 0, 0, 0, 2, 0, 0, 0, 3};
    uint32_t rows[] = {0, 1, 2};
    struct data data = {.n_rows = ROWS, .n_features = ROWS, .value = value};
    const struct kernel kernel = {
        .type = KERNEL_POLYNOMIAL, .degree = 2, .gamma = 1, .coef0 = -.01};
    const struct score_map map = {.n = PAIRS, .dimension = PAIRS};
    struct gram *gram;
    struct certify *certify;
    struct certificate found;
    MUST(gram_create(&gram, &kernel, &data, 1 << 20, true, NULL, &err));
    const struct problem problem = {.data = &data, .gram = gram, .n = ROWS};
    MUST(certify_create(&certify, &problem, &map, 0, &err));
    double norm_bound[ROWS], shift[ROWS], shift_norm = 0, zero = 0;
    bool definite;
    memcpy(norm_bound, certify_norm_bounds(certify), sizeof norm_bound);
    CHECK_TRUE(!kernel_definite(&kernel));
    CHECK_TRUE(definite_check(gram_rows(gram), rows, norm_bound, ROWS, &definite, shift, &err) ==
                   0 &&
               definite);
    for (uint32_t i = 0; i < ROWS; i++) {
        double own = kernel_value(gram_rows(gram), i, gram_rows(gram), i);
        norm_bound[i] = fmin(norm_bound[i], sqrt(own + shift[i]));
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        double size = 0; /* of the coefficients at the row */
        for (size_t p = 0; p < PAIRS; p++) {
            size += pairs[p].one == i ? fabs(b[p]) * norm_bound[pairs[p].other] : 0;
            size += pairs[p].other == i ? fabs(b[p]) * norm_bound[pairs[p].one] : 0;
            shift_norm +=
                pairs[p].one == i ? 2 * b[p] * b[p] * shift[i] * shift[pairs[p].other] : 0;
        }
        shift_norm += 2 * shift[i] * size * size;
    }
    double *pair_reach = memory_zeros(PAIRS, sizeof *pair_reach, "reach", &err);
    struct certify_pair *pair = memory_array(PAIRS, sizeof *pair, "pairs", &err);
    CHECK_TRUE(pair_reach && pair);
    memcpy(pair, pairs, sizeof pairs);
    pair_reach[1] = 3; /* of b = -2; the error bound of a score of 6 is a sixteenth of it */
    certify_pairs(certify, pair_reach, .0625, pair);
    double paid = shift_norm + .0625 * 36;
    const struct certify_family family = {.context = &zero, .loss = no_loss, .zero_primal = 2};
    const struct certify_function f = {.weights = b, .exact = none};
    MUST(certify_bounds(certify, 1, &f, NULL, &family, &found, &err));
    CHECK(found.certified && shift_norm > 0 && near(found.rounding, paid, 1e-12) &&
              near(found.primal, .5 * paid, 1e-12),
          "paid %.12g, not %.12g", found.rounding, paid);
    certify_free(certify);
    gram_free(gram);
    printf(
        "ok: a shift of a kernel's diagonal is part of the rounding-error bound, pair by pair\n");
}

/* Two equal rows of a file whose product was rounded upwards: K has the eigenvalue -gap. The bounds
 * hold for all coefficients, if that of the shift is twice as large. */
static void check_duality(void) {
    enum { ROWS = 3 };
    const float gap = 0x1p-23F;
    float value[] = {1.5F, 1.5F + gap, 0, 1.5F + gap, 1.5F, 0, 0, 0, 1};
    uint64_t serial[] = {1, 2, 3};
    uint32_t rows[] = {0, 1, 2};
    struct data data = {.n_rows = ROWS, .n_features = ROWS, .value = value, .serial = serial};
    const struct kernel kernel = {.type = KERNEL_PRECOMPUTED};
    const double norm_bound[ROWS] = {2, 2, 2};
    double shift[ROWS];
    struct gram *gram;
    bool definite;
    MUST(gram_create(&gram, &kernel, &data, 1 << 20, true, NULL, &err));
    MUST(definite_check(gram_rows(gram), rows, norm_bound, ROWS, &definite, shift, &err));
    CHECK(definite && shift[0] >= 2 * (double)gap && shift[1] >= 2 * (double)gap,
          "shifts of %g and %g, not twice %g", shift[0], shift[1], (double)gap);
    gram_free(gram);
    printf("ok: a shift suffices for weak duality with the scores of the plain kernel\n");
}

/* ---- sums rounded upwards, and the bounds that solutions report ---- */

static void check_total(void) {
    struct certify_total total = {0};
    for (int i = 0; i < 9; i++) {
        certify_total_add(&total, .5, 3);
    }
    CHECK(!total.rounded && total.n == 9 && certify_total_times(&total, 2) == 27, "exact sums");
    CHECK(certify_total_times(&total, 1. / 3) >= 4.5, "thirds");
    struct certify_total tenths = {0};
    long double sum = 0;
    for (int i = 0; i < 999; i++) {
        certify_total_add(&tenths, .1, .7);
        sum += (long double).1 * (long double).7;
    }
    double times = certify_total_times(&tenths, 1);
    CHECK(tenths.rounded && times >= (double)sum, "%.17g for %.17Lg", times, sum);
    CHECK_NEAR(times, tenths.sum * (1 + 2 * 1002 * line_unit), 1e-15, "raised");
}

static void check_words(void) {
    struct certificate certificate = {
        .primal = 10, .dual = 9, .norm = 2, .zero_primal = 20, .certified = true, .gap = .1};
    struct solution solution = {0};
    certificate.rounding = .25;
    CHECK_TRUE(certify_reason(&certificate, STOP_ROUNDING) == STOP_STALLED);
    CHECK_TRUE(certify_reason(&certificate, STOP_TIME) == STOP_TIME);
    certificate.rounding = .5;
    CHECK_TRUE(certify_reason(&certificate, STOP_ROUNDING) == STOP_ROUNDING);
    CHECK_TRUE(certify_reason(&certificate, STOP_FLOAT_KERNEL) == STOP_FLOAT_KERNEL);
    certify_conclude(&certificate, .1, STOP_TIME, &solution);
    CHECK(solution.converged && solution.primal == 10 && solution.dual == 9 && solution.gap == .1 &&
              solution.norm == 2 && solution.certified && !solution.constant_scores &&
              !solution.reason,
          "a gap that is reached");
    certify_conclude(&certificate, .09, STOP_TIME, &solution);
    CHECK_TRUE(!solution.converged && solution.reason == STOP_TIME);
    certificate.zero_is_better = true;
    certify_conclude(&certificate, .1, STOP_TIME, &solution);
    CHECK_TRUE(solution.norm == 0 && solution.constant_scores);
    certificate.certified = false;
    certify_conclude(&certificate, .1, STOP_OUTER_ITERATIONS, &solution);
    CHECK(solution.dual == 0 && isnan(solution.gap) && !solution.certified && !solution.converged &&
              solution.reason == STOP_INDEFINITE,
          "an indefinite kernel");
    certificate.certified = true;
    const struct certificate low = {.dual = 8, .certified = true},
                             high = {.dual = 9.5, .certified = true}, loose = {.dual = 9.9};
    certify_take_better_dual(&certificate, &low);
    CHECK(certificate.dual == 9, "a lower dual bound is joined");
    certify_take_better_dual(&certificate, &loose);
    CHECK(certificate.dual == 9, "a bound that is not certified is joined");
    certify_take_better_dual(&certificate, &high);
    CHECK(certificate.dual == 9.5 && near(certificate.gap, .05, 1e-12), "joined: %g",
          certificate.gap);
    struct certificate lossy = certificate;
    const struct certificate lost[] = {{.primal = 11, .solver_rounding = 1.5, .certified = true},
                                       {.primal = 9.5, .solver_rounding = .75, .certified = true},
                                       {.primal = 11, .solver_rounding = 3},
                                       {.primal = 12, .certified = true}};
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
        certify_take_better_dual(&lossy, &lost[i]);
        CHECK(lossy.solver_rounding == (i == 0 ? .5 : .75), "%zu: %g is lost", i,
              lossy.solver_rounding);
    }
    solution = (struct solution){.reason = STOP_TIME};
    certify_sum(&certificate, true, .04, &solution);
    CHECK_TRUE(!solution.converged && solution.reason == STOP_TIME && solution.certified);
    certify_sum(&certificate, true, .05, &solution);
    CHECK_TRUE(solution.converged && solution.reason == STOP_REACHED &&
               solution.gap == certificate.gap);
    solution = (struct solution){.reason = STOP_TIME};
    certify_sum(&certificate, false, .05, &solution);
    CHECK_TRUE(!solution.converged && !solution.certified && solution.primal == 10 &&
               solution.dual == 9.5);
    const struct problem problem = {.n = 1};
    solution = (struct solution){0};
    MUST(certify_zero_solution(&problem, 7, 6, 2, true, &solution, &err));
    CHECK_TRUE(solution.n_outputs == 2 && solution.weights[5] == 0 && solution.bias[1] == 0);
    CHECK(solution.primal == 7 && solution.dual == 0 && solution.gap == 1 && solution.norm == 0 &&
              solution.constant_scores && solution.zero_only && solution.certified &&
              !solution.converged && solution.reason == STOP_TIME,
          "f = 0 because time ran out");
    solution_free(&solution);
    CHECK_NEAR(certify_coefficient_rounding(10), 12 * line_unit, 1e-15, "rounding of a sum of 10");
    printf("ok: sums are not too small, and solutions say what is so\n");
}

/* Contradictory bounds are not certified: not alone, not joined, not in a sum. */
static void check_contradictions(void) {
    const struct problem problem = {.n = 1};
    struct certificate certificate = {
        .primal = 1, .dual = .5, .zero_primal = 2, .certified = true, .norm = 1};
    struct solution solution = {0};
    certify_compare(&certificate);
    CHECK_TRUE(certificate.certified && !certificate.failed && certificate.gap == .5);
    const struct certificate sound = certificate,
                             high = {
                                 .primal = 2, .dual = 1.25, .zero_primal = 2, .certified = true};
    certify_take_better_dual(&certificate, &high);
    CHECK_TRUE(!certificate.certified && certificate.failed == STOP_CONTRADICTORY);
    certify_take_better_dual(&certificate, &sound);
    CHECK(certificate.failed == STOP_CONTRADICTORY, "a contradiction is joined away");
    certify_conclude(&certificate, 1, STOP_TIME, &solution);
    CHECK(!solution.certified && isnan(solution.gap) && solution.dual == 0 && !solution.converged &&
              solution.reason == STOP_CONTRADICTORY && solution.primal == 1,
          "the dual bound is above the primal one");
    CHECK(strstr(stop_message(solution.reason), "dual bound is above the primal bound"), "%s",
          stop_message(solution.reason));
    struct certificate other = sound;
    certify_take_better_dual(&other, &certificate);
    CHECK(other.certified && other.dual == sound.dual, "a failed bound is joined");
    struct certificate indefinite = {.primal = 1, .dual = 2, .zero_primal = 2};
    certify_compare(&indefinite);
    CHECK(!indefinite.failed, "the dual of an indefinite kernel says nothing");
    for (int convex = 0; convex < 2; convex++) {
        for (int failed = 0; failed < 2; failed++) {
            struct certificate sum = {.certified = true, .constant_scores = true};
            certify_add(&sum, 4, 3.5, &sound);
            certify_add(&sum, 1, failed ? 1.25 : .75, failed ? &certificate : &sound);
            CHECK_TRUE(sum.primal == 5 && sum.zero_primal == 4 && !sum.constant_scores);
            solution = (struct solution){.converged = true};
            certify_sum(&sum, convex, 1, &solution);
            CHECK_TRUE(solution.certified == (convex && !failed));
            CHECK_TRUE(solution.converged == !(convex && failed));
            CHECK_TRUE((bool)isnan(solution.gap) == (convex && failed));
            CHECK_TRUE(solution.reason == (convex && failed ? STOP_CONTRADICTORY : STOP_REACHED));
        }
    }
    struct certificate sum = {.primal = .1, .dual = .1, .certified = true};
    for (int i = 0; i < 99; i++) {
        certify_add(&sum, .1, .1, &sound);
    }
    long double exact = 100 * (long double).1;
    CHECK(sum.dual <= (double)exact && (long double)sum.dual < exact &&
              exact < (long double)sum.primal && sum.primal - sum.dual < 1e-12,
          "sums are not rounded outwards: %.17g %.17g", sum.primal, sum.dual);
    solution = (struct solution){0};
    MUST(certify_zero_solution(&problem, INFINITY, 1, 1, false, &solution, &err));
    CHECK(!solution.certified && isnan(solution.gap) && solution.reason == STOP_INFINITE,
          "the primal of f = 0 overflows");
    solution_free(&solution);
    printf("ok: bounds that contradict each other are not claimed\n");
}

/* The coefficients sum to 0, but their sum in double, which is stored as the bias, has the largest
 * possible rounding error. |f|^2 must include the square of the stored bias. */
static void check_written_bias(void) {
    enum { ROWS = 600 };
    float value[ROWS];
    double b[ROWS], zero = 0, size = 0;
    for (size_t i = 0; i < ROWS; i++) {
        value[i] = 0x1p-10F;
        b[i] = i % 2 ? 0x1p30 : -0x1p30;
        size += fabs(b[i]);
    }
    const double bias = ROWS / 2 * line_unit * size;
    struct line line;
    struct certificate found;
    const struct certify_family family = {.context = &zero, .loss = no_loss, .zero_primal = 1e9};
    const struct certify_function f = {.weights = b, .bias = &bias};
    line_open_with(&line, value, ROWS, true, (struct data){0}, 1);
    MUST(certify_bounds(line.certify, 1, &f, NULL, &family, &found, &err));
    double least = bias * bias / 2;
    CHECK(found.primal >= least && found.primal < 2 * least, "%g of %g", found.primal, least);
    line_close(&line);
    printf("ok: a bias that is not the sum of the coefficients is part of the norm\n");
}

int main(void) {
    check_equal_scores();
    check_length();
    check_levels();
    check_shift();
    check_duality();
    check_total();
    check_words();
    check_contradictions();
    check_written_bias();
    return 0;
}
