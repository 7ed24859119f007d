/* Rows are sorted by query and number, so that the sums have a fixed order. */
#include "common/data/query_means.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

struct keyed {
    uint64_t query;
    uint32_t row;
};

static int compare(const void *a, const void *b) {
    const struct keyed *x = a, *y = b;
    if (x->query != y->query) {
        return x->query < y->query ? -1 : 1;
    }
    return (x->row > y->row) - (x->row < y->row);
}

int query_means_check(const struct data *data, struct error *err) {
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

/* Copies the columns of the rows of a query, and appends their means. sum (width) is work space. */
static void fill(const struct data *data, const struct keyed *rows, size_t n, uint32_t width,
                 double *sum, float *value) {
    memset(sum, 0, width * sizeof *sum);
    for (size_t k = 0; k < n; k++) {
        const float *from = data->value + (size_t)rows[k].row * data->n_features;
        memcpy(value + (size_t)rows[k].row * 2 * width, from, width * sizeof *value);
        for (uint32_t c = 0; c < width; c++) {
            sum[c] += (double)from[c];
        }
    }
    for (size_t k = 0; k < n; k++) {
        float *to = value + (size_t)rows[k].row * 2 * width + width;
        for (uint32_t c = 0; c < width; c++) {
            to[c] = (float)(sum[c] / (double)n);
        }
    }
}

int query_means_append(struct data *data, uint32_t width, struct error *err) {
    size_t n = data->n_rows;
    if (query_means_check(data, err) < 0 || data_own(data, false, err) < 0) {
        return -1;
    }
    data_narrow(data, width);
    if (data_make_dense(data, width, true, err) < 0) {
        return -1;
    }
    struct keyed *rows = memory_array(n, sizeof *rows, "rows by query", err);
    double *sum = memory_array(width, sizeof *sum, "means of queries", err);
    float *value = memory_array(n, 2 * (size_t)width * sizeof *value, "features of queries", err);
    if (rows && sum && value) {
        for (size_t i = 0; i < n; i++) {
            rows[i] = (struct keyed){data->query[i], (uint32_t)i};
        }
        qsort(rows, n, sizeof *rows, compare);
        for (size_t first = 0, end; first < n; first = end) {
            for (end = first; end < n && rows[end].query == rows[first].query; end++) {
            }
            fill(data, rows + first, end - first, width, sum, value);
        }
        free(data->value);
        data->value = value;
        data->n_features = 2 * width;
    }
    free(rows);
    free(sum);
    if (data->value != value) {
        free(value);
        return -1;
    }
    return 0;
}
