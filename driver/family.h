/* What a program tells the drivers about its family of models: one table for the trainer and one
 * for the predictor. All hooks return 0, or -1 with err set. `state` is the hook's own. */
#ifndef DRIVER_FAMILY_H
#define DRIVER_FAMILY_H

#include "common/base/error.h"
#include "common/base/output.h"
#include "common/data/data.h"
#include "common/data/input.h"
#include "common/distributed/cluster.h"
#include "common/kernel/problem.h"
#include "common/model/model.h"
#include "common/model/proof.h"
#include "driver/folds.h"
#include "driver/measures.h"
#include "driver/options.h"
#include "fit/monitor.h"
#include "fit/solution.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- the trainer ---- */

/* Options that only some families have: those in `has` are added to everybody's. */
enum {
    FAMILY_LOSS = 1,        /* -l: hinge (0) and squared hinge (1) */
    FAMILY_PROBABILITY = 2, /* -b */
    FAMILY_WEIGHT = 4,      /* -w, of labels */
    FAMILY_LIBSVM = 8,      /* --libsvm */
    FAMILY_BIAS = 16,       /* -B */
    FAMILY_LIBLINEAR = 32,  /* --liblinear */
    FAMILY_EXPORT = FAMILY_LIBSVM | FAMILY_LIBLINEAR,
    FAMILY_ROW_WEIGHTS = 64,     /* --row-weights */
    FAMILY_KERNEL = 128,         /* -t, -d, -g, -r, -m; without it the kernel is linear */
    FAMILY_QUERY_FEATURES = 512, /* --query-features */
    FAMILY_SPREAD_GRAM =
        256 /* no option: of the kernel matrix solvers ask what a spread one gives, which
                                are products with one vector, and entries (gram_create_spread) */
};

/* How solvers take the kernel matrix. */
enum family_matrix {
    FAMILY_PRODUCTS, /* products with all of it: as much is kept as there is memory for */
    FAMILY_ROWS,   /* a row at a time, seldom all: it is kept whole where it is not large, or not at
                        all */
    FAMILY_VALUES, /* not as a matrix: nothing is kept, the memory is for the solvers */
    FAMILY_COLUMNS /* many columns at a time, seldom all: kept whole only where it is small, or
                        several folds use it */
};

/* What the ranks of a cluster do with a fit to features. */
enum family_share {
    FAMILY_APART, /* each has rows of its own, and works on the fit with the others */
    FAMILY_ALONE, /* rank 0 takes all rows and makes the fit, as one process would */
    FAMILY_STARTS /* each takes all rows, and starts of the fit go to whoever is free */
};

/* What it depends on: the rows of all ranks. */
struct family_size {
    double rows, values;
    double features, labels; /* columns that are held; names that occur */
    double ranks;
    bool room; /* each rank has the memory for all of them */
};

/* Out-of-fold scores, for calibration: rows[0..n) of data, held out by one fold. */
struct held_out {
    const struct data *data;
    uint32_t *rows;
    size_t n;
    double *scores; /* (n, n_scores) row-major */
    size_t n_scores;
    double norm;          /* |f| of the fit that scored them; 0: not known */
    const double *fitted; /* (data->n_rows, n_scores) of the model, in which these rows are; only
                             where calibrate_by_row asks for folds; else NULL */
};

struct family {
    const char *name;    /* "rank" */
    const char *summary; /* one line for --help */
    unsigned has;
    enum data_labels labels;
    bool folds_by_query;       /* else by row, stratified by label */
    enum family_matrix matrix; /* what the solvers ask of the kernel matrix */
    bool scores_labels;        /* a row has a score for each label of the data, else one or few */
    const char *const *formulations; /* names, the default first, ended by NULL */
    const char *const *solvers;      /* likewise: "auto" */
    const char *const
        *uncertified; /* formulations whose fits converge by another measure than their
                                       gap, ended by NULL; NULL: none */
    const char *const *formulation_meanings, *const *solver_meanings; /* for --help, one each */
    const struct option_spec *options; /* its own; one with the name of a common option stands in
                                          its place */
    size_t n_options;
    const struct measures *measures;

    /* True if the option, of level OPTION_SOLVE or dearer or of the family, means something at the
     * point: with its formulation, and beside what else is given. May be NULL: all do. */
    bool (*applies)(struct point point, const char *option);
    /* Refuses combinations of options (ERROR_USAGE), before anything is read. May be NULL. */
    int (*check)(const struct options *options, struct error *err);
    /* True if features are of pairs: the solvers then want a kernel matrix for the linear kernel
     * too, evaluated where it is needed and never stored (FAMILY_VALUES). May be NULL: never. */
    bool (*pair_features)(const struct options *options);

    /* Refuses (ERROR_USAGE) options whose fit is not spread over the ranks of a cluster. May be
     * NULL: all fits to features are, and those to kernels with FAMILY_SPREAD_GRAM. */
    int (*check_spread)(const struct options *options, struct error *err);

    /* How the fit at a point is shared. May be NULL: FAMILY_APART. */
    enum family_share (*share)(struct point point, const struct family_size *size);

    /* Refuses rows of the training file that the options do not fit. Over a cluster the data has
     * this rank's rows, and the names of all; all ranks, which must come to the same. May be
     * NULL. */
    int (*check_data)(const struct options *options, const struct data *data,
                      struct cluster *cluster, struct error *err);
    /* The largest index that a row may have, see input_format; context: the options. May be
     * NULL. */
    void (*limit)(const void *options, const char *comment, struct input_limit *limit);
    /* Refuses data of the wrong shape, or sets *width to the number of features that rows have at
     * least, also where the file has fewer; over a cluster by what is known of all rows. May be
     * NULL: what the file has. */
    int (*width)(const struct options *options, const struct data *data, uint32_t *width,
                 struct error *err);

    /* A problem made ready, solved at points that differ in options of level OPTION_SOLVE only,
     * each time from the last solution, and closed. */
    int (*open)(void **state, const struct problem *problem, struct point point, struct error *err);
    int (*solve)(void *state, struct point point, const struct monitor *monitor,
                 struct solution *solution, struct error *err);
    void (*close)(void *state);

    /* Fits what turns the scores of the last solution into labels, for the header to tell: called
     * once where a model or predictions are wanted. Where the monitor says that it is late they are
     * those at hand, 0 if there are none, and *late becomes true. May be NULL: nothing does. */
    int (*fit_threshold)(void *state, struct point point, const struct monitor *monitor, bool *late,
                         struct error *err);
    /* Adds the family's own lines to the model. May be NULL. */
    int (*header)(const void *state, struct point point, struct model *model, struct error *err);
    /* Writes the family's own `name = value` lines of the report. May be NULL. */
    void (*report)(const void *state, struct point point, struct output *output);
    /* Writes the file that an option of the family names: the option, and what writes. NULL: there
     * is none. */
    const char *extra_option;
    void (*write_extra)(const void *state, struct output *output);
    /* Writes the proof of the last solution, which is certified (--proof, doc/formats): lines on
     * what the model does not say of the problem, but for weights of rows and a constant feature,
     * and the dual point, by row of the problem. */
    void (*prove)(const void *state, struct point point, struct proof_writer *proof);
    /* Adds to the model what -b 1, or options of the family for which `calibrates` is true, ask
     * for, from the out-of-fold scores of n_folds folds. calibrates may be NULL: none do.
     * calibrate_by_row: where it is true the folds hold out rows of queries, equal rows together,
     * else whole queries. */
    bool (*calibrates)(const struct options *options);
    bool calibrate_by_row;
    int (*calibrate)(const struct held_out *folds, size_t n_folds, struct point point,
                     struct model *model, struct error *err);
};

/* ---- the predictor ---- */

/* The most files that a predictor's options name. */
enum { PREDICTOR_EXTRAS = 3 };

struct predictor {
    const char *name; /* of the family */
    const char *summary;
    enum data_labels labels;
    const struct option_spec *options; /* its own */
    size_t n_options;
    const struct measures *measures;
    const char *const *model_keys; /* of the family's own lines, ended by NULL */
    bool imports; /* also reads LIBLINEAR's models of classes, see model_read_classes */

    /* Whether add wants the comments of the rows (data's remarks). May be NULL: never. */
    bool (*wants_remarks)(const struct options *options);

    /* Refuses what the model cannot give. May be NULL. */
    int (*check)(const struct options *options, const struct model *model, struct error *err);

    /* The same as `limit` of struct family, by the model. May be NULL. */
    void (*limit)(const void *model, const char *comment, struct input_limit *limit);
    /* Refuses rows, as they were read, that the model does not fit. May be NULL. */
    int (*take_rows)(const struct model *model, const struct data *rows, struct error *err);

    /* Predictions of one file: blocks of rows with their scores (rows, model_n_scores), in the
     * order of the file, are turned into lines of output (NULL: only extra files are wanted). */
    int (*open)(void **state, const struct options *options, const struct model *model,
                struct error *err);
    int (*add)(void *state, const struct data *rows, const double *scores, struct output *output,
               struct error *err);
    /* What a row is decided to be by its scores (model_n_scores): the number of its label in the
     * model's line `labels`; or chosen (labels) true for those that it has. NULL: the family does
     * not decide so. */
    size_t (*decide)(const void *state, const double *scores);
    void (*choose)(void *state, const double *scores, bool *chosen);
    /* p (labels) of a row, where `check` with -b 1 has nothing against the model. NULL: there are
     * none. */
    void (*probabilities)(const void *state, const double *scores, double *p);
    /* The end of the file. May be NULL. */
    int (*finish)(void *state, struct output *output, struct error *err);
    /* Writes the file that an option of the predictor names, after all rows of the test file: the
     * options, ended by NULL, and what writes, by the option's number there. NULL: there is
     * none. */
    const char *const *extra_options;
    /* The option that names a file that is read beside the others. NULL: there is none. */
    const char *input_option;
    int (*write_extra)(void *state, size_t option, struct output *output, struct error *err);
    void (*close)(void *state);
};

#endif
