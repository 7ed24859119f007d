/* Connected components of a kernel matrix: sets of rows whose kernel values with all other rows are
 * negligible. They occur with rbf if features in large units separate most rows, and for rows
 * without common features. A problem whose terms besides |f|^2 are a sum over rows decomposes into
 * one problem per component. Union-find; cost: up to n^2 / 2 kernel values. */
#ifndef METHODS_CONNECTED_COMPONENTS_H
#define METHODS_CONNECTED_COMPONENTS_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "fit/monitor.h"

#include <stddef.h>
#include <stdint.h>

/* n parts, each a component or the union of several: row[start[p]] ... row[start[p + 1] - 1],
 * ascending, are the problem's rows of part p. */
struct components {
    size_t n;
    size_t *start;
    uint32_t *row;
};

/* The largest number of rows of a component. */
enum { MAX_COMPONENT_ROWS = 8192 };

/* Finds the connected components of the problem's rows. Rows i and j are connected if |K_ij|, in
 * float, is above 2^-40 sqrt(K_ii K_jj), or if that bound is below the range of float. Successive
 * components are merged into one part of at most `together` rows. n is 0 if one component has more
 * than half of the rows, or more than MAX_COMPONENT_ROWS; the search then ends early. The problem
 * has a kernel matrix, no constant feature, and all rows in this process. Returns 0; 1 with n = 0
 * if the monitor's deadline has passed; -1 with err set when memory is short. The caller ends with
 * components_free. */
int components_find(struct components *parts, const struct problem *problem, size_t together,
                    const struct monitor *monitor, struct error *err);
void components_free(struct components *parts);

#endif
