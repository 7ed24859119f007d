/* The Laplacian L of weighted pairs of rows as a product, L = B'B, by elimination of one row after
 * another. What a Laplacian leaves without a row is that of the rest, of which weights have grown
 * by w_i w_j / s, s the sum of the weights w of the row's own pairs. These are sums of what is
 * positive only, so that each weight keeps its digits, however far apart they are, where
 * differences would lose the small ones (Alfa, Xue, Ye, "Accurate computation of the smallest
 * eigenvalue of a diagonally dominant M-matrix", Math. Comp. 71, 2002). */
#ifndef FAMILIES_RANK_SOLVER_GRAPH_H
#define FAMILIES_RANK_SOLVER_GRAPH_H

#include <stddef.h>

/* W (n, n) becomes B: row k is sqrt(s) at k, -w_j / sqrt(s) at the rows j after it. On entry its
 * upper half has the weights of pairs, at least 0; what is below the diagonal is not used. */
void rank_laplacian_factor(double *W, size_t n);

/* F (n, m) becomes B F. Both row-major. */
void rank_laplacian_factor_multiply(const double *B, size_t n, double *F, size_t m);

#endif
