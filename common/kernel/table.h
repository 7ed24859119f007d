/* What the rest of this room knows of each kernel: its row of table.inc, compiled. */
#ifndef COMMON_KERNEL_TABLE_H
#define COMMON_KERNEL_TABLE_H

#include "common/kernel/kernel.h"

#include <stdbool.h>
#include <stddef.h>

enum kernel_sums { KERNEL_PRODUCTS, KERNEL_MINIMA, KERNEL_OVERLAPS, KERNEL_STORED };
enum kernel_norms { KERNEL_NONE, KERNEL_SQUARES, KERNEL_ABSOLUTES };
enum kernel_definiteness { DEFINITE_ALWAYS, DEFINITE_COEF0, DEFINITE_UNKNOWN };

/* |x - z|^2, or |x - z|_1, below this part of the norms' sum is summed up anew from differences, in
 * both precisions: what products leave of more has 10 bits in float, 39 in double. (With 20 bits
 * scores at C = 10^5 were off by .05 where features have units over ten decades.) */
#define KERNEL_NEAR 0x1p-14

/* What turns the sums s of a row x and a row z, and the sum of their norms, into a kernel value. What
 * comes out infinite or undefined is done again by kernel_value. */
enum kernel_function {
    FUNCTION_PLAIN,   /* s */
    FUNCTION_POWER,   /* (gamma s + coef0)^degree */
    FUNCTION_DECAY,   /* exp(-gamma (norms - 2 s)) */
    FUNCTION_INVERSE, /* 1 / (1 + gamma (norms - 2 s)) */
    FUNCTION_TANH,    /* tanh(gamma s + coef0) */
    FUNCTION_RATIO    /* s / (norms - s) */
};

struct kernel_entry {
    unsigned parameters; /* KERNEL_DEGREE, ... */
    enum kernel_sums sums;
    enum kernel_norms norms;
    bool positive;
    enum kernel_function function;
    bool one;
    enum kernel_definiteness definite;
    bool libsvm;
};

extern const struct kernel_entry kernel_table[];

#endif
