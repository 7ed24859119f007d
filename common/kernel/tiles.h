/* Kernel tiles. tiles_float.c and tiles_double.c include this file, with REAL and the constants of
 * the type defined; private to them.
 *
 * 1. Sums of products, minima or overlaps (table.inc). Dense rows go through BLAS. If a side is
 *    sparse, a block of z rows is laid out as a dense panel over the features that occur in it, and
 *    each non-zero of x meets all lanes of its slot (vector.h). Features are taken in ranges, so
 *    that the table from feature to slot stays in cache for any number of features. That is as fast
 *    as BLAS on the same rows made dense if 60% of the values are non-zero, and faster below.
 * 2. The function of the kernel, a row of the tile at a time while its sums are in cache.
 * 3. Entries that are infinite or undefined, or whose distance mostly cancelled, are computed again
 *    by kernel_value: those of zero rows, identical rows, and values whose squares overflow REAL.
 */

#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/base/vector.h"
#include "common/kernel/functions.h"
#include "common/kernel/table.h"

#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum {
    Z_TILE = MAX_ROW_VALUES,  /* rows of z in one block of sums: a multiple of LANES */
    PACK_COLUMNS = 1024,      /* features that are packed at a time */
    RANGE = 1 << 18,          /* features in the table of slots at a time */
    PANEL_BYTES = 1 << 20,    /* a larger panel gets fewer rows of z, down to LANES; */
    MAX_PANEL_BYTES = 4 << 20 /* one that is then still larger than this gets fewer features */
};

/* A tile in progress. */
struct work {
    const struct kernel_tile *tile;
    REAL *const *out;
    struct kernel_scratch *scratch;
    const REAL *z_norm; /* (z.n) */
    REAL *sum;          /* (X_TILE, Z_TILE) */
    size_t k;           /* features that both sides have */
    bool sums;          /* out gets the sums, not the kernel values */
};

/* ---- functions of the sums ---- */

/* True if the two rows of entry (r, c) are one row. */
static bool same_row(const struct kernel_tile *tile, size_t r, size_t c) {
    return tile->x.rows->data == tile->z.rows->data &&
           kernel_side_row(&tile->x, r) == kernel_side_row(&tile->z, c);
}

/* Computes the kernel values of columns first..first + n of row r from their sums. */
static void finish_row(const struct work *work, size_t r, size_t first, size_t n, const REAL *dot) {
    const struct kernel_tile *tile = work->tile;
    const struct kernel *kernel = tile->x.rows->kernel;
    const struct kernel_entry *entry = &kernel_table[kernel->type];
    size_t row = kernel_side_row(&tile->x, r);
    REAL x_norm = (REAL)tile->x.rows->norm[row];
    REAL *out = work->out[r] + first;
    if (work->sums) {
        memcpy(out, dot, n * sizeof *out);
        return;
    }
    apply_function(kernel, x_norm, work->z_norm + first, dot, n, out);
    if (entry->one && tile->x.rows->data == tile->z.rows->data) {
        for (size_t c = 0; c < n; c++) {
            if (same_row(tile, r, first + c)) {
                out[c] = 1;
            }
        }
    }
    if (!all_finite(out, n)) {
        for (size_t c = 0; c < n; c++) {
            if (!isfinite(out[c])) {
                out[c] = (REAL)kernel_value(tile->x.rows, row, tile->z.rows,
                                            kernel_side_row(&tile->z, first + c));
            }
        }
    }
}

/* ---- sums of dense rows ---- */

/* packed (n, columns) = columns from..from + columns of rows first..first + n of the side. */
DISPATCH static void pack_rows(const struct kernel_side *side, size_t first, size_t n, size_t from,
                               size_t columns, REAL *packed) {
    const struct data *data = side->rows->data;
    for (size_t i = 0; i < n; i++) {
        const float *row = data->value + kernel_side_row(side, first + i) * data->n_features + from;
        REAL *target = packed + i * columns;
        for (size_t c = 0; c < columns; c++) {
            target[c] = (REAL)row[c];
        }
    }
}

/* sum (n_x, Z_TILE) = x'z by one call of BLAS, without copying rows. */
static void multiply_direct(const struct work *work, size_t x_first, size_t n_x, size_t z_first,
                            size_t n_z) {
    const struct data *x = work->tile->x.rows->data, *z = work->tile->z.rows->data;
    const float *a = x->value + (work->tile->x.first + x_first) * x->n_features;
    const float *b = z->value + (work->tile->z.first + z_first) * z->n_features;
    /* const void *: in double this function compiles, but is never called */
    if (n_x == 1) {
        GEMV(CblasRowMajor, CblasNoTrans, (blasint)n_z, (blasint)work->k, 1, (const void *)b,
             (blasint)z->n_features, (const void *)a, 1, 0, work->sum, 1);
        return;
    }
    GEMM(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)n_x, (blasint)n_z, (blasint)work->k, 1,
         (const void *)a, (blasint)x->n_features, (const void *)b, (blasint)z->n_features, 0,
         work->sum, Z_TILE);
}

/* The same with packed copies of the rows; `z_packed`: those of z are packed already. Rows of zeros
 * are added up to a multiple of PACK_ROWS of x and MIN_PACKED of z. */
static int multiply_packed(const struct work *work, size_t x_first, size_t n_x, size_t z_first,
                           size_t n_z, bool z_packed, struct error *err) {
    size_t filled = (n_x + PACK_ROWS - 1) / PACK_ROWS * PACK_ROWS,
           z_filled = larger(n_z, MIN_PACKED);
    size_t columns_packed = smaller(work->k, PACK_COLUMNS);
    REAL *a = kernel_scratch_get(work->scratch, KERNEL_X, X_TILE * columns_packed, sizeof *a, err);
    REAL *b = kernel_scratch_get(work->scratch, KERNEL_Z, Z_TILE * columns_packed, sizeof *b, err);
    if (!a || !b) {
        return -1;
    }
    for (size_t from = 0; from < work->k; from += PACK_COLUMNS) {
        size_t columns = smaller(work->k - from, PACK_COLUMNS);
        pack_rows(&work->tile->x, x_first, n_x, from, columns, a);
        memset(a + n_x * columns, 0, (filled - n_x) * columns * sizeof *a);
        if (!z_packed) {
            pack_rows(&work->tile->z, z_first, n_z, from, columns, b);
            memset(b + n_z * columns, 0, (z_filled - n_z) * columns * sizeof *b);
        }
        GEMM(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)filled, (blasint)z_filled,
             (blasint)columns, 1, a, (blasint)columns, b, (blasint)columns, from > 0, work->sum,
             Z_TILE);
    }
    return 0;
}

static int dense_tile(struct work *work, struct error *err) {
    const struct kernel_tile *tile = work->tile;
    bool direct = !PACK_ALWAYS && !tile->x.index && !tile->z.index &&
                  tile->x.rows->data->n_features <= INT_MAX &&
                  tile->z.rows->data->n_features <= INT_MAX;
    for (size_t z_first = 0; z_first < tile->z.n; z_first += Z_TILE) {
        size_t n_z = smaller(tile->z.n - z_first, Z_TILE);
        bool z_packed = false;
        for (size_t x_first = 0; x_first < tile->x.n; x_first += X_TILE) {
            size_t n_x = smaller(tile->x.n - x_first, X_TILE);
            if (kernel_tile_columns(tile, x_first + n_x - 1) <= z_first) {
                continue;
            }
            if (work->k == 0) {
                memset(work->sum, 0, n_x * Z_TILE * sizeof *work->sum);
            } else if (direct) {
                multiply_direct(work, x_first, n_x, z_first, n_z);
            } else {
                if (multiply_packed(work, x_first, n_x, z_first, n_z, z_packed, err) != 0) {
                    return -1;
                }
                z_packed = work->k <= PACK_COLUMNS;
            }
            for (size_t r = 0; r < n_x; r++) {
                size_t end = smaller(kernel_tile_columns(tile, x_first + r), z_first + n_z);
                if (end > z_first) {
                    finish_row(work, x_first + r, z_first, end - z_first, work->sum + r * Z_TILE);
                }
            }
        }
    }
    return 0;
}

/* ---- sums where a side is sparse, and those that are not of products ---- */

/* The dense panel of a block of z rows over a range of features. */
struct panel {
    size_t first, n, n_panels; /* first row of z, number of rows, and of groups of LANES rows */
    size_t max_slots;          /* maximum number of slots */
    size_t from, to;           /* the range */
    size_t next;               /* first feature of the next range; SIZE_MAX: none */
    uint32_t n_slots;
    uint32_t *slot, *feature;
    REAL *value;      /* (n_panels, n_slots, LANES) */
    uint64_t *cursor; /* (n) current position in each sparse row */
};

/* The smallest feature at or after `from` in the block; SIZE_MAX if there is none. */
static size_t next_feature(const struct work *work, const struct panel *panel, size_t from) {
    const struct data *z = work->tile->z.rows->data;
    size_t next = SIZE_MAX;
    if (!z->row_start) {
        next = from;
    } else {
        for (size_t j = 0; j < panel->n; j++) {
            size_t row = kernel_side_row(&work->tile->z, panel->first + j);
            if (panel->cursor[j] < z->row_start[row + 1]) {
                next = smaller(next, z->column[panel->cursor[j]]);
            }
        }
    }
    return next < work->k ? next : SIZE_MAX;
}

static void clear_slots(struct panel *panel) {
    for (uint32_t s = 0; s < panel->n_slots; s++) {
        panel->slot[panel->feature[s] - panel->from] = 0;
    }
    panel->n_slots = 0;
}

/* Assigns a slot to each feature in [from, to) of row j of the block; false if there are more than
 * max_slots. */
static bool add_slots(const struct work *work, struct panel *panel, size_t j) {
    const struct data *z = work->tile->z.rows->data;
    size_t row = kernel_side_row(&work->tile->z, panel->first + j);
    const float *dense = z->row_start ? NULL : z->value + row * z->n_features;
    uint64_t at = z->row_start ? panel->cursor[j] : panel->from;
    uint64_t end = z->row_start ? z->row_start[row + 1] : panel->to;
    for (; at < end; at++) {
        size_t column = dense ? (size_t)at : z->column[at];
        if (column >= panel->to) {
            break;
        }
        if ((dense ? dense[at] : z->value[at]) != 0 && panel->slot[column - panel->from] == 0) {
            if (panel->n_slots == panel->max_slots) {
                return false;
            }
            panel->feature[panel->n_slots++] = (uint32_t)column;
            panel->slot[column - panel->from] = panel->n_slots;
        }
    }
    return true;
}

/* Writes the values of row j into the panel and moves its cursor past the range. */
static void fill_lane(const struct work *work, struct panel *panel, size_t j) {
    const struct data *z = work->tile->z.rows->data;
    size_t row = kernel_side_row(&work->tile->z, panel->first + j);
    REAL *lane = panel->value + j / LANES * panel->n_slots * LANES + j % LANES;
    if (!z->row_start) {
        const float *values = z->value + row * z->n_features;
        for (uint32_t s = 0; s < panel->n_slots; s++) {
            lane[(size_t)s * LANES] = (REAL)values[panel->feature[s]];
        }
        return;
    }
    uint64_t at = panel->cursor[j], end = z->row_start[row + 1];
    for (; at < end && z->column[at] < panel->to; at++) {
        uint32_t slot = panel->slot[z->column[at] - panel->from];
        if (slot != 0) {
            lane[(size_t)(slot - 1) * LANES] = (REAL)z->value[at];
        }
    }
    panel->cursor[j] = at;
}

/* Builds the panel of the range that begins at panel->next. */
static void fill_panel(const struct work *work, struct panel *panel) {
    panel->from = panel->next;
    panel->to = smaller(work->k, panel->from + RANGE);
    for (size_t j = 0; j < panel->n;) {
        if (add_slots(work, panel, j)) {
            j++;
        } else { /* halve the range; a range of at most max_slots features always fits */
            clear_slots(panel);
            panel->to = panel->from + (panel->to - panel->from) / 2;
            j = 0;
        }
    }
    memset(panel->value, 0,
           panel->n_panels * panel->n_slots * (size_t)LANES * sizeof *panel->value);
    for (size_t j = 0; j < panel->n; j++) {
        fill_lane(work, panel, j);
    }
    panel->next = next_feature(work, panel, panel->to);
}

/* Lists the non-zeros of row r that have a slot, and moves its cursor past the range. */
static size_t find_hits(const struct work *work, const struct panel *panel, size_t r,
                        uint64_t *cursor, HIT *hits) {
    const struct data *x = work->tile->x.rows->data;
    size_t row = kernel_side_row(&work->tile->x, r);
    size_t n = 0;
    if (!x->row_start) {
        const float *values = x->value + row * x->n_features;
        for (uint32_t s = 0; s < panel->n_slots; s++) {
            hits[n].slot = s;
            hits[n].value = (REAL)values[panel->feature[s]];
            n += values[panel->feature[s]] != 0;
        }
        return n;
    }
    uint64_t at = *cursor, end = x->row_start[row + 1];
    while (at < end && x->column[at] < panel->from) {
        at++;
    }
    for (; at < end && x->column[at] < panel->to; at++) {
        uint32_t slot = panel->slot[x->column[at] - panel->from];
        hits[n].slot = slot - 1;
        hits[n].value = (REAL)x->value[at];
        n += slot != 0;
    }
    *cursor = at;
    return n;
}

typedef void sums_function(const HIT *hits, size_t n, const REAL *panel, size_t n_panels,
                           size_t size, REAL *sum);

static sums_function *sums_loop(enum kernel_sums sums) {
    return sums == KERNEL_OVERLAPS ? VECTOR()->overlap
           : sums == KERNEL_MINIMA ? VECTOR()->minimum
                                   : VECTOR()->product;
}

/* Adds the contribution of the range to the sums of rows x_first..x_first + n_x. */
static void add_range(const struct work *work, const struct panel *panel, size_t x_first,
                      size_t n_x, uint64_t *cursor, HIT *hits) {
    const struct kernel_tile *tile = work->tile;
    sums_function *add_sums = sums_loop(kernel_table[tile->x.rows->kernel->type].sums);
    size_t size = panel->n_slots * (size_t)LANES;
    for (size_t r = 0; r < n_x; r++) {
        size_t end = smaller(kernel_tile_columns(tile, x_first + r), panel->first + panel->n);
        if (end <= panel->first) {
            continue;
        }
        size_t n = find_hits(work, panel, x_first + r, &cursor[r], hits);
        size_t n_panels = (end - panel->first + LANES - 1) / LANES;
        REAL *sum = work->sum + r * Z_TILE;
        add_sums(hits, n, panel->value, n_panels, size, sum);
    }
}

static void set_cursors(const struct kernel_side *side, size_t first, size_t n, uint64_t *cursor) {
    for (size_t i = 0; i < n; i++) {
        const uint64_t *start = side->rows->data->row_start;
        cursor[i] = start ? start[kernel_side_row(side, first + i)] : 0;
    }
}

/* The number of z rows, from `first` on, of one panel: as many as leave it in cache if all their
 * features are different, but at least LANES. */
static size_t panel_rows(const struct work *work, size_t first) {
    const struct data *z = work->tile->z.rows->data;
    size_t rows = Z_TILE;
    for (;; rows /= 2) {
        size_t n = smaller(rows, work->tile->z.n - first), slots = 0;
        for (size_t j = 0; j < n && z->row_start; j++) {
            size_t row = kernel_side_row(&work->tile->z, first + j);
            slots += (size_t)(z->row_start[row + 1] - z->row_start[row]);
        }
        slots = z->row_start ? smaller(slots, work->k) : work->k;
        if (rows == LANES || slots <= PANEL_BYTES / sizeof(REAL) / rows) {
            return n;
        }
    }
}

/* Computes the entries of all rows of x and the block of z rows of the panel. */
static int sparse_block(const struct work *work, struct panel *panel, struct error *err) {
    const struct kernel_tile *tile = work->tile;
    uint64_t *x_cursor =
        kernel_scratch_get(work->scratch, KERNEL_X_CURSOR, X_TILE, sizeof *x_cursor, err);
    HIT *hits =
        kernel_scratch_get(work->scratch, KERNEL_HITS, panel->max_slots + 1, sizeof *hits, err);
    if (!x_cursor || !hits) {
        return -1;
    }
    bool complete = false; /* the panel holds all features of the block */
    for (size_t x_first = 0; x_first < tile->x.n; x_first += X_TILE) {
        size_t n_x = smaller(tile->x.n - x_first, X_TILE);
        if (kernel_tile_columns(tile, x_first + n_x - 1) <= panel->first) {
            continue;
        }
        memset(work->sum, 0, n_x * Z_TILE * sizeof *work->sum);
        set_cursors(&tile->x, x_first, n_x, x_cursor);
        if (complete) {
            add_range(work, panel, x_first, n_x, x_cursor, hits);
        } else {
            set_cursors(&tile->z, panel->first, panel->n, panel->cursor);
            panel->next = next_feature(work, panel, 0);
            for (bool first = true; panel->next != SIZE_MAX; first = false) {
                clear_slots(panel);
                fill_panel(work, panel);
                add_range(work, panel, x_first, n_x, x_cursor, hits);
                complete = first && panel->next == SIZE_MAX;
            }
        }
        for (size_t r = 0; r < n_x; r++) {
            size_t end = smaller(kernel_tile_columns(tile, x_first + r), panel->first + panel->n);
            if (end > panel->first) {
                finish_row(work, x_first + r, panel->first, end - panel->first,
                           work->sum + r * Z_TILE);
            }
        }
    }
    clear_slots(panel);
    return 0;
}

static int sparse_tile(struct work *work, struct error *err) {
    const struct kernel_tile *tile = work->tile;
    struct panel panel = {0};
    panel.slot = kernel_scratch_get(work->scratch, KERNEL_SLOT, smaller(RANGE, work->k),
                                    sizeof *panel.slot, err);
    panel.cursor =
        kernel_scratch_get(work->scratch, KERNEL_Z_CURSOR, Z_TILE, sizeof *panel.cursor, err);
    if (!panel.slot || !panel.cursor) {
        return -1;
    }
    for (; panel.first < tile->z.n; panel.first += panel.n) {
        panel.n = panel_rows(work, panel.first);
        panel.n_panels = (panel.n + LANES - 1) / LANES;
        panel.max_slots = smaller(smaller(RANGE, work->k),
                                  MAX_PANEL_BYTES / (panel.n_panels * LANES * sizeof(REAL)));
        panel.feature = kernel_scratch_get(work->scratch, KERNEL_FEATURE, panel.max_slots,
                                           sizeof *panel.feature, err);
        panel.value = kernel_scratch_get(
            work->scratch, KERNEL_Z, panel.max_slots * panel.n_panels * LANES, sizeof(REAL), err);
        if (!panel.feature || !panel.value || sparse_block(work, &panel, err) != 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- whole tiles ---- */

static void stored_tile(const struct kernel_tile *tile, REAL *const *out) {
    for (size_t r = 0; r < tile->x.n; r++) {
        size_t row = kernel_side_row(&tile->x, r), n = kernel_tile_columns(tile, r);
        for (size_t c = 0; c < n; c++) {
            out[r][c] =
                (REAL)kernel_value(tile->x.rows, row, tile->z.rows, kernel_side_row(&tile->z, c));
        }
    }
}

static void set_norms(const struct kernel_tile *tile, REAL *z_norm) {
    for (size_t c = 0; c < tile->z.n; c++) {
        z_norm[c] = (REAL)tile->z.rows->norm[kernel_side_row(&tile->z, c)];
    }
}

/* out[r] (columns of row r of the tile) = k(x_r, z_c), or their sums. Fails if memory runs out. */
static int compute_tile(const struct kernel_tile *tile, bool sums, REAL *const *out,
                        struct kernel_scratch *scratch, struct error *err) {
    const struct data *x = tile->x.rows->data, *z = tile->z.rows->data;
    const struct kernel_entry *entry = &kernel_table[tile->x.rows->kernel->type];
    if (entry->sums == KERNEL_STORED) {
        stored_tile(tile, out);
        return 0;
    }
    REAL *z_norm = kernel_scratch_get(scratch, KERNEL_NORM, tile->z.n, sizeof *z_norm, err);
    REAL *sum = kernel_scratch_get(scratch, KERNEL_SUM, X_TILE * Z_TILE, sizeof *sum, err);
    if (!z_norm || !sum) {
        return -1;
    }
    set_norms(tile, z_norm);
    struct work work = {tile, out, scratch, z_norm, sum, smaller(x->n_features, z->n_features),
                        sums};
    bool dense = kernel_rows_by_blas(tile->x.rows) && kernel_rows_by_blas(tile->z.rows);
    return dense ? dense_tile(&work, err) : sparse_tile(&work, err);
}

/* kernel_block_float and kernel_block_double, see kernel.h. */
int BLOCK(const struct kernel_rows *x, size_t x_first, size_t n_x, const struct kernel_rows *z,
          size_t z_first, size_t n_z, REAL *block, size_t stride, struct kernel_scratch *scratch,
          struct error *err) {
    REAL **out = kernel_scratch_get(scratch, KERNEL_OUT, n_x, sizeof *out, err);
    if (!out) {
        return -1;
    }
    for (size_t r = 0; r < n_x; r++) {
        out[r] = block + r * stride;
    }
    struct kernel_tile tile = {.x = {x, NULL, x_first, n_x}, .z = {z, NULL, z_first, n_z}};
    return TILE(&tile, out, scratch, err);
}
