#include "tests/optima/task.h"

#include <math.h>
#include <stdlib.h>

enum formulation { PUSH, PUSH_K, TAU_FPL, MEAN_K, PATMAT, PATMAT_NP, GRILL, GRILL_NP, SVM };

static enum formulation formulation_of(const struct task *task) {
    return (enum formulation)trial_option(task->trial, FORMULATION);
}

static bool is_quantile(enum formulation f) {
    return f == PATMAT || f == PATMAT_NP;
}

/* The mean of the highest scores: max sum p_j z_j over sum p = 1, 0 <= p_j <= cap_j. */
static num highest_mean(const struct task *task, const num *z) {
    bool taken[MAX_ROWS] = {false};
    num left = n_of(1), sum = n_of(0);
    for (size_t round = 0; round < task->n_top; round++) {
        size_t best = task->n_top;
        for (size_t j = 0; j < task->n_top; j++) {
            best = !taken[j] && (best == task->n_top || n_compare(z[j], z[best]) > 0) ? j : best;
        }
        num part = round + 1 == task->n_top ? left : n_minimum(left, n_of(task->cap[best]));
        taken[best] = true;
        sum = n_plus(sum, part, z[best]);
        left = n_subtract(left, part);
    }
    return sum;
}

/* The t with sum m_j l(theta (z_j - t)) = budget, by Newton's method from the left, whose iterates
 * stay on the left up to rounding. */
static num quantile(const struct task *task, const num *z) {
    bool squared = trial_is(task->trial, LOSS, 1);
    num t = n_of(INFINITY), theta = n_of(task->theta), one = n_of(1);
    real size = 0;
    for (size_t j = 0; j < task->n_top; j++) {
        t = n_minimum(t, z[j]);
        size = fmaxl(size, task->multiple[j]);
    }
    size = 1 + task->budget / size + sqrtl(task->budget / size);
    t = n_subtract(t, n_divide(n_of(size), theta));
    for (int step = 0; step < 600; step++) {
        num value = n_of(-task->budget), slope = n_of(0);
        for (size_t j = 0; j < task->n_top; j++) {
            num u = n_maximum(n_of(0), n_plus(one, theta, n_subtract(z[j], t)));
            num m = n_multiply(n_of(task->multiple[j]), squared ? u : one);
            value = n_plus(value, m, u);
            slope = n_positive(u) ? n_plus(slope, m, n_of(squared ? 2 : 1)) : slope;
        }
        num next = n_add(t, n_divide(value, n_multiply(slope, theta)));
        if (n_compare(next, t) <= 0) {
            break;
        }
        t = next;
    }
    return t;
}

static num loss(const struct task *task, const num *s, const num *off, const num *bias) {
    enum formulation f = formulation_of(task);
    num z[MAX_ROWS], t = n_of(0), sum = n_of(0), one = n_of(1);
    (void)bias;
    for (size_t j = 0; j < task->n_top; j++) {
        z[j] = n_add(s[task->top[j]], off[task->top[j]]);
    }
    if (f != SVM) {
        t = is_quantile(f) ? quantile(task, z) : highest_mean(task, z);
    }
    for (size_t i = 0; i < task->n_positive; i++) {
        size_t row = task->positive[i];
        num u = n_add(n_subtract(n_add(one, t), s[row]), off[row]);
        sum = n_plus(sum, n_of(task->positive_cost[i]), hinge(task, u));
    }
    for (size_t j = 0; f == SVM && j < task->n_top; j++) {
        sum = n_plus(sum, n_of(task->cost[task->top[j]]), hinge(task, n_add(one, z[j])));
    }
    return sum;
}

/* ---- the dual ---- */

/* Makes beta feasible for its caps: moves towards the interior point with beta proportional to the
 * caps, as far as necessary. */
static num finish_mean(const struct task *task, num *a) {
    num *beta = a + task->n_positive, sum = n_of(0), share = sum;
    real caps = 0;
    for (size_t i = 0; i < task->n_positive; i++) {
        sum = n_add(sum, a[i]);
    }
    for (size_t j = 0; j < task->n_top; j++) {
        caps += task->cap[j];
    }
    for (size_t j = 0; j < task->n_top; j++) {
        num cap = n_multiply(n_of(task->cap[j]), sum), over = n_subtract(beta[j], cap);
        if (n_positive(over)) {
            cap = n_divide(cap, n_of(caps));
            share = n_maximum(share, n_divide(over, n_subtract(beta[j], cap)));
        }
    }
    for (size_t j = 0; j < task->n_top; j++) {
        num cap = n_divide(n_multiply(n_of(task->cap[j]), sum), n_of(caps));
        beta[j] = n_plus(beta[j], share, n_subtract(cap, beta[j]));
    }
    return n_of(0);
}

static num finish_quantile(const struct task *task, num *a) {
    const num *beta = a + task->n_positive;
    num most = n_of(0), squares = n_of(0), budget = n_of(task->budget);
    a[task->level] = n_of(0);
    for (size_t j = 0; j < task->n_top; j++) {
        num ratio = n_divide(beta[j], n_of(task->multiple[j]));
        most = n_maximum(most, ratio);
        squares = n_plus(squares, beta[j], ratio);
    }
    bool squared = trial_is(task->trial, LOSS, 1);
    num cost = squared ? n_root(n_multiply(budget, squares)) : n_multiply(budget, most);
    return n_divide(cost, n_of(task->theta));
}

/* The quantile with the squared hinge: sqrt(B sum beta^2 / m) / theta = min over d > 0 of
 * (B d + sum beta^2 / (m d)) / (2 theta). */
static void add_cone(const void *context, const num *a, num *gradient, num *hessian) {
    const struct task *task = *(const struct task *const *)context;
    size_t n = task->m, d = task->level;
    num unit = n_divide(n_of(1), n_multiply(n_of(2 * task->theta), a[d])), two = n_of(2);
    for (size_t j = 0; j < task->n_top; j++) {
        size_t v = task->n_positive + j;
        num m = n_of(task->multiple[j]), ratio = n_divide(a[v], a[d]);
        num slope = n_multiply(unit, n_divide(a[v], m)), steep = n_multiply(slope, ratio);
        num cross = n_divide(n_multiply(two, slope), a[d]);
        gradient[v] = n_plus(gradient[v], two, slope);
        gradient[d] = n_subtract(gradient[d], steep);
        hessian[v * n + v] = n_plus(hessian[v * n + v], two, n_divide(unit, m));
        hessian[v * n + d] = n_subtract(hessian[v * n + d], cross);
        hessian[d * n + v] = n_subtract(hessian[d * n + v], cross);
        hessian[d * n + d] = n_plus(hessian[d * n + d], two, n_divide(steep, a[d]));
    }
}

static void add_alphas(struct task *task) {
    bool squared = trial_is(task->trial, LOSS, 1);
    for (size_t i = 0; i < task->n_positive; i++) {
        real cost = task->positive_cost[i];
        size_t v =
            task_variable(task, 1, square_of(task, cost), squared ? INFINITY : cost, cost / 2);
        task_entry(task, task->positive[i], 0, v, 1);
    }
}

/* Adds the variable on which caps depend, and the caps. */
static void add_level(struct task *task, bool quantile) {
    bool squared = trial_is(task->trial, LOSS, 1);
    task->level = task_variable(task,
                                !quantile ? 0
                                : squared ? -task->budget / (2 * task->theta)
                                          : -task->budget,
                                0, INFINITY, 0);
    for (size_t j = 0; j < task->n_top && !(quantile && squared); j++) {
        struct bound *bound = &task->bound[task->n_bounds++];
        bound->terms = 2;
        bound->at[0] = task->n_positive + j;
        bound->at[1] = task->level;
        bound->factor[0] = 1;
        bound->factor[1] = quantile ? -task->theta * task->multiple[j] : -task->cap[j];
    }
    real most = 0;
    for (size_t j = 0; j < task->n_top; j++) { /* a strictly feasible start */
        real cap = quantile ? task->theta * task->multiple[j] : task->cap[j];
        most = fmaxl(most, task->start[task->n_positive + j] / cap);
    }
    task->start[task->level] = 2 * most;
}

static void add_betas(struct task *task) {
    enum formulation f = formulation_of(task);
    real sum = 0, caps = 0;
    for (size_t i = 0; i < task->n_positive; i++) {
        sum += task->start[i];
    }
    for (size_t j = 0; j < task->n_top; j++) {
        caps += is_quantile(f) ? task->multiple[j] : task->cap[j];
    }
    for (size_t j = 0; j < task->n_top; j++) {
        real share = (is_quantile(f) ? task->multiple[j] : task->cap[j]) / caps;
        size_t v =
            task_variable(task, is_quantile(f) ? 1 / task->theta : 0, 0, INFINITY, share * sum);
        task_entry(task, task->top[j], 0, v, -1);
    }
    add_level(task, is_quantile(f));
    real *balance = task_equation(task);
    for (size_t v = 0; v < task->level; v++) {
        balance[v] = v < task->n_positive ? 1 : -1;
    }
    if (!is_quantile(f)) {
        real *level = task_equation(task);
        for (size_t i = 0; i < task->n_positive; i++) {
            level[i] = 1;
        }
        level[task->level] = -1;
    }
    task->finish = is_quantile(f) ? finish_quantile : finish_mean;
    task->more = is_quantile(f) && trial_is(task->trial, LOSS, 1) ? add_cone : NULL;
}

/* All beta are at their caps: the basis is that of alphas minus that mean. */
static void fix_betas(struct task *task) {
    for (size_t j = 0; j < task->n_top; j++) {
        for (size_t i = 0; i < task->n_positive; i++) {
            task_entry(task, task->top[j], 0, i, -task->cap[j]);
        }
    }
}

static void add_negatives(struct task *task) {
    bool squared = trial_is(task->trial, LOSS, 1);
    for (size_t j = 0; j < task->n_top; j++) {
        real cost = task->cost[task->top[j]];
        size_t v =
            task_variable(task, 1, square_of(task, cost), squared ? INFINITY : cost, cost / 2);
        task_entry(task, task->top[j], 0, v, -1);
    }
}

/* ---- the rows ---- */

static void take_rows(struct task *task) {
    const struct trial *trial = task->trial;
    enum formulation f = formulation_of(task);
    real weight[MAX_ROWS], positives = 0, cost = trial_option(trial, COST), total = 0;
    for (size_t i = 0; i < trial->n; i++) {
        unsigned label = trial->label[i];
        weight[i] = trial->weighted[label] ? trial->label_weight[label] : 1;
        weight[i] *= trial->row_weights ? trial->weight[i] : 1;
        positives += label ? weight[i] : 0;
    }
    if (trial->given[LAMBDA]) {
        cost = 1 / (trial_option(trial, LAMBDA) * positives);
    }
    for (size_t i = 0; i < trial->n; i++) {
        bool positive = trial->label[i] == 1;
        if (positive && weight[i] > 0) {
            task->positive[task->n_positive] = i;
            task->positive_cost[task->n_positive++] = cost * weight[i];
        }
        if (weight[i] > 0 && (!positive || f == MEAN_K || f == PATMAT)) {
            task->cost[i] = cost * weight[i];
            task->top[task->n_top] = i;
            task->multiple[task->n_top++] = weight[i];
            total += weight[i];
        }
    }
    real tau = trial_option(trial, TAU), places = f == PUSH_K ? trial_option(trial, TOP_K) : 1;
    if (f == TAU_FPL || f == MEAN_K) {
        /* in double, like the programs: more digits may round a half differently */
        places = fmaxl(1, (real)rint((double)tau * (double)total));
    }
    places = fminl(places, f == PUSH ? 1 : total);
    task->budget = tau * total;
    task->theta = trial_option(trial, THETA);
    real caps = 0;
    for (size_t j = 0; j < task->n_top; j++) {
        real multiple = f == PUSH ? 1 : task->multiple[j];
        task->cap[j] = fminl(1, multiple / places);
        caps += task->cap[j];
    }
    task->fixed = caps <= 1 + 1e-12L;
}

/* Whether a negative row has a positive weight; J may be all rows. */
static bool has_negative(const struct task *task) {
    bool any = false;
    for (size_t j = 0; j < task->n_top; j++) {
        any |= task->trial->label[task->top[j]] == 0;
    }
    return any;
}

bool top_task(struct task *task) {
    enum formulation f = formulation_of(task);
    task_allocate(task, task->trial->n, 1);
    take_rows(task);
    task->loss = loss;
    if (task->n_positive == 0 || task->n_top == 0 || !has_negative(task)) {
        return false;
    }
    add_alphas(task);
    if (f == SVM) {
        add_negatives(task);
    } else if (task->fixed && !is_quantile(f)) {
        fix_betas(task);
    } else {
        add_betas(task);
    }
    return true;
}
