/* Reads the rows of a fit, makes folds, chooses the storage of the rows, and fits their scaling. */
#include "driver/training_data.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/data/allgather.h"
#include "common/data/distribute.h"
#include "common/data/fingerprint.h"
#include "common/data/row_weights.h"
#include "common/model/checksum.h"
#include "driver/fit.h"
#include "driver/progress.h"

#include <inttypes.h>
#include <stdlib.h>

static struct input_format format_of(const struct family *family, const struct options *options) {
    return (struct input_format){.labels = family->labels,
                                 .precomputed = fit_precomputed(family, options),
                                 .find_limit = family->limit,
                                 .context = options};
}

/* Reads all rows, or on a cluster this process's part. */
static int read_rows(struct training_data *training, struct distributed_rows *rows,
                     const struct family *family, const struct options *options,
                     struct threads *threads, struct error *err) {
    const struct input_format format = format_of(family, options);
    const char *path = options->operand[0];
    struct data *data = &training->data;
    if (training->distributed) {
        return distribute_read(data, rows, path, &format, family->folds_by_query,
                               training->distributed, threads, err);
    }
    int status = input_read(data, path, &format, threads, err);
    *rows = (struct distributed_rows){.n = data->n_rows};
    return status;
}

/* The arguments of `limit` for validation rows: the first line of the training file holds for them
 * too. */
struct held_limit {
    const struct family *family;
    const struct options *options;
    const char *comment; /* the first line of the training file */
};

static void find_held_limit(const void *context, const char *comment, struct input_limit *limit) {
    const struct held_limit *held = context;
    (void)comment;
    held->family->limit(held->options, held->comment, limit);
}

static int read_held(struct data *held, const struct training_data *training,
                     const struct family *family, const struct options *options,
                     struct threads *threads, struct error *err) {
    const struct held_limit limit = {family, options, training->data.comment};
    struct input_format format = format_of(family, options);
    if (family->limit) {
        format.find_limit = find_held_limit;
        format.context = &limit;
    }
    const char *path = options_text(options, "validate");
    if (input_read(held, path, &format, threads, err) < 0) {
        return -1;
    }
    return family->check_held && family->check_held(options, &training->data, held, err) < 0
               ? error_prefix(err, path)
               : 0;
}

static int make_folds(struct training_data *training, const struct family *family,
                      const struct options *options, struct threads *threads, struct error *err) {
    struct folds *folds = &training->folds;
    size_t n = (size_t)options_number(options, "folds");
    uint64_t seed = (uint64_t)options_number(options, "seed");
    const char *path = options_text(options, "fold-file");
    if (path) {
        n = options_given(options, "folds") ? n : 0;
        return folds_read(folds, path, training->data.n_rows, n, seed, err);
    }
    if (options_given(options, "validate")) {
        struct data held = {0};
        int status = read_held(&held, training, family, options, threads, err);
        status = status < 0 ? -1 : folds_join(folds, &training->data, &held, err);
        data_free(&held);
        return status;
    }
    return family->folds_by_query ? folds_by_query(folds, &training->data, n, seed, err)
                                  : folds_by_row(folds, &training->data, n, seed, err);
}

/* Reads the weights of the training rows, one number per line; on a cluster those of this process's
 * rows. Validation rows have weight 1. */
static int read_row_weights(struct training_data *training, const struct distributed_rows *rows,
                            const char *path, struct error *err) {
    size_t n = training->data.n_rows;
    double *weight = memory_array(n, sizeof *weight, "weights of rows", err);
    if (!weight || data_own(&training->data, true, err) < 0 ||
        row_weights_read(path, weight, rows->first, training->n_rows, rows->n, err) < 0) {
        free(weight);
        return -1;
    }
    for (size_t i = training->n_rows; i < n; i++) {
        weight[i] = 1;
    }
    free(training->data.weight);
    training->data.weight = weight;
    return 0;
}

/* Chooses the storage of the rows: compact if few of the indices occur, dense if most values are
 * nonzero. Precomputed kernels, and families that set a width, refer to columns by number, and are
 * not compact. */
static int hold(struct data *data, uint32_t width, bool compact, struct error *err) {
    return compact && data_compact(data, err) < 0 ? -1 : data_make_dense(data, width, false, err);
}

/* Prepares the rows for a fit. given: folds of the application, or NULL. */
static int prepare(struct training_data *training, const struct distributed_rows *rows,
                   const struct family *family, const struct options *options,
                   bool cross_validating, const struct folds *given, struct threads *threads,
                   struct error *err) {
    struct data *data = &training->data;
    struct cluster *distributed = training->distributed;
    if (data->n_rows > UINT32_MAX - 1) {
        return error_set(err, ERROR_RUNTIME, "%zu rows: more than %" PRIu32, data->n_rows,
                         UINT32_MAX - 1);
    }
    if (family->check_data && family->check_data(options, data, distributed, err) < 0) {
        return -1;
    }
    if (options_given(options, "proof")) {
        training->fingerprint = data_fingerprint(data, data->n_rows);
    }
    training->n_rows = data->n_rows;
    training->n_features = data->n_features;
    training->n_labels = data->names.n;
    if (cross_validating && (given ? folds_copy(given, &training->folds, err)
                                   : make_folds(training, family, options, threads, err)) < 0) {
        return -1;
    }
    if (options_given(options, "row-weights") &&
        read_row_weights(training, rows, options_text(options, "row-weights"), err) < 0) {
        return -1;
    }
    uint32_t width = 0;
    training->compact = !family->width && !fit_precomputed(family, options);
    if (family->width && family->width(options, data, &width, err) < 0) {
        return options->n_operands > 0 ? error_prefix(err, options->operand[0]) : -1;
    }
    if ((distributed ? distribute_hold(data, width, training->compact, distributed, err)
                     : hold(data, width, training->compact, err)) < 0) {
        return -1;
    }
    training->n_features = width > training->n_features ? width : training->n_features;
    return 0;
}

int training_data_read(struct training_data *training, const struct family *family,
                       const struct options *options, bool cross_validating,
                       struct cluster *distributed, struct threads *threads, struct error *err) {
    double start = clock_seconds();
    struct distributed_rows rows;
    *training = (struct training_data){.distributed = distributed};
    if (read_rows(training, &rows, family, options, threads, err) < 0 ||
        prepare(training, &rows, family, options, cross_validating, NULL, threads, err) < 0) {
        training_data_free(training);
        return -1;
    }
    training->seconds = clock_seconds() - start;
    return 0;
}

int training_data_take(struct training_data *training, const struct data *rows,
                       const struct folds *folds, const struct family *family,
                       const struct options *options, bool cross_validating,
                       struct threads *threads, struct error *err) {
    const struct distributed_rows all = {.n = rows->n_rows};
    *training = (struct training_data){.data = *rows};
    training->data.borrowed_features = training->data.borrowed_rows = true;
    if (prepare(training, &all, family, options, cross_validating, folds, threads, err) < 0) {
        training_data_free(training);
        return -1;
    }
    return 0;
}

/* Gives each process the rows of all. Called by all processes of `distributed`, which becomes
 * NULL. */
static int allgather(struct training_data *training, struct error *err) {
    if (training->distributed && allgather_rows(&training->data, training->distributed, err) < 0) {
        return -1;
    }
    training->n_rows = training->data.n_rows;
    training->distributed = NULL;
    return 0;
}

/* Returns whether rows get the mean features of their query. */
static bool has_query_features(const struct options *options) {
    return options_given(options, "query-features") &&
           options_choice(options, "query-features") != 0;
}

bool training_data_scale_depends_on_rows(const struct options *options) {
    size_t kind = options_choice(options, "scale");
    return (kind != SCALE_NONE && kind != SCALE_L2) || has_query_features(options);
}

int training_data_fit_scale(struct scale *scale, const struct options *options,
                            const struct data *data, struct cluster *cluster, struct error *err) {
    enum scale_kind kind = (enum scale_kind)options_choice(options, "scale");
    if (scale_fit(scale, kind, data, cluster, err) < 0) {
        return -1;
    }
    if (has_query_features(options) && scale_add_query_means(scale, data, err) < 0) {
        scale_free(scale);
        return -1;
    }
    return 0;
}

uint32_t training_data_checksum(const struct training_data *training) {
    const struct data *data = &training->data;
    uint32_t rows = data_fingerprint(data, data->n_rows);
    uint32_t checksum = model_checksum_add(0, (const char *)&rows, sizeof rows);
    checksum = model_checksum_add(checksum, (const char *)training->folds.fold,
                                  training->folds.n_rows * sizeof training->folds.fold[0]);
    return data->weight ? model_checksum_add(checksum, (const char *)data->weight,
                                             data->n_rows * sizeof data->weight[0])
                        : checksum;
}

int training_data_scale_rows(struct training_data *training, const struct options *options,
                             struct error *err) {
    struct scale scale = {0};
    int status = 0;
    if (options_choice(options, "scale") == SCALE_L2) {
        status = scale_fit(&scale, SCALE_L2, &training->data, NULL, err);
        status = status < 0 ? -1 : scale_apply(&scale, &training->data, err);
        scale_free(&scale);
    }
    return status;
}

int training_data_end_validation(struct training_data *training, struct error *err) {
    if (training->data.n_rows == training->n_rows) {
        return 0;
    }
    if (data_expand(&training->data, err) < 0) {
        return -1;
    }
    data_truncate(&training->data, training->n_rows, training->n_features);
    names_truncate(&training->data.names, training->n_labels);
    return hold(&training->data, 0, training->compact, err);
}

void training_data_free(struct training_data *training) {
    data_free(&training->data);
    folds_free(&training->folds);
    *training = (struct training_data){0};
}

/* ---- clusters ---- */

/* Bytes per row and per value, including the solver's arrays. */
static const double ROW_BYTES = 64, VALUE_BYTES = 16;

static struct family_size size_of(const struct training_data *read, size_t cache_bytes,
                                  struct cluster *cluster) {
    const struct data *data = &read->data;
    double total[2] = {(double)data->n_rows, (double)data_values(data)};
    cluster_sum(read->distributed, total, 2);
    return (struct family_size){.rows = total[0],
                                .values = total[1],
                                .features = data->n_features,
                                .labels = (double)data->names.n,
                                .ranks = (double)cluster_size(cluster),
                                .room = ROW_BYTES * total[0] + VALUE_BYTES * total[1] <=
                                        (double)cache_bytes};
}

int training_data_share(struct training_data *read, const struct family *family, struct point point,
                        size_t cache_bytes, struct cluster *cluster,
                        enum family_distribution *share, struct error *err) {
    struct family_size size = size_of(read, cache_bytes, cluster);
    *share = family->share ? family->share(point, &size) : FAMILY_DISTRIBUTED_ROWS;
    if (read->distributed) {
        return *share == FAMILY_DISTRIBUTED_ROWS ? 0 : allgather(read, err);
    }
    *share =
        *share == FAMILY_DISTRIBUTED_STARTS ? FAMILY_DISTRIBUTED_STARTS : FAMILY_SINGLE_PROCESS;
    return 0;
}
