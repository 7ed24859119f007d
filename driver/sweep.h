/* Cross-validated measures at each point of a sweep, as a table that grows while it is computed,
 * and the best point. */
#ifndef DRIVER_SWEEP_H
#define DRIVER_SWEEP_H

#include "common/base/output.h"
#include "driver/crossval.h"
#include "driver/grid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sweep {
    struct grid grid;
    struct measure *measure; /* (n_measures) */
    size_t n_measures;
    size_t selected;        /* the measure that chooses */
    size_t shard, n_shards; /* shard (from 0) of so many */
    double *value; /* (grid.n, n_measures): averages over folds, NaN: nothing to measure; in a table
                      as they stand there */
    size_t best;   /* index of the grid */
    size_t n_left; /* fits to folds that there was no time for */
    size_t n_unfitted; /* points of the shard that no fold had time for an iteration at */
    size_t n_taken,
        n_taken_short; /* those that were taken over from the journal, and of these those
                                      that had not converged, by their gap */
};

/* Where the rows of a table go. */
struct sweep_table {
    struct output *output;
    const char
        *resume;   /* a journal (journal.h) that rows are taken from and added to; NULL: none */
    uint32_t data; /* a checksum of the rows and their folds */
};

/* The points, the family's measures, and which of them --select names; the part of --shard. Before
 * any work: for its errors. The caller ends with sweep_free. */
int sweep_create(struct sweep *sweep, const struct family *family, const struct options *options,
                 struct error *err);
void sweep_free(struct sweep *sweep);

/* Runs the cross-validation, whose points, scored and context are set here. With a table (NULL:
 * none) a header and a row for each point of the shard are written to its output in the order of
 * the points, each as soon as it and those before it are known; see doc/formats. *n_fits gets the
 * number of fits. The best is chosen by the values as the table has them, of the points that there
 * was time for; others are not added to the journal. crossval->n_after fits are to follow, each
 * with the time of a point at least. All ranks of crossval->cluster: rank 0 has the table and the
 * values, all get the best. Fits that are not done at crossval->end are left out, and rows are of
 * the folds that were done; those at work are waited for, or go on (*running): then they have all
 * of crossval for ever, but its counter and the table. */
int sweep_run(struct sweep *sweep, const struct crossval *crossval, const struct sweep_table *table,
              size_t *n_fits, bool waits, bool *running, struct error *err);

#endif
