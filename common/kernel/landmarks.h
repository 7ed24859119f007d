/* Features by landmarks: rows z_i with z_i'z_j ~ K_ij, from the columns of a few rows drawn at
 * random (Nystrom's method; Williams & Seeger, "Using the Nystrom method to speed up kernel
 * machines", NIPS 2000). With the landmarks' matrix T T', Z = K_:landmarks T'^-1; then K - Z Z' is
 * positive semidefinite, up to rounding, and rest is its diagonal. Z is in float, for solvers that
 * only need a model of the matrix; low_rank.h solves systems with Z Z' + diag(rest). Cost: O(n m^2)
 * for m landmarks.
 *
 * Z Z' b are the scores of the function Z'b, of squared norm b'Z Z'b, in the landmarks' span. */
#ifndef COMMON_KERNEL_LANDMARKS_H
#define COMMON_KERNEL_LANDMARKS_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/kernel/gram.h"

#include <stddef.h>
#include <stdint.h>

struct landmarks {
    size_t n, width, stride; /* rows, features, distance of the rows of Z */
    float *Z;                /* (n, width with stride `stride`) */
    float *rest;             /* (n) diagonal of K - Z Z', 0 or more */
    uint32_t *row;           /* (m) the landmarks, by number among the n rows */
    double *T;               /* (m, m) lower triangle; NULL without goal.min_pivot */
};

/* What the features are of. */
struct landmarks_goal {
    size_t m;        /* landmarks at most */
    size_t drawn;    /* rows drawn, m or more: the first m pivots of their Cholesky factorisation
                        with complete pivoting are the landmarks. 0: m */
    size_t spare;    /* features that landmarks_extend may add */
    double constant; /* of one more feature, equal in all rows, whose square the diagonal includes;
                        0: none */
    uint64_t seed;
    /* above 0: T and the features are computed in double, and those landmarks are left out to which
     * the others leave at most this part of the largest diagonal entry. 0: in float, and 1e-3 */
    double min_pivot;
};

/* Draws landmarks among the matrix's rows `rows` (n) of gram, NULL: its first n, whose diagonal (n)
 * is given, and computes the features; landmarks that the others nearly span are left out. Rows
 * whose entry is 0 are not drawn. The kernel must be positive semidefinite. Results do not depend
 * on the number of threads. Returns -1 with err set when memory is short. The caller ends with
 * landmarks_free. */
int landmarks_create(struct landmarks *landmarks, const struct gram *gram, const uint32_t *rows,
                     size_t n, const double *diagonal, const struct landmarks_goal *goal,
                     struct threads *threads, struct error *err);

/* Adds the features E V T'^-1, E = K - Z Z', T T' = V'E V, so that Z Z' V = K V: V and KV (n, k).
 * They are left out if there is no room, if there are fewer than k features so far, or if rounding
 * leaves V'E V no factor. */
int landmarks_extend(struct landmarks *landmarks, const double *V, const double *KV, size_t k,
                     struct error *err);

/* s (n) = Z Z' b, b (n), summed in double; they may be the same array. Results do not depend on the
 * number of threads. -1 if memory is short. */
int landmarks_multiply(const struct landmarks *landmarks, const double *b, double *s,
                       struct threads *threads, struct error *err);

/* Replaces b (n) by the coefficients of the landmarks, and 0 of the other rows, whose function has
 * the scores Z Z' b. Needs T, only before landmarks_extend, and without a constant. */
int landmarks_coefficients(const struct landmarks *landmarks, double *b, struct threads *threads,
                           struct error *err);

/* Replaces W (width, k) by the coefficients of the landmarks (width, k) whose functions have the
 * scores Z W, without T up to rounding in float. Only before landmarks_extend, and without a
 * constant. -1 if memory is short. */
int landmarks_expand(const struct landmarks *landmarks, double *W, size_t k, struct error *err);

/* Frees the arrays, which may be NULL. */
void landmarks_free(struct landmarks *landmarks);

#endif
