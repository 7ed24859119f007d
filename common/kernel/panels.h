/* The lower half of a kernel matrix in panels of rows, as float or double: the matrix of gram.h,
 * row by row of its data. Panels that fit into the given memory are computed once and kept, the
 * others are recomputed block by block at each product: a product reads every row once, for which
 * any cache that forgets the least recently used row would forget each row just before it is
 * needed. */
#ifndef COMMON_KERNEL_PANELS_H
#define COMMON_KERNEL_PANELS_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/data/data.h"
#include "common/distributed/cluster.h"
#include "common/kernel/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct panels;

/* Builds the matrix of `data`'s rows (borrowed, with kernel, for the life of the panels), over the
 * ranks of a cluster (NULL: none), as gram_create_spread says. The caller calls panels_free. */
int panels_create(struct panels **panels, const struct kernel *kernel, const struct data *data,
                  size_t cache_bytes, bool wide, struct cluster *cluster, struct threads *threads,
                  struct error *err);
void panels_free(struct panels *panels);

/* Number of rows, and the prepared rows. */
size_t panels_size(const struct panels *panels);
const struct kernel_rows *panels_rows(const struct panels *panels);

/* True if the entries are double. */
bool panels_is_wide(const struct panels *panels);

/* Bytes of the entries that are kept, and whether all are, here. */
size_t panels_kept_bytes(const struct panels *panels);
bool panels_is_whole(const struct panels *panels);

/* row[c] = the entry at row i and column j[c], or place[j[c]] where that is not NULL, c < n, of a
 * matrix that is whole. */
void panels_row(const struct panels *panels, uint32_t i, const uint32_t *j, size_t n,
                const uint32_t *place, float *row);

/* As gram_product, gram_products, gram_block and gram_block_exact. */
int panels_product(const struct panels *panels, const double *b, double *out,
                   struct threads *threads, struct error *err);
int panels_products(const struct panels *panels, const uint32_t *rows, size_t n, const double *b,
                    size_t k, double *out, struct threads *threads, struct error *err);
int panels_block(const struct panels *panels, const uint32_t *i, size_t n_i, const uint32_t *j,
                 size_t n_j, double *block, struct error *err);
int panels_block_exact(const struct panels *panels, const uint32_t *i, size_t n_i,
                       const uint32_t *j, size_t n_j, double *block, struct error *err);

/* As gram_products_rounding. */
double panels_products_rounding(void);

#endif
