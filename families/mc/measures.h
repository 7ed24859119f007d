/* How predictions of classes are measured, by both programs.
 *
 *   accuracy           share of the rows whose label is predicted
 *   balanced-accuracy  mean over the labels that occur of the share of their rows that is right
 *   macro-f1           mean of F1 = 2 right / (rows + predicted) over the labels that occur or are
 *                      predicted
 *   log-loss           mean of -log of the probability of the row's label, which counts as at
 *                      least 1e-15; models with probabilities only
 * Rows without a label are left out. A label that the model does not know is an error wherever it
 * stands. */
#ifndef FAMILIES_MC_MEASURES_H
#define FAMILIES_MC_MEASURES_H

#include "driver/family.h"

extern const struct measures mc_measures;

#endif
