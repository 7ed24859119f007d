/* The checks that the judges in long double (judge.c) and in 640 bits (wide/judge.c) share. */
#ifndef TESTS_OPTIMA_VERDICT_H
#define TESTS_OPTIMA_VERDICT_H

#include "tests/optima/judge.h"
#include "tests/optima/run.h"

/* Records a verdict with its text, unless another than GOOD is recorded already. */
void judgement_set(struct judgement *judgement, enum verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Judges the exit of the program. refused: a refusal is right; something: there is something to
 * fit. True if there is a model to judge. */
bool judge_end(const struct answer *answer, bool refused, bool something,
               struct judgement *judgement);

/* Judges whether report and model have the same bounds. */
void judge_report(const struct answer *answer, struct judgement *judgement);

/* Judges whether there is a warning exactly if there should be; records its reason. True if a
 * certified fit has an acceptable warning. */
bool judge_warning(const struct trial *trial, const struct answer *answer,
                   struct judgement *judgement);

#endif
