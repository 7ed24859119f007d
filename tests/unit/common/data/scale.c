/* Scaling: columns have the required properties, of training rows and others. */
#include "common/data/scale.h"
#include "tests/unit/compute.h"

#include <float.h>

static void copy(const struct data *data, struct data *target) {
    uint32_t *rows = check_array(data->n_rows, sizeof *rows);
    for (uint32_t i = 0; i < data->n_rows; i++) {
        rows[i] = i;
    }
    MUST(data_subset(data, rows, data->n_rows, target, &err));
}

/* Column 0 gets the constant 3.7, column 1 is 0. */
static struct data training(bool sparse) {
    struct data data = sample_data(400, 12, .6, SAMPLE_COUNTS, false, true, 1);
    for (size_t i = 0; i < data.n_rows; i++) {
        data.value[i * 12] = 3.7F;
        data.value[i * 12 + 1] = 0;
    }
    if (sparse) {
        MUST(data_make_sparse(&data, &err));
    }
    return data;
}

static void fit_apply(enum scale_kind kind, const struct data *train, struct data *data,
                      struct scale *scale) {
    MUST(scale_fit(scale, kind, train, NULL, &err));
    copy(train, data);
    MUST(scale_apply(scale, data, &err));
}

static void test_columns(enum scale_kind kind, bool sparse) {
    struct data train = training(sparse), data;
    struct scale scale;
    fit_apply(kind, &train, &data, &scale);
    bool centred = kind == SCALE_STD_CENTER || (kind == SCALE_STD && !sparse);
    bool stays_sparse = sparse && (kind == SCALE_STD || kind == SCALE_L2);
    CHECK((data.row_start != NULL) == stays_sparse, "%s: sparse %d", scale_names[kind], sparse);
    size_t n = data.n_rows;
    double row[12], before[12];
    for (uint32_t c = 0; c < 12; c++) {
        double sum = 0, squares = 0, low = INFINITY, high = -INFINITY, low0 = INFINITY;
        for (size_t i = 0; i < n; i++) {
            data_row_dense(&data, i, 12, row);
            data_row_dense(&train, i, 12, before);
            sum += row[c] / (double)n;
            squares += row[c] * row[c] / (double)n;
            low = fmin(low, row[c]);
            high = fmax(high, row[c]);
            low0 = fmin(low0, before[c]);
        }
        double sd = sqrt(fmax(0, squares - sum * sum));
        if (kind == SCALE_MINMAX) {
            CHECK(c < 2 ? low == 0 && high == 0 : low == -1 && high == 1,
                  "minmax column %u: %g to %g", c, low, high);
        } else if (centred) { /* values of order 1 rounded to float */
            CHECK(fabs(sum) < 1e-6 && fabs(sd - (c > 1)) < 1e-6, "%s column %u: mean %g, sd %g",
                  scale_names[kind], c, sum, sd);
        } else {
            CHECK(c < 2 ? low == low0 && high == low : fabs(sd - 1) < 1e-6,
                  "std of sparse rows, column %u: %g to %g, sd %g", c, low, high, sd);
        }
    }
    scale_free(&scale);
    CHECK(scale.kind == SCALE_NONE && !scale.factor, "scale_free");
    data_free(&data);
    data_free(&train);
}

/* The map of the arrays is applied, for dense and sparse rows and any number of features. */
static void test_other_rows(enum scale_kind kind, bool train_sparse) {
    struct data train = training(train_sparse), done;
    struct scale scale;
    fit_apply(kind, &train, &done, &scale);
    for (int form = 0; form < 6; form++) {
        uint32_t width = form / 2 == 0 ? 12 : form / 2 == 1 ? 5 : 20;
        struct data data = sample_data(50, width, .5, SAMPLE_SIGNED, form % 2, true, 2), scaled;
        copy(&data, &scaled);
        MUST(scale_apply(&scale, &scaled, &err));
        double before[20] = {0}, row[20];
        for (size_t i = 0; i < 50; i++) {
            data_row_dense(&data, i, 20, before);
            data_row_dense(&scaled, i, 20, row);
            for (uint32_t c = 0; c < 20; c++) {
                double shift = scale.shift && c < scale.n ? scale.shift[c] : 0;
                double expected = c < 12 ? (before[c] - shift) * scale.factor[c] : 0;
                CHECK(row[c] == (double)(float)expected, "%s form %d row %zu column %u: %g, not %g",
                      scale_names[kind], form, i, c, row[c], expected);
            }
        }
        data_free(&data);
        data_free(&scaled);
    }
    scale_free(&scale);
    data_free(&done);
    data_free(&train);
}

/* The quantile by counting: (values below v + half of those equal to v), scaled so that the
 * smallest has 0 and the largest 1. */
static double quantile_by_counts(const double *value, size_t n, double v) {
    double below = 0, equal = 0, least = 0, greatest = 0, low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, value[i]);
        high = fmax(high, value[i]);
    }
    for (size_t i = 0; i < n; i++) {
        below += value[i] < v;
        equal += value[i] == v;
        least += value[i] == low;
        greatest += value[i] == high;
    }
    double range = (double)n - least / 2 - greatest / 2;
    return low < high ? (below + equal / 2 - least / 2) / range : 0;
}

/* Few distinct values: quantiles are exact; shift is subtracted from the values, so that zeros may
 * not be smallest. */
static void test_quantile(bool sparse, float shift) {
    struct data train = training(sparse), data;
    struct scale scale;
    for (size_t at = 0; at < data_values(&train); at++) {
        train.value[at] -= shift;
    }
    fit_apply(SCALE_QUANTILE, &train, &data, &scale);
    CHECK((data.row_start != NULL) == (sparse && shift <= 0), "sparse %d, shift %g: form", sparse,
          (double)shift);
    double value[400], row[12];
    for (uint32_t c = 0; c < 12; c++) {
        for (size_t i = 0; i < 400; i++) {
            data_row_dense(&train, i, 12, row);
            value[i] = row[c];
        }
        for (size_t i = 0; i < 400; i++) {
            double rank = quantile_by_counts(value, 400, value[i]);
            data_row_dense(&data, i, 12, row);
            CHECK(row[c] == (double)(float)rank, "column %u: %g has rank %g, not %g", c, value[i],
                  row[c], rank);
        }
        CHECK(quantiles_of(&scale.quantiles, c, -1e30) == 0, "below the least");
        CHECK(quantiles_of(&scale.quantiles, c, 1e30) == (quantile_by_counts(value, 400, 1e30) > 0),
              "above the greatest");
    }
    data_free(&data);
    float two[24] = {0};
    struct data other = {.n_rows = 1, .n_features = 14, .value = two};
    two[13] = 5;
    copy(&other, &data);
    CHECK(scale_apply(&scale, &data, &err) == 0 && data.value[13] == 0, "an unknown feature");
    scale_free(&scale);
    data_free(&data);
    data_free(&train);
}

/* Many distinct values, and a frequent one: few breakpoints, and small errors. */
static void test_many_values(void) {
    enum { N = 6000 };
    struct data train = {.n_rows = N, .n_features = 1, .value = sample_array(N, sizeof(float))};
    double *value = check_numbers(N);
    for (size_t i = 0; i < N; i++) {
        double u = (double)(i * 2654435761U % 1000003U) / 1000003;
        train.value[i] = i % 3 ? (float)exp(20 * u - 10) : 1;
        train.value[i] = i % 5 == 1 ? -train.value[i] : train.value[i];
        value[i] = (double)train.value[i];
    }
    struct quantiles quantiles;
    MUST(quantiles_fit(&quantiles, &train, &err));
    CHECK(quantiles.start[1] > QUANTILE_STEPS / 2 && quantiles.start[1] <= 2 * QUANTILE_STEPS + 2,
          "%u breakpoints", (unsigned)quantiles.start[1]);
    double most = 0;
    for (size_t i = 0; i < N; i += 7) {
        double rank = quantiles_of(&quantiles, 0, value[i]);
        most = fmax(most, fabs(rank - quantile_by_counts(value, N, value[i])));
        CHECK(quantiles_of(&quantiles, 0, value[i] * (1 + 1e-9)) >= rank || value[i] < 0,
              "it descends");
    }
    CHECK(most > 0 && most <= 1.0 / QUANTILE_STEPS, "off by %g", most);
    for (uint64_t k = 1; k < quantiles.start[1]; k++) {
        const struct breakpoint *low = &quantiles.breakpoint[k - 1],
                                *high = &quantiles.breakpoint[k];
        CHECK(low->value < high->value && low->quantile <= high->quantile,
              "order of the breakpoints");
        double middle = ((double)low->value + (double)high->value) / 2;
        double rank = ((double)low->quantile + (double)high->quantile) / 2;
        CHECK_CLOSE(quantiles_of(&quantiles, 0, middle), rank, 1e-12, "between two breakpoints");
    }
    CHECK(quantiles_of(&quantiles, 0, (double)-INFINITY) == 0 &&
              quantiles_of(&quantiles, 0, (double)INFINITY) == 1,
          "outside");
    quantiles_free(&quantiles);
    data_free(&train);
}

/* All values of 2 QUANTILE_STEPS rows are breakpoints, and about half of those of one row more. */
static void test_last_whole(void) {
    enum { N = 2 * QUANTILE_STEPS };
    float value[N + 1];
    for (size_t i = 0; i <= N; i++) {
        value[i] = (float)((i * 5) % (N + 1)); /* all different: N + 1 is 27 * 19 */
    }
    for (size_t n = N; n <= N + 1; n++) {
        struct data train = {.n_rows = n, .n_features = 1, .value = value};
        struct quantiles quantiles;
        MUST(quantiles_fit(&quantiles, &train, &err));
        CHECK(quantiles.start[1] == (n == N ? N : QUANTILE_STEPS + 1), "%zu rows: %u breakpoints",
              n, (unsigned)quantiles.start[1]);
        quantiles_free(&quantiles);
    }
}

/* Neighbouring floats are distinguished, and -0 is 0. */
static void test_neighbours(void) {
    enum { N = 64 };
    float value[N], signs[] = {0, -0.0F, 1, 0, -0.0F};
    for (size_t i = 0; i < N; i++) {
        value[i] = 1 + (float)(i * 37 % N) * FLT_EPSILON;
    }
    struct data train = {.n_rows = N, .n_features = 1, .value = value};
    struct quantiles quantiles;
    CHECK(quantiles_fit(&quantiles, &train, &err) == 0 && quantiles.start[1] == N, "neighbours");
    for (size_t i = 0; i < N; i++) {
        float rank = (float)(i * 37 % N) / (N - 1);
        CHECK(quantiles_of(&quantiles, 0, (double)value[i]) == (double)rank, "rank of value %zu",
              i);
    }
    quantiles_free(&quantiles);
    train.n_rows = 5;
    train.value = signs;
    CHECK(quantiles_fit(&quantiles, &train, &err) == 0 && quantiles.start[1] == 2,
          "-0 and 0 are different");
    quantiles_free(&quantiles);
}

/* One sparse row has no value of the second feature, and 0 is between the values of the others. */
static void test_one_zero(void) {
    uint64_t start[] = {0, 2, 4, 5};
    uint32_t column[] = {0, 1, 0, 1, 0};
    float value[] = {5, -1, 6, 3, 7};
    struct data train = {
        .n_rows = 3, .n_features = 2, .row_start = start, .column = column, .value = value};
    struct quantiles quantiles;
    MUST(quantiles_fit(&quantiles, &train, &err));
    for (int k = 0; k < 3; k++) {
        double v = k == 2 ? 3 : k - 1;
        CHECK(quantiles_of(&quantiles, 1, v) == k / 2., "the only zero: %g has rank %g", v,
              quantiles_of(&quantiles, 1, v));
    }
    quantiles_free(&quantiles);
}

static void test_rows(void) {
    for (int sparse = 0; sparse < 2; sparse++) {
        struct data train = sample_data(30, 9, .5, SAMPLE_SIGNED, sparse, true, 3), data;
        struct scale scale;
        fit_apply(SCALE_L2, &train, &data, &scale);
        CHECK(scale.n == 0 && !scale.shift && !scale.factor, "l2 has arrays");
        for (size_t i = 0; i < 30; i++) {
            double row[9], before[9], squares = 0, was = 0;
            data_row_dense(&data, i, 9, row);
            data_row_dense(&train, i, 9, before);
            for (size_t c = 0; c < 9; c++) {
                squares += row[c] * row[c];
                was += before[c] * before[c];
            }
            for (size_t c = 0; c < 9; c++) {
                CHECK(row[c] == (was > 0 ? (double)(float)(before[c] / sqrt(was)) : 0),
                      "l2 row %zu column %zu", i, c);
            }
            CHECK(was == 0 || fabs(squares - 1) < 1e-6, "l2 row %zu: length %g", i, squares);
        }
        data_free(&data);
        fit_apply(SCALE_NONE, &train, &data, &scale);
        CHECK(memcmp(train.value, data.value, data_values(&train) * sizeof *data.value) == 0,
              "none changed values");
        data_free(&data);
        data_free(&train);
    }
    float values[] = {1, 1e-30F, 2, 3e-30F};
    float far[] = {1, 1e10F};
    struct data train = {.n_rows = 2, .n_features = 2, .value = values};
    struct data data = {.n_rows = 1, .n_features = 2, .value = far};
    struct scale scale;
    MUST(scale_fit(&scale, SCALE_STD, &train, NULL, &err));
    CHECK(scale_apply(&scale, &data, &err) == -1 && strstr(err.text, "row 1: feature 2"),
          "a scaled value over float's range was taken");
    scale_free(&scale);
}

int main(void) {
    for (int sparse = 0; sparse < 2; sparse++) {
        for (enum scale_kind kind = SCALE_STD; kind <= SCALE_MINMAX; kind++) {
            test_columns(kind, sparse);
            test_other_rows(kind, sparse);
        }
    }
    printf("ok: columns after std, std-center and minmax, of training rows and of others\n");
    for (int form = 0; form < 4; form++) {
        test_quantile(form % 2, form / 2 ? 2 : 0);
    }
    test_many_values();
    test_last_whole();
    test_one_zero();
    test_neighbours();
    printf("ok: quantile gives ranks, by all values or by breakpoints\n");
    test_rows();
    printf("ok: l2, none, and values that do not fit\n");
    return 0;
}
