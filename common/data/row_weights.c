/* Reads the file line by line, and refuses weights of 0. */
#include "common/data/row_weights.h"

#include "common/base/number.h"
#include "common/data/lines.h"
#include "common/data/source.h"

#include <math.h>
#include <stdbool.h>

struct weights {
    const char *path; /* as shown in errors */
    double *weight;   /* (count) weights of rows from `first` on */
    size_t first, count;
};

static int take_weight(void *context, size_t row, const char *text, size_t length,
                       struct error *err) {
    const struct weights *weights = context;
    double weight;
    if (number_parse(text, text + length, &weight) != text + length || !isfinite(weight) ||
        weight < 0) {
        return error_set(err, ERROR_RUNTIME, "%s:%zu:1: not a weight of 0 or more: '%.*s'",
                         weights->path, row + 1, length < 100 ? (int)length : 100, text);
    }
    if (row - weights->first < weights->count) { /* for earlier rows the difference wraps around */
        weights->weight[row - weights->first] = weight;
    }
    return 0;
}

int row_weights_read(const char *path, double *weight, size_t first, size_t count, size_t n,
                     struct error *err) {
    struct weights weights = {source_shown(path), weight, first, count};
    return lines_each(path, n, take_weight, &weights, err);
}

int row_weights_refuse_zero(const struct data *data, struct cluster *cluster, const char *family,
                            struct error *err) {
    bool zero = false;
    for (size_t i = 0; data->weight && i < data->n_rows; i++) {
        zero |= data->weight[i] == 0;
    }
    return cluster_any(cluster, zero)
               ? error_set(err, ERROR_RUNTIME,
                           "a row has the weight 0: %s wants weights above 0, leave it out", family)
               : 0;
}
