/* Measures of predictions, for both programs. A family has a table of them, a row each; here the
 * rows become the measures that the options want, and their values. */
#ifndef DRIVER_MEASURES_H
#define DRIVER_MEASURES_H

#include "common/base/error.h"
#include "common/base/output.h"
#include "common/data/data.h"
#include "common/model/model.h"
#include "driver/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row of the table: one measure, or one for each number of an option. */
struct measure_row {
    const char *name;   /* the measure's, or what stands before the @ of each; short */
    const char *option; /* whose numbers stand behind @; NULL: none. Rows one behind the other with
                           one option take turns */
    /* What is wrong with a number of the option, as its error says it; NULL: nothing. May be NULL:
     * the option's bounds are enough. */
    const char *(*refuse)(double at);
    bool accuracy; /* printed as LIBSVM prints an accuracy */
    bool lower_is_better;
    bool predictor_only; /* does not average over folds */
    const char *counts;  /* a number of what others are averaged over: which, for people; or NULL */
    int number;          /* the family's, by which its function knows the row */
};

enum { MEASURE_NAME = 32 };

/* A measure that is wanted. */
struct measure {
    const struct measure_row *row;
    double at; /* what stands behind @; 0 where nothing does */
    char name[MEASURE_NAME];
};

/* Rows that were measured, by their labels. */
struct measured_rows {
    size_t labelled; /* have a label, */
    size_t unknown;  /* have one that the model does not know, */
    size_t known;    /* have one that it knows */
};

/* A family's measures. Rows are added block by block, and then all values asked for at once.
 * `state` is the family's own; hooks return 0, or -1 with err set. */
struct measures {
    const struct option_spec *options; /* that both programs get with them */
    size_t n_options;
    const struct measure_row *table; /* the first row is the one that --select has as default */
    size_t n_table;
    const char *left_out; /* said where there is nothing to measure; may be NULL */

    /* model has its header, its body may be missing. */
    int (*create)(void **state, const struct options *options, const struct model *model,
                  struct error *err);
    /* rows[0..n) of data (NULL: all of them) have scores (n, n_scores) row-major. */
    int (*add)(void *state, const struct data *data, const uint32_t *rows, size_t n,
               const double *scores, size_t n_scores, struct error *err);
    /* All rows are there: computes what the values of the n measures wanted have in common. May be
     * NULL. */
    int (*finish)(void *state, const struct measure *wanted, size_t n, struct error *err);
    /* The value, NaN where there is nothing to measure. *weight, 1 before, is what it counts in an
     * average with others: what it is itself an average over. */
    double (*value)(const void *state, const struct measure *measure, double *weight);
    /* Counts the rows added. NULL: the model has no labels of its own. */
    struct measured_rows (*rows)(const void *state);
    void (*free)(void *state);
};

/* The measures that the options want, in the order of the table: without those of the predictor
 * only if the options are a trainer's, and with one more at the end if --select names one of a row
 * with an option that its option does not list. The caller frees *list. */
int measures_list(const struct measures *measures, const struct options *options,
                  struct measure **list, size_t *n, struct error *err);

/* value (n) of the measures in the list, by the rows that were added to the state, and the weight
 * (n, or NULL) of each in an average with others. */
int measures_values(const struct measures *measures, void *state, const struct measure *list,
                    size_t n, double *value, double *weight, struct error *err);

/* The same without weights, for a predictor: all are NaN if rows have labels of which the model
 * knows none. *rows gets the counts, zero where the model has no labels. */
int measures_of_test(const struct measures *measures, void *state, const struct measure *list,
                     size_t n, double *value, struct measured_rows *rows, struct error *err);

/* ---- tables ----
 *
 * Text with tabs between cells and a line a row. An empty cell is a value that there is not. */

/* Writes a name, in which tabs, line ends and backslashes become \t, \n, \r and \\, so that a row
 * stays one, and other control characters \x1b. */
void table_name(struct output *output, const char *name);

/* Writes a tab, and the shortest decimal of value that reads back; nothing if it is not finite. */
void table_number(struct output *output, double value);

/* The header line of a table: the columns `first` (with tabs between), then the n measures of the
 * list. The caller frees it; NULL with err set when memory is short. */
char *table_header(const char *first, const struct measure *list, size_t n, struct error *err);

#endif
