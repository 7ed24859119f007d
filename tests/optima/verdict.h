/* What judges in long double (judge.c) and in higher precision (wide/judge.c) have in common. */
#ifndef TESTS_OPTIMA_VERDICT_H
#define TESTS_OPTIMA_VERDICT_H

#include "tests/optima/judge.h"
#include "tests/optima/run.h"

/* Notes a verdict with its text; the first that is not GOOD stays. */
void judgement_set(struct judgement *judgement, enum verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether report and model have bounds, and the same. */
void judge_report(const struct answer *answer, struct judgement *judgement);

/* Takes the reason of a warning that the fit did not converge; false: there was none. */
bool judge_warning(const struct answer *answer, struct judgement *judgement);

#endif
