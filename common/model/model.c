/* Lines, columns and scores of a model in memory. */
#include "common/model/model.h"

#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/kernel/linear.h"

#include <cblas.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void model_free(struct model *model) {
    free(model->formulation);
    free(model->loss);
    free(model->solver);
    scale_free(&model->scale);
    free(model->bias);
    if (!model->borrowed_columns) {
        indices_free(&model->columns);
    }
    for (size_t i = 0; i < model->n_entries; i++) {
        free(model->entry[i].key);
        free(model->entry[i].value);
    }
    free(model->entry);
    if (!model->lent) {
        free(model->weights);
    }
    kernel_rows_free(&model->vector_rows);
    data_free(&model->vectors);
    free(model->coefficients);
    free(model->pairs);
    free(model->pair_matrix);
    *model = (struct model){0};
}

/* ---- lines of the family ---- */

int model_add(struct model *model, struct error *err, const char *key, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) {
        return error_set(err, ERROR_RUNTIME, "out of memory: the line %s of a model", key);
    }
    struct model_entry *grown = memory_resize(model->entry, model->n_entries + 1,
                                              sizeof model->entry[0], "model lines", err);
    if (!grown) {
        return -1;
    }
    model->entry = grown;
    struct model_entry entry = {memory_text(key, strlen(key), "a model line", err),
                                memory_array((size_t)length + 1, 1, "a model line", err)};
    if (!entry.key || !entry.value) {
        free(entry.key);
        free(entry.value);
        return -1;
    }
    va_start(arguments, format);
    vsnprintf(entry.value, (size_t)length + 1, format, arguments);
    va_end(arguments);
    model->entry[model->n_entries++] = entry;
    return 0;
}

int model_add_number(struct model *model, struct error *err, const char *key, double number) {
    char text[NUMBER_LENGTH];
    number_format(number, text);
    return model_add(model, err, key, "%s", text);
}

const char *model_value(const struct model *model, const char *key) {
    for (size_t i = 0; i < model->n_entries; i++) {
        if (strcmp(model->entry[i].key, key) == 0) {
            return model->entry[i].value;
        }
    }
    return NULL;
}

int model_number(const struct model *model, const char *key, double missing, double *number,
                 struct error *err) {
    const char *value = model_value(model, key);
    *number = missing;
    if (value && !number_parse_whole(value, number)) {
        return error_set(err, ERROR_RUNTIME, "the model's %s is not a number: '%s'", key, value);
    }
    return 0;
}

/* ---- columns ---- */

bool model_lists_features(const struct model *model) {
    return model->columns.at && scale_by_column(&model->scale);
}

uint32_t model_largest_index(const struct model *model) {
    return model->n_features - model->scale.query_means;
}

void model_count_unseen(const struct model *model, const struct data *rows, uint64_t *n,
                        uint64_t *unseen) {
    uint32_t known = model_largest_index(model);
    bool lists = model_lists_features(model);
    if (model->kernel.type == KERNEL_PRECOMPUTED) {
        return;
    }
    for (size_t i = 0; i < rows->n_rows; i++) {
        struct stored_row row = data_stored(rows, i);
        for (size_t k = 0; k < row.n; k++) {
            uint32_t column = stored_column(row, k);
            bool value = row.value[k] != 0;
            *n += value;
            *unseen += value && (column >= known ||
                                 (lists && indices_find(&model->columns, column) == INDICES_NONE));
        }
    }
}

int model_take_rows(const struct model *model, struct data *rows, struct error *err) {
    bool by_column = scale_by_column(&model->scale);
    bool has_columns = model->columns.at && (model->weights || by_column);
    /* other columns count in the norm of a row */
    if ((!by_column && scale_apply(&model->scale, rows, err) < 0) ||
        (has_columns && data_select(rows, &model->columns, err) < 0)) {
        return -1;
    }
    return by_column ? scale_apply(&model->scale, rows, err) : 0;
}

int model_align(struct model *model, const struct indices *columns, struct error *err) {
    size_t n = model->n_outputs;
    struct indices copy;
    double *weights = NULL;
    if (model->weights) {
        weights = memory_zeros(columns->n, n * sizeof *weights, "weights", err);
        if (!weights) {
            return -1;
        }
    }
    for (size_t c = 0; weights && c < model->n_columns; c++) {
        uint32_t to = indices_find(columns, model->columns.at[c]);
        if (to == INDICES_NONE) {
            free(weights);
            return 1;
        }
        memcpy(weights + to * n, model->weights + c * n, n * sizeof *weights);
    }
    if (indices_copy(columns, &copy, err) < 0) {
        free(weights);
        return -1;
    }
    free(model->weights);
    indices_free(&model->columns);
    model->weights = weights;
    model->columns = copy;
    model->n_columns = copy.n;
    return 0;
}

int model_expand(struct model *model, struct error *err) {
    size_t n = model->n_outputs, features = model->n_features;
    if (!model->columns.at || !model->weights) {
        return 0;
    }
    double *weights = memory_zeros(features, n * sizeof *weights, "weights", err);
    if (!weights) {
        return -1;
    }
    for (size_t c = 0; c < model->n_columns; c++) {
        memcpy(weights + model->columns.at[c] * n, model->weights + c * n, n * sizeof *weights);
    }
    free(model->weights);
    indices_free(&model->columns);
    model->weights = weights;
    model->n_columns = model->n_features;
    return 0;
}

const double *model_weights_of(const struct model *model, uint32_t index) {
    uint32_t place = model->columns.at ? indices_find(&model->columns, index) : index;
    return place != INDICES_NONE ? model->weights + (size_t)place * model->n_outputs : NULL;
}

/* ---- scores ---- */

int model_prepare(struct model *model, struct error *err) {
    if (model->weights) {
        return 0;
    }
    if (kernel_rows_create(&model->vector_rows, &model->kernel, &model->vectors, err) < 0) {
        return -1;
    }
    if (!model->pairs) {
        return 0;
    }
    size_t n = model->vectors.n_rows, cells;
    if (__builtin_mul_overflow(n, n, &cells)) {
        cells = SIZE_MAX;
    }
    model->pair_matrix = memory_zeros(cells, sizeof(double), "the matrix of pairs", err);
    if (!model->pair_matrix) {
        return -1;
    }
    for (size_t p = 0; p < model->n_pairs; p++) {
        const struct pair_coefficient *pair = &model->pairs[p];
        model->pair_matrix[pair->u * n + pair->v] += pair->value;
        model->pair_matrix[pair->v * n + pair->u] -= pair->value;
    }
    return 0;
}

size_t model_n_scores(const struct model *model) {
    return model->pairs ? 2 * model->vectors.n_rows : model->n_outputs;
}

/* scores row i = (k_i, S k_i), k_i from blocks of the kernel. */
static int pair_scores(const struct model *model, const struct kernel_rows *x, double *scores,
                       struct error *err) {
    size_t n = model->vectors.n_rows, rows = x->data->n_rows;
    struct kernel_scratch *scratch = NULL;
    if (kernel_scratch_create(&scratch, err) < 0) {
        return -1;
    }
    int status =
        kernel_block_double(x, 0, rows, &model->vector_rows, 0, n, scores, 2 * n, scratch, err);
    kernel_scratch_free(scratch);
    if (status == 0 && rows > 0 && n > 0) {
        /* u_i' = k_i' S' */
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)n, (int)n, 1, scores,
                    (int)(2 * n), model->pair_matrix, (int)n, 0, scores + n, (int)(2 * n));
    }
    return status;
}

static void add_bias(const double *bias, size_t n_outputs, size_t n_rows, double *scores) {
    for (size_t i = 0; bias && i < n_rows; i++) {
        for (size_t k = 0; k < n_outputs; k++) {
            scores[i * n_outputs + k] += bias[k];
        }
    }
}

static int check_finite(const double *scores, size_t n, struct error *err) {
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(scores[i])) {
            return error_set(err, ERROR_RUNTIME,
                             "a score is not a finite number: values are too "
                             "large for this model");
        }
    }
    return 0;
}

bool model_scores_by_blas(const struct model *model) {
    return !model->weights;
}

int model_scores(const struct model *model, const struct data *rows, double *scores,
                 struct threads *threads, struct error *err) {
    size_t n_scores = model_n_scores(model);
    if (model->weights) {
        linear_scores(rows, model->weights, model->n_columns, model->n_outputs, scores, threads);
        add_bias(model->bias, model->n_outputs, rows->n_rows, scores);
        return check_finite(scores, rows->n_rows * n_scores, err);
    }
    struct kernel_rows x;
    if (kernel_rows_create(&x, &model->kernel, rows, err) < 0) {
        return -1;
    }
    int status = model->pairs ? pair_scores(model, &x, scores, err)
                              : kernel_scores(&x, &model->vector_rows, model->coefficients,
                                              model->n_outputs, scores, threads, err);
    kernel_rows_free(&x);
    if (status == 0) {
        add_bias(model->bias, model->n_outputs, rows->n_rows, scores);
    }
    return status < 0 ? -1 : check_finite(scores, rows->n_rows * n_scores, err);
}

double model_margin(const double *scores_i, const double *scores_j, size_t n_scores) {
    size_t n = n_scores / 2;
    double forward = cblas_ddot((int)n, scores_i, 1, scores_j + n, 1);
    double backward = cblas_ddot((int)n, scores_j, 1, scores_i + n, 1);
    return forward - backward; /* k_i'S k_j - k_j'S k_i = 2 k_i'S k_j */
}
