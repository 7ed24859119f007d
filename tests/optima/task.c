#include "tests/optima/task.h"

#include "tests/optima/gram.h"

#include <assert.h>
#include <stdlib.h>

size_t task_labels(struct task *task) {
    const struct trial *trial = task->trial;
    for (unsigned label = 0; label < MAX_LABELS; label++) {
        bool occurs = false;
        for (size_t i = 0; i < trial->n; i++) {
            occurs |= trial->family == ML ? trial->label[i] >> label & 1 : trial->label[i] == label;
        }
        if (occurs) {
            task->label[task->n_labels++] = label;
        }
    }
    return task->n_labels;
}

void task_allocate(struct task *task, size_t n, size_t k) {
    const struct trial *trial = task->trial;
    task->n = n;
    task->k = k;
    task->gram = n_zeros(n * n);
    task->off = n_zeros(n * n);
    task->basis = zeros(n * k * MAX_VARIABLES, sizeof *task->basis);
    if (n != trial->n || trial_is(trial, PAIR_FEATURES, 1)) {
        return;
    }
    gram_fill(trial, task->gram, task->off);
    num constant = n_of(trial_option(trial, BIAS));
    for (size_t i = 0; i < n * n; i++) {
        task->gram[i] = n_plus(task->gram[i], constant, constant);
        task->off[i] = n_plus(task->off[i], n_of(2 * N_EPSILON), n_absolute(task->gram[i]));
    }
}

size_t task_variable(struct task *task, real linear, real square, real most, real start) {
    assert(task->m < MAX_VARIABLES);
    size_t v = task->m++;
    task->linear[v] = linear;
    task->square[v] = square;
    task->most[v] = most;
    task->start[v] = start;
    return v;
}

void task_entry(struct task *task, size_t row, size_t output, size_t variable, real value) {
    task->basis[(row * task->k + output) * MAX_VARIABLES + variable] += value;
}

real *task_equation(struct task *task) {
    real *grown = zeros((task->equal + 1) * MAX_VARIABLES, sizeof *grown);
    for (size_t i = 0; i < task->equal * MAX_VARIABLES; i++) {
        grown[i] = task->e[i];
    }
    free(task->e);
    task->e = grown;
    return grown + task->equal++ * MAX_VARIABLES;
}

size_t task_count(const struct trial *trial) {
    struct task labels = {.trial = trial};
    return trial->family == SMM && task_labels(&labels) > 2 ? labels.n_labels : 1;
}

struct task *task_create(const struct trial *trial, size_t number) {
    struct task *task = zeros(1, sizeof *task);
    task->trial = trial;
    bool made = trial->family == RANK  ? rank_task(task)
                : trial->family == TOP ? top_task(task)
                : trial->family == MC  ? mc_task(task)
                : trial->family == ML  ? ml_task(task)
                                       : smm_task(task, number);
    if (made) {
        return task;
    }
    task_free(task);
    return NULL;
}

void task_free(struct task *task) {
    if (task) {
        free(task->gram);
        free(task->off);
        free(task->basis);
        free(task->e);
        free(task);
    }
}
