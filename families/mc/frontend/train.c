/* The table of svm-mc-train: multi-class SVMs. */
#include "families/shared/tables.h"

#include "common/base/memory.h"
#include "common/data/decimal.h"
#include "common/data/labels.h"
#include "common/model/label_line.h"
#include "families/mc/frontend/probability.h"
#include "families/mc/solver/mc.h"
#include "families/shared/label_weights.h"
#include "methods/distributed_ascent.h"

#include <stdlib.h>
#include <string.h>

static const char *const formulations[] = {"ww",  "cs",  "llw", "adm", "atm",
                                           "ats", "mmr", "ova", NULL};
static const char *const formulation_meanings[] = {
    "Weston-Watkins: the sum of max(0, 1 - (s_y - s_c)) over the other classes c",
    "Crammer-Singer, LIBLINEAR's -s 4: the largest of these",
    "Lee-Lin-Wahba: the sum of max(0, 1 + s_c) over the other classes",
    "absolute margins, discriminative maximum: the largest of these",
    "absolute margins, total maximum: the largest of these and max(0, 1 - s_y)",
    "absolute margins, total sum: the sum of these and max(0, 1 - s_y)",
    "maximum margin regression: max(0, 1 - s_y) alone",
    "one versus all: as ats, but each class by itself",
    NULL};
static const char *const solvers[] = {"auto", "bcd", "newton", NULL};
static const char *const solver_meanings[] = {
    "bcd; newton where it applies and bcd takes long",
    "block coordinate descent: exact steps of a row's dual variables; where it converges slowly, "
    "the active-set method (kernels) or the interior-point method takes over",
    "Newton's method; linear kernel, few weights", NULL};

static const struct option_spec own_options[] = {
    OPTION(CHOICE, 's', "formulation", "NAME",
           "loss of a row of class y with scores s, in the objective 1/2 |W|^2 + C sum over rows "
           "of their losses",
           OPEN),
    OPTION(NUMBER, 0, "margin-scale", "1|0.5",
           "of ww: factor of the margins s_y - s_c. With 0.5 and 4C the model is that of 1 and C, "
           "with twice the scores and four times the objective",
           SINGLE, .initial = "1", .low = 0.5, .high = 1),
    LABEL_WEIGHTS_OF_ROWS};

static bool applies(struct point point, const char *option) {
    return strcmp(option, "margin-scale") != 0 || point_choice(point, "formulation") == MC_WW;
}

static double margin_scale(struct point point) {
    return applies(point, "margin-scale") ? point_number(point, "margin-scale") : 1;
}

static int check(const struct options *options, struct error *err) {
    bool linear = options_choice(options, "kernel") == KERNEL_LINEAR;
    double margin = options_number(options, "margin-scale");
    if (options_given(options, "margin-scale") && !options_lists(options, "formulation", MC_WW)) {
        return error_set(err, ERROR_USAGE, "--margin-scale is for the formulation ww");
    }
    if (margin != 1 && margin != 0.5) {
        return error_set(err, ERROR_USAGE, "option --margin-scale: must be 1 or 0.5: '%s'",
                         options_text(options, "margin-scale"));
    }
    if (options_choice(options, "solver") == MC_NEWTON && !linear) {
        return error_set(err, ERROR_USAGE, "--solver newton is for the linear kernel");
    }
    return 0;
}

/* LIBLINEAR's labels are ints. */
static int check_export(const struct names *names, struct error *err) {
    for (size_t c = 0; c < names->n; c++) {
        const char *name = names->name[c];
        struct decimal number;
        int value;
        if (!decimal_read(&number, name, strlen(name)) || !decimal_to_int(&number, &value)) {
            return error_set(err, ERROR_USAGE, "--liblinear: labels must be whole numbers: '%s'",
                             name);
        }
    }
    return 0;
}

static enum family_distribution share(struct point point, const struct family_size *size) {
    enum mc_method method = (enum mc_method)point_choice(point, "solver");
    bool ascent = method == MC_AUTO || method == MC_BCD;
    return ascent && size->room && !rounds_are_faster(size->ranks, size->values, size->features)
               ? FAMILY_SINGLE_PROCESS
               : FAMILY_DISTRIBUTED_ROWS;
}

static int check_data(const struct options *options, const struct data *data,
                      struct cluster *cluster, struct error *err) {
    (void)cluster;
    if (options_given(options, "liblinear") && check_export(&data->names, err) < 0) {
        return -1;
    }
    return label_weights_check(options, data, err);
}

static int open_problem(void **state, const struct problem *problem, struct point point,
                        struct error *err) {
    double *weight = memory_array(problem->data->names.n, sizeof *weight, "weights", err);
    if (!weight) {
        return -1;
    }
    label_weights_read(point.options, problem->data, weight);
    struct mc_setup setup = {.formulation = (enum mc_formulation)point_choice(point, "formulation"),
                             .margin_scale = margin_scale(point),
                             .bias = point_number(point, "bias"),
                             .seed = (uint64_t)point_number(point, "seed"),
                             .weight = weight,
                             .keep = options_given(point.options, "proof") ||
                                     options_given(point.options, "max-sv")};
    struct mc *mc = NULL;
    int status = mc_create(&mc, problem, &setup, err);
    free(weight);
    *state = mc;
    return status;
}

static void close_problem(void *state) {
    mc_free(state);
}

static struct mc_parameters parameters_of(struct point point) {
    return (struct mc_parameters){.method = (enum mc_method)point_choice(point, "solver"),
                                  .cost = point_number(point, "cost"),
                                  .epsilon = point_number(point, "epsilon")};
}

static int solve(void *state, struct point point, const struct monitor *monitor,
                 struct solution *solution, struct error *err) {
    struct mc_parameters parameters = parameters_of(point);
    return mc_solve(state, &parameters, monitor, solution, err);
}

static int replace(void *state, struct point point, struct solution *solution, struct error *err) {
    struct mc_parameters parameters = parameters_of(point);
    return mc_replace(state, &parameters, solution, err);
}

static int header(const void *state, struct point point, struct model *model, struct error *err) {
    if (label_line_write(mc_get_labels(state), model, err) < 0) {
        return -1;
    }
    return margin_scale(point) == 1 ? 0 : model_add(model, err, "margin-scale", "0.5");
}

static void report(const void *state, struct point point, const struct model *model,
                   struct output *output) {
    (void)model;
    (void)point;
    output_format(output, "classes = %zu\n", mc_get_labels(state)->names.n);
}

static void prove(const void *state, struct point point, struct proof_writer *proof) {
    const struct mc_alpha *alpha = mc_get_alpha(state);
    label_weights_prove(point.options, proof);
    for (size_t i = 0; i < alpha->n; i++) {
        for (size_t c = 0; alpha->dense && c < alpha->k; c++) {
            double value = alpha->dense[i * alpha->k + c];
            if (value != 0) {
                proof_writer_value(proof, (uint32_t)i, (uint32_t)(c + 1), 0, value);
            }
        }
        for (size_t e = 0; alpha->list && e < alpha->list[i].n; e++) {
            struct mc_entry entry = alpha->list[i].entry[e];
            proof_writer_value(proof, (uint32_t)i, entry.c + 1, 0, entry.value);
        }
    }
}

static int calibrate(const struct held_out *folds, size_t n_folds, struct point point,
                     struct model *model, struct error *err) {
    (void)point;
    struct labels labels;
    double scale;
    if (label_line_read(&labels, model, false, err) < 0) {
        return -1;
    }
    int status = mc_probability_fit(&scale, folds, n_folds, &labels, err);
    labels_free(&labels);
    return status < 0 ? -1 : model_add_number(model, err, MC_PROBABILITY_KEY, scale);
}

const struct family mc_family = {
    .name = "mc",
    .summary = "Trains a multi-class SVM: a score for each class, of which the largest gives "
               "the label.",
    .has = FAMILY_KERNEL | FAMILY_PROBABILITY | FAMILY_WEIGHT | FAMILY_ROW_WEIGHTS | FAMILY_BIAS |
           FAMILY_LIBLINEAR | FAMILY_MAX_SV,
    .labels = DATA_NAME,
    .scores_labels = true,
    .formulations = formulations,
    .formulation_meanings = formulation_meanings,
    .solvers = solvers,
    .solver_meanings = solver_meanings,
    TABLE(options, own_options),
    .measures = &mc_measures,
    .applies = applies,
    .check = check,
    .share = share,
    .check_data = check_data,
    .matrix = FAMILY_COLUMNS,
    .open = open_problem,
    .solve = solve,
    .close = close_problem,
    .replace = replace,
    .header = header,
    .report = report,
    .prove = prove,
    .calibrate = calibrate};
