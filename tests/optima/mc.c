#include "tests/optima/task.h"

enum formulation { WW, CS, LLW, ADM, ATM, ATS, MMR, OVA };

static enum formulation formulation_of(const struct task *task) {
    return (enum formulation)trial_option(task->trial, FORMULATION);
}

static bool joined_by_max(enum formulation f) {
    return f == CS || f == ADM || f == ATM;
}

static bool has_term(enum formulation f, size_t c, size_t class) {
    return f == MMR ? c == class : f == ATM || f == ATS || f == OVA || c != class;
}

static num loss(const struct task *task, const num *s, const num *off, const num *bias) {
    enum formulation f = formulation_of(task);
    num scale = n_of(trial_option(task->trial, MARGIN_SCALE)), sum = n_of(0);
    num part = n_divide(n_of(f != OVA), n_of(task->k));
    (void)bias;
    for (size_t i = 0; i < task->n; i++) {
        const num *row = s + i * task->k;
        size_t y = task->class[i];
        num mean = n_of(0), total = mean, most = mean;
        for (size_t c = 0; c < task->k; c++) {
            mean = n_plus(mean, part, row[c]);
        }
        for (size_t c = 0; c < task->k; c++) {
            num margin = f == WW || f == CS ? n_multiply(scale, n_subtract(row[y], row[c]))
                         : c == y           ? n_subtract(row[c], mean)
                                            : n_subtract(mean, row[c]);
            if (has_term(f, c, y)) {
                num term = hinge(task, n_plus(n_subtract(n_of(1), margin), n_of(2), off[i]));
                total = n_add(total, term);
                most = n_maximum(most, term);
            }
        }
        sum = n_plus(sum, n_of(task->cost[i]), joined_by_max(f) ? most : total);
    }
    return sum;
}

static void add_term(struct task *task, size_t i, size_t c, real most, real start) {
    enum formulation f = formulation_of(task);
    real scale = trial_option(task->trial, MARGIN_SCALE);
    size_t y = task->class[i], v = task_variable(task, 1, 0, most, start);
    if (f == WW || f == CS) {
        task_entry(task, i, y, v, scale);
        task_entry(task, i, c, v, -scale);
        return;
    }
    real sign = c == y ? 1 : -1;
    task_entry(task, i, c, v, sign);
    for (size_t other = 0; other < task->k && f != OVA; other++) {
        task_entry(task, i, other, v, -sign / (real)task->k);
    }
}

size_t mc_variable(const struct task *task, size_t i, size_t c) {
    enum formulation f = formulation_of(task);
    size_t v = 0;
    for (size_t row = 0; row <= i; row++) {
        for (size_t other = 0; other < task->k; other++) {
            bool has = has_term(f, other, task->class[row]);
            if (row == i && other == c) {
                return has ? v : task->m;
            }
            v += has;
        }
    }
    return task->m;
}

bool mc_task(struct task *task) {
    const struct trial *trial = task->trial;
    enum formulation f = formulation_of(task);
    size_t k = task_labels(task);
    task_allocate(task, trial->n, k);
    for (size_t i = 0; i < trial->n; i++) {
        unsigned label = trial->label[i];
        while (task->label[task->class[i]] != label) {
            task->class[i]++;
        }
        task->cost[i] = (real)trial_option(trial, COST) *
                        (trial->weighted[label] ? trial->label_weight[label] : 1) *
                        (trial->row_weights ? trial->weight[i] : 1);
        struct bound *bound = &task->bound[task->n_bounds];
        bound->most = task->cost[i];
        for (size_t c = 0; c < k; c++) {
            if (has_term(f, c, task->class[i])) {
                bool max = joined_by_max(f);
                bound->at[bound->terms] = task->m;
                bound->factor[bound->terms++] = 1;
                add_term(task, i, c, max ? INFINITY : task->cost[i],
                         task->cost[i] / (real)(max ? 2 * k : 2));
            }
        }
        task->n_bounds += joined_by_max(f);
        if (!joined_by_max(f)) {
            bound->terms = 0;
        }
    }
    task->loss = loss;
    return k > 1;
}
