#include "driver/notes.h"

#include "common/base/memory.h"

#include <math.h>
#include <stdlib.h>

/* Features whose largest values are so many times apart make most methods slow, and most kernels
 * blind to the smaller ones. */
static const double FAR_APART = 1000;

/* Features as large as this cost digits where they are multiplied, as kernels do. */
static const double LARGE = 1000;

/* largest (n_features) = the largest |value| of each feature. */
static void find_largest(const struct data *data, double *largest) {
    for (size_t i = 0; i < data->n_rows; i++) {
        if (data->row_start) {
            for (uint64_t at = data->row_start[i]; at < data->row_start[i + 1]; at++) {
                double *so_far = &largest[data->column[at]], size = fabs((double)data->value[at]);
                *so_far = size > *so_far ? size : *so_far;
            }
            continue;
        }
        const float *row = data->value + i * data->n_features;
        for (size_t j = 0; j < data->n_features; j++) {
            double size = fabs((double)row[j]);
            largest[j] = size > largest[j] ? size : largest[j];
        }
    }
}

/* What a scaling would not change, or what knows none. */
static bool takes_scales(const struct plain_fit *fit) {
    switch (fit->kernel.type) {
    case KERNEL_PRECOMPUTED:
    case KERNEL_TANIMOTO:
    case KERNEL_MINMAX:
        return false;
    default:
        return fit->model.scale.kind == SCALE_NONE;
    }
}

static void note_scales(const struct plain_fit *fit, const struct data *data,
                        struct output *output) {
    struct error unheard;
    if (!takes_scales(fit)) {
        return;
    }
    struct cluster *cluster = fit->problem.cluster;
    double *largest = memory_zeros(data->n_features, sizeof *largest, "ranges", &unheard);
    if (cluster_any(cluster, !largest)) {
        free(largest);
        return; /* a note is not worth a failure */
    }
    double least = INFINITY, most = 0;
    find_largest(data, largest);
    cluster_max(cluster, largest, data->n_features);
    for (size_t j = 0; j < data->n_features; j++) {
        double size = largest[j];
        least = size > 0 ? fmin(least, size) : least;
        most = fmax(most, size);
    }
    if (most > FAR_APART * least) {
        output_format(output,
                      "note = features range over %.3g (one) and %.3g (another): --scale std would "
                      "help\n",
                      least, most);
    } else if (most >= LARGE && !fit->solution.converged && !stop_limited(fit->solution.reason)) {
        output_format(output, "note = features reach %.3g: --scale std would help\n", most);
    }
    free(largest);
}

void notes_write(const struct plain_fit *fit, const struct data *data, struct output *output) {
    if (fit->solution.zero) {
        output_format(output, "note = %s\n", fit->solution.zero);
    } else if (data->n_features == 0) {
        output_format(output, "note = no row has an index:value (if the file is CSV: "
                              "tools/convert)\n");
    } else if (fit->solution.flat) {
        output_format(output, "note = all rows have the same score: the model tells nothing apart; "
                              "a larger cost or another kernel may help\n");
    }
    note_scales(fit, data, output);
}
