/* The one door through which every certificate goes: from the coefficients as they will be written
 * and a dual point, both bounds of the optimum, in double and with what rounding may have taken or
 * added (doc/mathematics, "What is certified").
 *
 * All families minimise 1/2 |f|^2 + L(s) over f = (f_1 .. f_k), with s_ic = f_c(x_i) [+ b_c] the
 * scores of n rows and L convex. A dual point makes a function g = (g_1 .. g_k), and D = linear -
 * 1/2 |g|^2 is below the optimum. Here |f|^2, |g|^2 and s are evaluated, with bounds of their
 * error; L and what concerns the dual point's feasibility are the family's, as it alone knows them.
 *
 * Errors are bounded a priori: a sum of m terms is within (m - 1) u of the sum of their magnitudes,
 * which |x'w| <= |x| |w| and |k(x, z)| <= reach(x) reach(z) bound in their turn
 * (kernel_rounding). A product that underflows has an absolute error of CERTIFY_UNDERFLOW besides;
 * the bounds include it. */
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

/* What a product or quotient may be off by where it underflows, at most. */
#define CERTIFY_UNDERFLOW DBL_TRUE_MIN

/* Weights or coefficients: linear (n_features, k), kernel (n, k) by problem row, row-major, and
 * what is added to the scores. Borrowed. */
struct certify_function {
    const double *weights;
    const double *bias;  /* (k); NULL: nothing. With a constant feature of value V it is V times the
                           weights of that feature, linear and kernel, whatever the coefficients sum
                           to; else it is free, and the norm has no part of it */
    const double *error; /* (n) bound of the error in each row's coefficients, summed over outputs;
                            linear: with certify_sum_rounding of their size; NULL: none */
    double norm_error;   /* linear: bound of what else |weights| may be off by */
    const double *exact; /* (n, k) the map's exact scores of weights, within 4 units; NULL: they are
                            computed. Of g with kernels only */
    const double *exact_error; /* (n) what `exact` may be off by besides, of f; NULL: nothing */
    double *scores; /* kernel, of f: (n, k) gets the scores with what is added; NULL: unwanted */
};

/* What a family tells of its loss and of its dual point. */
struct certify_family {
    void *context;
    size_t block; /* rows that `loss` is given at a time; 0: all at once */

    /* The loss of rows first .. first + n with scores s (n, k), each within error[i] of the true
     * one: *value, and *rounding such that the true loss is at most *value + *rounding. */
    int (*loss)(void *context, size_t first, size_t n, const double *s, const double *error,
                double *value, double *rounding, struct error *err);

    double linear;          /* the linear part of D, of a feasible dual point ... */
    double linear_rounding; /* ... which is at most that much less */
    double nothing;         /* the primal of f = 0, with the best bias if it is free */
    double enough;          /* a gap at which rounding is not looked at again, entry by entry; 0: it
                               always is, where what is paid for it is a good part of the gap */
    bool lengthen;          /* certificate.length is wanted */
};

struct certificate {
    double primal, dual; /* rounding is paid for: dual <= optimum <= primal */
    double norm;         /* |f| */
    double nothing;      /* the family's */
    double paid;         /* for rounding, in both */
    double lost;    /* to rounding besides, as far as the engine can tell: 0, or what it adds */
    double slack;   /* bound of the error of the scores */
    bool certified; /* false: the kernel is not known to be positive semidefinite, and its
                       matrix over the problem's rows is not; dual then says nothing. Or one of
                       the bounds is false: */
    enum stop_reason failed; /* why, STOP_CROSSED or STOP_INFINITE; else 0 */
    double gap; /* (primal - dual) / primal, or of a tiny part of nothing if that is more; 0 if the
                   bounds contradict each other, for no solver can then come closer */
    double length; /* f so many times as long, with what is added to it, would have a much smaller
                       gap, as far as its scores here tell; 1: none, or not wanted */
    bool flat;     /* the scores of all rows are equal, up to rounding */
    bool worse;    /* f = 0 has a lower primal: that is `primal` here, and the family's to take */
};

/* Sets the gap from the two bounds, after a change of either. Both include their rounding-error
 * bounds, so if the dual bound is above the primal bound, one of them is false: then, and if the
 * primal bound is not finite, `failed` is set and `certified` becomes false. */
void certify_compare(struct certificate *certificate);

/* Gives the certificate the other's dual bound, of the same problem, if that is the higher; and
 * what its primal is above the other's before rounding is lost, if that is the more. */
void certify_join(struct certificate *certificate, const struct certificate *other);

/* Adds the bounds of a problem to those of a sum of problems, rounded outwards. */
void certify_add(struct certificate *sum, double primal, double dual,
                 const struct certificate *certificate);

/* What a solution of a sum of problems says of itself, from the sum of their certificates. What
 * they said of themselves stands, unless their sums come to a gap of epsilon, or a bound has
 * failed. convex: false if the primal is that of a problem that is not, of which dual is a lower
 * bound that no solution need come near. */
void certify_sum(const struct certificate *sum, bool convex, double epsilon,
                 struct solution *solution);

/* The reason that is true of a fit that ended early: rounding is blamed only where more than half
 * of the gap was paid for it. */
enum stop_reason certify_reason(const struct certificate *certificate, enum stop_reason reason);

/* What the solution says of itself: bounds, gap, whether they are certified, whether the gap is
 * reached, and if not, the reason: `reason`, or that the kernel is indefinite. */
void certify_conclude(const struct certificate *certificate, double epsilon,
                      enum stop_reason reason, struct solution *solution);

/* What the solution says of f = 0 where there is no time for more: the primal is `nothing`, and no
 * objective is below 0 where the kernel is positive semidefinite, which it is only if that is known
 * of all its kind. The weights are the caller's. */
void certify_nothing(const struct problem *problem, double nothing, struct solution *solution);

/* A sum of products of two numbers, all at least 0, that is never too small: exact where all of it
 * is, else raised by what rounding may have lost. For `nothing`. */
struct certify_total {
    double sum;
    size_t n;
    bool rounded;
};
void certify_total_add(struct certify_total *total, double a, double b);

/* The total over ranks, each of which has summed its own. All ranks. */
void certify_total_join(struct certify_total *total, struct cluster *cluster);

/* factor times the sum. */
double certify_total_times(const struct certify_total *total, double factor);

/* A problem made ready. */
struct certify;

/* From the rows of a problem, whose map is given, and a constant feature of value `constant` (0:
 * none). Borrows both. The caller frees. */
int certify_create(struct certify **certify, const struct problem *problem,
                   const struct score_map *map, double constant, struct error *err);
void certify_free(struct certify *certify);

/* Two rows of the problem. */
struct certify_pair {
    uint32_t one, other;
};

/* Takes the map's rows for features of pairs of rows (map->n): |k_p(p, q)| <= reach_p reach_q,
 * evaluated to within factor reach_p reach_q. reach (map->n) and pair are owned by certify,
 * allocated with memory_array. */
void certify_pairs(struct certify *certify, double *reach, double factor,
                   struct certify_pair *pair);

/* The factor of pairs is another one from now on. */
void certify_refine(struct certify *certify, double factor);

/* An evaluation in double-double, which is made where a gap asks for it, may take that many
 * nanoseconds of one thread, by count, if that is more than the 6e9 that it may take anyway. */
void certify_allow(struct certify *certify, double nanoseconds);

/* Whether the kernel matrix over all rows of the problem is positive semidefinite, as far as that
 * can be told: looked at once, at the cost of factorising it if the kind of kernel does not say.
 * Fits with one that is not are not certified. Returns -1 with err set when memory is short. */
int certify_definite(struct certify *certify, bool *definite, struct error *err);

/* The factor of the rows, or of pairs where these are taken for them. */
double certify_factor(const struct certify *certify);

/* reach (n): sqrt(k(x_i, x_i) + constant^2) or more, see kernel_reach. */
const double *certify_reach(struct certify *certify);

/* A bound of all |scores| of f without its bias: linear from the magnitudes of weights and values,
 * kernel norm times the largest reach, for |f| <= norm. */
int certify_largest_score(const struct certify *certify, size_t k, const struct certify_function *f,
                          double norm, double *largest, struct error *err);

/* What a sum of m coefficients times rows, in double, adds to the error of each coefficient, over
 * its size. */
double certify_sum_rounding(size_t m);

/* Both bounds, of the primal point f and the dual point g (NULL: the same function as f), k outputs
 * each. Of a problem whose rows are spread over ranks, `loss`, `error` and scores are of this
 * rank's rows, all else of all of them. All ranks. Fails for lack of memory, and where scores
 * overflow. */
int certify_bounds(struct certify *certify, size_t k, const struct certify_function *f,
                   const struct certify_function *g, const struct certify_family *family,
                   struct certificate *certificate, struct error *err);

#endif
