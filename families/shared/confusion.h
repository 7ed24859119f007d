/* The confusion table: rows counted by true and by predicted label, for measures and for
 * --confusion. */
#ifndef FAMILIES_SHARED_CONFUSION_H
#define FAMILIES_SHARED_CONFUSION_H

#include "common/data/labels.h"
#include "common/data/names.h"
#include "driver/family.h"
#include "families/shared/row_names.h"

#include <stdint.h>

/* Labels are numbered: first the k labels of the model, then labels that the model does not
 * know. */
struct confusion {
    struct labels labels; /* of the model; owned */
    struct names others;  /* unknown labels in order of occurrence; empty if lumped */
    /* all unknown labels count as a single one, `(other)`, which is always there */
    bool lumped;
    uint32_t *number; /* (n_numbers) the label of each name in the file */
    size_t n_numbers;
    size_t room;            /* allocated labels */
    double *actual, *right; /* (room) rows of each label; those of them predicted correctly */
    double *predicted;      /* (k) rows predicted as each label of the model */
    double *cell;           /* (room, k) rows by true and predicted label; NULL: not wanted */
    size_t n_scores;        /* scores of a row, see confusion_open */
};

/* The name of a label; owned by the table. */
const char *confusion_name(const struct confusion *confusion, size_t label);

/* Rates by number, as values of measures; NaN if the denominator is 0, and for other numbers.
 * *weight gets the number of rows with a label. */
enum {
    CONFUSION_ACCURACY, /* share of rows predicted correctly */
    CONFUSION_BALANCED, /* mean of that share over the labels that occur */
    /* mean of 2 right / (actual + predicted) over the labels that occur or are predicted */
    CONFUSION_MACRO_F1,
    CONFUSION_RATES
};
double confusion_rate(const struct confusion *confusion, int number, double *weight);

/* ---- the state of measures and predictions ----
 *
 * The state of the hooks of struct measures and struct predictor (driver/family.h) is a struct
 * confusion, or begins with one. */

/* Fails if the model has no labels; pair: as for confusion_open. */
int confusion_check(bool pair, const struct model *model, struct error *err);

/* Opens a state of `size` bytes, zero except for an empty table of the model's labels. pair: the
 * model may have two labels and one score, and unknown labels are lumped. confusion_close frees
 * both. */
int confusion_open(void **state, size_t size, bool pair, bool cells, const struct model *model,
                   struct error *err);
void confusion_close(void *state);

/* The number of a row's label by its scores: the largest score, the first of equal ones; of one
 * score for two labels the second if it is positive. */
size_t confusion_decide(const void *state, const double *scores);

/* Counts rows by their scores: `add` of struct measures. */
int confusion_count(void *state, const struct data *data, const uint32_t *rows, size_t n,
                    const double *scores, size_t n_scores, struct error *err);

/* Counts the rows with a label, those with a label of the model, and the others: `rows` of struct
 * measures. */
struct measured_rows confusion_rows(const void *state);

/* The state of a predictor, or its begin: the confusion table, and lines of predictions. */
struct confusion_lines {
    struct confusion confusion;
    struct row_names names;
    bool scores; /* a line has scores after the label */
    /* p (n_scores) is written in their place, see struct predictor; NULL: it is not */
    void (*probabilities)(const void *state, const double *scores, double *p);
    double *p;
};

/* Counts rows, if the table has cells, and writes their lines: `add` of struct predictor. */
int confusion_add_lines(void *state, const struct data *rows, const double *scores,
                        struct output *output, struct error *err);

/* Writes the table: a line for each label, a column for each label of the model, tabs between them.
 * The predictor's write_extra for --confusion. */
int confusion_write(void *state, size_t option, struct output *output, struct error *err);

#endif
