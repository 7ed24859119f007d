/* Rows that are matrices, and their products with thin matrices: what turns a support matrix
 * machine with one factor held still into an SVM on fewer features. */
#ifndef FAMILIES_SMM_SOLVER_MATRIX_ROWS_H
#define FAMILIES_SMM_SOLVER_MATRIX_ROWS_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/data/data.h"
#include "common/distributed/cluster.h"

#include <stddef.h>

/* X_1 .. X_n, each (height, width) row-major in a row of data, whose n_features are at most height
 * * width. Borrowed. Spread over ranks these are one's own. */
struct smm_matrices {
    const struct data *data;
    size_t n, height, width;
    struct threads *threads; /* NULL: serial; results do not depend on it */
    struct cluster *cluster; /* over whose ranks rows are spread; NULL: all are here */
};

/* Rows of U'X_i, (r, width), for U (height, r), or of X_i V, (height, r), for V given as Vt (r,
 * width), each row-major. With both, whose factors are orthonormal, U'X_i and then (I - U U') X_i V:
 * the features of the tangent space {U M + K V'} at U .. V'. Either may be NULL, but not both. */
int smm_project(const struct smm_matrices *matrices, const double *U, const double *Vt, size_t r,
                double *out, struct error *err);

/* W (height, width) = A (height, r) B (r, width). */
void smm_product(const double *A, const double *B, size_t height, size_t r, size_t width,
                 double *W);

/* s (n): <W, X_i>. */
void smm_scores(const struct smm_matrices *matrices, const double *W, double *s);

#endif
