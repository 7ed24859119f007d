/* Selection of the landmarks, the linear problem over their span, and its solution as coefficients
 * of the landmarks. */
#include "driver/max_sv.h"

#include "common/base/memory.h"
#include "common/kernel/low_rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fewer landmarks suffice if they leave this part of the trace: the rest is rounding. */
static const double NEGLIGIBLE_TRACE = 1e-12;

/* A reduction in progress. */
struct reduction {
    const struct family *family;
    const struct problem *problem;
    struct point point;
    struct low_rank low; /* the factor: its rows are the features */
    struct data data;    /* the rows with these features */
};

static bool is_vector(const struct solution *solution, size_t i) {
    const double *row = solution->weights + i * solution->n_outputs;
    for (size_t c = 0; c < solution->n_outputs; c++) {
        if (row[c] != 0) {
            return true;
        }
    }
    return false;
}

static size_t count_vectors(const struct solution *solution, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += is_vector(solution, i);
    }
    return count;
}

/* Factors the kernel matrix at max_rank landmarks among the support vectors. */
static int choose_landmarks(struct reduction *reduction, const struct solution *solution,
                            size_t max_rank, struct error *err) {
    const struct problem *problem = reduction->problem;
    const struct kernel_rows *rows = gram_rows(problem->gram);
    const struct low_rank_goal goal = {.max_rank = max_rank,
                                       .residual = NEGLIGIBLE_TRACE,
                                       .seed = (uint64_t)point_number(reduction->point, "seed"),
                                       .fill = true};
    double *diagonal = memory_zeros(problem->n, sizeof *diagonal, "landmarks", err);
    if (!diagonal || memory_require(low_rank_bytes(problem->n, &goal), "landmarks", err) < 0) {
        free(diagonal);
        return -1;
    }
    for (size_t i = 0; i < problem->n; i++) {
        size_t row = problem->rows ? problem->rows[i] : i;
        diagonal[i] = is_vector(solution, i) ? kernel_value(rows, row, rows, row) : 0;
    }
    int status = low_rank_create(&reduction->low, problem->gram, problem->rows, problem->n,
                                 diagonal, &goal, problem->threads, err);
    free(diagonal);
    return status;
}

/* Makes the rows of the linear problem: all of the problem's rows but their features, which are
 * those of the factor. */
static int make_rows(struct reduction *reduction, struct error *err) {
    const struct problem *problem = reduction->problem;
    const struct low_rank *low = &reduction->low;
    struct data bare = data_view(problem->data, 0, problem->data->n_rows);
    bare.n_features = bare.largest = 0;
    bare.indices = (struct indices){0};
    bare.row_start = NULL;
    bare.column = NULL;
    bare.serial = NULL;
    float *value = memory_array(low->n, low->rank * sizeof *value, "features", err);
    if (!value || data_subset(&bare, problem->rows, low->n, &reduction->data, err) < 0) {
        free(value);
        return -1;
    }
    for (size_t j = 0; j < low->n * low->rank; j++) {
        value[j] = (float)low->L[j / low->rank * low->width + j % low->rank];
    }
    free(reduction->data.value);
    reduction->data.value = value;
    reduction->data.n_features = (uint32_t)low->rank;
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

/* Replaces the coefficients of the full fit by those of the landmarks. If no time was left for the
 * linear problem, they are those of the projection of the full fit. */
static void set_coefficients(const struct reduction *reduction, struct solution *linear,
                             struct solution *solution) {
    const struct low_rank *low = &reduction->low;
    size_t k = solution->n_outputs;
    if (linear->zero_only) {
        low_rank_project(low, solution->weights, k, linear->weights);
    } else {
        double *bias = solution->bias;
        solution->bias = linear->bias;
        linear->bias = bias;
    }
    low_rank_coefficients(low, linear->weights, k);
    memset(solution->weights, 0, low->n * k * sizeof *solution->weights);
    for (size_t a = 0; a < low->rank; a++) {
        memcpy(solution->weights + low->pivot[a] * k, linear->weights + a * k,
               k * sizeof *solution->weights);
    }
}

/* Replaces the solution by one over at most max_rank landmarks, and certifies it. */
static int reduce(struct reduction *reduction, void *state, size_t max_rank,
                  const struct monitor *monitor, struct solution *solution, struct error *err) {
    const enum stop_reason full_reason = solution->reason;
    struct solution linear = {0};
    if (choose_landmarks(reduction, solution, max_rank, err) < 0 || make_rows(reduction, err) < 0 ||
        refit(reduction, monitor, &linear, err) < 0) {
        return -1;
    }
    set_coefficients(reduction, &linear, solution);
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
    low_rank_free(&reduction.low);
    data_free(&reduction.data);
    if (status < 0) {
        solution_free(solution);
    }
    return status;
}
