/* The Hessian in features, by blocks of rows (feature_hessian.h). */
#include "families/smm/solver/feature_hessian.h"

#include "common/base/memory.h"
#include "common/base/sizes.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 256, /* rows per product */
    TILE = 256   /* side of the tiles of H, one task each */
};

/* A block of rows, centred and scaled, to be added to H. */
struct block {
    const struct binary_rows *rows;
    const uint32_t *row;
    const double *d, *mean;
    size_t first, n;
    double *x; /* (BLOCK, rows->d) */
    double *H;
};

static void gather_row(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct block *block = argument;
    size_t d = block->rows->d, i = block->first + task;
    double *x = block->x + task * d, scale = 1 / sqrt(block->d[i]);
    binary_row(block->rows, block->row[i], x);
    for (size_t j = 0; j < d; j++) {
        x[j] = scale * (x[j] - block->mean[j]);
    }
}

/* One row of tiles, up to the diagonal. */
static void add_tiles(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct block *block = argument;
    size_t d = block->rows->d, first = task * TILE, height = smaller(d - first, TILE);
    double *H = block->H + first * d;
    if (first > 0) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)height, (int)first, (int)block->n,
                    1, block->x + first, (int)d, block->x, (int)d, 1, H, (int)d);
    }
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)height, (int)block->n, 1,
                block->x + first, (int)d, 1, H + first, (int)d);
}

int feature_hessian(const struct binary_rows *rows, const uint32_t *row, size_t m, const double *d,
                    const double *mean, const struct monitor *monitor, double *H,
                    struct error *err) {
    struct block block = {.rows = rows, .row = row, .d = d, .mean = mean, .H = H};
    block.x = memory_array(BLOCK * rows->d, sizeof *block.x, "rows", err);
    if (!block.x) {
        return -1;
    }
    memset(H, 0, rows->d * rows->d * sizeof *H);
    for (size_t j = 0; j < rows->d && cluster_is_root(rows->cluster); j++) {
        H[j * rows->d + j] = 1;
    }
    for (; block.first < m && !monitor_past_deadline(monitor); block.first += BLOCK) {
        block.n = smaller(m - block.first, BLOCK);
        threads_run(rows->threads, block.n, gather_row, &block);
        threads_run(rows->threads, (rows->d + TILE - 1) / TILE, add_tiles, &block);
    }
    free(block.x);
    cluster_sum_lower(rows->cluster, H, rows->d);
    return 0;
}
