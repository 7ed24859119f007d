/* The table of a sweep, as it grows: from the text that the driver writes to cells. */
#ifndef LIBRARY_TABLE_H
#define LIBRARY_TABLE_H

#include "library/private.h"

struct dualsvm_table {
    struct text part; /* of a line that has not ended */
    char **line;      /* (n_lines) the header and the rows, a NUL behind each cell */
    size_t n_lines, room;
    size_t n_columns;
    size_t best; /* SIZE_MAX: not known */
    /* Who is told of rows; set before the first. */
    int (*row)(void *context, const struct dualsvm_table *table, size_t row);
    void *context;
    bool stopped; /* by who is told */
};

/* A table without rows, which the caller frees with dualsvm_table_free; NULL for lack of memory,
 * with err set. */
struct dualsvm_table *library_table_create(struct error *err);

/* An output_taker whose context is the table. */
int library_table_take(void *context, const char *bytes, size_t n);

#endif
