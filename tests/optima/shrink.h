#ifndef TESTS_OPTIMA_SHRINK_H
#define TESTS_OPTIMA_SHRINK_H

#include "tests/optima/judge.h"

/* Makes a trial that fails smaller, row by row, feature by feature, option by option, number by
 * number, as long as it fails in the same way. */
void shrink(struct trial *trial, const char *bin, const char *folder, struct judgement *judgement);

#endif
