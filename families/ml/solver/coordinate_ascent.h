/* Block coordinate ascent on the dual of the multi-label problem, one block a row.
 *
 * The gap is a sum over rows, of loss_i(s_i) + conjugate_i - <beta_i, y_i - s_i> >= 0 each: what a
 * row adds is known whenever it is visited, tells how much its step can gain, and lets rows that
 * add next to nothing be visited less often (shrinking). */
#ifndef FAMILIES_ML_SOLVER_COORDINATE_ASCENT_H
#define FAMILIES_ML_SOLVER_COORDINATE_ASCENT_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/ml/solver/bias.h"
#include "families/ml/solver/block.h"
#include "families/ml/solver/label_sets.h"
#include "families/ml/solver/score_store.h"
#include "fit/convergence_rate.h"
#include "fit/monitor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ml_distributed;

struct ml_bcd {
    const struct problem *problem;
    const struct ml_rows *rows;
    struct ml_store store;
    double constant; /* added to K: the square of the constant feature's value */
    bool shrinking;
    double sweep_work; /* operations of a sweep over this rank's rows, */
    double all_work;   /* and over those of all ranks */
    struct random random;

    enum ml_loss loss;
    double cost;       /* beta is feasible for; 0 before the first solve */
    double *beta;      /* (n, width) */
    double *conjugate; /* (n) */
    double *slope_scores;  /* (n, width) scores whose slopes are a row's alpha, squared hinge; or NULL */
    double *total;  /* (width) sum of beta over rows, of all ranks */
    double *offset; /* (width) added to the scores; zeros, or the free bias */
    double *alpha;  /* of the rows stepped in by pairs, one behind the other */
    uint64_t *alpha_start; /* (n + 1) */

    double *gap;                 /* (n) what each row added to the gap when it was last looked at */
    unsigned char *pause_length;        /* (n) sweeps to leave it out for the next time, */
    unsigned char *pause_left;       /* (n) and sweeps that it is still left out */
    double negligible_gap;                /* gaps below are next to nothing */
    uint32_t *order;             /* (n) */
    double *s, *old;             /* (width) of the row at hand */
    struct ml_scratch **scratch; /* (workers) */
    struct ml_distributed *rounds; /* of ranks over which a linear problem's rows are spread; or NULL */
};

/* What is known of the point: of the problem with `constant` and `offset`. */
struct ml_bounds {
    double primal, dual;
};

/* Starts at beta = 0. Borrows problem and rows. The caller calls ml_bcd_free.
 * This, and what gives bounds, is for all ranks. */
int ml_bcd_create(struct ml_bcd *bcd, const struct problem *problem, const struct ml_rows *rows,
                  double constant, bool shrinking, uint64_t seed, struct error *err);
void ml_bcd_free(struct ml_bcd *bcd);

/* Makes beta feasible for another loss or cost: from 0, or as the best multiple of what it is. */
int ml_bcd_start(struct ml_bcd *bcd, enum ml_loss loss, double cost, struct error *err);

/* A run of sweeps until gap <= epsilon primal. */
struct ml_run {
    double epsilon;
    const struct monitor *monitor; /* shown the bounds as they were last known */
    uint64_t iterations;           /* sweeps, counted on */
    uint64_t least;                /* goes on until there are so many */
    double work;                   /* operations, counted on */
    struct pace pace;              /* of this run's gap */
    bool yields;                   /* the pace is slow */
    enum stop_reason stop;         /* of the monitor; of the interior point, rounding too */
    struct ml_bounds bounds;       /* at the end */
};
int ml_bcd_run(struct ml_bcd *bcd, struct ml_run *run, struct error *err);

/* The bounds at the point, from its scores; looks at every row's gap anew. */
int ml_bcd_bounds(struct ml_bcd *bcd, struct ml_bounds *bounds, struct error *err);

/* The alphas of the point; borrows bcd, one thread at a time. */
struct ml_alphas ml_bcd_alphas(const struct ml_bcd *bcd);

/* The row's block. */
static inline struct ml_block ml_bcd_block(const struct ml_bcd *bcd, size_t i) {
    return ml_rows_block(bcd->rows, i, bcd->loss, bcd->cost);
}

#endif
