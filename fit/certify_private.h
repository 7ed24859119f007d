/* What the files of certify share; nobody else includes this. */
#ifndef FIT_CERTIFY_PRIVATE_H
#define FIT_CERTIFY_PRIVATE_H

#include "fit/certify.h"

#include <float.h>

/* The largest relative error of one rounding. */
#define CERTIFY_UNIT (DBL_EPSILON / 2)

/* What makes up for the rounding of a bound's own sums. */
#define CERTIFY_UP (1 + 0x1p-20)

/* The most nanoseconds of one thread that an evaluation in double-double may take, by count, if no
 * more are allowed. */
#define CERTIFY_WORK 6e9

struct certify {
    const struct problem *problem;
    const struct score_map *map;
    double constant;
    double *reach;             /* (n) */
    bool measured;             /* it is there: of weights once it is asked for */
    double work;               /* nanoseconds of an evaluation in double-double */
    double factor;             /* of the evaluation of one product of rows */
    double *row_reach;         /* (rows), where reach is that of ... */
    struct certify_pair *pair; /* ... pairs; else NULL */
    bool checked, definite; /* the kernel is looked at, and positive semidefinite on the rows ... */
    double *shift; /* (rows) ... once this is added to their squares; NULL: none is needed */
};

/* What is known of a function over the rows. */
struct certify_evaluation {
    const struct certify_function *function;
    size_t k;              /* its outputs */
    double *s;             /* (n, k) without a free bias; NULL where it is not kept */
    double *column;        /* kernels: (k) sum_i |b_ic| reach_i */
    double norm, rounding; /* |f|^2 and the bound of its error */
    double summing;        /* kernels: the part of it that the sum of |f|^2 makes */
    double off;            /* the sum of what errors of coefficients do to it */
    double largest;        /* kernels: the largest of column */
    double factor;         /* a score of row i is within factor reach_i largest of the true one */
    double *error;  /* (n) the bound of each score's error entry by entry; NULL: not looked for */
    double *off_by; /* (n) what the loss was told that each score may be off by; NULL: unwanted */
    double *most;   /* linear: (d) the largest |weight| of each feature; NULL: that of another */
    double *reach;  /* linear: (n) that bounds the scores' magnitudes; NULL: the rows' */
    double *first;  /* (k) scores of the first row, */
    double first_error; /* and how far they may be off */
    bool biased;        /* s has the bias added */
    bool varies;        /* those of another row differ */
    bool precise;       /* s is the function's own, whatever was given as exact */
    double slack;       /* the largest error of a score */
};

/* |f|^2 and what bounds the scores' error, with the scores of kernels; the same of g (NULL: there is
 * none), whose scores are left NULL where it has f's weights. `function` and `k` are set. Rows are
 * not looked at for linear weights. The caller frees what the evaluations own. */
int certify_evaluate(const struct certify *certify, struct certify_evaluation *f,
                     struct certify_evaluation *g, struct error *err);

/* Whether g is there and has weights of its own. */
bool certify_other(const struct certify_evaluation *f, const struct certify_evaluation *g);

/* Looks at both functions again; *sharper is whether anything came of it. What was known of the
 * loss is then to be found anew. Of kernels, not of pairs. */
typedef int certify_look(const struct certify *certify, struct certify_evaluation *f,
                         struct certify_evaluation *g, bool *sharper, struct error *err);

/* Bounds the error of kernels entry by entry, at the cost of another product with the matrix.
 * *sharper is true. */
certify_look certify_sharpen;

/* Evaluates kernels anew in double-double, and bounds what is then left of the error. *sharper is
 * false where that is too much work, or not finite. */
certify_look certify_precisely;

/* out->rounding and out->largest from the rest of what is known of coefficients. */
void certify_set_rounding(const struct certify *certify, struct certify_evaluation *out);

/* s (n, k) = the scores of f's weights at rows first .. first + n, without what is added. */
void certify_linear_scores(const struct certify *certify, const struct certify_evaluation *f,
                           size_t first, size_t n, double *s);

/* loss[0] += the family's loss at f, block by block; loss[1] += what its rounding may hide. */
int certify_evaluate_loss(const struct certify *certify, struct certify_evaluation *f,
                          const struct certify_family *family, double loss[2], struct error *err);
void certify_evaluation_free(struct certify_evaluation *evaluation);

#endif
