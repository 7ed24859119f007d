/* The binary SVM whose rows are spread over ranks, but fewer than its features and few:
 * coefficients of the rows are then the shorter weights, and each rank takes all rows and solves
 * for itself. All ranks come to the same, step by step. */
#ifndef SOLVERS_SMM_BINARY_GATHER_H
#define SOLVERS_SMM_BINARY_GATHER_H

#include "common/base/error.h"
#include "solvers/smm/binary.h"

#include <stddef.h>

struct binary_gather {
    struct cluster *cluster;
    size_t n_all, first, n;    /* rows of all ranks; where this one's begin; how many these are */
    double *z;                 /* (n_all, d) */
    double *y, *cost, *margin; /* (n_all) of a loss */
    struct binary *binary;     /* of all rows */
};

/* Takes the rows of all ranks, n_all. The caller calls binary_gather_free. All ranks, as below. */
int binary_gather_create(struct binary_gather **gather, const struct binary_rows *rows,
                         size_t n_all, struct error *err);
void binary_gather_free(struct binary_gather *gather);

/* The loss of all rows, which the gather owns, from those of each rank. */
struct binary_loss binary_gather_loss(struct binary_gather *gather, const struct binary_loss *loss);

#endif
