/* Rows that are matrices, and their products with thin matrices. With one factor of W fixed, these
 * turn a support matrix machine into an SVM on fewer features. */
#ifndef FAMILIES_SMM_SOLVER_MATRIX_ROWS_H
#define FAMILIES_SMM_SOLVER_MATRIX_ROWS_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/data/data.h"
#include "common/distributed/cluster.h"

#include <stddef.h>

/* X_1 .. X_n, each a (height, width) row-major matrix in a row of data, whose n_features are at
 * most height * width. Borrowed. If rows are distributed, those of this process. */
struct smm_matrices {
    const struct data *data;
    size_t n, height, width;
    struct threads *threads; /* NULL: serial; results do not depend on it */
    struct cluster *cluster; /* over whose processes rows are distributed; NULL: one process */
};

/* Row i of out: U'X_i, (r, width), for U (height, r); or X_i V, (height, r), for V given as Vt (r,
 * width). Each is row-major. With both, which must be orthonormal, U'X_i and then (I - U U') X_i V:
 * the features of the tangent space {U M + K V'} at U .. V'. One of U and Vt may be NULL. O(r) per
 * value of the data. */
int smm_project(const struct smm_matrices *matrices, const double *U, const double *Vt, size_t r,
                double *out, struct error *err);

/* s (n): <W, X_i>, of the rows of this process. */
void smm_scores(const struct smm_matrices *matrices, const double *W, double *s);

#endif
