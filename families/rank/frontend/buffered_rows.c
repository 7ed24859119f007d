/* Rows of incomplete queries (buffered_rows.h). */
#include "families/rank/frontend/buffered_rows.h"

#include "common/base/memory.h"
#include "common/base/order.h"

#include <stdlib.h>
#include <string.h>

static int store_comments(struct buffered_rows *rows, const struct data *block, struct error *err) {
    const uint64_t *start = block->remark_start;
    size_t length = (size_t)(start[block->n_rows] - start[0]), room = memory_room(0, rows->n_text);
    if (memory_grow(&rows->text, room, rows->n_text + length, 1, "names of rows", err) < 0) {
        return -1;
    }
    if (length > 0) {
        memcpy(rows->text + rows->n_text, block->remark + start[0], length);
    }
    for (size_t i = 0; i < block->n_rows; i++) {
        struct buffered_row *row = &rows->row[rows->n + i];
        row->comment = rows->n_text + (size_t)(start[i] - start[0]);
        row->comment_length = (size_t)(start[i + 1] - start[i]);
    }
    rows->n_text += length;
    return 0;
}

int buffered_rows_add(struct buffered_rows *rows, const struct data *block, const double *scores,
                      struct error *err) {
    size_t needed = rows->n + block->n_rows, room = memory_room(0, rows->n);
    if (memory_grow(&rows->row, room, needed, sizeof *rows->row, "predictions", err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < block->n_rows; i++) {
        rows->row[rows->n + i] = (struct buffered_row){.query = block->query ? block->query[i] : 0,
                                                       .number = rows->n + i,
                                                       .score = scores ? scores[i] : 0,
                                                       .label = block->target[i]};
    }
    if (block->remark_start && store_comments(rows, block, err) < 0) {
        return -1;
    }
    for (size_t q = rows->queries.n; q < block->queries.n;
         q++) { /* numbered in the same order in both */
        const char *name = block->queries.name[q];
        uint32_t number;
        if (names_add(&rows->queries, name, strlen(name), &number, err) < 0) {
            return -1;
        }
    }
    rows->has_queries |= block->query != NULL;
    rows->n = needed;
    return 0;
}

void buffered_rows_free(struct buffered_rows *rows) {
    free(rows->row);
    free(rows->text);
    names_free(&rows->queries);
    *rows = (struct buffered_rows){0};
}

static int compare_rows(const void *a, const void *b) {
    const struct buffered_row *x = a, *y = b;
    int order = order_integers(x->query, y->query);
    return order ? order : order_integers(x->number, y->number);
}

int buffered_rows_visit(struct buffered_rows *rows,
                        int (*visit)(void *context, struct buffered_row *row, size_t n,
                                     struct error *err),
                        void *context, struct error *err) {
    size_t n = rows->n;
    /* for the first row of each query 1 + its position in the sorted rows; else 0 */
    size_t *starts = memory_zeros(n, sizeof *starts, "predictions", err);
    if (!starts) {
        return -1;
    }
    if (n > 0) {
        qsort(rows->row, n, sizeof *rows->row, compare_rows);
    }
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || rows->row[i].query != rows->row[i - 1].query) {
            starts[rows->row[i].number] = i + 1;
        }
    }
    int status = 0;
    for (size_t first = 0; first < n && status == 0; first++) {
        if (!starts[first]) {
            continue;
        }
        size_t start = starts[first] - 1, end = start;
        while (end < n && rows->row[end].query == rows->row[start].query) {
            end++;
        }
        status = visit(context, rows->row + start, end - start, err);
    }
    free(starts);
    return status;
}
