/* A fit to all training rows at one point: the scaling, the kernel matrix, the solver and the
 * model. Reads and writes no file; prints only progress.
 *
 * With a time limit, a thread computes the kernel matrix and runs the solver, and the zero
 * solution, whose bounds need no kernel value, is computed beside it. The solver stops when it
 * checks the clock. If it does not, it is abandoned some time after the deadline, and the zero
 * solution is the result. */
#ifndef DRIVER_PLAIN_FIT_H
#define DRIVER_PLAIN_FIT_H

#include "common/base/threads.h"
#include "common/kernel/gram.h"
#include "common/kernel/kernel.h"
#include "driver/family.h"
#include "driver/max_sv.h"
#include "driver/progress.h"

#include <stdint.h>

/* The arguments of a fit. Everything is borrowed. */
struct plain_fit_setup {
    const struct family *family;
    struct point point;
    /* scaled by the fit, except by a scaling that works row by row, which was applied before */
    struct data *data;
    uint32_t n_features; /* of the training file, for the default of gamma */
    /* the processes over which the rows or the kernel matrix are distributed; or NULL */
    struct cluster *cluster;
    /* the processes of which this one makes the fit, or some of its restarts; or NULL */
    struct cluster *peers;
    bool restarts; /* restarts of the fit are tasks for the processes of `peers` */
    struct threads *threads;
    size_t cache_bytes;
    double deadline;       /* of clock_seconds(), INFINITY: none */
    double end_time;       /* of problem.h; set by plain_fit_create */
    bool waits_for_solver; /* the solver is awaited, however late it is */
    struct progress *progress;
    struct fit_log *log; /* NULL: none */
    size_t position;     /* number of the point in a log with positions, from 1 */
};

struct plain_fit {
    const struct family *family;
    struct point point;
    struct kernel kernel;
    bool threshold_late; /* the deadline ended the fit of the thresholds */
    struct scale scale;  /* moves into the model at the end */
    struct gram *gram;   /* NULL: a problem stated by features */
    struct problem problem;
    void *state; /* the family's open problem */
    struct solution solution;
    struct max_sv_loss loss; /* of --max-sv */
    unsigned algorithms;     /* one bit for each algorithm that ran */
    struct model model;      /* refers to the solution's weights */
    double kernel_seconds, solve_seconds;
    struct stopwatch certify_time;  /* part of solve_seconds */
    struct cluster_traffic traffic; /* during solve_seconds */
    size_t n_ranks;
};

/* Makes a fit. The caller ends with plain_fit_free while the setup's data are still valid.
 * *abandoned, set on failure too: a solver was abandoned and keeps using everything that the setup
 * names, including the thread pool, until the process ends, which must not wait for it. */
int plain_fit_create(struct plain_fit **fit, const struct plain_fit_setup *setup, bool *abandoned,
                     struct error *err);
void plain_fit_free(struct plain_fit *fit);

#endif
