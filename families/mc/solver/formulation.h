/* The all-in-one multi-class SVMs as one family (Dogan, Glasmachers & Igel, "A unified view on
 * multi-class support vector classification", JMLR 2016):
 *   min 1/2 |W|^2 + sum_i C_i L(y_i, s_i),   s_i = W'x_i in R^k,
 * where L is the sum or the maximum of max(0, 1 - m_c) over the *terms* c of a row, and the margin
 * m_c is relative, M (s_y - s_c), or absolute, sigma_c (s_c - mean s) with sigma_y = 1 and the
 * other sigma = -1 (the mean is what remains of the constraint sum_c w_c = 0; ova has none).
 *
 * Dual: max sum alpha - 1/2 |W(alpha)|^2 with a row's alpha in the box [0, C_i]^terms (sum) or the
 * simplex alpha >= 0, sum alpha <= C_i (maximum), and W = sum_i x_i u(alpha_i)', where
 *   relative: u_c = -M alpha_c, u_y = M sum alpha; absolute: u_c = sigma_c alpha_c, less its mean.
 * For a step delta of one row |u(delta)|^2 = M^2 (|delta|^2 + kappa (sigma'delta)^2) with
 * kappa = 1, -1/k, 0 (relative, absolute, ova): a diagonal and a rank-one part, so one number
 * theta decides a block (step_real.h). */
#ifndef FAMILIES_MC_SOLVER_FORMULATION_H
#define FAMILIES_MC_SOLVER_FORMULATION_H

#include <stdbool.h>
#include <stddef.h>

enum mc_formulation { MC_WW, MC_CS, MC_LLW, MC_ADM, MC_ATM, MC_ATS, MC_MMR, MC_OVA };

/* What differs between the formulations. */
struct mc_form {
    const char *name;
    bool relative; /* margins; else absolute */
    bool centred;  /* the mean of a row's scores is taken off */
    bool others;   /* the terms: the classes that are not the row's, */
    bool own;      /* and the row's class */
    bool maximum;  /* of the terms; else their sum */
};

/* By enum mc_formulation. */
extern const struct mc_form mc_forms[];

/* A formulation for k classes. */
struct mc_shape {
    const struct mc_form *form;
    size_t k;
    double margin; /* M; 1 for absolute margins */
    double kappa;
};

/* The shape for k >= 2 classes; margin is M, and used by formulations with relative margins only.
 * kappa is that of theta = kappa (sum of the others - own) + lambda, lambda that of sum alpha. */
struct mc_shape mc_shape(enum mc_formulation formulation, size_t k, double margin);

/* True if a row of class y has a term for class c. */
bool mc_is_term(const struct mc_shape *shape, size_t y, size_t c);

/* u (k) = 1 - m_c at the scores s (k) of a row of class y, for terms and others alike: the
 * derivative of the dual by alpha_c. */
void mc_slacks(const struct mc_shape *shape, size_t y, const double *s, double *u);

/* The loss of a row of class y with scores s (k). */
double mc_loss(const struct mc_shape *shape, size_t y, const double *s);

/* The same at scores theta s; *slope: its derivative by theta, that of the largest term where they
 * are joined by their maximum. */
double mc_loss_along(const struct mc_shape *shape, size_t y, const double *s, double theta,
                     double *slope);

/* The largest sum of alpha of a row, over its cost: terms, or 1 for a maximum. A row with x = 0
 * adds its cost times that to the primal and, at the optimum, to the dual. */
double mc_most(const struct mc_shape *shape);

/* alpha (k) = a vertex of a row's dual set that is best for scores s: the subgradient's. */
void mc_vertex(const struct mc_shape *shape, size_t y, double cost, const double *s, double *alpha);

/* u (k) of alpha (k), whose entries that are no terms are 0; without taking off the mean. */
void mc_coefficients(const struct mc_shape *shape, size_t y, const double *alpha, double *u);

/* The same with the mean taken off where the form is centred. */
void mc_centred_coefficients(const struct mc_shape *shape, size_t y, const double *alpha,
                             double *u);

#endif
