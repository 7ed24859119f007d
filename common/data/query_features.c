/* Rows are sorted by query and number, so that the sums have a fixed order. */
#include "common/data/query_features.h"

#include "common/base/memory.h"
#include "common/base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The rows of one query, in order, and where they are. */
struct rows {
    const struct keyed_row *row;
    size_t n;
    uint32_t width;
    const float *from; /* (rows of the data, width) */
};

int query_features_check(const struct data *data, struct error *err) {
    if (!data->query) {
        return error_set(err, ERROR_RUNTIME, "features of queries want a qid, and no row has one");
    }
    if (data->indices.at || data->n_features > UINT32_MAX / 2) {
        return error_set(err, ERROR_RUNTIME,
                         "an index of %lu, and few below it: too sparse for features of queries",
                         (unsigned long)data_largest(data));
    }
    return 0;
}

static double value_of(const struct rows *rows, size_t k, uint32_t column) {
    return (double)rows->from[(size_t)rows->row[k].row * rows->width + column];
}

static double mean_of(const struct rows *rows, uint32_t column) {
    double sum = 0;
    for (size_t k = 0; k < rows->n; k++) {
        sum += value_of(rows, k, column);
    }
    return sum / (double)rows->n;
}

/* Makes the rows dense with `width` columns, and calls fill for those of each query. `to` are rows
 * of `columns` values; they become the data's. */
static int fill_queries(struct data *data, uint32_t width, uint32_t columns,
                        void (*fill)(const struct rows *rows, float *to), struct error *err) {
    size_t n = data->n_rows;
    if (data_own(data, false, err) < 0) {
        return -1;
    }
    data_narrow(data, width); /* first: rows may have features that the training rows had not */
    if (query_features_check(data, err) < 0 || data_make_dense(data, width, true, err) < 0) {
        return -1;
    }
    struct keyed_row *keyed = memory_array(n, sizeof *keyed, "rows by query", err);
    float *value = memory_array(n, (size_t)columns * sizeof *value, "features of queries", err);
    if (!keyed || !value) {
        free(keyed);
        free(value);
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        keyed[i] = (struct keyed_row){data->query[i], (uint32_t)i};
    }
    keyed_rows_sort(keyed, n);
    for (size_t first = 0, end; first < n; first = end) {
        end = keyed_rows_end(keyed, first, n);
        fill(&(struct rows){keyed + first, end - first, width, data->value}, value);
    }
    free(keyed);
    free(data->value);
    data->value = value;
    data->n_features = columns;
    return 0;
}

/* ---- scaling ---- */

/* Writes (x - shift) / unit, or 0 for a unit of 0. */
static void write_scaled(const struct rows *rows, uint32_t column, double shift, double unit,
                         float *to) {
    for (size_t k = 0; k < rows->n; k++) {
        double scaled = unit > 0 ? (value_of(rows, k, column) - shift) / unit : 0;
        to[(size_t)rows->row[k].row * rows->width + column] = (float)scaled;
    }
}

static double range_of(const struct rows *rows, uint32_t column, double *low) {
    double high = -INFINITY;
    *low = INFINITY;
    for (size_t k = 0; k < rows->n; k++) {
        *low = fmin(*low, value_of(rows, k, column));
        high = fmax(high, value_of(rows, k, column));
    }
    return high - *low;
}

static void fill_minmax(const struct rows *rows, float *to) {
    for (uint32_t c = 0; c < rows->width; c++) {
        double low, range = range_of(rows, c, &low);
        write_scaled(rows, c, low, range, to);
    }
}

/* The mean of equal values has rounding errors, so that their range tells that they are equal. */
static void fill_std(const struct rows *rows, float *to) {
    for (uint32_t c = 0; c < rows->width; c++) {
        double low, range = range_of(rows, c, &low), mean = mean_of(rows, c), squares = 0;
        for (size_t k = 0; k < rows->n; k++) {
            double off = value_of(rows, k, c) - mean;
            squares += off * off;
        }
        write_scaled(rows, c, mean, range > 0 ? sqrt(squares / (double)rows->n) : 0, to);
    }
}

int query_features_scale(struct data *data, uint32_t width, bool std, struct error *err) {
    return fill_queries(data, width, width, std ? fill_std : fill_minmax, err);
}

/* ---- means ---- */

/* Copies the columns of the rows, and appends their means. */
static void fill_means(const struct rows *rows, float *to) {
    uint32_t width = rows->width;
    for (size_t k = 0; k < rows->n; k++) {
        size_t row = rows->row[k].row;
        memcpy(to + row * 2 * width, rows->from + row * width, width * sizeof *to);
    }
    for (uint32_t c = 0; c < width; c++) {
        float mean = (float)mean_of(rows, c);
        for (size_t k = 0; k < rows->n; k++) {
            to[(size_t)rows->row[k].row * 2 * width + width + c] = mean;
        }
    }
}

int query_features_append_means(struct data *data, uint32_t width, struct error *err) {
    return fill_queries(data, width, 2 * width, fill_means, err);
}
