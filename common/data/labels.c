/* Collects, sorts and maps labels. */
#include "common/data/labels.h"

#include "common/base/memory.h"
#include "common/data/decimal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void labels_free(struct labels *labels) {
    names_free(&labels->names);
}

/* ---- the order ---- */

static int compare_bytes(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* By value: all names are numbers. */
static int compare_numbers(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    struct decimal p, q;
    return decimal_read(&p, *x, strlen(*x)) && decimal_read(&q, *y, strlen(*y))
               ? decimal_compare(&p, &q)
               : 0;
}

/* ---- from rows ---- */

/* Marks the labels of the rows by 1 in used (names). */
static void mark_used(const struct data *data, const uint32_t *rows, size_t n, double *used) {
    for (size_t i = 0; i < n; i++) {
        size_t row = rows ? rows[i] : i;
        if (data->labels == DATA_SET) {
            for (uint64_t at = data->label_start[row]; at < data->label_start[row + 1]; at++) {
                used[data->label[at]] = 1;
            }
        } else if (data->label[row] != UINT32_MAX) {
            used[data->label[row]] = 1;
        }
    }
}

int labels_order_pair(struct labels *labels, const char *second, struct error *err) {
    const struct names *names = &labels->names;
    if (names->n != 2 || !names_equal(names->name[0], second)) {
        return 0;
    }
    char *const name[] = {names->name[1], names->name[0]};
    struct labels swapped = {0};
    if (names_add_all(&swapped.names, name, 2, err) < 0) {
        return -1;
    }
    labels_free(labels);
    *labels = swapped;
    return 0;
}

int labels_collect(struct labels *labels, const struct data *data, const uint32_t *rows,
                   size_t n_rows, struct cluster *cluster, struct error *err) {
    const struct names *names = &data->names;
    *labels = (struct labels){0};
    double *used = memory_zeros(names->n, sizeof *used, "labels", err);
    char **name = memory_array(names->n, sizeof *name, "labels", err);
    int status = -1;
    if (used && name) {
        size_t n = 0;
        bool numbers = true;
        struct decimal number;
        mark_used(data, rows, n_rows, used);
        cluster_max(cluster, used, names->n);
        for (size_t i = 0; i < names->n; i++) {
            if (used[i] > 0) {
                numbers = numbers && decimal_read(&number, names->name[i], strlen(names->name[i]));
                name[n++] = names->name[i];
            }
        }
        qsort(name, n, sizeof *name, numbers ? compare_numbers : compare_bytes);
        status = names_add_all(&labels->names, name, n, err);
    }
    free(used);
    free(name);
    return status;
}

void labels_map(const struct labels *labels, const struct names *names, uint32_t *map) {
    _Static_assert(LABELS_UNKNOWN == UINT32_MAX, "what names_find gives");
    for (size_t i = 0; i < names->n; i++) {
        map[i] = names_find(&labels->names, names->name[i], strlen(names->name[i]));
    }
}
