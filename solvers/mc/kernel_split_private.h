/* What the files of mc's operator splitting share; nobody else includes this. */
#ifndef SOLVERS_MC_KERNEL_SPLIT_PRIVATE_H
#define SOLVERS_MC_KERNEL_SPLIT_PRIVATE_H

#include "solvers/mc/kernel_private.h"

#include <stddef.h>

/* Rows that are stepped in before their changes go to the scores of all others. */
enum { MC_SPLIT_BLOCK = 64 };

struct split {
    struct mc_kernel *kernel; /* its alpha are those of Z */
    size_t n, k;
    double rho;
    size_t factored;       /* iterations since then */
    double *K;             /* (n, n) K in the upper half, without its diagonal; below the factor */
    double *U;             /* (n, k) of one allocation with those below, which it begins */
    double *Z, *W, *S;     /* (n, k); S = K U, or work */
    double *best;          /* (n, k) the best primal point so far */
    double primal, dual;   /* the best bounds */
    double scale;          /* of the dual's alpha */
    struct mc_alpha alpha; /* of the best dual */
    struct mc_alpha swept; /* those of Z after some sweeps */
    double *change;        /* (MC_SPLIT_BLOCK, k) of a sweep */
    double *in, *out;      /* of a task */
};

/* out (n, k) = K in. */
void mc_split_multiply(struct split *split, double *in, double *out);

/* Both bounds, when S has the scores of U. U and S are work then. */
int mc_split_look(struct split *split, double epsilon, struct error *err);

#endif
