/* Support matrix machines (doc/mathematics, "smm"): for each binary subproblem, with labels y =
 * +-1,
 *
 *   min 1/2 |W|^2 + T |W|_* + sum_i C_i l(1 - y_i (<W, X_i> + b)),
 *   D = sum alpha [- alpha^2 / 4 C] - 1/2 |SVT_T(sum alpha_i y_i X_i)|^2,
 *   y'alpha = 0, 0 <= alpha [<= C],
 *
 * where SVT_T subtracts T from the singular values. Two labels give one subproblem, for the second
 * of them. */
#include "check/loss.h"
#include "check/singular.h"
#include "check/task.h"
#include "common/base/memory.h"
#include "common/base/number.h"

#include <stdlib.h>
#include <string.h>

struct smm {
    struct task *task;
    size_t n, k; /* number of rows and of subproblems */
    size_t height, width;
    double tau;         /* weight of the nuclear norm; 0: none */
    struct ball *alpha; /* (n) the dual point of the current subproblem */
};

static int read_shape(struct smm *smm, struct error *err) {
    const char *text = model_value(&smm->task->model, "shape");
    uint64_t height = 0, width = 0;
    const char *end = text ? text + strlen(text) : NULL, *at;
    at = text ? number_parse_unsigned(text, end, &height) : NULL;
    at = at && *at == 'x' ? number_parse_unsigned(at + 1, end, &width) : NULL;
    if (!at || at != end || height < 1 || width < 1 || height > UINT32_MAX || width > UINT32_MAX ||
        height * width != smm->task->model.n_features) {
        return error_set(err, ERROR_RUNTIME, "the model's shape is not that of its weights");
    }
    smm->height = (size_t)height;
    smm->width = (size_t)width;
    return 0;
}

static bool is_positive(const struct smm *smm, size_t i, size_t subproblem) {
    return task_class(smm->task, i) == (smm->k == 1 ? 1 : subproblem);
}

/* ---- the dual point ---- */

/* The row of smallest norm whose alpha can absorb a change of y alpha by `missing`: this changes g
 * the least. n: there is none. */
static size_t find_row(const struct smm *smm, size_t subproblem, struct ball missing) {
    size_t best = smm->n;
    double min_norm = INFINITY;
    bool rises = ball_compare(missing, ball_of(0)) > 0;
    for (size_t i = 0; i < smm->n; i++) {
        bool adds = is_positive(smm, i, subproblem) == rises;
        struct ball room = adds ? ball_subtract(smm->task->cost[i], smm->alpha[i]) : smm->alpha[i];
        bool fits = (adds && smm->task->squared && !ball_is_zero(smm->task->cost[i])) ||
                    ball_compare(room, ball_absolute(missing)) > 0;
        double norm = ball_magnitude(points_own(&smm->task->points, i));
        if (fits && norm < min_norm) {
            best = i;
            min_norm = norm;
        }
    }
    return best;
}

/* Makes y'alpha = 0: one alpha absorbs what is missing, or the side with the larger sum is scaled
 * down, which keeps the bounds. */
static bool balance(struct smm *smm, size_t subproblem, struct ball *linear) {
    struct ball side[2] = {ball_of(0), ball_of(0)};
    for (size_t i = 0; i < smm->n; i++) {
        bool positive = is_positive(smm, i, subproblem);
        side[positive] = ball_add(side[positive], smm->alpha[i]);
    }
    struct ball missing = ball_subtract(side[0], side[1]), off = ball_absolute(missing);
    struct ball smaller = ball_minimum(side[0], side[1]), larger = ball_maximum(side[0], side[1]);
    if (!task_within(smm->task, larger, smaller)) {
        return false;
    }
    size_t row = find_row(smm, subproblem, missing);
    if (!ball_is_zero(off) && row < smm->n) {
        struct ball *alpha = &smm->alpha[row];
        bool positive = is_positive(smm, row, subproblem);
        task_repair(smm->task, alpha,
                    positive ? ball_add(*alpha, missing) : ball_subtract(*alpha, missing));
    }
    for (size_t i = 0; i < smm->n; i++) {
        if (!ball_is_zero(off) && row == smm->n && !ball_is_zero(smm->alpha[i])) {
            struct ball factor = ball_divide(smaller, side[is_positive(smm, i, subproblem)]);
            task_repair(smm->task, &smm->alpha[i], ball_multiply(smm->alpha[i], factor));
        }
        if (!ball_is_zero(smm->alpha[i])) {
            *linear = ball_add(*linear, task_linear(smm->task, smm->task->cost[i], smm->alpha[i]));
        }
    }
    return true;
}

static void read_dual(struct smm *smm, struct ball *linear) {
    struct task *task = smm->task;
    const struct proof *proof = &task->proof;
    for (size_t m = 0; m < smm->k; m++) {
        memset(smm->alpha, 0, smm->n * sizeof *smm->alpha);
        for (size_t e = 0; e < proof->n_values; e++) {
            struct proof_value entry = proof->value[e];
            struct ball *alpha = &smm->alpha[entry.row];
            *alpha = entry.a - 1 == m ? task_scaled(task, entry.value) : *alpha;
            if (entry.a > smm->k || entry.b > 0 || entry.value < 0 ||
                (!task->squared && !task_clip(task, smm->task->cost[entry.row], alpha))) {
                task_wrong(task, "the dual point is not feasible: row %zu", (size_t)entry.row + 1);
                return;
            }
        }
        if (!balance(smm, m, linear)) {
            task_wrong(task, "the dual point is not feasible: y'alpha is not 0");
            return;
        }
        for (size_t i = 0; i < smm->n; i++) {
            struct ball alpha = smm->alpha[i];
            task->g.coefficients[i * smm->k + m] =
                is_positive(smm, i, m) ? alpha : ball_negative(alpha);
        }
    }
}

/* ---- bounds ---- */

/* The primal of W = 0 with its best bias: all rows of the side of smaller weight have loss 2. */
static struct ball zero_primal_of(const struct smm *smm, size_t subproblem) {
    struct ball side[2] = {ball_of(0), ball_of(0)};
    for (size_t i = 0; i < smm->n; i++) {
        bool positive = is_positive(smm, i, subproblem);
        side[positive] = ball_add(side[positive], smm->task->cost[i]);
    }
    if (ball_is_zero(side[0]) || ball_is_zero(side[1])) {
        return ball_of(0);
    }
    if (!smm->task->squared) {
        return ball_multiply(ball_of(2), ball_minimum(side[0], side[1]));
    }
    struct ball product = ball_multiply(side[0], side[1]);
    return ball_divide(ball_multiply(ball_of(4), product), ball_add(side[0], side[1]));
}

static struct ball subproblem_loss(const struct smm *smm, size_t subproblem, const struct ball *s) {
    struct ball sum = ball_of(0);
    for (size_t i = 0; i < smm->n; i++) {
        struct ball score = s[i * smm->k + subproblem];
        struct ball margin = is_positive(smm, i, subproblem) ? score : ball_negative(score);
        struct ball loss = loss_of(smm->task->squared, ball_subtract(ball_of(1), margin));
        sum = ball_add(sum, ball_multiply(smm->task->cost[i], loss));
    }
    return sum;
}

/* Adds to *sum the excess of the singular values of a subproblem over T, or the squares of that. */
static int add_singular(const struct smm *smm, const struct function *function, size_t subproblem,
                        struct ball off, bool squares, struct ball *sum, struct error *err) {
    size_t cells = smm->height * smm->width;
    size_t side = smm->height < smm->width ? smm->height : smm->width;
    struct ball *matrix = memory_array(cells + side, sizeof *matrix, "a matrix", err);
    if (!matrix) {
        return -1;
    }
    for (size_t j = 0; j < cells; j++) {
        matrix[j] = function->weights[j * smm->k + subproblem];
    }
    int status = singular_values(matrix, smm->height, smm->width, matrix + cells, err);
    for (size_t j = 0; status == 0 && j < side; j++) {
        struct ball value = ball_positive(ball_subtract(matrix[cells + j], off));
        *sum = ball_add(*sum, squares ? ball_multiply(value, value) : value);
    }
    free(matrix);
    return status;
}

/* Adds the terms of the nuclear norm. */
static int add_nuclear(struct smm *smm, struct ball linear, struct error *err) {
    struct ball norm = ball_of(0), squares = ball_of(0);
    struct ball tau =
        ball_scale(ball_of(smm->tau), -smm->task->half_unit); /* in the unit of singular values */
    for (size_t m = 0; m < smm->k; m++) {
        if (add_singular(smm, &smm->task->f, m, ball_of(0), false, &norm, err) < 0 ||
            add_singular(smm, &smm->task->g, m, tau, true, &squares, err) < 0) {
            return -1;
        }
    }
    task_set_dual(smm->task, linear, squares);
    task_add_loss(smm->task, ball_multiply(tau, norm));
    return 0;
}

static int find_bounds(struct smm *smm, struct error *err) {
    struct task *task = smm->task;
    struct ball linear = ball_of(0);
    read_dual(smm, &linear);
    if (task->findings->wrong[0]) {
        return 0;
    }
    if (task_evaluate(task, linear, false, err) < 0 ||
        (smm->tau > 0 && add_nuclear(smm, linear, err) < 0)) {
        return -1;
    }
    for (size_t m = 0; m < smm->k; m++) {
        struct ball *zero_primal = &task->findings->zero_primal;
        *zero_primal = ball_add(*zero_primal, zero_primal_of(smm, m));
        task_add_loss(task, subproblem_loss(smm, m, task->f.scores));
    }
    return 0;
}

static int open_form(struct smm *smm, struct error *err) {
    struct task *task = smm->task;
    const char *name = task->model.formulation;
    double rank;
    size_t side;
    if (read_shape(smm, err) < 0 || task_model_number(task, "tau", 0, &smm->tau, err) < 0 ||
        task_proof_number(task, "rank", 0, &rank, err) < 0) {
        return -1;
    }
    side = smm->height < smm->width ? smm->height : smm->width;
    bool full = strcmp(name, "lowrank") == 0 && rank >= (double)side;
    if (!full && strcmp(name, "svm") != 0 && strcmp(name, "nuclear") != 0) {
        return error_set(err, ERROR_RUNTIME, "not a formulation with a proof: '%.100s'", name);
    }
    if (!(smm->tau >= 0) || (strcmp(name, "nuclear") != 0 && smm->tau > 0)) {
        return error_set(err, ERROR_RUNTIME, "a tau that formulation %s does not have", name);
    }
    smm->alpha = memory_zeros(smm->n, sizeof *smm->alpha, "rows", err);
    return smm->alpha ? 0 : -1;
}

static int check(struct task *task, struct error *err) {
    struct smm smm = {.task = task, .n = task->data.n_rows, .k = task->model.n_outputs};
    if (smm.k != (task->labels.names.n == 2 ? 1 : task->labels.names.n) || !task->model.weights) {
        return error_set(err, ERROR_RUNTIME, "the model does not have a machine for each label");
    }
    int status =
        open_form(&smm, err) < 0 || task_functions(task, 0, err) < 0 ? -1 : find_bounds(&smm, err);
    free(smm.alpha);
    return status;
}

static const char *const model_keys[] = {"labels", "shape", "rank", "tau", "stationarity", NULL};
static const char *const proof_keys[] = {"rank", "weight", NULL};

const struct check_family check_smm = {.name = "smm",
                                       .labels = DATA_NAME,
                                       .many = true,
                                       .model_keys = model_keys,
                                       .proof_keys = proof_keys,
                                       .check = check};
