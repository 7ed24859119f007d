/* RankSVM: kernel and linear, hinge and squared hinge (doc/mathematics, "rank").
 *
 * With groups of rows (queries), targets t and preferences P = {(i,j) in one group: t_i > t_j}:
 *   min 1/2 |f|^2 + C sum_P weight_ij l(1 - (s_i - s_j)),   s_i = f(x_i),
 *   l(u) = max(0, u) or max(0, u)^2
 * (Joachims, "Optimizing search engines using clickthrough data", 2002).
 * This header is the module's interface. policy.h says which algorithm solves which problem. */
#ifndef FAMILIES_RANK_SOLVER_RANK_H
#define FAMILIES_RANK_SOLVER_RANK_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/rank/solver/proof_points.h"
#include "fit/monitor.h"
#include "fit/solution.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rank_loss { RANK_HINGE, RANK_SQUARED_HINGE };

enum rank_method {
    RANK_AUTO,
    RANK_OCAS, /* cutting planes with an exact line search */
    /* Newton: exact Hessian (linear, few features) or conjugate gradients; then the fallback
     * solvers of RANK_AUTO */
    RANK_NEWTON,
    RANK_FW /* conditional gradient */
};

enum rank_step { RANK_LINESEARCH, RANK_DIMINISHING };
enum rank_stop { RANK_GAP, RANK_DECAY };

/* The unit that C is the cost of. */
enum rank_unit {
    RANK_PAIR,  /* each preference */
    RANK_QUERY, /* each group: each of its preferences has the weight 1/|P_group| */
    /* the loss of NDCG if the two rows of a preference swap positions in the best order
     * (families/rank/solver/grades.h); targets are grades */
    RANK_NDCG,
    RANK_GAIN /* the difference of the gains of the two rows of a preference; targets are grades */
};

/* The largest target that counts as a grade: gains of 2^60 are near the end of 64-bit integers. */
enum { RANK_MAX_GRADE = 60 };

/* Which pairs are preferences, and their weights. */
struct rank_preferences {
    /* bounds of the difference of target levels (dense ranks); UINT32_MAX: no upper bound */
    uint32_t gap_low, gap_high;
    double fraction; /* share of the pairs, sampled without replacement; 1: all */
    uint64_t seed;   /* of the sample */
    enum rank_unit unit;
    bool linear_gain; /* RANK_NDCG, RANK_GAIN: the gain of grade g is g, else 2^g - 1 */
    bool keep;        /* store dual points for rank_get_points; not for RANK_FW */
    bool exterior; /* pair features phi_i x phi_j - phi_j x phi_i; needs a kernel matrix (gram) */
    size_t n_weights; /* queries with a weight of their own */
    const uint64_t *weight_query;
    const double *weight;
};

struct rank_parameters {
    enum rank_loss loss;
    enum rank_method method;
    double cost;
    double epsilon;
    enum rank_step step; /* RANK_FW only */
    enum rank_stop stop; /* RANK_FW only */
};

/* Counts of the preferences. */
struct rank_counts {
    size_t n_groups, n_groups_without_pairs;
    double n_pairs; /* exact below 2^53 */
};

/* A problem whose preferences are found and whose scores can be computed. It can be solved at many
 * parameters: each solve warm-starts from the last one (cutting planes and dual points of one C are
 * valid for another). Borrows problem, which must outlive it. rank_create fails if there is no
 * preference on any process. */
struct rank;
int rank_create(struct rank **rank, const struct problem *problem,
                const struct rank_preferences *preferences, struct error *err);
void rank_free(struct rank *rank);

/* Counts over all processes. Every process must call it. */
struct rank_counts rank_counts(const struct rank *rank);

/* The dual point of the last solve, unless no time was left for it; needs `keep`.
 * Owned by rank, valid until the next solve. */
const struct rank_points *rank_get_points(const struct rank *rank);

/* Certifies other coefficients of a kernel problem without pair features, solution->weights (n),
 * with the dual point of the last solution, and sets the solution's bounds. */
int rank_replace(struct rank *rank, const struct rank_parameters *parameters,
                 struct solution *solution, struct error *err);

/* Solves, and fills solution; the caller calls solution_free. Fails if memory is short, if the
 * method cannot solve the problem (RANK_FW with the squared hinge; RANK_NEWTON with pair features),
 * or if scores overflow. */
int rank_solve(struct rank *rank, const struct rank_parameters *parameters,
               const struct monitor *monitor, struct solution *solution, struct error *err);

#endif
