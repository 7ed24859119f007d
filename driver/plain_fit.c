/* The steps of a fit, directly or, with a time limit, in a thread that may be abandoned. */
#include "driver/plain_fit.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/data/scale.h"
#include "driver/fit.h"
#include "driver/timed_task.h"
#include "driver/training_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The cluster if its processes hold rows of their own, else NULL. */
static struct cluster *rows_cluster(const struct plain_fit *fit,
                                    const struct plain_fit_setup *setup) {
    return fit_wants_gram(fit->family, fit->point.options, &fit->kernel) ? NULL : setup->cluster;
}

/* The cluster whose processes work on the fit together. */
static struct cluster *fit_cluster(const struct plain_fit_setup *setup) {
    return setup->restarts ? setup->peers : setup->cluster;
}

/* Fits the scaling, and applies it unless it works row by row: then the rows were scaled before. */
static int scale_data(struct plain_fit *fit, struct data *data, struct cluster *cluster,
                      struct error *err) {
    const struct options *options = fit->point.options;
    if (training_data_fit_scale(&fit->scale, options, data, cluster, err) < 0) {
        return -1;
    }
    return training_data_scale_depends_on_rows(options) ? scale_apply(&fit->scale, data, err) : 0;
}

/* Computes the kernel matrix if one is needed, and opens the problem. */
static int open_problem(struct plain_fit *fit, const struct plain_fit_setup *setup,
                        struct error *err) {
    const struct family *family = fit->family;
    double start = clock_seconds();
    size_t matrix_bytes = 0;
    if (fit_wants_gram(family, fit->point.options, &fit->kernel)) {
        if (fit_gram(&fit->gram, family, fit->point, &fit->kernel, setup->data, false,
                     setup->cache_bytes, setup->cluster, setup->threads, err) < 0) {
            return -1;
        }
        matrix_bytes = gram_cached_bytes(fit->gram);
        fit->kernel_seconds = clock_seconds() - start;
    }
    fit->problem = (struct problem){.cluster = rows_cluster(fit, setup),
                                    .starts = setup->restarts ? setup->peers : NULL,
                                    .data = setup->data,
                                    .gram = fit->gram,
                                    .n = setup->data->n_rows,
                                    .threads = setup->threads,
                                    .cache_bytes = setup->cache_bytes - matrix_bytes,
                                    .certify_time = &fit->certify_time,
                                    .end_time = setup->end_time};
    start = clock_seconds();
    fit->traffic = cluster_traffic(fit_cluster(setup));
    if (family->open(&fit->state, &fit->problem, fit->point, err) < 0) {
        fit->state = NULL;
        return -1;
    }
    fit->solve_seconds = clock_seconds() - start;
    return 0;
}

/* Stores the limit of support vectors in the model, if it had an effect. */
static int set_max_sv(struct plain_fit *fit, struct error *err) {
    return fit->loss.reduced ? model_add(&fit->model, err, "max-sv", "%zu", fit->loss.max_vectors)
                             : 0;
}

/* Stores the names of the algorithms that ran in the model. */
static int set_solver(struct plain_fit *fit, struct error *err) {
    char names[ALGORITHM_NAMES];
    if (fit->algorithms == 0) {
        return 0;
    }
    algorithm_list(fit->algorithms, " ", names);
    fit->model.solver = memory_text(names, strlen(names), "names of algorithms", err);
    return fit->model.solver ? 0 : -1;
}

static int make_model(struct plain_fit *fit, const struct monitor *monitor, struct error *err) {
    if (fit_header(fit->family, fit->state, fit->point, &fit->kernel, &fit->problem, &fit->solution,
                   monitor, &fit->model, &fit->threshold_late, err) < 0) {
        return -1;
    }
    return set_max_sv(fit, err) < 0 ||
                   fit_body(&fit->model, &fit->problem, &fit->solution, err) < 0 ||
                   set_solver(fit, err) < 0
               ? -1
               : 0;
}

/* The algorithms that ran on any process of the fit. */
static unsigned all_algorithms(unsigned own, struct cluster *cluster) {
    double ran[N_ALGORITHMS];
    unsigned all = 0;
    for (int a = 0; a < N_ALGORITHMS; a++) {
        ran[a] = own >> a & 1;
    }
    cluster_max(cluster, ran, N_ALGORITHMS);
    for (int a = 0; a < N_ALGORITHMS; a++) {
        all |= (unsigned)(ran[a] > 0) << a;
    }
    return all;
}

/* Solves the problem, and makes the model. */
static int solve(struct plain_fit *fit, const struct plain_fit_setup *setup, struct watch *watch,
                 struct error *err) {
    struct monitor monitor = watch_monitor(watch);
    double start = clock_seconds();
    if (max_sv_solve(fit->family, fit->state, &fit->problem, fit->point, &monitor, &fit->solution,
                     &fit->loss, err) < 0) {
        fit->solution = (struct solution){0};
        return -1;
    }
    fit->solve_seconds += clock_seconds() - start;
    fit->traffic = cluster_traffic_since(fit_cluster(setup), fit->traffic);
    fit->algorithms = all_algorithms(watch->algorithms, fit_cluster(setup));
    progress_clear(setup->progress);
    return make_model(fit, &monitor, err);
}

static struct watch make_watch(const struct plain_fit_setup *setup, double deadline) {
    struct watch watch = fit_watch(setup->point.options, deadline);
    watch.progress = setup->progress;
    watch.log = setup->log;
    watch.cluster = setup->cluster;
    watch.peers = setup->peers;
    snprintf(watch.position, sizeof watch.position, "%zu\t\t", setup->position);
    return watch;
}

static struct plain_fit *begin(const struct plain_fit_setup *setup, struct error *err) {
    struct plain_fit *fit = memory_zeros(1, sizeof *fit, "a fit", err);
    if (fit) {
        fit->family = setup->family;
        fit->point = setup->point;
        fit->n_ranks = cluster_size(fit_cluster(setup));
        fit->kernel = fit_kernel(setup->family, setup->point, setup->n_features);
    }
    return fit;
}

/* ---- with a time limit ---- */

/* The arguments of the solver's thread. */
struct job {
    struct plain_fit *fit;
    struct plain_fit_setup setup;
    struct watch watch;
};

static bool is_always_late(void *context) {
    (void)context;
    return true;
}

static const struct monitor expired_monitor = {.past_deadline = is_always_late};

/* The zero solution (w = 0), from a problem without kernel matrix. */
static struct plain_fit *fit_zero(const struct plain_fit_setup *setup, struct error *err) {
    struct plain_fit *fit = begin(setup, err);
    if (!fit) {
        return NULL;
    }
    fit->problem = (struct problem){.data = setup->data,
                                    .n = setup->data->n_rows,
                                    .cache_bytes = setup->cache_bytes,
                                    .zero_only = true};
    if (fit->family->open(&fit->state, &fit->problem, fit->point, err) < 0) {
        fit->state = NULL;
        plain_fit_free(fit);
        return NULL;
    }
    if (fit->family->solve(fit->state, fit->point, &expired_monitor, &fit->solution, err) < 0) {
        fit->solution = (struct solution){0};
        plain_fit_free(fit);
        return NULL;
    }
    struct solution *solution = &fit->solution;
    if (fit->kernel.type != KERNEL_LINEAR && !kernel_definite(&fit->kernel)) {
        solution->certified = false;
        solution->dual = 0;
        solution->gap = NAN;
    }
    return fit;
}

static int run_job(void *context, struct error *err) {
    struct job *job = context;
    if (open_problem(job->fit, &job->setup, err) < 0) {
        return -1;
    }
    job->watch.started = job->watch.asked = clock_seconds();
    return solve(job->fit, &job->setup, &job->watch, err);
}

static struct job *job_create(struct plain_fit *fit, const struct plain_fit_setup *setup,
                              struct error *err) {
    struct job *job = memory_zeros(1, sizeof *job, "a fit", err);
    if (!job) {
        return NULL;
    }
    job->fit = fit;
    job->setup = *setup;
    job->watch = make_watch(setup, setup->deadline);
    job->watch.end_time = timed_task_end_time(setup->deadline);
    job->setup.end_time = job->watch.end_time;
    watch_open(&job->watch);
    return job;
}

/* Runs the fit in a thread. If it is abandoned, *fit becomes the zero solution, which was computed
 * before, and takes over the scale; the rest stays with the thread. */
static int fit_in_time(struct plain_fit **fit, const struct plain_fit_setup *setup, bool *abandoned,
                       struct error *err) {
    struct plain_fit *zero = fit_zero(setup, err);
    struct job *job = zero ? job_create(*fit, setup, err) : NULL;
    bool ended;
    double start = clock_seconds();
    if (!job) {
        plain_fit_free(zero);
        return -1;
    }
    int status = timed_task_run(run_job, job, setup->deadline, &ended, err);
    if (!ended) {
        watch_close(&job->watch);
        *abandoned = true;
        zero->solve_seconds = clock_seconds() - start;
        zero->scale = (*fit)->scale;
        *fit = zero;
        progress_clear(setup->progress);
        return make_model(zero, &expired_monitor, err);
    }
    plain_fit_free(zero);
    free(job);
    return status;
}

/* ---- the whole ---- */

static int fit_freely(struct plain_fit *fit, const struct plain_fit_setup *setup,
                      struct error *err) {
    struct watch watch = make_watch(setup, setup->deadline);
    if (open_problem(fit, setup, err) < 0) {
        return -1;
    }
    watch_open(&watch);
    return solve(fit, setup, &watch, err);
}

int plain_fit_create(struct plain_fit **made, const struct plain_fit_setup *setup, bool *abandoned,
                     struct error *err) {
    /* processes that make collective calls, or wait for one another, abandon no fit */
    bool limited = timed_task_is_limited(setup->deadline) && !setup->cluster && !setup->peers &&
                   !setup->waits_for_solver;
    struct plain_fit *fit = begin(setup, err);
    int status = fit ? scale_data(fit, setup->data, rows_cluster(fit, setup), err) : -1;
    *abandoned = false;
    if (status == 0) {
        status = limited ? fit_in_time(&fit, setup, abandoned, err) : fit_freely(fit, setup, err);
    }
    if (status < 0) {
        plain_fit_free(fit);
        return -1;
    }
    fit->model.scale = fit->scale;
    fit->scale = (struct scale){0};
    *made = fit;
    return 0;
}

void plain_fit_free(struct plain_fit *fit) {
    if (!fit) {
        return;
    }
    model_free(&fit->model);
    solution_free(&fit->solution);
    if (fit->state) {
        fit->family->close(fit->state);
    }
    gram_free(fit->gram);
    scale_free(&fit->scale);
    free(fit);
}
