/* Measures of the places that relevant rows get in one group: what of metrics.h looks at the
 * beginning of an order. Where rows have equal scores, they are expected over all orders of these
 * rows. */
#ifndef FAMILIES_RANK_PLACES_H
#define FAMILIES_RANK_PLACES_H

#include "families/rank/metrics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row of a group. */
struct metrics_row {
    uint64_t query;
    double target, score;
    double target_rank; /* average rank within the group, from 1 */
};

/* Whether one of the rows counts as relevant; false where nothing says which do. */
bool places_relevant(const struct metrics_row *rows, size_t n,
                     const struct metrics_settings *settings, bool graded);

/* Both fill value (METRICS_CUTS + n_cuts) of a group of n rows, NaN where there is no value: the
 * first from rows sorted by target, the second then from rows sorted by score, both ascending. */
void places_begin(const struct metrics_row *rows, size_t n, const struct metrics_settings *settings,
                  bool graded, double *value);
void places_end(const struct metrics_row *rows, size_t n, const struct metrics_settings *settings,
                bool graded, double *value);

#endif
