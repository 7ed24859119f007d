/* The losses of listed preferences, smoothed about a dual point, for the method of multipliers
 * (Hestenes, "Multiplier and gradient methods", J. Optimization Theory and Applications 4, 1969;
 * Rockafellar, "Monotone operators and the proximal point algorithm", SIAM J. Control and
 * Optimization 14, 1976).
 *
 * The loss of a preference with u = 1 - (s_i - s_j) is the maximum of a u over 0 <= a <= 1, the
 * squared hinge that of a u - q/2 a^2 over a >= 0, q = 1/2. mu/2 (a - centre)^2 is subtracted, so a
 * = (u + mu centre) / (q + mu), clipped. With centre 0 the smoothed hinge is the Huber loss, whose
 * minima approach those of the hinge only as mu goes to 0. Here each centre is the a of the last
 * minimum, and they do so for any mu. The smoothed region, preferences whose a is not clipped, is
 * then those with margin 1 and few others, or of the squared hinge those with a loss. With a small
 * mu and centre 0, or a large C and mu = 0, most steps of Newton's method end where a preference
 * enters the region.
 *
 * Cost of an evaluation: O(listed preferences). */
#ifndef FAMILIES_RANK_SOLVER_MULTIPLIERS_H
#define FAMILIES_RANK_SOLVER_MULTIPLIERS_H

#include "common/base/error.h"
#include "families/rank/solver/listed_pairs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rank_multipliers {
    const struct rank_listed *listed;
    bool squared;     /* the squared hinge; false: the hinge */
    double mu;        /* of the next run */
    double *last;     /* (listed->n_scores) the last iterate of the last run; */
    bool has_run;     /* false: there is none */
    double *centre;   /* (n_hinges) 0 or more; of the hinge at most 1 */
    double *alpha;    /* (n_pairs) the stored dual point; 0 before the first */
    double *s;        /* (listed->n) scores of distinct rows */
    double *sum;      /* (listed->n) work: sums of distinct rows */
    double *a;        /* (listed->n) work: weight times a of a row's preferences */
    uint32_t *region; /* (n_hinges) preferences in the smoothed region, */
    size_t n_region;  /* so many */
    double constant;  /* total weight of the preferences of equal rows, whose loss is 1 */
    void *block;      /* the arrays of doubles */
};

/* The smoothed loss at some scores, without the factor C. */
struct rank_centred_loss {
    double value; /* the smoothed loss */
    double loss;  /* the loss itself */
    double total; /* sum of weight times (a - q/2 a^2): the linear part of the dual */
};

/* Allocates, with centre 0 and this mu. Borrows listed. -1 if memory is short. The caller calls
 * rank_multipliers_free, also then. */
int rank_multipliers_create(struct rank_multipliers *multipliers, const struct rank_listed *listed,
                            bool squared, double mu, struct error *err);
void rank_multipliers_free(struct rank_multipliers *multipliers);

/* Bytes of the multipliers and of the list of so many distinct rows, at most. A proof needs more
 * (rank_listed_points). */
double rank_multipliers_bytes(const struct rank_pairs *pairs, size_t n_distinct);

/* q of the loss; 1 / (q + mu) is the curvature of the smoothed loss in the region. */
double rank_multipliers_curvature(bool squared);

/* The smoothed loss at scores s (listed->n_scores). g, of that size, gets its gradient by scores:
 * of duplicate rows the first has that of all. */
struct rank_centred_loss rank_multipliers_evaluate(struct rank_multipliers *multipliers, double mu,
                                                   const double *s, double *g);

/* centre = a at scores s. */
void rank_multipliers_recentre(struct rank_multipliers *multipliers, double mu, const double *s);

/* alpha = cost times weight times a at scores s; for preferences of equal rows a is 1, or 2 if the
 * hinge is squared. */
void rank_multipliers_store(struct rank_multipliers *multipliers, double mu, double cost,
                            const double *s);

/* Lists the smoothed region at scores s. */
void rank_multipliers_set_region(struct rank_multipliers *multipliers, double mu, const double *s);

/* out = L v, both by scores, L the Laplacian of the preferences in the region; v is equal for
 * duplicate rows. Of these, the first gets the sum of all. */
void rank_multipliers_apply(struct rank_multipliers *multipliers, const double *v, double *out);

#endif
