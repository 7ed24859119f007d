/* Kernel tiles in double precision: the constants of the type for tiles.h. */
#include "common/kernel/kernel_private.h"

#define REAL double
#define BITS uint64_t
#define TILE kernel_tile_double
#define BLOCK kernel_block_double
#define GEMM cblas_dgemm
#define GEMV cblas_dgemv
#define VECTOR vector_double
#define HIT struct vector_hit_double
#define LANES VECTOR_DOUBLES
#define ABS fabs
#define COPY_SIGN copysign
#define PACK_ALWAYS true

/* With so many rows BLAS treats each row of x alike, whatever its place and their number:
 * predictions are then the same for any number of threads, and equal rows are ties. OpenBLAS's
 * kernels take 4, 8, 12, 16 or 24 rows at a time, with other roundings for the rest, and have
 * others again for small products (up to some 1,200 sums from 64 features on). */
#define PACK_ROWS 24
#define MIN_PACKED 64
#define X_TILE 264 /* rows of x in one block of sums: a multiple of PACK_ROWS */

/* exp: ln 2 in two parts, the first of 33 bits so that its product with an exponent is exact. */
#define LOG2_E 0x1.71547652b82fep+0
#define LN2_HIGH 0x1.62e42fefp-1
#define LN2_LOW 0x1.473de6af278edp-34
#define ROUND 0x1.8p52
#define MANTISSA_BITS 52
#define EXPONENT_BIAS 1023
#define EXP_LOWEST -708.39        /* exp(EXP_LOWEST) is above the smallest normal number ... */
#define MIN_EXP_RESULT 2.240e-308 /* ... and is below this; smaller values become 0 */
#define TANH_END 38.2             /* 2|x| from which tanh is 1 in this precision */
/* (exp(r) - 1 - r) / r^2 for |r| <= ln(2)/2: Taylor up to r^13 leaves 5e-18, a 20th of an ulp. */
#define EXP_TAIL(r)                                                                                \
    ((r) * ((r) * ((r) * ((r) * ((r) * ((r)*EXP_TAIL_8(r) + 1 / 5040.) + 1 / 720.) + 1 / 120.) +   \
                   1 / 24.) +                                                                      \
            1 / 6.) +                                                                              \
     0.5)
#define EXP_TAIL_8(r)                                                                              \
    ((r) * ((r) * ((r) * ((r) * ((r) * (1 / 6227020800.) + 1 / 479001600.) + 1 / 39916800.) +      \
                   1 / 3628800.) +                                                                 \
            1 / 362880.) +                                                                         \
     1 / 40320.)

#include "common/kernel/tiles.h"

/* Rows first..first + n of a side. */
static struct kernel_side part_of(const struct kernel_side *side, size_t first, size_t n) {
    struct kernel_side part = *side;
    part.index = side->index ? side->index + first : NULL;
    part.first = side->first + first;
    part.n = n;
    return part;
}

/* Rows of integers: their sums are exact in float, and twice as fast as in double. */
static int integer_tile(const struct kernel_tile *tile, double *const *out,
                        struct kernel_scratch *scratch, struct error *err) {
    double *norm = kernel_scratch_get(scratch, KERNEL_WHOLE_NORM, tile->z.n, sizeof *norm, err);
    double *row = kernel_scratch_get(scratch, KERNEL_WHOLE_ROW, Z_TILE, sizeof *row, err);
    float *sums = kernel_scratch_get(scratch, KERNEL_WHOLE, X_TILE * Z_TILE, sizeof *sums, err);
    float *at[X_TILE];
    if (!norm || !row || !sums) {
        return -1;
    }
    for (size_t r = 0; r < X_TILE; r++) {
        at[r] = sums + r * Z_TILE;
    }
    set_norms(tile, norm);
    const struct work work = {.tile = tile, .out = out, .z_norm = norm};
    for (size_t z_first = 0; z_first < tile->z.n; z_first += Z_TILE) {
        size_t n_z = smaller(tile->z.n - z_first, Z_TILE);
        for (size_t x_first = 0; x_first < tile->x.n; x_first += X_TILE) {
            size_t n_x = smaller(tile->x.n - x_first, X_TILE);
            struct kernel_tile part = {.x = part_of(&tile->x, x_first, n_x),
                                       .z = part_of(&tile->z, z_first, n_z),
                                       .lower = tile->lower,
                                       .x_at = tile->x_at + x_first,
                                       .z_at = tile->z_at + z_first};
            if (kernel_sums_float(&part, at, scratch, err) < 0) {
                return -1;
            }
            for (size_t r = 0; r < n_x; r++) {
                size_t n = kernel_tile_columns(&part, r);
                for (size_t c = 0; c < n; c++) {
                    row[c] = (double)at[r][c];
                }
                finish_row(&work, x_first + r, z_first, n, row);
            }
        }
    }
    return 0;
}

int kernel_tile_double(const struct kernel_tile *tile, double *const *out,
                       struct kernel_scratch *scratch, struct error *err) {
    return tile->x.rows->whole && tile->z.rows->whole
               ? integer_tile(tile, out, scratch, err)
               : compute_tile(tile, false, out, scratch, err);
}
