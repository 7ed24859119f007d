/* The judge in long double. */
#include "tests/optima/judge.h"

#include "tests/optima/bracket.h"
#include "tests/optima/gram.h"
#include "tests/optima/run.h"
#include "tests/optima/verdict.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The programs round costs and products of costs to double once or twice, so the problem itself is
 * only known to this relative accuracy. */
static const real TINY = 8 * DBL_EPSILON;

/* Whether kernel values exceed the range of float, or scores are unbounded. */
static bool overflows(const struct trial *trial, const struct bracket *bracket) {
    real k[MAX_ROWS * MAX_ROWS], off[MAX_ROWS * MAX_ROWS], most = 0;
    gram_fill(trial, k, off);
    for (size_t i = 0; i < trial->n * trial->n; i++) {
        most = fmaxl(most, fabsl(k[i]));
    }
    return most > 1e30L || !bracket->known;
}

/* Whether the cache is too small for pair features, which store two kernel matrices of the rows. */
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

/* ---- certificates ---- */

/* For kernels that may be indefinite: whether the matrix over the rows with coefficients is
 * positive semidefinite, up to rounding of its entries. */
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
    } else if (bracket_has_model(trial, answer)) {
        real primal = bracket_of_model(trial, answer, -1);
        if (answer->primal < primal * (1 - TINY)) {
            judgement_set(judgement, LOW_PRIMAL,
                          "primal %.17g, that of the model's function %.17Lg", answer->primal,
                          primal);
        }
    }
}

/* ---- stop reasons ---- */

static bool blames_rounding(const char *reason) {
    return strstr(reason, "rounding") || strstr(reason, "precision");
}

static bool gives_up(const char *reason) {
    return strstr(reason, "too slowly") || strstr(reason, "tighter tolerances") ||
           strstr(reason, "progress is slow");
}

/* Judges the reason of a fit that ended early. If a gap of epsilon is possible with the
 * rounding-error bounds of double, neither rounding nor the solver is a valid reason, unless the
 * user chose the solver. */
static void judge_reason(const struct trial *trial, const struct bracket *bracket,
                         struct judgement *judgement) {
    const char *reason = judgement->reason;
    bool possible = bracket->known && !trial->given[SOLVER] &&
                    bracket->priced <= trial_option(trial, EPSILON) * bracket->upper;
    if (possible && (blames_rounding(reason) || gives_up(reason))) {
        judgement_set(judgement, blames_rounding(reason) ? UNTRUE : STALLED,
                      "primal %g, dual %g, epsilon %g, gap with rounding-error bounds %Lg: %s",
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
    double gap = answer->primal - answer->dual;
    if (answer->certified && answer->primal > 1e-9 * (double)bracket->nothing &&
        fabs(answer->gap * answer->primal - gap) > 1e-9 * gap) {
        judgement_set(judgement, BAD_GAP, "gap %g of primal %.17g and dual %.17g", answer->gap,
                      answer->primal, answer->dual);
    }
    if (judge_warning(trial, answer, judgement)) {
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
    bool refused = !something || rightly_refused(trial, answer->said, &bracket);
    if (judge_end(answer, refused, something, judgement)) {
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
