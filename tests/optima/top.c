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

/* The mean of the highest: the largest sum p_j z_j, sum p = 1, 0 <= p_j <= cap_j. */
static real highest_mean(const struct task *task, const real *z) {
    bool taken[MAX_ROWS] = {false};
    real left = 1, sum = 0;
    for (size_t round = 0; round < task->n_top; round++) {
        size_t best = task->n_top;
        for (size_t j = 0; j < task->n_top; j++) {
            best = !taken[j] && (best == task->n_top || z[j] > z[best]) ? j : best;
        }
        real part = round + 1 == task->n_top ? left : fminl(left, task->cap[best]);
        taken[best] = true;
        sum += part * z[best];
        left -= part;
    }
    return sum;
}

/* The t with sum m_j l(theta (z_j - t)) = budget: Newton's steps from the left stay on the left,
 * but for rounding. */
static real quantile(const struct task *task, const real *z) {
    bool squared = trial_is(task->trial, LOSS, 1);
    real t = INFINITY, size = 0;
    for (size_t j = 0; j < task->n_top; j++) {
        t = fminl(t, z[j]);
        size = fmaxl(size, task->multiple[j]);
    }
    t -= (1 + task->budget / size + sqrtl(task->budget / size)) / task->theta;
    for (int step = 0; step < 200; step++) {
        real value = -task->budget, slope = 0;
        for (size_t j = 0; j < task->n_top; j++) {
            real u = 1 + task->theta * (z[j] - t);
            value += u > 0 ? task->multiple[j] * (squared ? u * u : u) : 0;
            slope += u > 0 ? task->multiple[j] * task->theta * (squared ? 2 * u : 1) : 0;
        }
        real next = t + value / slope;
        if (!(next > t)) {
            break;
        }
        t = next;
    }
    return t;
}

static real loss(const struct task *task, const real *s, const real *off, const real *bias) {
    enum formulation f = formulation_of(task);
    real z[MAX_ROWS], t = 0, sum = 0;
    (void)bias;
    for (size_t j = 0; j < task->n_top; j++) {
        z[j] = s[task->top[j]] + off[task->top[j]];
    }
    if (f != SVM) {
        t = is_quantile(f) ? quantile(task, z) : highest_mean(task, z);
    }
    for (size_t i = 0; i < task->n_positive; i++) {
        size_t row = task->positive[i];
        sum += task->positive_cost[i] * hinge(task, 1 + t - s[row] + off[row]);
    }
    for (size_t j = 0; f == SVM && j < task->n_top; j++) {
        sum += task->cost[task->top[j]] * hinge(task, 1 + z[j]);
    }
    return sum;
}

/* ---- the dual ---- */

/* Caps: towards the point with beta as the caps are, which has room, as far as is needed. */
static real finish_mean(const struct task *task, real *a) {
    real *beta = a + task->n_positive, sum = 0, caps = 0, share = 0;
    for (size_t i = 0; i < task->n_positive; i++) {
        sum += a[i];
    }
    for (size_t j = 0; j < task->n_top; j++) {
        caps += task->cap[j];
    }
    for (size_t j = 0; j < task->n_top; j++) {
        real over = beta[j] - task->cap[j] * sum;
        share = over > 0 ? fmaxl(share, over / (beta[j] - task->cap[j] * sum / caps)) : share;
    }
    for (size_t j = 0; j < task->n_top; j++) {
        beta[j] += share * (task->cap[j] * sum / caps - beta[j]);
    }
    return 0;
}

static real finish_quantile(const struct task *task, real *a) {
    const real *beta = a + task->n_positive;
    real most = 0, squares = 0;
    a[task->level] = 0;
    for (size_t j = 0; j < task->n_top; j++) {
        most = fmaxl(most, beta[j] / task->multiple[j]);
        squares += beta[j] * beta[j] / task->multiple[j];
    }
    return (trial_is(task->trial, LOSS, 1) ? sqrtl(task->budget * squares) : task->budget * most) /
           task->theta;
}

/* The square's quantile: sqrt(B sum beta^2 / m) / theta = min over d > 0 of
 * (B d + sum beta^2 / (m d)) / (2 theta). */
static void add_cone(const void *context, const real *a, real *gradient, real *hessian) {
    const struct task *task = *(const struct task *const *)context;
    size_t n = task->m, d = task->level;
    real unit = 1 / (2 * task->theta * a[d]);
    for (size_t j = 0; j < task->n_top; j++) {
        size_t v = task->n_positive + j;
        real beta = a[v] / task->multiple[j], ratio = a[v] / a[d];
        gradient[v] += 2 * unit * beta;
        gradient[d] -= unit * beta * ratio;
        hessian[v * n + v] += 2 * unit / task->multiple[j];
        hessian[v * n + d] -= 2 * unit * beta / a[d];
        hessian[d * n + v] -= 2 * unit * beta / a[d];
        hessian[d * n + d] += 2 * unit * beta * ratio / a[d];
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

/* The variable on which caps depend, and the caps. */
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
    for (size_t j = 0; j < task->n_top; j++) { /* a start that has room */
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

/* All beta at their caps: alphas less that mean. */
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
        /* of doubles, as the programs have it: more digits may be on another side of a half */
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

/* One with a weight above 0: J may be all rows. */
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
