/* The state of the binary SVM's solver, shared by its files. */
#ifndef SOLVERS_SMM_BINARY_PRIVATE_H
#define SOLVERS_SMM_BINARY_PRIVATE_H

#include "solvers/methods/huber_path.h"
#include "solvers/smm/binary.h"
#include "solvers/smm/binary_gather.h"

/* How Newton steps are computed. */
enum binary_form {
    BINARY_WEIGHTS,      /* w, the d x d Hessian is factored */
    BINARY_COEFFICIENTS, /* coefficients of rows, the band's part of their products is factored */
    BINARY_CONJUGATE     /* w, conjugate gradients: both sides are long */
};

struct binary {
    struct binary_gather *gather; /* which then has all that follows; NULL: none */
    struct binary_rows rows;
    enum binary_form form;
    size_t n, dimension; /* rows; d, or n for coefficients */
    double *K;           /* (n, n) z_i'z_j; coefficients only */
    double *x;           /* (dimension) weights, where the solver is */
    double *s;           /* (n) their scores */
    double b;
    bool started;                   /* x is from an earlier solve, or given */
    const struct binary_loss *loss; /* of the solve at work */
    const struct monitor *monitor;  /* of the same */

    /* of the point */
    double *alpha;        /* (n) */
    double *signed_alpha; /* (n) y alpha, or what takes its place when mu is lowered */
    double *v;            /* (dimension) Z' signed_alpha */
    double *v_s;          /* (n) its scores; coefficients only */
    double norm;          /* |w|^2 */
    double lack;          /* -1' signed_alpha, the slope in b, when mu is lowered; else 0 */

    /* the band, its curvatures D, and their shares D / sum D */
    uint32_t *band;
    size_t n_band;
    double *curvature, *share; /* (n_band), by place in band */

    double *gradient, *step; /* (dimension) */
    double *q;               /* (n) scores of step */
    double *trial_s, *trial_alpha;
    double *mean;   /* (dimension) the band's mean row, weighted by shares */
    double *matrix; /* Hessian, (dimension, dimension) at most */
    double *work;   /* see binary_step */
    double *breaks; /* (2 n) */

    double *best_x, *best_alpha, *best_w;
};

/* <x, y> of weights, given the scores of y. */
double binary_inner(const struct binary *binary, const double *x, const double *y,
                    const double *y_scores);

/* Scores of weights in the solver's form. */
void binary_form_scores(const struct binary *binary, const double *x, double *s);

/* step = the Newton step for the gradient x - Z' signed_alpha and the band, q its scores, with the
 * bias moving along. *found = false if rounding leaves no matrix that can be factored, or it is
 * late. */
int binary_step(struct binary *binary, bool *found, struct error *err);

/* Doubles of work that binary_step needs. */
size_t binary_step_work(const struct binary *binary);

#endif
