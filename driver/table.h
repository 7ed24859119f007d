/* Cells of the tables that programs write: text with tabs between and a line a row. An empty cell
 * is a value that there is not. */
#ifndef DRIVER_TABLE_H
#define DRIVER_TABLE_H

#include "common/base/error.h"
#include "common/base/output.h"
#include "driver/measures.h"

#include <stddef.h>

/* Writes a name, in which tabs, line ends and backslashes become \t, \n, \r and \\, so that a row
 * stays one, and other control characters \x1b. */
void table_name(struct output *output, const char *name);

/* Writes a tab, and the shortest decimal of value that reads back; nothing if it is not finite. */
void table_number(struct output *output, double value);

/* The header line of a table: the columns `first` (with tabs between), then the n measures of the
 * list. The caller frees it; NULL with err set when memory is short. */
char *table_header(const char *first, const struct measure *list, size_t n, struct error *err);

#endif
