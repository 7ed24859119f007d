/* Calibration of scores to labels, for each query (--targets): to minutes of a chromatographic
 * system, for example. A map is monotone and piecewise linear. It is fitted to out-of-fold scores,
 * with prediction intervals that hold 90% of new rows (doc/mathematics.md, "Targets").
 *
 * The scores of a query are sorted and divided into bins of about sqrt(n) rows. The means of the
 * bins, made monotone by isotonic regression (pool adjacent violators), are the breakpoints of the
 * map. The residual of a row is |label - map|, with a map fitted without it. The width of the
 * intervals at a score is the local spread there, the mean residual of the rows with the nearest
 * scores, times the conformal quantile of residual / spread (Vovk, Gammerman & Shafer, "Algorithmic
 * learning in a random world", 2005; locally weighted: Lei, G'Sell, Rinaldo, Tibshirani &
 * Wasserman, "Distribution-free predictive inference for regression", 2018). With fewer than
 * TARGETS_MIN_ROWS rows it is a multiple of the range of their labels: the quantile of the
 * residuals that maps of as few rows leave in the other rows of large queries. */
#ifndef FAMILIES_RANK_FRONTEND_TARGETS_H
#define FAMILIES_RANK_FRONTEND_TARGETS_H

#include "driver/family.h"

#include <stdint.h>

enum { TARGETS_MIN_ROWS = 20 };

/* Keys of the lines in a model. */
#define TARGETS_KEY "targets"
#define TARGETS_FEW_KEY "targets-few"
#define TARGETS_WIDTHS_KEY "targets-widths"

struct target_map {
    char *query;       /* qid as text; owned */
    double half_width; /* of an interval of the same width everywhere; INFINITY: unknown */
    double *score;     /* (n_knots) breakpoints, ascending; owned, one array with the next two */
    double *value;     /* (n_knots) values at the breakpoints, ascending */
    double *width;     /* (n_knots) half-widths of the interval; INFINITY, then all: unknown */
    size_t n_knots;
};

struct targets {
    struct target_map *map; /* (n_maps) in ascending order of query (bytes) */
    size_t n_maps;
    double lowest; /* ends of intervals are not below: 0 if no label is negative, else -INFINITY */
    /* [n]: half length of the interval over the range of n labels; INFINITY: unknown */
    double few[TARGETS_MIN_ROWS];
};

/* The score and label of a row. */
struct target_row {
    double score, label;
};

/* Fits the map of n rows; sorts row. map->n_knots is 0 if a query has fewer than two different
 * scores. few: that of struct targets. Does not set the map's query. -1 if memory is short. The
 * caller calls target_map_free. */
int target_map_fit(struct target_map *map, struct target_row *row, size_t n, const double *few,
                   struct error *err);
void target_map_free(struct target_map *map);

/* The value of the map at a score; constant beyond the outer breakpoints. */
double target_map_value(const struct target_map *map, double score);

/* The half-width of the interval at a score; constant beyond the outer breakpoints. */
double target_map_width(const struct target_map *map, double score);

/* Fits the maps of all queries to out-of-fold scores, and adds their lines to the model. */
int targets_fit(const struct held_out *folds, size_t n_folds, uint64_t seed, struct model *model,
                struct error *err);

/* Reads the maps of a model; *targets has no maps if the model has none. -1 if they are malformed.
 * The caller calls targets_free. */
int targets_read(struct targets *targets, const struct model *model, struct error *err);
void targets_free(struct targets *targets);

/* Scores the labelled rows of a file with the model and fits maps to them, in place of existing
 * maps of the same queries. *only (NULL: not wanted) is the map of the file's only query, NULL if
 * it has several. -1 if a query has no two rows with different scores. */
int targets_add_file(struct targets *targets, const char *path, const struct model *model,
                     const struct target_map **only, struct error *err);

/* The map of a query, by its qid as text; NULL: there is none. */
const struct target_map *targets_find(const struct targets *targets, const char *query);

/* ---- shared by target_map.c and targets.c ---- */

/* The conformal quantile: the ceil(0.9 (n + 1))-th smallest residual; INFINITY if n is less. Sorts.
 */
double target_quantile(double *residual, size_t n);

/* The range of the labels of n rows. */
double target_range(const struct target_row *row, size_t n);

#endif
