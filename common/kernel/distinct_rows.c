/* Distinct rows, aggregation over duplicates and broadcast to them; the search is
 * common/data/duplicates.c. */
#include "common/kernel/distinct_rows.h"

#include "common/base/memory.h"
#include "common/data/duplicates.h"

#include <stdlib.h>
#include <string.h>

int distinct_find(struct distinct *distinct, const struct data *data, struct error *err) {
    const char *const what = "distinct rows";
    size_t n = data->n_rows;
    *distinct = (struct distinct){.place = memory_array(n, sizeof *distinct->place, what, err),
                                  .row = memory_array(n, sizeof *distinct->row, what, err)};
    if (!distinct->place || !distinct->row ||
        duplicates_find(data, NULL, n, distinct->place, err) < 0) {
        distinct_free(distinct);
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t first = distinct->place[i]; /* an earlier row, whose number is known */
        if (first == i) {
            distinct->row[distinct->m] = first;
            distinct->place[i] = (uint32_t)distinct->m++;
        } else {
            distinct->place[i] = distinct->place[first];
        }
    }
    return 0;
}

void distinct_free(struct distinct *distinct) {
    free(distinct->place);
    free(distinct->row);
    *distinct = (struct distinct){0};
}

static size_t place_of(const struct distinct *distinct, const uint32_t *rows, size_t i) {
    return distinct->place[rows ? rows[i] : i];
}

void distinct_aggregate(const struct distinct *distinct, const uint32_t *rows, size_t n_rows,
                        const double *b, size_t k, double *out) {
    memset(out, 0, distinct->m * k * sizeof *out);
    for (size_t i = 0; i < n_rows; i++) {
        double *sum = out + place_of(distinct, rows, i) * k;
        for (size_t o = 0; o < k; o++) {
            sum[o] += b[i * k + o];
        }
    }
}

void distinct_broadcast(const struct distinct *distinct, const uint32_t *rows, size_t n_rows,
                        const double *s, size_t k, double *out) {
    for (size_t i = 0; i < n_rows; i++) {
        memcpy(out + i * k, s + place_of(distinct, rows, i) * k, k * sizeof *out);
    }
}
