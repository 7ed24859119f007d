/* Quantiles of each feature: its values are sorted by a radix sort, O(n) for each feature. */
#include "common/data/quantiles.h"

#include "common/base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double STEP = 1.0 / QUANTILE_STEPS;

/* ---- sorting: floats as integers in the same order ---- */

static const uint32_t SIGN = UINT32_C(1) << 31;

static uint32_t key_of(float value) {
    uint32_t bits;
    value += 0.0F; /* -0 is 0 */
    memcpy(&bits, &value, sizeof bits);
    return bits & SIGN ? ~bits : bits | SIGN;
}

static float value_of(uint32_t key) {
    uint32_t bits = key & SIGN ? key & ~SIGN : ~key;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Sorts key[0..n) by bytes, lowest first (LSD radix sort); work (n). */
static void sort_keys(uint32_t *key, uint32_t *work, size_t n) {
    uint32_t *from = key, *to = work;
    for (unsigned shift = 0; shift < 32; shift += 8) {
        size_t place[257] = {0};
        for (size_t i = 0; i < n; i++) {
            place[(from[i] >> shift & 255) + 1]++;
        }
        for (size_t b = 0; b < 256; b++) {
            place[b + 1] += place[b];
        }
        for (size_t i = 0; i < n; i++) {
            to[place[from[i] >> shift & 255]++] = from[i];
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
}

/* ---- the values of a feature ---- */

/* The values of all rows, by feature. */
struct columns {
    const struct data *data;
    size_t *start; /* sparse: (n_features + 1) */
    float *value;  /* sparse: the stored values, feature by feature */
    uint32_t *key, *work;
};

static int columns_sort(struct columns *columns, struct error *err) {
    const struct data *data = columns->data;
    size_t n = data->n_features;
    columns->start = memory_zeros(n + 2, sizeof *columns->start, "quantiles", err);
    columns->value = memory_array(data_values(data), sizeof *columns->value, "quantiles", err);
    if (!columns->start || !columns->value) {
        return -1;
    }
    for (size_t at = 0; at < data_values(data); at++) {
        columns->start[data->column[at] + 2]++;
    }
    for (size_t c = 0; c < n; c++) {
        columns->start[c + 2] += columns->start[c + 1];
    }
    for (size_t at = 0; at < data_values(data); at++) {
        columns->value[columns->start[data->column[at] + 1]++] = data->value[at];
    }
    return 0;
}

static int columns_open(struct columns *columns, const struct data *data, struct error *err) {
    *columns = (struct columns){.data = data};
    columns->key = memory_array(data->n_rows, sizeof *columns->key, "quantiles", err);
    columns->work = memory_array(data->n_rows, sizeof *columns->work, "quantiles", err);
    return columns->key && columns->work && (!data->row_start || columns_sort(columns, err) == 0)
               ? 0
               : -1;
}

static void columns_close(struct columns *columns) {
    free(columns->start);
    free(columns->value);
    free(columns->key);
    free(columns->work);
}

/* Sets columns->key to the distinct values of feature c, *n in ascending order, and columns->work
 * to the number of rows with each. */
static void columns_take(struct columns *columns, size_t c, size_t *n) {
    const struct data *data = columns->data;
    size_t stored = data->n_rows, stride = data->n_features, distinct = 0;
    const float *value = data->value + c;
    uint32_t *key = columns->key, *count = columns->work;
    if (data->row_start) {
        stored = columns->start[c + 1] - columns->start[c];
        value = columns->value + columns->start[c];
        stride = 1;
    }
    for (size_t i = 0; i < stored; i++) {
        key[i] = key_of(value[i * stride]);
    }
    size_t zeros = data->n_rows - stored; /* one zero is sorted for all */
    if (zeros > 0) {
        key[stored] = key_of(0);
    }
    size_t end = stored + (zeros > 0);
    sort_keys(key, columns->work, end);
    for (size_t i = 0; i < end; i++) {
        if (i == 0 || key[i] != key[distinct - 1]) {
            key[distinct] = key[i];
            count[distinct++] = 0;
        }
        count[distinct - 1]++;
    }
    for (size_t k = 0; zeros > 0 && k < distinct; k++) {
        count[k] += key[k] == key_of(0) ? (uint32_t)(zeros - 1) : 0;
    }
    *n = distinct;
}

/* ---- breakpoints ---- */

static int put_breakpoint(struct quantiles *quantiles, size_t *n, struct breakpoint breakpoint,
                          struct error *err) {
    if (memory_grow(&quantiles->breakpoint, memory_room(0, *n), *n + 1, sizeof breakpoint,
                    "quantiles", err) < 0) {
        return -1;
    }
    quantiles->breakpoint[(*n)++] = breakpoint;
    return 0;
}

/* Appends breakpoints for n distinct values with their counts: the first, the last, and each
 * without which the next one would be more than a step from the breakpoint before. */
static int put_breakpoints(struct quantiles *quantiles, size_t *n_breakpoints, const uint32_t *key,
                           const uint32_t *count, size_t n, struct error *err) {
    double first = (double)count[0] / 2, all = 0, below = 0, before = 0;
    for (size_t k = 0; k < n; k++) {
        all += (double)count[k];
    }
    double range = all - (double)count[n - 1] / 2 - first; /* 0 if n is 1 */
    for (size_t k = 0; k < n; k++) {
        double rank = k == 0 ? 0 : (below + (double)count[k] / 2 - first) / range;
        below += (double)count[k];
        bool ends = k == 0 || k + 1 == n;
        if (ends || (below + (double)count[k + 1] / 2 - first) / range - before > STEP) {
            struct breakpoint breakpoint = {value_of(key[k]), (float)rank};
            if (put_breakpoint(quantiles, n_breakpoints, breakpoint, err) < 0) {
                return -1;
            }
            before = rank;
        }
    }
    return 0;
}

int quantiles_fit(struct quantiles *quantiles, const struct data *data, struct error *err) {
    struct columns columns;
    size_t n, n_breakpoints = 0;
    *quantiles = (struct quantiles){.n = data->n_features};
    quantiles->start =
        memory_array((size_t)quantiles->n + 1, sizeof *quantiles->start, "quantiles", err);
    int status = columns_open(&columns, data, err) < 0 || !quantiles->start ? -1 : 0;
    for (uint32_t c = 0; status == 0 && c < quantiles->n; c++) {
        columns_take(&columns, c, &n);
        quantiles->start[c] = n_breakpoints;
        status = put_breakpoints(quantiles, &n_breakpoints, columns.key, columns.work, n, err);
    }
    columns_close(&columns);
    if (status < 0) {
        quantiles_free(quantiles);
        return -1;
    }
    quantiles->start[quantiles->n] = n_breakpoints;
    return 0;
}

double quantiles_of(const struct quantiles *quantiles, size_t c, double value) {
    const struct breakpoint *breakpoint = quantiles->breakpoint + quantiles->start[c];
    size_t low = 0, high = (size_t)(quantiles->start[c + 1] - quantiles->start[c]) - 1;
    if (value <= (double)breakpoint[0].value) {
        return 0;
    }
    if (value >= (double)breakpoint[high].value) {
        return (double)breakpoint[high].quantile;
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if ((double)breakpoint[middle].value <= value) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double from = (double)breakpoint[low].value, rank = (double)breakpoint[low].quantile;
    double part = (value - from) / ((double)breakpoint[high].value - from);
    return rank + part * ((double)breakpoint[high].quantile - rank);
}

void quantiles_free(struct quantiles *quantiles) {
    free(quantiles->start);
    free(quantiles->breakpoint);
    *quantiles = (struct quantiles){0};
}
