/* From a score to a label: the threshold and the two labels of a model. */
#ifndef FAMILIES_TOP_DECIDE_H
#define FAMILIES_TOP_DECIDE_H

#include "common/base/error.h"
#include "common/model/model.h"

/* The keys of its lines in a model. */
#define TOP_LABELS_KEY "labels" /* of positives, then of negatives, a blank between */
#define TOP_THRESHOLD_KEY "threshold"
#define TOP_CALIBRATED_TAU_KEY "calibrated-tau"
#define TOP_CALIBRATED_THRESHOLD_KEY "calibrated-threshold" /* goes before the other */

struct top_decision {
    double threshold;
    const char *negative, *positive; /* labels, in names */
    char *names;                     /* owned */
};

/* Reads a model's. Fails if it has not one score and two labels. The caller calls
 * top_decision_free. */
int top_decision_read(struct top_decision *decision, const struct model *model, struct error *err);
void top_decision_free(struct top_decision *decision);

/* The label of a score: positive above the threshold. */
const char *top_decide(const struct top_decision *decision, double score);

#endif
