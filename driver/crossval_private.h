/* The internals of cross-validation: kernel groups, folds and tasks. crossval.c schedules,
 * crossval_fit.c makes a fit, crossval_progress.c counts fits and exchanges messages between
 * processes. */
#ifndef DRIVER_CROSSVAL_PRIVATE_H
#define DRIVER_CROSSVAL_PRIVATE_H

#include "common/kernel/gram.h"
#include "common/kernel/kernel.h"
#include "common/kernel/problem.h"
#include "driver/crossval.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The points first..end (indices) of a run, of one fold. Fields without a guard belong to the
 * thread that has set `busy`. */
struct fit_task {
    size_t fold, first, end;
    bool own;    /* assigned to this process; guarded by the group's mutex */
    bool busy;   /* a thread works on it; guarded by the group's mutex, as are next and done */
    size_t next; /* the next point to solve */
    size_t assigned_end; /* number of fits of all tasks of all groups up to the end of this one */
    bool done;
    void *state; /* the family's open problem; NULL before the first point */
};

/* All folds at the points that share a kernel. */
struct kernel_group {
    const struct crossval *crossval;
    size_t first_point;    /* index of the first point */
    struct fold *fold;     /* (folds) */
    struct fit_task *task; /* one for each run and fold */
    size_t n_tasks;
    size_t first_unfinished;    /* tasks before it are done or another process's */
    struct cluster_tasks tasks; /* assignment to processes; guarded by the mutex */
    struct kernel kernel;
    struct gram *gram;     /* of all rows, for all folds; NULL: each fold has its own data */
    struct threads *inner; /* threads within a fit; NULL: one thread */
    size_t n_workers;      /* fits at once */
    size_t cache_bytes;    /* for the matrix of one fold, or what the matrix of all rows leaves */
    size_t max_open;       /* maximum number of open folds */

    struct fit_counter *counter;
    pthread_mutex_t mutex;            /* guards the fields below */
    size_t n_open;                    /* folds that are open */
    size_t failed_point, failed_fold; /* of the first fit that failed; SIZE_MAX: none */
    struct error err;                 /* of that fit */
};

/* Counts the fits of all groups. */
struct fit_counter {
    const struct crossval *crossval;
    double started;        /* clock_seconds() */
    size_t n;              /* of all processes */
    size_t n_planned;      /* fits of the groups so far */
    size_t n_unconverged;  /* before this run */
    pthread_mutex_t mutex; /* guards the fields below, and progress */
    size_t n_done;         /* on process 0: of all processes; otherwise unused */
    size_t n_assigned;     /* fits assigned to any process, as far as known here */
    size_t n_own_left;     /* fits assigned to this process and not finished */
};

/* Begins the counting of a run, and ends it when process 0 has received all results. Called by all
 * processes. */
void crossval_counter_open(struct fit_counter *counter, const struct crossval *crossval);
void crossval_counter_close(struct fit_counter *counter);

/* Records that `own` fits are assigned to this process, and that `assigned` of all fits are
 * assigned. */
void crossval_counter_assign(struct fit_counter *counter, size_t own, size_t assigned);

/* The deadline of a fit that begins now, while n_workers fits of this process run at once. */
double crossval_counter_deadline(struct fit_counter *counter, size_t n_workers);

/* Sends the bytes that `serialize` makes of a fit to process 0. */
int crossval_send_scores(struct fit_counter *counter, const struct crossval_fit *fit,
                         struct error *err);

/* Counts a fit of this process on process 0, which shows the progress. `log`: its log rows if this
 * is not process 0, or NULL. */
int crossval_count_fit(struct fit_counter *counter, bool converged, const struct text *log,
                       struct error *err);

/* What the tasks of a fold share: created by the first, released by the last. */
struct fold {
    pthread_mutex_t mutex; /* guards the creation, and that of first and held */
    bool tried;
    struct error err; /* of the creation */
    bool open;        /* guarded by the group's mutex, as are the next two */
    size_t n_left;    /* tasks to be done, by any process */
    size_t n_busy;    /* those of them that are assigned to this process */
    size_t n_tasks;   /* including those without wanted points: the divisor of the memory */
    size_t number;
    uint32_t *rows; /* all row numbers: n_held held-out rows, then n_train */
    size_t n_held, n_train;
    uint32_t *first; /* (n_held) the first held-out row equal to each; NULL: not found yet */
    struct data train, held; /* copies of those rows, if the fold has its own data; scaled */
    struct gram *gram;       /* of train, or NULL */
    struct problem problem;
};

/* Solves the next point of a task, and sends the scores if they are wanted. */
int crossval_fit_next(struct kernel_group *group, struct fit_task *task, struct error *err);

/* Releases what the tasks of a fold share; they can create it again. */
void crossval_fold_free(struct fold *fold);

#endif
