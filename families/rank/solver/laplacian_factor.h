/* Factors a graph Laplacian L of weighted pairs of rows as L = B'B, by eliminating one row after
 * another. Elimination of a row leaves the Laplacian of the other rows, whose weights have grown by
 * w_i w_j / s, where w are the weights of the row's pairs and s is their sum. All terms are
 * positive, so every weight keeps its relative accuracy, however different the weights are; a
 * Cholesky factorisation by subtraction would lose the small ones (Alfa, Xue, Ye, "Accurate
 * computation of the smallest eigenvalue of a diagonally dominant M-matrix", Math. Comp. 71, 2002).
 * Cost: n^3 / 3. */
#ifndef FAMILIES_RANK_SOLVER_LAPLACIAN_FACTOR_H
#define FAMILIES_RANK_SOLVER_LAPLACIAN_FACTOR_H

#include <stddef.h>

/* W (n, n) becomes B: row k has sqrt(s) at k and -w_j / sqrt(s) at j > k. On entry the upper
 * triangle of W has the weights of the pairs, at least 0; the rest is not read. */
void rank_laplacian_factor(double *W, size_t n);

/* F (n, m) becomes B F. Both are row-major. */
void rank_laplacian_factor_multiply(const double *B, size_t n, double *F, size_t m);

#endif
