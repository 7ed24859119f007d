/* What every solver is given and what it gives back, whatever the family. */
#ifndef COMMON_KERNEL_PROBLEM_H
#define COMMON_KERNEL_PROBLEM_H

#include "common/base/threads.h"
#include "common/data/data.h"
#include "common/kernel/gram.h"
#include "common/kernel/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Training rows. Linear: all rows of `data`, gram NULL. Kernel: rows[0..n) of the gram's rows (a
 * fold shares the whole matrix); data is then the gram's data, and labels are data's. */
struct problem {
    const struct data *data;
    const struct gram *gram;
    const uint32_t *rows; /* (n) row numbers of data; NULL: all, n = data->n_rows */
    size_t n;
    struct threads *threads;
    size_t cache_bytes; /* that the solver may use for rows of the kernel matrix */
};

/* One coefficient of a product of two training rows (pair features): value of rows u < v. */
struct pair_coefficient {
    uint32_t u, v;
    double value;
};

/* A fit. The primal, dual and gap are recomputed in double from `weights` as they stand here. */
struct solution {
    size_t n_outputs;
    double *weights; /* linear: (n_features, n_outputs); kernel: (n, n_outputs), by problem row */
    double *bias;    /* (n_outputs) added to the scores; NULL: nothing is */
    struct pair_coefficient *pairs; /* pair features, by problem row: then weights is NULL */
    size_t n_pairs;
    double primal, dual;
    uint64_t iterations;
    bool converged;     /* (primal - dual) / primal <= epsilon, or the stop rule asked for */
    const char *reason; /* when not converged: a phrase, static */
    bool uncertified;   /* the problem is not convex: dual, if it is not 0, is a lower bound that no
                           solution need come near, and there is no gap */
};

/* Releases what the solution owns and makes it empty. */
void solution_free(struct solution *solution);

#endif
