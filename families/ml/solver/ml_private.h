/* State shared by the files of ml; private to this folder. */
#ifndef FAMILIES_ML_SOLVER_ML_PRIVATE_H
#define FAMILIES_ML_SOLVER_ML_PRIVATE_H

#include "families/ml/solver/certify.h"
#include "families/ml/solver/interior_point.h"
#include "families/ml/solver/ml.h"
#include "fit/certify.h"
#include "fit/score_map.h"

enum {
    ML_MAX_OUTER_ITERATIONS = 6 /* solve, certify, tighten the tolerance */
};

struct ml {
    const struct problem *problem;
    struct ml_setup setup;
    struct ml_rows rows;
    struct ml_ascent ascent;
    struct ml_interior *interior; /* NULL until it is first used */
    double interior_work;         /* estimated operations; INFINITY: the method does not apply */
    double admm_work;             /* the same, for ADMM */
    struct score_map map;
    struct certify *certify;
    double *scores;              /* (n_all, q) of the last solution, with its bias; NULL before */
    struct ml_proof_point proof; /* its dual point, if the setup asks for it */
};

/* A primal point (weights, bias) and a dual point, with their certificate. */
struct ml_point {
    double *weights; /* linear: (n_features, q); kernel: (n_all, q) */
    double *bias;    /* (q) */
    double *scores;  /* (n_all, q) of the weights, computed in double from the data, without bias */
    double linear;   /* linear part of D, over the rows of all processes */
    struct ml_feasibility *feasibility; /* (n_all) of each row's beta */
    double *residual;                   /* (q) sum of beta over the rows of all processes */
    struct ml_proof_point proof;        /* the dual point, if the setup asks for it */
    /* weights, then bias (q), then with a kernel scores (n_all, q), of the dual point's function;
     * NULL: those of the primal */
    double *dual;
    struct certificate certificate;
};

/* ---- points ---- */

/* Allocates a point whose weights and bias are 0. -1 if memory runs out. The caller calls
 * ml_point_free. */
int ml_point_create(struct ml_point *point, const struct ml *ml, struct error *err);
void ml_point_free(struct ml_point *point);

/* Length of the weights of a point. */
size_t ml_n_weights(const struct ml *ml);

/* Feasibility of beta (rows.n, width) for a cost, and the sum of beta over rows. -1 if memory
 * runs out. */
int ml_point_feasibility(const struct ml *ml, double cost, const double *beta,
                         struct ml_point *point, struct error *err);

/* Linear part of D of a hinge's beta (rows.n, width). All processes. */
double ml_point_linear(const struct ml *ml, const double *beta);

/* Weights of the function of beta (rows.n, width). */
void ml_point_weights(const struct ml *ml, const double *beta, struct ml_point *point);

/* Computes the point's scores from its weights. */
int ml_point_scores(struct ml *ml, struct ml_point *point, struct error *err);

/* Takes the dual point of the alphas, balanced for a free bias: weights, linear part, feasibility
 * and, if the setup asks for it, the proof point. */
int ml_point_dual(struct ml *ml, double cost, const struct ml_alphas *alphas,
                  struct ml_point *point, struct error *err);

/* Certifies the point; its scores must be set. */
int ml_point_certify(struct ml *ml, const struct ml_parameters *parameters, struct ml_point *point,
                     struct error *err);

/* Copies weights and bias as those of the dual point, and computes their scores. Later changes
 * apply to the primal point only. */
int ml_point_separate_dual(struct ml *ml, struct ml_point *point, struct error *err);

/* Makes `point` the better primal and the better dual of both; `found` gets the other primal. A
 * point of zeros but for an infinite primal and gap has none. */
void ml_point_merge(struct ml_point *point, struct ml_point *found);

/* Whether the certified relative gap is at most epsilon. */
bool ml_gap_reached(const struct ml_point *point, double epsilon);

/* ---- algorithms ---- */

/* A fit to a target gap, as the algorithms of the policy see it. */
struct ml_state {
    struct ml *ml;
    const struct ml_parameters *parameters; /* parameters->epsilon: the target gap */
    struct ml_run run;
    struct ml_point *point; /* the best iterate, once an algorithm has run */
    bool ran;               /* whether an algorithm that applies has run */
};

/* Each keeps the best iterate, and its own if that is better. The latter two are rows of the
 * policy; context is a struct ml_state. */
int ml_run_ascent(struct ml_state *state, struct error *err);
int ml_run_interior_point(void *context, const struct monitor *monitor, struct error *err);
int ml_run_admm(void *context, const struct monitor *monitor, struct error *err);

#endif
