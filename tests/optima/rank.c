#include "tests/optima/gram.h"
#include "tests/optima/task.h"

#include <stdlib.h>

/* The target. With NDCG costs it is a grade, not below 0. */
static double target_of(const struct trial *trial, size_t row) {
    return trial_is(trial, COST_PER, 2) ? fmax(0, trial->target[row]) : trial->target[row];
}

/* The mean of 1 / log2(1 + position) over the positions of the row's grade in the best ordering of
 * its query. */
static real discount_of(const struct trial *trial, size_t row) {
    size_t above = 0, equal = 0;
    real sum = 0;
    for (size_t i = 0; i < trial->n; i++) {
        bool own = trial->query[i] == trial->query[row];
        above += own && target_of(trial, i) > target_of(trial, row);
        equal += own && target_of(trial, i) == target_of(trial, row);
    }
    for (size_t place = above + 1; place <= above + equal; place++) {
        sum += 1 / log2l(1 + (real)place);
    }
    return sum / (real)equal;
}

/* The loss of NDCG, with gains 2^g - 1, when two rows exchange positions. */
static real ndcg_loss(const struct trial *trial, size_t better, size_t worse) {
    real ideal = 0, gain[2] = {exp2l(target_of(trial, better)), exp2l(target_of(trial, worse))};
    for (size_t i = 0; i < trial->n; i++) {
        if (trial->query[i] == trial->query[better]) {
            ideal += (exp2l(target_of(trial, i)) - 1) * discount_of(trial, i);
        }
    }
    return (gain[0] - gain[1]) * (discount_of(trial, better) - discount_of(trial, worse)) / ideal;
}

/* The number of distinct targets of the row's query below its own. */
static size_t rank_of(const struct trial *trial, size_t row) {
    size_t below = 0;
    for (size_t i = 0; i < trial->n; i++) {
        bool first =
            trial->query[i] == trial->query[row] && target_of(trial, i) < target_of(trial, row);
        for (size_t j = 0; first && j < i; j++) {
            first =
                trial->query[j] != trial->query[i] || target_of(trial, j) != target_of(trial, i);
        }
        below += first;
    }
    return below;
}

static void list_pairs(struct task *task) {
    const struct trial *trial = task->trial;
    double low = trial_option(trial, GAP_LOW), high = trial_option(trial, GAP_HIGH);
    for (size_t i = 0; i < trial->n; i++) {
        for (size_t j = 0; j < trial->n; j++) {
            double gap = (double)rank_of(trial, i) - (double)rank_of(trial, j);
            if (trial->query[i] == trial->query[j] && gap >= low && gap <= high) {
                task->pair[task->n_pairs++] = (struct pair){.better = i, .worse = j};
            }
        }
    }
    for (size_t p = 0; p < task->n_pairs; p++) {
        unsigned query = trial->query[task->pair[p].better];
        real weight = trial->weighted[query] ? trial->label_weight[query] : 1, count = 0;
        for (size_t q = 0; q < task->n_pairs; q++) {
            count += trial->query[task->pair[q].better] == query;
        }
        weight = trial_is(trial, COST_PER, 1) ? weight / count : weight;
        task->pair[p].cost = trial_option(trial, COST) * weight;
        if (trial_is(trial, COST_PER, 2)) {
            task->pair[p].cost *= ndcg_loss(trial, task->pair[p].better, task->pair[p].worse);
        }
    }
}

/* The kernel of pairs (i, j) and (u, v): 2 (K_iu K_jv - K_iv K_ju). */
static void fill_pairs(struct task *task) {
    size_t n = task->trial->n, m = task->n_pairs;
    num *k = n_zeros(2 * n * n), *off = k + n * n, two = n_of(2), sign = two;
    gram_fill(task->trial, k, off);
    for (size_t e = 0; e < m * m; e++) {
        const struct pair *p = &task->pair[e / m], *q = &task->pair[e % m];
        const size_t at[4] = {p->better * n + q->better, p->worse * n + q->worse,
                              p->better * n + q->worse, p->worse * n + q->better};
        for (int t = 0; t < 4; t += 2) {
            num product = n_multiply(k[at[t]], k[at[t + 1]]), error = n_absolute(product);
            error = n_multiply(n_of(2 * N_EPSILON), error);
            error = n_plus(error, n_absolute(k[at[t]]), off[at[t + 1]]);
            error = n_plus(error, n_absolute(k[at[t + 1]]), off[at[t]]);
            task->gram[e] = n_plus(task->gram[e], sign, product);
            task->off[e] = n_plus(task->off[e], two, error);
            sign = n_negative(sign);
        }
    }
    free(k);
}

static num loss(const struct task *task, const num *s, const num *off, const num *bias) {
    bool pairs = trial_is(task->trial, PAIR_FEATURES, 1);
    num sum = n_of(0);
    (void)bias;
    for (size_t p = 0; p < task->n_pairs; p++) {
        const struct pair *pair = &task->pair[p];
        num margin = pairs ? s[p] : n_subtract(s[pair->better], s[pair->worse]);
        num moved = pairs ? off[p] : n_add(off[pair->better], off[pair->worse]);
        num u = n_add(n_subtract(n_of(1), margin), moved);
        sum = n_plus(sum, n_of(pair->cost), hinge(task, u));
    }
    return sum;
}

bool rank_task(struct task *task) {
    bool pairs = trial_is(task->trial, PAIR_FEATURES, 1), squared = trial_is(task->trial, LOSS, 1);
    list_pairs(task);
    task_allocate(task, pairs ? task->n_pairs : task->trial->n, 1);
    if (pairs) {
        fill_pairs(task);
    }
    for (size_t p = 0; p < task->n_pairs; p++) {
        const struct pair *pair = &task->pair[p];
        size_t v =
            task_variable(task, 1, square_of(task, pair->cost), squared ? INFINITY : pair->cost, 0);
        if (pairs) {
            task_entry(task, p, 0, v, 1);
        } else {
            task_entry(task, pair->better, 0, v, 1);
            task_entry(task, pair->worse, 0, v, -1);
        }
    }
    task->loss = loss;
    return task->n_pairs > 0;
}
