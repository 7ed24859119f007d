/* A low-rank surrogate of a kernel matrix that is too large to be factored: K ~ L L' + diag(rest).
 *
 * L has the columns of a partial Cholesky factorisation with random pivots, a block at a time: a
 * row is drawn with probability proportional to its diagonal entry in the Schur complement, and of
 * each block those pivots are used that the others leave a large entry (Chen, Epperly, Tropp,
 * Webber, "Randomly pivoted Cholesky", Communications on Pure and Applied Mathematics 78, 2025).
 * rest is the diagonal of the Schur complement, so that the surrogate has the trace of K. Cost: O(n
 * r^2) for rank r, O(n r k) per solution with k right-hand sides. */
#ifndef COMMON_KERNEL_LOW_RANK_H
#define COMMON_KERNEL_LOW_RANK_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/kernel/gram.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct low_rank {
    size_t n, rank, width;   /* rows; columns; stride of the rows of L */
    size_t k;                /* right-hand sides */
    struct threads *threads; /* borrowed; NULL: none */
    double *block;           /* all arrays of doubles */
    double *L;               /* (n, width) */
    /* The row of each of the rank columns, without that of low_rank_add: at these rows L is lower
     * triangular, up to rounding. */
    uint32_t *pivot;
    double *rest;    /* (n) remaining diagonal of K, 0 or more */
    double *inverse; /* (n) 1 / (rest + ridge) of the last low_rank_factor */
    double *M;      /* (rank, rank) the Cholesky factor of I + L' diag(inverse) L; room for width */
    double *scaled; /* (workers) work: blocks of scaled rows */
    /* Work of a solution, whose products with L are in float: */
    float *narrow; /* (n, width) L in float */
    float *right;  /* (n, k) */
    float *part;   /* (PARTS, rank, k) partial sums over rows */
    double *sum;   /* (rank, k) their total */
};

/* The rank and accuracy of a surrogate. */
struct low_rank_goal {
    size_t max_rank; /* the largest number of columns; fewer if they leave */
    double residual; /* at most this fraction of the trace */
    size_t k;        /* right-hand sides of later systems; 0: none follow */
    uint64_t seed;
    bool fill; /* reach max_rank by a last block that is smaller; else whole blocks only */
};

/* The memory of a surrogate of n rows, in bytes. */
double low_rank_bytes(size_t n, const struct low_rank_goal *goal);

/* Computes the surrogate of the matrix at rows (n) of gram, NULL: its first n, whose diagonal (n)
 * is given; rows whose entry is 0 are no pivots. The kernel must be positive semidefinite. Results
 * do not depend on the number of threads. Returns -1 with err set when memory is short. The caller
 * ends with low_rank_free. */
int low_rank_create(struct low_rank *low, const struct gram *gram, const uint32_t *rows, size_t n,
                    const double *diagonal, const struct low_rank_goal *goal,
                    struct threads *threads, struct error *err);
void low_rank_free(struct low_rank *low);

/* The fraction of the trace that is in rest. */
double low_rank_remaining_trace(const struct low_rank *low);

/* The functions in the span of the pivots, f = sum_a b_a k(x_pivot[a], .), are those with scores
 * L w and |f|^2 = w'w. Of k functions: b (rank, k) from w, in place. */
void low_rank_coefficients(const struct low_rank *low, double *w, size_t k);

/* Adds a constant, 0 or more, to all entries of the matrix, as one more column. At most once. */
void low_rank_add(struct low_rank *low, double constant);

/* Prepares low_rank_solve with another ridge > 0. Returns -1, without an error set, if rounding
 * leaves no factor. */
int low_rank_factor(struct low_rank *low, double ridge);

/* B (n, k) becomes (L L' + diag(rest) + ridge I)^-1 B, by the Woodbury formula, with an error of
 * float's rounding of B / (rest + ridge). */
void low_rank_solve(const struct low_rank *low, double *B);

#endif
