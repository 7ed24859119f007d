/* Reads label sets from the data. */
#include "families/ml/solver/label_sets.h"

#include "common/base/memory.h"
#include "common/base/order.h"
#include "common/data/row_weights.h"

#include <stdlib.h>

static int fill(struct ml_rows *rows, const struct problem *problem, const uint32_t *map,
                struct error *err) {
    const struct data *data = problem->data;
    uint64_t n_labels = 0;
    for (size_t i = 0; i < problem->n; i++) {
        size_t row = problem->rows ? problem->rows[i] : i;
        n_labels += data->label_start[row + 1] - data->label_start[row];
    }
    rows->start = memory_array(problem->n + 1, sizeof *rows->start, "label sets", err);
    rows->relevant = memory_array((size_t)n_labels, sizeof *rows->relevant, "label sets", err);
    rows->row = memory_array(problem->n, sizeof *rows->row, "label sets", err);
    if (!rows->start || !rows->relevant || !rows->row) {
        return -1;
    }
    rows->start[0] = 0;
    for (size_t i = 0; i < problem->n; i++) {
        size_t row = problem->rows ? problem->rows[i] : i;
        uint64_t first = data->label_start[row], n = data->label_start[row + 1] - first;
        uint32_t *set = rows->relevant + rows->start[i];
        for (uint64_t at = 0; at < n; at++) {
            set[at] = map[data->label[first + at]];
        }
        qsort(set, (size_t)n, sizeof *set, order_uint32);
        rows->start[i + 1] = rows->start[i] + n;
        rows->n_empty += n == 0;
        rows->n_full += n == rows->q && n > 0;
        if (n > 0 && n < rows->q) {
            rows->row[rows->n++] = (uint32_t)i;
        }
    }
    rows->n_everywhere = cluster_count(rows->cluster, rows->n);
    rows->n_empty = cluster_count(rows->cluster, rows->n_empty);
    rows->n_full = cluster_count(rows->cluster, rows->n_full);
    return rows->n_everywhere > 0
               ? 0
               : error_set(err, ERROR_RUNTIME,
                           "no row has some of the labels and lacks others: there is "
                           "nothing to learn");
}

/* Copies the weights of the problem's rows, and sums those of rows with a loss. */
static int take_weights(struct ml_rows *rows, const struct problem *problem, struct error *err) {
    const struct data *data = problem->data;
    if (row_weights_refuse_zero(data, rows->cluster, "ml", err) < 0) {
        return -1;
    }
    if (!data->weight) {
        rows->total_weight = (struct certify_total){.sum = (double)rows->n_everywhere};
        return 0;
    }
    rows->weight = memory_array(problem->n, sizeof *rows->weight, "weights", err);
    if (!rows->weight) {
        return -1;
    }
    for (size_t i = 0; i < problem->n; i++) {
        rows->weight[i] = data->weight[problem->rows ? problem->rows[i] : i];
    }
    for (size_t i = 0; i < rows->n; i++) {
        certify_total_add(&rows->total_weight, rows->weight[rows->row[i]], 1);
    }
    certify_total_over_processes(&rows->total_weight, rows->cluster);
    return 0;
}

int ml_rows_create(struct ml_rows *rows, const struct problem *problem, struct error *err) {
    *rows = (struct ml_rows){.cluster = problem->cluster, .n_all = problem->n};
    if (labels_collect(&rows->labels, problem->data, problem->rows, problem->n, problem->cluster,
                       err) < 0) {
        return -1;
    }
    const struct names *names = &problem->data->names;
    rows->q = (uint32_t)rows->labels.names.n;
    uint32_t *map = memory_array(names->n, sizeof *map, "labels", err);
    int status = -1;
    if (map) {
        labels_map(&rows->labels, names, map);
        status = fill(rows, problem, map, err) < 0 ? -1 : take_weights(rows, problem, err);
    }
    free(map);
    if (status < 0) {
        ml_rows_free(rows);
    }
    return status;
}

void ml_rows_free(struct ml_rows *rows) {
    labels_free(&rows->labels);
    free(rows->start);
    free(rows->relevant);
    free(rows->row);
    free(rows->weight);
    *rows = (struct ml_rows){0};
}

size_t ml_rows_index(const struct ml_rows *rows, const struct problem *problem, size_t i) {
    uint32_t row = rows->row[i];
    return problem->rows ? problem->rows[row] : row;
}

struct ml_block ml_rows_block(const struct ml_rows *rows, size_t i, enum ml_loss loss,
                              double cost) {
    uint64_t first = rows->start[rows->row[i]];
    double weight = rows->weight ? rows->weight[rows->row[i]] : 1;
    uint32_t n = (uint32_t)(rows->start[rows->row[i] + (size_t)1] - first);
    return (struct ml_block){.loss = loss,
                             .q = rows->q,
                             .n_relevant = n,
                             .relevant = rows->relevant + first,
                             .lambda = cost * weight / ((double)n * (double)(rows->q - n))};
}
