/* State shared by block.c and block_exact.c; private to them. */
#ifndef FAMILIES_ML_SOLVER_BLOCK_PRIVATE_H
#define FAMILIES_ML_SOLVER_BLOCK_PRIVATE_H

#include "families/ml/solver/block.h"
#include "families/ml/solver/sort.h"

#include <stdbool.h>
#include <stdint.h>

/* A subproblem of the hinge block: relevant labels p_first..p_end and others r_first..r_end, in
 * descending order. Their values are known to lie above n_below relevant labels and below n_above
 * others. */
struct subproblem {
    uint32_t p_first, p_end, r_first, r_end;
    uint32_t n_above, n_below;
};

/* Others by value, in bins of equal width (see solve_hinge_binned in block_exact.c). */
enum { ML_BINS = 1024 };
struct bin {
    uint32_t above;   /* others in this bin and above */
    uint32_t below;   /* relevant labels whose final value is below this bin for certain */
    uint32_t certain; /* others in this bin and above whose bins are closed */
    bool open;        /* a relevant label's final value may lie in this bin */
};

struct ml_scratch {
    uint32_t q;
    double *u, *v;                  /* (q) scores of relevant labels less 1, and of the others */
    double *sum;                    /* (q) */
    uint32_t *other;                /* (q) labels that are not relevant */
    struct ml_sort *p, *r;          /* (q) labels of pairs that may have a loss, sorted */
    struct ml_sort *merge;          /* (q) */
    struct subproblem *subproblems; /* (q + 1) */
    struct bin *bins;               /* (ML_BINS + 1) */
    uint16_t *bin;                  /* (q) bin of each v */
    void *block;                    /* all arrays */

    /* Newton's method, (q + 1) each: the point; the next point, or the step to it; the system. */
    double *new_u, *new_v, *x, *y, *diagonal, *upper, *right;
    uint32_t *count;
};

/* u (n_relevant) and v (q - n_relevant) of the scratch from s - k beta; beta may be NULL. */
void ml_block_split_scores(const struct ml_block *block, const double *s, double k,
                           const double *beta, struct ml_scratch *w);

/* Lowest u and highest v. */
void ml_block_range(const struct ml_block *block, const struct ml_scratch *w, double *low,
                    double *high);

/* Sorts into w->p and w->r, descending, the labels of pairs that may have a positive loss at u and
 * v. False if there is none. */
bool ml_block_sort(const struct ml_block *block, struct ml_scratch *w, uint32_t *n_p,
                   uint32_t *n_r);

#endif
