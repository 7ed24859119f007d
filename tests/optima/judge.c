#include "tests/optima/judge.h"

#include "tests/optima/bracket.h"
#include "tests/optima/gram.h"
#include "tests/optima/run.h"
#include "tests/optima/verdict.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Costs and products of costs are rounded to double by the programs, one or two times: the problem
 * itself is known no better than that. */
static const real TINY = 8 * DBL_EPSILON;

/* Kernels that float does not hold, or that let scores grow without bound. */
static bool overflows(const struct trial *trial, const struct bracket *bracket) {
    real k[MAX_ROWS * MAX_ROWS], off[MAX_ROWS * MAX_ROWS], most = 0;
    gram_fill(trial, k, off);
    for (size_t i = 0; i < trial->n * trial->n; i++) {
        most = fmaxl(most, fabsl(k[i]));
    }
    return most > 1e30L || !bracket->known;
}

/* Pair features keep two kernel matrices of the rows in the cache, and there is room for
 * neither. */
static bool starved(const struct trial *trial) {
    double bytes = 2 * (double)(trial->n * trial->n) * sizeof(double);
    return trial_is(trial, PAIR_FEATURES, 1) && trial->given[CACHE] &&
           bytes > trial_option(trial, CACHE) * 1048576;
}

static bool rightly_refused(const struct trial *trial, const char *line,
                            const struct bracket *bracket) {
    return (strstr(line, "overflow") && overflows(trial, bracket)) ||
           (strstr(line, "semidefinite") && !kernel_known(trial)) ||
           (strstr(line, "the cache has") && starved(trial));
}

/* How the program ended. True: with a model. */
static bool judge_end(const struct trial *trial, const struct answer *answer,
                      const struct bracket *bracket, bool something, struct judgement *judgement) {
    const char *line = answer->said;
    if (answer->exit == -2) {
        judgement_set(judgement, HUNG, "no end");
    } else if (answer->exit == -1 || strstr(line, "Sanitizer") || strstr(line, "runtime error")) {
        judgement_set(judgement, CRASHED, "%.300s", line);
    } else if (answer->exit == 1 && (!something || rightly_refused(trial, line, bracket))) {
        judgement_set(judgement, REFUSED, "%.300s", line);
    } else if (answer->exit != 0 || !something) {
        judgement_set(judgement, FAILED, "exit %d: %.300s", answer->exit, line);
    }
    return judgement->verdict == GOOD;
}

/* ---- certificates ---- */

/* Of a kernel that may be indefinite: the matrix over the rows with coefficients must be definite,
 * up to what rounding of its entries hides. */
static bool used_definite(const struct trial *trial, const struct answer *answer) {
    real k[MAX_ROWS * MAX_ROWS], off[MAX_ROWS * MAX_ROWS], part[MAX_ROWS * MAX_ROWS], trace = 0;
    size_t used[MAX_ROWS], m = 0;
    gram_fill(trial, k, off);
    for (size_t i = 0; i < trial->n; i++) {
        bool any = false;
        for (size_t c = 0; c < answer->outputs; c++) {
            any |= answer->value[i * answer->outputs + c] != 0;
        }
        if (any) {
            used[m++] = i;
        }
    }
    for (size_t a = 0; a < m; a++) {
        for (size_t b = 0; b < m; b++) {
            part[a * m + b] = k[used[a] * trial->n + used[b]];
        }
        trace = fmaxl(trace, fabsl(part[a * m + a]));
    }
    bool stored = trial_is(trial, KERNEL, PRECOMPUTED);
    return m == 0 || least_eigenvalue(part, m) >=
                         -(real)m * (stored ? (real)FLT_EPSILON : 8 * (real)DBL_EPSILON) * trace;
}

static void judge_certified(const struct trial *trial, const struct answer *answer,
                            const struct bracket *bracket, struct judgement *judgement) {
    if (!answer->certified && kernel_known(trial)) {
        judgement_set(judgement, UNCERTIFIED,
                      "certified no, and the kernel is positive semidefinite");
    } else if (answer->certified && !bracket->known && !used_definite(trial, answer)) {
        judgement_set(judgement, UNCERTIFIED, "certified yes, and the kernel matrix is indefinite");
    }
}

/* The primal of the model's own function, from below. */
static real primal_of_model(const struct trial *trial, const struct answer *answer) {
    size_t count = task_count(trial), k = answer->outputs;
    real sum = 0;
    for (size_t number = 0; number < count; number++) {
        struct task *task = task_create(trial, number);
        real *value = zeros(MAX_FEATURES * MAX_LABELS, sizeof *value);
        const real *bias = answer->bias + (count > 1 ? number : 0);
        size_t rows = answer->weights ? trial->n_features : trial->n;
        for (size_t i = 0; i < rows * k; i++) {
            if (count == 1) {
                value[i] = answer->value[i];
            } else if (i % k == number) {
                value[i / k] = answer->value[i];
            }
        }
        sum += bracket_primal(task, answer->weights ? NULL : value, answer->weights ? value : NULL,
                              bias, -1);
        free(value);
        task_free(task);
    }
    return sum;
}

static void judge_bounds(const struct trial *trial, const struct answer *answer,
                         const struct bracket *bracket, struct judgement *judgement) {
    if (!answer->certified || !bracket->known) {
        return;
    }
    judgement->lower = (double)bracket->lower;
    judgement->upper = (double)bracket->upper;
    if (answer->dual > bracket->upper * (1 + TINY)) {
        judgement_set(judgement, HIGH_DUAL, "dual %.17g, optimum at most %.17Lg", answer->dual,
                      bracket->upper);
    } else if (answer->primal < bracket->lower * (1 - TINY)) {
        judgement_set(judgement, LOW_PRIMAL, "primal %.17g, optimum at least %.17Lg",
                      answer->primal, bracket->lower);
    } else if (answer->primal > bracket->nothing * (1 + 64 * TINY) + bracket->priced) {
        judgement_set(judgement, WORSE, "primal %.17g, %.17Lg of w = 0", answer->primal,
                      bracket->nothing);
    } else if (answer->dual < 0 || answer->dual > answer->primal) {
        judgement_set(judgement, BAD_GAP, "primal %.17g, dual %.17g", answer->primal, answer->dual);
    } else if (answer->complete) {
        real primal = primal_of_model(trial, answer);
        if (answer->primal < primal * (1 - TINY)) {
            judgement_set(judgement, LOW_PRIMAL,
                          "primal %.17g, that of the model's function %.17Lg", answer->primal,
                          primal);
        }
    }
}

/* ---- what is said ---- */

static bool blames_rounding(const char *reason) {
    return strstr(reason, "rounding") || strstr(reason, "precision");
}

static bool gives_up(const char *reason) {
    return strstr(reason, "too little") || strstr(reason, "solver stopped") ||
           strstr(reason, "progress is slow");
}

/* Of a fit that ended early: where a gap of epsilon is left when the errors of double are paid for,
 * neither rounding nor the method is a reason, unless the user has named the method. */
static void judge_reason(const struct trial *trial, const struct bracket *bracket,
                         struct judgement *judgement) {
    const char *reason = judgement->reason;
    bool possible = bracket->known && !trial->given[SOLVER] &&
                    bracket->priced <= trial_option(trial, EPSILON) * bracket->upper;
    if (possible && (blames_rounding(reason) || gives_up(reason))) {
        judgement_set(judgement, blames_rounding(reason) ? UNTRUE : STALLED,
                      "primal %g, dual %g, epsilon %g, gap with rounding paid for %Lg: %s",
                      judgement->primal, judgement->dual, trial_option(trial, EPSILON),
                      bracket->priced / bracket->upper, reason);
    } else if (strstr(reason, "limit of iter") && !trial->given[MAX_ITER]) {
        judgement_set(judgement, UNTRUE, "no limit was given: %s", reason);
    } else if (strstr(reason, "semidefinite") && kernel_known(trial)) {
        judgement_set(judgement, UNTRUE, "the kernel is: %s", reason);
    }
}

static void judge_gap(const struct trial *trial, const struct answer *answer,
                      const struct bracket *bracket, struct judgement *judgement) {
    double epsilon = trial_option(trial, EPSILON), gap = answer->primal - answer->dual;
    bool warning = judge_warning(answer, judgement);
    if (!answer->certified) {
        if (!warning) {
            judgement_set(judgement, UNTOLD, "no certificate, and no warning");
        }
        return;
    }
    if (answer->primal > 1e-9 * (double)bracket->nothing &&
        fabs(answer->gap * answer->primal - gap) > 1e-9 * gap) {
        judgement_set(judgement, BAD_GAP, "gap %g of primal %.17g and dual %.17g", answer->gap,
                      answer->primal, answer->dual);
    } else if (answer->gap > epsilon && !warning) {
        judgement_set(judgement, UNTOLD, "gap %g, epsilon %g, and no warning", answer->gap,
                      epsilon);
    } else if (answer->gap <= epsilon && warning) {
        judgement_set(judgement, UNTRUE, "gap %g, epsilon %g: %s", answer->gap, epsilon,
                      judgement->reason);
    } else if (warning) {
        judge_reason(trial, bracket, judgement);
    }
}

void judge_generate(struct trial *trial, uint64_t seed) {
    trial_generate(trial, seed);
}

void judge(const struct trial *trial, const char *bin, const char *folder,
           struct judgement *judgement) {
    struct answer *answer = zeros(1, sizeof *answer);
    struct bracket bracket;
    *judgement = (struct judgement){.lower = NAN, .upper = NAN};
    bool something = bracket_find(trial, &bracket);
    run_program(trial, bin, folder, answer);
    judgement->primal = answer->primal;
    judgement->dual = answer->dual;
    if (judge_end(trial, answer, &bracket, something, judgement)) {
        judge_report(answer, judgement);
        judge_certified(trial, answer, &bracket, judgement);
        judge_bounds(trial, answer, &bracket, judgement);
        judge_gap(trial, answer, &bracket, judgement);
        if (answer->check != 0) {
            judgement_set(judgement, UNVERIFIED, "svm-check: exit %d, %s", answer->check,
                          answer->verdict);
        }
    }
    free(answer);
}
