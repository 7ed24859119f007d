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

#include "common/data/labels.h"
#include "driver/family.h"

#include <stddef.h>

extern const struct measures mc_measures;

/* The class with the largest score, the first of equals. */
size_t mc_predict(const double *scores, size_t k);

/* Rows counted by label and by predicted class. Labels of the file that the model does not know are
 * numbered behind its own, in order of arrival. */
struct mc_counts {
    struct labels labels; /* the model's */
    struct names others;  /* labels that are not */
    uint32_t *number;     /* (n_numbers) by number of the file's names */
    size_t n_numbers;
    double *right, *actual; /* (n_labels) */
    double *predicted;      /* (k) */
    size_t room;            /* of right and actual */
    double *cell; /* (room, k) rows of each label predicted as each class; NULL: unwanted */
};

int mc_counts_open(struct mc_counts *counts, const struct model *model, bool cells,
                   struct error *err);
void mc_counts_close(struct mc_counts *counts);

/* Takes in the names of data; counts a row of data with that prediction, if it has a label. */
int mc_counts_names(struct mc_counts *counts, const struct data *data, struct error *err);
void mc_counts_add(struct mc_counts *counts, uint32_t label, size_t predicted);

/* Number of labels, and the name of one. */
size_t mc_counts_labels(const struct mc_counts *counts);
const char *mc_counts_name(const struct mc_counts *counts, size_t label);

#endif
