/* Few rows as features of their own: those of linear problems, or the rows of a factor of the
 * kernel matrix, K = F F', without what all rows of a group have in common, for adding a number to
 * a feature of a group's rows changes no margin.
 *
 * Where kernel values are so large that coefficients of a dual point cancel in them, double has no
 * digit of what remains: the matrix is then evaluated, centred and factored in double-double, and
 * only its factor rounded. */
#ifndef SOLVERS_RANK_FEATURES_H
#define SOLVERS_RANK_FEATURES_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "solvers/methods/score_map.h"
#include "solvers/rank/pairs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rank_features {
    size_t n, m;                    /* scores, features */
    bool own;                       /* they are the problem's */
    double *F;                      /* (n, m), the mean of each group 0 */
    uint32_t *pivot;                /* (n) rows of F that make a triangle, the first m; NULL: own */
    const struct rank_pairs *pairs; /* whose groups are centred; NULL: none */
};

/* reach (map->n): of each score, see certify_reach. pairs: NULL where scores are margins of pairs,
 * and nothing is centred. *possible is false, and nothing made, where there is no feature, or
 * where the kernel shows to be not positive semidefinite. Borrows pairs; the caller ends with
 * rank_features_free. */
int rank_features_create(struct rank_features *features, const struct problem *problem,
                         const struct score_map *map, const struct rank_pairs *pairs,
                         const double *reach, bool *possible, struct error *err);
void rank_features_free(struct rank_features *features);

/* b (n), coefficients of the scores with F'b = w, by back substitution in the pivots' triangle;
 * not for features of the problem's own. */
void rank_features_coefficients(const struct rank_features *features, const double *w, double *b);

#endif
