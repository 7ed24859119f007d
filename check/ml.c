/* Multi-label Rank-SVM (doc/mathematics, "ml"): with Y_i the labels of row i and lambda_i = C /
 * (|Y_i| (q - |Y_i|)), times the weight of the row,
 *
 *   min 1/2 |f|^2 + sum_i lambda_i sum_{p in Y_i, r not} l(1 - (s_ip - s_ir)),
 *   D = sum_i sum_p beta_ip [- sum alpha^2 / 4 lambda] - 1/2 |g|^2,
 *   beta_ip = sum_r alpha_ipr, beta_ir = -sum_p alpha_ipr, 0 <= alpha [<= lambda],
 *
 * and with a free bias sum_i beta_i = 0.
 *
 * Hinge: the proof has beta. A flow alpha with these beta exists if and only if for each j the j
 * largest beta_p sum to at most sum_r min(|beta_r|, j lambda), and both sides have equal sums (Gale
 * 1957). Squared hinge: the proof has alpha. */
#include "check/loss.h"
#include "check/task.h"
#include "common/base/arrays.h"

#include <stdlib.h>
#include <string.h>

struct ml {
    struct task *task;
    size_t n, q;
    bool *relevant;     /* (n, q) */
    uint32_t *n_labels; /* (n) |Y_i| */
    bool free_bias;
    struct ball linear;
    struct ball *sent, *received; /* (q) work */
    struct ball *total;           /* (q) sum of beta over rows */
};

static void read_labels(struct ml *ml) {
    const struct data *data = &ml->task->data;
    for (size_t i = 0; i < ml->n; i++) {
        for (uint64_t l = data->label_start[i]; l < data->label_start[i + 1]; l++) {
            ml->relevant[i * ml->q + ml->task->class[data->label[l]]] = true;
            ml->n_labels[i]++;
        }
    }
}

static bool has_loss(const struct ml *ml, size_t i) {
    return ml->n_labels[i] > 0 && ml->n_labels[i] < ml->q;
}

static struct ball lambda_of(const struct ml *ml, size_t i) {
    double pairs = (double)ml->n_labels[i] * (double)(ml->q - ml->n_labels[i]);
    return ball_divide(ml->task->cost[i], ball_of(pairs));
}

/* ---- the primal ---- */

static struct ball row_loss(const struct ml *ml, size_t i, const struct ball *s) {
    const bool *relevant = ml->relevant + i * ml->q;
    struct ball sum = ball_of(0);
    for (size_t p = 0; p < ml->q; p++) {
        for (size_t r = 0; relevant[p] && r < ml->q; r++) {
            if (!relevant[r]) {
                struct ball u = ball_subtract(ball_of(1), ball_subtract(s[p], s[r]));
                sum = ball_add(sum, loss_of(ml->task->squared, u));
            }
        }
    }
    return ball_multiply(lambda_of(ml, i), sum);
}

/* ---- the dual point ---- */

/* A factor of at most 1 by which beta, with sent[0..m) and received[0..l) of equal sums, becomes
 * feasible; false if beta violates the condition by more than rounding. Scaling preserves the
 * conditions that hold. */
static bool flow_factor(const struct task *task, struct ball lambda, struct ball *sent, size_t m,
                        const struct ball *received, size_t l, struct ball *factor) {
    struct ball sum = ball_of(0);
    *factor = ball_of(1);
    qsort(sent, m, sizeof *sent, ball_descending);
    for (size_t j = 0; j < m && !ball_is_zero(sent[j]); j++) {
        struct ball capacity = ball_of(0), cap = ball_multiply(lambda, ball_of((double)(j + 1)));
        sum = ball_add(sum, sent[j]);
        for (size_t r = 0; r < l; r++) {
            capacity = ball_add(capacity, ball_minimum(received[r], cap));
        }
        if (!ball_at_most(sum, capacity)) {
            if (!task_within(task, sum, capacity)) {
                return false;
            }
            *factor = ball_minimum(*factor, ball_divide(ball_minimum(sum, capacity), sum));
        }
    }
    return true;
}

/* Hinge: repairs beta of the row: the sums of both sides are made equal by scaling down the larger,
 * and all is scaled down if no flow exists. */
static bool read_beta(struct ml *ml, size_t i, struct ball *beta) {
    const bool *relevant = ml->relevant + i * ml->q;
    const struct ball zero = ball_of(0), lambda = lambda_of(ml, i);
    struct ball side[2] = {zero, zero}, factor;
    size_t m = 0, l = 0;
    for (size_t k = 0; k < ml->q; k++) {
        struct ball size = relevant[k] ? beta[k] : ball_negative(beta[k]);
        if (ball_compare(size, zero) <
            0) { /* a rounding error of a difference of numbers of the size of lambda */
            if (!task_within(ml->task, ball_subtract(lambda, size), lambda)) {
                return false;
            }
            task_repair(ml->task, &beta[k], zero);
            size = zero;
        }
        side[relevant[k]] = ball_add(side[relevant[k]], size);
    }
    struct ball smaller = ball_minimum(side[0], side[1]);
    for (int k = 0; k < 2; k++) {
        if (!task_within(ml->task, side[k], smaller)) {
            return false;
        }
    }
    for (size_t k = 0; k < ml->q; k++) {
        if (!ball_is_zero(beta[k])) {
            struct ball share = ball_divide(smaller, side[relevant[k]]);
            share = ball_multiply(beta[k], ball_minimum(share, ball_of(1)));
            task_repair(ml->task, &beta[k], share);
        }
        if (relevant[k]) {
            ml->sent[m++] = beta[k];
        } else {
            ml->received[l++] = ball_absolute(beta[k]);
        }
    }
    if (!flow_factor(ml->task, lambda, ml->sent, m, ml->received, l, &factor)) {
        return false;
    }
    for (size_t k = 0; k < ml->q; k++) {
        task_repair(ml->task, &beta[k], ball_multiply(beta[k], factor));
        ml->linear = relevant[k] ? ball_add(ml->linear, beta[k]) : ml->linear;
    }
    return true;
}

/* Adds one number of the proof. */
static bool read_value(struct ml *ml, const struct proof_value *entry, struct ball *row) {
    const bool *relevant = ml->relevant + entry->row * ml->q;
    size_t p = entry->a - 1, r = entry->b - (size_t)1;
    bool squared = ml->task->squared;
    if (p >= ml->q || squared != (entry->b > 0) || (squared && r >= ml->q)) {
        return false;
    }
    struct ball value = task_scaled(ml->task, entry->value);
    if (!squared) {
        row[p] = value;
        return true;
    }
    if (!relevant[p] || relevant[r] || entry->value < 0) {
        return false;
    }
    struct ball lambda = lambda_of(ml, entry->row);
    row[p] = ball_add(row[p], value);
    row[r] = ball_subtract(row[r], value);
    ml->linear = ball_add(ml->linear, task_linear(ml->task, lambda, value));
    return true;
}

static void read_dual(struct ml *ml) {
    const struct proof *proof = &ml->task->proof;
    for (size_t e = 0; e < proof->n_values;) {
        size_t i = proof->value[e].row;
        struct ball *row = ml->task->g.coefficients + i * ml->q;
        bool good = has_loss(ml, i);
        for (; e < proof->n_values && proof->value[e].row == i; e++) {
            good = good && read_value(ml, &proof->value[e], row);
        }
        if (!good || (!ml->task->squared && !read_beta(ml, i, row))) {
            task_wrong(ml->task, "the dual point is not feasible: row %zu", i + 1);
            return;
        }
        for (size_t k = 0; k < ml->q; k++) {
            ml->total[k] = ball_add(ml->total[k], row[k]);
        }
    }
}

/* With a free bias: a bound of the decrease of D from this point to a near one with sum_i beta_i =
 * 0. Summed over rows, alpha is a flow between labels; the imbalance, `off` in total, is cancelled
 * along paths of fewer than q steps, which takes `moved` from alpha. The derivatives of D with
 * respect to alpha are at most 1 + 2 |score of g| and alpha / (2 lambda), and g changes by at most
 * 2 moved |x|. */
static struct ball balance_cost(struct ml *ml) {
    const struct function *g = &ml->task->g;
    struct ball off = ball_of(0), all = ball_of(0), largest = ball_of(0), diagonal = ball_of(0);
    for (size_t k = 0; k < ml->q; k++) {
        off = ball_add(off, ball_absolute(ml->total[k]));
    }
    for (size_t j = 0; j < ml->n * ml->q; j++) {
        all = ball_add(all, ball_absolute(g->coefficients[j]));
        largest = ball_maximum(largest, ball_absolute(g->scores[j]));
    }
    if (!task_within(ml->task, ball_add(all, off), all)) {
        task_wrong(ml->task, "the dual point is not feasible: beta does not sum to 0");
    }
    for (size_t i = 0; i < ml->n; i++) {
        diagonal = ball_maximum(diagonal, points_own(&ml->task->points, i));
    }
    diagonal = ball_scale(diagonal, 2 * ml->task->half_unit);
    struct ball moved = ball_multiply(off, ball_of((double)ml->q));
    struct ball slope =
        ball_add(ball_of(1 + ml->task->findings->ratio), ball_add(largest, largest));
    struct ball square = ball_multiply(ball_of(2), ball_multiply(moved, moved));
    return ball_add(ball_multiply(moved, slope), ball_multiply(square, diagonal));
}

/* ---- all ---- */

static int find_bounds(struct ml *ml, struct error *err) {
    struct task *task = ml->task;
    struct findings *findings = task->findings;
    read_dual(ml);
    if (findings->wrong[0]) {
        return 0;
    }
    if (task_evaluate(task, ml->linear, ml->free_bias, err) < 0) {
        return -1;
    }
    if (ml->free_bias) {
        double cost = ball_magnitude(balance_cost(ml));
        findings->dual = ball_positive(
            ball_subtract(findings->dual, (struct ball){{cost / 2, 0}, cost / 2 * BALL_UP}));
        findings->highest = ball_add(findings->highest, (struct ball){{cost, 0}, cost * BALL_UP});
    }
    for (size_t i = 0; i < ml->n; i++) {
        if (has_loss(ml, i)) {
            findings->zero_primal = ball_add(findings->zero_primal, task->cost[i]);
            task_add_loss(task, row_loss(ml, i, task->f.scores + i * ml->q));
        }
    }
    return 0;
}

static int check(struct task *task, struct error *err) {
    const char *free_bias = task_text(task, "free-bias");
    struct ml ml = {.task = task,
                    .n = task->data.n_rows,
                    .q = task->labels.names.n,
                    .free_bias = free_bias != NULL,
                    .linear = ball_of(0)};
    bool named = strcmp(task->model.formulation, "rank") == 0;
    if (!named || ml.q < 2 || ml.q != task->model.n_outputs) {
        return error_set(err, ERROR_RUNTIME, "the model does not have a score for each label");
    }
    if (free_bias && (strcmp(free_bias, "yes") != 0 || task->constant > 0)) {
        return error_set(err, ERROR_RUNTIME, "free-bias is 'yes' where there is no constant");
    }
    void *block = ARRAYS_CREATE(
        "labels", err, ARRAYS(ml.q, struct ball, &ml.sent, &ml.received, &ml.total),
        ARRAYS(ml.n * ml.q, bool, &ml.relevant), ARRAYS(ml.n, uint32_t, &ml.n_labels));
    int status = -1;
    if (block && task_functions(task, task->constant, err) == 0) {
        read_labels(&ml);
        status = find_bounds(&ml, err);
    }
    free(block);
    return status;
}

static const char *const model_keys[] = {"labels", "label-rows", "threshold", "at-least-one", NULL};
static const char *const proof_keys[] = {"free-bias", NULL};

const struct check_family check_ml = {.name = "ml",
                                      .labels = DATA_SET,
                                      .many = true,
                                      .model_keys = model_keys,
                                      .proof_keys = proof_keys,
                                      .check = check};
