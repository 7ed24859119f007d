/* Compares the bounds and rounding-error bounds of certificates (fit/certify.h) with
 * straightforward sums, in one process and over several. */
#define _GNU_SOURCE

#include "common/kernel/rounding.h"
#include "tests/unit/fit/line.h"
#include "tests/unit/ranks.h"

enum { N = 14, D = 5, MAX_K = 3, BLOCK = 4 };

/* The loss is evaluated with a priori bounds, with entrywise bounds, and in double-double. */
enum { EVALUATIONS = 3 };

/* The error of the reference sums. */
static const double reference_error = N * 64 * (double)LDBL_EPSILON;

/* A problem, two functions on it, and the expected values. */
struct scene {
    struct data data;
    struct gram *gram;
    struct kernel kernel;
    struct score_map map;
    struct problem problem;
    struct certify *certify;
    size_t k, weights; /* outputs; rows of the weights */
    double constant;
    double x[N][D], norm_bound[N], factor; /* rows */
    long double K[N][N];                   /* their kernel, without the constant feature */
    double w[2][N * MAX_K], bias[2][MAX_K], error[N];
    /* expected arguments of `loss`, and the loss that it returned */
    long double s[N][MAX_K];
    double off[EVALUATIONS][N], returned[2];
    size_t next, block, evaluations; /* next: expected first row; evaluations of all rows */
};

/* ---- reference values ---- */

/* |f|^2 and the error bounds of the scores of f, by the formulas of certify.h. */
struct reference {
    double norm, rounding, largest, squares;
    double factor;
};

static double weight_of(const struct scene *scene, int which, size_t j, size_t c) {
    return scene->w[which][j * scene->k + c];
}

/* sum_j |x_ij| max_c |w_jc|, plus the constant feature. */
static double reference_reach(const struct scene *scene, int which, size_t i) {
    double sum = 0, last = 0;
    for (size_t j = 0; j < D; j++) {
        double most = 0;
        for (size_t c = 0; c < scene->k; c++) {
            most = fmax(most, fabs(weight_of(scene, which, j, c)));
        }
        sum += fabs(scene->x[i][j]) * most;
    }
    for (size_t c = 0; c < scene->k && scene->constant > 0; c++) {
        last = fmax(last, fabs(scene->bias[which][c]));
    }
    return sum + last;
}

static struct reference reference_linear(const struct scene *scene, int which, bool errors,
                                         double norm_error) {
    struct reference reference = {.factor = scene->factor + 2 * line_unit};
    double last = 0, most = 0;
    for (size_t j = 0; j < D * scene->k; j++) {
        reference.norm += scene->w[which][j] * scene->w[which][j];
    }
    for (size_t c = 0; c < scene->k && scene->constant > 0; c++) {
        double b = scene->bias[which][c] / scene->constant;
        reference.norm += b * b;
        most = fmax(most, fabs(b));
    }
    reference.rounding = (double)(D + scene->k + 4) * line_unit * reference.norm +
                         (2 * sqrt(reference.norm) + norm_error) * norm_error;
    for (size_t j = 0; j < D && errors; j++) {
        double off = 0, largest = 0;
        for (size_t i = 0; i < N; i++) {
            off += scene->error[i] * fabs(scene->x[i][j]);
        }
        for (size_t c = 0; c < scene->k; c++) {
            largest = fmax(largest, fabs(weight_of(scene, which, j, c)));
        }
        reference.rounding += off * (2 * largest + off);
    }
    for (size_t i = 0; i < N && errors; i++) {
        last += scene->error[i] * scene->constant;
    }
    reference.rounding += last * (2 * most + last);
    return reference;
}

static long double reference_score(const struct scene *scene, int which, size_t i, size_t c) {
    long double s = scene->gram && scene->constant > 0 ? 0 : scene->bias[which][c];
    for (size_t j = 0; j < (scene->gram ? N : D); j++) {
        long double square = (long double)scene->constant * (long double)scene->constant;
        long double k = scene->gram ? scene->K[i][j] + square : (long double)scene->x[i][j];
        s += k * (long double)weight_of(scene, which, j, c);
    }
    return s;
}

/* e (N) = entrywise error bounds of the scores, if `other` is evaluated together with it. */
static void reference_entries(const struct scene *scene, int which, int other, double *e) {
    struct kernel_rounding rounding;
    double size[2][N] = {{0}}, used[2] = {0}, sum = 0;
    const int both[2] = {which, other};
    for (int f = 0; f < 2; f++) {
        for (size_t j = 0; j < N; j++) {
            for (size_t c = 0; c < scene->k; c++) {
                size[f][j] = fmax(size[f][j], fabs(weight_of(scene, both[f], j, c)));
            }
            used[f] += size[f][j] > 0;
        }
    }
    double units = fmax(used[0], used[1]) + 10, square = scene->constant * scene->constant;
    kernel_rounding_open(&rounding, gram_rows(scene->gram), units);
    for (size_t j = 0; j < N; j++) {
        sum += size[0][j];
    }
    for (size_t i = 0; i < N; i++) {
        uint32_t column[N];
        double value[N];
        e[i] = square * units * line_unit * sum;
        for (size_t j = 0; j < N; j++) {
            column[j] = (uint32_t)j;
            value[j] = (double)scene->K[i][j];
        }
        kernel_rounding_entries(&rounding, i, column, N, value);
        for (size_t j = 0; j < N; j++) {
            e[i] += size[0][j] * value[j];
        }
    }
}

/* entries (N): error bounds of the scores; NULL: from factor and norm bounds. precise: the error of
 * |f|^2 is one final rounding. */
static struct reference reference_kernel(const struct scene *scene, int which, bool errors,
                                         const double *entries, bool precise) {
    struct reference reference = {0};
    double size = 0, error = 0, by_entries = 0;
    size_t used = 0;
    double column[MAX_K] = {0};
    for (size_t i = 0; i < N; i++) {
        bool any = false;
        for (size_t c = 0; c < scene->k; c++) {
            double b = weight_of(scene, which, i, c);
            double s = (double)reference_score(scene, which, i, c);
            s -= scene->constant > 0 ? 0 : scene->bias[which][c];
            reference.norm += b * s;
            size += fabs(b * s);
            column[c] += fabs(b) * scene->norm_bound[i];
            by_entries += entries ? fabs(b) * entries[i] : INFINITY;
            any |= b != 0;
        }
        used += any;
        error += errors ? scene->error[i] * scene->norm_bound[i] : 0;
    }
    reference.factor = scene->factor + (double)(used + 8) * line_unit;
    for (size_t c = 0; c < scene->k; c++) {
        reference.rounding += reference.factor * column[c] * column[c];
        reference.largest = fmax(reference.largest, column[c]);
    }
    reference.rounding = fmin(reference.rounding, by_entries);
    reference.rounding +=
        precise ? line_unit * reference.norm : (double)(N * scene->k + 2) * line_unit * size;
    double k = (double)scene->k;
    reference.rounding += k * error * (2 * sqrt(reference.norm + reference.rounding) + k * error);
    reference.largest += error;
    return reference;
}

/* ---- the loss: sum |s|; it checks the scores and their errors ---- */

static int loss(void *context, size_t first, size_t n, const double *s, const double *error,
                double *value, double *rounding, struct error *failure) {
    struct scene *scene = context;
    (void)failure;
    *value = *rounding = 0;
    if (first == 0) {
        scene->next = 0;
        scene->evaluations++;
        scene->returned[0] = scene->returned[1] = 0;
    }
    CHECK(first == scene->next, "rows from %zu, not %zu", first, scene->next);
    CHECK(n == (scene->block && scene->block < N - first ? scene->block : N - first),
          "%zu rows in a block", n);
    scene->next += n;
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < scene->k; c++) {
            double off = (double)fabsl((long double)s[i * scene->k + c] - scene->s[first + i][c]);
            CHECK(off <= error[i] + reference_error, "row %zu, score %zu: off by %g, not %g",
                  first + i, c, off, error[i]);
            *value += fabs(s[i * scene->k + c]);
        }
        double expected = scene->off[scene->evaluations - 1][first + i];
        CHECK_NEAR(error[i], expected, 1e-7, "evaluation %zu, row %zu: error", scene->evaluations,
                   first + i);
    }
    for (size_t i = 0; i < n; i++) {
        *rounding += 3 * error[i];
    }
    scene->returned[0] += *value;
    scene->returned[1] += *rounding + line_unit * scene->returned[0];
    return 0;
}

/* ---- scenes ---- */

/* size: of the errors of coefficients and of exact scores. */
static void open_scene(struct scene *scene, size_t k, bool sparse, double constant, bool kernel,
                       double size, struct random *random) {
    *scene = (struct scene){.k = k, .constant = constant, .weights = kernel ? N : D};
    scene->data = sample_data(N, D, sparse ? 0.6 : 1, SAMPLE_SIGNED, sparse, true,
                              random_below(random, 1000));
    scene->kernel =
        (struct kernel){.type = KERNEL_POLYNOMIAL, .degree = 2, .gamma = 1, .coef0 = .5};
    if (kernel) {
        MUST(gram_create(&scene->gram, &scene->kernel, &scene->data, 1 << 20, true, NULL, &err));
    }
    scene->problem = (struct problem){.data = &scene->data, .gram = scene->gram, .n = N};
    MUST(score_map_create(&scene->map, &scene->problem, &err));
    MUST(certify_create(&scene->certify, &scene->problem, &scene->map, constant, &err));
    double longest = 0;
    for (size_t i = 0; i < N; i++) {
        double norm = 0;
        data_row_dense(&scene->data, i, D, scene->x[i]);
        size_t n = sparse ? (size_t)(scene->data.row_start[i + 1] - scene->data.row_start[i]) : D;
        longest = fmax(longest, (double)n);
        for (size_t j = 0; j < D; j++) {
            norm += scene->x[i][j] * scene->x[i][j];
        }
        scene->norm_bound[i] = hypot(kernel ? norm + .5 : sqrt(norm), constant);
    }
    scene->factor = kernel ? 2 * (longest + 6) * line_unit : (longest + 2) * line_unit;
    scene->factor += 2 * line_unit;
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            long double dot = 0;
            for (size_t f = 0; f < D; f++) {
                dot += (long double)scene->x[i][f] * (long double)scene->x[j][f];
            }
            scene->K[i][j] = (dot + .5L) * (dot + .5L);
        }
        scene->error[i] = i % 3 == 1 ? 0 : size * random_unit(random);
    }
    for (size_t which = 0; which < 2; which++) {
        for (size_t j = 0; j < scene->weights * k; j++) {
            scene->w[which][j] = j % 4 == 3 ? 0 : 2 * random_unit(random) - 1;
        }
        for (size_t c = 0; c < k; c++) {
            double sum = 0;
            for (size_t i = 0; i < N && kernel; i++) {
                sum += weight_of(scene, (int)which, i, c);
            }
            scene->bias[which][c] =
                kernel && constant > 0 ? constant * constant * sum : random_unit(random) - .5;
        }
    }
}

static void close_scene(struct scene *scene) {
    certify_free(scene->certify);
    score_map_free(&scene->map);
    gram_free(scene->gram);
    data_free(&scene->data);
}

/* Sets the expected arguments of f's loss at evaluation `evaluation` from 0, and resets the
 * count. */
static void expect(struct scene *scene, size_t evaluation, const struct reference *f,
                   const double *entries) {
    double most_bias = 0;
    scene->evaluations = 0;
    for (size_t c = 0; c < scene->k; c++) {
        most_bias = fmax(most_bias, fabs(scene->bias[0][c]));
    }
    for (size_t i = 0; i < N; i++) {
        double most = 0, *off = &scene->off[evaluation][i];
        for (size_t c = 0; c < scene->k; c++) {
            scene->s[i][c] = reference_score(scene, 0, i, c);
            most = fmax(most, fabs((double)scene->s[i][c]));
        }
        double norm_bound =
            scene->gram ? scene->norm_bound[i] * f->largest : reference_reach(scene, 0, i);
        *off = entries ? fmin(entries[i], f->factor * norm_bound) : f->factor * norm_bound;
        *off += 6 * line_unit * (most + most_bias);
    }
}

/* Checks both bounds of f and g. */
static void check_scene(struct scene *scene, bool same, bool exact, double norm_error) {
    bool kernel = scene->gram, given = exact && kernel;
    norm_error = kernel ? 0 : norm_error;
    double exact_f[N * MAX_K], exact_g[N * MAX_K], largest = 0, most = 0;
    struct reference reference_f = kernel ? reference_kernel(scene, 0, false, NULL, false)
                                          : reference_linear(scene, 0, false, 0);
    int which = same ? 0 : 1;
    struct reference reference_g = kernel ? reference_kernel(scene, which, true, NULL, false)
                                          : reference_linear(scene, which, true, norm_error);
    for (size_t i = 0; i < N * scene->k && kernel; i++) {
        double inner[2] = {0, 0}; /* without bias */
        for (size_t j = 0; j < N; j++) {
            double value = (double)scene->K[i / scene->k][j];
            inner[0] += value * weight_of(scene, 0, j, i % scene->k);
            inner[1] += value * weight_of(scene, 1, j, i % scene->k);
        }
        exact_f[i] = inner[0];
        exact_g[i] = inner[1];
    }
    double linear = .5 * fmax(reference_f.norm, reference_g.norm) + .25;
    const struct certify_function f = {
        .weights = scene->w[0], .bias = scene->bias[0], .exact = given ? exact_f : NULL};
    const struct certify_function g = {.weights = scene->w[which],
                                       .bias = scene->bias[which],
                                       .error = scene->error,
                                       .norm_error = norm_error,
                                       .exact = given && !same && scene->block ? exact_g : NULL};
    struct certify_family family = {.context = scene, .loss = loss, .linear = linear};
    family.block = scene->block;
    family.linear_rounding = 7e-15;
    family.zero_primal = 1e6;
    family.target_gap = INFINITY;
    struct certificate found;
    expect(scene, 0, &reference_f, NULL);
    MUST(certify_bounds(scene->certify, scene->k, &f, &g, &family, &found, &err));
    CHECK(scene->next == N && scene->evaluations == 1, "%zu rows, %zu evaluations", scene->next,
          scene->evaluations);
    double value = scene->returned[0];
    CHECK_NEAR(found.primal,
               .5 * (reference_f.norm + reference_f.rounding) + value + scene->returned[1], 1e-12,
               "primal");
    CHECK_CLOSE(found.dual, fmax(0, linear - .5 * (reference_g.norm + reference_g.rounding)),
                1e-12 * (linear + reference_g.rounding), "dual");
    double paid = scene->returned[1] + 7e-15 + .5 * (reference_f.rounding + reference_g.rounding);
    CHECK_NEAR(found.rounding, paid, 1e-9, "paid");
    CHECK_NEAR(found.norm, sqrt(reference_f.norm), 1e-12, "norm");
    CHECK(found.certified && !found.constant_scores && !found.zero_is_better &&
              found.zero_primal == 1e6,
          "flags");
    CHECK_NEAR(found.gap, (found.primal - found.dual) / found.primal, 1e-12, "gap");
    for (size_t i = 0; i < N; i++) {
        most = fmax(most, scene->off[0][i]);
        largest = fmax(largest, kernel ? 0 : reference_reach(scene, 0, i));
    }
    CHECK_NEAR(found.score_error, most, 1e-9, "slack");
    struct certify_function scored = f;
    scored.exact = exact_f;
    scored.error = scene->error;
    double score, coefficients = 0;
    struct reference lossy = kernel ? reference_kernel(scene, 0, true, NULL, false) : reference_f;
    for (size_t i = 0; i < N; i++) {
        coefficients += scene->error[i] * scene->norm_bound[i];
    }
    for (size_t i = 0; i < N * scene->k && kernel; i++) {
        double error = lossy.factor * lossy.largest + coefficients;
        largest = fmax(largest, fabs(exact_f[i]) + scene->norm_bound[i / scene->k] * error);
    }
    MUST(certify_score_bound(scene->certify, scene->k, &scored, &score, &err));
    CHECK_NEAR(score, largest, 1e-12, "largest score");
    /* With entrywise errors, which are smaller, then with hardly any. The linear part is such that
     * the gap is due to rounding only. */
    struct certify_family sharper = family;
    struct certificate sharp;
    sharper.target_gap = 0;
    sharper.linear = .5 * (reference_f.norm + reference_g.norm) + value;
    scene->evaluations = 0;
    if (kernel) {
        double e[2][N], none[N] = {0};
        reference_entries(scene, 0, which, e[0]);
        reference_entries(scene, which, 0, e[1]);
        reference_f = reference_kernel(scene, 0, false, e[0], false);
        reference_g = reference_kernel(scene, which, true, e[1], false);
        expect(scene, 1, &reference_f, e[0]);
        reference_f = reference_kernel(scene, 0, false, none, true);
        reference_g = reference_kernel(scene, which, true, none, true);
        expect(scene, 2, &reference_f, none);
    }
    MUST(certify_bounds(scene->certify, scene->k, &f, &g, &sharper, &sharp, &err));
    CHECK(scene->evaluations == (kernel ? EVALUATIONS : 1) &&
              (!kernel || sharp.primal < found.primal),
          "bounds are not sharper: %zu evaluations", scene->evaluations);
    paid = scene->returned[1] + 7e-15 + .5 * (reference_f.rounding + reference_g.rounding);
    CHECK_NEAR(sharp.rounding, paid, 1e-7, "paid");
    double dual = sharper.linear - .5 * (reference_g.norm + reference_g.rounding);
    CHECK_CLOSE(sharp.dual, dual, 1e-12 * (sharper.linear + reference_g.rounding), "dual");
    CHECK_NEAR(sharp.norm, found.norm, 1e-12, "norm");
    /* As one function: the dual is that of f; and f = 0 is reported where it is better. */
    struct certify_family better = family;
    better.zero_primal = 1e-3;
    struct certify_function both = f;
    both.error = scene->error;
    both.exact = NULL;
    reference_f = kernel ? reference_kernel(scene, 0, true, NULL, false)
                         : reference_linear(scene, 0, true, 0);
    expect(scene, 0, &reference_f, NULL);
    MUST(certify_bounds(scene->certify, scene->k, &both, NULL, &better, &found, &err));
    CHECK_CLOSE(found.dual, fmax(0, linear - .5 * (reference_f.norm + reference_f.rounding)),
                1e-12 * (linear + reference_f.rounding), "dual of f");
    CHECK(found.zero_is_better && found.primal == 1e-3, "worse than nothing, primal %g",
          found.primal);
}

static void check_bounds(void) {
    struct random random = sample_random(3, 0);
    for (int round = 0; round < 256; round++) {
        struct scene scene;
        double size = round & 128 ? .01 : 1e-15;
        open_scene(&scene, round & 64 ? MAX_K : 1, round & 4, round & 8 ? round & 4 ? .75 : 1.5 : 0,
                   round & 16, size, &random);
        CHECK_NEAR(certify_error_factor(scene.certify), scene.factor, 1e-12, "factor");
        for (size_t i = 0; i < N; i++) {
            CHECK_NEAR(certify_norm_bounds(scene.certify)[i], scene.norm_bound[i], 1e-12,
                       "reach of row %zu", i);
        }
        scene.block = round & 1 ? round & 8 ? 1 : BLOCK : 0;
        check_scene(&scene, round & 2, round & 32, .3 * size);
        close_scene(&scene);
    }
    printf("ok: both bounds and their rounding-error bounds equal the reference\n");
}

/* ---- constant scores, and overflow ---- */

static void check_flat(void) {
    float value[] = {1, 1, 1, 2};
    struct line line;
    struct certificate found;
    double w[2] = {1, 0}, zero = 0, bias = 3;
    line_open(&line, value, 2, false, (struct data){.n_features = 2, .value = value});
    const struct certify_family family = {.context = &zero, .loss = no_loss, .zero_primal = 2};
    struct certify_function f = {.weights = w, .bias = &bias};
    MUST(certify_bounds(line.certify, 1, &f, NULL, &family, &found, &err));
    CHECK(found.constant_scores && found.dual == 0 && near(found.primal, .5, 1e-12),
          "scores 4 and 4");
    w[1] = 1e-15; /* below 4 times the rounding-error bound, about 3e-15 */
    MUST(certify_bounds(line.certify, 1, &f, NULL, &family, &found, &err));
    CHECK(found.constant_scores, "scores that rounding may have made different");
    w[1] = 1e-12;
    MUST(certify_bounds(line.certify, 1, &f, NULL, &family, &found, &err));
    CHECK(!found.constant_scores, "scores that differ");
    double none = INFINITY;
    w[1] = 1e200;
    CHECK(certify_bounds(line.certify, 1, &f, NULL, &family, &found, &err) < 0,
          "the norm overflows");
    CHECK(strstr(err.text, "scores overflow"), "%s", err.text);
    w[1] = 0;
    double *norm_bound = memory_array(2, sizeof *norm_bound, "norm bounds", &err);
    struct certify_pair *pair = memory_zeros(2, sizeof *pair, "pairs", &err);
    CHECK_TRUE(norm_bound && pair);
    norm_bound[0] = norm_bound[1] = pair[0].other = pair[1].other = 1;
    struct certify *pairs;
    MUST(certify_create(&pairs, &line.problem, &line.map, 0, &err));
    certify_pairs(pairs, norm_bound, 1e-16, pair); /* scores are then those of pairs */
    MUST(certify_bounds(pairs, 1, &f, NULL, &family, &found, &err));
    CHECK(!found.constant_scores && certify_error_factor(pairs) == 1e-16 &&
              certify_norm_bounds(pairs) == norm_bound,
          "pairs");
    w[0] = 0;
    MUST(certify_bounds(pairs, 1, &f, NULL, &family, &found, &err));
    CHECK(found.constant_scores, "no weight, and pairs that differ");
    certify_free(pairs);
    const struct certify_family infinite = {
        .context = &none, .loss = no_loss, .zero_primal = INFINITY};
    CHECK(certify_bounds(line.certify, 1, &f, NULL, &infinite, &found, &err) < 0,
          "an infinite loss");
    line_close(&line);
    printf("ok: constant scores and overflow are recognised\n");
}

/* A linear part of the dual that is too large puts the dual bound above the primal one. */
static void check_crossed(void) {
    float value[] = {1, 1, 1, 2};
    struct line line;
    struct certificate found;
    double w[2] = {1, 0}, loss = 1; /* the primal is 1.5, with the weights' norm */
    const struct certify_function f = {.weights = w};
    struct certify_family family = {
        .context = &loss, .loss = no_loss, .linear = 1.9, .zero_primal = 2};
    line_open(&line, value, 2, false, (struct data){.n_features = 2, .value = value});
    MUST(certify_bounds(line.certify, 1, &f, NULL, &family, &found, &err));
    CHECK(found.certified && !found.failed && near(found.dual, 1.4, 1e-12), "D %g", found.dual);
    family.linear = 2.1;
    MUST(certify_bounds(line.certify, 1, &f, NULL, &family, &found, &err));
    CHECK(!found.certified && found.failed == STOP_CONTRADICTORY && near(found.dual, 1.6, 1e-12),
          "above the primal: D %g", found.dual);
    family.linear = 2;
    family.zero_primal = 1.4;
    MUST(certify_bounds(line.certify, 1, &f, NULL, &family, &found, &err));
    CHECK(found.zero_is_better && found.failed == STOP_CONTRADICTORY,
          "above the primal of f = 0: D %g", found.dual);
    family.linear = loss = 0;
    w[0] = 0;
    family.zero_primal = 0;
    MUST(certify_bounds(line.certify, 1, &f, NULL, &family, &found, &err));
    CHECK(found.certified && found.gap == 0 && found.primal == 0, "an optimum of 0");
    loss = NAN;
    family.zero_primal = 2;
    MUST(certify_bounds(line.certify, 1, &f, NULL, &family, &found, &err));
    CHECK(found.zero_is_better && found.primal == 2, "a loss that is not a number: %g",
          found.primal);
    line_close(&line);
    printf("ok: bounds that contradict each other are not certified\n");
}

/* No loss; context gets the scores. */
static int keep_scores(void *context, size_t first, size_t n, const double *s, const double *error,
                       double *value, double *rounding, struct error *failure) {
    (void)error, (void)failure;
    memcpy((double *)context + first, s, n * sizeof *s);
    *value = *rounding = 0;
    return 0;
}

/* A bias with kernels that differs from the contribution of the constant feature to the
 * coefficients' sum, in double and in double-double. */
static void check_bias(void) {
    float value[] = {1, 2};
    struct line line;
    struct certificate found;
    double w[2] = {.5, .25}, bias = 7e8, scores[2], constant = 1e6; /* w'x is x */
    double primal = .5 * (1 + bias / constant * (bias / constant)), norm_bound = 1e12 * .75;
    line_open_with(&line, value, 2, true, (struct data){0}, constant);
    const struct certify_function f = {.weights = w, .bias = &bias};
    for (int precise = 0; precise < 2; precise++) {
        struct certify_family family = {
            .context = scores, .loss = keep_scores, .linear = 2 * primal, .zero_primal = 1e20};
        family.target_gap = precise ? 0 : INFINITY;
        double off = precise ? 1e-14 * primal : 64 * line_unit * norm_bound;
        CHECK_TRUE(certify_bounds(line.certify, 1, &f, NULL, &family, &found, &err) == 0);
        CHECK(found.primal >= primal * (1 - 2 * line_unit) && found.primal <= primal + off,
              "primal %.17g, not %.17g", found.primal, primal);
        CHECK(found.dual <= primal * (1 + 2 * line_unit) && found.dual >= primal - off,
              "dual %.17g, not %.17g", found.dual, primal);
        CHECK(scores[0] == bias + 1 && scores[1] == bias + 2, "scores %.17g, %.17g", scores[0],
              scores[1]);
    }
    line_close(&line);
    printf("ok: a bias replaces the constant feature, regardless of the sum of the coefficients\n");
}

/* ---- rows distributed over processes ---- */

struct processes {
    const struct scene *scene;
    size_t ranks;
    struct certificate found;
};

static int sum_of_sizes(void *context, size_t first, size_t n, const double *s, const double *error,
                        double *value, double *rounding, struct error *failure) {
    const size_t *k = context;
    (void)first, (void)failure;
    *value = *rounding = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < *k; c++) {
            *value += fabs(s[i * *k + c]);
        }
        *rounding += 3 * error[i];
    }
    return 0;
}

static void run_process(struct cluster *cluster, void *context) {
    struct processes *processes = context;
    const struct scene *scene = processes->scene;
    struct data data = scene->data;
    size_t rank = cluster_rank(cluster), first = ranks_cut(cluster, processes->ranks, &data);
    size_t n = data.n_rows, k = scene->k;
    const struct problem problem = {.data = &data, .n = n, .cluster = cluster};
    struct score_map map;
    struct certify *certify;
    struct certificate found;
    MUST(score_map_create(&map, &problem, &err));
    MUST(certify_create(&certify, &problem, &map, scene->constant, &err));
    const struct certify_function f = {.weights = scene->w[0], .bias = scene->bias[0]};
    const struct certify_function g = {
        .weights = scene->w[1], .error = scene->error + first, .bias = scene->bias[1]};
    const struct certify_family family = {
        .context = &k, .loss = sum_of_sizes, .linear = 100, .zero_primal = 1e6};
    MUST(certify_bounds(certify, k, &f, &g, &family, &found, &err));
    double score, most = cluster_largest(cluster, found.rounding);
    CHECK(found.rounding == most && found.primal == cluster_largest(cluster, found.primal) &&
              found.dual == cluster_largest(cluster, found.dual) &&
              found.constant_scores == cluster_any(cluster, found.constant_scores),
          "process %zu has another certificate", rank);
    MUST(certify_score_bound(certify, k, &f, &score, &err));
    if (rank == 0) {
        processes->found = found;
        processes->found.norm = score;
    }
    certify_free(certify);
    score_map_free(&map);
}

static void check_processes(void) {
    struct random random = sample_random(4, 0);
    for (int round = 0; round < 48; round++) {
        struct scene scene;
        open_scene(&scene, round & 1 ? MAX_K : 1, false, round & 2 ? 1.5 : 0, false,
                   round & 4 ? .01 : 1e-15, &random);
        struct processes one = {.scene = &scene, .ranks = 1}, several = {.scene = &scene};
        several.ranks = round & 8 ? 2 : 3;
        run_process(NULL, &one);
        ranks_run(several.ranks, run_process, &several);
        const struct certificate *a = &one.found, *b = &several.found;
        double norm = reference_linear(&scene, 0, false, 0).norm;
        double rounding = (double)several.ranks * line_unit;
        double paid = a->rounding +
                      rounding * (a->primal - .5 * norm); /* for the sum of the processes' losses */
        CHECK_NEAR(b->rounding, paid, 1e-11 + (round & 4 ? 0 : 1e-9), "paid");
        CHECK(near(b->primal, a->primal, 1e-13) && near(b->dual, a->dual, 1e-13) &&
                  near(b->score_error, a->score_error, 1e-9) && b->norm == a->norm &&
                  !b->constant_scores,
              "bounds %g and %g, not %g and %g", b->primal, b->dual, a->primal, a->dual);
        close_scene(&scene);
    }
    printf("ok: over processes the bounds are those of all rows\n");
}

int main(void) {
    check_bounds();
    check_flat();
    check_crossed();
    check_bias();
    check_processes();
    return 0;
}
