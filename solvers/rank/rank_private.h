/* The state of the handle, shared by its files: rank.c, engines and rounds of a fit; ends.c, what
 * ends it. */
#ifndef SOLVERS_RANK_PRIVATE_H
#define SOLVERS_RANK_PRIVATE_H

#include "solvers/methods/bundle.h"
#include "solvers/methods/fit.h"
#include "solvers/methods/score_map.h"
#include "solvers/rank/certify.h"
#include "solvers/rank/finish.h"
#include "solvers/rank/inverse.h"
#include "solvers/rank/rank.h"

/* How often a fit that looked converged, but is not when recomputed in double, is taken further. */
enum { RANK_POLISH_ROUNDS = 3 };

struct rank {
    const struct problem *problem;
    struct rank_pairs pairs;
    struct score_map map;
    struct exterior *exterior; /* pair features; else NULL */
    struct rank_risk loss[2];  /* by enum rank_loss */
    struct risk risk[2];
    struct rank_certifier certifier;
    struct bundle *bundle[2];     /* planes of earlier solves, by loss; NULL before the first */
    double *last[2];              /* weights of the last Newton solve, by loss */
    size_t n_distinct;            /* rows that interior points would have; 0: they are too many */
    struct rank_finish *finish;   /* NULL until it is wanted ... */
    bool endless;                 /* ... and where it cannot be */
    size_t n_inverse;             /* rows that differ, of Newton's system; 0: they are too many */
    struct rank_inverse *inverse; /* NULL until it is wanted, and where it cannot be */
    bool pair_features;
    bool keep;                 /* the dual points of solutions are wanted: */
    struct rank_points points; /* that of the last */
};

/* The points of all rounds: what one round gains, another may lose to rounding. */
struct rank_best {
    double *weights; /* (dimension) of the primal point; NULL: none yet */
    struct certificate certificate;
    enum stop_reason reason;
    bool converged; /* by the last engine's own rule */
    bool impatient; /* that was ended for what comes after it */
    uint64_t iterations;
};

/* The engine that a fit begins with. */
enum rank_method rank_choose(const struct rank *rank, const struct rank_parameters *parameters);

/* Newton's method, from `start` (dimension; NULL: from 0), with `most` steps of conjugate gradients
 * (0: no limit). inverse: the preconditioner, or NULL. */
int rank_run_newton(struct rank *rank, const struct rank_parameters *parameters, double epsilon,
                    const double *start, uint64_t most, struct rank_inverse *inverse,
                    const struct monitor *monitor, struct fit *fit, struct error *err);

/* Cutting planes, from `start` if it is not NULL. */
int rank_run_bundle(struct rank *rank, const struct rank_parameters *parameters, double epsilon,
                    const double *start, const struct monitor *monitor, struct fit *fit,
                    struct error *err);

/* Certifies what an engine has found, with coefficients of distinct rows alone where the matrix
 * knows these, and keeps the best. Frees the fit. by_pairs: its dual point is rank->finish's. */
int rank_take_fit(struct rank *rank, const struct rank_parameters *parameters,
                  struct rank_best *best, struct fit *fit, bool by_pairs, struct certificate *found,
                  struct error *err);

static inline bool rank_is_reached(const struct rank_best *best,
                                   const struct rank_parameters *parameters) {
    return best->certificate.certified && best->certificate.gap <= parameters->epsilon;
}

/* Whether there is something left to do, and time for it. */
static inline bool rank_is_open(const struct rank_best *best,
                                const struct rank_parameters *parameters) {
    return !rank_is_reached(best, parameters) && !stop_limited(best->reason);
}

/* Whether interior points may end what the engine leaves: they want all rows. */
bool rank_has_finish(const struct rank *rank, const struct rank_parameters *parameters);

/* Iterations in which an engine takes about as long as what would end the fit. 0: as many as it
 * wants. */
uint64_t rank_patience(const struct rank *rank, const struct rank_parameters *parameters);

/* Steps of conjugate gradients that its Newton's method then has. */
uint64_t rank_most_gradients(const struct rank *rank, const struct rank_parameters *parameters);

/* What the engine has left, by what may end it, from the best point. */
int rank_end_fit(struct rank *rank, const struct rank_parameters *parameters,
                 const struct monitor *monitor, struct rank_best *best, struct error *err);

/* What Newton's method leaves to rounding, cutting planes may still finish, where interior points
 * cannot. */
int rank_finish_by_planes(struct rank *rank, const struct rank_parameters *parameters,
                          const struct monitor *monitor, struct rank_best *best, struct error *err);

#endif
