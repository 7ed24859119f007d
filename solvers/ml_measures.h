/* How predictions of label sets are measured, by both programs: ml_metrics behind the drivers'
 * table. */
#ifndef SOLVERS_ML_MEASURES_H
#define SOLVERS_ML_MEASURES_H

#include "common/family.h"

extern const struct measures ml_measures;

#endif
