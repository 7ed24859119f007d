/* Declarations that the files certify*.c share; private to this module. */
#ifndef FIT_CERTIFY_PRIVATE_H
#define FIT_CERTIFY_PRIVATE_H

#include "fit/certify.h"

#include <float.h>

/* The unit roundoff u: the largest relative error of one operation. */
#define CERTIFY_UNIT (DBL_EPSILON / 2)

/* A factor that covers the rounding errors in the computation of a bound itself. */
#define CERTIFY_UP (1 + 0x1p-20)

/* The least work limit of an evaluation in double-double: nanoseconds of one thread, by operation
 * counts. */
#define CERTIFY_WORK 6e9

struct certify {
    const struct problem *problem;
    const struct score_map *map;
    double constant;
    double *norm_bound;        /* (n) norm bounds */
    bool measured;             /* norm_bound is computed; for linear problems on the first use */
    double work;               /* work limit of an evaluation in double-double, in nanoseconds */
    double factor;             /* error factor of one product of rows */
    double *row_norm_bound;    /* (rows) norm bounds of the rows, if norm_bound is that of pairs */
    struct certify_pair *pair; /* (n) the pairs; else NULL */
    bool checked, definite;    /* the kernel is checked; it is positive semidefinite on the rows */
    double *shift; /* (rows) with this added to the diagonal; NULL: no shift is needed */
};

/* A function evaluated at the rows, with error bounds. */
struct certify_evaluation {
    const struct certify_function *function;
    size_t k;                      /* its outputs */
    double *s;                     /* (n, k) scores without a free bias; NULL: not stored */
    double *column;                /* kernels: (k) sum_i |b_ic| norm_bound_i */
    double squared_norm, rounding; /* |f|^2 and its rounding-error bound */
    double summing;                /* kernels: the part of `rounding` due to the sum of |f|^2 */
    double coefficient_error;      /* sum of the errors of coefficients times norm bounds */
    double largest;                /* kernels: the largest of column */
    double factor; /* the error of a score of row i is at most factor norm_bound_i largest */
    double
        *error; /* (n) bound of each score's error from the entrywise bounds; NULL: not computed */
    double *loss_error; /* (n) the error bounds that `loss` was given; NULL: not stored */
    double
        *feature_max; /* linear: (d) largest |weight| of each feature; NULL: shared with another */
    double *norm_bound; /* linear: (n) bounds of the scores' magnitudes; NULL: use norm bounds */
    double *first;      /* (k) scores of the first row */
    double first_error; /* bound of their errors */
    bool biased;        /* s includes the bias */
    bool varies;        /* another row has different scores */
    double score_error; /* the largest error bound of a score */
};

/* Evaluates |f|^2 and the error bounds of the scores, for kernels the scores too; the same for g
 * (NULL: none), whose scores stay NULL if it has f's weights. `function` and `k` are set by the
 * caller. For linear weights the rows are not read. The caller ends with
 * certify_evaluation_free. */
int certify_evaluate(const struct certify *certify, struct certify_evaluation *f,
                     struct certify_evaluation *g, struct error *err);

/* Whether g is not NULL and has weights of its own. */
bool certify_other(const struct certify_evaluation *f, const struct certify_evaluation *g);

/* Computes sharper error bounds of both functions. *sharper: whether they have changed; the loss
 * must then be evaluated again. For kernels, not for pairs. */
typedef int certify_look(const struct certify *certify, struct certify_evaluation *f,
                         struct certify_evaluation *g, bool *sharper, struct error *err);

/* From entrywise error bounds of the kernel matrix, at the cost of one more product with it.
 * *sharper is true. */
certify_look certify_sharpen_entrywise;

/* From an evaluation in double-double. *sharper is false if that is above the work limit or not
 * finite. */
certify_look certify_sharpen_dd;

/* Sets out->rounding and out->largest from its other members, for coefficients. */
void certify_set_rounding(const struct certify *certify, struct certify_evaluation *out);

/* s (n, k) = the scores of f's weights at rows first .. first + n, without the bias. */
void certify_linear_scores(const struct certify *certify, const struct certify_evaluation *f,
                           size_t first, size_t n, double *s);

/* loss[0] += the family's loss at f, block by block; loss[1] += its rounding-error bound. */
int certify_evaluate_loss(const struct certify *certify, struct certify_evaluation *f,
                          const struct certify_family *family, double loss[2], struct error *err);
void certify_evaluation_free(struct certify_evaluation *evaluation);

#endif
