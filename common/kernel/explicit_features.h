/* A kernel problem as a linear one. If the kernel matrix has a small rank, up to the rounding of
 * floats, the features of its landmarks (landmarks.h) reproduce it: polynomial kernels of few
 * features, rbf kernels of small gamma. Linear solvers then take n m for m features where those of
 * kernels take n^2. Their solution is a function of the kernel problem, with the same scores and
 * norm, and their dual point is feasible in it. */
#ifndef COMMON_KERNEL_EXPLICIT_FEATURES_H
#define COMMON_KERNEL_EXPLICIT_FEATURES_H

#include "common/base/error.h"
#include "common/kernel/landmarks.h"
#include "common/kernel/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At most half of the rows of a pilot, which sees no larger rank. */
enum { EXPLICIT_MAX_FEATURES = 512 };

/* Rounding of the features changes the gap: their problem is solved to this part of the target. */
static const double EXPLICIT_FEATURES_PART = 0.5;

/* `problem` refers to `data`: the struct must not be moved. */
struct explicit_features {
    struct landmarks landmarks;
    struct data data;       /* the problem's rows with the landmarks' features, without labels */
    struct problem problem; /* linear, of these rows, with the problem's constant feature */
    bool exact; /* they are eight times fewer than rows, and leave at most 1e-6 of the trace of the
                   kernel matrix */
};

/* *part = the part of the trace of the kernel matrix that `size` landmarks leave, estimated from
 * 1,024 rows, of which they are some; 1 if values are out of range. size is at most 1,024, and the
 * kernel positive semidefinite. Returns -1 with err set when memory is short. */
int explicit_features_pilot(const struct problem *problem, size_t size, uint64_t seed, double *part,
                            struct error *err);

/* Draws `size` landmarks. Borrows problem, whose kernel must be positive semidefinite. Returns -1
 * with err set when memory is short. The caller ends with explicit_features_free. */
int explicit_features_create(struct explicit_features *features, const struct problem *problem,
                             size_t size, uint64_t seed, struct error *err);
void explicit_features_free(struct explicit_features *features);

/* *size = the number of landmarks, at most max_rank and EXPLICIT_MAX_FEATURES, whose features are
 * expected to be exact; 0: the kernel matrix has a larger rank, or 256 landmarks leave more than
 * .02 of its trace, the kernel is not known to be positive semidefinite, rows are fewer than 1,024,
 * or distributed, or the features do not fit into the memory for kernels. Costs some
 * milliseconds. */
int explicit_features_size(const struct problem *problem, size_t max_rank, uint64_t seed,
                           size_t *size, struct error *err);

/* B (n, k) = the coefficients of the rows whose functions have the weights W (width, k), which is
 * work. Returns -1 with err set when memory is short. */
int explicit_features_expand(const struct explicit_features *features, double *W, size_t k,
                             double *B, struct error *err);

#endif
