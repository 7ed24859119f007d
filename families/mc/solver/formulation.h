/* The formulations of multi-class SVMs, as one family (Dogan, Glasmachers & Igel, "A unified view
 * on multi-class support vector classification", JMLR 2016):
 *   min 1/2 |W|^2 + sum_i C_i L(y_i, s_i),   s_i = W'x_i in R^k,
 * where L is the sum or the maximum of max(0, 1 - m_c) over the *terms* c of a row, and the margin
 * m_c is relative, M (s_y - s_c), or absolute, sigma_c (s_c - mean s) with sigma_y = 1 and the
 * other sigma = -1 (the mean is what remains of the constraint sum_c w_c = 0; ova has none).
 *
 * Dual: max sum alpha - 1/2 |W(alpha)|^2 with a row's alpha in the box [0, C_i]^terms (sum) or the
 * simplex alpha >= 0, sum alpha <= C_i (maximum), and W = sum_i x_i u(alpha_i)', where
 *   relative: u_c = -M alpha_c, u_y = M sum alpha;
 *   absolute: u_c = sigma_c alpha_c, less the mean of u over the classes (not for ova).
 * For a step delta of one row |u(delta)|^2 = M^2 (|delta|^2 + kappa (sigma'delta)^2) with
 * kappa = 1, -1/k, 0 (relative, absolute, ova). This is a diagonal plus a rank-one matrix, so the
 * exact minimisation over one row's alpha is a root search in one number (row_step_real.h). */
#ifndef FAMILIES_MC_SOLVER_FORMULATION_H
#define FAMILIES_MC_SOLVER_FORMULATION_H

#include <stdbool.h>
#include <stddef.h>

/* Weston-Watkins; Crammer-Singer; Lee-Lin-Wahba; absolute margins with discriminative maximum,
 * total maximum and total sum; multi-class maximum margin regression; one versus all. */
enum mc_formulation { MC_WW, MC_CS, MC_LLW, MC_ADM, MC_ATM, MC_ATS, MC_MMR, MC_OVA };

/* The properties in which the formulations differ. */
struct mc_form {
    const char *name;
    bool relative; /* margins; else absolute */
    bool centred;  /* the mean of a row's scores is taken off */
    bool others;   /* the classes other than the row's have a term */
    bool own;      /* the row's class has a term */
    /* The loss is the maximum of the terms, so a row's dual set is a simplex; else their sum, and a
     * box. */
    bool simplex;
};

/* By enum mc_formulation. */
extern const struct mc_form mc_forms[];

/* A formulation for k classes. */
struct mc_shape {
    const struct mc_form *form;
    size_t k;
    double margin; /* M; 1 for absolute margins */
    double kappa;  /* see above */
};

/* The shape for k >= 2 classes. margin is M; only formulations with relative margins use it. */
struct mc_shape mc_shape(enum mc_formulation formulation, size_t k, double margin);

/* Whether classes have terms of their own, which only the mean of the scores can couple: sums of
 * absolute margins. */
bool mc_is_separable(const struct mc_shape *shape);

/* True if a row of class y has a term for class c. */
bool mc_is_term(const struct mc_shape *shape, size_t y, size_t c);

/* u (k) = the slacks 1 - m_c at the scores s (k) of a row of class y, also of classes that are no
 * terms. u_c is the derivative of the dual by alpha_c. */
void mc_slacks(const struct mc_shape *shape, size_t y, const double *s, double *u);

/* The loss of a row of class y with scores s (k). */
double mc_loss(const struct mc_shape *shape, size_t y, const double *s);

/* The loss at scores theta s. *slope: its derivative by theta; of a maximum, the derivative of the
 * largest term. */
double mc_loss_along(const struct mc_shape *shape, size_t y, const double *s, double theta,
                     double *slope);

/* The largest possible sum of a row's alpha divided by its cost: the number of terms, or 1 for a
 * maximum. A row with x = 0 adds its cost times this to the primal and, at the optimum, to the
 * dual. */
double mc_max_alpha_sum(const struct mc_shape *shape);

/* alpha (k) = the vertex of a row's dual set that maximises the dual's linear part at scores s (k):
 * cost times a subgradient of the loss. */
void mc_vertex(const struct mc_shape *shape, size_t y, double cost, const double *s, double *alpha);

/* u (k) = the coefficients of a row with alpha (k), before the mean is subtracted. Entries of alpha
 * that are no terms are 0. */
void mc_coefficients(const struct mc_shape *shape, size_t y, const double *alpha, double *u);

/* u (k) = the coefficients of a row with alpha (k); the mean is subtracted if the form is
 * centred. */
void mc_centred_coefficients(const struct mc_shape *shape, size_t y, const double *alpha,
                             double *u);

#endif
