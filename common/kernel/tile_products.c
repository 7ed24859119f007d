/* Products of tiles with dense or sparse coefficients. BLAS is not used: the sums of a row would
 * depend on the number of rows, and few outputs would be slow. */
#include "common/kernel/tile_products.h"

#include "common/base/dispatch.h"
#include "common/base/memory.h"
#include "common/base/vector.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANES = VECTOR_BYTES < 32 ? 2 : 4, /* of a vector of a sparse product */
    VECTORS = 8,                       /* its vectors */
    STRIP = VECTORS * LANES,
    OUTPUTS = 32,      /* outputs whose sums over a strip stay in cache */
    TRANSPOSE_COST = 5 /* transposing a row of a tile takes as long as so many coefficients */
};

/* A non-zero coefficient: its row within a chunk of the list, and its output within a group. */
struct entry {
    uint16_t row, output;
    double value;
};

struct tile_coefficients {
    size_t m, k;
    size_t width;  /* k in whole vectors of outputs */
    double *dense; /* (width, m) dense coefficients; NULL: sparse */
    size_t chunks;
    size_t *start; /* (groups of outputs, chunks), and the end: where each begins in `entry` */
    struct entry *entry; /* those of a chunk and group in ascending order of outputs; NULL: dense */
};

typedef double lanes __attribute__((vector_size(8 * LANES), may_alias));

/* ---- dense ---- */

/* One output: out (n) += A b, A (n, m) with rows TILE_STRIDE apart; if out_columns (m)
 * is not NULL, out_columns += A'w too, w (used) the weights of the first rows. */
static void multiply_one(const double *a, const double *b, size_t n, size_t m, double *out,
                         const double *w, size_t used, double *out_columns) {
    const struct vector_double *vector = vector_double();
    for (size_t i = 0; i < n; i += VECTOR_ROWS) {
        const double
            *row[VECTOR_ROWS]; /* rows beyond n repeat the last one; their sums are not used */
        double weight[VECTOR_ROWS] = {0}, dot[VECTOR_ROWS] = {0};
        for (size_t r = 0; r < VECTOR_ROWS; r++) {
            row[r] = a + (i + r < n ? i + r : n - 1) * TILE_STRIDE;
            weight[r] = out_columns && i + r < used ? w[i + r] : 0;
        }
        if (out_columns && i < used) {
            vector->both(row, m, b, weight, dot, out_columns);
        } else {
            vector->dot(row, m, b, dot);
        }
        for (size_t r = 0; r < VECTOR_ROWS && i + r < n; r++) {
            out[i + r] += dot[r];
        }
    }
}

/* out_columns (m, k) += A'D, A (used, m) with rows TILE_STRIDE apart, D the coefficients from
 * position `first` on. */
static void multiply_columns(const struct tile_coefficients *c, const double *a, size_t first,
                             size_t used, size_t m, double *out_columns) {
    double sum[VECTOR_OUTPUTS * TILE_COLUMNS];
    for (size_t o = 0; o < c->k; o += VECTOR_OUTPUTS) {
        memset(sum, 0, sizeof sum);
        vector_double()->axpys(a, TILE_STRIDE, used, m, c->dense + o * c->m + first, c->m,
                               VECTOR_OUTPUTS, sum, TILE_COLUMNS);
        for (size_t p = o; p < o + VECTOR_OUTPUTS && p < c->k; p++) {
            for (size_t t = 0; t < m; t++) {
                out_columns[t * c->k + p] += sum[(p - o) * TILE_COLUMNS + t];
            }
        }
    }
}

/* ---- sparse ---- */

/* sum (OUTPUTS, STRIP) += the entries of a chunk times the values of their rows, which are `stride`
 * apart. */
static inline __attribute__((always_inline)) void
add_entries(const struct entry *entry, size_t n, const double *value, size_t stride, double *sum) {
    for (size_t e = 0; e < n;) {
        size_t output = entry[e].output;
        lanes *out = (lanes *)(sum + output * STRIP), s[VECTORS];
        memcpy(s, out, sizeof s);
        for (; e < n && entry[e].output == output; e++) {
            const lanes *at = (const lanes *)(value + entry[e].row * stride);
            for (size_t v = 0; v < VECTORS; v++) {
                s[v] += entry[e].value * at[v];
            }
        }
        memcpy(out, s, sizeof s);
    }
}

/* out (n, k) += A C as in tile_multiply or, if `transpose`, A'C with A (m, n), C from position `at`
 * on. */
DISPATCH static void multiply_sparse(const struct tile_coefficients *c, const double *a,
                                     bool transpose, size_t n, size_t at, size_t m, double *out) {
    double sum[OUTPUTS * STRIP] __attribute__((aligned(64)));
    double transposed[TILE_CHUNK * STRIP] __attribute__((aligned(64)));
    for (size_t i = 0; i < n; i += STRIP) {
        size_t strip = n - i < STRIP ? n - i : STRIP;
        for (size_t first = 0; first < c->k; first += OUTPUTS) {
            size_t outputs = c->k - first < OUTPUTS ? c->k - first : OUTPUTS;
            const size_t *start = c->start + first / OUTPUTS * c->chunks + at / TILE_CHUNK;
            memset(sum, 0, outputs * STRIP * sizeof *sum);
            for (size_t t = 0; t < m; t += TILE_CHUNK, start++) {
                const struct entry *entry = c->entry + start[0];
                if (transpose) {
                    add_entries(entry, start[1] - start[0], a + t * TILE_STRIDE + i, TILE_STRIDE,
                                sum);
                    continue;
                }
                size_t rows = m - t < TILE_CHUNK ? m - t : TILE_CHUNK;
                for (size_t l = 0; l < STRIP; l++) { /* rows beyond n repeat the last: unused */
                    const double *row = a + (i + (l < strip ? l : strip - 1)) * TILE_STRIDE + t;
                    for (size_t r = 0; r < rows; r++) {
                        transposed[r * STRIP + l] = row[r];
                    }
                }
                add_entries(entry, start[1] - start[0], transposed, STRIP, sum);
            }
            for (size_t l = 0; l < strip; l++) {
                double *to = out + (i + l) * c->k + first;
                for (size_t o = 0; o < outputs; o++) {
                    to[o] += sum[o * STRIP + l];
                }
            }
        }
    }
}

/* ---- the coefficients ---- */

static int make_sparse(struct tile_coefficients *c, const double *values, const uint32_t *list,
                       size_t n_entries, struct error *err) {
    size_t groups = (c->k + OUTPUTS - 1) / OUTPUTS, n = 0;
    c->chunks = (c->m + TILE_CHUNK - 1) / TILE_CHUNK;
    c->start = memory_array(groups * c->chunks + 1, sizeof *c->start, "coefficients", err);
    c->entry = memory_array(n_entries, sizeof *c->entry, "coefficients", err);
    if (!c->start || !c->entry) {
        return -1;
    }
    for (size_t g = 0; g < groups * c->chunks; g++) {
        size_t first = g / c->chunks * OUTPUTS, chunk = g % c->chunks * TILE_CHUNK;
        c->start[g] = n;
        for (size_t o = first; o < first + OUTPUTS && o < c->k; o++) {
            for (size_t t = chunk; t < chunk + TILE_CHUNK && t < c->m; t++) {
                double value = values[list[t] * c->k + o];
                if (value != 0) {
                    c->entry[n++] =
                        (struct entry){(uint16_t)(t - chunk), (uint16_t)(o - first), value};
                }
            }
        }
    }
    c->start[groups * c->chunks] = n;
    return 0;
}

static int make_dense(struct tile_coefficients *c, const double *values, const uint32_t *list,
                      struct error *err) {
    c->dense = memory_zeros(c->m, c->width * sizeof *c->dense, "coefficients", err);
    for (size_t t = 0; c->dense && t < c->m; t++) {
        for (size_t o = 0; o < c->k; o++) {
            c->dense[o * c->m + t] = values[list[t] * c->k + o];
        }
    }
    return c->dense ? 0 : -1;
}

int tile_coefficients_create(struct tile_coefficients **coefficients, const double *values,
                             size_t k, const uint32_t *list, size_t m, struct error *err) {
    struct tile_coefficients *made = memory_zeros(1, sizeof *made, "coefficients", err);
    if (!made) {
        return -1;
    }
    size_t n_entries = 0;
    made->m = m;
    made->k = k;
    made->width = (k + VECTOR_OUTPUTS - 1) / VECTOR_OUTPUTS * VECTOR_OUTPUTS;
    for (size_t t = 0; t < m; t++) {
        for (size_t o = 0; o < k; o++) {
            n_entries += values[list[t] * k + o] != 0;
        }
    }
    bool sparse = k > 1 && n_entries + TRANSPOSE_COST * m < m * made->width;
    int status = sparse ? make_sparse(made, values, list, n_entries, err)
                        : make_dense(made, values, list, err);
    if (status < 0) {
        tile_coefficients_free(made);
        return -1;
    }
    *coefficients = made;
    return 0;
}

void tile_coefficients_free(struct tile_coefficients *coefficients) {
    if (coefficients) {
        free(coefficients->dense);
        free(coefficients->start);
        free(coefficients->entry);
        free(coefficients);
    }
}

/* ---- products ---- */

void tile_multiply(const struct tile_coefficients *c, const double *tile, size_t n, size_t at,
                   size_t columns, double *out) {
    if (c->entry) {
        multiply_sparse(c, tile, false, n, at, columns, out);
    } else if (c->k == 1) {
        multiply_one(tile, c->dense + at, n, columns, out, NULL, 0, NULL);
    } else {
        vector_double()->dots(tile, TILE_STRIDE, n, columns, c->dense + at, c->m, c->k, out);
    }
}

void tile_multiply_both(const struct tile_coefficients *c, const double *tile, size_t n, size_t at,
                        size_t columns, double *out, size_t first, size_t used,
                        double *out_columns) {
    if (c->k == 1) {
        multiply_one(tile, c->dense + at, n, columns, out, used > 0 ? c->dense + first : NULL, used,
                     out_columns);
        return;
    }
    tile_multiply(c, tile, n, at, columns, out);
    if (c->entry) {
        multiply_sparse(c, tile, true, columns, first, used, out_columns);
    } else {
        multiply_columns(c, tile, first, used, columns, out_columns);
    }
}
