/* The rows of table.inc as an array: the properties of each kernel, for the modules of
 * common/kernel. */
#ifndef COMMON_KERNEL_TABLE_H
#define COMMON_KERNEL_TABLE_H

#include "common/kernel/kernel.h"

#include <stdbool.h>
#include <stddef.h>

enum kernel_sums { KERNEL_PRODUCTS, KERNEL_MINIMA, KERNEL_OVERLAPS, KERNEL_STORED };
enum kernel_norms { KERNEL_NONE, KERNEL_SQUARES, KERNEL_ABSOLUTES };
enum kernel_definiteness { DEFINITE_ALWAYS, DEFINITE_COEF0, DEFINITE_UNKNOWN };

/* Distances |x - z|^2 or |x - z|_1 below this part of the sum of the norms are summed up from
 * differences, in both precisions: a larger distance from products still has 10 accurate bits in
 * float, 39 in double. (At 2^-20, scores at C = 10^5 were off by .05 for features in units over ten
 * decades.) */
#define KERNEL_NEAR 0x1p-14

/* The function of the sum s of two rows (enum kernel_sums) and of the sum of their norms that gives
 * the kernel value. Infinite or undefined results are computed again by kernel_value. */
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
