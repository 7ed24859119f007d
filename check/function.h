/* The functions of a check, with k outputs: f, that of the model, and g, that of the dual point.
 * Their squared norms, and their scores of the training rows. */
#ifndef CHECK_FUNCTION_H
#define CHECK_FUNCTION_H

#include "check/ball.h"
#include "check/points.h"
#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/model/model.h"

#include <stdbool.h>
#include <stddef.h>

/* A function, in the unit of the check (task.h). */
struct function {
    size_t k;
    struct ball *weights;      /* linear: (features, k); NULL with kernels */
    struct ball *coefficients; /* f with kernels: (n_all, k); g: (n, k) */
    struct ball *bias;         /* (k) added to the scores; NULL: none */
    struct ball norm;          /* |f|^2 or |g|^2, including that of a constant feature */
    struct ball *scores;       /* (n, k), with bias; g: only if requested */
};

/* Creates f from the model, with bias and weights or coefficients by point, and g with coefficients
 * 0, for the caller to set. constant: the value of the constant feature whose contribution to the
 * scores is the bias; 0: the norm does not include the bias. The caller calls function_free for
 * both, also on failure. */
int function_create(struct function *f, struct function *g, const struct model *model,
                    const struct points *points, double constant, struct error *err);
void function_free(struct function *function);

/* Computes norms and scores; for linear models also the weights of g. with_g: the scores of g are
 * needed. */
int function_evaluate(struct function *f, struct function *g, const struct points *points,
                      double constant, bool with_g, struct threads *threads, struct error *err);

#endif
