/* The Gram matrix: a wrapper of panels.h that can replace the matrix of all rows by that of the
 * distinct rows. With P the 0-1 matrix of which row is which distinct row (distinct_rows.h), K B =
 * P K_m (P'B). */
#include "common/kernel/gram.h"

#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/double_double/type.h"
#include "common/kernel/gram_dd.h"
#include "common/kernel/kernel_dd.h"
#include "common/kernel/panels.h"
#include "common/kernel/rounding.h"

#include <stdlib.h>
#include <string.h>

struct gram {
    struct panels *panels;               /* the matrix of all rows, or of the distinct rows */
    struct distinct_rows *distinct_rows; /* NULL: the matrix of all rows */
};

/* The rows, if the matrix is that of the distinct rows. */
struct distinct_rows {
    struct kernel_rows rows; /* all */
    struct distinct distinct;
    struct data data; /* the distinct ones */
};

/* ---- creation ---- */

int gram_create(struct gram **gram, const struct kernel *kernel, const struct data *data,
                size_t cache_bytes, bool is_double, struct threads *threads, struct error *err) {
    return gram_create_distributed(gram, kernel, data, cache_bytes, is_double, NULL, threads, err);
}

int gram_create_distributed(struct gram **gram, const struct kernel *kernel,
                            const struct data *data, size_t cache_bytes, bool is_double,
                            struct cluster *cluster, struct threads *threads, struct error *err) {
    struct gram *g = memory_zeros(1, sizeof *g, "kernel matrix", err);
    if (!g || panels_create(&g->panels, kernel, data, cache_bytes, is_double, cluster, threads,
                            err) < 0) {
        free(g);
        return -1;
    }
    *gram = g;
    return 0;
}

int gram_create_distinct(struct gram **gram, const struct kernel *kernel, const struct data *data,
                         struct distinct *distinct, size_t cache_bytes, bool is_double,
                         struct cluster *cluster, struct threads *threads, struct error *err) {
    struct gram *g = memory_zeros(1, sizeof *g, "kernel matrix", err);
    struct distinct_rows *distinct_rows =
        g ? memory_zeros(1, sizeof *distinct_rows, "kernel matrix", err) : NULL;
    if (!distinct_rows) {
        free(g);
        distinct_free(distinct);
        return -1;
    }
    distinct_rows->distinct = *distinct;
    *distinct = (struct distinct){0};
    g->distinct_rows = distinct_rows;
    if (kernel_rows_create(&distinct_rows->rows, kernel, data, err) < 0 ||
        data_subset(data, distinct_rows->distinct.row, distinct_rows->distinct.m,
                    &distinct_rows->data, err) < 0 ||
        panels_create(&g->panels, kernel, &distinct_rows->data, cache_bytes, is_double, cluster,
                      threads, err) < 0) {
        gram_free(g);
        return -1;
    }
    distinct_rows->rows.cluster = cluster;
    *gram = g;
    return 0;
}

void gram_free(struct gram *gram) {
    if (!gram) {
        return;
    }
    panels_free(gram->panels);
    if (gram->distinct_rows) {
        kernel_rows_free(&gram->distinct_rows->rows);
        data_free(&gram->distinct_rows->data);
        distinct_free(&gram->distinct_rows->distinct);
        free(gram->distinct_rows);
    }
    free(gram);
}

size_t gram_size(const struct gram *gram) {
    return gram_rows(gram)->data->n_rows;
}

const struct kernel_rows *gram_rows(const struct gram *gram) {
    return gram->distinct_rows ? &gram->distinct_rows->rows : panels_rows(gram->panels);
}

const struct distinct *gram_distinct(const struct gram *gram) {
    return gram->distinct_rows ? &gram->distinct_rows->distinct : NULL;
}

bool gram_is_double(const struct gram *gram) {
    return panels_is_double(gram->panels);
}

size_t gram_cached_bytes(const struct gram *gram) {
    return panels_cached_bytes(gram->panels);
}

bool gram_is_cached(const struct gram *gram) {
    return panels_is_cached(gram->panels);
}

/* ---- products ---- */

/* Computes out = K B, B and out (n, k), n the number of rows of the panels. */
typedef int multiply_function(const struct panels *panels, const double *b, size_t k, double *out,
                              const void *context, struct threads *threads, struct error *err);

/* out (n, k) = K B at rows[0..n) (NULL: all rows), through the matrix of the distinct rows. */
static int multiply_distinct(const struct gram *gram, const uint32_t *rows, size_t n,
                             const double *b, size_t k, double *out, multiply_function *multiply,
                             const void *context, struct threads *threads, struct error *err) {
    const struct distinct *distinct = &gram->distinct_rows->distinct;
    double *sums = memory_array(distinct->m, 2 * k * sizeof *sums, "products", err);
    int status = -1;
    if (sums) {
        distinct_aggregate(distinct, rows, n, b, k, sums);
        status = multiply(gram->panels, sums, k, sums + distinct->m * k, context, threads, err);
    }
    if (status == 0) {
        distinct_broadcast(distinct, rows, n, sums + distinct->m * k, k, out);
    }
    free(sums);
    return status;
}

/* out (n, k) = K B of all rows. */
static int multiply_all(const struct gram *gram, const double *b, size_t k, double *out,
                        multiply_function *multiply, const void *context, struct threads *threads,
                        struct error *err) {
    return gram->distinct_rows ? multiply_distinct(gram, NULL, gram_size(gram), b, k, out, multiply,
                                                   context, threads, err)
                               : multiply(gram->panels, b, k, out, context, threads, err);
}

static int multiply_one(const struct panels *panels, const double *b, size_t k, double *out,
                        const void *context, struct threads *threads, struct error *err) {
    (void)context;
    (void)k;
    return panels_product(panels, b, out, threads, err);
}

static int multiply_exactly(const struct panels *panels, const double *b, size_t k, double *out,
                            const void *context, struct threads *threads, struct error *err) {
    (void)context;
    return kernel_scores(panels_rows(panels), panels_rows(panels), b, k, out, threads, err);
}

static int multiply_floats(const struct panels *panels, const double *b, size_t k, double *out,
                           const void *context, struct threads *threads, struct error *err) {
    (void)context;
    return kernel_scores_float(panels_rows(panels), b, k, out, threads, err);
}

/* Rounding-error bounds of scores whose kernel values have *(double *)units more errors of one
 * unit. */
static int bound_errors(const struct panels *panels, const double *size, size_t k, double *error,
                        const void *units, struct threads *threads, struct error *err) {
    struct kernel_rounding rounding;
    kernel_rounding_open(&rounding, panels_rows(panels), *(const double *)units);
    return kernel_rounding_scores(&rounding, size, k, error, threads, err);
}

static int multiply_columns(const struct panels *panels, const double *b, size_t k, double *out,
                            const void *context, struct threads *threads, struct error *err) {
    (void)context;
    return panels_products(panels, NULL, panels_size(panels), b, k, out, threads, err);
}

int gram_product(const struct gram *gram, const double *b, double *out, struct threads *threads,
                 struct error *err) {
    return multiply_all(gram, b, 1, out, multiply_one, NULL, threads, err);
}

int gram_exact_scores(const struct gram *gram, const double *b, size_t k, double *s,
                      struct threads *threads, struct error *err) {
    return multiply_all(gram, b, k, s, multiply_exactly, NULL, threads, err);
}

size_t gram_exact_additions(const struct gram *gram, size_t m) {
    size_t n = panels_size(gram->panels), equal = gram_size(gram) - n;
    return smaller(m, equal + kernel_scores_additions(panels_rows(gram->panels), m));
}

int gram_float_scores(const struct gram *gram, const double *b, size_t k, double *s,
                      struct threads *threads, struct error *err) {
    return multiply_all(gram, b, k, s, multiply_floats, NULL, threads, err);
}

int gram_rounding_scores(const struct gram *gram, double units, const double *size, size_t k,
                         double *error, struct threads *threads, struct error *err) {
    return multiply_all(gram, size, k, error, bound_errors, &units, threads, err);
}

/* Numbers the distinct rows among rows[0..n): place[i] (n) is the number of row i, at[] lists
 * the distinct rows by number. Returns how many there are. seen (distinct rows) is work space. */
static size_t list_distinct(const struct distinct *distinct, const uint32_t *rows, size_t n,
                            uint32_t *place, uint32_t *at, uint32_t *seen) {
    size_t m = 0;
    memset(seen, 0, distinct->m * sizeof *seen);
    for (size_t i = 0; i < n; i++) {
        uint32_t own = distinct->place[rows ? rows[i] : i];
        if (seen[own] == 0) {
            at[m++] = own;
            seen[own] = (uint32_t)m;
        }
        place[i] = seen[own] - 1;
    }
    return m;
}

int gram_scores_dd(const struct gram *gram, const uint32_t *rows, size_t n, const struct dd *b,
                   size_t k, struct dd *s, struct threads *threads, struct error *err) {
    const struct kernel_rows *own = panels_rows(gram->panels);
    size_t m = n, seen = gram->distinct_rows ? gram->distinct_rows->distinct.m : 0;
    uint32_t *at = memory_array(2 * n + seen, sizeof *at, "rows", err), *place = at ? at + n : NULL;
    struct dd *sums =
        gram->distinct_rows ? memory_zeros(n, 2 * k * sizeof *sums, "products", err) : NULL;
    int status = at && (sums || !gram->distinct_rows) ? 0 : -1;
    if (status == 0 && !gram->distinct_rows) {
        for (size_t i = 0; i < n; i++) {
            at[i] = rows ? rows[i] : (uint32_t)i;
        }
        status = kernel_scores_dd(own, at, n, b, k, s, threads, err);
    } else if (status == 0) {
        m = list_distinct(&gram->distinct_rows->distinct, rows, n, place, at, place + n);
        gram_aggregate_dd(place, n, k, b, sums);
        status = kernel_scores_dd(own, at, m, sums, k, sums + n * k, threads, err);
    }
    for (size_t i = 0; status == 0 && gram->distinct_rows && i < n; i++) {
        memcpy(s + i * k, sums + (n + place[i]) * k, k * sizeof *s);
    }
    free(at);
    free(sums);
    return status;
}

/* The aggregation of coefficients over duplicates adds a relative error of at most 3 u^2 for each
 * sum. */
double gram_rounding_dd(const struct gram *gram, size_t n, size_t m) {
    const double sum = 3 * 0x1p-106;
    size_t equal = gram->distinct_rows ? gram_size(gram) - gram->distinct_rows->distinct.m : 0;
    return kernel_rounding_dd(panels_rows(gram->panels), m) + sum * (double)(equal < n ? equal : n);
}

double gram_work_dd(const struct gram *gram, size_t n, size_t m, size_t k) {
    size_t max_rows = gram->distinct_rows ? gram->distinct_rows->distinct.m : n;
    return kernel_work_dd(gram_rows(gram), n < max_rows ? n : max_rows, m < max_rows ? m : max_rows,
                          k);
}

int gram_products(const struct gram *gram, const uint32_t *rows, size_t n, const double *b,
                  size_t k, double *out, struct threads *threads, struct error *err) {
    return gram->distinct_rows
               ? multiply_distinct(gram, rows, n, b, k, out, multiply_columns, NULL, threads, err)
               : panels_products(gram->panels, rows, n, b, k, out, threads, err);
}

int gram_aggregate(const struct gram *gram, const uint32_t *rows, size_t n, double *b,
                   struct error *err) {
    if (!gram->distinct_rows) {
        return 0;
    }
    const struct distinct *distinct = &gram->distinct_rows->distinct;
    double *sum = memory_array(distinct->m, sizeof *sum, "coefficients", err);
    if (!sum) {
        return -1;
    }
    distinct_aggregate(distinct, rows, n, b, 1, sum);
    for (size_t i = 0; i < n; i++) {
        double *own = sum + distinct->place[rows ? rows[i] : i];
        b[i] = *own;
        *own = 0; /* the coefficient of the other duplicates */
    }
    free(sum);
    return 0;
}

/* ---- entries ---- */

typedef int block_function(const struct panels *panels, const uint32_t *i, size_t n_i,
                           const uint32_t *j, size_t n_j, double *block, struct error *err);

/* The block, with row numbers mapped to distinct rows if the matrix is that of these. */
static int take_block(const struct gram *gram, block_function *take, const uint32_t *i, size_t n_i,
                      const uint32_t *j, size_t n_j, double *block, struct error *err) {
    if (!gram->distinct_rows) {
        return take(gram->panels, i, n_i, j, n_j, block, err);
    }
    uint32_t *rows = memory_array(n_i + n_j, sizeof *rows, "rows of a block", err);
    for (size_t r = 0; rows && r < n_i + n_j; r++) {
        rows[r] = gram->distinct_rows->distinct.place[r < n_i ? i[r] : j[r - n_i]];
    }
    int status = rows ? take(gram->panels, rows, n_i, rows + n_i, n_j, block, err) : -1;
    free(rows);
    return status;
}

int gram_block(const struct gram *gram, const uint32_t *i, size_t n_i, const uint32_t *j,
               size_t n_j, double *block, struct error *err) {
    return take_block(gram, panels_block, i, n_i, j, n_j, block, err);
}

int gram_block_exact(const struct gram *gram, const uint32_t *i, size_t n_i, const uint32_t *j,
                     size_t n_j, double *block, struct error *err) {
    return take_block(gram, panels_block_exact, i, n_i, j, n_j, block, err);
}

bool gram_cached_row(const struct gram *gram, uint32_t i, const uint32_t *j, size_t n, float *row) {
    if (!gram_is_cached(gram)) {
        return false;
    }
    const uint32_t *place = gram->distinct_rows ? gram->distinct_rows->distinct.place : NULL;
    panels_row(gram->panels, place ? place[i] : i, j, n, place, row);
    return true;
}
