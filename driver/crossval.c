#include "driver/crossval_private.h"

#include "common/base/memory.h"
#include "driver/fit.h"

#include <stdlib.h>

/* The maximum number of points in a run, whose points are solved one after the other with warm
 * starts. Shorter runs occupy more threads than there are folds; longer ones start fewer fits from
 * zero. */
enum { MAX_RUN_POINTS = 8 };

/* The data of the open folds, besides kernel matrices, may take 1/OPEN_MEMORY_DIVISOR of the
 * cache. */
enum { OPEN_MEMORY_DIVISOR = 2 };

/* ---- scheduling ---- */

/* Returns whether a fit precedes the first failed one. */
static bool precedes_failure(const struct kernel_group *kernel_group, size_t point, size_t fold) {
    return point < kernel_group->failed_point ||
           (point == kernel_group->failed_point && fold < kernel_group->failed_fold);
}

/* Ends a task; the last task of a fold releases the fold. */
static void end_task(struct kernel_group *kernel_group, struct fit_task *fit_task) {
    struct fold *fold = &kernel_group->fold[fit_task->fold];
    if (fit_task->state) {
        kernel_group->crossval->family->close(fit_task->state);
    }
    pthread_mutex_lock(&kernel_group->mutex);
    fit_task->done = true;
    fold->n_busy--;
    bool last = --fold->n_left == 0;
    pthread_mutex_unlock(&kernel_group->mutex);
    if (last) {
        crossval_fold_free(fold);
        pthread_mutex_lock(&kernel_group->mutex);
        fold->open = false;
        kernel_group->n_open--;
        pthread_mutex_unlock(&kernel_group->mutex);
    }
}

/* On a cluster: assigns the next task to this process. NULL: all are assigned. */
static struct fit_task *take_task(struct kernel_group *kernel_group) {
    struct cluster *cluster = kernel_group->crossval->cluster;
    if (!cluster || kernel_group->failed_point != SIZE_MAX) {
        return NULL;
    }
    size_t task = cluster_take(cluster, &kernel_group->tasks);
    if (task == kernel_group->n_tasks) {
        crossval_counter_assign(kernel_group->counter, 0, kernel_group->counter->n_planned);
        return NULL;
    }
    struct fit_task *fit_task = &kernel_group->fit_task[task];
    fit_task->own = true;
    kernel_group->fold[fit_task->fold].n_busy++;
    crossval_counter_assign(kernel_group->counter, fit_task->end - fit_task->first,
                            fit_task->assigned_end);
    return fit_task;
}

/* Marks a fold as open. On a cluster, idle open folds are released first if too many are open,
 * since it is unknown whether this process will get another of their tasks. */
static void open_fold(struct kernel_group *kernel_group, struct fold *fold) {
    for (size_t f = 0;
         kernel_group->n_open >= kernel_group->max_open && f < kernel_group->crossval->folds->n;
         f++) {
        struct fold *other = &kernel_group->fold[f];
        if (other->open && other->n_busy == 0) {
            crossval_fold_free(other);
            other->open = false;
            kernel_group->n_open--;
        }
    }
    fold->open = true;
    kernel_group->n_open++;
}

/* The task to continue: of this process's idle tasks the one whose next fit comes first by point
 * and fold, otherwise a newly assigned one. NULL: there is none. A task of a fold that is not open
 * waits while the maximum number of folds is open. */
static struct fit_task *next_task(struct kernel_group *kernel_group) {
    struct fit_task *taken = NULL;
    bool assigned_end = kernel_group->crossval->cluster != NULL;
    pthread_mutex_lock(&kernel_group->mutex);
    while (kernel_group->first_unfinished < kernel_group->n_tasks &&
           kernel_group->fit_task[kernel_group->first_unfinished].done) {
        kernel_group->first_unfinished++;
    }
    for (size_t i = kernel_group->first_unfinished; i < kernel_group->n_tasks; i++) {
        struct fit_task *fit_task = &kernel_group->fit_task[i];
        bool may_begin = assigned_end || kernel_group->fold[fit_task->fold].open ||
                         kernel_group->n_open < kernel_group->max_open;
        if (fit_task->own && !fit_task->done && !fit_task->busy && may_begin &&
            (!taken || fit_task->next < taken->next ||
             (fit_task->next == taken->next && fit_task->fold < taken->fold))) {
            taken = fit_task;
        }
    }
    taken = taken ? taken : take_task(kernel_group);
    if (taken) {
        struct fold *fold = &kernel_group->fold[taken->fold];
        taken->busy = true;
        if (!fold->open) {
            open_fold(kernel_group, fold);
        }
    }
    pthread_mutex_unlock(&kernel_group->mutex);
    return taken;
}

/* A worker thread: makes fits until no task is available. Every task is finished, because the
 * worker that holds it asks again after each fit. */
static void work(void *argument, size_t number, size_t worker) {
    (void)number;
    (void)worker;
    struct kernel_group *kernel_group = argument;
    for (struct fit_task *fit_task; (fit_task = next_task(kernel_group)) != NULL;) {
        struct error err;
        size_t point = fit_task->next;
        pthread_mutex_lock(&kernel_group->mutex);
        bool skipped = !precedes_failure(kernel_group, point, fit_task->fold);
        pthread_mutex_unlock(&kernel_group->mutex);
        int status = skipped ? -1 : crossval_fit_next(kernel_group, fit_task, &err);
        pthread_mutex_lock(&kernel_group->mutex);
        fit_task->next++;
        bool ended = status < 0 || fit_task->next == fit_task->end;
        if (status < 0 && !skipped && precedes_failure(kernel_group, point, fit_task->fold)) {
            kernel_group->failed_point = point;
            kernel_group->failed_fold = fit_task->fold;
            error_set(&kernel_group->err, err.kind, "fold %zu: %s", fit_task->fold + 1, err.text);
        }
        fit_task->busy = ended; /* stays reserved until end_task */
        pthread_mutex_unlock(&kernel_group->mutex);
        if (ended) {
            end_task(kernel_group, fit_task);
        }
    }
}

/* ---- kernel groups ---- */

size_t crossval_run_end(const struct options *options, const size_t *points, size_t n,
                        size_t first) {
    size_t block = options_block(options, OPTION_OPEN), begin = first, end = first;
    while (begin > 0 && points[begin - 1] / block == points[first] / block) {
        begin--;
    }
    while (end < n && points[end] / block == points[first] / block) {
        end++;
    }
    while (begin <= first) { /* split evenly */
        size_t parts = (end - begin + MAX_RUN_POINTS - 1) / MAX_RUN_POINTS;
        begin += (end - begin + parts - 1) / parts;
    }
    return begin;
}

/* The index after the last point that shares the kernel of points[first]. */
static size_t kernel_group_end(const struct crossval *crossval, size_t first) {
    size_t block = options_block(crossval->options, OPTION_KERNEL), end = first;
    while (end < crossval->n_points &&
           crossval->points[end] / block == crossval->points[first] / block) {
        end++;
    }
    return end;
}

/* The end of the part of the run first..end that must be solved: after its last wanted point. */
static size_t wanted_end(const struct crossval *crossval, size_t first, size_t end) {
    while (end > first && crossval->wanted && !crossval->wanted[end - 1]) {
        end--;
    }
    return end;
}

size_t crossval_count(const struct crossval *crossval) {
    size_t n = 0;
    for (size_t first = 0, end; first < crossval->n_points; first = end) {
        end = crossval_run_end(crossval->options, crossval->points, crossval->n_points, first);
        n += wanted_end(crossval, first, end) - first;
    }
    return n * crossval->folds->n;
}

/* Lists the tasks of the points first..end, and initialises the folds. Both depend only on the
 * points. */
static int plan(struct kernel_group *kernel_group, size_t first, size_t end, struct error *err) {
    const struct crossval *crossval = kernel_group->crossval;
    size_t n_folds = crossval->folds->n, n_runs = 0;
    kernel_group->fit_task =
        memory_zeros(n_folds * (end - first), sizeof *kernel_group->fit_task, "folds", err);
    kernel_group->fold = kernel_group->fit_task
                             ? memory_zeros(n_folds, sizeof *kernel_group->fold, "folds", err)
                             : NULL;
    if (!kernel_group->fold) {
        return -1;
    }
    for (size_t next; first < end; first = next) {
        next = crossval_run_end(crossval->options, crossval->points, crossval->n_points, first);
        n_runs++;
        size_t last = wanted_end(crossval, first, next);
        for (size_t f = 0; f < n_folds && last > first; f++) {
            kernel_group->counter->n_planned += last - first;
            kernel_group->fit_task[kernel_group->n_tasks++] =
                (struct fit_task){.fold = f,
                                  .first = first,
                                  .end = last,
                                  .own = !crossval->cluster,
                                  .next = first,
                                  .assigned_end = kernel_group->counter->n_planned};
            kernel_group->fold[f].n_left++;
            kernel_group->fold[f].n_busy += !crossval->cluster;
        }
    }
    for (size_t f = 0; f < n_folds; f++) {
        kernel_group->fold[f].number = f;
        kernel_group->fold[f].n_tasks = n_runs;
        pthread_mutex_init(&kernel_group->fold[f].mutex, NULL);
    }
    kernel_group->tasks = cluster_deal(crossval->cluster, kernel_group->n_tasks);
    return 0;
}

/* The maximum number of folds that are open at once. Each holds a copy of its rows and the solver's
 * state, about one number per row or feature and label. */
static size_t count_open(const struct kernel_group *kernel_group) {
    const struct crossval *crossval = kernel_group->crossval;
    const struct data *data = crossval->data;
    double sides = (double)data->n_rows + (double)data->n_features;
    double bytes = 8 * sides * (double)(data->names.n > 1 ? data->names.n : 1);
    if (!kernel_group->gram) {
        bytes += (double)data_values(data) * (data->row_start ? 8 : 4);
    }
    double max = (double)crossval->cache_bytes / OPEN_MEMORY_DIVISOR / bytes;
    size_t n = max < (double)crossval->folds->n ? (size_t)max : crossval->folds->n;
    return n > kernel_group->n_workers ? n : kernel_group->n_workers;
}

static void run_tasks(struct kernel_group *kernel_group) {
    const struct crossval *crossval = kernel_group->crossval;
    size_t n_threads = threads_count(crossval->threads);
    bool outer = kernel_group->inner == NULL;
    kernel_group->n_workers = outer ? n_threads : 1;
    kernel_group->max_open = count_open(kernel_group);
    /* not by the number of threads, on which results would then depend */
    kernel_group->cache_bytes /= crossval->folds->n;
    threads_run(outer ? crossval->threads : NULL, kernel_group->n_workers, work, kernel_group);
}

static void kernel_group_free(struct kernel_group *kernel_group) {
    for (size_t f = 0; kernel_group->fold && f < kernel_group->crossval->folds->n; f++) {
        if (kernel_group->fold[f].open) {
            crossval_fold_free(&kernel_group->fold[f]);
        }
        pthread_mutex_destroy(&kernel_group->fold[f].mutex);
    }
    free(kernel_group->fold);
    free(kernel_group->fit_task);
    gram_free(kernel_group->gram);
    pthread_mutex_destroy(&kernel_group->mutex);
}

/* Runs the fits of the points first..end (indices), which share a kernel. A process that gets no
 * task computes no matrix. */
static int run_kernel_group(const struct crossval *crossval, size_t first, size_t end,
                            struct fit_counter *counter, struct error *err) {
    struct point point = {crossval->options, crossval->points[first]};
    struct kernel_group kernel_group = {
        .crossval = crossval,
        .first_point = first,
        .kernel = fit_kernel(crossval->family, point, crossval->n_features),
        .cache_bytes = crossval->cache_bytes,
        .counter = counter,
        .failed_point = SIZE_MAX,
        .failed_fold = SIZE_MAX};
    pthread_mutex_init(&kernel_group.mutex, NULL);
    int status = plan(&kernel_group, first, end, err);
    size_t n_ranks = cluster_size(crossval->cluster);
    /* about the number per process */
    size_t n_tasks = (kernel_group.n_tasks + n_ranks - 1) / n_ranks;
    bool outer = 2 * n_tasks >= threads_count(crossval->threads);
    bool has_work =
        status == 0 && (crossval->cluster ? take_task(&kernel_group) != NULL : n_tasks > 0);
    kernel_group.inner = outer ? NULL : crossval->threads;
    if (has_work && !crossval->copy_folds &&
        fit_wants_gram(crossval->family, crossval->options, &kernel_group.kernel)) {
        status =
            fit_gram(&kernel_group.gram, crossval->family, point, &kernel_group.kernel,
                     crossval->data, true, crossval->cache_bytes, NULL, crossval->threads, err);
        kernel_group.cache_bytes -= status == 0 ? gram_kept_bytes(kernel_group.gram) : 0;
    }
    if (status == 0 && has_work) {
        run_tasks(&kernel_group);
    }
    kernel_group_free(&kernel_group);
    if (status == 0 && kernel_group.failed_point != SIZE_MAX) {
        *err = kernel_group.err;
        status = -1;
    }
    return status;
}

int crossval_run(const struct crossval *crossval, struct error *err) {
    struct fit_counter counter;
    int status = 0;
    crossval_counter_open(&counter, crossval);
    if (!crossval->cluster) {
        crossval_counter_assign(&counter, counter.n, counter.n);
    }
    for (size_t first = 0, end; status == 0 && first < crossval->n_points; first = end) {
        end = kernel_group_end(crossval, first);
        status = run_kernel_group(crossval, first, end, &counter, err);
    }
    if (status < 0) { /* other processes may report fits and wait for this one */
        if (cluster_asked(crossval->cluster)) {
            error_set(err, ERROR_RUNTIME, "ended by a signal, before all fits to folds");
        }
        cluster_fail(crossval->cluster, err);
    }
    crossval_counter_close(&counter);
    return status;
}
