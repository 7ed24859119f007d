/* The functions of a check: f, which the model is, and g, which the dual point makes; k outputs
 * each. Their squared norms, and scores of the training rows. */
#ifndef CHECK_FUNCTION_H
#define CHECK_FUNCTION_H

#include "check/ball.h"
#include "check/points.h"
#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/model/model.h"

#include <stdbool.h>
#include <stddef.h>

/* In the unit of the check (task.h). */
struct function {
    size_t k;
    struct ball *weights;      /* linear: (features, k); NULL with kernels */
    struct ball *coefficients; /* of f, kernels: (n_all, k); of g: (n, k) */
    struct ball *bias;         /* (k) added to the scores; NULL: nothing is */
    struct ball norm;          /* |f|^2, or |g|^2, with the part of a constant feature */
    struct ball *scores;       /* (n, k), with bias; of g only where they are wanted */
};

/* f of a model: bias and weights, or coefficients by point. constant: the value of the constant
 * feature whose part in the scores the bias is, 0: the norm does not count it. */
int function_of_model(struct function *f, const struct model *model, const struct points *points,
                      double constant, struct error *err);

/* g with all coefficients 0, for the caller to fill. */
int function_create(struct function *g, const struct points *points, size_t k, struct error *err);
void function_free(struct function *function);

/* Fills in norms and scores; linear: the weights of g, too. with_g: g's scores are wanted. */
int function_evaluate(struct function *f, struct function *g, const struct points *points,
                      double constant, bool with_g, struct threads *threads, struct error *err);

#endif
