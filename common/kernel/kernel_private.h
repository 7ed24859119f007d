/* Tiles of kernel values: the interface between the modules of common/kernel, and of those that
 * store kernel values.
 *
 * A tile is the part of a kernel matrix between two lists of rows. Its sums (of products, minima or
 * overlaps of features) are computed into a buffer that stays in cache, and from there by the
 * function of the kernel into the rows of the output, wherever these are. */
#ifndef COMMON_KERNEL_KERNEL_PRIVATE_H
#define COMMON_KERNEL_KERNEL_PRIVATE_H

#include "common/kernel/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* n rows: index[0..n), or first, first + 1, ... if index is NULL. */
struct kernel_side {
    const struct kernel_rows *rows;
    const uint32_t *index;
    size_t first, n;
};

static inline size_t kernel_side_row(const struct kernel_side *side, size_t i) {
    return side->index ? side->index[i] : side->first + i;
}

struct kernel_tile {
    struct kernel_side x, z;
    /* lower: row r has only the columns c with z_at + c <= x_at + r */
    bool lower;
    size_t x_at, z_at;
};

/* The number of columns of row r of the tile. */
static inline size_t kernel_tile_columns(const struct kernel_tile *tile, size_t r) {
    if (!tile->lower) {
        return tile->z.n;
    }
    size_t end = tile->x_at + r + 1;
    size_t columns = end > tile->z_at ? end - tile->z_at : 0;
    return columns < tile->z.n ? columns : tile->z.n;
}

/* out[r][c] = k(x_r, z_c). An entry does not depend on which other rows x has, except in the last
 * bits for dense rows in float. */
int kernel_tile_float(const struct kernel_tile *tile, float *const *out,
                      struct kernel_scratch *scratch, struct error *err);
int kernel_tile_double(const struct kernel_tile *tile, double *const *out,
                       struct kernel_scratch *scratch, struct error *err);

/* out[r][c] = the sum over the features of x_r and z_c that the kernel is a function of
 * (table.inc). */
int kernel_sums_float(const struct kernel_tile *tile, float *const *out,
                      struct kernel_scratch *scratch, struct error *err);

/* The buffers of a thread. */
enum kernel_buffer {
    KERNEL_OUT,        /* row pointers of the output */
    KERNEL_SUM,        /* sums of the current tile */
    KERNEL_X,          /* packed rows of x */
    KERNEL_Z,          /* packed rows of z, or their panel */
    KERNEL_NORM,       /* norms of z in the type of the tile */
    KERNEL_SLOT,       /* 1 + slot of each feature of the current range; all 0 between uses */
    KERNEL_FEATURE,    /* feature of each slot */
    KERNEL_HITS,       /* non-zeros of a row of x that have a slot */
    KERNEL_X_CURSOR,   /* current position in each row of x, */
    KERNEL_Z_CURSOR,   /* and of z */
    KERNEL_WHOLE,      /* sums of integers, in float, */
    KERNEL_WHOLE_ROW,  /* a row of them in double, */
    KERNEL_WHOLE_NORM, /* and norms of z */
    KERNEL_BUFFERS
};

/* A buffer for at least count items. Its contents are undefined, but a new KERNEL_SLOT is all 0. */
void *kernel_scratch_get(struct kernel_scratch *scratch, enum kernel_buffer buffer, size_t count,
                         size_t size, struct error *err);

#endif
