/* Block coordinate ascent on the dual of the multi-label problem, one block per row (like SDCA:
 * Shalev-Shwartz & Zhang, JMLR 2013), with shrinking.
 *
 * The duality gap is a sum over rows of loss_i(s_i) + conjugate_i - <beta_i, y_i - s_i> >= 0. So
 * each visit of a row gives its contribution, which bounds what its step can gain; rows that
 * contribute little are visited less often (shrinking). A sweep costs O(n_features q) per linear
 * row, or O(n q) per kernel row, plus the steps of block.h. With the notation of block.h: y_i is 1
 * for the relevant labels Y of row i and 0 for the others, q is the number of labels, and the row's
 * lambda is cost / (|Y| (q - |Y|)). */
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

struct ml_ascent {
    const struct problem *problem;
    const struct ml_rows *rows;
    struct ml_store store;
    double constant_squared; /* of the constant feature's value; added to K */
    bool shrinking;
    double sweep_work; /* work (fit/work.h) of a sweep over this process's rows */
    double all_work;   /* of a sweep over the rows of all processes */
    struct random random;

    enum ml_loss loss;
    double cost; /* for which beta is feasible; 0 before the first solve */
    /* n = rows->n rows with a loss; width = store.width, the row length, at least q */
    double *beta;      /* (n, width) dual variables */
    double *conjugate; /* (n) conjugate of each row's alpha */
    /* Squared hinge: scores s at which alpha_pr = 2 lambda max(0, 1 - s_p + s_r). They store the
     * alpha of rows with exact steps. */
    double *alpha_scores;  /* (n, width); NULL if no row needs them */
    double *total;         /* (width) sum of beta over the rows of all processes */
    double *offset;        /* (width) added to the scores: the free bias, or 0 */
    double *alpha;         /* alpha_pr of the rows with pair steps, one after the other */
    uint64_t *alpha_start; /* (n + 1) where each row's alpha starts; an empty range: exact steps */

    double *gap;                        /* (n) each row's gap at its last visit */
    unsigned char *pause_length;        /* (n) sweeps to skip at the next shrinking */
    unsigned char *pause_left;          /* (n) sweeps still to skip */
    double negligible_gap;              /* a row with a smaller gap is shrunk */
    uint32_t *order;                    /* (n) rows of the present sweep */
    double *s, *old;                    /* (width) scores and old beta of the visited row */
    struct ml_scratch **scratch;        /* (workers) */
    struct ml_distributed *distributed; /* NULL unless a linear problem is distributed */
    void *block;                        /* all arrays (n) and (width) */
};

/* Bounds at the point, of the problem with constant_squared and `offset`. */
struct ml_bounds {
    double primal, dual;
};

/* Starts at beta = 0. Borrows problem and rows. The caller calls ml_ascent_free. All processes, as
 * for the functions that give bounds. */
int ml_ascent_create(struct ml_ascent *ascent, const struct problem *problem,
                     const struct ml_rows *rows, double constant_squared, bool shrinking,
                     uint64_t seed, struct error *err);
void ml_ascent_free(struct ml_ascent *ascent);

/* Makes beta feasible for another loss or cost: 0, or the best multiple of the present beta.
 * single: weights in float (ml_store_start). */
int ml_ascent_start(struct ml_ascent *ascent, enum ml_loss loss, double cost, bool single,
                    struct error *err);

/* A run of sweeps until primal - dual <= epsilon primal, the monitor stops it, it converges too
 * slowly, or it stalls: 10 evaluations of the bounds without progress. Only `bounds` tells a stall
 * from success; the stop reason is 0 after both. */
struct ml_run {
    double epsilon;                /* target gap */
    const struct monitor *monitor; /* gets the bounds of the last evaluation */
    uint64_t iterations;           /* sweeps, added to */
    uint64_t min_iterations;       /* minimum number of sweeps */
    double work;                   /* fit/work.h; added to */
    struct convergence_rate rate;  /* convergence rate of this run */
    bool converges_slowly;         /* stopped: it converges too slowly */
    enum stop_reason stop;         /* of the monitor; of a fallback solver, rounding too */
    struct ml_bounds bounds;       /* at the end */
};

/* Runs sweeps from the present point, after ml_ascent_start. All processes. -1 if memory is short
 * or scores overflow. */
int ml_ascent_run(struct ml_ascent *ascent, struct ml_run *run, struct error *err);

/* Evaluates both bounds at the point from its scores, and the gap of every row. */
int ml_ascent_bounds(struct ml_ascent *ascent, struct ml_bounds *bounds, struct error *err);

/* The alphas of the point. Borrows ascent; not for several threads at once. */
struct ml_alphas ml_ascent_alphas(const struct ml_ascent *ascent);

/* Block of row i. */
static inline struct ml_block ml_ascent_block(const struct ml_ascent *ascent, size_t i) {
    return ml_rows_block(ascent->rows, i, ascent->loss, ascent->cost);
}

#endif
