/* Two classes: which labels are positive (the one given by the user, or else the numbers above 0),
 * rows with their classes, and the decision threshold of a model. */
#ifndef FAMILIES_TOP_FRONTEND_LABELS_H
#define FAMILIES_TOP_FRONTEND_LABELS_H

#include "driver/family.h"

enum { TOP_NEGATIVE, TOP_POSITIVE, TOP_UNKNOWN };

/* Fails if a label has no known class, if no label is the given positive one (option --positive),
 * or without that option if there are several labels, all above 0 or none. */
int top_labels_check(const struct data *data, const char *positive, struct error *err);

/* Sets is_positive (data->names.n) for each label. */
void top_labels_read(const struct data *data, const char *positive, bool *is_positive);

/* The name of a class in predictions: its label if it has only one, otherwise +1 and -1 (numbers),
 * or `rest` for all labels other than the positive one. */
const char *top_labels_name(const struct data *data, const char *positive, bool of_positive);

/* ---- rows ---- */

/* Rows of two classes, added block by block. */
struct top_rows {
    const char *positive; /* label of positives; NULL: numbers above 0; borrowed */
    size_t n, room;
    double *score;
    bool *is_positive;
    size_t n_unknown; /* rows that were left out because the class of their label is unknown */
    int *class;       /* (n_classes) of each name of the data */
    size_t n_classes;
};

/* Adds rows (NULL: all n of data) of known class with their scores. All data must be blocks of one
 * file, or one data set: their label names stay the same, and new ones may be added. */
int top_rows_add(struct top_rows *rows, const struct data *data, const uint32_t *row, size_t n,
                 const double *scores, struct error *err);
void top_rows_free(struct top_rows *rows);

/* ---- decisions ---- */

/* The keys of the decision in a model. */
#define TOP_LABELS_KEY "labels" /* of positives, then of negatives, separated by a blank */
#define TOP_THRESHOLD_KEY "threshold"
#define TOP_CALIBRATED_TAU_KEY "calibrated-tau"
#define TOP_CALIBRATED_THRESHOLD_KEY "calibrated-threshold" /* takes precedence over the other */
/* The shares of the out-of-fold negatives and positives above it, each with the ends of its
 * interval; older models have none. */
#define TOP_CALIBRATED_RATE_KEYS                                                                   \
    "calibrated-fpr", "calibrated-fpr-low", "calibrated-fpr-high", "calibrated-tpr",               \
        "calibrated-tpr-low", "calibrated-tpr-high"

struct top_decision {
    double threshold;
    const char *negative, *positive; /* labels, in names */
    char *names;                     /* owned */
};

/* Reads the threshold of a model's decision. */
int top_threshold_read(double *threshold, const struct model *model, struct error *err);

/* Reads a model's decision. Fails if it does not have one score and two labels. The caller calls
 * top_decision_free. */
int top_decision_read(struct top_decision *decision, const struct model *model, struct error *err);
void top_decision_free(struct top_decision *decision);

/* The label of a score: positive if above the threshold. */
const char *top_decide(const struct top_decision *decision, double score);

/* ---- calibration ----
 *
 * A decision threshold that a given share of new negatives exceeds. The threshold of training is
 * computed from rows that the scores were fitted to; new negatives exceed it more often. */

/* Adds to the model, whose line `positive` is read if it has one, the threshold that a share tau of
 * the out-of-fold negatives exceeds, and the rates there. Scores are brought to |f| = norm; 0: they
 * are taken as they are. */
int top_calibrate(const struct held_out *folds, size_t n_folds, double tau, double norm,
                  struct model *model, struct error *err);

#endif
