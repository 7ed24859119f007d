#include "tests/optima/task.h"

static num loss(const struct task *task, const num *s, const num *off, const num *bias) {
    bool is_free = trial_is(task->trial, FREE_BIAS, 1); /* otherwise s includes it */
    num sum = n_of(0);
    for (size_t p = 0; p < task->n_pairs; p++) {
        const struct pair *pair = &task->pair[p];
        const num *row = s + pair->row * task->k;
        num margin = n_subtract(row[pair->better], row[pair->worse]);
        if (is_free) {
            margin = n_add(margin, n_subtract(bias[pair->better], bias[pair->worse]));
        }
        num u = n_plus(n_subtract(n_of(1), margin), n_of(2), off[pair->row]);
        sum = n_plus(sum, n_of(pair->cost), hinge(task, u));
    }
    return sum;
}

/* With a free bias, the alphas of a pair of labels are a flow between them, and flow is conserved.
 * So pairs of labels that lie on no cycle have alpha = 0, and the bias separates them. reachable:
 * the labels that flow can reach. */
static void find_reachable(const struct task *task, bool reachable[MAX_LABELS][MAX_LABELS]) {
    for (size_t p = 0; p < task->n_pairs; p++) {
        reachable[task->pair[p].better][task->pair[p].worse] = true;
    }
    for (size_t via = 0; via < task->k; via++) {
        for (size_t a = 0; a < task->k; a++) {
            for (size_t b = 0; b < task->k; b++) {
                reachable[a][b] |= reachable[a][via] && reachable[via][b];
            }
        }
    }
}

static void set_apart(struct task *task, bool reachable[MAX_LABELS][MAX_LABELS]) {
    for (size_t round = 0; round < task->k; round++) {
        for (size_t a = 0; a < task->k; a++) {
            for (size_t b = 0; b < task->k; b++) {
                if (reachable[a][b] && !reachable[b][a] && task->above[a] <= task->above[b]) {
                    task->above[a] = task->above[b] + 1;
                }
            }
        }
        for (size_t a = 0; a < task->k; a++) {
            for (size_t b = 0; b < task->k; b++) {
                if (reachable[a][b] && reachable[b][a] && task->above[a] < task->above[b]) {
                    task->above[a] = task->above[b];
                }
            }
        }
    }
}

/* The bias is given by the multipliers of the equations of all labels except the last. */
static void find_bias(const struct task *task, const num *y, const num *s, const num *off,
                      num *bias) {
    num most = n_of(1);
    for (size_t c = 0; c + 1 < task->k; c++) {
        bias[c] = y[c];
    }
    for (size_t i = 0; i < task->n * task->k; i++) {
        num size = n_add(n_absolute(s[i]), n_absolute(bias[i % task->k]));
        most = n_maximum(most, n_add(size, off[i / task->k]));
    }
    for (size_t c = 0; c < task->k; c++) {
        bias[c] = n_plus(bias[c], n_of(4 * task->above[c]), most);
    }
}

static void list_pairs(struct task *task) {
    const struct trial *trial = task->trial;
    for (size_t i = 0; i < trial->n; i++) {
        size_t first = task->n_pairs;
        for (size_t a = 0; a < task->k; a++) {
            for (size_t b = 0; b < task->k; b++) {
                if (trial->label[i] >> task->label[a] & 1 &&
                    !(trial->label[i] >> task->label[b] & 1)) {
                    task->pair[task->n_pairs++] = (struct pair){.row = i, .better = a, .worse = b};
                }
            }
        }
        for (size_t p = first; p < task->n_pairs; p++) {
            task->pair[p].cost = (real)trial_option(trial, COST) *
                                 (trial->row_weights ? trial->weight[i] : 1) /
                                 (real)(task->n_pairs - first);
        }
    }
}

bool ml_task(struct task *task) {
    bool reachable[MAX_LABELS][MAX_LABELS] = {{false}},
         is_free = trial_is(task->trial, FREE_BIAS, 1);
    bool squared = trial_is(task->trial, LOSS, 1);
    task_allocate(task, task->trial->n, task_labels(task));
    list_pairs(task);
    find_reachable(task, reachable);
    if (is_free) {
        set_apart(task, reachable);
    }
    for (size_t p = 0; p < task->n_pairs; p++) {
        const struct pair *pair = &task->pair[p];
        if (!is_free || reachable[pair->worse][pair->better]) {
            size_t v = task_variable(task, 1, square_of(task, pair->cost),
                                     squared ? INFINITY : pair->cost, 0);
            task_entry(task, pair->row, pair->better, v, 1);
            task_entry(task, pair->row, pair->worse, v, -1);
        }
    }
    for (size_t c = 0; is_free && c + 1 < task->k; c++) {
        real *sum = task_equation(task);
        for (size_t i = 0; i < task->n; i++) {
            for (size_t v = 0; v < task->m; v++) {
                sum[v] += task->basis[(i * task->k + c) * MAX_VARIABLES + v];
            }
        }
    }
    task->loss = loss;
    task->find_bias = is_free ? find_bias : NULL;
    return task->n_pairs > 0;
}
