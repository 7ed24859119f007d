#include "common/data/quantiles.h"

#include "common/base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double STEP = 1.0 / RANKS_STEPS;

/* ---- sorting: floats as whole numbers that are in the same order ---- */

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

/* Sorts key[0..n) by its bytes, the lowest first (LSD radix sort); work (n). */
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

/* What the features of all rows are taken from. */
struct columns {
    const struct data *data;
    size_t *start; /* sparse: (n_features + 1) */
    float *value;  /* sparse: those that are stored, feature by feature */
    uint32_t *key, *work;
};

static int columns_sort(struct columns *columns, struct error *err) {
    const struct data *data = columns->data;
    size_t n = data->n_features;
    columns->start = memory_zeros(n + 2, sizeof *columns->start, "ranks of values", err);
    columns->value =
        memory_array(data_values(data), sizeof *columns->value, "ranks of values", err);
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
    columns->key = memory_array(data->n_rows, sizeof *columns->key, "ranks of values", err);
    columns->work = memory_array(data->n_rows, sizeof *columns->work, "ranks of values", err);
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

/* The distinct values of feature c, *n of them in order, as columns->key, and in columns->work how
 * many rows have each. */
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
    size_t zeros = data->n_rows - stored; /* one stands for all */
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

/* ---- knots ---- */

static int put_knot(struct ranks *ranks, size_t *n, size_t *room, struct knot knot,
                    struct error *err) {
    if (memory_grow(&ranks->knot, *room, *n + 1, sizeof knot, "ranks of values", err) < 0) {
        return -1;
    }
    *room = memory_room(*room, *n + 1);
    ranks->knot[(*n)++] = knot;
    return 0;
}

/* Puts n distinct values with their counts behind the *n_knots knots: the first, the last, and each
 * without which the next one would be over a step from the knot before. */
static int put_knots(struct ranks *ranks, size_t *n_knots, size_t *room, const uint32_t *key,
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
            struct knot knot = {value_of(key[k]), (float)rank};
            if (put_knot(ranks, n_knots, room, knot, err) < 0) {
                return -1;
            }
            before = rank;
        }
    }
    return 0;
}

int ranks_fit(struct ranks *ranks, const struct data *data, struct error *err) {
    struct columns columns;
    size_t room = 0, n, n_knots = 0;
    *ranks = (struct ranks){.n = data->n_features};
    ranks->start = memory_array((size_t)ranks->n + 1, sizeof *ranks->start, "ranks of values", err);
    int status = columns_open(&columns, data, err) < 0 || !ranks->start ? -1 : 0;
    for (uint32_t c = 0; status == 0 && c < ranks->n; c++) {
        columns_take(&columns, c, &n);
        ranks->start[c] = n_knots;
        status = put_knots(ranks, &n_knots, &room, columns.key, columns.work, n, err);
    }
    columns_close(&columns);
    if (status < 0) {
        ranks_free(ranks);
        return -1;
    }
    ranks->start[ranks->n] = n_knots;
    return 0;
}

double ranks_of(const struct ranks *ranks, size_t c, double value) {
    const struct knot *knot = ranks->knot + ranks->start[c];
    size_t low = 0, high = (size_t)(ranks->start[c + 1] - ranks->start[c]) - 1;
    if (value <= (double)knot[0].value) {
        return 0;
    }
    if (value >= (double)knot[high].value) {
        return (double)knot[high].rank;
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if ((double)knot[middle].value <= value) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double from = (double)knot[low].value, rank = (double)knot[low].rank;
    double part = (value - from) / ((double)knot[high].value - from);
    return rank + part * ((double)knot[high].rank - rank);
}

void ranks_free(struct ranks *ranks) {
    free(ranks->start);
    free(ranks->knot);
    *ranks = (struct ranks){0};
}
