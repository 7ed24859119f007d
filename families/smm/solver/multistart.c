/* Starts on threads or processes, and the best of them (multistart.h). */
#include "families/smm/solver/multistart.h"

#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/linear_algebra/svd.h"
#include "families/smm/solver/alternation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct start {
    struct smm_point point;
    struct smm_trace trace;
    struct error err;
    bool failed;
    bool skipped; /* the time limit had passed: the point is empty, its objective INFINITY */
    size_t rank;  /* process that ran it, which alone has the point's factors */
};

/* All starts. Each is one serial task of this process, or of any process if distributed. If rows
 * are distributed, they run one after the other. */
struct run {
    const struct smm_starts *starts;
    struct smm_lowrank problem;
    struct smm_matrices matrices;
    const double *svd_Vt; /* (k, width) of the SVM's W */
    size_t n;
    struct start *start;   /* (n) */
    pthread_mutex_t mutex; /* guards the tasks */
    struct cluster_tasks tasks;
};

/* Rows of Vt (r, width), orthonormal and random. */
static int draw_start(const struct run *run, size_t number, double *Vt, struct error *err) {
    /* summed: about normal, without library functions that differ between systems */
    enum { UNIFORMS = 12 };
    size_t r = run->problem.rank, width = run->matrices.width;
    double *normal = memory_array(r * (width + r + 1), sizeof *normal, "a start", err);
    if (!normal) {
        return -1;
    }
    struct random random;
    random_start(&random, run->starts->parameters->seed,
                 (uint64_t)run->starts->number << 32 | number);
    for (size_t j = 0; j < r * width; j++) {
        double sum = -UNIFORMS / 2;
        for (int k = 0; k < UNIFORMS; k++) {
            sum += random_unit(&random);
        }
        normal[j] = sum;
    }
    int status =
        svd_thin(normal, r, width, normal + r * width, normal + r * width + r * r, Vt, err);
    free(normal);
    return status;
}

static void descend(void *argument, size_t task, size_t worker) {
    (void)worker;
    struct run *run = argument;
    struct start *start = &run->start[task];
    size_t r = run->problem.rank;
    const struct smm_parameters *parameters = run->starts->parameters;
    if (task > 0 && monitor_past_deadline(run->problem.monitor)) {
        start->skipped = true;
        start->point.objective = INFINITY;
        start->trace.limit = STOP_TIME;
        return;
    }
    bool random = task > 0 || parameters->random_start || parameters->method == SMM_ALTERNATE;
    int status = smm_point_create(&start->point, &run->matrices, r, &start->err);
    if (status == 0 && random) {
        status = draw_start(run, task, start->point.Vt, &start->err);
    } else if (status == 0) {
        memcpy(start->point.Vt, run->svd_Vt, r * run->matrices.width * sizeof(double));
    }
    if (status == 0) {
        status = smm_lowrank_descend(&run->problem, &start->point, &start->trace, &start->err);
    }
    start->failed = status < 0;
}

/* ---- distributed starts ---- */

/* Runs starts until none is left. */
static void descend_distributed(void *argument, size_t task, size_t worker) {
    (void)task;
    struct run *run = argument;
    for (;;) {
        pthread_mutex_lock(&run->mutex);
        size_t number = cluster_next_task(run->starts->distributed, &run->tasks);
        pthread_mutex_unlock(&run->mutex);
        if (number == run->n) {
            return;
        }
        run->start[number].rank = cluster_rank(run->starts->distributed);
        descend(run, number, worker);
    }
}

/* Gives all processes the results of all starts: a sum, in which each number comes from one process
 * and is 0 on the others. */
static int allgather_starts(struct run *run, struct error *err) {
    enum { OBJECTIVE, STATIONARITY, ITERATIONS, LIMIT, STALLED, RANK, NUMBERS };
    struct cluster *cluster = run->starts->distributed;
    double *all = memory_zeros(run->n, NUMBERS * sizeof *all, "starts", err);
    if (!all) {
        return -1;
    }
    for (size_t k = 0; k < run->n; k++) {
        const struct start *start = &run->start[k];
        double *values = all + k * NUMBERS;
        if (start->point.U || start->skipped) { /* it is of this process */
            values[OBJECTIVE] = start->point.objective;
            values[STATIONARITY] = start->trace.stationarity;
            values[ITERATIONS] = (double)start->trace.iterations;
            values[LIMIT] = (double)start->trace.limit;
            values[STALLED] = start->trace.stalled;
            values[RANK] = (double)start->rank;
        }
    }
    cluster_sum(cluster, all, run->n * NUMBERS);
    for (size_t k = 0; k < run->n; k++) {
        struct start *start = &run->start[k];
        const double *values = all + k * NUMBERS;
        start->point.objective = values[OBJECTIVE];
        start->trace = (struct smm_trace){.stationarity = values[STATIONARITY],
                                          .iterations = (uint64_t)values[ITERATIONS],
                                          .limit = (enum stop_reason)values[LIMIT],
                                          .stalled = values[STALLED] > 0};
        start->rank = (size_t)values[RANK];
    }
    free(all);
    return 0;
}

/* Broadcasts the factors of a start from the process that has them. */
static int broadcast_point(struct run *run, size_t number, struct error *err) {
    struct start *start = &run->start[number];
    const struct smm_matrices *matrices = &run->matrices;
    double objective = start->point.objective;
    size_t rank = run->problem.rank, n = rank * (matrices->height + matrices->width + 1);
    if (!start->point.U && smm_point_create(&start->point, matrices, rank, err) < 0) {
        return -1;
    }
    start->point.objective = objective;
    cluster_broadcast(run->starts->distributed, start->point.U, n * sizeof(double), start->rank);
    return 0;
}

static int descend_all(struct run *run, struct smm_subproblem *subproblem, struct error *err) {
    struct cluster *distributed = run->starts->distributed;
    size_t height = run->matrices.height, width = run->matrices.width;
    size_t k = height < width ? height : width;
    struct threads *threads = run->matrices.threads;
    run->matrices.threads = NULL;
    pthread_mutex_init(&run->mutex, NULL);
    run->tasks = cluster_create_tasks(distributed, run->n);
    cluster_broadcast(distributed, subproblem->Vt, k * width * sizeof *subproblem->Vt, 0);
    threads_run(threads, threads_count(threads), descend_distributed, run);
    pthread_mutex_destroy(&run->mutex);
    for (size_t i = 0; i < run->n; i++) {
        if (run->start[i].failed) { /* the others wait until the program ends */
            *err = run->start[i].err;
            return -1;
        }
    }
    return allgather_starts(run, err);
}

/* ---- all starts ---- */

static int take_best(struct run *run, struct smm_subproblem *subproblem,
                     struct smm_outcome *outcome, struct error *err) {
    size_t best = 0;
    enum stop_reason limit = 0;
    subproblem->n_starts = 0;
    subproblem->worst = -INFINITY;
    for (size_t k = 0; k < run->n; k++) {
        const struct start *start = &run->start[k];
        if (start->failed) {
            *err = start->err;
            return -1;
        }
        best = start->point.objective < run->start[best].point.objective ? k : best;
        if (isfinite(start->point.objective)) {
            subproblem->worst = fmax(subproblem->worst, start->point.objective);
            subproblem->n_starts++;
        }
        outcome->iterations += start->trace.iterations;
        limit = limit ? limit : start->trace.limit;
    }
    const struct start *start = &run->start[best];
    if (run->starts->distributed && broadcast_point(run, best, err) < 0) {
        return -1;
    }
    subproblem->best = start->point.objective;
    subproblem->stationarity = start->trace.stationarity;
    double epsilon = run->starts->parameters->epsilon;
    outcome->converged =
        !start->trace.limit &&
        (run->problem.alternate ? start->trace.stalled : subproblem->stationarity <= epsilon);
    outcome->reason = limit ? limit : STOP_NOT_STATIONARY;
    return smm_point_matrix(&start->point, &run->matrices, run->problem.rank, subproblem->W, err);
}

int smm_starts_solve(const struct smm_starts *starts, struct smm_subproblem *subproblem,
                     struct smm_outcome *outcome, struct error *err) {
    const struct smm_parameters *parameters = starts->parameters;
    size_t height = starts->matrices->height, width = starts->matrices->width;
    size_t k = height < width ? height : width;
    struct run run = {.starts = starts,
                      .matrices = *starts->matrices,
                      .svd_Vt = subproblem->Vt,
                      .n = 1 + parameters->restarts};
    run.start = memory_zeros(run.n, sizeof *run.start, "starts", err);
    if (!run.start) {
        return -1;
    }
    /* Each start counts its own iterations, so that a limit does not depend on the order of
     * threads. */
    struct monitor_shared shared;
    const struct monitor watch = monitor_share(&shared, starts->monitor);
    run.problem = (struct smm_lowrank){.matrices = &run.matrices,
                                       .loss = starts->loss,
                                       .rank = parameters->rank < k ? parameters->rank : k,
                                       .epsilon = parameters->epsilon,
                                       .alternate = parameters->method == SMM_ALTERNATE,
                                       .bound = subproblem->dual,
                                       .monitor = &watch};
    *outcome = (struct smm_outcome){.iterations = 1}; /* counts the SVM */
    int status = 0;
    if (starts->distributed) {
        status = descend_all(&run, subproblem, err);
    } else if (run.n > 1 &&
               !run.matrices.cluster) { /* one thread per start; otherwise all threads in each */
        run.matrices.threads = NULL;
        threads_run(starts->matrices->threads, run.n, descend, &run);
    } else { /* after a failure the other processes wait until the program ends */
        for (size_t i = 0; i < run.n && (i == 0 || !run.start[i - 1].failed); i++) {
            descend(&run, i, 0);
        }
    }
    monitor_shared_free(&shared);
    status = status < 0 ? -1 : take_best(&run, subproblem, outcome, err);
    for (size_t i = 0; i < run.n; i++) {
        smm_point_free(&run.start[i].point);
    }
    free(run.start);
    return status;
}
