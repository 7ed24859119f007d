/* A kernel matrix as few columns and a diagonal, K ~ L L' + diag(rest): what stands in for it where
 * it is too large to be factored.
 *
 * The columns are those of an incomplete Cholesky factorisation with random pivots, a block at a
 * time: a row is taken with the probability of what is left of its diagonal entry, and of a block
 * those that are left when the others are taken off (Chen, Epperly, Tropp, Webber, "Randomly
 * pivoted Cholesky", Communications on Pure and Applied Mathematics 78, 2025). The diagonal has
 * what they leave of K's, so that both have the same trace. */
#ifndef COMMON_KERNEL_LOW_RANK_H
#define COMMON_KERNEL_LOW_RANK_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/kernel/gram.h"

#include <stddef.h>
#include <stdint.h>

struct low_rank {
    size_t n, rank, width;   /* rows; columns; numbers from one row of L to the next */
    size_t k;                /* right-hand sides */
    struct threads *threads; /* borrowed; NULL: none */
    double *block;           /* all arrays of doubles */
    double *L;               /* (n, width) */
    double *rest;            /* (n) of K's diagonal, 0 or more */
    double *inverse;         /* (n) 1 / (rest + ridge), of the last low_rank_factor, */
    double *M;               /* (width, width) and the Cholesky factor of I + L' inverse L */
    double *scaled;          /* (workers) blocks of scaled rows */
    /* of a solution, whose products with L are in float */
    float *narrow; /* (n, width) L */
    float *right;  /* (n, k) */
    float *part;   /* (PARTS, width, k) sums over some of the rows, */
    double *sum;   /* (width, k) and over all */
};

/* What is asked of the columns. */
struct low_rank_goal {
    size_t most;   /* of them; fewer if they leave */
    double enough; /* less than this part of the trace */
    size_t k;      /* right-hand sides that systems will have */
    uint64_t seed;
};

/* Bytes of n rows. */
double low_rank_bytes(size_t n, const struct low_rank_goal *goal);

/* Columns for the matrix of the rows (n) of gram, NULL: its first n, whose diagonal (n) is given.
 * The kernel is positive semidefinite. No result depends on the number of threads. The caller ends
 * with low_rank_free. */
int low_rank_create(struct low_rank *low, const struct gram *gram, const uint32_t *rows, size_t n,
                    const double *diagonal, const struct low_rank_goal *goal,
                    struct threads *threads, struct error *err);
void low_rank_free(struct low_rank *low);

/* The part of the trace that the columns leave to the diagonal. */
double low_rank_left(const struct low_rank *low);

/* Adds a number, 0 or more, to all entries: a column. Once. */
void low_rank_add(struct low_rank *low, double constant);

/* Makes ready for low_rank_solve with another ridge, over 0. Returns -1 (no error is set) where
 * rounding leaves no factor. */
int low_rank_factor(struct low_rank *low, double ridge);

/* B (n, k) becomes (L L' + diag(rest) + ridge I)^-1 B, but for float's rounding of numbers as large
 * as B / (rest + ridge). */
void low_rank_solve(const struct low_rank *low, double *B);

#endif
