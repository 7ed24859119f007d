/* How predictions of label sets are measured, by both programs: ml_metrics behind the drivers'
 * table. */
#ifndef FAMILIES_ML_MEASURES_H
#define FAMILIES_ML_MEASURES_H

#include "driver/family.h"

extern const struct measures ml_measures;

#endif
