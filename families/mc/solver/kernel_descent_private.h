/* Shared by the kernel_*.c files of mc; private to them. */
#ifndef FAMILIES_MC_SOLVER_KERNEL_DESCENT_PRIVATE_H
#define FAMILIES_MC_SOLVER_KERNEL_DESCENT_PRIVATE_H

#include "common/kernel/column_cache.h"
#include "common/kernel/landmarks.h"
#include "families/mc/solver/active_set.h"
#include "families/mc/solver/alpha.h"
#include "families/mc/solver/kernel_descent.h"
#include "families/mc/solver/policy.h"
#include "families/mc/solver/row_sampling.h"

#include <stdbool.h>

/* A row that may enter the working set. */
struct candidate {
    double gain; /* increase of the dual by an exact step in the row's alpha alone */
    uint32_t row;
    bool free;   /* an alpha is strictly between its bounds */
    bool chosen; /* in the working set */
};

/* The state of the solver (kernel_descent.h). */
struct mc_kernel_descent {
    const struct mc_task *task;
    struct score_map map;
    bool stores_double; /* K, as a whole: F is exact up to double rounding */
    bool definite;      /* the kernel is positive semidefinite: only then the dual is concave */
    bool uncached; /* columns of K are recomputed for each product, which costs less than storing */
    struct columns *columns;
    size_t n, k;         /* rows, classes */
    double *q;           /* (n) K_ii + bias^2 */
    double *row_cap;     /* (n) C of each row, the upper bound of its alpha */
    double *F, *B;       /* (n, k) scores K B with the constant feature; coefficients */
    bool *updated;       /* (n) F has the scores of alpha already, B still lacks its last change */
    double epsilon;      /* target gap */
    double best;         /* smallest certified gap of this solve */
    uint64_t iterations; /* of this solve: working sets and active-set iterations */
    double cost;         /* C of alpha; 0 before the first solve */
    double squared_norm; /* |W(alpha)|^2 */
    double scale;        /* the primal point is scale W(alpha) */
    double primal, dual; /* bounds by the scores F, not certified */
    struct mc_alpha alpha;
    struct mc_active *active;
    struct double_blocks *blocks; /* for steps (row_step_real.h) */
    double *s, *row, *u;          /* (blocks->width) scores, alpha, coefficients of a row */
    struct candidate *candidate;  /* (n) */
    uint32_t *set;                /* (n) the working set, or the changed rows; ascending */
    double work, active_set_work; /* fit/work.h, so far: of sweeps; of active-set iterations */
    double fallback_work;         /* work of the fallback (mc_goal) */
    bool slow;                    /* the fallback would be faster */
    bool active_set;              /* active-set iterations are allowed */
    /* alpha is the surrogate's optimum: begin with active-set iterations, and their limit of free
     * variables; 0: it is not */
    size_t max_free;
    size_t max_set; /* maximal rows of a working set */
    /* (max_set, mc_kernel_set_stride(max_set)) matrix of a working set. The system allocates its
     * pages when they are first used. */
    float *K;
    struct landmarks landmarks; /* of joint steps; empty before the first, and after the last */
    double *average;            /* (2, n, k) a primal point: coefficients, scores; NULL: none */
    double average_primal;      /* its primal */
    void *block, *steps;        /* the arrays (n) and (n, k) but K; those for steps */
};

/* ---- working sets (kernel_working_set.c) ---- */

/* Allocates the arrays for steps, in descent->steps. -1: no memory. */
int mc_kernel_steps_create(struct mc_kernel_descent *descent, struct error *err);

/* Fills descent->candidate, sorted by decreasing gain, with the rows whose step would gain and
 * those with a free alpha. Returns their number. */
size_t mc_kernel_list(struct mc_kernel_descent *descent);

/* Fills set with up to `max` of the n rows in descent->candidate, and returns their number. Up to
 * half are rows with a free alpha, whatever their gain: without them the steps of the others
 * overshoot. */
size_t mc_kernel_choose(struct mc_kernel_descent *descent, size_t n, size_t max);

/* The exact step of a row of class y and C = cap with K_ii = square: descent->row (k), its alpha,
 * at the scores descent->s. descent->u (k) = the change of its coefficients. Returns the gain, 0 if
 * alpha does not change. */
double mc_kernel_step(struct mc_kernel_descent *descent, size_t y, double cap, double square);

/* Stride of the matrix of m rows: an odd multiple of ADD_ROWS_FLOATS, because rows whose distance
 * is a power of 2 would share cache sets. */
size_t mc_kernel_set_stride(size_t m);

/* Sweeps over the m rows of the set until its part of the gap is small, or the policy hands over to
 * active-set iterations or ADMM; *end is never MC_SET_RUNNING. target_gap: the target of primal -
 * dual of the whole problem. If
 * columns are recomputed for each product, F gets the sums in float of the set at its rows, which
 * are then `updated`: this saves most of the next product. */
int mc_kernel_descend(struct mc_kernel_descent *descent, size_t m, double target_gap,
                      const struct monitor *monitor, enum mc_set_end *end, struct error *err);

/* The limit of free variables of an active-set iteration. */
static inline size_t mc_kernel_max_free(const struct mc_kernel_descent *descent) {
    return descent->max_free > 0 ? descent->max_free : MC_ACTIVE_MAX;
}

/* Work of an active-set iteration with `size` free variables. */
double mc_kernel_active_set_work(const struct mc_kernel_descent *descent, double size);

/* ---- joint steps (kernel_joint.c) ---- */

/* Whether there are enough rows, and memory for landmarks. */
bool mc_kernel_joint_applies(const struct mc_kernel_descent *descent);

/* Computes the landmarks, unless they are there. */
int mc_kernel_joint_open(struct mc_kernel_descent *descent, struct error *err);

/* Changes alpha of all rows, with B and F = K B, by a step that never lowers the dual but by
 * rounding. Needs the landmarks. */
int mc_kernel_joint_step(struct mc_kernel_descent *descent, const struct monitor *monitor,
                         struct error *err);

/* ---- the primal point of joint steps (kernel_average.c) ---- */

/* Creates the average: the function with the scores Z W, W (k, width) of the landmarks, which have
 * no further features and no constant. */
int mc_kernel_start_average(struct mc_kernel_descent *descent, const float *W, struct error *err);

/* Moves the average towards the primal point scale W(alpha), as far as this lowers its primal;
 * creates it if there is none. */
int mc_kernel_average(struct mc_kernel_descent *descent, struct error *err);

/* ---- bounds (kernel_bounds.c) ---- */

/* Sets primal and scale from F, squared_norm and the dual, by rescaling (rescaling.h) until the gap
 * is epsilon. */
void mc_kernel_primal(struct mc_kernel_descent *descent, double epsilon);

/* Certifies alpha, whose coefficients are B, with scale U (n, k), or a slightly larger multiple, as
 * primal point. scores (2, n, k): exact scores of U and of B, without the constant feature's; NULL:
 * they are computed. F becomes exact. */
int mc_kernel_certify_point(struct mc_kernel_descent *descent, const double *U, double scale,
                            const double *scores, struct mc_fit *fit, struct error *err);

/* B = the coefficients of alpha; scales rows of alpha down to their cost if rounding exceeds it. */
void mc_kernel_coefficients(struct mc_kernel_descent *descent);

/* Updates B and F = K B to alpha, and evaluates the bounds; the primal is rescaled until its gap is
 * epsilon. */
int mc_kernel_refresh(struct mc_kernel_descent *descent, double epsilon, struct error *err);

/* Certifies alpha, with the average as primal point if that has the lowest primal, else scale times
 * its coefficients. */
int mc_kernel_certify(struct mc_kernel_descent *descent, struct mc_fit *fit, struct error *err);

#endif
