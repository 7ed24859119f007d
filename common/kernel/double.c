/* Kernel tiles in double precision (kernel_block.h). */
#include "common/kernel/private.h"

#define REAL double
#define BITS uint64_t
#define TILE kernel_tile_double
#define BLOCK kernel_block_double
#define FUNCTION function_double /* of a table's entry, */
#define FUNCTION_OF(name) kernel_##name##_double
#define GEMM cblas_dgemm
#define VECTOR vector_double
#define HIT struct vector_hit_double
#define LANES VECTOR_DOUBLES
#define ABS fabs
#define COPY_SIGN copysign
#define PACK_ALWAYS true

/* |x - z|^2 below this part of |x|^2 + |z|^2 has lost 33 of 53 bits. */
#define NEAR 0x1p-33

/* exp: ln 2 in two parts, the first of 33 bits so that its product with an exponent is exact. */
#define LOG2_E 0x1.71547652b82fep+0
#define LN2_HIGH 0x1.62e42fefp-1
#define LN2_LOW 0x1.473de6af278edp-34
#define ROUND 0x1.8p52
#define MANTISSA_BITS 52
#define EXPONENT_BIAS 1023
#define EXP_LOWEST -708.39   /* exp(EXP_LOWEST) is just over the smallest normal number ... */
#define EXP_LEAST 2.240e-308 /* ... and just under this, below which we give 0 */
#define TANH_END 38.2        /* 2|x| from which tanh is 1 in this precision */
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

#include "common/kernel/block.h"
