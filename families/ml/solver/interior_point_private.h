/* State of the interior-point solver, shared by its two files; private to them. */
#ifndef FAMILIES_ML_SOLVER_INTERIOR_POINT_PRIVATE_H
#define FAMILIES_ML_SOLVER_INTERIOR_POINT_PRIVATE_H

#include "families/ml/solver/interior_point.h"
#include "methods/interior_point.h"

struct ml_interior {
    const struct problem *problem;
    const struct ml_rows *rows;
    enum ml_loss loss;
    double cost;
    bool own_features; /* the first columns of F are the data's own features */
    bool free_bias;
    double bias;    /* value of the constant feature, F's last column; 1 for a free bias; or 0 */
    size_t n, q, m; /* rows with a loss, labels, columns of F */
    double *F;      /* (n, m) */

    /* the pairs, row by row: relevant labels times others */
    size_t n_pairs;
    uint64_t *start;          /* (n + 1) */
    uint32_t *row;            /* (n_pairs) */
    uint32_t *first, *second; /* (n_pairs) relevant label, other label */
    uint64_t *group_start;    /* (q (q-1)/2 + 1) pairs grouped by their two labels: high, low */
    uint32_t *group;          /* (n_pairs) pairs, group by group */
    double *lambda, *counted; /* (n_pairs) cost of each pair; (m q) 1, or 0 for a free bias */
    double *S, *beta;         /* (n, q) */
    double *H;                /* (m (q-1), m (q-1)) index label * m + feature, lower half */
    double *reduced;          /* (m (q-1)) */
    double *batch;            /* (workers, BATCH_ROWS, m) */
    double *bias_out;         /* (q) */
    const double *theta;      /* of the present system */
    const double *w;          /* of the present scores */
    struct interior *interior;
    struct interior_fit fit;
};

/* Whether the first columns of F are the data's own features; otherwise they are a factor of K, for
 * which all rows must be in this process. */
bool ml_interior_own_features(const struct problem *problem, const struct ml_rows *rows);

/* Sets F and m. *possible is false, and F unusable, if K is not positive semidefinite or F would
 * have no column. */
int ml_interior_features(struct ml_interior *ml, bool *possible, struct error *err);

/* Sets the pairs, by rows and by groups of labels. */
int ml_interior_pairs(struct ml_interior *ml, struct error *err);

#endif
