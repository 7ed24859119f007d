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
    "nothing", "the mean of each feature, when scaled, over the rows of the query", NULL};
static const char *const scale_meanings[] = {
    "as they are",
    "mean 0 and standard deviation 1; sparse data is not centred",
    "centred in any case",
    "to [-1,1]",
    "rows of length 1",
    "to quantiles of the training values, from 0 to 1",
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
    OPTION(NUMBER, 'c', "cost", "C", "C of the objective: what losses weigh against the norm",
           SOLVE, .initial = "1", .high = INFINITY, .low_excluded = true),
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
           "scaling of the features, learnt from the training rows, kept in the model and applied "
           "when predicting",
           SINGLE, .initial = "none", .choices = scale_names, .meanings = scale_meanings),
    OPTION(CHOICE, 0, "query-features", "NAME",
           "what a row has besides its own features, for a kernel that is not linear; predicting "
           "then wants all rows of a query, and their qid",
           SINGLE, .initial = "none", .choices = query_feature_names,
           .meanings = query_feature_meanings, .needs = FAMILY_QUERY_FEATURES),
    OPTION(COUNT, 'b', "probability", "0|1",
           "1: also fit probabilities, to scores of rows that five folds hold out", SINGLE,
           .initial = "0", .high = 1, .needs = FAMILY_PROBABILITY),
    OPTION(WEIGHTS, 'w', "weight", "LABEL:W",
           "rows of that label cost W times as much; may be repeated, and written -wLABEL W",
           SINGLE, .needs = FAMILY_WEIGHT),
    OPTION(NUMBER, 'B', "bias", "V",
           "add a constant feature of value V to each row (0: none); the norm counts its weights",
           OPEN, .initial = "0", .high = 1e6, .needs = FAMILY_BIAS),
    OPTION(TEXT, 0, "row-weights", "FILE",
           "weights of the training rows, a number of 0 or more a line: a row of weight 2 is as "
           "good as two equal rows",
           SINGLE, .aside = true, .needs = FAMILY_ROW_WEIGHTS),
    OPTION(NUMBER, 'e', "epsilon", "E", "stop when (primal - dual) / primal is at most E", SINGLE,
           .initial = "1e-3", .high = 1, .low_excluded = true),
    OPTION(CHOICE, 0, "solver", "NAME", "algorithm", SINGLE, .initial = "auto"),
    OPTION(NUMBER, 'm', "cache", "MB",
           "memory for the kernel matrix; what does not fit is computed again when it is needed",
           SINGLE, .aside = true, .high = 1e12, .low_excluded = true, .needs = FAMILY_KERNEL,
           .absent = "half of this machine's"),
    OPTION_THREADS,
    OPTION(COUNT, 'v', "folds", "N",
           "cross-validate with N folds, of whole queries in rank, of any rows in ml, else of the "
           "rows of each label alike; no model is written unless there are several points and a "
           "model_file is named",
           SINGLE, .low = 2, .high = 1e6),
    OPTION(TEXT, 0, "fold-file", "FILE",
           "cross-validate with the folds of FILE: a word a line for each row; rows of one word "
           "are held out together, each word in a fold of its own, or with -v N in N folds",
           SINGLE, .aside = true),
    OPTION(TEXT, 0, "validate", "FILE", "measure on the rows of FILE in place of folds", SINGLE,
           .aside = true),
    OPTION(TEXT, 0, "select", "MEASURE", "the measure by which a sweep chooses its best point",
           SINGLE, .aside = true, .absent = "the first of the measures"),
    OPTION(TEXT, 0, "resume", "FILE",
           "go on with the table of a sweep in FILE: rows that are there are taken over, others "
           "are added as soon as they are known; FILE is made if it is not there",
           SINGLE, .aside = true),
    OPTION(TEXT, 0, "shard", "I/N",
           "only the I-th of N parts of a sweep, to run them on several machines; the tables are "
           "joined by cat or sort -u",
           SINGLE, .aside = true),
    OPTION(COUNT, 0, "max-iter", "N",
           "stop after N iterations (0: no limit), with a warning; the model has its true gap",
           SINGLE, .initial = "0", .high = 0x1p53),
    OPTION(NUMBER, 0, "max-time", "S",
           "end the run within two seconds of S (0: no limit), or what large data take to write, "
           "likewise; fits to folds have like parts of the time, and are left out where they are "
           "not done; a model of which there is nothing yet is 0, with its true gap",
           SINGLE, .initial = "0", .high = INFINITY),
    OPTION(FLAG, 0, "strict", NULL,
           "exit with 3 if a fit, of a fold too, ended before it reached E", SINGLE, .aside = true),
    OPTION(COUNT, 0, "seed", "N", "the only source of randomness", SINGLE, .initial = "1",
           .high = 0x1p53),
    OPTION(FLAG, 'q', "quiet", NULL, "no progress, no timings", SINGLE, .aside = true),
    OPTION(TEXT, 0, "log", "FILE",
           "write iteration, seconds, primal, dual, gap and algorithm of each check of the solver, "
           "tabs between; in cross-validation with the point and the fold before them",
           SINGLE, .aside = true),
    OPTION(TEXT, 0, "proof", "FILE",
           "also write the dual point that bounds the optimum, for svm-check", SINGLE,
           .aside = true),
    OPTION(TEXT, 0, "libsvm", "FILE",
           "also write the model in the format of LIBSVM, for svm-predict", SINGLE, .aside = true,
           .needs = FAMILY_LIBSVM),
    OPTION(TEXT, 0, "liblinear", "FILE",
           "also write a linear model in the format of LIBLINEAR, for its predict", SINGLE,
           .aside = true, .needs = FAMILY_LIBLINEAR)};

static const struct option_spec last_options[] = {
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
