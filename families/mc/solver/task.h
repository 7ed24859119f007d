/* A multi-class problem made ready, as every engine of mc gets it, and what engines give back. */
#ifndef FAMILIES_MC_SOLVER_TASK_H
#define FAMILIES_MC_SOLVER_TASK_H

#include "common/kernel/problem.h"
#include "families/mc/solver/alpha.h"
#include "families/mc/solver/formulation.h"
#include "fit/certify.h"
#include "fit/monitor.h"
#include "fit/stop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mc_task {
    const struct problem *problem;
    struct mc_shape shape;
    size_t n;             /* rows, here ... */
    size_t n_all;         /* ... and on all ranks over which the problem is spread */
    const uint32_t *y;    /* (n) class of each row */
    const double *weight; /* (k) weight of C for each class */
    double bias;          /* value of the constant feature; 0: none */
    struct certify *certify;
    uint64_t seed;
    bool keep; /* the dual points of fits are wanted */
};

struct mc_goal {
    double cost, epsilon;
    uint64_t most; /* linear: sweeps of coordinate descent, after which it gives up; 0: no limit */
    bool active_set;      /* kernels: active-set iterations may go on; */
    double fallback_work; /* work of ADMM, if it may go on; INFINITY: it may not */
};

/* A point with both bounds, in double and from the data. */
struct mc_fit {
    double *weights;     /* linear: (n_features, k); kernel: (n, k) */
    double *bias;        /* (k) part of the constant feature in the scores; NULL without one */
    double primal, dual; /* of the certificate, or of running sums until there is one */
    struct certificate certificate;
    struct mc_alpha alpha; /* the dual point, where the task keeps it */
    uint64_t iterations;
    enum stop_reason reason; /* why it ended before the gap was reached */
    bool unsolved; /* there was no time for a certificate: nothing else is set but reason */
};

/* Takes what a further run has found into the best fit so far, which may be empty, and leaves
 * `found` empty. */
void mc_fit_take(struct mc_fit *fit, struct mc_fit *found);

/* A solver's run to a gap of epsilon, from where the last one ended, and the certificate there.
 * Fills fit, with the iterations of all runs; its reason is STOP_REACHED where the solver holds
 * that the gap is reached. -1 with err set ends the fit. */
typedef int (*mc_run)(void *solver, double epsilon, const struct monitor *monitor,
                      struct mc_fit *fit, struct error *err);

/* Runs a solver to the gap of the goal, and where the certificate is not within it, to smaller ones
 * (fit/tolerance.h). The caller calls mc_fit_free. */
int mc_fit_tighten(mc_run run, void *solver, const struct mc_goal *goal,
                   const struct monitor *monitor, struct mc_fit *fit, struct error *err);

/* Joins two fits of one problem: the lower primal, with the reason of `fit`, the higher dual with
 * its dual point, and the iterations of both. Takes what `other` owns, and leaves that empty. */
void mc_fit_join(struct mc_fit *fit, struct mc_fit *other);

/* Releases what the fit owns and makes it empty. */
void mc_fit_free(struct mc_fit *fit);

#endif
