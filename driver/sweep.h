/* Cross-validated measures at each point of a sweep, as a table that grows while it is computed,
 * and the best point. */
#ifndef DRIVER_SWEEP_H
#define DRIVER_SWEEP_H

#include "common/base/output.h"
#include "driver/crossval.h"

#include <stddef.h>

struct sweep {
    struct measure *measure; /* (n_measures) */
    size_t n_measures;
    size_t selected; /* the measure that chooses */
    size_t n_points;
    double *value; /* (n_points, n_measures): averages over folds, NaN: nothing to measure */
    double *gap;   /* (n_points): the largest relative gap of the folds */
    size_t best;   /* point */
};

/* The family's measures, and which of them --select names. Before any work: for its errors. The
 * caller ends with sweep_free. */
int sweep_create(struct sweep *sweep, const struct family *family, const struct options *options,
                 struct error *err);
void sweep_free(struct sweep *sweep);

/* Runs the cross-validation, whose scored and context are set here, for all points. With a table
 * (NULL: none) it writes a header and a row as soon as a point and those before it are finished:
 * the values of the options that vary, the measures, and the gap, with tabs between. */
int sweep_run(struct sweep *sweep, const struct crossval *crossval, struct output *table,
              struct error *err);

#endif
