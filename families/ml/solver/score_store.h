/* The scores of a multi-label problem's rows while their dual blocks change one by one:
 * S = K beta, behind one sweep, for both kinds of problems.
 *
 * Linear: W = X'beta is at hand, feature by feature with the labels side by side; a row's scores
 * and a change of its block take a pass over its features. Kernel: S is at hand for all rows, and
 * rows are visited in chunks: within a chunk scores follow every step through the chunk's own part
 * of K, for all other rows the steps of a chunk are added up and applied by one matrix product,
 * which gives the same scores as step by step. */
#ifndef FAMILIES_ML_SOLVER_SCORE_STORE_H
#define FAMILIES_ML_SOLVER_SCORE_STORE_H

#include "common/base/error.h"
#include "common/base/random.h"
#include "common/kernel/problem.h"
#include "families/ml/solver/label_sets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ml_store {
    const struct problem *problem;
    const struct ml_rows *rows;
    size_t width;     /* of rows of S, W and beta: q, rounded up to whole vectors; padding is 0 */
    double *diagonal; /* (rows->n) k(x, x) */
    double *W;        /* linear: (n_features, width); else NULL */
    double factor;    /* what changes do to W; 1 but in rounds of ranks */
    double *S;        /* kernel: (rows->n, width); else NULL */
    uint32_t *index;  /* (rows->n) rows of the data, or of the gram */

    double *s, *change;        /* (width) of the row at hand */
    uint32_t *changed;         /* (width) its labels that change */
    double *chunk_s, *chunk_d; /* (CHUNK, width) */
    double *chunk_k;           /* (CHUNK, CHUNK) */
    double *slices;            /* (workers, CHUNK, SLICE) */
    uint32_t *chunk_index;     /* (CHUNK) */
};

/* Starts at beta = 0. Borrows problem and rows. The caller calls ml_store_free. */
int ml_store_create(struct ml_store *store, const struct problem *problem,
                    const struct ml_rows *rows, struct error *err);
void ml_store_free(struct ml_store *store);

/* Operations of a sweep over all rows, without what `visit` does; those of matrix products count a
 * few for one. */
double ml_store_work(const struct ml_store *store);

/* Puts the rows order[0..n), given in ascending order, into the order in which they are best
 * visited, at random. */
void ml_store_order(const struct ml_store *store, uint32_t *order, size_t n, struct random *random);

/* Visits the rows order[0..n) one after the other: visit gets the row's scores s (width) and either
 * returns false, or puts into change (width) what its block has changed by. */
int ml_store_sweep(struct ml_store *store, const uint32_t *order, size_t n,
                   bool (*visit)(void *context, size_t i, const double *s, double *change),
                   void *context, struct random *random, struct error *err);

/* Writes the scores s (width) of row i. Any number of threads may ask at once. */
void ml_store_scores(const struct ml_store *store, size_t i, double *s);

/* All scores times factor. */
void ml_store_scale(struct ml_store *store, double factor);

/* Linear: W anew from beta (rows->n, width) of all ranks, which all call it. */
void ml_store_rebuild(struct ml_store *store, const double *beta);

#endif
