/* The parts of panels.c that depend on the type of the entries. panels.c includes this file for
 * float and for double, with REAL, TILE, VECTOR and NAME(x) defined. Private to panels.c. */

/* The first entry of row r, which is cached, or the end of the cached rows. */
static REAL *NAME(row)(const struct panels *panels, size_t r) {
    return (REAL *)panels->entries + (row_offset(r) - row_offset(panels->first));
}

/* out[i][c] = entry (r_first + i, first + c), i < n_r, c < n, as far as it is in the lower
 * triangle. */
static int NAME(compute)(const struct panels *panels, size_t r_first, size_t n_r, size_t first,
                         size_t n, REAL *const *out, struct kernel_scratch *scratch,
                         struct error *err) {
    struct kernel_tile tile = {.x = {&panels->rows, NULL, r_first, n_r},
                               .z = {&panels->rows, NULL, first, n},
                               .lower = true,
                               .x_at = r_first,
                               .z_at = first};
    return TILE(&tile, out, scratch, err);
}

/* The contribution of columns first..end of up to VECTOR_ROWS rows from r on to a product with one
 * column; row[k] points at the entry of column `first`. r and first are multiples of VECTOR_ROWS.
 */
static void NAME(multiply_rows)(const struct product *product, size_t r, size_t first, size_t end,
                                const REAL *const *row, double *partial) {
    const double *b = product->vector;
    size_t n = smaller(panels_size(product->panels) - r, VECTOR_ROWS);
    const REAL *at[VECTOR_ROWS];
    double weight[VECTOR_ROWS] = {0}, dot[VECTOR_ROWS] = {0};
    bool axpy = false;
    for (size_t k = 0; k < VECTOR_ROWS; k++) {
        at[k] = row
            [k < n ? k
                   : 0]; /* rows after the last one: their weights are 0, their sums are not used */
        weight[k] = k < n ? b[r + k] : 0;
        axpy = axpy || weight[k] != 0;
    }
    size_t before = smaller(end, r); /* columns in which all these rows have entries */
    for (size_t i = 0; i < product->n_runs; i++) {
        size_t from = larger(product->runs[i].first, first);
        size_t to = smaller(product->runs[i].end, before);
        if (from >= to) {
            continue;
        }
        const REAL *piece[VECTOR_ROWS];
        for (size_t k = 0; k < VECTOR_ROWS; k++) {
            piece[k] = at[k] + (from - first);
        }
        if (!product->runs[i].zero && axpy) {
            VECTOR()->both(piece, to - from, b + from, weight, dot, partial + from);
        } else if (!product->runs[i].zero) {
            VECTOR()->dot(piece, to - from, b + from, dot);
        } else if (axpy) {
            VECTOR()->axpy(piece, to - from, weight, partial + from);
        }
    }
    for (size_t k = 0; k < n; k++) {
        partial[r + k] += dot[k];
        for (size_t c = larger(first, r); c <= r + k && c < end; c++) { /* the triangle */
            double value = (double)row[k][c - first];
            partial[r + k] += value * b[c];
            if (c < r + k) {
                partial[c] += value * weight[k];
            }
        }
    }
}

/* The contribution of columns first..end of `n` rows from r on to a product with k columns; the
 * rows are `stride` apart, from `tile` on, which holds column `first`. All columns of the tile are
 * below the diagonal, but for the last GROUP columns of a group. */
static void NAME(multiply_columns)(const struct product *product, size_t r, size_t n,
                                   const REAL *tile, size_t stride, size_t first, size_t end,
                                   double *partial, REAL *work) {
    size_t k = product->k, size = panels_size(product->panels), before = smaller(end, r);
    const REAL *b = product->b;
    REAL *rows = work, *columns = work + GROUP * k;
    bool by_rows = product->used[r / GROUP];
    for (size_t c = first; c < before; c += PRODUCT_COLUMNS) {
        size_t m = smaller(before - c, PRODUCT_COLUMNS);
        if (any_used(product, c, c + m)) {
            memset(rows, 0, n * k * sizeof *rows);
            VECTOR()->dots(tile + (c - first), stride, n, m, b + c, product->stride, k, rows);
            for (size_t i = 0; i < n; i++) {
                for (size_t o = 0; o < k; o++) {
                    partial[o * size + r + i] += (double)rows[i * k + o];
                }
            }
        }
        if (by_rows) {
            memset(columns, 0, padded(k) * m * sizeof *columns);
            VECTOR()->axpys(tile + (c - first), stride, n, m, b + r, product->stride, k, columns,
                            m);
            for (size_t o = 0; o < k; o++) {
                for (size_t j = 0; j < m; j++) {
                    partial[o * size + c + j] += (double)columns[o * m + j];
                }
            }
        }
    }
    for (size_t i = 0; by_rows && i < n; i++) { /* the triangle at the diagonal */
        for (size_t c = larger(first, r); c <= r + i && c < end; c++) {
            double value = (double)tile[i * stride + c - first];
            for (size_t o = 0; o < k; o++) {
                const REAL *of_output = b + o * product->stride;
                partial[o * size + r + i] += value * (double)of_output[c];
                partial[o * size + c] += c < r + i ? value * (double)of_output[r + i] : 0;
            }
        }
    }
}

/* The same for either kind of product, and up to GROUP rows. */
static void NAME(multiply_group)(const struct product *product, size_t r, size_t n,
                                 const REAL *tile, size_t stride, size_t first, size_t end,
                                 double *partial, void *work) {
    if (!product->vector) {
        NAME(multiply_columns)(product, r, n, tile, stride, first, end, partial, work);
        return;
    }
    for (size_t i = 0; i < n; i += VECTOR_ROWS) {
        const REAL *row[VECTOR_ROWS];
        for (size_t k = 0; k < VECTOR_ROWS; k++) {
            row[k] = tile + (i + k) * stride;
        }
        NAME(multiply_rows)(product, r + i, first, end, row, partial);
    }
}

/* The contribution of the rows of a task: first the cached rows, then the others, tile by tile. */
static int NAME(multiply_task)(struct product *product, size_t task, struct helper *helper,
                               double *partial) {
    const struct panels *panels = product->panels;
    size_t start = product->start[task], stop = product->start[task + 1];
    size_t middle = larger(start, smaller(stop, panels->end_cached));
    if (prepare_helper(product, helper, middle < stop) < 0) {
        return -1;
    }
    for (size_t r = start; r < middle; r += GROUP) {
        NAME(multiply_group)
        (product, r, smaller(panels_size(panels) - r, GROUP), NAME(row)(panels, r), r + GROUP, 0,
         r + GROUP, partial, helper->work);
    }
    REAL *out[TILE_ROWS];
    for (size_t i = 0; middle < stop && i < TILE_ROWS; i++) {
        out[i] = (REAL *)helper->tile + i * TILE_COLUMNS;
    }
    for (size_t first = middle; first < stop; first += TILE_ROWS) {
        size_t end = smaller(stop, first + TILE_ROWS);
        for (size_t c = 0; c < end; c += TILE_COLUMNS) {
            size_t m = smaller(end - c, TILE_COLUMNS);
            if (!any_used(product, first, end) && !any_used(product, c, c + m)) {
                continue;
            }
            if (NAME(compute)(panels, first, end - first, c, m, out, helper->scratch,
                              &helper->error) != 0) {
                return -1;
            }
            for (size_t r = first; r < end; r += GROUP) {
                NAME(multiply_group)
                (product, r, smaller(end - r, GROUP), out[r - first], TILE_COLUMNS, c,
                 smaller(c + m, r + GROUP), partial, helper->work);
            }
        }
    }
    return 0;
}

/* Computes one tile of the cached rows. */
static void NAME(build_task)(void *argument, size_t task, size_t worker) {
    struct build *build = argument;
    const struct panels *panels = build->panels;
    size_t first = build->tile[task].r, c = build->tile[task].c;
    size_t n_r = smaller(panels->end_cached - first, build->tile_rows);
    size_t n = smaller(first + n_r - c, TILE_COLUMNS);
    REAL *out[TILE_ROWS];
    for (size_t k = 0; k < n_r; k++) {
        out[k] = NAME(row)(panels, first + k) + c;
    }
    if (atomic_load(&build->failed)) {
        return;
    }
    if (NAME(compute)(panels, first, n_r, c, n, out, build->worker[worker].scratch,
                      &build->worker[worker].error) != 0) {
        atomic_store(&build->failed, true);
    }
}

#undef REAL
#undef TILE
#undef VECTOR
#undef NAME
