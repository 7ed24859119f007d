/* The state of a problem and of a fit, private to rank.c (solve, best iterate), policy.c (which
 * algorithm runs when) and policy_runs.c (runs of the algorithms). */
#ifndef FAMILIES_RANK_SOLVER_RANK_PRIVATE_H
#define FAMILIES_RANK_SOLVER_RANK_PRIVATE_H

#include "families/rank/solver/certify.h"
#include "families/rank/solver/interior_point.h"
#include "families/rank/solver/low_rank.h"
#include "families/rank/solver/multipliers.h"
#include "families/rank/solver/newton_preconditioner.h"
#include "families/rank/solver/rank.h"
#include "fit/fit.h"
#include "fit/score_map.h"
#include "methods/cutting_planes.h"

struct rank {
    const struct problem *problem;
    struct rank_pairs pairs;
    struct score_map map;
    struct exterior *exterior; /* pair features; NULL without them */
    struct rank_risk loss[2];  /* by enum rank_loss */
    struct risk risk[2];
    struct rank_certifier certifier;
    struct cutting_planes *planes[2]; /* of earlier solves, by loss; NULL before the first */
    size_t n_landmarks;             /* of the first low-rank approximation; 0: it does not apply */
    bool explicit_features;         /* whether the features of these are expected to be exact */
    struct rank_low_rank *low_rank; /* of the last solve; NULL: none that reached its gap */
    uint64_t seed;                  /* of the landmarks */
    double *last[2];   /* weights of the last Newton solve, by loss; NULL before the first */
    size_t n_distinct; /* rows of the interior-point method; 0: it does not apply */
    struct rank_listed listed; /* the preferences; empty (row NULL) before they are needed */
    const double *alpha;       /* of these, of the last run of an algorithm that uses them */
    /* created at its first run; NULL before, or if it is impossible */
    struct rank_interior *interior;
    /* distinct rows of the preconditioned Newton system; 0: it does not apply */
    size_t n_preconditioner_rows;
    /* created at its first run; NULL before, or if it is impossible */
    struct rank_preconditioner *preconditioner;
    struct rank_multipliers multipliers; /* empty (listed NULL) before they are needed */
    bool pair_features;
    bool keep;                 /* dual points are stored */
    struct rank_points points; /* the dual point of the last solve */
    struct fit dual;           /* the same for certificates, without the primal point's members */
};

/* The best iterate over all runs of a fit. A later run may lose to rounding what an earlier one
 * gained. */
struct rank_best {
    double *weights; /* (dimension) of the best primal point; NULL before the first run */
    struct certificate certificate;
    enum stop_reason reason;
    bool converged; /* by the last algorithm's own stopping rule */
    uint64_t iterations;
};

/* The state of a fit to one target gap: what the rows of the policy table (policy.h) work on. */
struct rank_fitting {
    struct rank *rank;
    struct rank_parameters parameters; /* epsilon is the target gap */
    struct rank_best best;
    const struct monitor *limit; /* of the fit, without time kept for its certificate */
    double product_seconds;      /* with a time limit: of a product with the kernel matrix; or 0 */
    /* bit set by enum algorithm: the algorithms that ran for this gap, or before a fallback solver
     * for an earlier one */
    unsigned ran;
    bool at_limit;            /* the last one ended at its work limit */
    bool fallback_impossible; /* a fallback solver could not be created, or not in time */
};

static inline bool rank_is_reached(const struct rank_fitting *fitting) {
    const struct certificate *certificate = &fitting->best.certificate;
    return certificate->certified && certificate->gap <= fitting->parameters.epsilon;
}

/* Certifies the result of an algorithm (fit) and updates the best iterate. Coefficients of
 * duplicate rows are first summed into distinct rows, if the kernel matrix knows them. planes: of
 * the dual point, if it combines planes. Fills found; frees fit. */
int rank_take_fit(struct rank_fitting *fitting, struct fit *fit,
                  const struct cutting_planes *planes, struct certificate *found,
                  struct error *err);

/* Runs of the algorithms: `run` of the rows of the policy table (policy_runs.c). */
int rank_run_conditional_gradient(void *fitting, const struct monitor *monitor, struct error *err);
int rank_run_cutting_planes(void *fitting, const struct monitor *monitor, struct error *err);
int rank_run_low_rank(void *fitting, const struct monitor *monitor, struct error *err);
int rank_run_newton(void *fitting, const struct monitor *monitor, struct error *err);
int rank_run_newton_direct(void *fitting, const struct monitor *monitor, struct error *err);
int rank_run_interior_point(void *fitting, const struct monitor *monitor, struct error *err);

#endif
