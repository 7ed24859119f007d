/* Shared by kernel_admm.c, kernel_admm_bounds.c and kernel_surrogate.c; private to them. */
#ifndef FAMILIES_MC_SOLVER_KERNEL_ADMM_PRIVATE_H
#define FAMILIES_MC_SOLVER_KERNEL_ADMM_PRIVATE_H

#include "families/mc/solver/kernel_descent_private.h"
#include "fit/monitor.h"
#include "methods/admm.h"

#include <stddef.h>

/* Rows of a block: the scores of all other rows are updated once for each block. */
enum { MC_SPLIT_BLOCK = 64 };

struct split {
    struct mc_kernel *kernel;
    size_t n, k;
    struct splitting splitting; /* in the coefficients; U and S are work between its iterations */
    struct mc_kernel *worker;   /* (n_workers) copies of kernel with own arrays for steps */
    size_t n_workers;
    double *dense;         /* (n, k) alpha of Z */
    double *best;          /* (n, k) coefficients of the best primal point; allocated with dense */
    double primal, dual;   /* the best bounds */
    struct mc_alpha alpha; /* the best dual point is scale alpha */
    double scale;
    struct mc_alpha swept; /* alpha of Z, then after some sweeps */
    double *change;        /* (MC_SPLIT_BLOCK, k) changes of the coefficients in a block */
    double work;           /* work of all ADMM iterations */
    double rounds_work;    /* work of active-set iterations that did not reach the gap */
    bool active_set;       /* active-set iterations are allowed */
    uint64_t iterations;   /* of all runs */
    double inside;         /* mc_split_inside at the last evaluation; 0 before the first */
};

/* Allocates; the caller fills the matrix K of splitting, or its low-rank surrogate if `low` is not
 * NULL (borrowed). The caller calls mc_split_free, whatever this returns. */
int mc_split_create(struct split *split, struct mc_kernel *kernel, const struct low_rank_goal *low,
                    struct error *err);
void mc_split_free(struct split *split);

/* Starts at the kernel's alpha; the matrix is filled. -1 if it has no factor (no error is set). */
int mc_split_start(struct split *split);

/* alpha = the alpha of Z. */
int mc_split_get_alpha(const struct split *split, struct mc_alpha *alpha, struct error *err);

/* Number of variables strictly between their bounds at Z: the maximum over the subproblems of the
 * active set. */
double mc_split_inside(const struct split *split);

/* Evaluates both bounds, when S has the scores of U. Overwrites U and S. */
int mc_split_look(struct split *split, double epsilon, struct error *err);

/* Active-set iterations from Z until the gap is epsilon or they gain too little, if the policy starts
 * them. look: work of another evaluation; left: work that ADMM still needs. Overwrites U and S. */
int mc_split_rounds(struct split *split, double epsilon, double look, double left,
                    const struct monitor *monitor, struct error *err);

#endif
