/* Fits with rows held out: each fold, at each of a range of points, with what they have in common.
 *
 * The kernel matrix is computed once for all folds and all points of one kernel (once for each
 * fold where the scaling is fitted to the training rows), a problem is opened once for all points
 * that differ in options of level OPTION_SOLVE only, and these start from one another's solutions,
 * unless they are many: then in pieces. A piece of a fold is a task of one thread, or where there
 * are more than twice as many threads as pieces the solver has all threads; results are the same,
 * so the memory is split among the folds and pieces however many run at once. */
#ifndef DRIVER_CROSSVAL_H
#define DRIVER_CROSSVAL_H

#include "common/base/threads.h"
#include "driver/family.h"
#include "driver/folds.h"
#include "driver/options.h"
#include "driver/progress.h"

#include <stddef.h>
#include <stdint.h>

struct crossval {
    const struct family *family;
    const struct options *options;
    const struct data *data;
    bool scale_folds; /* each fold fits the scaling to its training rows; data are not scaled */
    bool copy_folds;  /* no kernel matrix of all rows: each fold makes that of its training rows */
    uint32_t n_features; /* of the training file: the default of gamma */
    const struct folds *folds;
    size_t first_point, n_points;
    struct threads *threads;
    size_t cache_bytes;
    double deadline;           /* of progress_clock() for all fits, INFINITY: none: each has a like
                                  part of what is left, */
    size_t n_after;            /* with so many fits that are to follow */
    struct progress *progress; /* NULL: not shown */
    size_t *n_unconverged;     /* counts the fits that did not converge */

    /* Takes the scores (n, n_scores) of the rows that a fold holds out; the model has only its
     * header. Called once for each fold and point, from several threads at once. */
    int (*scored)(void *context, struct point point, size_t fold, const struct model *model,
                  const uint32_t *rows, size_t n, const double *scores, size_t n_scores,
                  struct error *err);
    void *context;
};

/* Runs all fits. The first error ends it. */
int crossval_run(const struct crossval *crossval, struct error *err);

#endif
