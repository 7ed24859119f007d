/* The scheduler of cross-validation: worker threads, and the processes of a cluster, take tasks
 * (the points of a run, of one fold) and advance them one fit at a time. Results depend on
 * neither. */
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
static bool precedes_failure(const struct kernel_group *group, size_t point, size_t fold) {
    return point < group->failed_point ||
           (point == group->failed_point && fold < group->failed_fold);
}

/* Ends a task; the last task of a fold releases the fold. */
static void end_task(struct kernel_group *group, struct fit_task *task) {
    struct fold *fold = &group->fold[task->fold];
    if (task->state) {
        group->crossval->family->close(task->state);
    }
    pthread_mutex_lock(&group->mutex);
    task->done = true;
    fold->n_busy--;
    bool last = --fold->n_left == 0;
    pthread_mutex_unlock(&group->mutex);
    if (last) {
        crossval_fold_free(fold);
        pthread_mutex_lock(&group->mutex);
        fold->open = false;
        group->n_open--;
        pthread_mutex_unlock(&group->mutex);
    }
}

/* On a cluster: assigns the next task to this process. NULL: all are assigned. */
static struct fit_task *take_task(struct kernel_group *group) {
    struct cluster *cluster = group->crossval->cluster;
    if (!cluster || group->failed_point != SIZE_MAX) {
        return NULL;
    }
    size_t number = cluster_next_task(cluster, &group->tasks);
    if (number == group->n_tasks) {
        crossval_counter_assign(group->counter, 0, group->counter->n_planned);
        return NULL;
    }
    struct fit_task *task = &group->task[number];
    task->own = true;
    group->fold[task->fold].n_busy++;
    crossval_counter_assign(group->counter, task->end - task->first, task->assigned_end);
    return task;
}

/* Marks a fold as open. On a cluster, idle open folds are released first if too many are open,
 * since it is unknown whether this process will get another of their tasks. */
static void open_fold(struct kernel_group *group, struct fold *fold) {
    for (size_t f = 0; group->n_open >= group->max_open && f < group->crossval->folds->n; f++) {
        struct fold *other = &group->fold[f];
        if (other->open && other->n_busy == 0) {
            crossval_fold_free(other);
            other->open = false;
            group->n_open--;
        }
    }
    fold->open = true;
    group->n_open++;
}

/* The task to continue: of this process's idle tasks the one whose next fit comes first by point
 * and fold, otherwise a newly assigned one. NULL: there is none. A task of a fold that is not open
 * waits while the maximum number of folds is open. */
static struct fit_task *next_task(struct kernel_group *group) {
    struct fit_task *chosen = NULL;
    bool on_cluster = group->crossval->cluster != NULL;
    pthread_mutex_lock(&group->mutex);
    while (group->first_unfinished < group->n_tasks && group->task[group->first_unfinished].done) {
        group->first_unfinished++;
    }
    for (size_t i = group->first_unfinished; i < group->n_tasks; i++) {
        struct fit_task *task = &group->task[i];
        bool may_begin =
            on_cluster || group->fold[task->fold].open || group->n_open < group->max_open;
        if (task->own && !task->done && !task->busy && may_begin &&
            (!chosen || task->next < chosen->next ||
             (task->next == chosen->next && task->fold < chosen->fold))) {
            chosen = task;
        }
    }
    chosen = chosen ? chosen : take_task(group);
    if (chosen) {
        struct fold *fold = &group->fold[chosen->fold];
        chosen->busy = true;
        if (!fold->open) {
            open_fold(group, fold);
        }
    }
    pthread_mutex_unlock(&group->mutex);
    return chosen;
}

/* A worker thread: makes fits until no task is available. Every task is finished, because the
 * worker that holds it asks again after each fit. */
static void work(void *argument, size_t number, size_t worker) {
    (void)number;
    (void)worker;
    struct kernel_group *group = argument;
    for (struct fit_task *task; (task = next_task(group)) != NULL;) {
        struct error err;
        size_t point = task->next;
        pthread_mutex_lock(&group->mutex);
        bool skipped = !precedes_failure(group, point, task->fold);
        pthread_mutex_unlock(&group->mutex);
        int status = skipped ? -1 : crossval_fit_next(group, task, &err);
        pthread_mutex_lock(&group->mutex);
        task->next++;
        bool ended = status < 0 || task->next == task->end;
        if (status < 0 && !skipped && precedes_failure(group, point, task->fold)) {
            group->failed_point = point;
            group->failed_fold = task->fold;
            error_set(&group->err, err.kind, "fold %zu: %s", task->fold + 1, err.text);
        }
        task->busy = ended; /* stays reserved until end_task */
        pthread_mutex_unlock(&group->mutex);
        if (ended) {
            end_task(group, task);
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
static int plan(struct kernel_group *group, size_t first, size_t end, struct error *err) {
    const struct crossval *crossval = group->crossval;
    size_t n_folds = crossval->folds->n, n_runs = 0;
    group->task = memory_zeros(n_folds * (end - first), sizeof *group->task, "folds", err);
    group->fold = group->task ? memory_zeros(n_folds, sizeof *group->fold, "folds", err) : NULL;
    if (!group->fold) {
        return -1;
    }
    for (size_t next; first < end; first = next) {
        next = crossval_run_end(crossval->options, crossval->points, crossval->n_points, first);
        n_runs++;
        size_t last = wanted_end(crossval, first, next);
        for (size_t f = 0; f < n_folds && last > first; f++) {
            group->counter->n_planned += last - first;
            group->task[group->n_tasks++] =
                (struct fit_task){.fold = f,
                                  .first = first,
                                  .end = last,
                                  .own = !crossval->cluster,
                                  .next = first,
                                  .assigned_end = group->counter->n_planned};
            group->fold[f].n_left++;
            group->fold[f].n_busy += !crossval->cluster;
        }
    }
    for (size_t f = 0; f < n_folds; f++) {
        group->fold[f].number = f;
        group->fold[f].n_tasks = n_runs;
        pthread_mutex_init(&group->fold[f].mutex, NULL);
    }
    group->tasks = cluster_create_tasks(crossval->cluster, group->n_tasks);
    return 0;
}

/* The maximum number of folds that are open at once. Each holds a copy of its rows and the solver's
 * state, about one number per row or feature and label. */
static size_t count_open(const struct kernel_group *group) {
    const struct crossval *crossval = group->crossval;
    const struct data *data = crossval->data;
    double sides = (double)data->n_rows + (double)data->n_features;
    double bytes = 8 * sides * (double)(data->names.n > 1 ? data->names.n : 1);
    if (!group->gram) {
        bytes += (double)data_values(data) * (data->row_start ? 8 : 4);
    }
    double max = (double)crossval->cache_bytes / OPEN_MEMORY_DIVISOR / bytes;
    size_t n = max < (double)crossval->folds->n ? (size_t)max : crossval->folds->n;
    return n > group->n_workers ? n : group->n_workers;
}

static void run_tasks(struct kernel_group *group) {
    const struct crossval *crossval = group->crossval;
    size_t n_threads = threads_count(crossval->threads);
    bool outer = group->inner == NULL;
    group->n_workers = outer ? n_threads : 1;
    group->max_open = count_open(group);
    /* not by the number of threads, on which results would then depend */
    group->cache_bytes /= crossval->folds->n;
    threads_run(outer ? crossval->threads : NULL, group->n_workers, work, group);
}

static void kernel_group_free(struct kernel_group *group) {
    for (size_t f = 0; group->fold && f < group->crossval->folds->n; f++) {
        if (group->fold[f].open) {
            crossval_fold_free(&group->fold[f]);
        }
        pthread_mutex_destroy(&group->fold[f].mutex);
    }
    free(group->fold);
    free(group->task);
    gram_free(group->gram);
    pthread_mutex_destroy(&group->mutex);
}

/* Runs the fits of the points first..end (indices), which share a kernel. A process that gets no
 * task computes no matrix. */
static int run_kernel_group(const struct crossval *crossval, size_t first, size_t end,
                            struct fit_counter *counter, struct error *err) {
    struct point point = {crossval->options, crossval->points[first]};
    struct kernel_group group = {.crossval = crossval,
                                 .first_point = first,
                                 .kernel =
                                     fit_kernel(crossval->family, point, crossval->n_features),
                                 .cache_bytes = crossval->cache_bytes,
                                 .counter = counter,
                                 .failed_point = SIZE_MAX,
                                 .failed_fold = SIZE_MAX};
    pthread_mutex_init(&group.mutex, NULL);
    int status = plan(&group, first, end, err);
    size_t n_ranks = cluster_size(crossval->cluster);
    /* about the number per process */
    size_t n_tasks = (group.n_tasks + n_ranks - 1) / n_ranks;
    bool outer = 2 * n_tasks >= threads_count(crossval->threads);
    bool has_work = status == 0 && (crossval->cluster ? take_task(&group) != NULL : n_tasks > 0);
    group.inner = outer ? NULL : crossval->threads;
    if (has_work && !crossval->copy_folds &&
        fit_wants_gram(crossval->family, crossval->options, &group.kernel)) {
        status = fit_gram(&group.gram, crossval->family, point, &group.kernel, crossval->data, true,
                          crossval->cache_bytes, NULL, crossval->threads, err);
        group.cache_bytes -= status == 0 ? gram_cached_bytes(group.gram) : 0;
    }
    if (status == 0 && has_work) {
        run_tasks(&group);
    }
    kernel_group_free(&group);
    if (status == 0 && group.failed_point != SIZE_MAX) {
        *err = group.err;
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
        if (cluster_stop_requested(crossval->cluster)) {
            error_set(err, ERROR_RUNTIME, "ended by a signal, before all fits to folds");
        }
        cluster_fail(crossval->cluster, err);
    }
    crossval_counter_close(&counter);
    return status;
}
