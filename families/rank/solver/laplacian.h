/* The Laplacian of the active pairs: the curvature of the squared hinge and of the Huber loss. It
 * is applied by sums over score orders and never formed. Cost: O(n log n) for a product with a
 * vector. Or that of the preferences in a smoothed region (multipliers.h): only for
 * rank_laplacian_apply, and vectors that are equal for duplicate rows. */
#ifndef FAMILIES_RANK_SOLVER_LAPLACIAN_H
#define FAMILIES_RANK_SOLVER_LAPLACIAN_H

#include "common/base/error.h"
#include "common/data/data.h"
#include "families/rank/solver/pairs.h"

#include <stddef.h>
#include <stdint.h>

struct rank_multipliers; /* multipliers.h */

/* The Laplacian L of the pairs with margin in [low, high) at scores s: v'Lv = sum over these pairs
 * of weight (v_i - v_j)^2. */
struct rank_laplacian {
    struct rank_pairs *pairs;
    struct rank_scored *order; /* rows of the groups in ascending order of s; of a sample, as is */
    /* for each position in order, the runs [first, end) of partners: [0] rows that it is preferred
     * to, [1] rows that are preferred to it */
    uint32_t *first[2];
    uint32_t *end[2];
    double low, high; /* interval of margins */
    /* if not NULL, L is of the preferences in the smoothed region about a centre, which the caller
     * sets, and there is no interval. Borrowed, set by the caller */
    struct rank_multipliers *multipliers;
    double *degree; /* (n) total weight of the pairs that contain each row */
    void *block;    /* all arrays */
};

/* Allocates. Borrows pairs. The interval is not set yet. -1 if memory is short. The caller calls
 * rank_laplacian_free. */
int rank_laplacian_create(struct rank_laplacian *laplacian, struct rank_pairs *pairs,
                          struct error *err);
void rank_laplacian_free(struct rank_laplacian *laplacian);

/* Sets the interval [delta_low, delta_high) of margins at scores s (n). delta_low = -INFINITY: all
 * active pairs. */
void rank_laplacian_set(struct rank_laplacian *laplacian, const double *s, double delta_low,
                        double delta_high);

/* out (n) = L v, v (n). */
void rank_laplacian_apply(const struct rank_laplacian *laplacian, const double *v, double *out);

/* H (d, d) = X' L X, X the first d features of the problem's rows in `data` (rows[i] is the row of
 * data that is problem row i; NULL: i). The result does not depend on the number of threads. -1 if
 * memory is short. */
int rank_laplacian_gram(const struct rank_laplacian *laplacian, const struct data *data,
                        const uint32_t *rows, size_t d, double *H, struct error *err);

/* diagonal (d): an estimate of the diagonal of X' L X, as if each row were paired with the mean of
 * its group: the sum over rows of degree (x - mean)^2, mean weighted by degree. -1 if memory is
 * short. */
int rank_laplacian_diagonal(const struct rank_laplacian *laplacian, const struct data *data,
                            double *diagonal, struct error *err);

#endif
