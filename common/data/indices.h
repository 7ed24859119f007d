/* The indices that occur, where they are few of those up to the largest: hashed features have
 * indices up to 2^32 - 1, and what has a number for each column must not. Rows that are held by
 * their place in such a list are called compact (data.h). */
#ifndef COMMON_DATA_INDICES_H
#define COMMON_DATA_INDICES_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct indices {
    uint32_t n;
    uint32_t *at;     /* (n) increasing, counted from 0; NULL: there is no list */
    uint32_t *bucket; /* first of each stretch of indices with the same leading bits, and n */
    unsigned shift;
};

#define INDICES_NONE UINT32_MAX

/* Fewer columns are not worth a list. */
enum { INDICES_WORTH = 1024 };

/* Columns to be listed: column[0..n), in any order; column NULL: 0..n-1. */
struct indices_part {
    const uint32_t *column;
    size_t n;
};

/* Lists the columns that the parts have, each once. Memory in between: up to 4 bytes a column
 * given, or 2 MiB. The caller calls indices_free. */
int indices_list(struct indices *indices, const struct indices_part *part, size_t n_parts,
                 struct error *err);

/* The list of at[0..n), increasing, from memory_array, which it then owns, also when it fails. */
int indices_take(struct indices *indices, uint32_t *at, size_t n, struct error *err);

/* *copy = a list of its own with the same indices; none of none. Fails for lack of memory. */
int indices_copy(const struct indices *indices, struct indices *copy, struct error *err);
/* Frees what the list owns, and leaves none. */
void indices_free(struct indices *indices);

/* The place of an index in the list, INDICES_NONE if it is not there. */
uint32_t indices_find(const struct indices *indices, uint32_t index);

/* Whether fewer than half of the columns up to n_columns are among these; false for a small number
 * of columns, which is not worth a list. Returns 1, 0, or -1 with err for lack of memory. */
int indices_few(const uint32_t *column, size_t n, uint32_t n_columns, struct error *err);

#endif
