/* The points of a check, and their kernel: the training rows, then those support vectors of the
 * model that are not training rows. Kernels by their definitions (common/kernel/kernel.h), for one
 * pair of rows at a time, from sums of exact products in double-double. */
#ifndef CHECK_POINTS_H
#define CHECK_POINTS_H

#include "check/ball.h"
#include "common/base/error.h"
#include "common/data/data.h"
#include "common/model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct points {
    const struct data *rows, *vectors; /* vectors: of the model; empty for a linear model */
    struct kernel kernel;
    size_t n, n_all;  /* training rows, and all points */
    uint32_t *vector; /* (n_all - n) the support vector of each point after the rows */
    uint32_t *point;  /* (vectors) the point of each support vector: the first of equal rows */
    uint32_t *
        first; /* (n_all) the first point that is equal; precomputed: with equal rows and columns */
    /* precomputed: (n + 1) row of each serial number, UINT32_MAX: none; else NULL */
    uint32_t *row_of;
    struct ball *norm; /* (n_all) |x|^2, or |x|_1 if the kernel needs that */
    double *magnitude; /* (n_all) |x| or |x|_1, rounded up */
    size_t width;      /* of a dense row */
    int half_unit;     /* see task.h */
    void *block;       /* all arrays but row_of */
};

/* Borrows rows, scaled by the scaling of the model, and model. Fails if memory runs out, and if a
 * support vector of a precomputed kernel is not a training row. The caller calls points_free. */
int points_create(struct points *points, const struct data *rows, const struct model *model,
                  int half_unit, struct error *err);
void points_free(struct points *points);

/* The values of a point, dense (width), not in the unit of the check. */
void points_load(const struct points *points, size_t p, double *x);

/* k(x_p, x_q); x must be from points_load(p). */
struct ball points_kernel(const struct points *points, size_t p, const double *x, size_t q);

/* k(x_p, x_p), which is |x_p|^2 for the linear kernel. */
struct ball points_own(const struct points *points, size_t p);

/* The largest k(x, x) of the training rows, or a little more. */
double points_largest_own(const struct points *points);

/* True if the row and column of the point in a precomputed matrix are 0: it adds nothing to any
 * function. False for other kernels. */
bool points_is_zero(const struct points *points, size_t p);

/* Calls add(context, column, value) for the non-zero values of training row i, in the unit of the
 * check. Kernels and loaded rows are not in that unit. */
void points_each(const struct points *points, size_t i,
                 void (*add)(void *context, size_t column, double value), void *context);

#endif
