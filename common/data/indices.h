/* Sorted lists of the feature indices that occur, for data in which few of the indices up to the
 * largest do: hashed features have indices up to 2^32 - 1, and arrays by column must not be that
 * long. Rows whose columns are positions in such a list are called compact (data.h). */
#ifndef COMMON_DATA_INDICES_H
#define COMMON_DATA_INDICES_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct indices {
    uint32_t n;
    uint32_t *at;     /* (n) ascending, counted from 0; NULL: there is no list */
    uint32_t *bucket; /* first position of the indices with the same leading bits, and n */
    unsigned shift;
};

#define INDICES_NONE UINT32_MAX

/* With fewer columns no list is made. */
enum { INDICES_WORTH = 1024 };

/* An array of columns: column[0..n), in any order; column NULL: 0..n-1. */
struct indices_part {
    const uint32_t *column;
    size_t n;
};

/* Lists the columns that occur in the arrays, each once. Temporary memory: up to 4 bytes for each
 * entry of the arrays, or 2 MiB. The caller calls indices_free. */
int indices_list(struct indices *indices, const struct indices_part *part, size_t n_parts,
                 struct error *err);

/* Makes a list of at[0..n), ascending, from memory_array, which it takes over, also on failure. */
int indices_take(struct indices *indices, uint32_t *at, size_t n, struct error *err);

/* *copy = a copy of the list, or no list if there is none. Fails if memory runs out. */
int indices_copy(const struct indices *indices, struct indices *copy, struct error *err);
/* Frees the list; there is then none. */
void indices_free(struct indices *indices);

/* The position of an index in the list, INDICES_NONE if it is not there. */
uint32_t indices_find(const struct indices *indices, uint32_t index);

/* Returns 1 if fewer than half of the columns 0..n_columns-1 occur, 0 if not or if n_columns is
 * below the minimum for a list, and -1 with err set if memory runs out. */
int indices_few(const uint32_t *column, size_t n, uint32_t n_columns, struct error *err);

#endif
