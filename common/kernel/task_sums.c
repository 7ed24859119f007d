/* Sums over parallel tasks in the order of the tasks: a mutex guards the sums and a list of spare
 * blocks. */
#include "common/kernel/task_sums.h"

#include "common/base/array.h"
#include "common/base/memory.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

/* The partial sums of a closed task. */
struct part {
    bool closed;
    double *block;
    struct task_range range[2];
};

struct task_sums {
    size_t n_tasks, block, max_blocks;
    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t added;
    double *all; /* sums of the tasks before `next` */
    size_t next, n_blocks;
    struct part *part; /* (n_tasks) */
    double **spare;    /* (max_blocks) blocks not in use, n_spare of them */
    size_t n_spare;
};

int task_sums_create(struct task_sums **sums, size_t n, size_t n_tasks, size_t block,
                     size_t max_blocks, struct error *err) {
    struct task_sums *made = memory_zeros(1, sizeof *made, "partial scores", err);
    if (!made) {
        return -1;
    }
    made->n_tasks = n_tasks;
    made->block = block;
    made->max_blocks = max_blocks;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->added, NULL);
    made->all = memory_zeros(n, sizeof *made->all, "scores", err);
    made->part = memory_zeros(n_tasks, sizeof *made->part, "partial scores", err);
    made->spare = memory_array(max_blocks, sizeof *made->spare, "partial scores", err);
    if (!made->all || !made->part || !made->spare) {
        task_sums_free(made);
        return -1;
    }
    *sums = made;
    return 0;
}

void task_sums_free(struct task_sums *sums) {
    if (!sums) {
        return;
    }
    for (size_t b = 0; b < sums->n_spare; b++) {
        free(sums->spare[b]);
    }
    pthread_cond_destroy(&sums->added);
    pthread_mutex_destroy(&sums->mutex);
    free(sums->all);
    free(sums->part);
    free(sums->spare);
    free(sums);
}

double *task_sums_open(struct task_sums *sums, size_t task, struct error *err) {
    double *block = NULL;
    pthread_mutex_lock(&sums->mutex);
    while (sums->n_blocks >= sums->max_blocks && task != sums->next) {
        pthread_cond_wait(&sums->added, &sums->mutex);
    }
    sums->n_blocks++;
    if (sums->n_spare > 0) {
        block = sums->spare[--sums->n_spare];
    }
    pthread_mutex_unlock(&sums->mutex);
    return block ? block : memory_array(sums->block, sizeof *block, "partial scores", err);
}

/* Adds the partial sums of task `next`, and keeps its block for reuse. */
static void add_next(struct task_sums *sums) {
    struct part *part = &sums->part[sums->next++];
    const double *from = part->block;
    for (size_t r = 0; from && r < 2; r++) {
        array_add(sums->all + part->range[r].at, 1, from, part->range[r].n);
        from += part->range[r].n;
    }
    sums->n_blocks--;
    if (part->block && sums->n_spare < sums->max_blocks) {
        sums->spare[sums->n_spare++] = part->block;
    } else {
        free(part->block);
    }
}

void task_sums_close(struct task_sums *sums, size_t task, double *block,
                     const struct task_range range[2]) {
    pthread_mutex_lock(&sums->mutex);
    sums->part[task] = (struct part){true, block, {range[0], range[1]}};
    while (sums->next < sums->n_tasks && sums->part[sums->next].closed) {
        add_next(sums);
    }
    pthread_cond_broadcast(&sums->added);
    pthread_mutex_unlock(&sums->mutex);
}

const double *task_sums_all(const struct task_sums *sums) {
    return sums->all;
}
