/* Shared by kernel_admm.c and kernel_surrogate.c; private to them. */
#ifndef FAMILIES_MC_SOLVER_KERNEL_ADMM_PRIVATE_H
#define FAMILIES_MC_SOLVER_KERNEL_ADMM_PRIVATE_H

#include "families/mc/solver/kernel_descent_private.h"
#include "fit/monitor.h"
#include "methods/admm.h"

#include <stddef.h>

struct mc_admm {
    struct mc_kernel_descent *descent;
    size_t n, k;
    struct admm method; /* in the coefficients; U and S are work between its iterations */
    struct mc_kernel_descent *worker; /* (n_workers) copies of it with own arrays for steps */
    size_t n_workers;
    double *dense;         /* (n, k) alpha of Z */
    double *best;          /* (n, k) coefficients of the best primal point; allocated with dense */
    double primal, dual;   /* the best bounds */
    struct mc_alpha alpha; /* the best dual point is scale alpha */
    double scale;
    struct mc_alpha trial;  /* alpha of Z, then of active-set iterations from there */
    double work;            /* work of all ADMM iterations */
    double active_set_work; /* work of active-set iterations that did not reach the gap */
    bool active_set;        /* active-set iterations are allowed */
    uint64_t iterations;    /* of all runs */
    double n_free;          /* mc_admm_count_free at the last evaluation; 0 before the first */
};

/* Allocates; the caller fills the matrix K of method, or its low-rank surrogate if `low` is not
 * NULL (borrowed). The caller calls mc_admm_free, whatever this returns. */
int mc_admm_create(struct mc_admm *admm, struct mc_kernel_descent *descent,
                   const struct landmarks_goal *low, struct error *err);
void mc_admm_free(struct mc_admm *admm);

/* Starts at descent's alpha; the matrix is filled. -1 if it has no factor (no error is set). */
int mc_admm_start(struct mc_admm *admm);

/* alpha = the alpha of Z. */
int mc_admm_get_alpha(const struct mc_admm *admm, struct mc_alpha *alpha, struct error *err);

/* Number of variables strictly between their bounds at Z: the maximum over the subproblems of the
 * active set. */
double mc_admm_count_free(const struct mc_admm *admm);

#endif
