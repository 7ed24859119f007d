/* The dual variables of all rows, alpha (n, k): dense if k is small, else a list of the nonzero
 * entries of each row. */
#ifndef FAMILIES_MC_SOLVER_ALPHA_H
#define FAMILIES_MC_SOLVER_ALPHA_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct mc_entry {
    uint32_t c; /* class */
    double value;
};

struct mc_alpha {
    size_t n, k;
    double *dense; /* (n, k); NULL: stored as lists */
    struct mc_list {
        struct mc_entry *entry;
        uint32_t n, room;
    } * list; /* (n) */
};

/* All zero. The caller ends with mc_alpha_free. */
int mc_alpha_create(struct mc_alpha *alpha, size_t n, size_t k, struct error *err);
void mc_alpha_free(struct mc_alpha *alpha);

/* Copies `from` to `to`, which has the same n and k. */
int mc_alpha_copy(struct mc_alpha *to, const struct mc_alpha *from, struct error *err);

/* row (k) = the alpha of row i; and the reverse. */
void mc_alpha_load(const struct mc_alpha *alpha, size_t i, double *row);
int mc_alpha_store(struct mc_alpha *alpha, size_t i, const double *row, struct error *err);

/* The sum of row i. */
double mc_alpha_sum(const struct mc_alpha *alpha, size_t i);

/* Multiplies row i by factor. */
void mc_alpha_scale(struct mc_alpha *alpha, size_t i, double factor);

/* Clips each entry of row i at row_cap[i]. */
void mc_alpha_clip(struct mc_alpha *alpha, const double *row_cap);

#endif
