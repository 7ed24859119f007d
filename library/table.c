/* Splits the text of a table into lines and cells as it arrives, and calls back for each row. */
#include "library/table.h"

#include "common/base/memory.h"
#include "common/base/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct dualsvm_table *library_table_create(struct error *err) {
    struct dualsvm_table *table = memory_zeros(1, sizeof *table, "a table", err);
    if (table) {
        table->best = SIZE_MAX;
    }
    return table;
}

void dualsvm_table_free(dualsvm_table *table) {
    if (!table) {
        return;
    }
    for (size_t i = 0; i < table->n_lines; i++) {
        free(table->line[i]);
    }
    free(table->line);
    free(table->part.bytes);
    free(table);
}

/* Adds a line of n bytes, without its end. */
static int add_line(struct dualsvm_table *table, const char *text, size_t n) {
    struct error ignored;
    if (memory_grow(&table->line, memory_room(0, table->n_lines), table->n_lines + 1,
                    sizeof *table->line, "a table", &ignored) < 0) {
        return ENOMEM;
    }
    char *line = memory_text(text, n, "a row", &ignored);
    if (!line) {
        return ENOMEM;
    }
    size_t cells = 1;
    for (char *at = line; (at = strchr(at, '\t')) != NULL; cells++) {
        *at++ = '\0';
    }
    table->n_columns = table->n_lines == 0 ? cells : table->n_columns;
    table->line[table->n_lines++] = line;
    if (table->n_lines > 1 && table->row &&
        table->row(table->context, table, table->n_lines - 2) != 0) {
        table->stopped = true;
        return ECANCELED;
    }
    return 0;
}

int library_table_take(void *context, const char *bytes, size_t n) {
    struct dualsvm_table *table = context;
    int failure = text_take(&table->part, bytes, n);
    size_t first = 0;
    while (failure == 0) {
        const char *text = table->part.bytes + first, *end = NULL;
        if (first < table->part.n) {
            end = memchr(text, '\n', table->part.n - first);
        }
        if (!end) {
            break;
        }
        failure = add_line(table, text, (size_t)(end - text));
        first += (size_t)(end - text) + 1;
    }
    if (first > 0) {
        memmove(table->part.bytes, table->part.bytes + first, table->part.n - first);
        table->part.n -= first;
    }
    return failure;
}

size_t dualsvm_table_rows(const dualsvm_table *table) {
    return table && table->n_lines > 0 ? table->n_lines - 1 : 0;
}

size_t dualsvm_table_columns(const dualsvm_table *table) {
    return table ? table->n_columns : 0;
}

/* A cell of a line; every line has as many cells as the header. */
static const char *cell(const struct dualsvm_table *table, size_t line, size_t column) {
    const char *at = table->line[line];
    for (; column > 0; column--) {
        at += strlen(at) + 1;
    }
    return at;
}

const char *dualsvm_table_name(const dualsvm_table *table, size_t column) {
    return column < dualsvm_table_columns(table) ? cell(table, 0, column) : NULL;
}

size_t dualsvm_table_find(const dualsvm_table *table, const char *name) {
    for (size_t c = 0; name && c < dualsvm_table_columns(table); c++) {
        if (strcmp(cell(table, 0, c), name) == 0) {
            return c;
        }
    }
    return SIZE_MAX;
}

const char *dualsvm_table_text(const dualsvm_table *table, size_t row, size_t column) {
    return row < dualsvm_table_rows(table) && column < dualsvm_table_columns(table)
               ? cell(table, row + 1, column)
               : "";
}

double dualsvm_table_number(const dualsvm_table *table, size_t row, size_t column) {
    double number;
    return number_parse_whole(dualsvm_table_text(table, row, column), &number) ? number
                                                                               : (double)NAN;
}

size_t dualsvm_table_best(const dualsvm_table *table) {
    return table ? table->best : SIZE_MAX;
}
