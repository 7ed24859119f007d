/* The training problem that is passed to the solvers of all families. */
#ifndef COMMON_KERNEL_PROBLEM_H
#define COMMON_KERNEL_PROBLEM_H

#include "common/base/clock.h"
#include "common/base/threads.h"
#include "common/data/data.h"
#include "common/distributed/cluster.h"
#include "common/kernel/gram.h"
#include "common/kernel/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Training rows. Linear: all rows of `data`, gram NULL. Kernel: rows[0..n) of the rows of the Gram
 * matrix, which folds share; data is then the data of the Gram matrix, and labels are those of
 * data. */
struct problem {
    /* linear: the processes over which the rows are distributed; data has the rows of this
     * process. NULL: all rows are here */
    struct cluster *cluster;
    /* linear, all rows on each of these processes, which make the same calls: they share the
     * starts of a fit with several starts. NULL: none */
    struct cluster *starts;
    const struct data *data;
    const struct gram *gram;
    const uint32_t *rows; /* (n) row numbers of data, ascending; NULL: all, n = data->n_rows */
    size_t n;
    struct threads *threads;
    size_t cache_bytes;             /* cache size for rows of the kernel matrix */
    struct stopwatch *certify_time; /* of certificates; NULL: not wanted */
    double end_time; /* of clock_seconds(): a fit that ends later may be discarded; 0: none */
    bool zero_only;  /* no time is left: solvers prepare only the zero solution, w = 0 */
    double constant; /* value of a constant feature, which score maps and caches of kernel rows add
                     to every row; 0: none, or the solver adds it itself */
};

/* K (n, n) = the kernel matrix at rows[0..n) of the problem's rows (NULL: its first n), with the
 * square of the constant feature; in double even if the Gram matrix stores floats. All rows are in
 * this process. Returns -1 with err set when memory is short. */
int problem_matrix(const struct problem *problem, const uint32_t *rows, size_t n, double *K,
                   struct error *err);

/* One coefficient of a product of two training rows (pair features): value of rows u < v. */
struct pair_coefficient {
    uint32_t u, v;
    double value;
};

#endif
