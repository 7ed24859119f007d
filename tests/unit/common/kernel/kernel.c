/* Kernel blocks in both precisions against kernel_value (tests/golden/formulas.py has the
 * formulas), and which kernels are positive semidefinite. One long file: every kernel is tested on
 * the same cases. */
#include "common/base/threads.h"
#include "common/kernel/rounding.h"
#include "tests/unit/common/kernel/kernels.h"
#include "tests/unit/compute.h"

#include <cblas.h>
#include <float.h>

/* How far an entry may be from kernel_value when sums of k products are rounded to `unit`: k units
 * of sum |x_i z_i| <= |x||z| (rounding analysis of a sum in any order), carried through the
 * kernel's function by its largest slope nearby, and 8 units for the function itself. */
static double tolerance(const struct kernel_rows *x, size_t i, const struct kernel_rows *z,
                        size_t j, double value, double unit, size_t k) {
    const struct kernel *kernel = x->kernel;
    double norms = sqrt(x->norm[i] * z->norm[j]), sum = (double)(k + 4) * unit;
    double product = sum * norms, function = 8 * unit * fabs(value);
    switch (kernel->type) {
    case KERNEL_LINEAR:
        return product + function;
    case KERNEL_POLYNOMIAL: {
        double base = fabs(kernel->gamma) * norms + fabs(kernel->coef0);
        double slope = kernel->degree * pow(base, kernel->degree - 1);
        return slope * (kernel->gamma * product + 4 * unit * base) * 1.01 + function;
    }
    case KERNEL_RBF:       /* norms |x|^2 */
    case KERNEL_LAPLACIAN: /* and |x|_1 */
    case KERNEL_RATIONAL:
        return kernel->gamma * sum * (x->norm[i] + z->norm[j]) * 1.01 + function + DBL_MIN +
               (unit > DBL_EPSILON ? (double)FLT_MIN : 0);
    case KERNEL_SIGMOID:
        return kernel->gamma * product + 4 * unit * (kernel->gamma * norms + fabs(kernel->coef0)) +
               function;
    case KERNEL_TANIMOTO:
    case KERNEL_MINMAX:
        return 4 * sum;
    case KERNEL_PRECOMPUTED:
        break;
    }
    return 0;
}

static void compare(const struct data *a, const struct data *b, const struct kernel *kernel,
                    struct kernel_scratch *scratch, const char *what) {
    struct kernel_rows x, z;
    MUST(kernel_rows_create(&x, kernel, a, &err));
    MUST(kernel_rows_create(&z, kernel, b, &err));
    const struct kernel_rows *other = a == b ? &x : &z;
    /* rows and columns that do not begin at 0; the padding of the stride must not change */
    size_t x_first = a->n_rows / 5, n_x = a->n_rows - x_first;
    size_t z_first = b->n_rows / 7, n_z = b->n_rows - z_first, stride = n_z + 3;
    float *narrow = check_array(n_x * stride, sizeof *narrow);
    double *wide = check_array(n_x * stride, sizeof *wide);
    MUST(kernel_block_float(&x, x_first, n_x, other, z_first, n_z, narrow, stride, scratch, &err));
    MUST(kernel_block_double(&x, x_first, n_x, other, z_first, n_z, wide, stride, scratch, &err));
    /* sums of integers are computed in float: they equal those in double, to the bit */
    if (x.whole && other->whole) {
        double *plain = check_array(n_x * stride, sizeof *plain);
        struct kernel_rows plain_x = x, plain_z = *other;
        plain_x.whole = plain_z.whole = false;
        MUST(kernel_block_double(&plain_x, x_first, n_x, &plain_z, z_first, n_z, plain, stride,
                                 scratch, &err));
        CHECK(memcmp(plain, wide, n_x * stride * sizeof *plain) == 0,
              "%s: kernel %d of whole numbers: sums in float are not exact", what, kernel->type);
    }
    /* the rounding-error bounds of certificates; the reference may have the same error */
    double *x_norm_bound = check_array(a->n_rows, sizeof *x_norm_bound);
    double *z_norm_bound = check_array(b->n_rows, sizeof *z_norm_bound);
    struct kernel_rounding rounding;
    bool by_entry = a == b;
    kernel_rounding_open(&rounding, &x, 0);
    double bound = 2 * kernel_rounding(&x, other);
    kernel_norm_bounds(&x, x_norm_bound);
    kernel_norm_bounds(other, z_norm_bound);
    size_t k = a->n_features < b->n_features ? a->n_features : b->n_features;
    /* a sample of the entries, in every row and column */
    size_t every = n_x * n_z * (a->n_features < 10000 ? a->n_features : 10000) > 1000000 ? 7 : 1;
    for (size_t r = 0; r < n_x; r++) {
        for (size_t c = 0; c < stride; c++) {
            double f = (double)narrow[r * stride + c], d = wide[r * stride + c];
            if (c >= n_z) {
                CHECK(f == 0 && d == 0, "%s: kernel %d wrote behind row %zu", what, kernel->type,
                      r);
                continue;
            }
            size_t i = x_first + r, j = z_first + c;
            bool same = i == j || (i + 1 == j && j % 7 == 5) || (j + 1 == i && i % 7 == 5);
            if (!same && (r + c) % every) {
                continue;
            }
            double value = kernel_value(&x, i, other, j);
            double tol = tolerance(&x, i, other, j, value, 0x1p-24, k);
            CHECK_CLOSE(f, value, tol, "%s: kernel %d float (%zu,%zu)", what, kernel->type, i, j);
            tol = tolerance(&x, i, other, j, value, 0x1p-53, k);
            CHECK_CLOSE(d, value, tol, "%s: kernel %d double (%zu,%zu)", what, kernel->type, i, j);
            double norm_bound = x_norm_bound[i] * z_norm_bound[j];
            CHECK(fabs(value) <= norm_bound * (1 + 1e-12),
                  "%s: kernel %d (%zu,%zu): %g, norm_bound %g", what, kernel->type, i, j, value,
                  norm_bound);
            CHECK_CLOSE(d, value, bound * norm_bound, "%s: kernel %d (%zu,%zu)", what, kernel->type,
                        i, j);
            uint32_t at = (uint32_t)j;
            double entry = d;
            bool by_distance = kernel->type == KERNEL_RBF || kernel->type == KERNEL_LAPLACIAN ||
                               kernel->type == KERNEL_RATIONAL;
            if (by_entry) {
                kernel_rounding_entries(&rounding, i, &at, 1, &entry);
                CHECK_CLOSE(d, value, 2 * entry, "%s: kernel %d (%zu,%zu)", what, kernel->type, i,
                            j);
                CHECK(!same || !by_distance || entry < 0x1p-49,
                      "%s: kernel %d of identical rows: bound %g", what, kernel->type, entry);
            }
            bool share = kernel->type == KERNEL_TANIMOTO || kernel->type == KERNEL_MINMAX;
            if (a == b && same && by_distance) {
                CHECK(f == 1 && d == 1, "%s: kernel %d of identical rows %zu and %zu: %.9g, %.17g",
                      what, kernel->type, i, j, f, d);
            }
            if (a == b && i == j && share) {
                CHECK(f == 1 && d == 1, "%s: kernel %d of row %zu and itself is not 1", what,
                      kernel->type, i);
            }
        }
    }
    kernel_rows_free(&x);
    kernel_rows_free(&z);
}

static void test_blocks(void) {
    static const struct shape {
        const char *what;
        size_t n;
        uint32_t width, width_b;
        double density;
        enum sample_values values;
    } shapes[] = {
        {"small", 40, 17, 23, .5, SAMPLE_COUNTS},
        {"full rows", 120, 60, 60, 1, SAMPLE_COUNTS},
        {"more rows than a tile", 340, 40, 31, .2, SAMPLE_COUNTS},
        {"more features than a packed panel", 30, 2100, 2300, .3, SAMPLE_COUNTS},
        {"more of both", 340, 1100, 1200, .02, SAMPLE_COUNTS},
        {"signed values", 70, 130, 130, .4, SAMPLE_SIGNED},
        {"values far from the origin", 70, 20, 20, 1, SAMPLE_NEAR},
        {"one feature", 20, 1, 5, 1, SAMPLE_COUNTS},
    };
    struct kernel_scratch *scratch;
    MUST(kernel_scratch_create(&scratch, &err));
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        const struct shape *shape = &shapes[s];
        for (int forms = (int)s % quick_step(3); forms < 4; forms += quick_step(3)) {
            struct data a = sample_data(shape->n, shape->width, shape->density, shape->values,
                                        forms & 1, true, 10 + s);
            struct data b = sample_data(shape->n + 9, shape->width_b, shape->density, shape->values,
                                        forms & 2, true, 20 + s);
            for (int k = 0; k < KERNELS; k++) {
                /* large shapes test how tiles are composed: the kinds of sums suffice */
                bool sums = k == 0 || kernels[k].type == KERNEL_MINMAX ||
                            kernels[k].type == KERNEL_LAPLACIAN ||
                            kernels[k].type == KERNEL_RATIONAL;
                if ((sums || shape->n * shape->width < 100000) &&
                    (kernels[k].type != KERNEL_MINMAX || shape->values != SAMPLE_SIGNED)) {
                    compare(&a, &b, &kernels[k], scratch, shape->what);
                    compare(&a, &a, &kernels[k], scratch, shape->what);
                }
            }
            data_free(&a);
            data_free(&b);
        }
    }
    printf("ok: blocks of dense and sparse rows, float and double, equal kernel_value\n");

    /* Many more features than the table of slots has; rows so long that a panel takes them in
     * parts; and nearly 2^32 features. */
    struct data wide = sample_data(340, 3000000, 1e-5, SAMPLE_COUNTS, true, true, 30);
    struct data longer = sample_data(70, 40000, .3, SAMPLE_COUNTS, true, true, 31);
    struct data widest = sample_data(60, UINT32_MAX, 2e-8, SAMPLE_COUNTS, true, true, 32);
    for (int k = 0; k < KERNELS; k++) {
        if (kernels[k].type != KERNEL_POLYNOMIAL) {
            compare(&wide, &wide, &kernels[k], scratch, "wide");
            compare(&widest, &widest, &kernels[k], scratch, "widest");
            compare(&widest, &wide, &kernels[k], scratch, "widest against wide");
        }
    }
    compare(&longer, &longer, &kernels[0], scratch, "long rows");
    compare(&wide, &longer, &kernels[0], scratch, "wide against long");
    compare(&longer, &longer, &kernels[KERNELS - 1], scratch, "long rows");
    data_free(&wide);
    data_free(&longer);
    data_free(&widest);
    printf("ok: blocks of very wide and of very long rows equal kernel_value\n");
    kernel_scratch_free(scratch);
}

/* Beside a 1 numbers below half a unit of it are lost one by one. If all were added in turn, more
 * would be lost than the number of additions allows. */
static void test_additions(void) {
    enum { N = 1 << 14 };
    const double unit = 0x1p-53, lost = unit / 2, whole = 1 + (N - 1) * lost;
    struct kernel kernel = {.type = KERNEL_LINEAR};
    struct data ones = {.n_rows = N, .n_features = 1, .value = check_array(N, sizeof(float))};
    struct kernel_rows rows;
    for (size_t i = 0; i < N; i++) {
        ones.value[i] = 1;
    }
    MUST(kernel_rows_create(&rows, &kernel, &ones, &err));
    double most = (double)kernel_scores_additions(&rows, N) * unit * whole;
    CHECK(most < whole - 1, "the bound allows that all are lost");
    for (size_t k = 1; k <= 3; k++) {
        double *b = check_numbers(N * k), *s = check_numbers(N * k);
        for (size_t i = 0; i < N; i++) {
            b[i * k] = i == 0 ? 1 : lost;
        }
        MUST(kernel_scores(&rows, &rows, b, k, s, NULL, &err));
        for (size_t i = 0; i < N; i++) {
            CHECK_CLOSE(s[i * k], whole, most, "row %zu of %zu outputs", i, k);
        }
    }
    CHECK(kernel_scores_additions(&rows, 5) == 5, "five terms have more than five");
    kernel_rows_free(&rows);
    printf("ok: no term of a score goes through more additions than said\n");
}

/* True if the matrix of all rows has a Cholesky factor, up to rounding. */
static bool has_factor(const struct kernel *kernel, const struct data *data) {
    struct kernel_rows rows;
    MUST(kernel_rows_create(&rows, kernel, data, &err));
    size_t n = data->n_rows;
    double *k = check_array(n * n, sizeof *k), trace = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            k[i * n + j] = kernel_value(&rows, i, &rows, j);
        }
        trace += fabs(k[i * n + i]);
    }
    bool positive = true;
    for (size_t i = 0; i < n && positive; i++) {
        k[i * n + i] += 1e-12 * trace;
        for (size_t j = 0; j <= i; j++) {
            double rest = k[i * n + j];
            for (size_t m = 0; m < j; m++) {
                rest -= k[i * n + m] * k[j * n + m];
            }
            positive &= i != j || rest > 0;
            k[i * n + j] = i == j ? sqrt(fmax(rest, 0)) : rest / k[j * n + j];
        }
    }
    kernel_rows_free(&rows);
    return positive;
}

/* Kernels declared positive semidefinite are, also on rows of both signs; for the others there is a
 * counterexample. */
static void test_definite(void) {
    static const struct {
        struct kernel kernel;
        bool definite;
    } cases[] = {{{KERNEL_LINEAR, 0, 0, 0}, true},
                 {{KERNEL_POLYNOMIAL, 3, .5, 0}, true},
                 {{KERNEL_POLYNOMIAL, 2, .5, 1}, true},
                 {{KERNEL_POLYNOMIAL, 0, .5, 1}, true},
                 {{KERNEL_POLYNOMIAL, 3, .5, -1}, false},
                 {{KERNEL_POLYNOMIAL, 1, -.5, 0}, false},
                 {{KERNEL_POLYNOMIAL, 2, .5, -1e-3}, false},
                 {{KERNEL_RBF, 0, .7, 0}, true},
                 {{KERNEL_RBF, 0, 0, 0}, true},
                 {{KERNEL_SIGMOID, 0, 1, -1}, false},
                 {{KERNEL_SIGMOID, 0, 1, 0}, false},
                 {{KERNEL_TANIMOTO, 0, 0, 0}, true},
                 {{KERNEL_MINMAX, 0, 0, 0}, true},
                 {{KERNEL_LAPLACIAN, 0, .7, 0}, true},
                 {{KERNEL_LAPLACIAN, 0, -.7, 0}, false},
                 {{KERNEL_RATIONAL, 0, .7, 0}, true},
                 {{KERNEL_RATIONAL, 0, -.01, 0}, false}};
    enum { CASES = sizeof cases / sizeof cases[0] };
    struct data signs = sample_data(90, 3, .8, SAMPLE_SIGNED, false, true, 3);
    struct data counts = sample_data(90, 6, .6, SAMPLE_COUNTS, true, true, 4);
    for (size_t c = 0; c < CASES; c++) {
        const struct kernel *kernel = &cases[c].kernel;
        bool positive = kernel->type == KERNEL_MINMAX || has_factor(kernel, &signs);
        positive &= has_factor(kernel, &counts);
        CHECK(kernel_definite(kernel) == cases[c].definite, "case %zu", c);
        CHECK(positive == cases[c].definite, "case %zu: %s a factor", c,
              positive ? "has" : "lacks");
    }
    for (size_t type = 0; kernel_names[type]; type++) {
        bool covered = type == KERNEL_PRECOMPUTED, compared = covered;
        for (size_t c = 0; c < CASES; c++) {
            covered |= cases[c].kernel.type == type;
        }
        for (size_t k = 0; k < KERNELS; k++) {
            compared |= kernels[k].type == type;
        }
        CHECK(covered && compared, "no test of %s", kernel_names[type]);
    }
    static const struct kernel stored = {KERNEL_PRECOMPUTED, 0, 0, 0};
    CHECK(!kernel_definite(&stored), "a file may hold any matrix");
    data_free(&signs);
    data_free(&counts);
    printf("ok: kernels are positive semidefinite as the table says\n");
}

/* Rows count as integers up to sums of 2^24, which float represents, and not above, nor with a
 * fraction. */
static void test_whole(void) {
    static const struct {
        float value[3];
        bool squares, absolutes; /* of the norms; negative values have no minima */
    } cases[] = {{{0, 0, 0}, true, true},          {{1, 2, 3}, true, true},
                 {{1, .5F, 3}, false, false},      {{4096, 0, 0}, true, true},
                 {{4096, 1, 0}, false, true},      {{16777216, 0, 0}, false, true},
                 {{16777216, 1, 0}, false, false}, {{3e38F, 0, 0}, false, false}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct data data = {.n_rows = 1, .n_features = 3, .value = (float *)cases[c].value};
        struct kernel_rows rows;
        for (int k = 0; k < KERNELS; k++) {
            bool absolutes = kernels[k].type == KERNEL_MINMAX ||
                             kernels[k].type == KERNEL_LAPLACIAN ||
                             kernels[k].type == KERNEL_RATIONAL;
            MUST(kernel_rows_create(&rows, &kernels[k], &data, &err));
            CHECK(rows.whole == (absolutes ? cases[c].absolutes : cases[c].squares),
                  "case %zu, kernel %d: whole is %d", c, k, rows.whole);
            kernel_rows_free(&rows);
        }
    }
    static const struct kernel stored = {KERNEL_PRECOMPUTED, 0, 0, 0};
    float one = 1;
    struct data data = {.n_rows = 1, .n_features = 1, .value = &one};
    struct kernel_rows rows;
    CHECK(kernel_rows_create(&rows, &stored, &data, &err) == -1, "rows without serial were taken");
    printf("ok: whole numbers are those whose sums float has\n");
}

int main(void) {
    openblas_set_num_threads(1);
    test_blocks();
    test_additions();
    test_definite();
    test_whole();
    return 0;
}
