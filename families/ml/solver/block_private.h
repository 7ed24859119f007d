/* What block.c and exact.c share; nobody else includes this. */
#ifndef FAMILIES_ML_SOLVER_BLOCK_PRIVATE_H
#define FAMILIES_ML_SOLVER_BLOCK_PRIVATE_H

#include "families/ml/solver/block.h"
#include "families/ml/solver/sort.h"

#include <stdbool.h>
#include <stdint.h>

/* A part of the hinge block: relevant labels p_first..p_end and others r_first..r_end, in
 * descending order, whose values are known to lie above n_below relevant and below n_above others.
 */
struct subproblem {
    uint32_t p_first, p_end, r_first, r_end;
    uint32_t n_above, n_below;
};

/* Others by their values, in bins of one width (see sieve in exact.c). */
enum { ML_BINS = 1024 };
struct bin {
    uint32_t above;   /* others in it and in those above */
    uint32_t below;   /* relevant labels that end below all of it for certain */
    uint32_t certain; /* others in bins that are not open, in it and in those above */
    bool open;        /* it may end up on either side of a relevant label, or level with it */
};

struct ml_scratch {
    uint32_t q;
    double *u, *v;         /* (q) scores of relevant labels less 1, and of the others */
    double *sum;           /* (q) */
    uint32_t *other;       /* (q) labels that are not relevant */
    struct ml_sort *p, *r; /* (q) those that take part, sorted */
    struct ml_sort *merge; /* (q) */
    struct subproblem *subproblems;    /* (q + 1) */
    struct bin *bins;      /* (ML_BINS + 1) */
    uint16_t *bin;         /* (q) of each v */

    /* of Newton's method, (q + 1): the point, the next one or the way to it, the system */
    double *new_u, *new_v, *x, *y, *diagonal, *upper, *right;
    uint32_t *count;
};

/* u (n_relevant) and v (q - n_relevant) of the scratch from s - k beta (beta may be NULL). */
void ml_block_split_scores(const struct ml_block *block, const double *s, double k, const double *beta,
                     struct ml_scratch *w);

/* The lowest u and the highest v. */
void ml_block_range(const struct ml_block *block, const struct ml_scratch *w, double *low,
                    double *high);

/* Sorts into w->p and w->r, descending, the labels that a pair with positive loss may have at u and
 * v; false if there is none. */
bool ml_block_sort(const struct ml_block *block, struct ml_scratch *w, uint32_t *n_p,
                   uint32_t *n_r);

#endif
