/* Fits with rows held out: each fold, at each of a list of points, with what they have in common.
 *
 * The kernel matrix is computed once for all folds and all points of one kernel (once for each
 * fold where the scaling is fitted to the training rows), a problem is opened once for all points
 * that differ in options of level OPTION_SOLVE only, and these start from one another's solutions,
 * unless they are many: then in runs of up to eight. All folds go through the points side by side,
 * so that the first points are known long before the last, where there is memory for that. A fit is
 * the work of one thread, or where there are more than twice as many threads as runs the solver has
 * all threads; results are the same, so the memory for kernels is split among the folds and runs
 * however many go on at once. The ranks of a cluster have all rows each, and share out the fits:
 * the points that are solved one from the other, of a fold, go to a rank that is free. Nor do
 * results depend on which points are wanted: where one in a run is not, but a later one is, it is
 * solved for that one to start from. */
#ifndef DRIVER_CROSSVAL_H
#define DRIVER_CROSSVAL_H

#include "common/base/threads.h"
#include "driver/family.h"
#include "driver/progress.h"

#include <stdint.h>

/* A fit, by the scores (n, n_scores) row-major of the rows that its fold holds out. */
struct crossval_fit {
    size_t index; /* of the point in the list */
    size_t fold;
    bool fitted; /* converged, or the solver had time for an iteration */
    bool converged;
    double seconds;            /* of the solver and of scoring */
    const struct model *model; /* its header */
    const uint32_t *rows;      /* (n) */
    size_t n, n_scores;
    const double *scores;
};

struct crossval {
    const struct family *family;
    const struct options *options;
    const struct data *data;
    bool scale_folds; /* each fold fits the scaling to its training rows; data are not scaled */
    bool copy_folds;  /* no kernel matrix of all rows: each fold makes that of its training rows */
    uint32_t n_features; /* of the training file: the default of gamma */
    const struct folds *folds;
    const size_t *points; /* (n_points) numbers of points, ascending */
    size_t n_points;
    const bool *wanted; /* (n_points) false: not to be scored; NULL: all are wanted */
    struct threads *threads;
    size_t cache_bytes;
    double deadline;           /* of progress_clock() for all fits, INFINITY: none: each has a like
                                  part of what is left, */
    size_t n_after;            /* with so many fits that are to follow */
    double end;                /* no fit begins somewhat after that, INFINITY: all do; then the run
                                  fails by ERROR_STOPPED. Of one process */
    struct progress *progress; /* NULL: not shown */
    struct fit_log *log;       /* NULL: none */
    size_t *n_unconverged;     /* counts the fits that did not converge */
    struct cluster *cluster;   /* NULL: this process makes all fits */

    /* Called once for each fold and wanted point, by several threads at once, on the rank that made
     * the fit: adds what is to be known of it to the bytes. On rank 0 told takes them, of any
     * alignment, by several threads at once, too. */
    int (*scored)(void *context, const struct crossval_fit *fit, struct text *bytes,
                  struct error *err);
    int (*told)(void *context, size_t index, size_t fold, const char *bytes, size_t n,
                struct error *err);
    void *context;
};

/* The end of the run of points, solved one from the other, that begins with points[first] and is
 * among the n of the list. */
size_t crossval_run_end(const struct options *options, const size_t *points, size_t n,
                        size_t first);

/* How many fits crossval_run makes: those that others start from are counted too. */
size_t crossval_count(const struct crossval *crossval);

/* Runs all fits. The error told is the first, by point and fold, of this rank. All ranks: rank 0
 * returns when it has been told all. */
int crossval_run(const struct crossval *crossval, struct error *err);

#endif
