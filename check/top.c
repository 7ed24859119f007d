/* Classification at the top (doc/mathematics, "top"). With weights c_i of the positives and m_j of
 * the rows of J,
 *
 *   min 1/2 |f|^2 + C sum c_i l(t - s_i),  l(u) = max(0, 1 + u) or its square,
 *   mean      t = max sum p_j s_j over 0 <= p_j <= min(1, m_j / K), sum p_j = 1
 *   quantile  sum_J m_j l(theta (s_j - t)) = tau sum m_j
 *   none      t = 0, and rows of J cost C m_j l(s_j) too.
 *
 * The proof has the dual variables alpha of the positives and beta of the rows of J. */
#include "check/loss.h"
#include "check/task.h"
#include "common/base/arrays.h"
#include "common/data/decimal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind { MEAN, QUANTILE, NONE };

struct form {
    const char *name;
    enum kind kind;
    bool all; /* J is all rows, not the negatives */
};

static const struct form forms[] = {
    {"toppush", MEAN, false}, {"toppushk", MEAN, false},  {"tau-fpl", MEAN, false},
    {"topmeank", MEAN, true}, {"patmat", QUANTILE, true}, {"patmat-np", QUANTILE, false},
    {"svm", NONE, false},
};

struct top {
    struct task *task;
    const struct form *form;
    size_t n;
    /* cost: (n) C c_i, 0 if not positive; mass: (n) m_j, 0 if not in J; NONE: C m_j */
    struct ball *cost, *mass;
    struct ball *share; /* (n) MEAN: caps of p_j */
    struct ball total;  /* sum of mass */
    struct ball theta, budget;
    double k;
    uint32_t *order, *spare; /* (n_top) rows of J, and work */
    size_t n_top;
    struct ball *alpha, *beta; /* (n) */
};

/* ---- the problem ---- */

/* 1: positive, 0: negative, -1: the label is not a number, and the model does not name a positive
 * label. */
static int class_of(const struct task *task, const char *name) {
    const char *positive = model_value(&task->model, "positive");
    struct decimal number;
    if (positive) {
        return names_equal(name, positive);
    }
    return decimal_read(&number, name, strlen(name)) ? decimal_is_positive(&number) : -1;
}

static void read_rows(struct top *top) {
    struct task *task = top->task;
    const struct ball one = ball_of(1);
    top->total = ball_of(0);
    for (size_t i = 0; i < top->n; i++) {
        const char *name = task->data.names.name[task->data.label[i]];
        int class = class_of(task, name);
        if (class < 0) {
            task_wrong(task, "label '%.100s' is no number, and none is positive", name);
        }
        top->cost[i] = class > 0 ? task->cost[i] : ball_of(0);
        top->mass[i] = class > 0 && !top->form->all ? ball_of(0) : task->weight[i];
        if (strcmp(top->form->name, "toppush") == 0 && !ball_is_zero(top->mass[i])) {
            top->mass[i] = one; /* toppush: the maximum is the score of a single row */
        }
        if (top->form->kind == NONE && !ball_is_zero(top->mass[i])) {
            top->mass[i] = task->cost[i];
        }
        if (!ball_is_zero(top->mass[i])) {
            top->order[top->n_top++] = (uint32_t)i;
            top->total = ball_add(top->total, top->mass[i]);
        }
    }
}

/* K is read from the proof, and must be what the formulation makes of its parameters. */
static int read_k(struct top *top, struct error *err) {
    struct task *task = top->task;
    double tau, own, total = ball_high(top->total), expected;
    if (task_proof_number(task, "K", NAN, &top->k, err) < 0 ||
        task_model_number(task, "tau", NAN, &tau, err) < 0 ||
        task_model_number(task, "top-k", NAN, &own, err) < 0) {
        return -1;
    }
    expected = strcmp(top->form->name, "toppush") == 0    ? 1
               : strcmp(top->form->name, "toppushk") == 0 ? fmin(own, total)
                                                          : fmin(fmax(1, tau * total), total);
    /* tau times the number of rows is rounded to an integer, but not above the number of rows */
    bool rounded = isfinite(tau), all = fabs(top->k - total) <= 1e-12 * total;
    double off = rounded ? 0.5 + 1e-9 * total : 1e-12 * total;
    if (!(fabs(top->k - expected) <= off) || (rounded && !all && top->k != floor(top->k))) {
        task_wrong(task, "K is %.17g in the proof, and %.17g by the formulation", top->k, expected);
    }
    for (size_t j = 0; j < top->n; j++) {
        bool whole = ball_at_most(ball_of(top->k), top->mass[j]);
        struct ball share = ball_divide(top->mass[j], ball_of(top->k));
        top->share[j] = whole ? ball_of(1) : ball_minimum(share, ball_of(1));
    }
    return 0;
}

static int read_quantile(struct top *top, struct error *err) {
    double tau, theta;
    if (task_model_number(top->task, "tau", NAN, &tau, err) < 0 ||
        task_model_number(top->task, "theta", NAN, &theta, err) < 0) {
        return -1;
    }
    if (!(tau > 0 && theta > 0)) {
        task_wrong(top->task, "the model has no tau and theta above 0");
    }
    top->theta = ball_of(theta);
    top->budget = ball_multiply(ball_of(tau), top->total);
    return 0;
}

/* ---- thresholds ---- */

/* Merge sort of rows by descending score. */
static void sort_rows(uint32_t *row, uint32_t *spare, size_t n, const struct ball *s) {
    if (n < 2) {
        return;
    }
    size_t half = n / 2, i = 0, j = half, at = 0;
    sort_rows(row, spare, half, s);
    sort_rows(row + half, spare, n - half, s);
    while (i < half || j < n) {
        bool first = j == n || (i < half && ball_descending(&s[row[i]], &s[row[j]]) <= 0);
        spare[at++] = first ? row[i++] : row[j++];
    }
    memcpy(row, spare, n * sizeof *row);
}

/* The largest error of the scores of J, among those that may be at or above the level below which a
 * row does not contribute to the threshold: the threshold changes by at most this. */
static double largest_radius(const struct top *top, const struct ball *s, struct ball level) {
    double largest = 0;
    for (size_t o = 0; o < top->n_top; o++) {
        struct ball score = s[top->order[o]];
        largest = ball_compare(score, level) >= 0 ? fmax(largest, score.r) : largest;
    }
    return largest;
}

/* The mean threshold, from the midpoints of the scores and then enlarged by their errors; by
 * masses, whose sums are exact if they are integers. */
static struct ball mean_threshold(struct top *top, const struct ball *s) {
    const double negligible = 1e-26 * top->k;
    const struct ball k = ball_of(top->k);
    struct ball sum = ball_of(0), left = k, level = ball_of(0);
    double largest = 0;
    sort_rows(top->order, top->spare, top->n_top, s);
    for (size_t o = 0; o < top->n_top && ball_magnitude(left) >= negligible; o++) {
        uint32_t j = top->order[o];
        struct ball part = ball_minimum(top->mass[j], ball_positive(left));
        if (o + 1 == top->n_top) { /* K may be the total mass, rounded up */
            part = ball_positive(left);
        }
        level = (struct ball){s[j].m, 0};
        sum = ball_add(sum, ball_multiply(part, level));
        left = ball_subtract(left, part);
    }
    for (size_t o = 0; o < top->n_top; o++) {
        largest = fmax(largest, ball_magnitude(s[top->order[o]]));
    }
    sum.r += ball_magnitude(left) * largest * 2;
    struct ball t = ball_divide(sum, k);
    t.r += largest_radius(top, s, level) * BALL_UP;
    return t;
}

/* sum_J m_j l(theta (s_j - t)) for the midpoints of the scores, less the budget, and its derivative
 * with respect to t. */
static struct ball excess(const struct top *top, const struct ball *s, struct ball t,
                          struct ball *slope) {
    bool squared = top->task->squared;
    struct ball sum = ball_negative(top->budget);
    *slope = ball_of(0);
    for (size_t o = 0; o < top->n_top; o++) {
        uint32_t j = top->order[o];
        struct ball score = {s[j].m, 0};
        struct ball u = ball_multiply(top->theta, ball_subtract(score, t));
        u = ball_positive(ball_add(ball_of(1), u));
        if (u.m.hi > 0) {
            struct ball weight = ball_multiply(top->mass[j], top->theta);
            sum = ball_add(sum, ball_multiply(top->mass[j], squared ? ball_multiply(u, u) : u));
            weight = squared ? ball_multiply(ball_multiply(ball_of(2), u), weight) : weight;
            *slope = ball_subtract(*slope, weight);
        }
    }
    return sum;
}

/* Approximates t in double by bisection. */
static double bisect(const struct top *top, const struct ball *s) {
    struct ball slope;
    double high = -INFINITY, step = 1 / top->theta.m.hi;
    for (size_t o = 0; o < top->n_top; o++) {
        high = fmax(high, s[top->order[o]].m.hi);
    }
    high += 2 * step;
    double low = high - step; /* from above: scores may be far below the largest */
    for (; step < 1e300 && !(excess(top, s, ball_of(low), &slope).m.hi > 0); low = high - step) {
        step *= 2;
    }
    for (int k = 0; k < 200 && high > low; k++) {
        double middle = low + (high - low) / 2;
        *(excess(top, s, ball_of(middle), &slope).m.hi > 0 ? &low : &high) = middle;
    }
    return low + (high - low) / 2;
}

/* Newton steps from the result of the bisection, then an interval whose ends have different signs:
 * the sum decreases with t. */
static struct ball quantile_threshold(const struct top *top, const struct ball *s) {
    enum { STEPS = 4 };
    struct ball slope, t = ball_of(bisect(top, s));
    for (int step = 0; step < STEPS; step++) {
        struct ball value = excess(top, s, t, &slope);
        struct ball next = ball_subtract(t, ball_divide(value, slope));
        if (isfinite(next.r)) {
            t = (struct ball){next.m, 0};
        }
    }
    double size = fabs(t.m.hi) + 1 / top->theta.m.hi;
    for (double width = 1e-28 * size; width < size; width *= 1e3) {
        struct ball part = ball_of(width);
        int before = ball_compare(excess(top, s, ball_subtract(t, part), &slope), ball_of(0));
        int behind = ball_compare(excess(top, s, ball_add(t, part), &slope), ball_of(0));
        if (before > 0 && behind < 0) {
            struct ball level = ball_subtract(t, ball_divide(ball_of(1), top->theta));
            level = ball_subtract(level, part);
            t.r = (width + largest_radius(top, s, level)) * BALL_UP;
            return t;
        }
    }
    return (struct ball){t.m, INFINITY};
}

static struct ball threshold(struct top *top, const struct ball *s) {
    switch (top->form->kind) {
    case MEAN:
        return mean_threshold(top, s);
    case QUANTILE:
        return quantile_threshold(top, s);
    default:
        return ball_of(0);
    }
}

static struct ball find_loss(struct top *top) {
    const struct ball *s = top->task->f.scores;
    bool squared = top->task->squared;
    const struct ball one = ball_of(1);
    struct ball t = threshold(top, s), sum = ball_of(0);
    for (size_t i = 0; i < top->n; i++) {
        if (!ball_is_zero(top->cost[i])) {
            struct ball u = ball_add(one, ball_subtract(t, s[i]));
            sum = ball_add(sum, ball_multiply(top->cost[i], loss_of(squared, u)));
        }
        if (top->form->kind == NONE && !ball_is_zero(top->mass[i])) {
            struct ball u = ball_add(one, s[i]);
            sum = ball_add(sum, ball_multiply(top->mass[i], loss_of(squared, u)));
        }
    }
    return sum;
}

/* ---- the dual point ---- */

static struct ball sum_of(const struct ball *x, size_t n) {
    struct ball sum = ball_of(0);
    for (size_t i = 0; i < n; i++) {
        sum = ball_add(sum, x[i]);
    }
    return sum;
}

/* The constant upper bound of an entry, for the hinge; NULL: it has none. */
static const struct ball *bound_of(const struct top *top, bool alpha, size_t row) {
    bool bounded = !top->task->squared && (alpha || top->form->kind == NONE);
    return !bounded ? NULL : alpha ? &top->cost[row] : &top->mass[row];
}

/* Scales the whole point down by the largest violation of a bound: sums stay equal, and g changes
 * by no more than that part of itself, unlike by a change of one entry of a large row. Products of
 * two doubles are exact. */
static void keep_bounds(struct top *top) {
    struct ball *const block[] = {top->beta, top->alpha};
    double part = 1;
    for (int alpha = 0; alpha < 2; alpha++) {
        for (size_t i = 0; i < top->n; i++) {
            const struct ball *bound = bound_of(top, alpha, i), own = block[alpha][i];
            if (bound && !ball_is_zero(own) && !ball_at_most(own, *bound)) {
                part = fmin(part, ball_low(ball_divide(*bound, own)));
            }
        }
    }
    for (int alpha = 0; alpha < 2; alpha++) {
        for (size_t i = 0; i < top->n; i++) {
            const struct ball *bound = bound_of(top, alpha, i), own = block[alpha][i];
            struct ball scaled = part < 1 ? ball_multiply(ball_of(part), own) : own;
            task_repair(top->task, &block[alpha][i], bound ? ball_minimum(scaled, *bound) : scaled);
        }
    }
}

/* Reads the entries, and checks the constant bounds. */
static void read_dual(struct top *top) {
    struct task *task = top->task;
    for (size_t e = 0; e < task->proof.n_values; e++) {
        struct proof_value entry = task->proof.value[e];
        bool of_alpha = entry.a == 1;
        struct ball *to = of_alpha ? &top->alpha[entry.row] : &top->beta[entry.row];
        struct ball limit = of_alpha ? top->cost[entry.row] : top->mass[entry.row];
        const struct ball *bound = bound_of(top, of_alpha, entry.row);
        *to = task_scaled(task, entry.value);
        if (entry.a > 2 || entry.b > 0 || entry.value < 0 || ball_is_zero(limit) ||
            (bound && !task_within(task, *to, *bound))) {
            task_wrong(task, "the dual point is not feasible: row %zu", (size_t)entry.row + 1);
            return;
        }
    }
    keep_bounds(top);
}

/* Estimates the largest change of D by an entry of beta: the score of g, and the conjugate of the
 * quantile. */
static double derivative_of(const struct top *top, size_t j) {
    double score =
        2 * sqrt(top->task->model.primal) * sqrt(ball_magnitude(points_own(&top->task->points, j)));
    double ratio = top->budget.m.hi / top->mass[j].m.hi;
    double pull = top->form->kind == QUANTILE ? (top->task->squared ? sqrt(ratio) : ratio) : 0;
    return score + (pull > 0 ? pull / top->theta.m.hi : 0);
}

/* The entry of beta that can absorb `missing` (negative: give it) and changes D the least; non-zero
 * entries first. n: there is none. */
static size_t find_row(const struct top *top, struct ball sum, struct ball missing) {
    size_t best = top->n;
    double smallest = INFINITY;
    bool gives = ball_compare(missing, ball_of(0)) < 0;
    for (int used = 1; used >= 0 && best == top->n; used--) {
        for (size_t o = 0; o < top->n_top; o++) {
            size_t j = top->order[o];
            struct ball room = ball_subtract(ball_multiply(top->share[j], sum), top->beta[j]);
            room = gives ? top->beta[j] : room;
            bool all = !gives && (top->form->kind == QUANTILE || /* no cap below the whole sum */
                                  ball_at_most(ball_of(1), top->share[j]));
            bool fits = all || ball_compare(room, ball_absolute(missing)) > 0;
            double slope = derivative_of(top, j);
            if (fits && slope < smallest && (!used || !ball_is_zero(top->beta[j]))) {
                best = j;
                smallest = slope;
            }
        }
    }
    return best;
}

/* Adds what caps have removed from beta, or the difference of the sums, to one entry with room for
 * it, or to all in proportion to their room; if all are at their caps, they are set in proportion
 * to their caps. */
static void balance(struct top *top, struct ball sum, struct ball missing) {
    struct ball room = ball_of(0), shares = ball_of(0);
    size_t best = find_row(top, sum, missing);
    if (best < top->n) {
        task_repair(top->task, &top->beta[best], ball_add(top->beta[best], missing));
        return;
    }
    for (size_t j = 0; j < top->n; j++) {
        struct ball own = ball_subtract(ball_multiply(top->share[j], sum), top->beta[j]);
        room = ball_add(room, ball_positive(own));
        shares = ball_add(shares, top->share[j]);
    }
    bool fits = ball_compare(room, missing) > 0;
    struct ball part = ball_divide(missing, room);
    for (size_t j = 0; j < top->n; j++) {
        struct ball cap = ball_multiply(top->share[j], sum);
        struct ball own = ball_positive(ball_subtract(cap, top->beta[j]));
        own = fits ? ball_add(top->beta[j], ball_multiply(part, own)) : ball_divide(cap, shares);
        task_repair(top->task, &top->beta[j], own);
    }
}

/* Reduces beta to its caps; returns false, and refutes the point, if it exceeds them by more than
 * rounding. */
static bool keep_caps(struct top *top, struct ball sum) {
    for (size_t j = 0; j < top->n; j++) {
        if (!ball_is_zero(top->beta[j]) &&
            !task_clip(top->task, ball_multiply(top->share[j], sum), &top->beta[j])) {
            task_wrong(top->task, "the dual point is not feasible: row %zu is over its cap", j + 1);
            return false;
        }
    }
    return true;
}

/* Makes the sums of alpha and beta equal, and keeps the caps; refutes the point if either is
 * violated by more than rounding. */
static void repair_dual(struct top *top) {
    struct ball sum = sum_of(top->alpha, top->n), other = sum_of(top->beta, top->n);
    if (top->form->kind == NONE || (ball_is_zero(sum) && ball_is_zero(other))) {
        return;
    }
    if (!task_within(top->task, sum, other) || !task_within(top->task, other, sum)) {
        int unit = 2 * top->task->half_unit;
        task_wrong(top->task, "the dual point is not feasible: sum alpha is %.17g, sum beta %.17g",
                   ldexp(sum.m.hi, unit), ldexp(other.m.hi, unit));
        return;
    }
    if (top->form->kind == MEAN && !keep_caps(top, sum)) {
        return;
    }
    balance(top, sum, ball_subtract(sum, sum_of(top->beta, top->n)));
}

/* sum beta / theta less the conjugate of the threshold. */
static struct ball quantile_linear(const struct top *top) {
    struct ball sum = sum_of(top->beta, top->n), largest = ball_of(0), squares = ball_of(0),
                conjugate;
    for (size_t o = 0; o < top->n_top; o++) {
        uint32_t j = top->order[o];
        struct ball part = ball_divide(top->beta[j], top->mass[j]);
        largest = ball_maximum(largest, part);
        squares = ball_add(squares, ball_multiply(part, top->beta[j]));
    }
    conjugate = top->task->squared ? ball_root(ball_multiply(top->budget, squares))
                                   : ball_multiply(top->budget, largest);
    return ball_divide(ball_subtract(sum, conjugate), top->theta);
}

static struct ball find_linear(const struct top *top) {
    struct ball sum = top->form->kind == QUANTILE ? quantile_linear(top) : ball_of(0);
    for (size_t i = 0; i < top->n; i++) {
        sum = ball_add(sum, task_linear(top->task, top->cost[i], top->alpha[i]));
        if (top->form->kind == NONE) {
            sum = ball_add(sum, task_linear(top->task, top->mass[i], top->beta[i]));
        }
    }
    return sum;
}

/* ---- all ---- */

static int find_bounds(struct top *top, struct error *err) {
    struct task *task = top->task;
    if (task_functions(task, task->constant, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < top->n; i++) {
        task->g.coefficients[i] = ball_subtract(top->alpha[i], top->beta[i]);
    }
    task->findings->zero_primal = find_loss(top); /* all scores are 0 */
    if (task_evaluate(task, find_linear(top), false, err) < 0) {
        return -1;
    }
    task_add_loss(task, find_loss(top));
    return 0;
}

static const struct form *find_form(const char *name) {
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strcmp(forms[i].name, name) == 0) {
            return &forms[i];
        }
    }
    return NULL;
}

static int check_all(struct top *top, struct error *err) {
    read_rows(top);
    if (top->n_top == 0) {
        task_wrong(top->task, "there are no negatives");
        return 0;
    }
    if ((top->form->kind == MEAN && read_k(top, err) < 0) ||
        (top->form->kind == QUANTILE && read_quantile(top, err) < 0)) {
        return -1;
    }
    if (!top->task->findings->wrong[0]) {
        read_dual(top);
        repair_dual(top);
        if (top->form->kind ==
            QUANTILE) { /* derivatives are with respect to scores and parts of 1 / theta */
            top->task->findings->moved *= fmax(1, 1 / top->theta.m.hi);
        }
    }
    return top->task->findings->wrong[0] ? 0 : find_bounds(top, err);
}

static int check(struct task *task, struct error *err) {
    size_t n = task->data.n_rows;
    struct top top = {.task = task, .form = find_form(task->model.formulation), .n = n};
    if (!top.form || task->model.n_outputs != 1) {
        return error_set(err, ERROR_RUNTIME, "not a formulation with a proof: '%.100s'",
                         task->model.formulation);
    }
    void *block = ARRAYS_CREATE(
        "rows", err,
        ARRAYS(n, struct ball, &top.cost, &top.mass, &top.share, &top.alpha, &top.beta),
        ARRAYS(n, uint32_t, &top.order, &top.spare));
    int status = block ? check_all(&top, err) : -1;
    free(block);
    return status;
}

static const char *const model_keys[] = {"labels",
                                         "positive",
                                         "top-k",
                                         "tau",
                                         "theta",
                                         "max-sv",
                                         "threshold",
                                         "calibrated-tau",
                                         "calibrated-threshold",
                                         "calibrated-fpr",
                                         "calibrated-fpr-low",
                                         "calibrated-fpr-high",
                                         "calibrated-tpr",
                                         "calibrated-tpr-low",
                                         "calibrated-tpr-high",
                                         NULL};
static const char *const proof_keys[] = {"K", "weight", NULL};

const struct check_family check_top = {.name = "top",
                                       .labels = DATA_NAME,
                                       .model_keys = model_keys,
                                       .proof_keys = proof_keys,
                                       .check = check};
