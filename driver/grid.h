/* The points of a sweep and the columns of its table.
 *
 * The lists of the options span points (options.h). Where an option has no effect at a point, such
 * as tau with a formulation without it or gamma with the linear kernel, points that differ in it
 * alone are merged: the first represents all. */
#ifndef DRIVER_GRID_H
#define DRIVER_GRID_H

#include "driver/family.h"

#include <stdint.h>

struct grid {
    const struct family *family;
    const struct options *options;
    size_t *point; /* (n) numbers of the options' points, ascending; owned */
    size_t n;
    /* (n_columns) parameters of the formulation and the kernel that have an effect at some
     * point; owned */
    const struct option **column;
    size_t n_columns;
};

/* Returns whether an option was given as a list or a range, possibly of one value. */
bool grid_wanted(const struct options *options);

/* family and options are borrowed. The caller ends with grid_free. */
int grid_create(struct grid *grid, const struct family *family, const struct options *options,
                struct error *err);
void grid_free(struct grid *grid);

/* The value of a column at point number `index` of the grid, as text (at most 32 bytes with the
 * NUL); empty if the option has no effect there. n_features: of the training file, for the default
 * of gamma. */
const char *grid_text(const struct grid *grid, size_t index, size_t column, uint32_t n_features,
                      char text[32]);

/* Finds the next option from *at on that was given and has no effect at some formulation of a list,
 * or that was given as a list and has no effect with the kernel. Writes where it has no effect,
 * such as "formulation svm" or "kernel linear", into `what`, and sets *at behind it. NULL: none is
 * left. */
const struct option *grid_unused(const struct grid *grid, size_t *at, char *what, size_t size);

/* A CRC-32 of everything that the points have in common, except the rows: options and their
 * values. */
uint32_t grid_checksum(const struct grid *grid);

#endif
