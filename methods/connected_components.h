/* Parts of a kernel matrix whose rows have next to nothing to do with those of other parts: of rbf,
 * where features in large units hold most rows far apart, or of rows that share no feature. What is
 * a sum over the rows, but for |f|^2, is then a problem of its own on each of them. */
#ifndef METHODS_CONNECTED_COMPONENTS_H
#define METHODS_CONNECTED_COMPONENTS_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "fit/monitor.h"

#include <stddef.h>
#include <stdint.h>

/* row[start[p]] ... row[start[p + 1] - 1], ascending, are those of part p, numbers of the problem's
 * rows. */
struct parts {
    size_t n;
    size_t *start;
    uint32_t *row;
};

/* Most rows of a component. */
enum { PARTS_LARGEST = 8192 };

/* The connected components of the problem's rows, two of which are joined where |K_ij|, in float,
 * is above 2^-40 sqrt(K_ii K_jj); components that follow one another are one part while it has no
 * more than `together` rows. n is 0 where one component has more than half of the rows, or more
 * than PARTS_LARGEST: that is seen soon. Of a problem with a kernel matrix and no constant feature,
 * all of whose rows are here; takes up to n^2 / 2 kernel values, and returns 1, with n = 0, where
 * the monitor says that it is late. Values that float has too few digits for count as above. The
 * caller calls parts_free. Fails for lack of memory. */
int parts_find(struct parts *parts, const struct problem *problem, size_t together,
               const struct monitor *monitor, struct error *err);
void parts_free(struct parts *parts);

#endif
