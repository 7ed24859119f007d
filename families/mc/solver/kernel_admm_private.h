/* What the files of mc's operator splitting share; nobody else includes this. */
#ifndef FAMILIES_MC_SOLVER_KERNEL_ADMM_PRIVATE_H
#define FAMILIES_MC_SOLVER_KERNEL_ADMM_PRIVATE_H

#include "families/mc/solver/kernel_descent_private.h"
#include "fit/monitor.h"
#include "methods/admm.h"

#include <stddef.h>

/* Rows that are stepped in before their changes go to the scores of all others. */
enum { MC_SPLIT_BLOCK = 64 };

struct split {
    struct mc_kernel *kernel;
    size_t n, k;
    struct splitting splitting; /* in the coefficients; U and S are free between its iterations */
    struct mc_kernel *worker;   /* (n_workers) the kernel with room of its own for steps */
    size_t n_workers;
    double *dense;         /* (n, k) alpha of Z, */
    double *best;          /* (n, k) and the best primal point so far, in one allocation */
    double primal, dual;   /* the best bounds */
    double scale;          /* of the dual's alpha */
    struct mc_alpha alpha; /* of the best dual */
    struct mc_alpha swept; /* of Z, then after some sweeps */
    double *change;        /* (MC_SPLIT_BLOCK, k) of a sweep */
    double work;           /* of all iterations, */
    double rounds_work;    /* and of the rounds that came to nothing */
    bool active_set;       /* active-set iterations may run */
    uint64_t iterations;   /* of all runs */
    double inside;         /* mc_split_inside at the last look; 0 before the first */
};

/* From the kernel's point, with a matrix that is still to be filled: what stands in for K (NULL:
 * nothing does; borrowed). The caller ends with mc_split_free, whatever this returns. */
int mc_split_create(struct split *split, struct mc_kernel *kernel, const struct low_rank_goal *low,
                    struct error *err);
void mc_split_free(struct split *split);

/* Z is where the kernel is; the matrix is filled. -1 where it has no factor (no error is set). */
int mc_split_start(struct split *split);

/* alpha = that of Z. */
int mc_split_get_alpha(const struct split *split, struct mc_alpha *alpha, struct error *err);

/* Variables inside their bounds at Z: of all problems that a round has, the most. */
double mc_split_inside(const struct split *split);

/* Both bounds, when S has the scores of U. U and S are work then. */
int mc_split_look(struct split *split, double epsilon, struct error *err);

/* Rounds of the active-set method from Z until the bounds are within epsilon of one another, where
 * the policy starts them; the pace is that at which variables go to their bounds. `look` is what
 * another look costs, `left` what is still needed without. U and S are work. */
int mc_split_rounds(struct split *split, double epsilon, double look, double left,
                    const struct monitor *monitor, struct error *err);

#endif
