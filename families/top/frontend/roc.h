/* Measures of two classes by scores: the ROC curve and its part at low false positive rates.
 *
 * Rows with equal scores are one step of the curve; if a measure depends on their order, it is the
 * expectation over all orders. A measure that is not defined for the rows is NaN. */
#ifndef FAMILIES_TOP_FRONTEND_ROC_H
#define FAMILIES_TOP_FRONTEND_ROC_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A step: the rows whose score is `score`. */
struct roc_step {
    double score;
    size_t positives, negatives;             /* at this score */
    size_t positives_above, negatives_above; /* at higher scores */
};

struct roc {
    struct roc_step *step; /* (n_steps), highest score first; owned */
    size_t n_steps;
    size_t n_positive, n_negative;
};

/* The curve of n rows. A score that is not finite is an error. The caller calls roc_free. */
int roc_create(struct roc *roc, const double *score, const bool *positive, size_t n,
               struct error *err);
void roc_free(struct roc *roc);

/* Share of the positives strictly above the mean of the k largest negatives. */
double roc_tpr_at_count(const struct roc *roc, size_t k);

/* Share of the positives strictly above the (floor(tau n-) + 1)-th largest negative: with that
 * threshold no more than tau of the negatives are above it. tau < 1. */
double roc_tpr_at_rate(const struct roc *roc, double tau);

/* The same threshold. */
double roc_threshold(const struct roc *roc, double tau);

/* Counts the positives and the negatives strictly above t. */
void roc_above(const struct roc *roc, double t, size_t *positives, size_t *negatives);

/* The area up to a false positive rate, 0 < fpr <= 1, divided by fpr; for 1 the area under the
 * curve: pairs in the right order, equal scores counting half; and McClish's (1989) correction of
 * it, (1 + (area - fpr^2/2) / (fpr - fpr^2/2)) / 2: 1/2 for the diagonal, 1 for the perfect
 * curve. */
double roc_partial_auc(const struct roc *roc, double fpr);
double roc_mcclish(const struct roc *roc, double fpr);

/* Share of positives among the k highest rows. */
double roc_precision(const struct roc *roc, size_t k);

/* Share of the positives above all negatives. */
double roc_positives_at_top(const struct roc *roc);

/* Mean over the positives of the precision at their positions (average precision). */
double roc_average_precision(const struct roc *roc);

/* A share with its exact confidence interval at 95% (Clopper and Pearson 1934). */
struct share {
    double value;
    double low;  /* at this probability, at least as many successes have probability .025 */
    double high; /* at this one, at most as many */
};

/* `right` successes in n trials; all NaN if n is 0. */
struct share share_exact(double right, double n);

#endif
