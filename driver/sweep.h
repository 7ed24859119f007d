/* Cross-validated measures at each point of a sweep: a table that is written while it is computed,
 * and the best point. */
#ifndef DRIVER_SWEEP_H
#define DRIVER_SWEEP_H

#include "common/base/output.h"
#include "driver/crossval.h"
#include "driver/grid.h"
#include "driver/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sweep {
    struct grid grid;
    struct measure *measure; /* (n_measures) */
    size_t n_measures;
    size_t selected;        /* the measure that selects the best point */
    size_t shard, n_shards; /* this part (from 0) of n_shards */
    /* (grid.n, n_measures): means over folds, NaN: nothing to measure; with a table the values
     * are those of its text */
    double *value;
    size_t best;       /* index into the grid */
    size_t best_folds; /* of the best point: folds whose fits finished in time */
    size_t n_left;     /* fits to folds that did not finish in time */
    size_t n_unfitted; /* points of the shard at which no fold had time for an iteration */
    /* points taken from the checkpoint file, and those of them whose gap exceeds epsilon */
    size_t n_resumed, n_resumed_unconverged;
};

/* Where the rows of a table go. */
struct sweep_table {
    struct output *output;
    /* path of a checkpoint file (checkpoint.h) that rows are read from and added to; NULL:
     * none */
    const char *resume;
    uint32_t data;     /* a checksum of the rows and their folds */
    struct json *json; /* receives the rows too, as items of an open array */
};

/* Makes the grid of points, the list of measures, the measure of --select and the part of --shard,
 * and reports errors in them before any work. The caller ends with sweep_free. */
int sweep_create(struct sweep *sweep, const struct family *family, const struct options *options,
                 struct error *err);
void sweep_free(struct sweep *sweep);

/* Runs the cross-validation, whose points, wanted, serialize, receive and context are set here in a
 * copy.
 *
 * With a table (NULL: none), the header and a row for each point of the shard are written to its
 * output in the order of the points, each as soon as it and all previous rows are known; see
 * doc/formats.md. *n_fits gets the number of fits. The best point is chosen by the values as
 * written, among the points whose folds all finished in time, else among those with an iteration in
 * some fold, else among all; points without time are not saved to the checkpoint file.
 * crossval->n_after fits to all rows follow after this call; for each of them at least the time of
 * one point is reserved.
 *
 * Called by all processes of crossval->cluster: process 0 has the table and the values, all get the
 * best point.
 *
 * Fits that are not finished at crossval->end are left out, and rows are means over the finished
 * folds. Fits in progress are awaited if `waits`, otherwise abandoned: *abandoned is then true, and
 * they keep using what crossval refers to, except its counter and the table, until the program
 * ends. */
int sweep_run(struct sweep *sweep, const struct crossval *crossval, const struct sweep_table *table,
              size_t *n_fits, bool waits, bool *abandoned, struct error *err);

#endif
