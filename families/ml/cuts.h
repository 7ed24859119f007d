/* Measures of the K highest labels of a row, summed up row by row (doc/mathematics, "ml").
 *
 * With the relevant labels Y of a row, and p_l of families/ml/propensity.h:
 *   precision@K  relevant labels among the K highest, over K
 *   ndcg@K       sum of 1 / log2(1 + place) of those, over what min(K, |Y|) in the first places
 *                give (Jarvelin & Kekalainen 2002)
 *   psp@K        sum of 1 / p_l of those, summed over rows, over the largest sum that K labels of
 *                each row give (Jain, Prabhu & Varma 2016)
 * Means are over all rows; one without labels adds 0. Ties count against the prediction: labels
 * that are not relevant come first, then those of small 1 / p_l. */
#ifndef FAMILIES_ML_CUTS_H
#define FAMILIES_ML_CUTS_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum ml_cut_kind { ML_PRECISION, ML_NDCG, ML_PSP };

struct ml_cut {
    enum ml_cut_kind kind;
    uint32_t at; /* K >= 1 */
    double sum;  /* over rows, */
    double most; /* and the most that it could be */
};

/* A relevant label: where it stands, the first is 1, and 1 / p_l (0 where that is not known). */
struct ml_place {
    uint32_t place;
    double weight;
};

/* Puts places first..n into the order of ties: their weights ascend, places stay. */
void ml_cuts_tie(struct ml_place *list, uint32_t first, uint32_t n);

/* Adds a row to the cuts: its n relevant labels (list, by place; they are put out of order), and
 * n_unknown more that the model does not have, of unknown_weight each, no less than any other. */
void ml_cuts_add(struct ml_cut *cut, size_t n_cuts, struct ml_place *list, uint32_t n,
                 uint32_t n_unknown, double unknown_weight);

#endif
