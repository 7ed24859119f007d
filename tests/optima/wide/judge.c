/* The judge of trials whose numbers cover many decades, with reference bounds in 640 bits. A dual
 * bound is false if it is above the primal of some function: the model itself, the solution of the
 * interior-point method in 640 bits, or another fit of the same problem. */
#include "tests/optima/judge.h"

#include "tests/optima/bracket.h"
#include "tests/optima/verdict.h"
#include "tests/optima/wide/generate.h"
#include "tests/optima/wide/proof.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The programs round costs and products of costs to double once or twice, so the problem itself is
 * only known to this relative accuracy. */
static const double TINY = 8 * DBL_EPSILON;

enum { CHECK_UNKNOWN = 3 }; /* svm-check's exit code for CANNOT TELL */

void judge_generate(struct trial *trial, uint64_t seed) {
    wide_generate(trial, seed);
}

/* Whether a refusal is a single line with a reason. */
static bool is_one_line(const char *said) {
    const char *end = strchr(said, '\n');
    return strncmp(said, "svm-", 4) == 0 && end && end[1] == '\0';
}

/* The relative excess of a claim over a limit. */
static double excess(double claim, num limit) {
    return n_double(n_divide(n_subtract(n_of(claim), limit), n_absolute(limit)));
}

static num scaled(num a, double factor) {
    return n_multiply(a, n_of(factor));
}

/* An upper bound of the optimum, from fits with other options. */
static num best_of_others(const struct trial *trial, const char *bin, const char *folder,
                          num upper) {
    static const double epsilons[] = {1e-6, 1e-12, 1e-1};
    struct answer *answer = zeros(1, sizeof *answer);
    for (size_t e = 0; e < sizeof epsilons / sizeof epsilons[0]; e++) {
        struct trial other = *trial;
        other.given[EPSILON] = true;
        other.option[EPSILON] = epsilons[e];
        other.given[SOLVER] = other.given[MAX_ITER] = other.given[STEP] = false;
        run_program(&other, bin, folder, answer);
        if (answer->exit == 0 && bracket_has_model(trial, answer)) {
            upper = n_minimum(upper, bracket_of_model(trial, answer, 1));
        }
    }
    free(answer);
    return upper;
}

static void judge_primal(const struct answer *answer, num of_model, struct judgement *judgement) {
    if (n_compare(n_of(answer->primal), scaled(of_model, 1 - TINY)) < 0) {
        judgement_set(judgement, LOW_PRIMAL,
                      "primal %.17g, that of the model's function %.17g (%.3g of it too low)",
                      answer->primal, n_double(of_model), -excess(answer->primal, of_model));
    }
}

static void judge_dual(const struct trial *trial, const struct answer *answer,
                       struct bracket *optimum, const char *bin, const char *folder,
                       struct judgement *judgement) {
    num dual = n_of(answer->dual);
    bool proven = n_compare(dual, scaled(optimum->lower, 1 + TINY)) <= 0;
    bool refuted = n_compare(dual, scaled(optimum->upper, 1 + TINY)) > 0;
    if (!proven && !refuted && answer->dual > 0) {
        optimum->upper = best_of_others(trial, bin, folder, optimum->upper);
        refuted = n_compare(dual, scaled(optimum->upper, 1 + TINY)) > 0;
    }
    judgement->unproven = !proven && !refuted;
    if (refuted) {
        judgement_set(judgement, HIGH_DUAL, "dual %.17g, optimum at most %.17g (%.3g of it above)",
                      answer->dual, n_double(optimum->upper), excess(answer->dual, optimum->upper));
    }
}

static void judge_bounds(const struct trial *trial, const struct answer *answer, const char *bin,
                         const char *folder, struct judgement *judgement) {
    struct bracket optimum;
    bracket_find(trial, &optimum);
    if (!optimum.known) {
        return;
    }
    if (bracket_has_model(trial, answer)) {
        num high = bracket_of_model(trial, answer, 1);
        optimum.upper = n_minimum(optimum.upper, high);
        judge_primal(answer, bracket_of_model(trial, answer, -1), judgement);
    }
    if (answer->dual > answer->primal * (1 + TINY) || answer->dual < 0) {
        judgement_set(judgement, BAD_GAP, "primal %.17g, dual %.17g, gap %g", answer->primal,
                      answer->dual, answer->gap);
    }
    char proof[600];
    snprintf(proof, sizeof proof, "%s/proof", folder);
    optimum.lower = n_maximum(optimum.lower, proof_bound(trial, proof));
    judge_dual(trial, answer, &optimum, bin, folder, judgement);
    judgement->lower = n_double(optimum.lower);
    judgement->upper = n_double(optimum.upper);
}

void judge(const struct trial *trial, const char *bin, const char *folder,
           struct judgement *judgement) {
    struct answer *answer = zeros(1, sizeof *answer);
    struct task *task = task_create(trial, 0);
    bool something = task;
    task_free(task);
    *judgement = (struct judgement){.lower = NAN, .upper = NAN};
    run_program(trial, bin, folder, answer);
    judgement->primal = answer->primal;
    judgement->dual = answer->dual;
    if (judge_end(answer, is_one_line(answer->said), something, judgement)) {
        judgement->uncertified = !answer->certified;
        judgement->untold = answer->check == CHECK_UNKNOWN;
        if (answer->certified) {
            judge_report(answer, judgement);
            judge_bounds(trial, answer, bin, folder, judgement);
        }
        judge_warning(trial, answer, judgement);
        if (judgement->untold && judgement->verdict == GOOD) {
            snprintf(judgement->text, sizeof judgement->text, "%s", answer->verdict);
        }
        if (answer->check != 0 && answer->check != CHECK_UNKNOWN) {
            judgement_set(judgement, UNVERIFIED, "svm-check: exit %d, %s", answer->check,
                          answer->verdict);
        }
    }
    free(answer);
}
