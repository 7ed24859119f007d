/* Measures of multi-label predictions, summed up row by row (doc/mathematics, "ml").
 *
 * With scores s, the relevant labels Y and the predicted ones Z of a row:
 *   ranking-loss       pairs p in Y, r not in Y with s_p <= s_r, over |Y| (q - |Y|)
 *   one-error          1 if a label of the largest score is not relevant
 *   coverage           labels with at least the score of the worst relevant one, less 1
 *   average-precision  mean over p in Y of the share of relevant labels among those with s_k >= s_p
 *   hamming-loss       labels in one of Y and Z only, over q
 *   subset-accuracy    1 if Y = Z
 *   example-f1         2 |Y and Z| / (|Y| + |Z|)
 *   micro-f1, macro-f1 2 tp / (2 tp + fp + fn) of all labels together, and its mean over labels
 * Ties count against the prediction. The first four are means over the rows that have labels
 * (ranking loss: that have some and lack some), the others over all rows. 0/0 is 0. Relevant labels
 * that the model does not have are in no ranking. For the other measures they count as labels that
 * are never predicted, and q includes them. */

/* Measures of the K highest labels of a row, summed up row by row (doc/mathematics, "ml").
 *
 * With the relevant labels Y of a row, and p_l of families/ml/frontend/propensity.h:
 *   precision@K  relevant labels among the K highest, over K
 *   ndcg@K       sum of 1 / log2(1 + place) of those, over what min(K, |Y|) in the first places
 *                give (Jarvelin & Kekalainen 2002)
 *   psp@K        sum of 1 / p_l of those, summed over rows, over the largest sum that K labels of
 *                each row give (Jain, Prabhu & Varma 2016)
 * Means are over all rows; one without labels adds 0. Ties count against the prediction: labels
 * that are not relevant come first, then those of small 1 / p_l. */
#ifndef FAMILIES_ML_FRONTEND_METRICS_H
#define FAMILIES_ML_FRONTEND_METRICS_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the K highest labels of a row ---- */

enum ml_cut_kind { ML_PRECISION, ML_NDCG, ML_PSP };

struct ml_cut {
    enum ml_cut_kind kind;
    uint32_t at;       /* K >= 1 */
    double sum;        /* sum over rows */
    double attainable; /* largest attainable sum */
};

/* Place of a relevant label, counted from 1, and its 1 / p_l (0 if unknown). */
struct ml_place {
    uint32_t place;
    double weight;
};

/* ---- all labels ---- */

enum ml_metric {
    ML_HAMMING_LOSS,
    ML_RANKING_LOSS,
    ML_ONE_ERROR,
    ML_COVERAGE,
    ML_AVERAGE_PRECISION,
    ML_SUBSET_ACCURACY,
    ML_MICRO_F1,
    ML_MACRO_F1,
    ML_EXAMPLE_F1,
    ML_METRICS
};

struct ml_sort;

struct ml_metrics {
    uint32_t q;
    double sum[ML_METRICS];       /* hamming-loss: wrong labels; micro-f1 and macro-f1: unused */
    double n_rows;                /* all rows */
    double n_labelled;            /* with a label, in the model or not */
    double n_ranked;              /* with a label of the model */
    double n_divided;             /* with some labels of the model, and without others */
    double unknown;               /* relevant labels that the model does not have */
    double *tp, *fp, *fn;         /* (q) */
    struct ml_sort *list, *merge; /* (q) */
    struct ml_place *place;       /* (q) of the relevant labels of one row */
    void *block;                  /* these arrays */
    struct ml_cut *cut;           /* (n_cuts), borrowed; kind ML_PSP needs `inverse` */
    size_t n_cuts;
    const double *inverse; /* (q + 1) see ml_propensity_read, borrowed; NULL: unknown */
};

/* Prepares for rows of q labels, with no row and no cuts yet; the caller may then set the cuts.
 * Fails if memory runs out. The caller calls ml_metrics_free. */
int ml_metrics_create(struct ml_metrics *metrics, uint32_t q, struct error *err);
void ml_metrics_free(struct ml_metrics *metrics);

/* Adds a row: its scores, relevant and predicted labels (q), and the number of relevant labels that
 * the model does not have. */
void ml_metrics_add(struct ml_metrics *metrics, const double *s, const bool *relevant,
                    const bool *predicted, uint32_t n_unknown);

/* value and weight (ML_METRICS); NaN without any row to measure. n_unknown: number of different
 * labels that the model does not have. If no row has a label, nothing is measured. */
void ml_metrics_values(const struct ml_metrics *metrics, size_t n_unknown, double *value,
                       double *weight);

#endif
