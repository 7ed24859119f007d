/* The trainer of every family: its options, and a run of it. */
#ifndef DRIVER_TRAIN_H
#define DRIVER_TRAIN_H

#include "driver/family.h"
#include "driver/output_sink.h"
#include "driver/plain_fit.h"
#include "driver/progress.h"

/* The names of the losses of FAMILY_LOSS, NULL at the end. */
extern const char *const loss_names[];

/* Fills *options with the common options and the family's own. */
int train_options(struct options *options, const struct family *family, struct error *err);

struct train_end {
    bool short_of_gap; /* a fit did not reach the gap that was asked for */
    bool running;      /* a solver passed the limit of time and was left to itself: the caller keeps
                          the options and the voice for it, and ends the program by _exit */
};

/* What a caller in the same process has and wants in place of files and a terminal. */
struct train_host {
    const struct data *rows;   /* in place of the training file; borrowed, and left as they are */
    const struct folds *folds; /* in place of what --folds deals; NULL: as the options say */
    bool crossing;             /* cross-validation is wanted, */
    bool fitting;              /* and a model, of all rows; one at least */
    struct output *table;      /* where the table of a cross-validation goes; borrowed */
    const struct listener *listener;
    /* Takes the fit of a model, with its calibration, which it may not keep. */
    int (*fitted)(void *context, const struct plain_fit *fit, struct error *err);
    /* Says what the best point of a cross-validation is, by its number in the table from 0. May be
     * NULL. */
    void (*chosen)(void *context, size_t best);
    void *context;
};

/* Does for a host what the options, which have no operands, say. The voice is told warnings, each
 * in a call. A limit of time holds as far as solvers look at the clock. */
int train_for_host(const struct family *family, const struct options *options,
                   const struct voice *voice, const struct train_host *host, struct error *err);

/* Does what the options, read from a command line, say: fits, cross-validates or sweeps. `program`
 * is its name in what it says; hold may be NULL, see output.h. Of a cluster all ranks run it, and
 * the one that leads writes. *end is filled also when it fails. */
int train_run(const struct family *family, const struct options *options, const char *program,
              const struct voice *voice, const struct output_hold *hold, void (*has_rows)(void),
              struct cluster *cluster, struct train_end *end, struct error *err);

#endif
