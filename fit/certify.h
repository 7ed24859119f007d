/* The certificate: a lower and an upper bound on the optimum, rounding errors included, computed
 * from the coefficients as they will be written and from a dual point (doc/mathematics, "What is
 * certified"). All claimed gaps come from here.
 *
 * All families minimise 1/2 |f|^2 + L(s) over f = (f_1 .. f_k), with s_ic = f_c(x_i) [+ b_c] the
 * scores of n rows and L convex. A dual point defines a function g = (g_1 .. g_k), and D = linear -
 * 1/2 |g|^2 is a lower bound on the optimum. This module evaluates |f|^2, |g|^2 and s with bounds
 * of their errors. The family evaluates L and makes the dual point feasible.
 *
 * Errors are bounded a priori. A sum of m terms has an error of at most (m - 1) u times the sum of
 * their magnitudes, which is bounded by |x'w| <= |x| |w| and |k(x, z)| <= norm_bound(x)
 * norm_bound(z), where norm_bound(x) is sqrt(k(x, x)) or more (kernel_rounding). A
 * product that underflows has an absolute error of at most CERTIFY_UNDERFLOW in addition, which the
 * bounds include.
 *
 * Cost: one product of the kernel matrix, or of the data, with the coefficients of f and g. A
 * product in double-double follows only if rounding errors are a tenth of the gap or more. */
#ifndef FIT_CERTIFY_H
#define FIT_CERTIFY_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "fit/score_map.h"
#include "fit/solution.h"

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest absolute error of a product or quotient that underflows. */
#define CERTIFY_UNDERFLOW DBL_TRUE_MIN

/* A function: its weights (linear: (n_features, k)) or coefficients (kernel: (n, k) by problem
 * row), row-major, and its bias. Borrowed. */
struct certify_function {
    const double *weights;
    /* kernels, for f only, with a g of its own: rows that have the coefficients weights
     * (points->n_rows, k) in place of the problem's rows; `error` and `exact` are then NULL. NULL:
     * none */
    const struct data *points;
    const double *bias; /* (k) added to the scores; NULL: none. With a constant feature of value V,
                           linear or kernel, it is V times the weights of that feature, regardless
                           of the sum of the coefficients. Otherwise the bias is free and no part of
                           the norm */
    /* (n) bounds of the errors of each row's coefficients, summed over outputs; linear: plus
     * certify_coefficient_rounding of their size; NULL: no errors */
    const double *error;
    double norm_error;   /* linear: bound of any other error of |weights| */
    const double *exact; /* (n, k) the map's exact scores of weights, within 4 units of rounding;
                            NULL: they are computed. For g with kernels only */
};

/* The loss and the dual point of a family. */
struct certify_family {
    void *context;
    size_t block; /* rows per call of `loss`; 0: all at once */

    /* Computes the loss of rows first .. first + n with scores s (n, k), whose errors are at most
     * error[i]: *value, and *rounding such that the true loss is at most *value + *rounding. */
    int (*loss)(void *context, size_t first, size_t n, const double *s, const double *error,
                double *value, double *rounding, struct error *err);

    double linear;          /* the linear part of D at a feasible dual point */
    double linear_rounding; /* bound of its error */
    double zero_primal;     /* the primal of the zero solution f = 0, with the best free bias */
    /* Sharper rounding-error bounds are tried if the gap is larger and rounding is a large part of
     * it; 0: whenever that is so. */
    double target_gap;
    bool compute_scaling; /* compute certificate.scaling */
};

struct certificate {
    double primal, dual;    /* dual <= optimum <= primal, rounding errors included */
    double norm;            /* |f| */
    double zero_primal;     /* primal of the zero solution, from the family */
    double rounding;        /* rounding-error bounds that primal and dual include, summed */
    double solver_rounding; /* the solver's estimate of a further loss of the primal to rounding */
    double score_error;     /* bound of the error of the scores */
    /* false: the kernel matrix over the problem's rows is not positive semidefinite, and dual has
     * no meaning; or one of the bounds is false, see `failed` */
    bool certified;
    enum stop_reason failed; /* STOP_CONTRADICTORY or STOP_INFINITE if a bound is false; else 0 */
    /* (primal - dual) / primal, with a tiny fraction of zero_primal as the least denominator; 0 if
     * the bounds contradict each other, since no solver can then get closer */
    double gap;
    /* primal scaling factor: f times this has a much smaller gap, by the scores computed here; 1:
     * there is none, or it was not computed */
    double scaling;
    bool constant_scores; /* the scores are constant over all rows, up to rounding */
    bool zero_is_better; /* f = 0 has a lower primal, which `primal` is: return the zero solution */
};

/* Sets the gap from the two bounds after a change of either. Both include their rounding-error
 * bounds. So if the dual bound is above the primal bound, one of them is false: then, and if the
 * primal bound is not finite, `failed` is set and `certified` becomes false. */
void certify_compare(struct certificate *certificate);

/* Takes the dual bound of another certificate of the same problem if it is certified and higher.
 * Also raises `solver_rounding` to the excess of the lower primal over the other's primal less its
 * `solver_rounding`. */
void certify_take_better_dual(struct certificate *certificate, const struct certificate *other);

/* Adds the bounds of one problem to those of a sum of problems, rounded outwards. */
void certify_add(struct certificate *sum, double primal, double dual,
                 const struct certificate *certificate);

/* Sets the bounds and the stop reason of a solution of a sum of problems from the sum of their
 * certificates. The reason stays unless the sums have a gap of at most epsilon or a bound is false.
 * convex: false if the problem is not convex, and dual only a lower bound that no solution need
 * approach. */
void certify_sum(const struct certificate *sum, bool convex, double epsilon,
                 struct solution *solution);

/* The stop reason of a fit that ended early: `reason`, but STOP_STALLED in place of rounding where
 * rounding-error bounds are less than half of the gap. */
enum stop_reason certify_reason(const struct certificate *certificate, enum stop_reason reason);

/* Sets the bounds, the gap, `certified`, `converged` and the stop reason of the solution: `reason`,
 * or that the kernel is indefinite or a bound false. */
void certify_conclude(const struct certificate *certificate, double epsilon,
                      enum stop_reason reason, struct solution *solution);

/* The solution f = 0 of a fit that has no time left: the primal is `zero_primal`, and the dual
 * bound 0 if all kernels of this kind are positive semidefinite. Allocates the n_weights weights of
 * all outputs, unless the solution has pairs, and if `biased` a bias for each output. The caller
 * calls solution_free; a failure frees all that the solution had. */
int certify_zero_solution(const struct problem *problem, double zero_primal, size_t n_weights,
                          size_t n_outputs, bool biased, struct solution *solution,
                          struct error *err);

/* A sum of products of two nonnegative numbers, rounded upwards: exact if all operations are, else
 * raised by its rounding-error bound. For the primal of the zero solution. */
struct certify_total {
    double sum;
    size_t n;
    bool rounded;
};
void certify_total_add(struct certify_total *total, double a, double b);

/* The total over processes. All processes. */
void certify_total_over_processes(struct certify_total *total, struct cluster *cluster);

/* factor times the sum. */
double certify_total_times(const struct certify_total *total, double factor);

/* A problem prepared for certificates. */
struct certify;

/* Prepares the rows of a problem, with its score map and a constant feature of value `constant` (0:
 * none). Borrows both; the caller frees. Fails if kernel values overflow or memory is short. */
int certify_create(struct certify **certify, const struct problem *problem,
                   const struct score_map *map, double constant, struct error *err);
void certify_free(struct certify *certify);

/* Two rows of the problem. */
struct certify_pair {
    uint32_t one, other;
};

/* Declares that the map's rows are features of pairs of rows (map->n): |k_p(p, q)| <= norm_bound_p
 * norm_bound_q, with errors of at most `factor` times that. Takes ownership of norm_bound (map->n)
 * and pair, which were allocated with memory_array. */
void certify_pairs(struct certify *certify, double *norm_bound, double factor,
                   struct certify_pair *pair);

/* Replaces the error factor of pairs. */
void certify_set_pair_factor(struct certify *certify, double factor);

/* Raises the work limit of evaluations in double-double to so many nanoseconds of one thread, by
 * operation counts. The limit is at least 6e9. */
void certify_raise_work_limit(struct certify *certify, double nanoseconds);

/* *definite: whether the kernel matrix over all rows of the problem is positive semidefinite, as
 * far as the check can tell. It is factorised once, unless the kind of kernel decides. Fits with an
 * indefinite matrix are not certified. Returns -1 with err set when memory is short. */
int certify_definite(struct certify *certify, bool *definite, struct error *err);

/* The error factor of a product of two rows, or of two pairs after certify_pairs. */
double certify_error_factor(const struct certify *certify);

/* Norm bounds (n): sqrt(k(x_i, x_i) + constant^2) or more, see kernel_norm_bounds. */
const double *certify_norm_bounds(struct certify *certify);

/* *largest: an upper bound of all |scores| of f without its bias. Linear: from the magnitudes of
 * weights and values; kernel: from f's `exact` scores and their error bounds. */
int certify_score_bound(const struct certify *certify, size_t k, const struct certify_function *f,
                        double *largest, struct error *err);

/* The relative error that a sum of m coefficients times rows, in double, adds to each
 * coefficient. */
double certify_coefficient_rounding(size_t m);

/* Computes both bounds, of the primal point f and the dual point g (NULL: the same function as f),
 * with k outputs each. If rows are distributed over processes, `loss`, `error` and scores concern
 * the rows of this process, and everything else all rows; all processes call it. Fails if memory is
 * short or scores overflow. */
int certify_bounds(struct certify *certify, size_t k, const struct certify_function *f,
                   const struct certify_function *g, const struct certify_family *family,
                   struct certificate *certificate, struct error *err);

#endif
