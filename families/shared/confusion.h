/* Rows counted by their label and by the label predicted for them, for measures and for
 * --confusion. */
#ifndef FAMILIES_SHARED_CONFUSION_H
#define FAMILIES_SHARED_CONFUSION_H

#include "common/data/labels.h"
#include "common/data/names.h"
#include "driver/family.h"

#include <stdint.h>

/* Labels are numbered as the model's (k), and behind these those that the model does not know. */
struct confusion {
    struct labels labels; /* the model's; owned */
    struct names others;  /* unknown ones, in order of arrival; empty where they are lumped */
    bool lumped;          /* unknown labels count as one, `(other)`, which is always there */
    uint32_t *number;     /* (n_numbers) the label of each name of the file */
    size_t n_numbers;
    size_t room;            /* labels that there is room for */
    double *actual, *right; /* (room) rows of each label, and those of them predicted right */
    double *predicted;      /* (k) rows predicted as each of the model's */
    double *cell;           /* (room, k) rows of a label predicted as another; NULL: not wanted */
    size_t n_scores;        /* of a row, see confusion_open */
};

/* The name of a label by its number; the table owns it. */
const char *confusion_name(const struct confusion *confusion, size_t label);

/* The rates by number, as values of measures; NaN where there is nothing to divide by, and of other
 * numbers. *weight is
 * the number of rows with a label. */
enum {
    CONFUSION_ACCURACY, /* the share of rows predicted right */
    CONFUSION_BALANCED, /* mean over the labels that occur of that share */
    CONFUSION_MACRO_F1, /* mean of 2 right / (actual + predicted) over the labels that occur or are
                           predicted */
    CONFUSION_RATES
};
double confusion_rate(const struct confusion *confusion, int number, double *weight);

/* ---- as the state of measures and predictions ----
 *
 * The state of the hooks of struct measures and struct predictor (driver/family.h) is a struct
 * confusion, or begins with one. */

/* Fails where the model has no labels: `pair` as for confusion_open. */
int confusion_check(bool pair, const struct model *model, struct error *err);

/* Opens a state of `size` bytes, zero but for an empty table of the model's labels. `pair`: two
 * labels may share one score, and unknown labels are lumped. confusion_close frees both. */
int confusion_open(void **state, size_t size, bool pair, bool cells, const struct model *model,
                   struct error *err);
void confusion_close(void *state);

/* The number of a row's label by its scores: of the largest, of equal ones the first; of one score
 * for two labels the second where it is above 0. */
size_t confusion_decide(const void *state, const double *scores);

/* Counts rows with their scores: `add` of struct measures. */
int confusion_count(void *state, const struct data *data, const uint32_t *rows, size_t n,
                    const double *scores, size_t n_scores, struct error *err);

/* The rows counted, those of the model's labels, and the others. */
struct measured_rows confusion_rows(const void *state);

/* Ends a line with scores (n), a blank before each. */
void confusion_write_scores(const double *scores, size_t n, struct output *output);

/* Writes the table with its cells: a line for each label, a column for each of the model's, tabs
 * between. The predictor's write_extra, of the one option --confusion. */
int confusion_write(void *state, size_t option, struct output *output, struct error *err);

#endif
