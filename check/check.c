/* Comparison of the claims of a model with the bounds found, and the report. */
#include "check/check.h"

#include "check/task.h"
#include "common/base/threads.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- claims ---- */

/* An end of a ball, as a ball of almost zero radius. */
static struct ball end_of(struct ball a, double direction) {
    return a.r == 0 ? a : ball_make(dd_add(a.m, (struct dd){direction * a.r, 0}), 0);
}

static struct ball gap_at(struct ball primal, struct ball dual, struct ball min_primal) {
    struct ball open = ball_positive(ball_subtract(primal, dual));
    return ball_is_zero(open) ? open : ball_divide(open, ball_maximum(primal, min_primal));
}

/* The interval of the gap of the model, relative to the primal or to a tiny part of that of f = 0.
 * The gap increases with the primal, which occurs in it twice, so each end of the interval is
 * computed from ends. */
static void find_gap(const struct findings *findings, struct ball *low, struct ball *high) {
    const double tiny = 1e-12;
    struct ball min_primal = ball_multiply(ball_of(tiny), findings->zero_primal);
    struct ball primal = findings->primal,
                dual = findings->dual; /* not negative, although the ends of its ball may be */
    if (!isfinite(primal.r) || !isfinite(dual.r)) {
        *low = *high = gap_at(primal, dual, min_primal);
        return;
    }
    *low = gap_at(ball_positive(end_of(primal, -1)), end_of(dual, 1), min_primal);
    *high = gap_at(end_of(primal, 1), ball_positive(end_of(dual, -1)), min_primal);
}

/* Relative tolerances of claims. EXACT: bounds that are exact, as C times a number of rows, are
 * known here up to far less than that, which no double shows. QUOTIENT: the rounding of the gap
 * itself. */
static const double EXACT = 0x1p-80, QUOTIENT = 4 * DBL_EPSILON;

static void wrong_bound(struct task *task, const char *name, double claimed,
                        const char *direction) {
    task_wrong(task, "the model's %s is %.17g, and the true one %s", name, claimed, direction);
}

/* Checks that the value found, from low to high, is at most `claim`, up to the relative tolerance
 * `excused`. claimed: the number in the model. */
static void compare(struct task *task, const char *name, double claimed, struct ball claim,
                    struct ball low, struct ball high, double excused) {
    claim = ball_add(claim, ball_multiply(claim, ball_of(excused)));
    if (ball_compare(claim, low) < 0) {
        wrong_bound(task, name, claimed, "larger");
    } else if (!ball_at_most(high, claim)) {
        task_unknown(task, "the %s is not known closely enough", name);
    }
}

/* A dual is refuted if it is above that of the dual point under any repair of rounding errors, or
 * above a primal. If it is only above the dual of the repair made here, it may be true. */
static void compare_dual(struct task *task) {
    const struct findings *findings = task->findings;
    double claimed = task->model.dual;
    struct ball claim = task_scaled(task, claimed);
    claim = ball_subtract(claim, ball_multiply(claim, ball_of(EXACT)));
    if (ball_compare(findings->highest, claim) < 0 || ball_compare(findings->primal, claim) < 0) {
        wrong_bound(task, "dual", claimed, "smaller");
    } else if (ball_compare(findings->dual, claim) < 0) {
        task_unknown(task, "rounding has left the dual point infeasible, and that of its repair "
                           "may not be the model's dual");
    } else if (!ball_at_most(claim, findings->dual)) {
        task_unknown(task, "the dual is not known closely enough");
    }
}

static void compare_claims(struct task *task) {
    const double small =
        1e-9; /* relative to the primal of f = 0: below, gaps are only rounding errors */
    const struct findings *findings = task->findings;
    const struct model *model = &task->model;
    struct ball primal = task_scaled(task, model->primal);
    compare(task, "primal", model->primal, primal, findings->primal, findings->primal, EXACT);
    if (!findings->unknown[0] && model->dual > 0) { /* no optimum is negative */
        compare_dual(task);
    }
    if (!isfinite(ball_high(findings->zero_primal))) {
        task_unknown(task, "the costs are too large");
    }
    if (!findings->unknown[0] && primal.m.hi >= small * ball_high(findings->zero_primal)) {
        struct ball low, high;
        find_gap(findings, &low, &high);
        compare(task, "gap", model->gap, ball_of(model->gap), low, high, QUOTIENT);
    }
}

/* ---- the report ---- */

static void write_bound(struct output *output, double bound) {
    if (isfinite(bound)) {
        output_number(output, bound);
    } else {
        output_format(output, bound > 0 ? "inf" : "-inf");
    }
}

/* 2^exponent bound, rounded outwards if it is subnormal. */
static double unscaled(double bound, int exponent, double direction) {
    double value = ldexp(bound, exponent), back = ldexp(value, -exponent);
    bool inside = direction < 0 ? back > bound : back < bound;
    return inside ? nextafter(value, direction) : value;
}

/* Writes the interval from low to high, times 2^exponent. */
static void write_interval(struct output *output, const char *name, struct ball low,
                           struct ball high, int exponent) {
    output_format(output, "%s = ", name);
    write_bound(output, fmax(0, unscaled(ball_low(low), exponent, -INFINITY)));
    output_format(output, " .. ");
    write_bound(output, unscaled(ball_high(high), exponent, INFINITY));
    output_format(output, "\n");
}

/* Writes the properties of the problem that the model does not have. */
static void write_problem(const struct task *task, struct output *output) {
    size_t n_weights = 0;
    for (size_t i = 0; i < task->proof.n_entries; i++) {
        const struct model_entry *entry = &task->proof.entry[i];
        if (strcmp(entry->key, "row-weight") == 0) {
            n_weights++;
        } else if (strcmp(entry->key, "point") != 0) {
            output_format(output, "%s = %s\n", entry->key, entry->value);
        }
    }
    if (n_weights > 0) {
        output_format(output, "row-weights = %zu\n", n_weights);
    }
}

static void write_verdict(const struct findings *findings, struct output *output, int *code) {
    if (findings->wrong[0]) {
        *code = CHECK_REFUTED;
        output_format(output, "REFUTED: %s\n", findings->wrong);
    } else if (findings->unknown[0]) {
        *code = CHECK_UNKNOWN;
        output_format(output, "CANNOT TELL: %s\n", findings->unknown);
    } else {
        *code = CHECK_VERIFIED;
        output_format(output, "VERIFIED\n");
    }
}

/* ---- all ---- */

static int check_task(struct task *task, struct output *output, int *code, struct error *err) {
    struct findings *findings = task->findings;
    bool belongs = !findings->wrong[0];
    if (belongs && task->family->check(task, err) < 0) {
        return -1;
    }
    if (belongs) {
        write_problem(task, output);
    }
    if (!findings->wrong[0]) {
        compare_claims(task);
        struct ball low, high;
        find_gap(findings, &low, &high);
        write_interval(output, "primal", findings->primal, findings->primal, 2 * task->half_unit);
        write_interval(output, "dual", findings->dual, findings->dual, 2 * task->half_unit);
        write_interval(output, "gap", low, high, 0);
    }
    write_verdict(findings, output, code);
    return 0;
}

int check_files(const char *const paths[3], size_t n_threads, struct output *output, int *code,
                struct error *err) {
    struct threads *threads;
    struct task task;
    struct findings findings;
    if (threads_create(&threads, n_threads, err) < 0) {
        return -1;
    }
    int status = task_open(&task, paths, threads, &findings, err);
    status = status < 0 ? -1 : check_task(&task, output, code, err);
    task_close(&task);
    threads_free(threads);
    return status;
}
