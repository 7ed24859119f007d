/* Duplicate rows: rows are sorted by a hash of their non-zero values, and compared within equal
 * hashes. */
#include "common/data/duplicates.h"

#include "common/base/memory.h"
#include "common/base/order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a of columns and bits, over values that are not 0. */
static uint64_t hash_of(struct stored_row row) {
    uint64_t hash = 14695981039346656037U;
    for (size_t k = 0; k < row.n; k++) {
        uint32_t bits, column = stored_column(row, k);
        memcpy(&bits, row.value + k, sizeof bits);
        if (row.value[k] != 0) {
            hash = (hash ^ column) * 1099511628211U;
            hash = (hash ^ bits) * 1099511628211U;
        }
    }
    return hash;
}

static size_t skip_zeros(struct stored_row row, size_t k) {
    while (k < row.n && row.value[k] == 0) {
        k++;
    }
    return k;
}

static bool are_equal(struct stored_row a, struct stored_row b) {
    size_t i = skip_zeros(a, 0), j = skip_zeros(b, 0);
    while (i < a.n && j < b.n) {
        if (stored_column(a, i) != stored_column(b, j) || a.value[i] != b.value[j]) {
            return false;
        }
        i = skip_zeros(a, i + 1);
        j = skip_zeros(b, j + 1);
    }
    return i == a.n && j == b.n;
}

int duplicates_find(const struct data *data, const uint32_t *rows, size_t n, uint32_t *first,
                    struct error *err) {
    struct keyed_row *key = memory_array(n, sizeof *key, "equal rows", err);
    if (!key) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        key[i] = (struct keyed_row){hash_of(data_stored(data, rows ? rows[i] : i)), (uint32_t)i};
    }
    keyed_rows_sort(key, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t place = key[i].row;
        struct stored_row own = data_stored(data, rows ? rows[place] : place);
        first[place] = place;
        /* compare with earlier rows of the same hash, which mostly are one class of duplicates */
        for (size_t k = i; k > 0 && key[k - 1].key == key[i].key; k--) {
            uint32_t other = key[k - 1].row;
            if (are_equal(own, data_stored(data, rows ? rows[other] : other))) {
                first[place] = first[other];
                break;
            }
        }
    }
    free(key);
    return 0;
}

void duplicates_equalise(const uint32_t *first, size_t n, double *s, size_t k) {
    for (size_t i = 0; i < n; i++) {
        if (first[i] != i) {
            memcpy(s + i * k, s + first[i] * k, k * sizeof *s);
        }
    }
}
