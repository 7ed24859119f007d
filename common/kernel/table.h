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

/* out (n) = kernel values of a row x and n rows z from their sums (n) and norms. What comes out
 * infinite or undefined is done again by the plain reference. */
typedef void kernel_function_float(const struct kernel *kernel, float x_norm, const float *z_norm,
                                   const float *sum, size_t n, float *out);
typedef void kernel_function_double(const struct kernel *kernel, double x_norm,
                                    const double *z_norm, const double *sum, size_t n, double *out);

/* As kernel_value. */
typedef double kernel_reference(const struct kernel_rows *x, size_t i, const struct kernel_rows *z,
                                size_t j);

struct kernel_entry {
    unsigned parameters; /* KERNEL_DEGREE, ... */
    enum kernel_sums sums;
    enum kernel_norms norms;
    bool positive;
    kernel_function_float *function_float;
    kernel_function_double *function_double;
    kernel_reference *value;
    bool one;
    enum kernel_definiteness definite;
    bool libsvm;
};

extern const struct kernel_entry kernel_table[];

/* The functions, kernel_NAME_float and kernel_NAME_double. */
#define KERNEL(number, name, d, g, r, sums, norms, positive, function, ...)                        \
    kernel_function_float kernel_##function##_float;                                               \
    kernel_function_double kernel_##function##_double;
#include "common/kernel/table.inc"

#endif
