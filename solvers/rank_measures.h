/* How predictions of rankings are measured, by both programs: common/metrics behind the drivers'
 * table, by scores or by the margins of a model of pairs. */
#ifndef SOLVERS_RANK_MEASURES_H
#define SOLVERS_RANK_MEASURES_H

#include "common/family.h"

/* They have options of their own: --min-group and --ndcg. */
extern const struct measures rank_measures;

#endif
