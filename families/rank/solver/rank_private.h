/* The state of the handle, private to this module: rank.c, a solve and its best iterate; policy.c,
 * which algorithm runs when; runs.c, their runs. */
#ifndef SOLVERS_RANK_PRIVATE_H
#define SOLVERS_RANK_PRIVATE_H

#include "families/rank/solver/certify.h"
#include "families/rank/solver/interior_point.h"
#include "families/rank/solver/newton_preconditioner.h"
#include "families/rank/solver/rank.h"
#include "fit/fit.h"
#include "fit/score_map.h"
#include "methods/cutting_planes.h"

struct rank {
    const struct problem *problem;
    struct rank_pairs pairs;
    struct score_map map;
    struct exterior *exterior; /* pair features; else NULL */
    struct rank_risk loss[2];  /* by enum rank_loss */
    struct risk risk[2];
    struct rank_certifier certifier;
    struct bundle *bundle[2];       /* planes of earlier solves, by loss; NULL before the first */
    double *last[2];                /* weights of the last Newton solve, by loss */
    size_t n_distinct;              /* rows that interior points would have; 0: they cannot be */
    struct rank_interior *interior; /* NULL until it is wanted, and where it cannot be */
    size_t n_preconditioner_rows;   /* distinct rows, of Newton's system; 0: it cannot be */
    struct rank_preconditioner
        *preconditioner; /* NULL until it is wanted, and where it cannot be */
    bool pair_features;
    bool keep;                 /* the dual points of solutions are wanted: */
    struct rank_points points; /* that of the last */
};

/* The points of all rounds: what one round gains, another may lose to rounding. */
struct rank_best {
    double *weights; /* (dimension) of the primal point; NULL: none yet */
    struct certificate certificate;
    enum stop_reason reason;
    bool converged; /* by the last algorithm's own rule */
    uint64_t iterations;
};

/* A fit to one gap, from the best iterate so far: the state of the policy table (policy.h). */
struct rank_fitting {
    struct rank *rank;
    struct rank_parameters parameters; /* with that gap */
    struct rank_best best;
    unsigned ran;             /* bits by enum algorithm: what has run for this gap */
    bool at_limit;            /* ... and has ended at its work limit */
    bool fallback_impossible; /* a fallback solver turned out to be impossible */
};

static inline bool rank_is_reached(const struct rank_fitting *fitting) {
    const struct certificate *certificate = &fitting->best.certificate;
    return certificate->certified && certificate->gap <= fitting->parameters.epsilon;
}

/* Certifies what an algorithm has found, with coefficients of distinct rows alone where the matrix
 * knows these, and takes what is better than the best iterate. Frees the fit. */
int rank_take_fit(struct rank_fitting *fitting, struct fit *fit, struct certificate *found,
                  struct error *err);

/* The runs of the algorithms, rows of the table (runs.c). */
int rank_run_conditional_gradient(void *fitting, const struct monitor *monitor, struct error *err);
int rank_run_cutting_planes(void *fitting, const struct monitor *monitor, struct error *err);
int rank_run_newton(void *fitting, const struct monitor *monitor, struct error *err);
int rank_run_newton_direct(void *fitting, const struct monitor *monitor, struct error *err);
int rank_run_interior_point(void *fitting, const struct monitor *monitor, struct error *err);

#endif
