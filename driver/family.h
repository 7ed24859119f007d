/* The interface between the programs and a family of models: one table of hooks for the trainer and
 * one for the predictor. Every hook that returns an int returns 0, or -1 with err set. `state` is
 * the hook's own. */
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

struct progress; /* driver/progress.h */

/* ---- the trainer ---- */

/* Options that only some families have. The common options whose flag is in `has` are added to the
 * family's own. */
enum {
    FAMILY_LOSS = 1,        /* -l: hinge (0) and squared hinge (1) */
    FAMILY_PROBABILITY = 2, /* -b */
    FAMILY_WEIGHT = 4,      /* -w, weights of labels */
    FAMILY_LIBSVM = 8,      /* --libsvm */
    FAMILY_BIAS = 16,       /* -B */
    FAMILY_LIBLINEAR = 32,  /* --liblinear */
    FAMILY_EXPORT = FAMILY_LIBSVM | FAMILY_LIBLINEAR,
    FAMILY_ROW_WEIGHTS = 64,     /* --row-weights */
    FAMILY_KERNEL = 128,         /* -t, -d, -g, -r, -m; without it the kernel is linear */
    FAMILY_QUERY_FEATURES = 512, /* --query-features, --scale by query */
    FAMILY_MAX_SV = 1024,        /* --max-sv; the family has `replace` */
    /* no option: the solvers use the kernel matrix only through products with one vector and single
     * entries, which is what a distributed matrix offers (gram_create_distributed) */
    FAMILY_DISTRIBUTED_GRAM = 256,
    /* no option: a kernel matrix that does not fit into the cache is replaced by landmarks
     * (common/kernel/landmarks.h), and memory is left to these */
    FAMILY_LANDMARKS = 2048
};

/* How the solvers of a family access the kernel matrix. */
enum family_matrix {
    /* products with the whole matrix: as much of it is cached as the memory allows */
    FAMILY_PRODUCTS,
    /* one row at a time, seldom all rows: the matrix is stored whole if it is small, otherwise
     * not at all */
    FAMILY_ROWS,
    FAMILY_VALUES, /* not as a matrix: nothing is cached, the memory is for the solvers */
    /* many columns at a time, seldom all: the matrix is stored whole only if it is small or if
     * several folds use it */
    FAMILY_COLUMNS
};

/* How the processes of a cluster share a fit to features. */
enum family_distribution {
    FAMILY_DISTRIBUTED_ROWS, /* each process has its own rows, and all work on one fit */
    FAMILY_SINGLE_PROCESS,   /* process 0 gathers all rows and makes the fit alone */
    /* each process gathers all rows, and each restart of the fit is a task for the next free
     * process */
    FAMILY_DISTRIBUTED_STARTS
};

/* What that choice depends on. The numbers are totals over all processes. */
struct family_size {
    double rows, values;
    double features, labels; /* columns that are stored; distinct label names */
    double ranks;
    bool room; /* each process has the memory for all rows */
};

/* Out-of-fold scores, for calibration: rows[0..n) of data, which one fold holds out. */
struct held_out {
    const struct data *data;
    uint32_t *rows;
    size_t n;
    double *scores; /* (n, n_scores) row-major */
    size_t n_scores;
    double norm; /* |f| of the fit that scored them; 0: unknown */
    /* (data->n_rows, n_scores) scores by the model that was trained on these rows too; only if
     * calibrate_by_row asks for folds, else NULL */
    const double *fitted;
};

struct family {
    const char *name;    /* for example "rank" */
    const char *summary; /* one line for --help */
    unsigned has;
    enum data_labels labels;
    /* folds hold out whole queries; otherwise rows, stratified by label */
    bool folds_by_query;
    enum family_matrix matrix; /* how the solvers access the kernel matrix */
    /* a row has one score for each label of the data, otherwise one or a few */
    bool scores_labels;
    const char *const *formulations; /* names, the default first, ended by NULL */
    const char *const *solvers;      /* names, "auto" first, ended by NULL */
    const char *const
        /* formulations whose convergence is not measured by the gap, ended by NULL; NULL: none */
        *uncertified;
    /* for --help, one for each name */
    const char *const *formulation_meanings, *const *solver_meanings;
    /* the family's own; a row with the name of a common option replaces that option */
    const struct option_spec *options;
    size_t n_options;
    const struct measures *measures;

    /* Returns whether the option has an effect at the point, with its formulation and the other
     * options. The option is one of the family's own or has level OPTION_SOLVE or above. May be
     * NULL: every option has an effect. */
    bool (*applies)(struct point point, const char *option);
    /* Refuses inconsistent options (ERROR_USAGE) before any file is read. May be NULL. */
    int (*check)(const struct options *options, struct error *err);
    /* Returns whether features are of pairs of rows. The solvers then need a kernel matrix for the
     * linear kernel too. Its entries are evaluated on demand and never stored (FAMILY_VALUES). May
     * be NULL: never. */
    bool (*pair_features)(const struct options *options);

    /* Refuses (ERROR_USAGE) options whose fit cannot be distributed over the processes of a
     * cluster. May be NULL: all fits to features can, and those to kernels with
     * FAMILY_DISTRIBUTED_GRAM. */
    int (*check_distributed)(const struct options *options, struct error *err);

    /* Chooses how the processes share the fit at a point. May be NULL: FAMILY_DISTRIBUTED_ROWS. */
    enum family_distribution (*share)(struct point point, const struct family_size *size);

    /* Refuses training rows that are inconsistent with the options. On a cluster, data holds this
     * process's rows and the label names of all processes; every process calls this hook and must
     * come to the same result. May be NULL. */
    int (*check_data)(const struct options *options, const struct data *data,
                      struct cluster *cluster, struct error *err);
    /* Sets the largest index that a row may have, see input_format; context: the options. May be
     * NULL. */
    void (*limit)(const void *options, const char *comment, struct input_limit *limit);
    /* Refuses data of the wrong shape, or sets *width to the least number of features of a row,
     * even if the file has fewer. On a cluster it uses what is known of the rows of all processes.
     * May be NULL: the number of features of the file. */
    int (*width)(const struct options *options, const struct data *data, uint32_t *width,
                 struct error *err);

    /* Refuses rows of --validate that do not fit the training rows. May be NULL. */
    int (*check_held)(const struct options *options, const struct data *training,
                      const struct data *held, struct error *err);

    /* Opens a problem; solves it at points that differ only in options of level OPTION_SOLVE, each
     * time with a warm start from the previous solution; closes it. */
    int (*open)(void **state, const struct problem *problem, struct point point, struct error *err);
    int (*solve)(void *state, struct point point, const struct monitor *monitor,
                 struct solution *solution, struct error *err);
    void (*close)(void *state);
    /* Replaces the last solution of a kernel problem, which is certified and not the zero solution,
     * by other coefficients: solution has them in `weights` and `bias` and gets their bounds, with
     * the dual point of the last solution. What depends on scores, such as thresholds, is then that
     * of the new coefficients. NULL without FAMILY_MAX_SV. */
    int (*replace)(void *state, struct point point, struct solution *solution, struct error *err);

    /* Fits the thresholds that turn the scores of the last solution into labels, which `header`
     * then writes. Called once if a model or predictions are wanted. When the monitor reports that
     * the deadline has passed, the current thresholds are kept, 0 if there are none, and *late
     * becomes true. May be NULL: the family has no thresholds. */
    int (*fit_threshold)(void *state, struct point point, const struct monitor *monitor, bool *late,
                         struct error *err);
    /* Adds the family's own lines to the model. May be NULL. */
    int (*header)(const void *state, struct point point, struct model *model, struct error *err);
    /* Writes the family's own `name = value` lines of the report; the model has its header and its
     * calibration. May be NULL. */
    void (*report)(const void *state, struct point point, const struct model *model,
                   struct output *output);
    /* Writes the family's own notes on a fit, lines `note = text`; the only one that says that w =
     * 0 is optimal (solution->zero). NULL: there are none, and that is never known. */
    void (*note)(const void *state, struct point point, const struct solution *solution,
                 const struct model *model, struct output *output);
    /* Writes the file that an option of the family names: the option's name, and the function that
     * writes. NULL: the family has no such option. */
    const char *extra_option;
    const char *extra_begins; /* how the file begins */
    void (*write_extra)(const void *state, struct output *output);
    /* Writes the proof of the last solution, which must be certified (--proof, doc/formats): lines
     * on what the model does not state about the problem, except row weights and a constant
     * feature, and the dual point, by row of the problem. */
    void (*prove)(const void *state, struct point point, struct proof_writer *proof);
    /* Adds to the model what -b 1, or options for which `calibrates` is true, ask for, from the
     * out-of-fold scores of n_folds folds. calibrates may be NULL: no option does. Folds hold out
     * equal rows together; where folds_by_query is true whole queries instead, unless there are
     * fewer than folds or, with calibrate_by_row, `calibrates` is true. */
    bool (*calibrates)(const struct options *options);
    bool calibrate_by_row;
    int (*calibrate)(const struct held_out *folds, size_t n_folds, struct point point,
                     struct model *model, struct error *err);
    /* Warns of training rows that do not fit to the others, by the scores (n_rows, n_outputs) that
     * the model gives them. May be NULL. */
    void (*warn_of_rows)(const struct data *rows, const double *scores, struct progress *progress);
};

/* ---- the predictor ---- */

/* The maximum number of output files that a predictor's own options name. */
enum { PREDICTOR_EXTRAS = 3 };

struct predictor {
    const char *name; /* the family's name */
    const char *summary;
    enum data_labels labels;
    const struct option_spec *options; /* the predictor's own */
    size_t n_options;
    const struct measures *measures;
    const char *const *model_keys; /* keys of the family's own lines of a model, ended by NULL */
    bool imports;                  /* also reads LIBLINEAR's multi-class models, see model_read */

    /* Returns whether `add` needs the comments of the rows (data.remark). May be NULL: never. */
    bool (*wants_comments)(const struct options *options);

    /* Refuses options that the model does not support. May be NULL. */
    int (*check)(const struct options *options, const struct model *model, struct error *err);

    /* Like `limit` of struct family; context: the model. May be NULL. */
    void (*limit)(const void *model, const char *comment, struct input_limit *limit);
    /* Refuses rows, as they were read, that do not fit the model. May be NULL. */
    int (*take_rows)(const struct model *model, const struct data *rows, struct error *err);

    /* Predicts one file: turns blocks of rows with their scores (rows, model_n_scores), in the
     * order of the file, into lines of output (NULL: only extra files are wanted). */
    int (*open)(void **state, const struct options *options, const struct model *model,
                struct error *err);
    int (*add)(void *state, const struct data *rows, const double *scores, struct output *output,
               struct error *err);
    /* The decision for a row by its scores (model_n_scores). decide: the number of its label in the
     * model's line `labels`. choose: chosen (labels) is true for each of its labels. NULL: the
     * family makes no such decision. */
    size_t (*decide)(const void *state, const double *scores);
    void (*choose)(void *state, const double *scores, bool *chosen);
    /* p (labels) of a row; only if `check` accepts -b 1 for the model. NULL: the family has no
     * probabilities. */
    void (*probabilities)(const void *state, const double *scores, double *p);
    /* Called at the end of the file. May be NULL. */
    int (*finish)(void *state, struct output *output, struct error *err);
    /* Writes to text (size) a warning about the predictions of the file, without a line end; leaves
     * it as it is if there is none. NULL: there never is. */
    void (*warn)(const void *state, char *text, size_t size);
    /* The option that names another file to read. NULL: there is none. */
    const char *input_option;
    /* Writes a file that an option of the predictor names, after all rows of the test file.
     * extra_options: the names of those options, ended by NULL; `option` is an index into that
     * list. NULL: there are none. */
    const char *const *extra_options;
    int (*write_extra)(void *state, size_t option, struct output *output, struct error *err);
    void (*close)(void *state);
};

#endif
