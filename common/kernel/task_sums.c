#include "common/kernel/task_sums.h"

#include "common/base/memory.h"

#include <pthread.h>
#include <stdlib.h>

/* What a task has handed in. */
struct part {
    double *block; /* NULL: nothing yet, or it is added */
    size_t used;
};

struct task_sums {
    size_t n, n_tasks;
    pthread_mutex_t mutex; /* guards what follows */
    double *all;           /* (n) of the tasks before `next` */
    size_t next;
    struct part *part; /* (n_tasks) */
    double **spare;    /* (n_tasks) blocks that nobody uses, n_spare */
    size_t n_spare;
};

int task_sums_create(struct task_sums **sums, size_t n, size_t n_tasks, struct error *err) {
    struct task_sums *made = memory_zeros(1, sizeof *made, "partial scores", err);
    if (!made) {
        return -1;
    }
    made->n = n;
    made->n_tasks = n_tasks;
    pthread_mutex_init(&made->mutex, NULL);
    made->all = memory_zeros(n, sizeof *made->all, "scores", err);
    made->part = memory_zeros(n_tasks, sizeof *made->part, "partial scores", err);
    made->spare = memory_array(n_tasks, sizeof *made->spare, "partial scores", err);
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
    for (size_t task = 0; sums->part && task < sums->n_tasks; task++) {
        free(sums->part[task].block);
    }
    for (size_t b = 0; b < sums->n_spare; b++) {
        free(sums->spare[b]);
    }
    pthread_mutex_destroy(&sums->mutex);
    free(sums->all);
    free(sums->part);
    free(sums->spare);
    free(sums);
}

double *task_sums_open(struct task_sums *sums, struct error *err) {
    double *block = NULL;
    pthread_mutex_lock(&sums->mutex);
    if (sums->n_spare > 0) {
        block = sums->spare[--sums->n_spare];
    }
    pthread_mutex_unlock(&sums->mutex);
    return block ? block : memory_array(sums->n, sizeof *block, "partial scores", err);
}

void task_sums_close(struct task_sums *sums, size_t task, double *block, size_t used) {
    pthread_mutex_lock(&sums->mutex);
    sums->part[task] = (struct part){block, used};
    for (; sums->next < sums->n_tasks && sums->part[sums->next].block; sums->next++) {
        struct part *part = &sums->part[sums->next];
        for (size_t j = 0; j < part->used; j++) {
            sums->all[j] += part->block[j];
        }
        sums->spare[sums->n_spare++] = part->block;
        part->block = NULL;
    }
    pthread_mutex_unlock(&sums->mutex);
}

const double *task_sums_all(const struct task_sums *sums) {
    return sums->all;
}
