/* Cross-validation: a fit for each fold at each of a list of points, with shared work done once.
 *
 * The kernel matrix is computed once for all folds and all points of one kernel, or once per fold
 * if the scaling is fitted to the training rows. A problem is opened once for all points that
 * differ only in options of level OPTION_SOLVE. Such points are solved one after the other with
 * warm starts, in runs of at most eight. If memory allows, all folds advance through the points
 * side by side, so that the first points are complete early. A fit uses one thread, or all threads
 * if there are more than twice as many threads as runs. Results do not depend on that, so the
 * memory for kernels is split among folds and runs regardless of how many run at once. On a cluster
 * every process has all rows, and each run of a fold is a task for the next free process. Results
 * do not depend on which points are wanted either: an unwanted point in front of a wanted one of
 * the same run is solved for the warm start. */
#ifndef DRIVER_CROSSVAL_H
#define DRIVER_CROSSVAL_H

#include "common/base/threads.h"
#include "driver/family.h"
#include "driver/progress.h"

#include <stdint.h>

/* The result of a fit: scores (n, n_scores) row-major of the rows that its fold holds out. */
struct crossval_fit {
    size_t index; /* of the point in the list of points */
    size_t fold;
    bool fitted; /* converged, or the solver had time for one iteration */
    bool converged;
    double seconds;            /* solving and scoring */
    const struct model *model; /* its header only */
    const uint32_t *rows;      /* (n) numbers of the held-out rows */
    size_t n, n_scores;
    const double *scores;
};

struct crossval {
    const struct family *family;
    const struct options *options;
    const struct data *data;
    bool scale_folds; /* each fold fits the scaling to its training rows; data are not scaled */
    /* no kernel matrix of all rows: each fold computes that of its training rows */
    bool copy_folds;
    uint32_t n_features; /* of the training file, for the default of gamma */
    const struct folds *folds;
    const size_t *points; /* (n_points) numbers of points, ascending */
    size_t n_points;
    const bool *wanted; /* (n_points) whether the point is scored; NULL: all are */
    struct threads *threads;
    size_t cache_bytes;
    /* of clock_seconds(), for all fits; INFINITY: none. The time that remains is split evenly
     * among the fits that remain */
    double deadline;
    size_t n_after; /* and this number of fits that follow afterwards */
    /* time after which no fit is started, apart from a grace period; the run then fails with
     * ERROR_STOPPED. INFINITY: none. For one process only */
    double end;
    struct progress *progress; /* NULL: not shown */
    struct fit_log *log;       /* NULL: none */
    size_t *n_unconverged;     /* incremented for each fit that does not converge */
    struct cluster *cluster;   /* NULL: this process makes all fits */

    /* serialize is called once for each fold and wanted point, concurrently by several threads, on
     * the process that made the fit: it appends what process 0 needs to `bytes`. On process 0,
     * receive gets these bytes, unaligned, also concurrently. */
    int (*serialize)(void *context, const struct crossval_fit *fit, struct text *bytes,
                     struct error *err);
    int (*receive)(void *context, size_t index, size_t fold, const char *bytes, size_t n,
                   struct error *err);
    void *context;
};

/* The end of the run that begins with points[first], among the n points of the list. */
size_t crossval_run_end(const struct options *options, const size_t *points, size_t n,
                        size_t first);

/* The number of fits that crossval_run makes, including those that only serve as warm starts. */
size_t crossval_count(const struct crossval *crossval);

/* Runs all fits. Reports the first error of this process by point and fold. Called by all
 * processes; process 0 returns when it has received all results. */
int crossval_run(const struct crossval *crossval, struct error *err);

#endif
