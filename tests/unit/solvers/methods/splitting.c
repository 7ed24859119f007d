/* What operator splitting works with: a matrix in double, whatever the gram keeps, with a constant
 * added; room for it; and U and its scores after an iteration, against plain sums. */
#include "solvers/methods/splitting.h"
#include "tests/unit/compute.h"

enum { N = 40, ROWS = 25, K = 3 };

static void keep(void *context, size_t i, size_t worker, double rho, const double *c, double *z) {
    (void)context;
    (void)i;
    (void)worker;
    (void)rho;
    memcpy(z, c, K * sizeof *z);
}

/* K B against sums of kernel_value at `rows`, NULL: the first ones; constant is in every value.
 * Z: the coefficients at the start; tiny ones make a penalty rho beside which K vanishes. */
static void check_product(const struct gram *gram, const uint32_t *rows, double constant,
                          const double *diagonal, double Z, struct random *random) {
    const struct splitting_problem problem = {.n = ROWS, .k = K, .step = keep};
    const struct kernel_rows *own = gram_rows(gram);
    struct splitting splitting;
    struct error err;
    double b[ROWS * K], out[ROWS * K], scores[ROWS * K];
    for (size_t j = 0; j < ROWS * K; j++) {
        b[j] = random_unit(random) - .5;
    }
    CHECK(splitting_create(&splitting, &problem, &err) == 0, "%s", err.text);
    CHECK(splitting_fill(&splitting, gram, rows, &err) == 0, "%s", err.text);
    for (size_t j = 0; j < ROWS * K; j++) {
        splitting.Z[j] = scores[j] = Z;
    }
    CHECK_TRUE(splitting_start(&splitting, constant, diagonal, scores) == 0);
    splitting_product(&splitting, b, out);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t c = 0; c < K; c++) {
            double sum = 0;
            for (size_t j = 0; j < ROWS; j++) {
                double value =
                    constant + kernel_value(own, rows ? rows[i] : i, own, rows ? rows[j] : j);
                sum += (diagonal && i == j ? diagonal[i] : value) * b[j * K + c];
            }
            double lack = fabs(out[i * K + c] - sum);
            CHECK(lack <= 1e-13 * ROWS, "row %zu: %.17g, not %.17g", i, out[i * K + c], sum);
        }
    }
    /* the scores that come for nothing are K U */
    CHECK_TRUE(splitting_iterate(&splitting) == 0 && splitting_iterate(&splitting) == 0);
    memcpy(b, splitting.U, sizeof b);
    splitting_product(&splitting, b, out);
    for (size_t j = 0; Z == 0 && j < ROWS * K; j++) {
        CHECK(fabs(out[j] - splitting.S[j]) <= 1e-10 * (1 + fabs(out[j])), "score %zu: %g, not %g",
              j, splitting.S[j], out[j]);
    }
    splitting_free(&splitting);
}

int main(void) {
    struct random random;
    struct error err;
    random_start(&random, 7, 0);
    struct data data = sample_data(N, 6, 1, SAMPLE_SIGNED, false, false, 7);
    const struct kernel kernel = {.type = KERNEL_RBF, .gamma = .3};
    uint32_t rows[ROWS];
    double diagonal[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = (uint32_t)(N - 1 - i);
        diagonal[i] = 3 + (double)i;
    }
    for (int wide = 0; wide < 2; wide++) {
        struct gram *gram;
        CHECK(gram_create(&gram, &kernel, &data, 1 << 20, wide, NULL, &err) == 0, "%s", err.text);
        CHECK_TRUE(gram_is_whole(gram));
        check_product(gram, NULL, 0, NULL, 0, &random);
        check_product(gram, rows, 0, NULL, 0, &random);
        check_product(gram, rows, 2.25, NULL, 0, &random);
        check_product(gram, NULL, 1, diagonal, 0, &random);
        check_product(gram, NULL, 0, NULL, 1e-30, &random);
        gram_free(gram);
    }
    /* 100 rows and columns: a matrix of 80,000 bytes, and sequences of 640,000 */
    CHECK_TRUE(splitting_fits(100, 100, NULL, 2 * 720000));
    CHECK_TRUE(!splitting_fits(100, 100, NULL, 2 * 720000 - 1));
    data_free(&data);
    printf("ok: the matrix of operator splitting is in double, whatever is kept\n");
    return 0;
}
