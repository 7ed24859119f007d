/* RankSVM: kernel and linear, hinge and squared hinge (doc/mathematics, "rank").
 *
 * With groups of rows, targets t and preferences P = {(i,j) in one group: t_i > t_j}:
 *   min 1/2 |f|^2 + C sum_P weight_group l(1 - (s_i - s_j)),   s = f at the rows,
 *   l = max(0, u) or max(0, u)^2. */
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
    RANK_OCAS,   /* cutting planes with an exact line search */
    RANK_NEWTON, /* exact Hessian (linear, few features), else conjugate gradients; then the
                    fallback solvers of RANK_AUTO */
    RANK_FW      /* conditional gradient */
};

enum rank_step { RANK_LINESEARCH, RANK_DIMINISHING };
enum rank_stop { RANK_GAP, RANK_DECAY };

/* What C counts for. */
enum rank_unit {
    RANK_PAIR,  /* each preference */
    RANK_QUERY, /* each group: its preferences are worth 1/|P_group| */
    RANK_NDCG,  /* what NDCG would lose if the two rows of a preference swapped places in the best
                   order (families/rank/solver/grades.h); targets are grades */
    RANK_GAIN   /* what the better row of a preference gains more than the other; likewise */
};

/* The largest target that is a grade: 2^60 is as far as whole numbers of many measures go. */
enum { RANK_MAX_GRADE = 60 };

/* Which pairs are preferences, and what each is worth. */
struct rank_preferences {
    uint32_t gap_low, gap_high; /* window on the difference of dense ranks; UINT32_MAX: no end */
    double fraction;            /* of the pairs, sampled without replacement; 1: all */
    uint64_t seed;              /* of that sample */
    enum rank_unit unit;
    bool linear_gain; /* RANK_NDCG, RANK_GAIN: a row of grade g gains g, else 2^g - 1 */
    bool keep;        /* rank_get_points is wanted; not for RANK_FW */
    bool exterior;    /* features phi_i x phi_j - phi_j x phi_i of pairs; needs a gram */
    size_t n_weights; /* queries with a weight of their own */
    const uint64_t *weight_query;
    const double *weight;
};

struct rank_parameters {
    enum rank_loss loss;
    enum rank_method method;
    double cost;
    double epsilon;
    enum rank_step step; /* of RANK_FW */
    enum rank_stop stop; /* of RANK_FW */
};

/* What the problem holds. */
struct rank_counts {
    size_t n_groups, n_groups_without_pairs;
    double n_pairs; /* exact below 2^53 */
};

/* A problem made ready: solve it at as many parameters as wanted, each start is the last solution
 * (planes and duals of one C serve another). Borrows problem, which must outlive it. */
struct rank;
int rank_create(struct rank **rank, const struct problem *problem,
                const struct rank_preferences *preferences, struct error *err);
void rank_free(struct rank *rank);

/* Counts of groups and pairs, on all ranks, which all call it. rank_create fails when there is no
 * pair at all. */
struct rank_counts rank_counts(const struct rank *rank);

/* The dual point of the last solution. */
const struct rank_points *rank_get_points(const struct rank *rank);

/* Solves. The caller calls solution_free. Fails only for lack of memory, for a method that the
 * problem does not admit (RANK_FW with the squared hinge; RANK_NEWTON with exterior features), or
 * when scores overflow. */
int rank_solve(struct rank *rank, const struct rank_parameters *parameters,
               const struct monitor *monitor, struct solution *solution, struct error *err);

#endif
