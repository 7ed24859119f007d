/* The table of options that all trainers have. */
#include "driver/train.h"

#include "common/data/scale.h"
#include "common/kernel/kernel.h"

#include <math.h>
#include <string.h>

const char *const loss_names[] = {"hinge", "squared-hinge", NULL};
static const char *const loss_meanings[] = {"max(0, 1 - m)", "max(0, 1 - m)^2", NULL};
static const char *const query_feature_names[] = {"none", "mean", NULL};
static const char *const query_feature_meanings[] = {
    "no other features", "the mean of each scaled feature over the rows of the query", NULL};
static const char *const scale_meanings[] = {
    "as they are",
    "mean 0 and standard deviation 1; sparse data is not centred",
    "the same, but sparse data is centred too",
    "to [-1,1]",
    "rows of length 1",
    "to quantiles of the training values, from 0 to 1",
    "to [0,1] by the least and largest value of the query; prediction needs all rows of a query, "
    "one after another, with their qid",
    "mean 0 and standard deviation 1 over the rows of the query; prediction needs the same",
    NULL};

/* The help texts of the kernel parameters: each lists the kernels of the kernel table that have the
 * parameter. */
#define NAME_0(name)
#define NAME_1(name) " " #name
static const char degree_help[] = "degree of kernel"
#define KERNEL(number, name, d, g, r, ...) NAME_##d(name)
#include "common/kernel/table.inc"
    ;
static const char gamma_help[] = "gamma of kernel"
#define KERNEL(number, name, d, g, r, ...) NAME_##g(name)
#include "common/kernel/table.inc"
    ;
static const char coef0_help[] = "coef0 of kernel"
#define KERNEL(number, name, d, g, r, ...) NAME_##r(name)
#include "common/kernel/table.inc"
    ;

/* In the order of --help. Within a level the first option varies fastest in a sweep: cost. */
static const struct option_spec common_options[] = {
    OPTION(CHOICE, 's', "formulation", "NAME", "what is minimised", OPEN),
    OPTION(NUMBER, 'c', "cost", "C",
           "C of the objective: the weight of the losses against the norm", SOLVE, .initial = "1",
           .high = INFINITY, .low_excluded = true),
    OPTION(CHOICE, 'l', "loss", "NAME", "loss l of margin m", SOLVE, .needs = FAMILY_LOSS,
           .initial = "hinge", .choices = loss_names, .meanings = loss_meanings),
    OPTION(CHOICE, 't', "kernel", "K", "kernel k(x,z)", SINGLE, .initial = "linear",
           .choices = kernel_names, .needs = FAMILY_KERNEL, .meanings = kernel_formulas),
    OPTION(COUNT, 'd', "degree", "N", degree_help, KERNEL, .initial = "3", .high = 1000,
           .needs = FAMILY_KERNEL),
    OPTION(NUMBER, 'g', "gamma", "G", gamma_help, KERNEL, .high = INFINITY, .needs = FAMILY_KERNEL,
           .absent = "1 / number of features"),
    OPTION(NUMBER, 'r', "coef0", "R", coef0_help, KERNEL, .initial = "0", .needs = FAMILY_KERNEL),
    OPTION(CHOICE, 0, "scale", "HOW",
           "scaling of the features, fitted to the training rows, stored in the model and applied "
           "in prediction; absent values are 0",
           SINGLE, .initial = "none", .choices = scale_names_by_row, .meanings = scale_meanings),
    OPTION(CHOICE, 0, "query-features", "NAME",
           "features that are added to those of each row, for a kernel that is not linear; "
           "prediction then needs all rows of a query, with their qid",
           SINGLE, .initial = "none", .choices = query_feature_names,
           .meanings = query_feature_meanings, .needs = FAMILY_QUERY_FEATURES),
    OPTION(COUNT, 'b', "probability", "0|1",
           "1: also fit probabilities, to out-of-fold scores of five folds", SINGLE, .initial = "0",
           .high = 1, .needs = FAMILY_PROBABILITY),
    OPTION(WEIGHTS, 'w', "weight", "LABEL:W",
           "rows of that label cost W times as much; may be repeated, and written -wLABEL W",
           SINGLE, .needs = FAMILY_WEIGHT),
    OPTION(
        NUMBER, 'B', "bias", "V",
        "add a constant feature of value V to each row (0: none), whose weights count in the norm",
        OPEN, .initial = "0", .high = 1e6, .needs = FAMILY_BIAS),
    OPTION(TEXT, 0, "row-weights", "FILE",
           "weights of the training rows, a number of 0 or more per line: a row of weight 2 is "
           "equivalent to two equal rows, but --scale counts it once",
           SINGLE, .aside = true, .needs = FAMILY_ROW_WEIGHTS),
    OPTION(NUMBER, 'e', "epsilon", "E", "stop when (primal - dual) / primal is at most E", SINGLE,
           .initial = "1e-3", .high = 1, .low_excluded = true),
    OPTION(CHOICE, 0, "solver", "NAME", "algorithm", SINGLE, .initial = "auto"),
    OPTION(
        COUNT, 0, "max-sv", "N",
        "a kernel model of at most N support vectors: a selection of those of the full fit, which "
        "with rbf move to where they reproduce its scores best, with the coefficients that "
        "minimise the objective over them; prediction time falls in proportion. The gap is that "
        "of the full problem, above E",
        SOLVE, .low = 1, .high = UINT32_MAX, .needs = FAMILY_MAX_SV, .absent = "no limit"),
    OPTION(NUMBER, 'm', "cache", "MB",
           "memory for the kernel matrix; entries that do not fit are recomputed when needed",
           SINGLE, .aside = true, .high = 1e12, .low_excluded = true, .needs = FAMILY_KERNEL,
           .absent = "half of the machine's"),
    OPTION_THREADS,
    OPTION(COUNT, 'v', "folds", "N",
           "cross-validate with N folds: of whole queries in rank, of any rows in ml, otherwise "
           "stratified by label; a model is written only after a sweep, if a model_file is named",
           SINGLE, .low = 2, .high = 1e6),
    OPTION(TEXT, 0, "fold-file", "FILE",
           "cross-validate with the folds of FILE, which has a line with a word for each row: rows "
           "with equal words are held out together; each word is a fold, or with -v N the words "
           "are assigned to N folds",
           SINGLE, .aside = true),
    OPTION(TEXT, 0, "validate", "FILE", "measure on the rows of FILE instead of cross-validation",
           SINGLE, .aside = true),
    OPTION(TEXT, 0, "select", "MEASURE", "measure that selects the best point of a sweep", SINGLE,
           .aside = true, .absent = "the first measure"),
    OPTION(
        TEXT, 0, "resume", "FILE",
        "continue the sweep whose table is in FILE: points in it are not measured again, rows of "
        "other points are appended as soon as they are known; FILE is created if it does not exist",
        SINGLE, .aside = true),
    OPTION(TEXT, 0, "shard", "I/N",
           "only part I of N of a sweep, to distribute it over machines; cat or sort -u joins the "
           "tables",
           SINGLE, .aside = true),
    OPTION(COUNT, 0, "max-iter", "N",
           "stop after N iterations (0: no limit), with a warning and a model that states its true "
           "gap",
           SINGLE, .initial = "0", .high = 0x1p53),
    OPTION(NUMBER, 0, "max-time", "S",
           "end the run at most two seconds after S seconds (0: no limit), plus the time to write "
           "large data, with a warning and a model that states its true gap: w = 0 if there is no "
           "better one yet. Fits to folds share the time equally; unfinished ones do not count in "
           "the measures, and a point with all of its folds finished is best before others",
           SINGLE, .initial = "0", .high = INFINITY),
    OPTION(FLAG, 0, "strict", NULL,
           "exit with code 3 if a fit, also one to a fold, ended before it reached the gap E",
           SINGLE, .aside = true),
    OPTION(COUNT, 0, "seed", "N", "seed of all random numbers", SINGLE, .initial = "1",
           .high = 0x1p53),
    OPTION(FLAG, 'q', "quiet", NULL, "print no progress and no times", SINGLE, .aside = true),
    OPTION(TEXT, 0, "log", "FILE",
           "write a table with tabs between columns: iteration, seconds, primal, dual, gap and "
           "algorithm at each check of the solver; in cross-validation point and fold come first",
           SINGLE, .aside = true),
    OPTION(
        TEXT, 0, "json", "FILE",
        "also write the report, and the measures or the table of a sweep, as an object of JSON in "
        "a line",
        SINGLE, .aside = true),
    OPTION(TEXT, 0, "proof", "FILE",
           "also write the dual point that proves the bound of the optimum, for svm-check", SINGLE,
           .aside = true),
    OPTION(TEXT, 0, "libsvm", "FILE",
           "also write the model in the format of LIBSVM, for svm-predict", SINGLE, .aside = true,
           .needs = FAMILY_LIBSVM),
    OPTION(TEXT, 0, "liblinear", "FILE",
           "also write a linear model in the format of LIBLINEAR, for its predict", SINGLE,
           .aside = true, .needs = FAMILY_LIBLINEAR)};

static const struct option_spec last_options[] = {
    OPTION(
        FLAG, 0, "force", NULL,
        "write over existing files of another kind: a model over a file that is no model of this "
        "program, other outputs likewise",
        SINGLE, .aside = true),
    OPTION(FLAG, 0, "help", NULL, "show this", SINGLE, .aside = true),
    OPTION(FLAG, 0, "version", NULL, "show the version", SINGLE, .aside = true)};

enum {
    N_COMMON = sizeof common_options / sizeof common_options[0],
    N_LAST = sizeof last_options / sizeof last_options[0]
};

/* The row with that name among specs[0..n), or NULL. */
static const struct option_spec *find_spec(const struct option_spec *specs, size_t n,
                                           const char *name) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(specs[i].name, name) == 0) {
            return &specs[i];
        }
    }
    return NULL;
}

/* The common row or the family's replacement, with the family's names of formulations and
 * solvers. */
static struct option_spec family_spec(const struct option_spec *common,
                                      const struct family *family) {
    const struct option_spec *own = find_spec(family->options, family->n_options, common->name);
    struct option_spec spec = own ? *own : *common;
    if (strcmp(spec.name, "formulation") == 0) {
        spec.choices = family->formulations;
        spec.meanings = family->formulation_meanings;
        spec.initial = spec.choices[0];
    } else if (strcmp(spec.name, "solver") == 0) {
        spec.choices = family->solvers;
        spec.meanings = family->solver_meanings;
        spec.initial = spec.choices[0];
    } else if (strcmp(spec.name, "scale") == 0 && family->has & FAMILY_QUERY_FEATURES) {
        spec.choices = scale_names;
    }
    return spec;
}

int train_options(struct options *options, const struct family *family, struct error *err) {
    for (size_t i = 0; i < N_COMMON; i++) {
        struct option_spec spec = family_spec(&common_options[i], family);
        if (options_add(options, &spec, 1, family->has, err) < 0) {
            return -1;
        }
    }
    for (size_t i = 0; i < family->n_options; i++) {
        if (!find_spec(common_options, N_COMMON, family->options[i].name) &&
            options_add(options, &family->options[i], 1, family->has, err) < 0) {
            return -1;
        }
    }
    const struct measures *measures = family->measures;
    return options_add(options, measures->options, measures->n_options, family->has, err) < 0
               ? -1
               : options_add(options, last_options, N_LAST, family->has, err);
}
