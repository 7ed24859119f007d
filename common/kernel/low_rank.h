/* A low-rank surrogate of a kernel matrix that is too large to be factored: K ~ Z Z' + diag(rest),
 * with the features Z of landmarks (landmarks.h), and its systems. Cost: O(n m^2) for a factor with
 * m landmarks, O(n m k) per solution with k right-hand sides. */
#ifndef COMMON_KERNEL_LOW_RANK_H
#define COMMON_KERNEL_LOW_RANK_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/kernel/landmarks.h"

#include <stddef.h>
#include <stdint.h>

struct low_rank {
    struct landmarks landmarks;
    size_t k;                /* right-hand sides */
    struct threads *threads; /* borrowed; NULL: none */
    void *block;             /* all arrays */
    double *inverse;         /* (n) 1 / (rest + ridge) of the last low_rank_factor */
    double *M;               /* (width, width) the Cholesky factor of I + Z' diag(inverse) Z */
    double *wide;            /* (workers, CHUNK, width) work: some rows of Z in double */
    float *right;            /* (n, k) work of a solution, whose products with Z are in float */
    float *part;             /* (PARTS, width, k) partial sums over rows */
    double *sum;             /* (width, k) their total */
};

/* The memory of a surrogate of n rows for k right-hand sides, in bytes. */
double low_rank_bytes(size_t n, size_t k, const struct landmarks_goal *goal);

/* Computes the surrogate by landmarks_create. Returns -1 with err set when memory is short. The
 * caller ends with low_rank_free. */
int low_rank_create(struct low_rank *low, const struct gram *gram, const uint32_t *rows, size_t n,
                    const double *diagonal, const struct landmarks_goal *goal, size_t k,
                    struct threads *threads, struct error *err);
void low_rank_free(struct low_rank *low);

/* Prepares low_rank_solve with another ridge > 0. Returns -1, without an error set, if rounding
 * leaves no factor. */
int low_rank_factor(struct low_rank *low, double ridge);

/* B (n, k) becomes (Z Z' + diag(rest) + ridge I)^-1 B, by the Woodbury formula, with an error of
 * float's rounding of B / (rest + ridge). */
void low_rank_solve(const struct low_rank *low, double *B);

#endif
