/* The table of options that all trainers share. */
#include "driver/train.h"

#include "common/data/scale.h"
#include "common/kernel/kernel.h"

#include <math.h>
#include <string.h>

/* In the order of --help. Within a level the first varies fastest in a sweep: cost. */
static const struct option_spec common_options[] = {
    {.letter = 's',
     .name = "formulation",
     .kind = OPTION_CHOICE,
     .level = OPTION_OPEN,
     .value = "NAME",
     .help = "formulation"},
    {.letter = 'c',
     .name = "cost",
     .kind = OPTION_NUMBER,
     .level = OPTION_SOLVE,
     .value = "C",
     .initial = "1",
     .high = INFINITY,
     .low_excluded = true,
     .help = "weight of the losses against the norm"},
    {.letter = 'l',
     .name = "loss",
     .kind = OPTION_CHOICE,
     .level = OPTION_SOLVE,
     .value = "NAME",
     .needs = FAMILY_LOSS,
     .help = "loss"},
    {.letter = 't',
     .name = "kernel",
     .kind = OPTION_CHOICE,
     .value = "K",
     .initial = "linear",
     .choices = kernel_names,
     .help = "kernel; precomputed rows begin with 0:serial"},
    {.letter = 'd',
     .name = "degree",
     .kind = OPTION_COUNT,
     .level = OPTION_KERNEL,
     .value = "N",
     .initial = "3",
     .high = 1000,
     .help = "degree of the polynomial kernel"},
    {.letter = 'g',
     .name = "gamma",
     .kind = OPTION_NUMBER,
     .level = OPTION_KERNEL,
     .value = "G",
     .high = INFINITY,
     .help = "gamma of the polynomial, rbf and sigmoid kernels\n(default 1/number of features)"},
    {.letter = 'r',
     .name = "coef0",
     .kind = OPTION_NUMBER,
     .level = OPTION_KERNEL,
     .value = "R",
     .initial = "0",
     .help = "coef0 of the polynomial and sigmoid kernels"},
    {.name = "scale",
     .kind = OPTION_CHOICE,
     .value = "HOW",
     .initial = "none",
     .choices = scale_names,
     .help = "scaling of the features, kept in the model"},
    {.letter = 'b',
     .name = "probability",
     .kind = OPTION_COUNT,
     .value = "0|1",
     .initial = "0",
     .high = 1,
     .needs = FAMILY_PROBABILITY,
     .help = "1: estimate probabilities (fits the model on five folds too)"},
    {.letter = 'w',
     .name = "weight",
     .kind = OPTION_WEIGHTS,
     .value = "KEY:W",
     .needs = FAMILY_WEIGHT,
     .help = "cost of KEY is W times C; may be repeated; also -wKEY W"},
    {.letter = 'B',
     .name = "bias",
     .kind = OPTION_NUMBER,
     .level = OPTION_OPEN,
     .value = "V",
     .initial = "0",
     .high = 1e6,
     .needs = FAMILY_BIAS,
     .help = "add a constant feature of value V (0: none)"},
    {.name = "row-weights",
     .kind = OPTION_TEXT,
     .value = "FILE",
     .needs = FAMILY_ROW_WEIGHTS,
     .help = "weights of the training rows, a number a line: a row of\nweight 2 is as good as two "
             "equal rows"},
    {.letter = 'e',
     .name = "epsilon",
     .kind = OPTION_NUMBER,
     .value = "E",
     .initial = "1e-3",
     .high = 1,
     .low_excluded = true,
     .help = "stop at this relative duality gap (P-D)/P"},
    {.name = "solver",
     .kind = OPTION_CHOICE,
     .value = "NAME",
     .initial = "auto",
     .help = "algorithm"},
    {.letter = 'm',
     .name = "cache",
     .kind = OPTION_NUMBER,
     .value = "MB",
     .high = 1e12,
     .low_excluded = true,
     .help = "memory for the kernel matrix (default half of this machine's)"},
    {.letter = 'j',
     .name = "threads",
     .kind = OPTION_COUNT,
     .value = "N",
     .low = 1,
     .high = 1024,
     .help = "threads (default one per processor)"},
    {.letter = 'v',
     .name = "folds",
     .kind = OPTION_COUNT,
     .value = "N",
     .low = 2,
     .high = 1e6,
     .help = "cross-validate with N folds"},
    {.name = "fold-file",
     .kind = OPTION_TEXT,
     .value = "FILE",
     .help = "cross-validate with these folds: a number for each row,\none a line"},
    {.name = "validate",
     .kind = OPTION_TEXT,
     .value = "FILE",
     .help = "measure on the rows of FILE in place of folds"},
    {.name = "select",
     .kind = OPTION_TEXT,
     .value = "MEASURE",
     .help = "measure that a sweep chooses the best point by"},
    {.name = "max-iter",
     .kind = OPTION_COUNT,
     .value = "N",
     .initial = "0",
     .high = 0x1p53,
     .help = "stop after N iterations (0: no limit)"},
    {.name = "max-time",
     .kind = OPTION_NUMBER,
     .value = "S",
     .initial = "0",
     .high = INFINITY,
     .help = "stop the solver after S seconds (0: no limit)"},
    {.name = "strict", .kind = OPTION_FLAG, .help = "exit with 3 if the gap was not reached"},
    {.name = "seed",
     .kind = OPTION_COUNT,
     .value = "N",
     .initial = "1",
     .high = 0x1p53,
     .help = "seed of everything that is random"},
    {.letter = 'q', .name = "quiet", .kind = OPTION_FLAG, .help = "no progress, no timings"},
    {.name = "log",
     .kind = OPTION_TEXT,
     .value = "FILE",
     .help = "write iteration, seconds, primal, dual and gap, tabs between"},
    {.name = "libsvm",
     .kind = OPTION_TEXT,
     .value = "FILE",
     .needs = FAMILY_LIBSVM,
     .help = "also write the model for svm-predict (LIBSVM)"},
    {.name = "liblinear",
     .kind = OPTION_TEXT,
     .value = "FILE",
     .needs = FAMILY_LIBLINEAR,
     .help = "also write the model for liblinear-predict (LIBLINEAR)"},
    {.name = "help", .kind = OPTION_FLAG, .help = "show this"},
    {.name = "version", .kind = OPTION_FLAG, .help = "show the version"}};

enum { N_COMMON = sizeof common_options / sizeof common_options[0] };

int train_options(struct options *options, const struct family *family, struct error *err) {
    unsigned has = family->has | (family->losses ? FAMILY_LOSS : 0);
    for (size_t i = 0; i < N_COMMON; i++) {
        struct option_spec spec = common_options[i];
        const char *const *choices = NULL;
        if (strcmp(spec.name, "formulation") == 0) {
            choices = family->formulations;
        } else if (strcmp(spec.name, "loss") == 0) {
            choices = family->losses;
        } else if (strcmp(spec.name, "solver") == 0) {
            choices = family->solvers;
        }
        if (choices) {
            spec.choices = choices;
            spec.initial = choices[0];
        }
        if (options_add(options, &spec, 1, has, err) < 0) {
            return -1;
        }
    }
    const struct measures *measures = family->measures;
    return options_add(options, family->options, family->n_options, has, err) < 0
               ? -1
               : options_add(options, measures->options, measures->n_options, has, err);
}
