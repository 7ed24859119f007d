/* Rows counted by their label and by the label predicted for them, for measures and for
 * --confusion. */
#ifndef FAMILIES_CONFUSION_H
#define FAMILIES_CONFUSION_H

#include "common/base/error.h"
#include "common/base/output.h"
#include "common/data/labels.h"
#include "common/data/names.h"
#include "driver/family.h"

#include <stdbool.h>
#include <stddef.h>
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
};

/* An empty table. Takes the labels, also when it fails. The caller calls confusion_free. */
int confusion_create(struct confusion *confusion, struct labels *labels, bool lumped, bool cells,
                     struct error *err);
void confusion_free(struct confusion *confusion);

/* Takes in the names that the file has had so far: before its rows are added. */
int confusion_names(struct confusion *confusion, const struct names *names, struct error *err);

/* Counts a row with the name of that number, UINT32_MAX for a row without label: not counted. */
void confusion_add(struct confusion *confusion, uint32_t name, size_t predicted);

/* Number of labels, and the name of one. */
size_t confusion_labels(const struct confusion *confusion);
const char *confusion_name(const struct confusion *confusion, size_t label);

struct confusion_rates {
    double rows;
    double accuracy; /* the share of rows predicted right */
    double balanced; /* mean over the labels that occur of that share */
    double macro_f1; /* mean of 2 right / (actual + predicted) over those that occur or are
                        predicted */
};

/* The rates; NaN where there is nothing to divide by. */
struct confusion_rates confusion_rates(const struct confusion *confusion);

/* The rates as values of measures (driver/measures.h) whose state begins with a struct confusion;
 * they are averages over its rows. */
double confusion_accuracy(const void *state, const struct measure *measure, double *weight);
double confusion_balanced(const void *state, const struct measure *measure, double *weight);
double confusion_macro_f1(const void *state, const struct measure *measure, double *weight);

/* The rows counted, those of the model's labels, and the others. */
struct measured_rows confusion_rows(const struct confusion *confusion);

/* Writes the table with its cells: a line for each label, a column for each of the model's, tabs
 * between. */
void confusion_write(const struct confusion *confusion, struct output *output);

#endif
