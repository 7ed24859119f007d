/* What the files of mc's kernel engine share; nobody else includes this, but a unit test. */
#ifndef FAMILIES_MC_SOLVER_KERNEL_DESCENT_PRIVATE_H
#define FAMILIES_MC_SOLVER_KERNEL_DESCENT_PRIVATE_H

#include "common/kernel/column_cache.h"
#include "families/mc/solver/active_set.h"
#include "families/mc/solver/alpha.h"
#include "families/mc/solver/kernel_descent.h"
#include "families/mc/solver/policy.h"

#include <stdbool.h>

struct gain {
    double gain;
    uint32_t row;
    bool free, taken; /* alpha is inside its bounds; has a place in the working set */
};

struct mc_kernel {
    const struct mc_task *task;
    struct score_map map;
    bool exact;    /* F is in double all the time: what a set in float has spoilt can be seen */
    bool definite; /* the kernel matrix: only then the dual's maximum is that of its bound */
    bool cheap;    /* columns are computed anew whenever they are multiplied */
    struct columns *columns;
    size_t n, k;
    double *q;           /* (n) K_ii + bias^2 */
    double *cap;         /* (k) */
    double *F, *B;       /* (n, k) scores and coefficients */
    double epsilon;      /* the gap that is wanted */
    double best;         /* the smallest certified gap, */
    uint64_t iterations; /* and the iterations of this solve */
    double cost;         /* alpha is for; 0 before the first solve */
    double norm;         /* |W(alpha)|^2 */
    double scale;        /* the multiple of W(alpha) that primal is for */
    double primal, dual;
    struct mc_alpha alpha, before; /* before: the last working set, where F is exact */
    struct mc_active *active;
    struct double_blocks *blocks; /* of a row's step */
    double *s, *row, *u;          /* (width) */
    struct gain *gain;            /* (n) */
    uint32_t *set;                /* (n) the working set, or the rows that it changed; ascending */
    double work, rounds_work; /* so far: of all sweeps; of all rounds of the active-set method */
    double split_work;        /* of the fallback solver: the goal's */
    bool slow;                /* it is better left to that */
    bool active_set;          /* active-set iterations may run */
    bool near;                /* alpha is that of a problem nearby: rounds are next */
    size_t most_set;          /* rows of the largest working set */
    float *K; /* (most_set, its stride) room for its matrix: the system gives what is used */
};

/* ---- working sets (kernel_set.c) ---- */

/* What steps work with. The caller ends with mc_kernel_steps_free. */
int mc_kernel_steps_create(struct mc_kernel *kernel, struct error *err);
void mc_kernel_steps_free(struct mc_kernel *kernel);

/* Fills gain, the largest first, with the rows that would gain, and those whose alpha is inside its
 * bounds; returns how many they are. */
size_t mc_kernel_list(struct mc_kernel *kernel);

/* Fills set with up to `most` of the n rows listed, and returns how many. Rows whose alpha is
 * inside its bounds have up to half of the places, whatever they gain: without them the others go
 * too far. */
size_t mc_kernel_choose(struct mc_kernel *kernel, size_t n, size_t most);

/* The exact step of a row of class y with K_ii = square: kernel->row (k), its alpha, at the scores
 * kernel->s. kernel->u (k) = the change of its coefficients. Returns the gain, 0 if alpha does not
 * change. */
double mc_kernel_step(struct mc_kernel *kernel, size_t y, double square);

/* Numbers from one row to the next of the matrix of m rows, m of which count: an odd multiple of
 * what is added at once, for rows that are a power of 2 apart would share places in the cache. */
size_t mc_kernel_set_stride(size_t m);

/* How a working set was left. */
enum mc_kernel_end {
    MC_SET_SOLVED,
    MC_SET_LEFT, /* before it was done; */
    MC_SET_SLOW, /* a round of the active-set method would cost less; */
    MC_SET_SPLIT /* operator splitting would */
};

/* Sweeps over the m rows of the set. `wanted` is the distance of the bounds that is wanted in the
 * end. It is left when rounds of the active-set method, or operator splitting, would cost less than
 * the sweeps that it still needs. */
int mc_kernel_descend(struct mc_kernel *kernel, size_t m, double wanted,
                      const struct monitor *monitor, enum mc_kernel_end *end, struct error *err);

/* What a round of the active-set method costs with `size` free variables, in multiplications of a
 * sweep; INFINITY where that is more than it can take. */
double mc_kernel_round_work(const struct mc_kernel *kernel, double size);

/* ---- bounds (kernel_bounds.c) ---- */

/* The primal at a good multiple of W, from F, norm and the dual: not looked for while its gap is
 * below epsilon. Sets primal and scale. */
void mc_kernel_primal(struct mc_kernel *kernel, double epsilon);

/* Certifies primal (n, k), coefficients as they will stand in the model but for a multiple near 1,
 * and alpha. scores (2, n, k): exact ones of both, without the constant feature's; NULL: they are
 * computed. own: the objective of `primal` with scores in double. */
int mc_kernel_certify_point(struct mc_kernel *kernel, const double *primal, const double *scores,
                            double own, struct mc_fit *fit, struct error *err);

/* B = the coefficients of alpha. */
void mc_kernel_coefficients(struct mc_kernel *kernel);

/* Brings B, and F = K B, up to what alpha is now, and computes the bounds; the primal is that of a
 * good multiple of W(alpha), looked for while its gap is above epsilon. */
int mc_kernel_refresh(struct mc_kernel *kernel, double epsilon, struct error *err);

/* Certifies B times the scale, as it will stand in the model, and alpha. F becomes exact. */
int mc_kernel_certify(struct mc_kernel *kernel, struct mc_fit *fit, struct error *err);

#endif
