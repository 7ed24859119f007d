/* How predictions of rankings are measured, by both programs: metrics.h behind the drivers'
 * table, by scores or by the margins of a model of pairs. */
#ifndef FAMILIES_RANK_MEASURES_H
#define FAMILIES_RANK_MEASURES_H

#include "driver/family.h"

/* They have options of their own: --min-group, the places of --ndcg, --precision and --err, and
 * what these count: --gain, --empty, --threshold-grade, --max-grade. */
extern const struct measures rank_measures;

#endif
