/* State of the binary SVM's solver; private to its files. */
#ifndef FAMILIES_SMM_SOLVER_BINARY_PRIVATE_H
#define FAMILIES_SMM_SOLVER_BINARY_PRIVATE_H

#include "families/smm/solver/binary.h"
#include "families/smm/solver/newton_system.h"
#include "methods/smoothing_path.h"

struct binary {
    struct binary_rows rows;
    size_t n, d;
    struct newton_system *system; /* NULL: steps use the Hessian */
    double *x;                    /* (d) weights of the iterate */
    double *s;                    /* (n) their scores */
    double b;
    bool started;                   /* x is from an earlier solve, or set by the caller */
    const struct binary_loss *loss; /* of the present solve */
    const struct monitor *monitor;  /* of the present solve */
    struct binary_fit *fit;         /* of the present solve: the best iterate */

    /* of the iterate */
    double *alpha;        /* (n) */
    double *signed_alpha; /* (n) y alpha; after lower_mu that of the new mu */
    double *v;            /* (d) Z' signed_alpha */
    double squared_norm;  /* |w|^2 */
    double bias_slope;    /* after lower_mu: -1' signed_alpha, the derivative in b; else 0 */

    /* the rows where the loss is curved, their curvatures D, and shares D / sum D */
    uint32_t *curved;
    size_t n_curved;
    double *curvature, *share; /* (n_curved), by position in `curved` */

    double *gradient, *step; /* (d) */
    double *q;               /* (n) scores of step */
    double *trial_s, *trial_alpha;
    double *mean;   /* (d) the mean of the curved rows, weighted by shares */
    double *matrix; /* (d, d) Hessian */
    double *work;   /* (binary_step_work) */
    double *breaks; /* (2 n) */
    void *block;    /* all arrays except the matrix */
};

/* Computes in `step` the Newton step for the gradient x - Z' signed_alpha and the curved rows, and
 * in q its scores; the bias is minimised out. *found = false if rounding leaves no matrix that can
 * be factored, or the deadline has passed. */
int binary_step(struct binary *binary, bool *found, struct error *err);

/* Number of doubles of work space of binary_step. */
size_t binary_step_work(const struct binary *binary);

#endif
