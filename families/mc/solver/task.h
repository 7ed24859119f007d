/* The input and output of every algorithm of mc: a prepared problem and a fit; and the outer loop
 * that certifies and tightens. */
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
    size_t n;           /* rows of this process */
    size_t n_all;       /* rows of all processes */
    uint32_t *y;        /* (n) class of each row */
    double *row_weight; /* (n) weight of C for each row */
    double bias;        /* value of the constant feature; 0: none */
    struct certify *certify;
    uint64_t seed;
    bool keep;         /* fits store their dual points */
    bool reformulated; /* of another task (reformulation.h): it has no other form itself */
};

struct mc_goal {
    double cost, epsilon;
    bool active_set; /* kernels: active-set iterations are allowed */
    double
        fallback_work; /* of the algorithm that follows coordinate descent; INFINITY: none does */
};

/* A primal and a dual point with their certified bounds. */
struct mc_fit {
    double *weights; /* linear: (n_features, k); kernel: (n, k) */
    /* kernel, borrowed, of a fit that is only certified: rows that have the coefficients, in the
     * first rows of weights, in place of the problem's rows; NULL: none */
    const struct data *points;
    double *bias; /* (k) contribution of the constant feature to the scores; NULL: none */
    struct certificate certificate;
    struct mc_alpha alpha; /* the dual point, if the task stores it */
    uint64_t iterations;
    enum stop_reason reason; /* why it stopped before the gap was reached */
    bool unsolved;           /* there was no time for a certificate; only reason is valid */
};

/* Updates the best fit so far, which may be empty, by the fit of a further run. Leaves `found`
 * empty. */
void mc_fit_take(struct mc_fit *fit, struct mc_fit *found);

/* Runs a solver to a gap of epsilon, from its last iterate, and certifies the result. Fills fit,
 * with the iterations of all runs. The reason is STOP_REACHED if the gap is reached by the solver's
 * own estimate. -1 with err set ends the fit. */
typedef int (*mc_run)(void *solver, double epsilon, const struct monitor *monitor,
                      struct mc_fit *fit, struct error *err);

/* The outer loop (fit/tolerance.h): runs a solver to the gap of the goal, and to smaller ones while
 * the certified gap is larger than the goal. The caller calls mc_fit_free. */
int mc_fit_tighten(mc_run run, void *solver, const struct mc_goal *goal,
                   const struct monitor *monitor, struct mc_fit *fit, struct error *err);

/* Joins two fits of one problem into `fit`: the lower primal, the higher dual with its dual point,
 * the sum of the iterations; the reason stays. Takes ownership of other's arrays, and leaves it
 * empty. */
void mc_fit_join(struct mc_fit *fit, struct mc_fit *other);

/* Frees the fit's arrays and makes it empty. */
void mc_fit_free(struct mc_fit *fit);

#endif
