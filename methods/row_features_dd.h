/* Few rows as features of their own: those of linear problems, or the rows of a factor of the
 * kernel matrix, K = F F', without what all rows of a group have in common, for adding a number to
 * a feature of a group's rows changes no margin.
 *
 * Where kernel values are so large that coefficients of a dual point cancel in them, double has no
 * digit of what remains: the matrix is then evaluated, centred and factored in double-double, and
 * only its factor rounded. */
#ifndef METHODS_ROW_FEATURES_DD_H
#define METHODS_ROW_FEATURES_DD_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "fit/score_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most rows of a factor, for most callers: a step of an interior point with it then takes some
 * seconds. */
enum { ROW_FEATURES_MOST = 2048 };

/* Groups of rows that are centred, each by itself: row[start[g]] ... row[start[g + 1] - 1]. */
struct row_groups {
    size_t n;
    const size_t *start;
    const uint32_t *row;
};

struct row_features {
    size_t n, m;              /* scores, features */
    bool own;                 /* they are the problem's */
    double *F;                /* (n, m), the mean of each group 0 */
    double *low;              /* (m, m) what F lacks at the pivots; NULL: not known */
    uint32_t *pivot;          /* (n) rows of F that make a triangle, the first m; NULL: own */
    struct row_groups groups; /* that are centred */
};

/* Whether n rows of the map are no more than `most`, and their own features few enough to be held
 * densely. */
bool row_features_fits(const struct score_map *map, size_t n, size_t most);

/* Whether they would be the problem's own features, of linear problems with no more than rows. */
bool row_features_own(const struct score_map *map);

/* Of map, where it has weights of features, only sizes are used. reach (map->n): of each score, see
 * certify_reach. groups: NULL where scores are not those of
 * rows, but margins of pairs: nothing is centred then, nor evaluated in double-double. *possible is
 * false, and nothing made, where there is no feature, or where the kernel shows to be not positive
 * semidefinite. Borrows the groups' arrays; the caller ends with row_features_free. */
int row_features_create(struct row_features *features, const struct problem *problem,
                        const struct score_map *map, const struct row_groups *groups,
                        const double *reach, bool *possible, struct error *err);
void row_features_free(struct row_features *features);

/* Leaves out the features from the first pivot on whose own length is below `part` of the largest:
 * what remains are those of functions of fewer rows, with smaller coefficients. Not of features of
 * the problem's own. */
void row_features_truncate(struct row_features *features, double part);

/* g (m) = F'b, b (n) double's digits and as many more, in double-double but for its last rounding.
 * rest (m): work. */
void row_features_adjoint(const struct row_features *features, const long double *b, double *rest,
                          double *g);

/* b (n), coefficients of the scores with F'b = w, by back substitution in the pivots' triangle, in
 * double-double and rounded such that little of w is lost; not for features of the problem's own.
 * Fails when memory is short. */
int row_features_coefficients(const struct row_features *features, const double *w, double *b,
                              struct error *err);

#endif
