/* The state of the binary SVM's solver, shared by its files. */
#ifndef FAMILIES_SMM_SOLVER_BINARY_PRIVATE_H
#define FAMILIES_SMM_SOLVER_BINARY_PRIVATE_H

#include "families/smm/solver/binary.h"
#include "families/smm/solver/newton_system.h"
#include "methods/smoothing_path.h"

struct binary {
    struct binary_rows rows;
    size_t n, d;
    struct newton_system *system; /* NULL: steps are by the Hessian */
    double *x;                  /* (d) weights, where the solver is */
    double *s;                  /* (n) their scores */
    double b;
    bool started;                   /* x is from an earlier solve, or given */
    const struct binary_loss *loss; /* of the solve at work */
    const struct monitor *monitor;  /* of the same */
    struct binary_fit *fit;         /* of the same: the best points */

    /* of the point */
    double *alpha;        /* (n) */
    double *signed_alpha; /* (n) y alpha, or what takes its place when mu is lowered */
    double *v;            /* (d) Z' signed_alpha */
    double norm;          /* |w|^2 */
    double bias_slope;          /* -1' signed_alpha, the slope in b, when mu is lowered; else 0 */

    /* the band, its curvatures D, and their shares D / sum D */
    uint32_t *curved;
    size_t n_curved;
    double *curvature, *share; /* (n_curved), by place in band */

    double *gradient, *step; /* (d) */
    double *q;               /* (n) scores of step */
    double *trial_s, *trial_alpha;
    double *mean;   /* (d) the band's mean row, weighted by shares */
    double *matrix; /* (d, d) Hessian */
    double *work;   /* see binary_step */
    double *breaks; /* (2 n) */
};

/* step = the Newton step for the gradient x - Z' signed_alpha and the band, q its scores, with the
 * bias moving along. *found = false if rounding leaves no matrix that can be factored, or it is
 * late. */
int binary_step(struct binary *binary, bool *found, struct error *err);

/* Doubles of work that binary_step needs. */
size_t binary_step_work(const struct binary *binary);

#endif
