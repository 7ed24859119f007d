/* The lower triangle of a symmetric kernel matrix, in float or double, cached as far as memory is
 * given: the storage behind gram.h. The first rows are computed once and cached; the others are
 * recomputed tile by tile in each product. A product reads every row once, so a least-recently-used
 * cache would drop each row just before it is needed again. */
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

/* Builds the matrix of the rows of `data` (borrowed, with kernel, for the life of the panels),
 * distributed over the processes of a cluster (NULL: none), see gram_create_distributed. is_double:
 * entries are double, not float. The caller calls panels_free. */
int panels_create(struct panels **panels, const struct kernel *kernel, const struct data *data,
                  size_t cache_bytes, bool is_double, struct cluster *cluster,
                  struct threads *threads, struct error *err);
void panels_free(struct panels *panels);

/* The number of rows, and the rows prepared for the kernel. */
size_t panels_size(const struct panels *panels);
const struct kernel_rows *panels_rows(const struct panels *panels);

/* True if entries are stored in double. */
bool panels_is_double(const struct panels *panels);

/* Bytes of the cached entries; whether all are cached, and the matrix is not distributed. */
size_t panels_cached_bytes(const struct panels *panels);
bool panels_is_cached(const struct panels *panels);

/* row[c] = the entry at row i and column j[c] (position[j[c]] if position is not NULL), c < n, of a
 * matrix that is cached as a whole. */
void panels_row(const struct panels *panels, uint32_t i, const uint32_t *j, size_t n,
                const uint32_t *position, float *row);

/* As gram_product, gram_products, gram_block and gram_block_exact. */
int panels_product(const struct panels *panels, const double *b, double *out,
                   struct threads *threads, struct error *err);
int panels_products(const struct panels *panels, const uint32_t *rows, size_t n, const double *b,
                    size_t k, double *out, struct threads *threads, struct error *err);
int panels_block(const struct panels *panels, const uint32_t *i, size_t n_i, const uint32_t *j,
                 size_t n_j, double *block, struct error *err);
int panels_block_exact(const struct panels *panels, const uint32_t *i, size_t n_i,
                       const uint32_t *j, size_t n_j, double *block, struct error *err);

#endif
