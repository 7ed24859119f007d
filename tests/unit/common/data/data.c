/* Rows in memory: conversion in place, subsets, views, single rows. */
#include "tests/unit/compute.h"

static struct random state;

static size_t below(size_t n) {
    return random_below(&state, n);
}

/* Sparse rows with about percent/100 of the values, and the same rows as a matrix of doubles. */
static struct data random_sparse(size_t n_rows, uint32_t width, size_t percent,
                                 enum data_labels labels, double **matrix) {
    struct data data = {.n_rows = n_rows, .labels = labels};
    size_t n = 0, n_labels = 0;
    data.row_start = sample_array(n_rows + 1, sizeof *data.row_start);
    data.column = sample_array(n_rows * width, sizeof *data.column);
    data.value = sample_array(n_rows * width, sizeof *data.value);
    data.query = sample_array(n_rows, sizeof *data.query);
    data.serial = sample_array(n_rows, sizeof *data.serial);
    data.weight = sample_array(n_rows, sizeof *data.weight);
    *matrix = check_array(n_rows * width, sizeof **matrix);
    if (labels == DATA_NUMBER) {
        data.target = sample_array(n_rows, sizeof *data.target);
    } else {
        data.label = sample_array(4 * n_rows, sizeof *data.label);
        data.label_start = labels == DATA_SET ? sample_array(n_rows + 1, sizeof(uint64_t)) : NULL;
    }
    for (size_t i = 0; i < n_rows; i++) {
        for (uint32_t j = 0; j < width; j++) {
            if (below(100) < percent) {
                float value = (float)below(1000) + 1;
                data.column[n] = j;
                data.value[n++] = value;
                (*matrix)[i * width + j] = (double)value;
                data.n_features = data.n_features > j + 1 ? data.n_features : j + 1;
            }
        }
        data.row_start[i + 1] = n;
        data.query[i] = 100 + i;
        data.serial[i] = 200 + i;
        data.weight[i] = 300 + (double)i;
        if (labels == DATA_NUMBER) {
            data.target[i] = (double)i / 2;
        } else if (labels == DATA_NAME) {
            data.label[i] = (uint32_t)(i % 3);
        } else {
            for (size_t k = 0; k < i % 4; k++) {
                data.label[n_labels++] = (uint32_t)((i + k) % 5);
            }
            data.label_start[i + 1] = n_labels;
        }
    }
    if (labels != DATA_NUMBER) {
        sample_names(&data.names, 5);
    }
    return data;
}

/* Compares all rows of data, or the selected ones, with the matrix. */
static void check_rows(const struct data *data, const double *matrix, uint32_t width,
                       const uint32_t *rows) {
    size_t wide = (size_t)width + 7;
    double *row = check_array(wide, sizeof *row);
    for (size_t i = 0; i < data->n_rows; i++) {
        const double *expected = matrix + (rows ? rows[i] : i) * width;
        for (size_t w = width > 3 ? (size_t)width - 3 : 0; w <= wide; w++) {
            memset(row, 0xff, wide * sizeof *row);
            data_row_dense(data, i, w, row);
            for (size_t j = 0; j < wide; j++) {
                CHECK(!(j < w ? row[j] != (j < width ? expected[j] : 0) : !isnan(row[j])),
                      "row %zu, column %zu of %zu: %g", i, j, w, row[j]);
            }
        }
    }
}

static void check_make_dense(void) {
    for (int i = 0; i < 3000; i++) {
        size_t n_rows = below(12);
        uint32_t width = (uint32_t)below(20) + 1, wider = (uint32_t)below(30);
        double *matrix;
        struct data data = random_sparse(n_rows, width, below(101), DATA_NUMBER, &matrix);
        bool force = below(2);
        uint32_t result = wider > data.n_features ? wider : data.n_features;
        bool smaller = 2 * data_values(&data) > n_rows * result;
        /* a block of exactly this size, so that sanitizers detect an access past it */
        float *value = memory_resize(data.value, data_values(&data), sizeof *value, "", &err);
        data.value = value ? value : data.value;
        MUST(data_make_dense(&data, wider, force, &err));
        bool dense = force || smaller;
        CHECK((data.row_start == NULL) == dense && (data.column == NULL) == dense &&
                  data.n_features == result,
              "%d: %s, %u features, not %u", i, data.row_start ? "sparse" : "dense",
              data.n_features, result);
        check_rows(&data, matrix, width, NULL);
        uint32_t widest = result + (uint32_t)below(4); /* dense rows are widened, too */
        if (dense) {
            CHECK(data_make_dense(&data, widest, force, &err) == 0 && data.n_features == widest &&
                      data_values(&data) == n_rows * widest,
                  "dense rows made wider");
            check_rows(&data, matrix, width, NULL);
        }
        data_free(&data);
    }
    puts("ok: sparse rows made dense in place, dense rows made wider");
}

/* Compares the labels and other arrays of row k of `some` and row r of all data. */
static bool same_row(const struct data *some, size_t k, const struct data *data, size_t r) {
    bool same = some->query[k] == data->query[r] && some->serial[k] == data->serial[r] &&
                some->weight[k] == data->weight[r];
    if (data->labels == DATA_NUMBER) {
        return same && some->target[k] == data->target[r];
    }
    if (data->labels == DATA_NAME) {
        return same && some->label[k] == data->label[r];
    }
    size_t count = (size_t)(data->label_start[r + 1] - data->label_start[r]);
    return same && some->label_start[k + 1] - some->label_start[k] == count &&
           memcmp(some->label + some->label_start[k], data->label + data->label_start[r],
                  count * sizeof *data->label) == 0;
}

static void check_subset(void) {
    for (int i = 0; i < 600; i++) {
        size_t n_rows = below(30) + 1, n = 0;
        uint32_t width = (uint32_t)below(10) + 1;
        enum data_labels labels = (enum data_labels)(i % 3);
        double *matrix;
        struct data data = random_sparse(n_rows, width, 50, labels, &matrix);
        uint32_t *rows = check_array(n_rows, sizeof *rows);
        for (uint32_t r = 0; r < n_rows; r++) {
            if (below(2)) { /* stored, at a random position */
                size_t place = below(++n);
                rows[n - 1] = rows[place];
                rows[place] = r;
            }
        }
        if (i % 2) {
            MUST(data_make_dense(&data, 0, true, &err));
        }
        struct data subset;
        MUST(data_subset(&data, rows, n, &subset, &err));
        CHECK(subset.n_rows == n && subset.n_features == data.n_features &&
                  subset.names.n == data.names.n && (subset.row_start == NULL) == (i % 2),
              "shape of a subset");
        check_rows(&subset, matrix, width, rows);
        for (size_t k = 0; k < n; k++) {
            CHECK(same_row(&subset, k, &data, rows[k]), "row %zu of a subset", k);
        }
        CHECK(labels == DATA_NUMBER || strcmp(subset.names.name[4], "5") == 0, "names of a subset");
        size_t first = below(n_rows);
        struct data part = data_view(&data, first, below(n_rows - first + 1));
        CHECK(part.n_features == data.n_features, "shape of a part");
        check_rows(&part, matrix + first * width, width, NULL);
        for (size_t k = 0; k < part.n_rows; k++) {
            CHECK(same_row(&part, k, &data, first + k), "row %zu of a part from %zu on", k, first);
        }
        data_free(&subset);
        data_free(&data);
    }
    puts("ok: subsets and parts have their rows, labels, queries, weights and names");
}

int main(void) {
    random_start(&state, 1, 0);
    check_make_dense();
    check_subset();
    return 0;
}
