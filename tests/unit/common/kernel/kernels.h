/* The kernels of all tests of kernels. */
#ifndef TESTS_UNIT_COMMON_KERNEL_KERNELS_H
#define TESTS_UNIT_COMMON_KERNEL_KERNELS_H

#include "common/kernel/kernel.h"

static const struct kernel kernels[] = {
    {KERNEL_LINEAR, 0, 0, 0},      {KERNEL_POLYNOMIAL, 3, .1, 1},  {KERNEL_POLYNOMIAL, 1, .5, -1},
    {KERNEL_POLYNOMIAL, 0, 1, 1},  {KERNEL_POLYNOMIAL, 6, .2, .5}, {KERNEL_RBF, 0, .05, 0},
    {KERNEL_RBF, 0, 1e-4, 0},      {KERNEL_SIGMOID, 0, .02, -.1},  {KERNEL_SIGMOID, 0, 2, .1},
    {KERNEL_LAPLACIAN, 0, .05, 0}, {KERNEL_LAPLACIAN, 0, 1e-4, 0}, {KERNEL_RATIONAL, 0, .05, 0},
    {KERNEL_RATIONAL, 0, 1e-4, 0}, {KERNEL_TANIMOTO, 0, 0, 0},     {KERNEL_MINMAX, 0, 0, 0},
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

#endif
