/* How predictions of support matrix machines are measured, by both programs.
 *
 *   accuracy           share of the rows whose label is predicted
 *   balanced-accuracy  mean over the labels that occur of the share of their rows that is right
 *   true-positives, false-negatives, false-positives, true-negatives
 *                      numbers of rows; with two labels only, of which the last in the model's
 *                      order is positive. Measures of the predictor, not of cross-validation
 * Rows without a label are left out. Labels that the model does not know are never right, and count
 * as one label. */
#ifndef FAMILIES_SMM_MEASURES_H
#define FAMILIES_SMM_MEASURES_H

#include "driver/family.h"

extern const struct measures smm_measures;

#endif
