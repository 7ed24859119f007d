/* What the files of ml share; nobody else includes this. */
#ifndef FAMILIES_ML_SOLVER_ML_PRIVATE_H
#define FAMILIES_ML_SOLVER_ML_PRIVATE_H

#include "families/ml/solver/certify.h"
#include "families/ml/solver/interior_point.h"
#include "families/ml/solver/ml.h"
#include "fit/certify.h"
#include "fit/score_map.h"

enum {
    ML_MAX_OUTER_ITERATIONS = 6 /* certificates before the precision is given up */
};

struct ml {
    const struct problem *problem;
    struct ml_setup setup;
    struct ml_rows rows;
    struct ml_bcd bcd;
    struct ml_interior *interior; /* when it was first wanted */
    double interior_work;         /* INFINITY: it cannot be had */
    double admm_work;            /* of operator splitting; the same */
    struct score_map map;
    struct certify *certify;
    bool definite;       /* the kernel matrix, as far as that can be told */
    double *scores;      /* (n_all, q) of the last solution, with its bias; NULL before */
    struct ml_proof_point proof; /* its dual point, where the setup keeps it */
};

/* What is certified: weights, and the function of a dual point. */
struct ml_point {
    double *weights;      /* linear: (n_features, q); kernel: (n_all, q) */
    double *bias;         /* (q) */
    double *scores;       /* (n_all, q) of the weights, in double and from the data, without bias */
    double gain;          /* the linear part of D, of all ranks' rows */
    struct ml_feasibility *size; /* (n_all) of the rows' betas */
    double *residual;     /* (q) sum of beta over rows, of all ranks */
    struct ml_proof_point proof;  /* the dual point, where the setup keeps it */
    double *dual; /* weights of the dual point's function, and then its bias (q); NULL: weights */
    struct certificate certificate;
    struct ml_bounds bounds; /* of it */
};

/* ---- points ---- */

/* Room for a point, which owns it; weights and bias are 0. -1 when memory is short. The caller ends
 * with ml_point_free. */
int ml_point_create(struct ml_point *point, const struct ml *ml, struct error *err);
void ml_point_free(struct ml_point *point);

/* Numbers in the weights of a point. */
size_t ml_n_weights(const struct ml *ml);

/* Rows of `width` numbers to rows of q, in their places: rows[i], or i when rows is NULL. */
void ml_unpad(const double *padded, size_t width, const uint32_t *rows, size_t n, size_t q,
              double *out);

/* The sizes of beta (rows.n, width), for a cost, and its sums. -1: memory is short. */
int ml_point_feasibility(const struct ml *ml, double cost, const double *beta, struct ml_point *point,
                  struct error *err);

/* The linear part of D of a hinge's beta (rows.n, width). All ranks. */
double ml_point_gain(const struct ml *ml, const double *beta);

/* The weights that beta (rows.n, width) makes; the store's W, if it has one, is theirs then. */
void ml_point_weights(struct ml *ml, const double *beta, struct ml_point *point);

/* The point's scores from its weights. */
int ml_point_scores(struct ml *ml, struct ml_point *point, struct error *err);

/* The dual point of the alphas, balanced for a free bias: its weights, gain, sizes and, where the
 * setup keeps it, its numbers. */
int ml_point_dual(struct ml *ml, double cost, const struct ml_alphas *alphas,
                  struct ml_point *point, struct error *err);

/* Its certificate, from its scores. */
int ml_point_certify(struct ml *ml, const struct ml_parameters *parameters, struct ml_point *point,
                     struct error *err);

/* Stores the weights and the bias as the dual point's: later changes are of the primal point. */
int ml_point_separate_dual(const struct ml *ml, struct ml_point *point, struct error *err);

/* The better primal and the better dual of the two become point's, the other primal found's. */
void ml_point_merge(struct ml_point *point, struct ml_point *found);

/* Whether the relative gap that the point was certified to have is at most epsilon. */
bool ml_gap_reached(const struct ml_point *point, double epsilon);

/* ---- algorithms ---- */

/* A fit to a target gap: what the policy's rows go on from. */
struct ml_state {
    struct ml *ml;
    const struct ml_parameters *parameters; /* epsilon: the target gap */
    struct ml_run run;
    struct ml_point *point; /* the best iterate, once one has run */
    bool ran;               /* an algorithm that could solve the problem */
};

/* Run from the best iterate; the latter two as rows of the policy do, with a struct ml_state. */
int ml_run_ascent(struct ml_state *state, struct error *err);
int ml_run_interior_point(void *context, const struct monitor *monitor, struct error *err);
int ml_run_admm(void *context, const struct monitor *monitor, struct error *err);

#endif
