/* Measures of predictions, for trainers and predictors. Each family has a table with one row for
 * each measure, or for each measure at several parameters; this module lists the measures that the
 * options ask for, and evaluates them. */
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

/* A table row: one measure, or one NAME@NUMBER for each number of an option. */
struct measure_row {
    const char *name; /* the measure's name, or the part before @; short */
    /* the option with the numbers after @; NULL: none. Consecutive rows with the same option
     * alternate in the list */
    const char *option;
    /* Returns what is wrong with a number of the option, as the error message continues, or NULL.
     * May be NULL: the option's bounds suffice. */
    const char *(*refuse)(double at);
    bool accuracy; /* printed in LIBSVM's format of an accuracy */
    bool lower_is_better;
    double chance; /* the value if all rows have equal scores; of an `accuracy` of names not used */
    bool predictor_only; /* not averaged over folds */
    bool trainer_only;   /* of the models of folds, not of predictions */
    /* this row is a count over which other measures average; a description of what is counted,
     * or NULL */
    const char *counts;
    int number; /* the family's number of the measure */
};

enum { MEASURE_NAME = 32 };

/* A measure that the options ask for. */
struct measure {
    const struct measure_row *row;
    double at; /* the number after @; 0 if there is none */
    char name[MEASURE_NAME];
};

/* Counts of measured rows by their labels. */
struct measured_rows {
    size_t labelled; /* with a label */
    size_t unknown;  /* with a label that the model does not know */
    size_t known;    /* with a label that the model knows */
    /* a static sentence on the rows that the user may not expect, once all values are evaluated;
     * NULL: none */
    const char *note;
};

/* The measures of a family. Rows are added block by block; then all values are evaluated at once.
 * `state` is the family's own; hooks return 0, or -1 with err set. */
struct measures {
    const struct option_spec *options; /* options of the measures, added to both programs */
    size_t n_options;
    const struct measure_row *table; /* the first row is the default of --select */
    size_t n_table;
    /* which rows are left out, for the error that there is nothing to measure; may be NULL */
    const char *left_out;

    /* Returns whether the measure can have a value: in prediction with this model; in training
     * (model NULL) with these options on held-out rows of `data` (NULL: any rows). May be NULL:
     * every measure can. */
    bool (*defined)(const struct measure *measure, const struct options *options,
                    const struct model *model, const struct data *data);

    /* model has its header; its body may be missing. */
    int (*create)(void **state, const struct options *options, const struct model *model,
                  struct error *err);
    /* Adds rows[0..n) of data (NULL: all rows) with scores (n, n_scores) row-major. */
    int (*add)(void *state, const struct data *data, const uint32_t *rows, size_t n,
               const double *scores, size_t n_scores, struct error *err);
    /* Called once after all rows: computes what the values of the n wanted measures share. May be
     * NULL. */
    int (*finish)(void *state, const struct measure *wanted, size_t n, struct error *err);
    /* Returns the value, NaN if it is undefined. *weight, initially 1, gets its weight in an
     * average over folds: the number of items over which it is itself an average. */
    double (*value)(const void *state, const struct measure *measure, double *weight);
    /* Counts the rows added. NULL: the model has no labels of its own. */
    struct measured_rows (*rows)(const void *state);
    void (*free)(void *state);
};

/* Lists the measures that the options ask for, in the order of the table. For a trainer, measures
 * of the predictor only are left out, and a measure NAME@NUMBER of --select that its option does
 * not list is added at the end. The caller frees *list. */
int measures_list(const struct measures *measures, const struct options *options,
                  struct measure **list, size_t *n, struct error *err);

/* Removes the measures that cannot have a value, see `defined`, from the list, except number *kept,
 * whose new number is set. kept may be NULL. */
void measures_restrict(const struct measures *measures, const struct options *options,
                       const struct model *model, const struct data *data, struct measure *list,
                       size_t *n, size_t *kept);

/* Evaluates the measures of the list on the rows added to the state: value (n), and weight (n, or
 * NULL) in an average over folds. */
int measures_values(const struct measures *measures, void *state, const struct measure *list,
                    size_t n, double *value, double *weight, struct error *err);

/* Evaluates them for a predictor. All values are NaN if rows have labels but the model knows none
 * of them. *rows gets the counts, zero if the model has no labels. */
int measures_of_test(const struct measures *measures, void *state, const struct measure *list,
                     size_t n, double *value, struct measured_rows *rows, struct error *err);

/* ---- tables ----
 *
 * Text with one line per row and tabs between cells. An undefined value is an empty cell. */

/* Writes a name so that it stays one cell: tab, line feed, carriage return and backslash become \t,
 * \n, \r and \\, other control characters \x1b. */
void table_name(struct output *output, const char *name);

/* Writes a tab, and the shortest decimal that reads back as value; only the tab if value is not
 * finite. */
void table_number(struct output *output, double value);

/* The header line of a table: the columns `first` (with tabs between them), then the n measures of
 * the list. The caller frees it; NULL with err set if out of memory. */
char *table_header(const char *first, const struct measure *list, size_t n, struct error *err);

#endif
