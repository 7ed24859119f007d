/* The points of a check and their kernel: the training rows, and behind them those support vectors
 * of the model that are no training rows. Kernels by their definitions (common/kernel/kernel.h), a
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
    const struct data *rows, *vectors; /* the model's; empty for a linear model */
    struct kernel kernel;
    size_t n, n_all;  /* training rows, and all points */
    uint32_t *vector; /* (n_all - n) which support vector a point behind the rows is */
    uint32_t *point;  /* (vectors) the point that each is: the first of equal rows */
    uint32_t
        *first; /* (n_all) the first point that is equal; stored: with equal rows and columns */
    uint32_t *row_of;  /* precomputed: (n + 1) row of each serial, UINT32_MAX: none; else NULL */
    struct ball *norm; /* (n_all) |x|^2, or |x|_1 for kernels that want that */
    double *most;      /* (n_all) |x| or |x|_1, rounded up */
    size_t width;      /* of a dense row */
    int half_unit;     /* of task.h */
};

/* Borrows rows, scaled as the model's, and model. Fails for lack of memory, and where a support
 * vector of a precomputed kernel is no training row. The caller calls points_free. */
int points_create(struct points *points, const struct data *rows, const struct model *model,
                  int half_unit, struct error *err);
void points_free(struct points *points);

/* The values of a point as they are, dense (width). */
void points_load(const struct points *points, size_t p, double *x);

/* k(x_p, x_q), x as points_load(p) leaves it. */
struct ball points_kernel(const struct points *points, size_t p, const double *x, size_t q);

/* k(x_p, x_p), which is |x_p|^2 for the linear kernel. */
struct ball points_own(const struct points *points, size_t p);

/* The largest k(x, x) of the training rows, or a little more. */
double points_largest_own(const struct points *points);

/* Whether the point's row and column of a matrix from a file are 0, whatever functions it is in: it
 * adds nothing to any. False for other kernels. */
bool points_is_nothing(const struct points *points, size_t p);

/* Calls add(context, column, value) for the values of training row i that are not 0, in the unit of
 * features. Kernels and loaded rows are as they are. */
void points_each(const struct points *points, size_t i,
                 void (*add)(void *context, size_t column, double value), void *context);

#endif
