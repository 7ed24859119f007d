/* What the writer and the reader of models must agree on. */
#ifndef COMMON_MODEL_FORMAT_H
#define COMMON_MODEL_FORMAT_H

#include "common/kernel/kernel.h"

/* Parameters that a kernel has, as lines of the header. */
enum { MODEL_DEGREE = 1, MODEL_GAMMA = 2, MODEL_COEF0 = 4 };

static inline unsigned model_kernel_parameters(enum kernel_type type) {
    switch (type) {
    case KERNEL_POLYNOMIAL:
        return MODEL_DEGREE | MODEL_GAMMA | MODEL_COEF0;
    case KERNEL_RBF:
        return MODEL_GAMMA;
    case KERNEL_SIGMOID:
        return MODEL_GAMMA | MODEL_COEF0;
    case KERNEL_LINEAR:
    case KERNEL_PRECOMPUTED:
    case KERNEL_TANIMOTO:
    case KERNEL_MINMAX:
        break;
    }
    return 0;
}

#endif
