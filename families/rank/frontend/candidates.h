/* Scores, ranks and measures of the candidates of features (max_marginals.h). */
#ifndef FAMILIES_RANK_FRONTEND_CANDIDATES_H
#define FAMILIES_RANK_FRONTEND_CANDIDATES_H

#include "families/rank/frontend/max_marginals.h"
#include "families/rank/frontend/targets.h"

#include <stdbool.h>

/* scaled (n) gets the MS/MS scores ms (n) divided by the mean, over the features with two different
 * scores, of the standard deviation of a feature's scores. A score that is not finite is replaced
 * by the lowest finite one of its feature, 0 if there is none, and does not count in the
 * deviation. */
void candidates_scale(const struct candidates *candidates, const double *ms, double *scaled);

/* term (n) gets the logarithm of the likelihood of the measured time, for normal errors cut off at
 * two standard deviations, up to a constant: -min(z^2 / 2, 2), z = (time - m(f)) / sigma, with the
 * map m to minutes of the feature's run, whose interval of 90% has the half width 1.645 sigma; 0
 * where the run has no map or the feature no time. map: by run; NULL where there is none. Returns
 * the number of features with a term. */
size_t candidates_time_terms(const struct candidates *candidates,
                             const struct target_map *const *map, double *term);

/* rank (n) gets the mid-ranks of all candidates within their features, the largest score first: 1 +
 * the number of larger scores + half the number of other equal ones. best (n; NULL: not wanted)
 * gets whether a candidate is among the n_best first of its feature, those with equal scores in
 * ascending order of their numbers. -1 if memory runs out. */
int candidates_ranks(const struct candidates *candidates, const double *score, double *rank,
                     size_t n_best, bool *best, struct error *err);

/* ---- right candidates ---- */

/* Features whose right candidate is known. */
struct known_features {
    uint32_t *feature; /* (n) */
    size_t *candidate; /* (n) the right one; SIZE_MAX: it is not among the candidates */
    size_t n;
};

/* Shares of features whose right candidate has rank <= K, for K = 1, 5, 10, 20, and the mean of
 * 1 / rank. A right candidate that is missing has rank infinity. */
enum { CANDIDATE_TOPS = 4 };
struct candidate_measures {
    double top[CANDIDATE_TOPS], mrr;
};
extern const double candidate_tops[CANDIDATE_TOPS];

/* reciprocal (known->n) gets 1 / rank of the right candidates by the scores. */
void candidates_reciprocal_ranks(const struct candidates *candidates,
                                 const struct known_features *known, const double *score,
                                 double *reciprocal);

/* The measures of n reciprocal ranks. */
struct candidate_measures candidates_measure(const double *reciprocal, size_t n);

/* The point with the largest mean reciprocal rank, the first of several; reciprocal: (points, n)
 * row-major. left_out (n), if it is not NULL, gets for each feature its reciprocal rank at the
 * point that is chosen without it: leave-one-feature-out. */
size_t candidates_choose(const double *reciprocal, size_t points, size_t n, double *left_out);

#endif
