/* Data: rows from a file or from arrays, stored exactly as the reader of files would store them. */
#include "library/private.h"

#include "common/base/memory.h"
#include "driver/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Row numbers and columns have 32 bits in the solvers, and one value is reserved for "none". */
static const size_t MAX_ROWS = UINT32_MAX - 1;

/* ---- creation ---- */

struct dualsvm_data *library_data_create(const struct family_tables *family, size_t n,
                                         struct error *err) {
    struct dualsvm_data *made = memory_zeros(1, sizeof *made, "data", err);
    if (!made) {
        return NULL;
    }
    made->family = family;
    made->data.n_rows = n;
    if (data_make_labels(&made->data, family->train->labels, err) < 0) {
        dualsvm_data_free(made);
        return NULL;
    }
    return made;
}

void dualsvm_data_free(dualsvm_data *data) {
    if (!data) {
        return;
    }
    if (data->lent) { /* everything else is owned */
        data->data.value = NULL;
    }
    data_free(&data->data);
    folds_free(&data->folds);
    free(data);
}

size_t dualsvm_data_rows(const dualsvm_data *data) {
    return data ? data->data.n_rows : 0;
}

size_t dualsvm_data_features(const dualsvm_data *data) {
    return data ? data_largest(&data->data) : 0;
}

void dualsvm_data_view(const dualsvm_data *data, dualsvm_rows *rows, size_t size) {
    if (!data || !rows) {
        return;
    }
    const struct data *from = &data->data;
    const dualsvm_rows view = {.rows = from->n_rows,
                               .features = data_largest(from),
                               .columns = from->n_features,
                               .feature = from->indices.at,
                               .start = from->row_start,
                               .index = from->column,
                               .value = from->value,
                               .number = from->target,
                               .label_start = from->label_start,
                               .label = from->label,
                               .name = (const char *const *)from->names.name,
                               .names = from->names.n,
                               .query = from->query,
                               .query_name = (const char *const *)from->queries.name,
                               .query_names = from->queries.n};
    memcpy(rows, &view, size < sizeof view ? size : sizeof view);
}

int library_check_data(const struct dualsvm_data *data, const struct family_tables *family,
                       dualsvm_error *error) {
    return data->family == family
               ? 0
               : library_refuse(error, "data of the family %s, where %s is wanted",
                                data->family->train->name, family->train->name);
}

/* ---- files ---- */

static int read_file(struct dualsvm_data *data, const struct dualsvm_options *options,
                     const char *path, struct error *err) {
    const struct predictor *predictor = data->family->predict;
    bool trains = options->role == DUALSVM_TRAIN, predicts = options->role == DUALSVM_PREDICT;
    const struct input_format format = {
        .labels = data->family->train->labels,
        .label_optional = true,
        .missing_labels = options->role == DUALSVM_CANDIDATES,
        .precomputed = trains && fit_precomputed(data->family->train, &options->options),
        .remarks =
            predicts && predictor->wants_comments && predictor->wants_comments(&options->options)};
    struct threads *threads;
    if (threads_create(&threads, (size_t)options_number(&options->options, "threads"), err) < 0) {
        return -1;
    }
    int status = input_read(&data->data, path, &format, threads, err);
    threads_free(threads);
    return status;
}

int dualsvm_data_read(dualsvm_data **data, const dualsvm_options *options, const char *path,
                      dualsvm_error *error) {
    if (data) {
        *data = NULL;
    }
    if (!data || !options || !path) {
        return library_refuse(error, "no options, no path, or no place for data");
    }
    struct error err = {0};
    struct dualsvm_data *made = memory_zeros(1, sizeof *made, "data", &err);
    if (!made) {
        return library_fail(error, &err);
    }
    made->family = options->family;
    if (read_file(made, options, path, &err) < 0) {
        made->data = (struct data){0};
        dualsvm_data_free(made);
        return library_fail(error, &err);
    }
    *data = made;
    return 0;
}

/* ---- arrays ---- */

/* A matrix in arrays of the caller. */
struct source {
    const void *value;
    int type; /* type of the values */
    size_t rows, columns;
    size_t stride;             /* of dense rows */
    const void *start, *index; /* CSR; NULL: dense */
    int index_type;
};

static double value_at(const struct source *source, size_t k) {
    return source->type == DUALSVM_FLOAT ? (double)((const float *)source->value)[k]
                                         : ((const double *)source->value)[k];
}

/* Negative numbers become values above every bound. */
static uint64_t index_at(const struct source *source, const void *array, size_t k) {
    return source->index_type == DUALSVM_INT32 ? (uint64_t)(int64_t)((const int32_t *)array)[k]
                                               : (uint64_t)((const int64_t *)array)[k];
}

/* The items first .. end of row i, and the column of an item. */
static size_t row_first(const struct source *source, size_t i) {
    return source->start ? (size_t)index_at(source, source->start, i) : i * source->stride;
}

static size_t row_end(const struct source *source, size_t i) {
    return source->start ? (size_t)index_at(source, source->start, i + 1)
                         : i * source->stride + source->columns;
}

static size_t column_of(const struct source *source, size_t first, size_t k) {
    return source->start ? (size_t)index_at(source, source->index, k) : k - first;
}

/* The size of a matrix. */
struct extent {
    size_t values;   /* nonzero values */
    size_t zeros;    /* stored zeros */
    size_t features; /* the largest column with a nonzero value, from 1 */
};

/* Checks that the columns of row i increase and are in range. */
static int check_row(const struct source *source, size_t i, struct error *err) {
    size_t first = row_first(source, i), end = row_end(source, i);
    if (end < first || (source->start && end > index_at(source, source->start, source->rows))) {
        return error_set(err, ERROR_USAGE, "row %zu: starts of rows do not increase", i + 1);
    }
    for (size_t k = first, next = 0; k < end; k++) {
        size_t column = column_of(source, first, k);
        if (column < next || column >= source->columns) {
            return error_set(err, ERROR_USAGE,
                             "row %zu: columns do not increase, or one is not below %zu", i + 1,
                             source->columns);
        }
        next = column + 1;
    }
    return 0;
}

/* Checks all values, and counts them. A value that rounds to 0 in single precision is 0. */
static int measure(const struct source *source, struct extent *extent, struct error *err) {
    *extent = (struct extent){0};
    if (source->start && index_at(source, source->start, 0) != 0) {
        return error_set(err, ERROR_USAGE, "the first row does not start at 0");
    }
    if (source->start && index_at(source, source->start, source->rows) > INT64_MAX) {
        return error_set(err, ERROR_USAGE, "the last row ends below 0");
    }
    for (size_t i = 0; i < source->rows; i++) {
        if (source->start && check_row(source, i, err) < 0) {
            return -1;
        }
        size_t first = row_first(source, i), end = row_end(source, i);
        for (size_t k = first; k < end; k++) {
            float value = (float)value_at(source, k);
            size_t column = column_of(source, first, k);
            if (!isfinite(value)) {
                return error_set(err, ERROR_RUNTIME,
                                 "row %zu, column %zu: %g is not finite, or too large for single "
                                 "precision",
                                 i + 1, column + 1, value_at(source, k));
            }
            extent->zeros += value == 0;
            extent->values += value != 0;
            extent->features =
                value != 0 && column >= extent->features ? column + 1 : extent->features;
        }
    }
    return 0;
}

/* Returns whether the caller's array of values can be used in place, given whether rows are stored
 * dense. */
static bool lendable(const struct source *source, const struct extent *extent, bool dense) {
    if (source->type != DUALSVM_FLOAT || !source->value) {
        return false;
    }
    return source->start
               ? !dense && extent->zeros == 0
               : dense && source->stride == source->columns && source->columns == extent->features;
}

static int fill_dense(struct data *data, const struct source *source, struct error *err) {
    size_t width = data->n_features;
    data->value = memory_array(data->n_rows * width, sizeof *data->value, "values", err);
    if (!data->value) {
        return -1;
    }
    if (source->start) {
        memset(data->value, 0, data->n_rows * width * sizeof *data->value);
    }
    for (size_t i = 0; i < data->n_rows; i++) {
        size_t first = row_first(source, i), end = row_end(source, i);
        for (size_t k = first; k < end; k++) {
            size_t column = column_of(source, first, k);
            if (column < width) { /* the columns beyond are 0 */
                data->value[i * width + column] = (float)value_at(source, k);
            }
        }
    }
    return 0;
}

static int fill_sparse(struct data *data, const struct source *source, size_t n_values, bool lent,
                       struct error *err) {
    data->row_start = memory_array(data->n_rows + 1, sizeof *data->row_start, "rows", err);
    data->column = memory_array(n_values, sizeof *data->column, "columns", err);
    float *value = NULL;
    if (!lent) {
        data->value = value = memory_array(n_values, sizeof *value, "values", err);
    }
    if (!data->row_start || !data->column || !data->value) {
        return -1;
    }
    size_t n = 0;
    data->row_start[0] = 0;
    for (size_t i = 0; i < data->n_rows; i++) {
        size_t first = row_first(source, i), end = row_end(source, i);
        for (size_t k = first; k < end; k++) {
            float item = (float)value_at(source, k);
            if (item == 0) {
                continue;
            }
            data->column[n] = (uint32_t)column_of(source, first, k);
            if (value) {
                value[n] = item;
            }
            n++;
        }
        data->row_start[i + 1] = n;
    }
    return 0;
}

/* Stores the rows, dense in the same cases as data_make_dense: if more than half of the values are
 * nonzero. */
static int take(struct dualsvm_data *data, const struct source *source, unsigned flags,
                struct error *err) {
    struct extent extent;
    struct data *rows = &data->data;
    if (measure(source, &extent, err) < 0) {
        return -1;
    }
    size_t cells;
    bool fits = !__builtin_mul_overflow(source->rows, extent.features, &cells);
    bool dense = fits && extent.features > 0 && cells / 2 < extent.values;
    data->lent = (flags & DUALSVM_LENT) && lendable(source, &extent, dense);
    data->zeros = extent.values < cells;
    rows->n_features = (uint32_t)extent.features;
    if (data->lent) {
        /* not modified: code that changes features copies them first (data_own) */
        memcpy(&rows->value, &source->value, sizeof rows->value);
    }
    if (dense) {
        return data->lent ? 0 : fill_dense(rows, source, err);
    }
    return fill_sparse(rows, source, extent.values, data->lent, err);
}

static int make(dualsvm_data **data, const struct family_tables *family,
                const struct source *source, unsigned flags, dualsvm_error *error) {
    struct error err = {0};
    if (source->rows > MAX_ROWS || source->columns > MAX_ROWS) {
        return library_refuse(error, "%zu rows of %zu columns: more than %zu", source->rows,
                              source->columns, MAX_ROWS);
    }
    if ((source->type != DUALSVM_FLOAT && source->type != DUALSVM_DOUBLE) ||
        (source->index_type != DUALSVM_INT32 && source->index_type != DUALSVM_INT64) ||
        flags > DUALSVM_LENT) {
        return library_refuse(error,
                              "no type of values or of indices, or a flag that there is not");
    }
    if (source->rows == 0) {
        return library_refuse(error, "no rows");
    }
    struct dualsvm_data *made = library_data_create(family, source->rows, &err);
    if (!made) {
        return library_fail(error, &err);
    }
    if (take(made, source, flags, &err) < 0) {
        dualsvm_data_free(made);
        return library_fail(error, &err);
    }
    *data = made;
    return 0;
}

int dualsvm_data_dense(dualsvm_data **data, const char *family, const void *values, int type,
                       size_t rows, size_t columns, size_t stride, unsigned flags,
                       dualsvm_error *error) {
    if (data) {
        *data = NULL;
    }
    if (!data || (!values && columns > 0)) {
        return library_refuse(error, "no values, or no place for data");
    }
    const struct family_tables *tables = library_family(family, error);
    const struct source source = {
        .value = values, .type = type, .rows = rows, .columns = columns, .stride = stride};
    if (!tables) {
        return -1;
    }
    return stride < columns
               ? library_refuse(error, "rows of %zu columns, %zu apart", columns, stride)
               : make(data, tables, &source, flags, error);
}

int dualsvm_data_csr(dualsvm_data **data, const char *family, const void *start, const void *index,
                     int index_type, const void *values, int value_type, size_t rows,
                     size_t columns, unsigned flags, dualsvm_error *error) {
    if (data) {
        *data = NULL;
    }
    if (!data || !start) {
        return library_refuse(error, "no starts of rows, or no place for data");
    }
    const struct family_tables *tables = library_family(family, error);
    const struct source source = {.value = values,
                                  .type = value_type,
                                  .rows = rows,
                                  .columns = columns,
                                  .start = start,
                                  .index = index,
                                  .index_type = index_type};
    if (!tables) {
        return -1;
    }
    if ((!index || !values) && (index_type == DUALSVM_INT32 || index_type == DUALSVM_INT64) &&
        index_at(&source, start, rows) > 0) {
        return library_refuse(error, "no indices, or no values");
    }
    return make(data, tables, &source, flags, error);
}
