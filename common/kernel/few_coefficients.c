/* Sparse coefficients, grouped by tile and output. A product costs one multiply-add for each
 * non-zero coefficient and row of the tile. */
#include "common/kernel/few_coefficients.h"

#include "common/base/dispatch.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/kernel/add_rows.h"

#include <stdlib.h>
#include <string.h>

/* Coefficients are treated as sparse if at most this part is non-zero: at .6 the product takes .5
 * to .8 of the time of BLAS, for 3 to 101 outputs. */
static const double MAX_DENSITY = 0.6;

struct few_coefficients {
    size_t k;
    struct row_times *entry; /* the non-zero coefficients of each tile and output */
    size_t *start;           /* (tiles, k), and the end: where they begin in `entry` */
};

static int list_entries(struct few_coefficients *few, const float *b, size_t m, size_t n_entries,
                        struct error *err) {
    size_t k = few->k, tiles = (m + FEW_COLUMNS - 1) / FEW_COLUMNS, n = 0;
    few->entry = memory_array(n_entries, sizeof *few->entry, "products", err);
    few->start = memory_array(tiles * k + 1, sizeof *few->start, "products", err);
    if (!few->entry || !few->start) {
        return -1;
    }
    for (size_t tile = 0; tile < tiles; tile++) {
        size_t first = tile * FEW_COLUMNS, end = smaller(m, first + FEW_COLUMNS);
        for (size_t c = 0; c < k; c++) {
            few->start[tile * k + c] = n;
            for (size_t a = first; a < end; a++) {
                if (b[a * k + c] != 0) {
                    few->entry[n++] = (struct row_times){(uint32_t)(a - first), b[a * k + c]};
                }
            }
        }
    }
    few->start[tiles * k] = n;
    return 0;
}

int few_coefficients_create(struct few_coefficients **few, const float *b, size_t m, size_t k,
                            struct error *err) {
    size_t n_entries = 0;
    for (size_t j = 0; j < m * k; j++) {
        n_entries += b[j] != 0;
    }
    *few = NULL;
    if ((double)n_entries > MAX_DENSITY * (double)m * (double)k) {
        return 0;
    }
    struct few_coefficients *made = memory_zeros(1, sizeof *made, "products", err);
    if (!made) {
        return -1;
    }
    made->k = k;
    if (list_entries(made, b, m, n_entries, err) < 0) {
        few_coefficients_free(made);
        return -1;
    }
    *few = made;
    return 0;
}

void few_coefficients_free(struct few_coefficients *few) {
    if (few) {
        free(few->entry);
        free(few->start);
        free(few);
    }
}

DISPATCH void few_coefficients_multiply(const struct few_coefficients *few, size_t tile,
                                        const float *values, size_t stride, size_t n, float *sums,
                                        size_t sums_stride) {
    size_t k = few->k;
    const size_t *start = few->start + tile * k;
    const float *row[FEW_COLUMNS];
    for (size_t a = 0; a < FEW_COLUMNS; a++) {
        row[a] = values + a * stride;
    }
    for (size_t i = 0; i < n; i += ADD_ROWS_FLOATS) {
        for (size_t c = 0; c < k; c++) {
            float *sum = sums + c * sums_stride + i;
            memset(sum, 0, ADD_ROWS_FLOATS * sizeof *sum);
            add_rows(sum, few->entry + start[c], start[c + 1] - start[c], row, i);
        }
    }
}
