/* Kernel tiles in single precision: the constants of the type for tiles.h. */
#include "common/kernel/kernel_private.h"

#define REAL float
#define BITS uint32_t
#define TILE kernel_tile_float
#define BLOCK kernel_block_float
#define GEMM cblas_sgemm
#define GEMV cblas_sgemv
#define VECTOR vector_float
#define HIT struct vector_hit_float
#define LANES VECTOR_FLOATS
#define ABS fabsf
#define COPY_SIGN copysignf
#define PACK_ALWAYS false
#define PACK_ROWS 16
#define MIN_PACKED 1
#define X_TILE 256 /* rows of x in one block of sums */

/* exp: ln 2 in two parts, the first of 12 bits so that its product with an exponent is exact. */
#define LOG2_E 0x1.715476p+0F
#define LN2_HIGH 0x1.62ep-1F
#define LN2_LOW 0x1.0bfbe8p-15F
#define ROUND 0x1.8p23F
#define MANTISSA_BITS 23
#define EXPONENT_BIAS 127
#define EXP_LOWEST -87.33F        /* exp(EXP_LOWEST) is above the smallest normal number ... */
#define MIN_EXP_RESULT 1.184e-38F /* ... and is below this; smaller values become 0 */
#define TANH_END 18.1F            /* 2|x| from which tanh is 1 in this precision */
/* (exp(r) - 1 - r) / r^2 for |r| <= ln(2)/2: Taylor up to r^7 leaves 6e-9, a tenth of an ulp. */
#define EXP_TAIL(r)                                                                                \
    ((r) * ((r) * ((r) * ((r) * ((r) * (1 / 5040.F) + 1 / 720.F) + 1 / 120.F) + 1 / 24.F) +        \
            1 / 6.F) +                                                                             \
     0.5F)

#include "common/kernel/tiles.h"

int kernel_tile_float(const struct kernel_tile *tile, float *const *out,
                      struct kernel_scratch *scratch, struct error *err) {
    return compute_tile(tile, false, out, scratch, err);
}

int kernel_sums_float(const struct kernel_tile *tile, float *const *out,
                      struct kernel_scratch *scratch, struct error *err) {
    return compute_tile(tile, true, out, scratch, err);
}

int kernel_block_listed(const struct kernel_rows *x, const uint32_t *i, size_t n_i,
                        const uint32_t *j, size_t n_j, float *block, struct kernel_scratch *scratch,
                        struct error *err) {
    float **out = kernel_scratch_get(scratch, KERNEL_OUT, n_i, sizeof *out, err);
    for (size_t r = 0; out && r < n_i; r++) {
        out[r] = block + r * n_j;
    }
    struct kernel_tile tile = {.x = {x, i, 0, n_i}, .z = {x, j, 0, n_j}};
    return out ? kernel_tile_float(&tile, out, scratch, err) : -1;
}
