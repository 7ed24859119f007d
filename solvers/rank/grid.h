/* Scores on a grid: whole numbers of a unit so coarse that the engines' sums over the pairs
 * (pairs.h), in double and by all threads, are exact. */
#ifndef SOLVERS_RANK_GRID_H
#define SOLVERS_RANK_GRID_H

#include "common/base/error.h"
#include "solvers/rank/pairs.h"

#include <stdbool.h>
#include <stddef.h>

/* No sum over the pairs of one row is larger, of u = delta - (s_i - s_j) > 0 with delta <= 1 for
 * scores s (n), and of this rank's rows. */
double rank_grid_largest(const struct rank_pairs *pairs, const double *s);

/* The least power of 2 of which such sums are whole numbers below 1 / (2 epsilon), epsilon that of
 * the numbers that add them up; half units are, too. */
double rank_grid_unit(double largest, double epsilon);

/* The multiple of `unit` next to s. */
double rank_grid_round(double s, double unit);

/* Sums at up to two margins. */
struct rank_grid {
    struct rank_pairs *pairs; /* borrowed */
    double *x;                /* (n) scores less their group's middle */
    struct rank_grid_margin {
        double delta, *count, *moment; /* (n), as rank_pairs_sums has them */
        double *active;                /* (n_groups) */
    } at[2];
    double *room; /* of the arrays */
};

/* Takes the scores s (n) to the grid, each by half a unit at most. The unit is rank_grid_unit's of
 * double, or coarser. The caller calls rank_grid_free, after a failure too. */
int rank_grid_create(struct rank_grid *grid, struct rank_pairs *pairs, const double *s, double unit,
                     struct error *err);
void rank_grid_free(struct rank_grid *grid);

/* The sums at margin delta <= 1, a whole number of units, go to at[margin]. */
void rank_grid_sums(struct rank_grid *grid, size_t margin, double delta);

/* Sums over the active pairs of a group. */
struct rank_grid_totals {
    long double active, first, second; /* of 1, u and u^2 */
};

/* They are within (m + 4) LDBL_EPSILON of their size, the active pairs times that of |u| and the
 * margins, and its square; m rows. moment (m): the sums of u of each of the group's places, as
 * preferred less as not, exact. *size: 1 and what no two of its scores differ by more than. */
struct rank_grid_totals rank_grid_totals(const struct rank_grid *grid, size_t margin, size_t group,
                                         long double *moment, double *size);

#endif
