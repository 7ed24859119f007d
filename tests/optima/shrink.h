/* Reduction of failing trials. */
#ifndef TESTS_OPTIMA_SHRINK_H
#define TESTS_OPTIMA_SHRINK_H

#include "tests/optima/judge.h"

/* Reduces a failing trial row by row, feature by feature, option by option and number by number,
 * while it fails in the same way. */
void shrink(struct trial *trial, const char *bin, const char *folder, struct judgement *judgement);

#endif
