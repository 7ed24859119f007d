#include "tests/optima/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *const verdict_name[VERDICTS] = {
    [GOOD] = "good",
    [REFUSED] = "refused",
    [CRASHED] = "crashed",
    [HUNG] = "hung",
    [FAILED] = "failed",
    [MUTE] = "mute",
    [HIGH_DUAL] = "dual too high",
    [LOW_PRIMAL] = "primal too low",
    [WORSE] = "worse than nothing",
    [BAD_GAP] = "wrong gap",
    [UNTOLD] = "untold",
    [UNTRUE] = "untrue",
    [STALLED] = "stalled",
    [UNCERTIFIED] = "wrongly certified",
    [UNVERIFIED] = "not verified",
};

void judgement_set(struct judgement *judgement, enum verdict verdict, const char *format, ...) {
    if (judgement->verdict == GOOD) {
        va_list list;
        va_start(list, format);
        vsnprintf(judgement->text, sizeof judgement->text, format, list);
        va_end(list);
        judgement->verdict = verdict;
    }
}

static double reported(const struct answer *answer, const char *key) {
    const char *line = strstr(answer->report, key);
    return line ? strtod(line + strlen(key), NULL) : NAN;
}

void judge_report(const struct answer *answer, struct judgement *judgement) {
    double primal = reported(answer, "primal = ");
    if (!answer->model || !isfinite(answer->primal) || !isfinite(answer->dual)) {
        judgement_set(judgement, MUTE, "no bounds: %.300s", answer->report);
    } else if (primal != answer->primal) {
        judgement_set(judgement, MUTE, "primal %.17g in the report, %.17g in the model", primal,
                      answer->primal);
    } else if (answer->certified != !isnan(answer->gap)) {
        judgement_set(judgement, UNCERTIFIED, "certified, or not, and gap %g", answer->gap);
    }
}

bool judge_end(const struct answer *answer, bool refused, bool something,
               struct judgement *judgement) {
    const char *line = answer->said;
    if (answer->exit == -2) {
        judgement_set(judgement, HUNG, "no end");
    } else if (answer->exit == -1 || strstr(line, "Sanitizer") || strstr(line, "runtime error")) {
        judgement_set(judgement, CRASHED, "%.300s", line);
    } else if (answer->exit == 1 && refused) {
        judgement_set(judgement, REFUSED, "%.300s", line);
    } else if (answer->exit != 0 || !something) {
        judgement_set(judgement, FAILED, "exit %d: %.300s", answer->exit, line);
    }
    return judgement->verdict == GOOD;
}

bool judge_warning(const struct trial *trial, const struct answer *answer,
                   struct judgement *judgement) {
    static const char words[] = "not converged: ";
    double epsilon = trial_option(trial, EPSILON);
    const char *warning = strstr(answer->said, words);
    if (warning) {
        warning += strlen(words);
        snprintf(judgement->reason, sizeof judgement->reason, "%.*s", (int)strcspn(warning, ":\n"),
                 warning);
    }
    if (!answer->certified && !warning) {
        judgement_set(judgement, UNTOLD, "no certificate, and no warning");
    } else if (answer->certified && answer->gap > epsilon && !warning) {
        judgement_set(judgement, UNTOLD, "gap %g, epsilon %g, and no warning", answer->gap,
                      epsilon);
    } else if (answer->certified && answer->gap <= epsilon && warning) {
        judgement_set(judgement, UNTRUE, "gap %g, epsilon %g: %s", answer->gap, epsilon,
                      judgement->reason);
    }
    return warning && answer->certified && judgement->verdict == GOOD;
}
