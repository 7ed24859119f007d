/* The table of a sweep: splits the text that the driver writes into cells. */
#ifndef LIBRARY_TABLE_H
#define LIBRARY_TABLE_H

#include "library/private.h"

struct dualsvm_table {
    struct text part; /* an incomplete line */
    char **line;      /* (n_lines) the header and the rows, a NUL after each cell */
    size_t n_lines;
    size_t n_columns;
    size_t best; /* SIZE_MAX: unknown */
    /* Called for each row; set before the first row. */
    int (*row)(void *context, const struct dualsvm_table *table, size_t row);
    void *context;
    bool stopped; /* by the callback */
};

/* Creates an empty table, which the caller frees with dualsvm_table_free; NULL with err set if out
 * of memory. */
struct dualsvm_table *library_table_create(struct error *err);

/* An output_function whose context is the table. */
int library_table_take(void *context, const char *bytes, size_t n);

#endif
