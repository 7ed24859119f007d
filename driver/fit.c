/* Storage of the kernel matrix (whole, as distinct rows, in float or double, or not at all), and
 * the conversion of a solution to a model. uses_double decides between float and double for this
 * matrix; some solvers use kernel values in float whatever its type: mc's descent its working set's
 * matrix (families/mc/solver/kernel_working_set.c), top's smo and published ascent their rows
 * (common/kernel/row_cache.h). Certificates are in double always, and in double-double where
 * fit/certify.h finds the rounding errors too large. */
#include "driver/fit.h"

#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/kernel/gram.h"
#include "driver/train.h"

#include <stdlib.h>
#include <string.h>

/* With more rows, computing the rows that a solver asks for takes less time and memory than storing
 * the whole matrix. */
enum { MAX_STORED_ROWS = 16384 };

/* If at most this share of the rows is distinct, the matrix is that of the distinct rows. Each of
 * its entries stands for several, so they are in double as if for a tight gap. */
static const double MAX_DISTINCT_SHARE = 0.9;

/* The memory that is left to landmarks for each row, at most half of all: 8,192 floats. */
enum { LANDMARK_BYTES = 1 << 15 };

/* Up to SMALL_ROWS rows a matrix in double costs little more, and kernels with large values need
 * it. For gaps below DOUBLE_EPSILON the bound is MAX_DOUBLE_ROWS. */
enum { SMALL_ROWS = 3000, MAX_DOUBLE_ROWS = 8192 };
static const double DOUBLE_EPSILON = 1e-4;

/* Returns whether a kernel matrix of n_rows rows is stored in double rather than float, for a
 * relative gap of epsilon within cache_bytes: small matrices, and for tight gaps those that do not
 * take too long to compute. Certificates are evaluated in double in any case. */
static bool uses_double(size_t n_rows, double epsilon, size_t cache_bytes) {
    size_t max_rows = epsilon < DOUBLE_EPSILON ? MAX_DOUBLE_ROWS : SMALL_ROWS;
    double n = (double)n_rows;
    return n_rows <= max_rows && n * n / 2 * sizeof(double) <= (double)cache_bytes;
}

struct kernel fit_kernel(const struct family *family, struct point point, uint32_t n_features) {
    if (!(family->has & FAMILY_KERNEL)) {
        return (struct kernel){.type = KERNEL_LINEAR};
    }
    return (struct kernel){
        .type = (enum kernel_type)point_choice(point, "kernel"),
        .degree = (int)point_number(point, "degree"),
        .gamma = point_number_or(point, "gamma", n_features ? 1 / (double)n_features : 1),
        .coef0 = point_number(point, "coef0")};
}

bool fit_precomputed(const struct family *family, const struct options *options) {
    return fit_kernel(family, (struct point){options, 0}, 1).type == KERNEL_PRECOMPUTED;
}

bool fit_wants_gram(const struct family *family, const struct options *options,
                    const struct kernel *kernel) {
    return kernel->type != KERNEL_LINEAR ||
           (family->pair_features && family->pair_features(options));
}

static bool matrix_fits(size_t n_rows, size_t cache_bytes) {
    double n = (double)n_rows;
    return n * (n + 16) / 2 * sizeof(float) <= (double)cache_bytes;
}

/* The memory for the matrix of n_rows rows, distinct ones of `all`. landmarks: they come first. */
static size_t bytes_for_matrix(bool landmarks, size_t n_rows, size_t all, size_t cache_bytes) {
    return !landmarks || matrix_fits(n_rows, cache_bytes)
               ? cache_bytes
               : cache_bytes - smaller(cache_bytes / 2, all * LANDMARK_BYTES);
}

int fit_gram(struct gram **gram, const struct family *family, struct point point,
             const struct kernel *kernel, const struct data *data, bool for_folds,
             size_t cache_bytes, struct cluster *cluster, struct threads *threads,
             struct error *err) {
    double n = (double)data->n_rows;
    enum family_matrix matrix = family->pair_features && family->pair_features(point.options)
                                    ? FAMILY_VALUES
                                    : family->matrix;
    bool landmarks = (family->has & FAMILY_LANDMARKS) && !cluster && kernel_definite(kernel);
    bool fits =
        matrix_fits(data->n_rows, cache_bytes) && (matrix != FAMILY_ROWS || n <= MAX_STORED_ROWS);
    if (matrix == FAMILY_VALUES || (matrix != FAMILY_PRODUCTS && !fits) ||
        (matrix == FAMILY_COLUMNS && !for_folds && n > SMALL_ROWS)) {
        return gram_create(gram, kernel, data, 0, false, threads, err);
    }
    if (matrix == FAMILY_PRODUCTS && (family->has & FAMILY_DISTRIBUTED_GRAM) &&
        kernel->type != KERNEL_PRECOMPUTED && data->n_rows > SMALL_ROWS) {
        struct distinct distinct;
        if (distinct_find(&distinct, data, err) < 0) {
            return -1;
        }
        if ((double)distinct.m <= MAX_DISTINCT_SHARE * n) {
            cache_bytes = bytes_for_matrix(landmarks, distinct.m, data->n_rows, cache_bytes);
            bool in_double = uses_double(distinct.m, 0, cache_bytes);
            return gram_create_distinct(gram, kernel, data, &distinct, cache_bytes, in_double,
                                        cluster, threads, err);
        }
        distinct_free(&distinct);
    }
    cache_bytes = bytes_for_matrix(landmarks, data->n_rows, data->n_rows, cache_bytes);
    bool in_double = uses_double(data->n_rows, point_number(point, "epsilon"), cache_bytes);
    return gram_create_distributed(gram, kernel, data, cache_bytes, in_double, cluster, threads,
                                   err);
}

static int copy_name(char **copy, const char *name, struct error *err) {
    *copy = memory_text(name, strlen(name), "a name", err);
    return *copy ? 0 : -1;
}

int fit_header(const struct family *family, void *state, struct point point,
               const struct kernel *kernel, const struct problem *problem,
               const struct solution *solution, const struct monitor *monitor, struct model *model,
               bool *late, struct error *err) {
    *late = false;
    *model = (struct model){.cost = point_number(point, "cost"),
                            .kernel = *kernel,
                            .n_rows = cluster_count(problem->cluster, problem->n),
                            .n_features = data_largest(problem->data),
                            .n_outputs = solution->weights ? solution->n_outputs : 0,
                            .norm = solution->norm};
    if ((family->fit_threshold && family->fit_threshold(state, point, monitor, late, err) < 0) ||
        copy_name(&model->formulation, family->formulations[point_choice(point, "formulation")],
                  err) < 0 ||
        ((family->has & FAMILY_LOSS) &&
         copy_name(&model->loss, loss_names[point_choice(point, "loss")], err) < 0) ||
        (family->header && family->header(state, point, model, err) < 0)) {
        model_free(model);
        return -1;
    }
    return 0;
}

struct watch fit_watch(const struct options *options, double deadline) {
    return (struct watch){.max_iterations =
                              (uint64_t)point_number((struct point){options, 0}, "max-iter"),
                          .deadline = deadline,
                          .end_time = INFINITY};
}

/* ---- the model ---- */

/* Sets number[i] = 1 for the problem rows with a nonzero coefficient. */
static void mark_used(const struct problem *problem, const struct solution *solution,
                      uint32_t *number) {
    for (size_t i = 0; solution->weights && i < problem->n; i++) {
        for (size_t k = 0; k < solution->n_outputs; k++) {
            number[i] |= solution->weights[i * solution->n_outputs + k] != 0;
        }
    }
    for (size_t p = 0; p < solution->n_pairs; p++) {
        if (solution->pairs[p].value != 0) {
            number[solution->pairs[p].u] = number[solution->pairs[p].v] = 1;
        }
    }
}

/* Copies the used rows, and their coefficients or pairs. number (n): 1 for a used row, becomes 1 +
 * its index as support vector; rows (n): workspace. */
static int take_vectors(struct model *model, const struct problem *problem,
                        const struct solution *solution, uint32_t *number, uint32_t *rows,
                        struct error *err) {
    size_t n = 0, outputs = model->n_outputs;
    for (size_t i = 0; i < problem->n; i++) {
        if (number[i]) {
            rows[n++] = problem->rows ? problem->rows[i] : (uint32_t)i;
            number[i] = (uint32_t)n;
        }
    }
    if (data_subset(problem->data, rows, n, &model->vectors, err) < 0) {
        return -1;
    }
    if (solution->weights) {
        model->coefficients = memory_array(n * outputs, sizeof(double), "coefficients", err);
        if (!model->coefficients) {
            return -1;
        }
        for (size_t i = 0; i < problem->n; i++) {
            if (number[i]) {
                memcpy(model->coefficients + (number[i] - 1) * outputs,
                       solution->weights + i * outputs, outputs * sizeof(double));
            }
        }
        return 0;
    }
    model->pairs = memory_array(solution->n_pairs, sizeof model->pairs[0], "pairs", err);
    if (!model->pairs) {
        return -1;
    }
    for (size_t p = 0; p < solution->n_pairs; p++) {
        struct pair_coefficient pair = solution->pairs[p];
        if (pair.value != 0) {
            model->pairs[model->n_pairs++] =
                (struct pair_coefficient){number[pair.u] - 1, number[pair.v] - 1, pair.value};
        }
    }
    return 0;
}

/* A model f = 0 without support vectors. The solution's weights may be those of another kernel. */
static int empty_body(struct model *model, const struct problem *problem,
                      const struct solution *solution, struct error *err) {
    const char *const what = "coefficients";
    if (solution->pairs) {
        model->pairs = memory_array(1, sizeof model->pairs[0], what, err);
    } else {
        model->coefficients = memory_array(1, sizeof(double), what, err);
    }
    if (!model->pairs && !model->coefficients) {
        return -1;
    }
    return data_subset(problem->data, NULL, 0, &model->vectors, err);
}

int fit_body(struct model *model, const struct problem *problem, const struct solution *solution,
             struct error *err) {
    model->primal = solution->primal;
    model->dual = solution->dual;
    model->gap = solution->gap;
    model->certified = solution->certified;
    model->iterations = solution->iterations;
    model->n_outputs = solution->weights ? solution->n_outputs : 0;
    model->columns = problem->data->indices;
    model->n_columns = problem->data->n_features;
    model->borrowed_columns = true;
    if (solution->bias) {
        model->bias = memory_array(solution->n_outputs, sizeof(double), "bias", err);
        if (!model->bias) {
            return -1;
        }
        memcpy(model->bias, solution->bias, solution->n_outputs * sizeof(double));
    }
    if (model->kernel.type == KERNEL_LINEAR && !solution->pairs) {
        model->weights = solution->weights;
        model->lent = true;
        return 0;
    }
    if (solution->zero_only) {
        return empty_body(model, problem, solution, err);
    }
    const struct problem points = {.data = solution->points,
                                   .n = solution->points ? solution->points->n_rows : 0};
    const struct problem *rows = solution->points ? &points : problem;
    uint32_t *number = memory_zeros(rows->n, 2 * sizeof *number, "support vectors", err);
    if (!number) {
        return -1;
    }
    mark_used(rows, solution, number);
    int status = take_vectors(model, rows, solution, number, number + rows->n, err);
    free(number);
    return status;
}
