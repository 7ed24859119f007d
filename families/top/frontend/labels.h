/* Two classes: which labels are positive, the one that the user names, or else the numbers above 0;
 * rows of both, and how a model tells them apart. */
#ifndef FAMILIES_TOP_FRONTEND_LABELS_H
#define FAMILIES_TOP_FRONTEND_LABELS_H

#include "driver/family.h"

enum { TOP_NEGATIVE, TOP_POSITIVE, TOP_UNKNOWN };

/* Fails if a label of the data is of unknown class, or none is the positive one that is named (the
 * option --positive). */
int top_labels_check(const struct data *data, const char *positive, struct error *err);

/* is_positive (data->names.n) of each label. */
void top_labels_read(const struct data *data, const char *positive, bool *is_positive);

/* The name of each class as predictions write it: that of its one label, or of several +1 and -1
 * (numbers), or `rest` for all those that are not the positive one. */
const char *top_labels_name(const struct data *data, const char *positive, bool of_positive);

/* ---- rows ---- */

/* Rows of two classes, gathered block by block. */
struct top_rows {
    const char *positive; /* label of positives; NULL: numbers above 0; borrowed */
    size_t n, room;
    double *score;
    bool *is_positive;
    size_t n_unknown; /* rows that were left out: of labels of unknown class */
    int *class;       /* (n_classes) of each name of the data */
    size_t n_classes;
};

/* Adds rows (NULL: all n of data) of known class with their scores. The data are blocks of one
 * file, or one set of data: their names stay, and more may come. */
int top_rows_add(struct top_rows *rows, const struct data *data, const uint32_t *row, size_t n,
                 const double *scores, struct error *err);
void top_rows_free(struct top_rows *rows);

/* ---- decisions ---- */

/* The keys of what decides in a model. */
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

/* ---- calibration ----
 *
 * A threshold of predictions that lets a given part of new negatives pass: that of training is the
 * threshold of the rows that the scores were fitted to, which new ones exceed more often. */

/* Adds to the model, which has the line `positive` if it has one, the threshold that a part tau of
 * the out-of-fold negatives exceeds. */
int top_calibrate(const struct held_out *folds, size_t n_folds, double tau, struct model *model,
                  struct error *err);

#endif
