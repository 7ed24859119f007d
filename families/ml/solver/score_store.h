/* The scores S = K beta of a problem's rows while single dual blocks change, with one sweep
 * function for linear and other kernels.
 *
 * Linear: W = X'beta is stored by feature, with the labels contiguous. A row's scores, and a change
 * of its block, cost one pass over its features; with many labels a second thread makes both while
 * another row is visited. Kernel: S is stored for all rows, and rows are visited in chunks. Within
 * a chunk, scores follow each step through the chunk's own part of K; all other rows get the steps
 * of a chunk by one matrix product. The scores are the same as after single steps. */
#ifndef FAMILIES_ML_SOLVER_SCORE_STORE_H
#define FAMILIES_ML_SOLVER_SCORE_STORE_H

#include "common/base/error.h"
#include "common/base/random.h"
#include "common/kernel/problem.h"
#include "families/ml/solver/label_sets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A linear row that is visited. */
struct ml_visited {
    struct stored_row row;
    double *s, *change; /* (width) scores; change of the block */
    uint32_t *changed;  /* (n_changed) labels that change */
    size_t n_changed;
};

struct ml_store {
    const struct problem *problem;
    const struct ml_rows *rows;
    size_t width;     /* row length of S, W and beta: q rounded up to whole vectors; padding is 0 */
    double *diagonal; /* (rows->n) k(x, x) */
    double *W;        /* linear: (n_features, width); or NULL */
    float *W_single;  /* the same in float, in place of W; or NULL */
    bool is_zero;     /* no sweep has begun: W and S are 0 */
    double damping;   /* >= 1: multiplies changes of W in distributed steps; else 1 */
    double *S;        /* kernel: (rows->n, width); else NULL */
    uint32_t *index;  /* (rows->n) row numbers in the data, or in the Gram matrix */

    /* the row that is visited; with many labels the other is the row before, then the row after */
    struct ml_visited visited[2];
    double *chunk_s, *chunk_d; /* (CHUNK, width) */
    double *chunk_k;           /* (CHUNK, CHUNK) */
    double *slices;            /* (workers, CHUNK, SLICE) */
    uint32_t *chunk_index;     /* (CHUNK) */
    void *block, *chunk;       /* the arrays of rows and labels; those of chunks */
};

/* Borrows problem and rows. The caller calls ml_store_start, and ml_store_free at the end. */
int ml_store_create(struct ml_store *store, const struct problem *problem,
                    const struct ml_rows *rows, struct error *err);
void ml_store_free(struct ml_store *store);

/* Linear: W = X'beta, beta (rows->n, width), in float if `single`, which halves the time of sweeps,
 * since memory limits them. Not over processes. Kernel: S stays as it is. beta NULL: W or S becomes
 * 0. All processes. */
int ml_store_start(struct ml_store *store, const double *beta, bool single, struct error *err);

/* Operations of a sweep over all rows without `visit` (fit/work.h). */
double ml_store_work(const struct ml_store *store);

/* Puts the rows order[0..n), ascending on entry, into a random order that is good for visits. */
void ml_store_order(const struct ml_store *store, uint32_t *order, size_t n, struct random *random);

/* Visits the rows order[0..n) in turn; with a kernel chunk after chunk, in a random order within
 * each. visit gets the row's scores s (width); it returns false, or writes the change of the row's
 * block to change (width). Results do not depend on the number of threads. -1 if a block of the
 * kernel matrix cannot be read or memory is short. */
int ml_store_sweep(struct ml_store *store, const uint32_t *order, size_t n,
                   bool (*visit)(void *context, size_t i, const double *s, double *change),
                   void *context, struct random *random, struct error *err);

/* Writes the scores s (width) of row i. Thread-safe. */
void ml_store_scores(const struct ml_store *store, size_t i, double *s);

/* Multiplies all scores by factor. */
void ml_store_scale(struct ml_store *store, double factor);

/* Linear: out (n_features, stride) = X'beta, beta (rows->n, width); q <= stride. All processes. */
void ml_store_adjoint(const struct ml_store *store, const double *beta, size_t stride, double *out);

#endif
