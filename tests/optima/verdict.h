/* What judges in long double (judge.c) and in higher precision (wide/judge.c) have in common. */
#ifndef TESTS_OPTIMA_VERDICT_H
#define TESTS_OPTIMA_VERDICT_H

#include "tests/optima/judge.h"
#include "tests/optima/run.h"

/* Notes a verdict with its text; the first that is not GOOD stays. */
void judgement_set(struct judgement *judgement, enum verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* How the program ended; refused: rightly so. True: with a model, of a trial that has something to
 * fit. */
bool judge_end(const struct answer *answer, bool refused, bool something,
               struct judgement *judgement);

/* Whether report and model have bounds, and the same. */
void judge_report(const struct answer *answer, struct judgement *judgement);

/* Whether a warning is there where it has to be, and only there; notes its reason. True: a
 * certified fit has one, with which it may end. */
bool judge_warning(const struct trial *trial, const struct answer *answer,
                   struct judgement *judgement);

#endif
