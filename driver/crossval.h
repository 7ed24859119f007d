/* Fits with rows held out: each fold, at each of a range of points, with what they can share.
 *
 * The kernel matrix is computed once for all folds and all points of one kernel (once for each
 * fold where the scaling is fitted to the training rows), a problem is opened once for all points
 * that differ in options of level OPTION_SOLVE only, and these start from one another's solutions,
 * unless they are many: then in pieces. A piece of a fold is a task of one thread, or where there
 * are more than twice as many threads as pieces the solver has all threads; results are the same,
 * so the memory is shared out among the folds and pieces however many run at once. */
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

/* ---- what a single fit does in the same way ---- */

/* The kernel of a point; its default gamma is 1 / n_features. */
struct kernel crossval_kernel(struct point point, uint32_t n_features);

/* True if the problem is one of a kernel matrix, not of features. */
bool crossval_wants_gram(const struct family *family, const struct options *options,
                         const struct kernel *kernel);

/* Builds the kernel matrix of the data's rows, in double where the gap asked for needs it, and
 * keeps of it what the family's solvers want; the rest of cache_bytes is for them. `shared`: for
 * several folds. */
int crossval_gram(struct gram **gram, const struct family *family, struct point point,
                  const struct kernel *kernel, const struct data *data, bool shared,
                  size_t cache_bytes, struct threads *threads, struct error *err);

/* Fills the header of the model of a solution: what all families have, and the family's lines. The
 * scale is the caller's. */
int crossval_header(const struct family *family, const void *state, struct point point,
                    const struct kernel *kernel, const struct problem *problem,
                    const struct solution *solution, struct model *model, struct error *err);

/* The watch of a run of the solver, with the limits of the options. */
struct watch crossval_watch(const struct options *options);

#endif
