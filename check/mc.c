/* Multi-class SVMs (doc/mathematics, "mc"; Dogan, Glasmachers, Igel, JMLR 2016):
 *
 *   min 1/2 |W|^2 + sum_i C_i L(y_i, s_i),
 *
 * L the sum or the maximum over terms c of max(0, 1 - m_c), with margins m_c = M (s_y - s_c), or
 * those of scores minus their mean: s_y for c = y, and -s_c for the others. The proof has the dual
 * variables alpha of each row and term; O(n k) besides the two functions. */
#include "check/loss.h"
#include "check/task.h"
#include "common/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct form {
    const char *name;
    bool differences; /* margins are differences of scores */
    bool centred;     /* the mean of the scores is subtracted */
    bool others, own; /* which classes are terms */
    bool maximum;     /* the loss is the maximum of the terms; else their sum */
};

static const struct form forms[] = {
    {"ww", true, false, true, false, false},  {"cs", true, false, true, false, true},
    {"llw", false, true, true, false, false}, {"adm", false, true, true, false, true},
    {"atm", false, true, true, true, true},   {"ats", false, true, true, true, false},
    {"mmr", false, true, false, true, false}, {"ova", false, false, true, true, false},
};

struct mc {
    struct task *task;
    const struct form *form;
    size_t n, k;
    struct ball margin; /* M */
    struct ball *row;   /* (k) work */
    struct ball linear; /* sum of alpha */
};

static bool is_term(const struct mc *mc, size_t y, size_t c) {
    return c == y ? mc->form->own : mc->form->others;
}

static struct ball mean_of(const struct mc *mc, const struct ball *s) {
    struct ball sum = ball_of(0);
    for (size_t c = 0; mc->form->centred && c < mc->k; c++) {
        sum = ball_add(sum, s[c]);
    }
    return ball_divide(sum, ball_of((double)mc->k));
}

static struct ball row_loss(const struct mc *mc, size_t y, const struct ball *s) {
    struct ball mean = mean_of(mc, s), all = ball_of(0);
    for (size_t c = 0; c < mc->k; c++) {
        struct ball margin = mc->form->differences
                                 ? ball_multiply(mc->margin, ball_subtract(s[y], s[c]))
                             : c == y ? ball_subtract(s[c], mean)
                                      : ball_subtract(mean, s[c]);
        if (is_term(mc, y, c)) {
            struct ball term = ball_positive(ball_subtract(ball_of(1), margin));
            all = mc->form->maximum ? ball_maximum(all, term) : ball_add(all, term);
        }
    }
    return all;
}

/* The loss of a row at zero scores. */
static double max_loss(const struct mc *mc) {
    double terms = (mc->form->others ? (double)mc->k - 1 : 0) + (mc->form->own ? 1 : 0);
    return mc->form->maximum ? 1 : terms;
}

/* ---- the dual point ---- */

/* Repairs the alpha of a row if it violates its bounds only by rounding; returns false for larger
 * violations. */
static bool repair_row(const struct mc *mc, size_t i, struct ball *alpha) {
    struct ball sum = ball_of(0);
    for (size_t c = 0; c < mc->k; c++) {
        if (ball_compare(alpha[c], ball_of(0)) < 0 ||
            !task_clip(mc->task, mc->task->cost[i], &alpha[c])) {
            return false;
        }
        sum = ball_add(sum, alpha[c]);
    }
    if (!mc->form->maximum || ball_at_most(sum, mc->task->cost[i])) {
        return true;
    }
    if (!task_within(mc->task, sum, mc->task->cost[i])) {
        return false;
    }
    struct ball factor = ball_divide(ball_minimum(sum, mc->task->cost[i]), sum);
    for (size_t c = 0; c < mc->k; c++) {
        task_repair(mc->task, &alpha[c], ball_multiply(alpha[c], factor));
    }
    return true;
}

/* Sets the coefficients u of the row in W = sum_i x_i u_i'. */
static void set_coefficients(struct mc *mc, size_t y, const struct ball *alpha, struct ball *u) {
    struct ball sum = ball_of(0);
    for (size_t c = 0; c < mc->k; c++) {
        sum = ball_add(sum, alpha[c]);
        u[c] =
            ball_negative(mc->form->differences ? ball_multiply(mc->margin, alpha[c]) : alpha[c]);
    }
    u[y] = mc->form->differences ? ball_multiply(mc->margin, sum) : alpha[y];
    struct ball mean = mean_of(mc, u);
    for (size_t c = 0; mc->form->centred && c < mc->k; c++) {
        u[c] = ball_subtract(u[c], mean);
    }
    mc->linear = ball_add(mc->linear, sum);
}

static void read_dual(struct mc *mc) {
    const struct proof *proof = &mc->task->proof;
    for (size_t e = 0; e < proof->n_values;) {
        size_t i = proof->value[e].row, y = task_class(mc->task, i);
        bool good = true;
        for (size_t c = 0; c < mc->k; c++) {
            mc->row[c] = ball_of(0);
        }
        for (; e < proof->n_values && proof->value[e].row == i; e++) {
            struct proof_value entry = proof->value[e];
            bool term = entry.b == 0 && entry.a <= mc->k && is_term(mc, y, entry.a - 1);
            good = good && term;
            if (term) {
                mc->row[entry.a - 1] = task_scaled(mc->task, entry.value);
            }
        }
        if (!good || !repair_row(mc, i, mc->row)) {
            task_wrong(mc->task, "the dual point is not feasible: row %zu", i + 1);
            return;
        }
        set_coefficients(mc, y, mc->row, mc->task->g.coefficients + i * mc->k);
    }
    mc->task->findings->moved *=
        fmax(1, mc->margin.m.hi); /* derivatives are with respect to margins times M */
}

/* ---- all ---- */

static int find_bounds(struct mc *mc, struct error *err) {
    struct task *task = mc->task;
    read_dual(mc);
    if (task->findings->wrong[0]) {
        return 0;
    }
    for (size_t i = 0; i < mc->n; i++) {
        struct ball loss = ball_multiply(mc->task->cost[i], ball_of(max_loss(mc)));
        task->findings->zero_primal = ball_add(task->findings->zero_primal, loss);
    }
    if (task_evaluate(task, mc->linear, false, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < mc->n; i++) {
        struct ball loss = row_loss(mc, task_class(task, i), task->f.scores + i * mc->k);
        task_add_loss(task, ball_multiply(mc->task->cost[i], loss));
    }
    return 0;
}

static int open_form(struct mc *mc, struct error *err) {
    struct task *task = mc->task;
    double margin;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        mc->form = strcmp(forms[i].name, task->model.formulation) == 0 ? &forms[i] : mc->form;
    }
    if (!mc->form) {
        return error_set(err, ERROR_RUNTIME, "not a formulation with a proof: '%.100s'",
                         task->model.formulation);
    }
    if (task_model_number(task, "margin-scale", 1, &margin, err) < 0) {
        return -1;
    }
    mc->margin = ball_of(margin);
    mc->row = memory_array(mc->k, sizeof *mc->row, "a row", err);
    return mc->row ? 0 : -1;
}

static int check(struct task *task, struct error *err) {
    struct mc mc = {
        .task = task, .n = task->data.n_rows, .k = task->labels.names.n, .linear = ball_of(0)};
    if (mc.k < 2 || mc.k != task->model.n_outputs) {
        return error_set(err, ERROR_RUNTIME, "the model does not have a score for each class");
    }
    int status = open_form(&mc, err) < 0 || task_functions(task, task->constant, err) < 0
                     ? -1
                     : find_bounds(&mc, err);
    free(mc.row);
    return status;
}

static const char *const model_keys[] = {"labels", "margin-scale", "max-sv", "probability-scale",
                                         NULL};

static const char *const proof_keys[] = {"weight", NULL};

const struct check_family check_mc = {.name = "mc",
                                      .labels = DATA_NAME,
                                      .many = true,
                                      .model_keys = model_keys,
                                      .proof_keys = proof_keys,
                                      .check = check};
