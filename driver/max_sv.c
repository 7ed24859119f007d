/* Selection of the landmarks, the linear problem over their span, and its solution as coefficients
 * of the landmarks. */
#include "driver/max_sv.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/kernel/landmarks.h"
#include "common/linear_algebra/cholesky.h"
#include "methods/reduced_set.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Landmarks are left out to which the others leave this part of the largest diagonal entry: it is
 * rounding. */
static const double ROUNDING = 1e-12;

/* A reduction in progress. */
struct reduction {
    const struct family *family;
    const struct problem *problem;
    struct point point;
    struct landmarks landmarks;
    /* the points that the landmarks have moved to, dense; NULL: they have not */
    struct data *points;
    /* (m, m) with the m points' kernel matrix R R': R'^-1, by which their kernel values become
     * features, and weights of features coefficients */
    double *expansion;
    struct data data; /* the rows with these features */
};

static bool is_vector(const struct solution *solution, size_t i) {
    size_t k = solution->n_outputs;
    return array_largest(solution->weights + i * k, k) > 0;
}

static size_t count_vectors(const struct solution *solution, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += is_vector(solution, i);
    }
    return count;
}

/* Draws at most max_rank landmarks among the support vectors. */
static int choose_landmarks(struct reduction *reduction, const struct solution *solution,
                            size_t max_rank, struct error *err) {
    const struct problem *problem = reduction->problem;
    const struct kernel_rows *rows = gram_rows(problem->gram);
    const struct landmarks_goal goal = {.m = max_rank,
                                        .drawn = max_rank + max_rank / 2,
                                        .seed = (uint64_t)point_number(reduction->point, "seed"),
                                        .min_pivot = ROUNDING};
    double *diagonal = memory_zeros(problem->n, sizeof *diagonal, "landmarks", err);
    for (size_t i = 0; diagonal && i < problem->n; i++) {
        size_t row = problem->rows ? problem->rows[i] : i;
        diagonal[i] = is_vector(solution, i) ? kernel_value(rows, row, rows, row) : 0;
    }
    int status = diagonal ? landmarks_create(&reduction->landmarks, problem->gram, problem->rows,
                                             problem->n, diagonal, &goal, problem->threads, err)
                          : -1;
    free(diagonal);
    return status;
}

/* The landmarks as dense rows. */
static int copy_landmarks(struct reduction *reduction, struct error *err) {
    const struct problem *problem = reduction->problem;
    const struct landmarks *landmarks = &reduction->landmarks;
    uint32_t *row = memory_array(landmarks->width, sizeof *row, "points", err);
    reduction->points = memory_zeros(1, sizeof *reduction->points, "points", err);
    for (size_t a = 0; row && a < landmarks->width; a++) {
        row[a] = problem->rows ? problem->rows[landmarks->row[a]] : landmarks->row[a];
    }
    int status =
        row && reduction->points &&
                data_subset(problem->data, row, landmarks->width, reduction->points, err) == 0 &&
                data_make_dense(reduction->points, 0, true, err) == 0
            ? 0
            : -1;
    free(row);
    return status;
}

/* target (x's rows, k) = the scores of the full fit. */
static int find_targets(const struct reduction *reduction, const struct solution *solution,
                        const struct kernel_rows *x, double *target, struct error *err) {
    const struct problem *problem = reduction->problem;
    const struct kernel_rows *all = gram_rows(problem->gram);
    size_t k = solution->n_outputs;
    double *b = memory_zeros(all->data->n_rows, k * sizeof *b, "coefficients", err);
    for (size_t i = 0; b && i < problem->n; i++) {
        memcpy(b + (problem->rows ? problem->rows[i] : i) * k, solution->weights + i * k,
               k * sizeof *b);
    }
    int status = b ? kernel_scores(x, all, b, k, target, problem->threads, err) : -1;
    free(b);
    return status;
}

/* Moves the points by the scores of the full fit at n rows, evenly spaced. */
static int move_points(struct reduction *reduction, const struct solution *solution, size_t n,
                       const struct monitor *monitor, struct error *err) {
    const struct problem *problem = reduction->problem;
    const struct kernel *kernel = gram_rows(problem->gram)->kernel;
    size_t k = solution->n_outputs;
    uint32_t *row = memory_array(n, sizeof *row, "points", err);
    double *target = memory_array(n, k * sizeof *target, "points", err);
    struct data some = {0};
    struct kernel_rows x = {0};
    for (size_t r = 0; row && r < n; r++) {
        size_t i = (size_t)((double)r * (double)problem->n / (double)n);
        row[r] = problem->rows ? problem->rows[i] : (uint32_t)i;
    }
    int status =
        row && target && data_subset(problem->data, row, n, &some, err) == 0 &&
                data_make_dense(&some, 0, true, err) == 0 &&
                kernel_rows_create(&x, kernel, &some, err) == 0 &&
                find_targets(reduction, solution, &x, target, err) == 0
            ? reduced_set_move(reduction->points, &x, target, k, problem->threads, monitor, err)
            : -1;
    kernel_rows_free(&x);
    data_free(&some);
    free(target);
    free(row);
    return status;
}

/* Sets `expansion`, and feature (n, m) of the problem's rows. */
static int expand(struct reduction *reduction, double *feature, struct error *err) {
    const struct problem *problem = reduction->problem;
    const struct kernel *kernel = gram_rows(problem->gram)->kernel;
    size_t m = reduction->points->n_rows;
    struct kernel_rows x = {0}, z = {0};
    struct kernel_scratch *scratch = NULL;
    struct data rows = {0};
    double *R = memory_array(m + 1, m * sizeof *R, "features", err);
    reduction->expansion = memory_zeros(m, m * sizeof(double), "features", err);
    int status = R && reduction->expansion &&
                         data_subset(problem->data, problem->rows, problem->n, &rows, err) == 0 &&
                         kernel_rows_create(&x, kernel, &rows, err) == 0 &&
                         kernel_rows_create(&z, kernel, reduction->points, err) == 0 &&
                         kernel_scratch_create(&scratch, err) == 0 &&
                         kernel_block_double(&z, 0, m, &z, 0, m, R, m, scratch, err) == 0
                     ? 0
                     : -1;
    if (status == 0 && cholesky_regularised(R, m, R + m * m) < 0) {
        status = error_set(err, ERROR_RUNTIME, "--max-sv: kernel values overflow");
    }
    if (status == 0) {
        for (size_t a = 0; a < m; a++) {
            reduction->expansion[a * m + a] = 1;
        }
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (int)m, (int)m,
                    1, R, (int)m, reduction->expansion, (int)m);
        status = kernel_scores(&x, &z, reduction->expansion, m, feature, problem->threads, err);
    }
    kernel_scratch_free(scratch);
    kernel_rows_free(&x);
    kernel_rows_free(&z);
    data_free(&rows);
    free(R);
    return status;
}

/* value (n, m) = the features of the problem's rows. */
static int make_features(struct reduction *reduction, float *value, struct error *err) {
    size_t size = reduction->landmarks.n * reduction->landmarks.width;
    if (!reduction->points) {
        memcpy(value, reduction->landmarks.Z, size * sizeof *value);
        return 0;
    }
    double *feature = memory_array(size, sizeof *feature, "features", err);
    int status = feature ? expand(reduction, feature, err) : -1;
    for (size_t j = 0; status == 0 && j < size; j++) {
        value[j] = (float)feature[j];
    }
    free(feature);
    return status;
}

/* Makes the rows of the linear problem: all of the problem's rows but their features. */
static int make_rows(struct reduction *reduction, struct error *err) {
    const struct problem *problem = reduction->problem;
    size_t n = reduction->landmarks.n, m = reduction->landmarks.width;
    struct data bare = data_view(problem->data, 0, problem->data->n_rows);
    bare.n_features = bare.largest = 0;
    bare.indices = (struct indices){0};
    bare.row_start = NULL;
    bare.column = NULL;
    bare.serial = NULL;
    float *value = memory_array(n, m * sizeof *value, "features", err);
    if (!value || make_features(reduction, value, err) < 0 ||
        data_subset(&bare, problem->rows, n, &reduction->data, err) < 0) {
        free(value);
        return -1;
    }
    free(reduction->data.value);
    reduction->data.value = value;
    reduction->data.n_features = (uint32_t)m;
    return 0;
}

/* Solves the linear problem. */
static int refit(const struct reduction *reduction, const struct monitor *monitor,
                 struct solution *solution, struct error *err) {
    const struct family *family = reduction->family;
    const struct problem linear = {.data = &reduction->data,
                                   .n = reduction->data.n_rows,
                                   .threads = reduction->problem->threads,
                                   .cache_bytes = reduction->problem->cache_bytes,
                                   .certify_time = reduction->problem->certify_time};
    void *state;
    *solution = (struct solution){0};
    if (family->open(&state, &linear, reduction->point, err) < 0) {
        return -1;
    }
    int status = family->solve(state, reduction->point, monitor, solution, err);
    family->close(state);
    return status;
}

/* w (m, k) = the weights of the features whose function is nearest to that of B (n, k). The rows'
 * features are the products of their kernel functions with an orthonormal basis of the span. */
static void project(const struct reduction *reduction, const double *B, size_t k, double *w) {
    size_t m = reduction->landmarks.width;
    memset(w, 0, m * k * sizeof *w);
    for (size_t i = 0; i < reduction->landmarks.n; i++) {
        const float *feature = reduction->data.value + i * m;
        for (size_t j = 0; j < m; j++) {
            array_add(w + j * k, (double)feature[j], B + i * k, k);
        }
    }
}

/* Replaces the coefficients of the full fit by those of the points. If no time was left for the
 * linear problem, they are those of the projection of the full fit. */
static int set_coefficients(struct reduction *reduction, struct solution *linear,
                            struct solution *solution, struct error *err) {
    const struct landmarks *landmarks = &reduction->landmarks;
    size_t k = solution->n_outputs, m = landmarks->width;
    if (linear->zero_only) {
        project(reduction, solution->weights, k, linear->weights);
    } else {
        double *bias = solution->bias;
        solution->bias = linear->bias;
        linear->bias = bias;
    }
    memset(solution->weights, 0, landmarks->n * k * sizeof *solution->weights);
    if (reduction->points) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)k, (int)m, 1,
                    reduction->expansion, (int)m, linear->weights, (int)k, 0, solution->weights,
                    (int)k);
        solution->points = reduction->points;
        reduction->points = NULL;
        return 0;
    }
    if (landmarks_expand(landmarks, linear->weights, k, err) < 0) {
        return -1;
    }
    for (size_t a = 0; a < m; a++) {
        memcpy(solution->weights + landmarks->row[a] * k, linear->weights + a * k,
               k * sizeof *solution->weights);
    }
    return 0;
}

/* Chooses the points. With a time limit, half of the time left is for moving them. */
static int choose_points(struct reduction *reduction, const struct solution *solution,
                         size_t max_rank, const struct monitor *monitor, struct error *err) {
    const struct problem *problem = reduction->problem;
    if (choose_landmarks(reduction, solution, max_rank, err) < 0) {
        return -1;
    }
    size_t n =
        reduced_set_rows(gram_rows(problem->gram)->kernel, problem->n, problem->data->n_features,
                         reduction->landmarks.width, solution->n_outputs);
    if (n == 0) {
        return 0;
    }
    struct monitor_run run;
    const struct monitor earlier =
        monitor_reserve_time(&run, monitor, monitor_seconds_left(monitor) / 2);
    bool limited = isfinite(monitor_seconds_left(monitor));
    return copy_landmarks(reduction, err) < 0 ||
                   move_points(reduction, solution, n, limited ? &earlier : monitor, err) < 0
               ? -1
               : 0;
}

/* Replaces the solution by one over at most max_rank points, and certifies it. */
static int reduce(struct reduction *reduction, void *state, size_t max_rank,
                  const struct monitor *monitor, struct solution *solution, struct error *err) {
    const enum stop_reason full_reason = solution->reason;
    struct solution linear = {0};
    if (choose_points(reduction, solution, max_rank, monitor, err) < 0 ||
        make_rows(reduction, err) < 0 || refit(reduction, monitor, &linear, err) < 0 ||
        set_coefficients(reduction, &linear, solution, err) < 0) {
        solution_free(&linear);
        return -1;
    }
    bool converged = solution->converged && linear.converged;
    enum stop_reason reason = full_reason ? full_reason : linear.reason;
    solution->iterations += linear.iterations;
    solution_free(&linear);
    if (reduction->family->replace(state, reduction->point, solution, err) < 0) {
        return -1;
    }
    if (!stop_bounds_failed(solution->reason)) {
        solution->converged = converged;
        solution->reason = reason;
    }
    return 0;
}

static int check_definite(const struct solution *solution, struct error *err) {
    return !solution->certified && !stop_bounds_failed(solution->reason)
               ? error_set(err, ERROR_RUNTIME,
                           "--max-sv wants a kernel matrix that is known to be positive "
                           "semidefinite")
               : 0;
}

int max_sv_solve(const struct family *family, void *state, const struct problem *problem,
                 struct point point, const struct monitor *monitor, struct solution *solution,
                 struct max_sv_loss *loss, struct error *err) {
    struct max_sv_loss unused;
    loss = loss ? loss : &unused;
    *loss = (struct max_sv_loss){0};
    double limit =
        options_given(point.options, "max-sv") ? point_number(point, "max-sv") : INFINITY;
    /* half of the time of the full fit is for the smaller model */
    struct monitor_run run;
    const struct monitor earlier =
        monitor_reserve_time(&run, monitor, monitor_seconds_left(monitor) / 2);
    bool limited = isfinite(limit) && isfinite(monitor_seconds_left(monitor));
    if (family->solve(state, point, limited ? &earlier : monitor, solution, err) < 0) {
        return -1;
    }
    if (!isfinite(limit) || solution->zero_only || !solution->weights) {
        return 0;
    }
    size_t n = count_vectors(solution, problem->n);
    if ((double)n <= limit) {
        return 0;
    }
    *loss = (struct max_sv_loss){.reduced = true,
                                 .full_primal = solution->primal,
                                 .full_vectors = n,
                                 .max_vectors = (size_t)limit};
    struct reduction reduction = {.family = family, .problem = problem, .point = point};
    int status = check_definite(solution, err);
    status = status < 0 ? -1 : reduce(&reduction, state, (size_t)limit, monitor, solution, err);
    landmarks_free(&reduction.landmarks);
    data_free(&reduction.data);
    if (reduction.points) {
        data_free(reduction.points);
        free(reduction.points);
    }
    free(reduction.expansion);
    if (status < 0) {
        solution_free(solution);
    }
    return status;
}
