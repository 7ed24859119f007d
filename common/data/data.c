/* Conversions, selections and copies of rows. */
#include "common/data/data.h"

#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/data/decimal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t data_values(const struct data *data) {
    return data->row_start ? (size_t)data->row_start[data->n_rows]
                           : data->n_rows * data->n_features;
}

size_t data_longest_row(const struct data *data) {
    size_t longest = 0;
    for (size_t i = 0; i < data->n_rows; i++) {
        size_t n = data_stored(data, i).n;
        longest = n > longest ? n : longest;
    }
    return longest;
}

/* Moves consecutive rows to their positions in a wider array, from the last value backwards: the
 * new position of a value is never before its old one, so only values that were moved are
 * overwritten. column = NULL: the rows hold columns 0..old_width-1. */
static void widen_rows(struct data *data, size_t old_width, size_t width) {
    float *value = data->value;
    for (size_t i = data->n_rows; i-- > 0;) {
        size_t first = data->row_start ? (size_t)data->row_start[i] : i * old_width;
        size_t last = data->row_start ? (size_t)data->row_start[i + 1] : first + old_width;
        size_t filled = (i + 1) * width; /* positions from here on are final */
        for (size_t k = last; k-- > first;) {
            size_t place = i * width + (data->column ? data->column[k] : k - first);
            float v = value[k];
            memset(value + place + 1, 0, (filled - place - 1) * sizeof *value);
            value[place] = v;
            filled = place;
        }
        memset(value + i * width, 0, (filled - i * width) * sizeof *value);
    }
}

/* ---- compact rows ---- */

/* Maps the columns of sparse rows to positions in the list; values in other columns are dropped. */
static void select_columns(struct data *data, const struct indices *indices) {
    uint64_t n = 0, at = 0;
    for (size_t i = 0; i < data->n_rows; i++) {
        for (uint64_t end = data->row_start[i + 1]; at < end; at++) {
            uint32_t column = indices_find(indices, data->column[at]);
            data->column[n] = column;
            data->value[n] = data->value[at];
            n += column != INDICES_NONE;
        }
        data->row_start[i + 1] = n;
    }
}

static int select_dense(struct data *data, const struct indices *indices, struct error *err) {
    size_t cells, width = data->n_features;
    if (__builtin_mul_overflow(data->n_rows, (size_t)indices->n, &cells)) {
        cells = SIZE_MAX;
    }
    float *value = memory_array(cells, sizeof *value, "dense rows", err);
    if (!value) {
        return -1;
    }
    for (size_t i = 0; i < data->n_rows; i++) {
        for (size_t c = 0; c < indices->n; c++) {
            size_t column = indices->at[c];
            value[i * indices->n + c] = column < width ? data->value[i * width + column] : 0;
        }
    }
    free(data->value);
    data->value = value;
    return 0;
}

int data_select(struct data *data, const struct indices *indices, struct error *err) {
    struct indices copy;
    if (data_own(data, false, err) < 0 || indices_copy(indices, &copy, err) < 0) {
        return -1;
    }
    if (data->row_start) {
        select_columns(data, &copy);
    } else if (select_dense(data, &copy, err) < 0) {
        indices_free(&copy);
        return -1;
    }
    data->largest = data->n_features;
    data->n_features = copy.n;
    data->indices = copy;
    return 0;
}

int data_compact(struct data *data, struct error *err) {
    if (!data->row_start || data->indices.at) {
        return 0;
    }
    const struct indices_part part = {data->column, data_values(data)};
    int few = indices_few(part.column, part.n, data->n_features, err);
    if (few <= 0) {
        return few;
    }
    struct indices indices;
    int status = indices_list(&indices, &part, 1, err);
    status = status < 0 ? -1 : data_select(data, &indices, err);
    indices_free(&indices);
    return status;
}

int data_make_sparse(struct data *data, struct error *err) {
    size_t n = 0, width = data->n_features, cells = data_values(data);
    if (data->row_start) {
        return 0;
    }
    if (data_own(data, false, err) < 0) {
        return -1;
    }
    for (size_t k = 0; k < cells; k++) {
        n += data->value[k] != 0;
    }
    data->column = memory_array(n, sizeof *data->column, "columns", err);
    data->row_start =
        data->column ? memory_array(data->n_rows + 1, sizeof *data->row_start, "rows", err) : NULL;
    if (!data->row_start) {
        free(data->column);
        data->column = NULL;
        return -1;
    }
    n = 0;
    for (size_t i = 0; i < data->n_rows; i++) {
        data->row_start[i] = n;
        for (size_t c = 0; c < width; c++) {
            float value = data->value[i * width + c];
            if (value != 0) {
                data->column[n] = (uint32_t)c;
                data->value[n++] = value;
            }
        }
    }
    data->row_start[data->n_rows] = n;
    return 0;
}

int data_expand(struct data *data, struct error *err) {
    if (!data->indices.at) {
        return 0;
    }
    if (data_own(data, false, err) < 0 || data_make_sparse(data, err) < 0) {
        return -1;
    }
    size_t n = data_values(data);
    for (size_t k = 0; k < n; k++) {
        data->column[k] = data->indices.at[data->column[k]];
    }
    data->n_features = data->largest;
    indices_free(&data->indices);
    return 0;
}

/* ---- dense rows, cuts and copies ---- */

bool data_fills(size_t n_rows, uint32_t n_features, size_t n_values) {
    size_t cells;
    return !__builtin_mul_overflow(n_rows, (size_t)n_features, &cells) && cells / 2 < n_values;
}

int data_make_dense(struct data *data, uint32_t width, bool force, struct error *err) {
    if (width < data->n_features) {
        width = data->n_features;
    }
    bool sparse = data->row_start != NULL;
    size_t cells;
    bool fits = !__builtin_mul_overflow(data->n_rows, (size_t)width, &cells);
    if (sparse && !force && !data_fills(data->n_rows, width, data_values(data))) {
        data->n_features = width;
        return 0;
    }
    if (!fits) {
        return error_set(err, ERROR_RUNTIME, "out of memory: %zu dense rows of %u values",
                         data->n_rows, width);
    }
    if (!sparse && width == data->n_features) {
        return 0;
    }
    float *value = data_own(data, false, err) < 0
                       ? NULL
                       : memory_resize(data->value, cells, sizeof *value, "dense rows", err);
    if (!value) {
        return -1;
    }
    data->value = value;
    widen_rows(data, data->n_features, width);
    free(data->row_start);
    free(data->column);
    data->row_start = NULL;
    data->column = NULL;
    data->n_features = width;
    return 0;
}

void data_narrow(struct data *data, uint32_t width) {
    if (!data->row_start || data->n_features <= width) {
        return;
    }
    uint64_t n = 0, t = 0;
    for (size_t i = 0; i < data->n_rows; i++) {
        for (; t < data->row_start[i + 1]; t++) {
            if (data->column[t] < width) {
                data->column[n] = data->column[t];
                data->value[n++] = data->value[t];
            }
        }
        data->row_start[i + 1] = n;
    }
    data->n_features = width;
}

void data_truncate(struct data *data, size_t n_rows, uint32_t n_features) {
    size_t width = data->n_features;
    for (size_t i = 1; !data->row_start && n_features < width && i < n_rows; i++) {
        memmove(data->value + i * n_features, data->value + i * width,
                n_features * sizeof *data->value);
    }
    data->n_rows = n_rows;
    data->n_features = n_features;
}

/* The number of selected row i. */
static size_t row_number(const uint32_t *rows, size_t i) {
    return rows ? rows[i] : i;
}

/* Copies item rows[i] of `size` bytes for each i, or sets *copy to NULL when there is no source. */
static int copy_items(const void *source, const uint32_t *rows, size_t n, size_t size, void *copy,
                      struct error *err) {
    char *target = NULL;
    if (source) {
        target = memory_array(n, size, "rows", err);
        if (!target) {
            return -1;
        }
        for (size_t i = 0; i < n; i++) {
            memcpy(target + i * size, (const char *)source + row_number(rows, i) * size, size);
        }
    }
    memcpy(copy, &target, sizeof target);
    return 0;
}

/* The n + 1 offsets of the selected rows after they are copied one after the other. */
static uint64_t *copy_starts(const uint64_t *start, const uint32_t *rows, size_t n,
                             struct error *err) {
    uint64_t *copy = memory_array(n + 1, sizeof *copy, "row starts", err);
    if (copy) {
        copy[0] = 0;
        for (size_t i = 0; i < n; i++) {
            size_t row = row_number(rows, i);
            copy[i + 1] = copy[i] + (start[row + 1] - start[row]);
        }
    }
    return copy;
}

/* Copies the items of 4 bytes of `source` that belong to the selected rows. */
static void *copy_parts(const void *source, const uint64_t *start, const uint64_t *copy_start,
                        const uint32_t *rows, size_t n, const char *what, struct error *err) {
    enum { ITEM = sizeof(uint32_t) };
    _Static_assert(sizeof(float) == ITEM, "values and columns have the same size");
    char *copy = memory_array((size_t)copy_start[n], ITEM, what, err);
    if (copy) {
        for (size_t i = 0; i < n; i++) {
            memcpy(copy + copy_start[i] * ITEM,
                   (const char *)source + start[row_number(rows, i)] * ITEM,
                   (size_t)(copy_start[i + 1] - copy_start[i]) * ITEM);
        }
    }
    return copy;
}

static int copy_features(const struct data *data, const uint32_t *rows, size_t n,
                         struct data *subset, struct error *err) {
    if (data->row_start) {
        subset->row_start = copy_starts(data->row_start, rows, n, err);
        if (!subset->row_start) {
            return -1;
        }
        subset->column =
            copy_parts(data->column, data->row_start, subset->row_start, rows, n, "columns", err);
        subset->value =
            copy_parts(data->value, data->row_start, subset->row_start, rows, n, "values", err);
        return subset->column && subset->value ? 0 : -1;
    }
    size_t width = data->n_features;
    subset->value = memory_array(n * width, sizeof *subset->value, "values", err);
    if (!subset->value) {
        return -1;
    }
    for (size_t i = 0; i < n && width > 0; i++) {
        memcpy(subset->value + i * width, data->value + row_number(rows, i) * width,
               width * sizeof *subset->value);
    }
    return 0;
}

static int copy_labels(const struct data *data, const uint32_t *rows, size_t n, struct data *subset,
                       struct error *err) {
    if (data->labels != DATA_SET) {
        return copy_items(data->label, rows, n, sizeof *data->label, &subset->label, err);
    }
    subset->label_start = copy_starts(data->label_start, rows, n, err);
    if (!subset->label_start) {
        return -1;
    }
    subset->label =
        copy_parts(data->label, data->label_start, subset->label_start, rows, n, "labels", err);
    return subset->label ? 0 : -1;
}

/* Copies the arrays of the rows. */
static int copy_rows(const struct data *data, const uint32_t *rows, size_t n, struct data *subset,
                     struct error *err) {
    if (copy_labels(data, rows, n, subset, err) < 0 ||
        copy_items(data->target, rows, n, sizeof *data->target, &subset->target, err) < 0 ||
        copy_items(data->query, rows, n, sizeof *data->query, &subset->query, err) < 0 ||
        copy_items(data->weight, rows, n, sizeof *data->weight, &subset->weight, err) < 0 ||
        copy_items(data->serial, rows, n, sizeof *data->serial, &subset->serial, err) < 0 ||
        names_add_all(&subset->names, data->names.name, data->names.n, err) < 0) {
        return -1;
    }
    return names_add_all(&subset->queries, data->queries.name, data->queries.n, err);
}

/* Data of n rows with all arrays NULL. */
static struct data empty(const struct data *data, size_t n) {
    struct data made = {.n_rows = n,
                        .n_features = data->n_features,
                        .largest = data->largest,
                        .labels = data->labels};
    memcpy(made.comment, data->comment, sizeof made.comment);
    return made;
}

int data_subset(const struct data *data, const uint32_t *rows, size_t n, struct data *subset,
                struct error *err) {
    *subset = empty(data, n);
    if (indices_copy(&data->indices, &subset->indices, err) < 0 ||
        copy_features(data, rows, n, subset, err) < 0 ||
        copy_rows(data, rows, n, subset, err) < 0) {
        data_free(subset);
        return -1;
    }
    return 0;
}

/* Appends m items to n. */
#define APPEND(array, n, more, m, err)                                                             \
    (memory_enlarge(&(array), (n) + (m), sizeof *(array), "rows", err) < 0                         \
         ? -1                                                                                      \
         : ((m) > 0 ? (void)memcpy((array) + (n), (more), (m) * sizeof *(array)) : (void)0, 0))

/* Appends the starts of m lists (m + 1) to those of n lists (n + 1; NULL for n = 0). */
static int append_starts(uint64_t **starts, size_t n, const uint64_t *more, size_t m,
                         struct error *err) {
    if (memory_enlarge(starts, n + m + 1, sizeof **starts, "rows", err) < 0) {
        return -1;
    }
    (*starts)[0] = 0;
    for (size_t i = 1; i <= m; i++) {
        (*starts)[n + i] = (*starts)[n] + more[i] - more[0];
    }
    return 0;
}

static int append_features(struct data *data, struct data *more, struct error *err) {
    size_t n = data->n_rows;
    uint32_t width = more->n_features;
    bool dense = !more->row_start && (n == 0 || (!data->row_start && data->n_features == width));
    if (!dense && ((n > 0 && data_make_sparse(data, err) < 0) || data_make_sparse(more, err) < 0)) {
        return -1;
    }
    size_t held = n > 0 ? data_values(data) : 0;
    size_t first = dense ? 0 : (size_t)more->row_start[0];
    size_t m = dense ? data_values(more) : (size_t)more->row_start[more->n_rows] - first;
    data->n_features = data->n_features > width ? data->n_features : width;
    data->largest = data->largest > more->largest ? data->largest : more->largest;
    if (APPEND(data->value, held, more->value + first, m, err) < 0) {
        return -1;
    }
    return dense ? 0
           : APPEND(data->column, held, more->column + first, m, err) < 0
               ? -1
               : append_starts(&data->row_start, n, more->row_start, more->n_rows, err);
}

/* The numbers that the names of `more` get in names: UINT32_MAX until one is asked for. */
struct renumbering {
    struct names *names;
    const struct names *more;
    uint32_t *number; /* (more->n) */
};

static int renumbering_create(struct renumbering *map, struct names *names,
                              const struct names *more, struct error *err) {
    *map = (struct renumbering){names, more, memory_array(more->n, sizeof(uint32_t), "names", err)};
    for (size_t i = 0; map->number && i < more->n; i++) {
        map->number[i] = UINT32_MAX;
    }
    return map->number ? 0 : -1;
}

/* *number = the number of name k, which is added to names if it is new there. */
static int renumber(const struct renumbering *map, size_t k, uint32_t *number, struct error *err) {
    const char *name = map->more->name[k];
    if (map->number[k] == UINT32_MAX &&
        names_add(map->names, name, strlen(name), &map->number[k], err) < 0) {
        return -1;
    }
    *number = map->number[k];
    return 0;
}

static int append_labels(struct data *data, const struct data *more, struct error *err) {
    size_t n = data->n_rows, m = more->n_rows, first = 0;
    data->labels = more->labels;
    if (data->labels == DATA_NUMBER) {
        return APPEND(data->target, n, more->target, m, err);
    }
    if (data->labels == DATA_SET) {
        first = (size_t)more->label_start[0];
        m = (size_t)more->label_start[m] - first;
        n = n > 0 ? (size_t)data->label_start[n] : 0;
    }
    struct renumbering map;
    int status = renumbering_create(&map, &data->names, &more->names, err) < 0
                     ? -1
                     : APPEND(data->label, n, more->label + first, m, err);
    for (size_t i = n; status == 0 && i < n + m; i++) {
        uint32_t *label = &data->label[i];
        status = *label == UINT32_MAX ? 0 : renumber(&map, *label, label, err);
    }
    free(map.number);
    return status < 0 || data->labels != DATA_SET
               ? status
               : append_starts(&data->label_start, data->n_rows, more->label_start, more->n_rows,
                               err);
}

/* Appends qids, 0 for rows without. */
static int append_queries(struct data *data, const struct data *more, struct error *err) {
    size_t n = data->n_rows, m = more->n_rows;
    bool had = data->query != NULL;
    if (!had && !more->query) {
        return 0;
    }
    struct renumbering map;
    int status = renumbering_create(&map, &data->queries, &more->queries, err);
    if (status == 0) {
        status = memory_enlarge(&data->query, n + m, sizeof *data->query, "queries", err);
    }
    for (size_t i = had ? n : 0; status == 0 && i < n + m; i++) {
        uint64_t query = i >= n && more->query ? more->query[i - n] : 0;
        uint32_t name = 0;
        if (query >= DATA_QUERY_NAME) {
            status = renumber(&map, (size_t)(query - DATA_QUERY_NAME), &name, err);
            query = DATA_QUERY_NAME + name;
        }
        data->query[i] = query;
    }
    free(map.number);
    return status;
}

/* Appends row weights, 1 for rows without. */
static int append_weights(struct data *data, const struct data *more, struct error *err) {
    size_t n = data->n_rows, m = more->n_rows;
    bool had = data->weight != NULL;
    if (!had && !more->weight) {
        return 0;
    }
    if (memory_enlarge(&data->weight, n + m, sizeof *data->weight, "weights of rows", err) < 0) {
        return -1;
    }
    for (size_t i = had ? n : 0; i < n + m; i++) {
        data->weight[i] = i >= n && more->weight ? more->weight[i - n] : 1;
    }
    return 0;
}

static int append_remarks(struct data *data, const struct data *more, struct error *err) {
    size_t n = data->n_rows, m = more->n_rows;
    size_t held = n > 0 ? (size_t)data->remark_start[n] : 0;
    size_t first = (size_t)more->remark_start[0], last = (size_t)more->remark_start[m];
    return APPEND(data->remark, held, more->remark + first, last - first, err) < 0
               ? -1
               : append_starts(&data->remark_start, n, more->remark_start, m, err);
}

int data_append(struct data *data, struct data *more, struct error *err) {
    size_t n = data->n_rows, m = more->n_rows;
    if (append_features(data, more, err) < 0 || append_labels(data, more, err) < 0 ||
        append_queries(data, more, err) < 0 || append_weights(data, more, err) < 0 ||
        (more->serial && APPEND(data->serial, n, more->serial, m, err) < 0) ||
        (more->remark_start && append_remarks(data, more, err) < 0)) {
        return -1;
    }
    data->rows_before = n > 0 ? data->rows_before : more->rows_before;
    data->n_rows = n + m;
    return 0;
}

int data_own(struct data *data, bool rows, struct error *err) {
    struct data own = *data, features = empty(data, data->n_rows), others = features;
    if (data->borrowed_features) {
        if (indices_copy(&data->indices, &features.indices, err) < 0 ||
            copy_features(data, NULL, data->n_rows, &features, err) < 0) {
            data_free(&features);
            return -1;
        }
        own.indices = features.indices;
        own.row_start = features.row_start;
        own.column = features.column;
        own.value = features.value;
        own.borrowed_features = false;
        *data = own;
    }
    if (rows && data->borrowed_rows) {
        if (copy_rows(data, NULL, data->n_rows, &others, err) < 0) {
            data_free(&others);
            return -1;
        }
        others.indices = data->indices;
        others.row_start = data->row_start;
        others.column = data->column;
        others.value = data->value;
        *data = others;
    }
    return 0;
}

struct data data_view(const struct data *data, size_t first, size_t n) {
    struct data part = *data;
    part.n_rows = n;
    part.rows_before += first;
    part.borrowed_features = part.borrowed_rows = true;
    if (data->row_start) {
        part.row_start = data->row_start + first;
    } else {
        part.value = data->value + first * data->n_features;
    }
    part.target = data->target ? data->target + first : NULL;
    if (data->label_start) {
        part.label_start = data->label_start + first;
    } else {
        part.label = data->label ? data->label + first : NULL;
    }
    part.weight = data->weight ? data->weight + first : NULL;
    part.query = data->query ? data->query + first : NULL;
    part.serial = data->serial ? data->serial + first : NULL;
    part.remark_start = data->remark_start ? data->remark_start + first : NULL;
    return part;
}

const char *data_query_text(const struct names *queries, uint64_t query,
                            char text[DATA_QUERY_TEXT]) {
    if (query >= DATA_QUERY_NAME) {
        return queries->name[query - DATA_QUERY_NAME];
    }
    snprintf(text, DATA_QUERY_TEXT, "%" PRIu64, query);
    return text;
}

bool data_query_number(const char *text, size_t length, uint64_t *number) {
    const char *end = text + length;
    struct decimal decimal;
    int small;
    if (number_parse_unsigned(text, end, number) == end && *number < DATA_QUERY_NAME) {
        return true;
    }
    if (!decimal_read(&decimal, text, length) || !decimal_to_int(&decimal, &small) || small < 0) {
        return false;
    }
    *number = (uint64_t)small;
    return true;
}

bool data_find_query(const struct names *queries, const char *text, size_t length,
                     uint64_t *query) {
    if (data_query_number(text, length, query)) {
        return true;
    }
    uint32_t name = names_find(queries, text, length);
    *query = DATA_QUERY_NAME + name;
    return name != UINT32_MAX;
}

void data_row_dense(const struct data *data, size_t row, size_t width, double *dense) {
    if (data->row_start) {
        memset(dense, 0, width * sizeof *dense);
        for (uint64_t k = data->row_start[row]; k < data->row_start[row + 1]; k++) {
            if (data->column[k] < width) {
                dense[data->column[k]] = data->value[k];
            }
        }
        return;
    }
    const float *value = data->value + row * data->n_features;
    size_t stored = width < data->n_features ? width : data->n_features;
    for (size_t j = 0; j < stored; j++) {
        dense[j] = value[j];
    }
    memset(dense + stored, 0, (width - stored) * sizeof *dense);
}

float data_value(const struct data *data, size_t row, uint64_t column) {
    if (!data->row_start) {
        return column < data->n_features ? data->value[row * data->n_features + column] : 0;
    }
    uint64_t low = data->row_start[row], end = data->row_start[row + 1], high = end;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        *(data->column[middle] < column ? &low : &high) = middle + (data->column[middle] < column);
    }
    return low < end && data->column[low] == column ? data->value[low] : 0;
}

int data_make_labels(struct data *data, enum data_labels labels, struct error *err) {
    size_t n = data->n_rows;
    data->labels = labels;
    if (labels == DATA_NUMBER) {
        data->target = memory_array(n, sizeof *data->target, "labels", err);
        for (size_t i = 0; data->target && i < n; i++) {
            data->target[i] = NAN;
        }
        return data->target ? 0 : -1;
    }
    data->label = memory_array(labels == DATA_NAME ? n : 0, sizeof *data->label, "labels", err);
    if (labels == DATA_SET) {
        data->label_start = memory_zeros(n + 1, sizeof *data->label_start, "labels", err);
        return data->label && data->label_start ? 0 : -1;
    }
    for (size_t i = 0; data->label && i < n; i++) {
        data->label[i] = UINT32_MAX;
    }
    return data->label ? 0 : -1;
}

void data_free(struct data *data) {
    if (!data->borrowed_features) {
        indices_free(&data->indices);
        free(data->row_start);
        free(data->column);
        free(data->value);
    }
    if (!data->borrowed_rows) {
        free(data->target);
        free(data->label);
        free(data->label_start);
        free(data->query);
        free(data->weight);
        free(data->serial);
        free(data->remark);
        free(data->remark_start);
        names_free(&data->names);
        names_free(&data->queries);
    }
    *data = (struct data){0};
}
