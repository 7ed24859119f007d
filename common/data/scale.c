/* Fitting takes one or two passes over the stored values, applying one. */
#include "common/data/scale.h"

#include "common/base/memory.h"
#include "common/data/query_features.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define NAMES_BY_ROW "none", "std", "std-center", "minmax", "l2", "quantile"
const char *const scale_names_by_row[] = {NAMES_BY_ROW, NULL};
const char *const scale_names[] = {NAMES_BY_ROW, "query-minmax", "query-std", NULL};

/* ---- fitting ---- */

/* Calls add(scale, column, value) for every stored value. */
static void each_value(const struct data *data, void (*add)(struct scale *, uint32_t, double),
                       struct scale *scale) {
    for (size_t i = 0; i < data->n_rows; i++) {
        struct stored_row row = data_stored(data, i);
        for (size_t k = 0; k < row.n; k++) {
            add(scale, stored_column(row, k), (double)row.value[k]);
        }
    }
}

static void add_value(struct scale *scale, uint32_t column, double value) {
    scale->shift[column] += value;
}

/* Second pass, with shift = mean: squares of differences do not lose accuracy if the mean is large.
 */
static void add_square(struct scale *scale, uint32_t column, double value) {
    double off = value - scale->shift[column];
    scale->factor[column] += off * off;
}

static void widen_range(struct scale *scale, uint32_t column, double value) {
    scale->shift[column] = fmin(scale->shift[column], value);
    scale->factor[column] = fmax(scale->factor[column], value);
}

/* The number of rows that store each column, of sparse data. */
static double *count_columns(const struct data *data, struct cluster *cluster, struct error *err) {
    double *count = memory_zeros(data->n_features, sizeof *count, "column counts", err);
    if (!count) {
        return NULL;
    }
    for (uint64_t at = 0; at < data->row_start[data->n_rows]; at++) {
        count[data->column[at]]++;
    }
    cluster_sum(cluster, count, data->n_features);
    return count;
}

/* n: rows; count: those that store each column, of sparse data, else NULL. */
static void fit_std(struct scale *scale, const struct data *data, double n, const double *count,
                    struct cluster *cluster) {
    each_value(data, add_value, scale);
    cluster_sum(cluster, scale->shift, scale->n);
    for (uint32_t c = 0; c < scale->n; c++) {
        scale->shift[c] /= n;
    }
    each_value(data, add_square, scale);
    cluster_sum(cluster, scale->factor, scale->n);
    for (uint32_t c = 0; c < scale->n; c++) {
        double mean = scale->shift[c], squares = scale->factor[c];
        if (count) { /* values that are not stored are 0 */
            squares += (n - count[c]) * mean * mean;
        }
        double sd = sqrt(squares / n);
        /* The mean of equal values may have n rounding errors. */
        bool constant = sd <= n * DBL_EPSILON * fabs(mean);
        scale->factor[c] = constant ? 1 : 1 / sd;
    }
}

static void negate(double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        x[i] = -x[i];
    }
}

static void fit_minmax(struct scale *scale, const struct data *data, double n, const double *count,
                       struct cluster *cluster) {
    for (uint32_t c = 0; c < scale->n; c++) {
        bool zeros = count && count[c] < n;
        scale->shift[c] = zeros ? 0 : INFINITY;
        scale->factor[c] = zeros ? 0 : -INFINITY;
    }
    each_value(data, widen_range, scale);
    negate(scale->shift, scale->n);
    cluster_max(cluster, scale->shift, scale->n);
    negate(scale->shift, scale->n);
    cluster_max(cluster, scale->factor, scale->n);
    for (uint32_t c = 0; c < scale->n; c++) {
        double low = scale->shift[c], high = scale->factor[c];
        scale->shift[c] = low + (high - low) / 2;
        scale->factor[c] = high > low ? 2 / (high - low) : 0;
    }
}

static int check_finite(const struct scale *scale, const struct data *data, struct error *err) {
    for (uint32_t c = 0; c < scale->n; c++) {
        if (!isfinite(scale->factor[c]) || !isfinite(scale->shift[c])) {
            return error_set(err, ERROR_RUNTIME, "cannot scale feature %lu: values too close",
                             (unsigned long)data_index(data, c) + 1);
        }
    }
    return 0;
}

int scale_fit(struct scale *scale, enum scale_kind kind, const struct data *data,
              struct cluster *cluster, struct error *err) {
    *scale = (struct scale){.kind = kind};
    if (kind == SCALE_NONE || kind == SCALE_L2) {
        return 0;
    }
    scale->n = data->n_features;
    if (scale_kind_by_query(kind)) {
        return data->n_rows > 0 ? query_features_check(data, err) : 0;
    }
    if (kind == SCALE_QUANTILE) {
        int status = quantiles_fit(&scale->quantiles, data, err);
        scale->n = scale->quantiles.n;
        return status;
    }
    scale->shift = memory_zeros(scale->n, sizeof *scale->shift, "scale", err);
    scale->factor = memory_zeros(scale->n, sizeof *scale->factor, "scale", err);
    double n = (double)cluster_count(cluster, data->n_rows);
    double *count = data->row_start ? count_columns(data, cluster, err) : NULL;
    int status = !scale->shift || !scale->factor || (data->row_start && !count) ? -1 : 0;
    if (status == 0) {
        (kind == SCALE_MINMAX ? fit_minmax : fit_std)(scale, data, n, count, cluster);
        status = check_finite(scale, data, err);
    }
    free(count);
    if (status < 0) {
        scale_free(scale);
        return -1;
    }
    if (kind == SCALE_STD && data->row_start) {
        free(scale->shift);
        scale->shift = NULL;
    }
    return 0;
}

int scale_add_query_means(struct scale *scale, const struct data *data, struct error *err) {
    scale->query_means = data->n_features;
    return query_features_check(data, err);
}

void scale_free(struct scale *scale) {
    free(scale->shift);
    free(scale->factor);
    quantiles_free(&scale->quantiles);
    *scale = (struct scale){.kind = SCALE_NONE};
}

/* ---- applying ---- */

static int overflow(const struct data *data, size_t row, size_t c, double value,
                    struct error *err) {
    return error_set(err, ERROR_RUNTIME, "row %" PRIu64 ": feature %zu: %g when scaled: too large",
                     data->rows_before + row + 1, (size_t)data_index(data, c) + 1, value);
}

static double scale_value(const struct scale *scale, size_t c, double value) {
    return scale->kind == SCALE_QUANTILE
               ? quantiles_of(&scale->quantiles, c, value)
               : (value - (scale->shift ? scale->shift[c] : 0)) * scale->factor[c];
}

/* Scales the n stored values of a row from number `first` on. */
static int scale_row(const struct scale *scale, const struct data *data, size_t row, size_t first,
                     size_t n, struct error *err) {
    float *value = data->value + first;
    for (size_t k = 0; k < n; k++) {
        size_t c = data->column ? data->column[first + k] : k;
        double scaled = 0;
        if (c < scale->n) {
            scaled = scale_value(scale, c, (double)value[k]);
        }
        value[k] = (float)scaled;
        if (!isfinite(value[k])) {
            return overflow(data, row, c, scaled, err);
        }
    }
    return 0;
}

static void scale_row_to_unit(float *value, size_t n) {
    double squares = 0;
    for (size_t k = 0; k < n; k++) {
        squares += (double)value[k] * (double)value[k];
    }
    double length = sqrt(squares);
    for (size_t k = 0; k < n && length > 0; k++) {
        value[k] = (float)((double)value[k] / length);
    }
}

/* True if there is a column in which 0 does not stay 0. */
static bool moves_zeros(const struct scale *scale) {
    bool any = scale->shift || scale->kind == SCALE_QUANTILE;
    for (uint32_t c = 0; any && c < scale->n; c++) {
        if (scale_value(scale, c, 0) != 0) {
            return true;
        }
    }
    return false;
}

/* Scales the rows, without means of queries. */
static int scale_rows(const struct scale *scale, struct data *data, struct error *err) {
    if (scale->kind == SCALE_NONE) {
        return 0;
    }
    if (scale_kind_by_query(scale->kind)) {
        return query_features_scale(data, scale->n, scale->kind == SCALE_QUERY_STD, err);
    }
    if (data_own(data, false, err) < 0) {
        return -1;
    }
    if (scale->kind != SCALE_L2 && (!data->row_start || moves_zeros(scale))) {
        data_narrow(data, scale->n);
        if (data_make_dense(data, scale->n, true, err) < 0) {
            return -1;
        }
    }
    for (size_t i = 0; i < data->n_rows; i++) {
        size_t first = data->row_start ? (size_t)data->row_start[i] : i * data->n_features;
        size_t n = data->row_start ? (size_t)data->row_start[i + 1] - first : data->n_features;
        if (scale->kind == SCALE_L2) {
            scale_row_to_unit(data->value + first, n);
        } else if (scale_row(scale, data, i, first, n, err) < 0) {
            return -1;
        }
    }
    return 0;
}

int scale_apply(const struct scale *scale, struct data *data, struct error *err) {
    if (scale_rows(scale, data, err) < 0) {
        return -1;
    }
    return scale->query_means > 0 ? query_features_append_means(data, scale->query_means, err) : 0;
}
