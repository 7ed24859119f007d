/* The trainer of every family: its options and its run. */
#ifndef DRIVER_TRAIN_H
#define DRIVER_TRAIN_H

#include "driver/family.h"
#include "driver/output_sink.h"
#include "driver/plain_fit.h"
#include "driver/progress.h"

/* The names of the losses of FAMILY_LOSS, ended by NULL. */
extern const char *const loss_names[];

/* Fills *options with the common options and the family's own. */
int train_options(struct options *options, const struct family *family, struct error *err);

struct train_end {
    bool unconverged; /* a fit did not reach its target gap */
    /* a solver exceeded the time limit and was abandoned: the caller keeps the options and the
     * output sink for it, and ends the process by _exit */
    bool abandoned;
};

/* What an application that calls the library supplies in place of files and a terminal. */
struct application {
    const struct data *rows;   /* in place of the training file; borrowed, not modified */
    const struct folds *folds; /* in place of -v and --fold-file; NULL: as these options say */
    bool cross_validating;     /* cross-validate */
    bool fitting;              /* fit a model to all rows; at least one of the two is true */
    struct output *table;      /* receives the table of a cross-validation; borrowed */
    const struct listener *listener; /* NULL: none */
    /* Receives the fitted model, with its calibration; must not keep pointers to it. */
    int (*fitted)(void *context, const struct plain_fit *fit, struct error *err);
    /* Receives the number of the best point of a cross-validation in the table, from 0. May be
     * NULL. */
    void (*chosen)(void *context, size_t best);
    void *context;
};

/* Trains for an application by options without operands. The sink receives each warning in a call
 * of its own. The time limit holds as far as solvers check the clock. */
int train_for_application(const struct family *family, const struct options *options,
                          const struct output_sink *sink, const struct application *application,
                          struct error *err);

/* Runs the trainer by the options of a command line: a fit, cross-validation or a sweep. `program`
 * is its name in messages; hold may be NULL, see output.h; has_rows is called when the rows have
 * been read, or NULL. Called by all processes of a cluster; process 0 writes. *end is filled on
 * failure too. */
int train_run(const struct family *family, const struct options *options, const char *program,
              const struct output_sink *sink, const struct output_hold *hold,
              void (*has_rows)(void), struct cluster *cluster, struct train_end *end,
              struct error *err);

#endif
