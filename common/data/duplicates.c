#include "common/data/duplicates.h"

#include "common/base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The stored values of a row. */
struct values {
    const uint32_t *column; /* NULL: all columns in turn */
    const float *value;
    size_t n;
};

static struct values values_of(const struct data *data, size_t row) {
    if (!data->row_start) {
        return (struct values){NULL, data->value + row * data->n_features, data->n_features};
    }
    uint64_t first = data->row_start[row];
    return (struct values){data->column + first, data->value + first,
                           (size_t)(data->row_start[row + 1] - first)};
}

/* FNV-1a of columns and bits, over values that are not 0. */
static uint64_t hash_of(struct values row) {
    uint64_t hash = 14695981039346656037U;
    for (size_t k = 0; k < row.n; k++) {
        uint32_t bits, column = row.column ? row.column[k] : (uint32_t)k;
        memcpy(&bits, row.value + k, sizeof bits);
        if (row.value[k] != 0) {
            hash = (hash ^ column) * 1099511628211U;
            hash = (hash ^ bits) * 1099511628211U;
        }
    }
    return hash;
}

static size_t skip_zeros(struct values row, size_t k) {
    while (k < row.n && row.value[k] == 0) {
        k++;
    }
    return k;
}

static bool are_equal(struct values a, struct values b) {
    size_t i = skip_zeros(a, 0), j = skip_zeros(b, 0);
    while (i < a.n && j < b.n) {
        uint32_t a_column = a.column ? a.column[i] : (uint32_t)i;
        uint32_t b_column = b.column ? b.column[j] : (uint32_t)j;
        if (a_column != b_column || a.value[i] != b.value[j]) {
            return false;
        }
        i = skip_zeros(a, i + 1);
        j = skip_zeros(b, j + 1);
    }
    return i == a.n && j == b.n;
}

struct key {
    uint64_t hash;
    uint32_t place;
};

static int by_hash(const void *a, const void *b) {
    const struct key *x = a, *y = b;
    int order = (x->hash > y->hash) - (x->hash < y->hash);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

int twins_find(const struct data *data, const uint32_t *rows, size_t n, uint32_t *twin,
               struct error *err) {
    struct key *key = memory_array(n, sizeof *key, "equal rows", err);
    if (!key) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        key[i] = (struct key){hash_of(values_of(data, rows ? rows[i] : i)), (uint32_t)i};
    }
    qsort(key, n, sizeof *key, by_hash);
    for (size_t i = 0; i < n; i++) {
        uint32_t place = key[i].place;
        struct values own = values_of(data, rows ? rows[place] : place);
        twin[place] = place;
        /* of those with its hash, mostly one class of equal rows, the first that is like it */
        for (size_t k = i; k > 0 && key[k - 1].hash == key[i].hash; k--) {
            uint32_t other = key[k - 1].place;
            if (are_equal(own, values_of(data, rows ? rows[other] : other))) {
                twin[place] = twin[other];
                break;
            }
        }
    }
    free(key);
    return 0;
}
