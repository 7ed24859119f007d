/* From scores to labels, query by query: minutes of a chromatographic system, say. A map is
 * monotone and piecewise linear, fitted to scores of rows that their models have not seen, with
 * intervals that hold 90% of new rows (doc/mathematics.md, "Targets").
 *
 * The scores of a query are sorted and cut into bins of some sqrt(n) rows; the means of bins, made
 * monotone (pool adjacent violators), are the knots, between which the map is linear. The width of
 * the intervals is the conformal quantile of |label - map|, each row being left out of the map that
 * it is compared with. Of fewer than TARGETS_MIN_ROWS rows it is a part of the range of their labels,
 * which is the same quantile of what as few rows of the well known queries give for the others. */
#ifndef FAMILIES_RANK_FRONTEND_TARGETS_H
#define FAMILIES_RANK_FRONTEND_TARGETS_H

#include "driver/family.h"

#include <stdint.h>

enum { TARGETS_MIN_ROWS = 20 };

/* The keys of their lines in a model. */
#define TARGETS_KEY "targets"
#define TARGETS_FEW_KEY "targets-few"

struct target_map {
    char *query;   /* the qid as text; owned */
    double width;  /* of the interval on either side; INFINITY: nobody knows */
    double *score; /* (n_knots) ascending; owned, with value behind it */
    double *value; /* (n_knots) ascending */
    size_t n_knots;
};

struct targets {
    struct target_map *map; /* (n_maps) by query, in ascending order of bytes */
    size_t n_maps;
    double few[TARGETS_MIN_ROWS]; /* parts of the range of so many labels; INFINITY: not known */
};

/* A labelled row. */
struct target_row {
    double score, label;
};

/* Fits the map of n rows, which it sorts; queries of less than two different scores have none: then
 * map->n_knots is 0. few: of struct targets. The map's query is not set. */
int target_map_fit(struct target_map *map, struct target_row *row, size_t n, const double *few,
                   struct error *err);
void target_map_free(struct target_map *map);

/* The value at a score: beyond the knots that of the nearest. */
double target_map_value(const struct target_map *map, double score);

/* Fits the maps of all queries from out-of-fold scores, and adds them to the model. */
int targets_fit(const struct held_out *folds, size_t n_folds, uint64_t seed, struct model *model,
                struct error *err);

/* Reads a model's. *targets has no maps where the model has none. The caller calls targets_free. */
int targets_read(struct targets *targets, const struct model *model, struct error *err);
void targets_free(struct targets *targets);

/* Fits maps to the labelled rows of a file, which the model scores; they take the places of those
 * that there are of the same queries. Fails where a query has no two rows of different scores. */
int targets_add_file(struct targets *targets, const char *path, const struct model *model,
                     struct error *err);

/* The map of a query, by its text; NULL: there is none. */
const struct target_map *targets_find(const struct targets *targets, const char *query);

/* ---- what one map and all of them share ---- */

/* The conformal quantile: that of rank ceil(0.9 (n + 1)), INFINITY if n is less. Sorts. */
double target_quantile(double *residual, size_t n);

/* The range of the labels of rows. */
double target_range(const struct target_row *row, size_t n);

#endif
