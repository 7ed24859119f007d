/* Dense features of the rows of small problems: the problem's own features if it is linear with at
 * most as many features as rows, else the rows of a pivoted Cholesky factor of the kernel matrix, K
 * = F F'. Features are centred within groups of rows, since adding a constant to a feature of all
 * rows of a group changes no margin.
 *
 * If kernel values are so large that a dual point's coefficients cancel in them to the last digit
 * of double, the matrix is evaluated, centred and factored in double-double, and only the factor is
 * rounded. Cost: O(n^2 m) for n rows and m features. */
#ifndef METHODS_ROW_FEATURES_DD_H
#define METHODS_ROW_FEATURES_DD_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "fit/score_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The usual limit of rows of a factor: an iteration of an interior-point method with it then takes
 * some seconds. */
enum { MAX_FACTOR_ROWS = 2048 };

/* Groups of rows, each centred separately: row[start[g]] ... row[start[g + 1] - 1]. */
struct row_groups {
    size_t n;
    const size_t *start;
    const uint32_t *row;
};

struct row_features {
    size_t n, m;     /* scores, features */
    bool own;        /* they are the problem's own features */
    double *F;       /* (n, m), centred within each group */
    double *low;     /* (m, m) low parts of F's entries at the pivots (double-double); NULL: none */
    uint32_t *pivot; /* (n) the first m are the rows of a triangle in F; NULL: own features */
    struct row_groups groups;
};

/* Whether n, the number of rows, is at most `most`, and dense features of the rows fit into
 * memory. */
bool row_features_fits(const struct score_map *map, size_t n, size_t most);

/* Whether the problem's own features are used: linear problems with at most as many features as
 * rows. */
bool row_features_are_own(const struct score_map *map);

/* Computes the features. norm_bound (map->n): norm bound of each score, see certify_norm_bounds.
 * groups: NULL if scores are margins of pairs, not of rows; features are then neither centred nor
 * evaluated in double-double. *possible is false, and nothing is allocated, if there is no feature
 * or the kernel matrix is not positive semidefinite. Borrows the groups' arrays; the caller ends
 * with row_features_free. Returns -1 with err set when memory is short. */
int row_features_create(struct row_features *features, const struct problem *problem,
                        const struct score_map *map, const struct row_groups *groups,
                        const double *norm_bound, bool *possible, struct error *err);
void row_features_free(struct row_features *features);

/* Removes the features from the first pivot on whose diagonal entry is below the fraction `part` of
 * the largest. The rest belong to functions of fewer rows, with smaller coefficients. Not for own
 * features. */
void row_features_truncate(struct row_features *features, double part);

/* g (m) = F'b for b (n) of up to twice the digits of double, in double-double with a final
 * rounding. rest (m): work. */
void row_features_adjoint(const struct row_features *features, const long double *b, double *rest,
                          double *g);

/* b (n): coefficients of the scores with F'b = w, by back substitution in the pivots' triangle in
 * double-double, rounded such that F'b stays close to w. Not for own features. Returns -1 with err
 * set when memory is short. */
int row_features_coefficients(const struct row_features *features, const double *w, double *b,
                              struct error *err);

#endif
