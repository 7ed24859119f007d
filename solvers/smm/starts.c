#include "solvers/smm/starts.h"

#include "common/base/memory.h"
#include "common/base/random.h"
#include "solvers/smm/lowrank.h"
#include "solvers/smm/svd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct start {
    struct smm_point point;
    struct smm_trace trace;
    struct error err;
    bool failed;
};

/* All starts: tasks of their own, each serial; or one after the other, where rows are spread over
 * ranks. */
struct run {
    const struct smm_starts *starts;
    struct smm_lowrank problem;
    struct smm_matrices matrices;
    const double *svd_Vt; /* (k, width) of the SVM's W */
    size_t n;
    struct start *start; /* (n) */
};

/* Rows of Vt (r, width): orthonormal, random by the seed. */
static int draw_start(const struct run *run, size_t number, double *Vt, struct error *err) {
    enum { UNIFORMS = 12 }; /* summed: about normal, by + and - only */
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

static int take_best(const struct run *run, struct smm_machine *machine,
                     struct smm_outcome *outcome, struct error *err) {
    size_t best = 0;
    enum stop_reason limit = 0;
    machine->n_starts = run->n;
    machine->worst = -INFINITY;
    for (size_t k = 0; k < run->n; k++) {
        const struct start *start = &run->start[k];
        if (start->failed) {
            *err = start->err;
            return -1;
        }
        best = start->point.objective < run->start[best].point.objective ? k : best;
        machine->worst = fmax(machine->worst, start->point.objective);
        outcome->iterations += start->trace.iterations;
        limit = limit ? limit : start->trace.limit;
    }
    const struct start *start = &run->start[best];
    machine->best = start->point.objective;
    machine->stationarity = start->trace.stationarity;
    double epsilon = run->starts->parameters->epsilon;
    outcome->converged =
        !start->trace.limit &&
        (run->problem.alternate ? start->trace.rests : machine->stationarity <= epsilon);
    outcome->reason = limit ? limit : STOP_NOT_STATIONARY;
    return smm_point_matrix(&start->point, &run->matrices, run->problem.rank, machine->W, err);
}

int smm_starts_solve(const struct smm_starts *starts, struct smm_machine *machine,
                     struct smm_outcome *outcome, struct error *err) {
    const struct smm_parameters *parameters = starts->parameters;
    size_t height = starts->matrices->height, width = starts->matrices->width;
    size_t k = height < width ? height : width;
    struct run run = {.starts = starts,
                      .matrices = *starts->matrices,
                      .svd_Vt = machine->Vt,
                      .n = 1 + parameters->restarts};
    run.start = memory_zeros(run.n, sizeof *run.start, "starts", err);
    if (!run.start) {
        return -1;
    }
    /* each start has its own count of iterations, so that a limit does not depend on which thread
     * is faster */
    struct monitor_shared shared;
    const struct monitor watch = monitor_share(&shared, starts->monitor);
    run.problem = (struct smm_lowrank){.matrices = &run.matrices,
                                       .loss = starts->loss,
                                       .rank = parameters->rank < k ? parameters->rank : k,
                                       .epsilon = parameters->epsilon,
                                       .alternate = parameters->method == SMM_ALTERNATE,
                                       .bound = machine->dual,
                                       .monitor = &watch};
    *outcome = (struct smm_outcome){.iterations = 1}; /* the SVM */
    if (run.n > 1 && !run.matrices.cluster) {         /* threads go to the starts, else into each */
        run.matrices.threads = NULL;
        threads_run(starts->matrices->threads, run.n, descend, &run);
    } else { /* of a failure other ranks know nothing: they wait */
        for (size_t i = 0; i < run.n && (i == 0 || !run.start[i - 1].failed); i++) {
            descend(&run, i, 0);
        }
    }
    monitor_shared_free(&shared);
    int status = take_best(&run, machine, outcome, err);
    for (size_t i = 0; i < run.n; i++) {
        smm_point_free(&run.start[i].point);
    }
    free(run.start);
    return status;
}
