/* The points of a sweep, and what tells them apart: the columns of its table.
 *
 * Options span points (options.h). Where an option means nothing at a point, as tau does with a
 * formulation that has none, or gamma with the linear kernel, points that differ in it alone are
 * one: the first of them stands for all. */
#ifndef DRIVER_GRID_H
#define DRIVER_GRID_H

#include "driver/family.h"

#include <stdint.h>

struct grid {
    const struct family *family;
    const struct options *options;
    size_t *point; /* (n) numbers of the options' points, ascending; owned */
    size_t n;
    const struct option **column; /* (n_columns) parameters of formulation and kernel that mean
                                     something at a point; owned */
    size_t n_columns;
};

/* True if an option was given a list or a range, be it of one value. */
bool grid_wanted(const struct options *options);

/* family and options are borrowed. The caller ends with grid_free. */
int grid_create(struct grid *grid, const struct family *family, const struct options *options,
                struct error *err);
void grid_free(struct grid *grid);

/* The value of a column at point number `index` of the grid, as text (32 bytes are enough); empty
 * where it means nothing. n_features is that of the training file, for gamma's default. */
const char *grid_text(const struct grid *grid, size_t index, size_t column, uint32_t n_features,
                      char text[32]);

/* The next option from *at on that was given and means nothing at some formulation of a list, or
 * with the kernel although it has a list: writes what it means nothing to, as "formulation svm" or
 * "kernel linear", into `what`. *at moves behind it. NULL: there is none left. */
const struct option *grid_unused(const struct grid *grid, size_t *at, char *what, size_t size);

/* A CRC-32 of all that points have in common but the rows: options and their values. */
uint32_t grid_checksum(const struct grid *grid);

#endif
