/* What every solver is given, whatever the family. */
#ifndef COMMON_KERNEL_PROBLEM_H
#define COMMON_KERNEL_PROBLEM_H

#include "common/base/threads.h"
#include "common/data/data.h"
#include "common/distributed/cluster.h"
#include "common/kernel/gram.h"
#include "common/kernel/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Training rows. Linear: all rows of `data`, gram NULL. Kernel: rows[0..n) of the gram's rows (a
 * fold shares the whole matrix); data is then the gram's data, and labels are data's. */
struct problem {
    struct cluster
        *cluster; /* linear: over its ranks the rows are spread, data has this one's; NULL:
                                all rows are here */
    struct cluster
        *starts; /* linear, all rows are here, as on each of its ranks, which make the same
                               calls: to them go the starts of a fit that has several. NULL: none */
    const struct data *data;
    const struct gram *gram;
    const uint32_t *rows; /* (n) row numbers of data; NULL: all, n = data->n_rows */
    size_t n;
    struct threads *threads;
    size_t cache_bytes; /* that the solver may use for rows of the kernel matrix */
    bool unsolved;      /* it is late whenever it is solved: solvers make ready only w = 0 */
    double constant;    /* value of one more feature of every row, which score maps and rows of the
                           matrix take in; 0: none, or the solver's own affair */
};

/* One coefficient of a product of two training rows (pair features): value of rows u < v. */
struct pair_coefficient {
    uint32_t u, v;
    double value;
};

#endif
