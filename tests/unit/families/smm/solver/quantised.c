/* Products with rows that are rounded to bytes: their errors are at most those of half a unit in
 * each value, whatever the scales of rows and columns, and the threads do not matter. */
#include "families/smm/solver/quantised_rows.h"
#include "tests/unit/compute.h"

enum { ROWS = 1001, WIDTH = 137 };

enum { TINY = 10 }; /* a row that counts as 0 */

/* Columns of 1e-30 to 1e30 and zeros; rows of 1e-3 to 1e3, one of zeros, one of 1e-37. */
static void scale_values(struct data *data) {
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < WIDTH; j++) {
            double row = i == 7 ? 0 : pow(10, i == TINY ? -37 : (double)(i % 7) - 3);
            double column = j == 5 ? 0 : pow(10, 30 * (double)(j % 5) / 2 - 30);
            data->value[i * WIDTH + j] = (float)((double)data->value[i * WIDTH + j] * row * column);
        }
    }
}

/* The half units of row i and column j: r (n) and s (WIDTH), in units of half a unit of q. */
static void find_units(const struct data *data, double *r, double *s) {
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < WIDTH; j++) {
            s[j] = fmax(s[j], fabs((double)data->value[i * WIDTH + j]));
        }
    }
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < WIDTH; j++) {
            double size = s[j] > 0 ? fabs((double)data->value[i * WIDTH + j]) / s[j] : 0;
            r[i] = fmax(r[i], size / 254);
        }
    }
}

static void test_products(const struct data *data, struct threads *threads, double *w) {
    double *unit = check_numbers(ROWS), *column = check_numbers(WIDTH);
    double *r = check_numbers(ROWS), *v = check_numbers(WIDTH), *products = check_numbers(ROWS);
    double rounding = 1.001; /* of sums in float */
    struct quantised_rows *rows;
    find_units(data, unit, column);
    for (size_t i = 0; i < ROWS; i++) {
        r[i] = i % 3 ? (double)(i % 11) * 1e20 : 0;
    }
    MUST(quantised_rows_create(&rows, data, threads, &err));
    quantised_rows_adjoint(rows, r, w);
    for (size_t j = 0; j < WIDTH; j++) {
        double exact = 0, bound = 0;
        for (size_t i = 0; i < ROWS; i++) {
            exact += r[i] * (double)data->value[i * WIDTH + j];
            bound += r[i] * unit[i] * column[j];
        }
        CHECK_CLOSE(w[j], exact, rounding * bound, "column %zu", j);
    }
    for (size_t j = 0; j < WIDTH; j++) {
        v[j] = column[j] > 0 ? ((double)(j % 13) - 6) / column[j] : 1e300;
    }
    quantised_rows_normal(rows, r, v, products, w + WIDTH);
    for (size_t i = 0; i < ROWS; i++) {
        double exact = 0, bound = 0;
        for (size_t j = 0; j < WIDTH; j++) {
            exact += (double)data->value[i * WIDTH + j] * v[j];
            bound += unit[i] * fabs(v[j]) * column[j];
        }
        CHECK(r[i] == 0 || (i == TINY && products[i] == 0) ||
                  fabs(products[i] - r[i] * exact) <= rounding * r[i] * bound,
              "row %zu: %g, not %g", i, products[i], r[i] * exact);
    }
    /* X'r for r = those products */
    quantised_rows_adjoint(rows, products, w);
    for (size_t j = 0; j < WIDTH; j++) {
        double most = 0;
        for (size_t i = 0; i < ROWS; i++) {
            most += fabs(products[i]) * 254 * unit[i] * column[j];
        }
        CHECK_CLOSE(w[j], w[WIDTH + j], 1e-5 * most, "column %zu", j);
    }
    memset(r, 0, ROWS * sizeof *r);
    quantised_rows_normal(rows, r, v, products, v);
    CHECK_TRUE(v[0] == 0 && v[WIDTH - 1] == 0);
    quantised_rows_free(rows);
}

int main(void) {
    struct data data = sample_data(ROWS, WIDTH, 1, SAMPLE_SIGNED, false, false, 3);
    double *alone = check_numbers(2 * WIDTH), *shared = check_numbers(2 * WIDTH);
    struct threads *threads;
    scale_values(&data);
    MUST(threads_create(&threads, 3, &err));
    test_products(&data, NULL, alone);
    test_products(&data, threads, shared);
    CHECK_TRUE(memcmp(alone, shared, 2 * WIDTH * sizeof *alone) == 0);
    threads_free(threads);
    data_free(&data);
    printf("ok: products with rounded rows\n");
    return 0;
}
