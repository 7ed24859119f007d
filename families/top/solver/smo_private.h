/* The state of smo: a dual point with its scores, and work arrays. Private to this module. */
#ifndef FAMILIES_TOP_SOLVER_SMO_PRIVATE_H
#define FAMILIES_TOP_SOLVER_SMO_PRIVATE_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/top/solver/dual_state.h"
#include "families/top/solver/risk.h"
#include "fit/fit.h"
#include "fit/monitor.h"
#include "fit/score_map.h"

#include <stdbool.h>
#include <stdint.h>

struct top_smo {
    const struct problem *problem;
    const struct score_map *map;
    const struct score_map *plain; /* without the constant feature */
    struct top_risk *risk;
    struct top_state state;
    double cost;              /* of the last solution; 0: there is none */
    double scaling;           /* the primal is that of scaling times the dual point's f */
    uint64_t next_full_check; /* iteration of the next full evaluation */
    /* s and U of all positions are computed from the data, and no step was taken since */
    bool is_fresh;
    bool is_rough; /* kernel values of that computation were in float */
    bool is_exact; /* neither that, nor was the point scaled: s is exact for the stored point */
    bool near;     /* runs began near the solution: top_smo_start_near */
    const struct monitor *monitor; /* of a run */
    double value_seconds; /* the time of a kernel value in the last full evaluation; 0: not known */
    /* A full evaluation is left unfinished once the monitor has less than this left. */
    double min_seconds;
    bool ended;      /* one was: the point is the best so far, with s, but without U */
    size_t set_rows; /* rows of a working set at this cost (interior_working_set.h); 0: none yet */
    void *block;     /* all arrays, here and in the state */
    /* (n) by row: s at the last full evaluation, with a kernel without the constant feature */
    double *plain_s;
    double *best_alpha, *best_beta,
        *best_s;           /* (n) best point of the run, by row, and its plain_s */
    double best_level;     /* and its level */
    double *weights;       /* (dimension, 3) work */
    double *scores;        /* (n, 3) work, by row */
    double *row_s, *row_g; /* (n) work, by row: scores, and a subgradient */
    double *work;          /* (n) work of permutations and of starting points */
    uint32_t *order;       /* (n) work: positions in a new order */
    unsigned char *keep;   /* (n) work: 1 if a position stays in use */
};

/* Sets the bounds for a cost, and the starting point or the last solution scaled to it, with s and
 * U from the data. After a failure there is no last solution. */
int top_smo_begin(struct top_smo *smo, double cost, struct error *err);

/* Computes both bounds of the point from s; the primal at the best multiple if the point's own is
 * further than epsilon from the dual. */
void top_smo_bounds(struct top_smo *smo, double epsilon, struct fit *fit);

/* Copies the point, and its function at that multiple, into fit. */
int top_smo_copy(struct top_smo *smo, struct fit *fit, struct error *err);

/* Recomputes s, U and the sums from the data, with all positions in use, if `rough` with kernel
 * values in float; and in the same product with K, into row_s, the scores of another function with
 * coefficients `other` (n) by row (kernels only). NULL: none. If smo->monitor has less than
 * smo->min_seconds, the point stays without scores (is_fresh). Otherwise it sets value_seconds if
 * there is a time limit, a kernel, and no `other`. */
int top_smo_recompute(struct top_smo *smo, bool rough, const double *other, struct error *err);

/* Sets s of all positions from plain_s, which is that of the point. */
void top_smo_take_scores(struct top_smo *smo);

/* The predicted time of a full evaluation of the point; 0: not known. */
double top_smo_predict_seconds(const struct top_smo *smo);

/* True if there is a time limit, and that time is to be measured. */
bool top_smo_wants_time(const struct top_smo *smo);

/* Whether a full evaluation may be rough if it is unlikely to be the last one: in runs that began
 * near the solution, of many rows. With a time limit the scores of the best point are kept
 * exact; a matrix in double gives no others. */
bool top_smo_may_be_rough(const struct top_smo *smo);

#endif
