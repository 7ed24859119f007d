/* A fit to all training rows at one point: their scaling, the kernel matrix, the solver, and the
 * model that comes of it. Reads and writes no file and says nothing but its progress.
 *
 * Under a limit of time the kernel matrix and the solver are the work of a thread of their own, and
 * beside it f = 0 stands ready, whose bounds are known without work. The solver ends by itself when
 * it looks at the clock. If it does not, somewhat after the deadline it is left to itself, and f =
 * 0 is the fit. */
#ifndef DRIVER_PLAIN_FIT_H
#define DRIVER_PLAIN_FIT_H

#include "common/base/threads.h"
#include "common/kernel/gram.h"
#include "common/kernel/kernel.h"
#include "driver/family.h"
#include "driver/progress.h"

#include <stdint.h>

/* What is asked for. Everything is borrowed. */
struct plain_fit_setup {
    const struct family *family;
    struct point point;
    struct data *data;   /* is scaled, unless the rows are scaled one by one: then it has been */
    uint32_t n_features; /* of the training file: the default of gamma */
    struct cluster
        *cluster; /* over whose ranks the rows, or the kernel matrix, are spread; or NULL */
    struct cluster *alone; /* of which this rank alone makes the fit, or its starts; or NULL */
    bool starts;           /* the starts go to the ranks of `alone`, which all make the fit */
    struct threads *threads;
    size_t cache_bytes;
    double deadline; /* of progress_clock(), INFINITY: none */
    bool patient;    /* a solver is waited for, however late it is */
    struct progress *progress;
    struct fit_log *log; /* NULL: none */
    size_t place;        /* number of the point in a log with places, from 1 */
};

struct plain_fit {
    const struct family *family;
    struct point point;
    struct kernel kernel;
    bool threshold_late; /* there was no time to fit the thresholds to the end */
    struct scale scale;  /* until it is the model's */
    struct gram *gram;   /* NULL: a problem of features */
    struct problem problem;
    void *state; /* the family's, open */
    struct solution solution;
    unsigned algorithms; /* a bit of each that has run is set */
    struct model model;  /* uses the solution's weights */
    double kernel_seconds, solve_seconds;
    struct cluster_traffic traffic; /* of the seconds of solving */
    size_t n_ranks;
};

/* Fits. The caller ends with plain_fit_free, before the setup's data go. *running, also of a fit
 * that failed: a solver was left to itself; all that the setup names, and the thread pool, are its
 * own until the program ends, which must not wait for it. */
int plain_fit_create(struct plain_fit **fit, const struct plain_fit_setup *setup, bool *running,
                     struct error *err);
void plain_fit_free(struct plain_fit *fit);

#endif
