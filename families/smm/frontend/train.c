/* svm-smm-train: options, problem and report of support matrix machines. */
#include "families/shared/tables.h"

#include "common/base/memory.h"
#include "common/model/label_line.h"
#include "driver/report.h"
#include "families/shared/label_weights.h"
#include "families/smm/frontend/matrix_shape.h"
#include "families/smm/solver/smm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const formulations[] = {"lowrank", "nuclear", "svm", NULL};
static const char *const uncertified[] = {"lowrank", NULL};
static const char *const formulation_meanings[] = {
    "1/2 |W|^2 + C sum of losses, over W of rank K at most",
    "1/2 |W|^2 + T (sum of W's singular values) + C sum of losses", "1/2 |W|^2 + C sum of losses",
    NULL};
static const char *const solvers[] = {"auto", "alternate", NULL};
static const char *const solver_meanings[] = {
    "lowrank: alternating steps of its two factors, and joint steps",
    "lowrank as published, without joint steps", NULL};
static const char *const starts[] = {"svd", "random", NULL};
static const char *const start_meanings[] = {"the SVD of the SVM", "random, by --seed", NULL};

static const struct option_spec own_options[] = {
    OPTION(NUMBER, 'e', "epsilon", "E",
           "stop when (primal - dual) / primal is at most E; lowrank: when the decrease of the "
           "objective that a joint step can give, to first order, is at most E times the objective",
           SINGLE, .initial = "1e-3", .high = 1, .low_excluded = true),
    OPTION(TEXT, 0, "shape", "RxC", "number of rows and columns of the matrices", SINGLE,
           .absent = "that of the first line, # matrix R C"),
    OPTION(COUNT, 'k', "rank", "K", "of lowrank: maximum rank of W", SOLVE, .initial = "1",
           .low = 1, .high = 1e6),
    OPTION(NUMBER, 0, "tau", "T", "of nuclear: weight of the nuclear norm", SOLVE, .initial = "1",
           .high = INFINITY),
    OPTION(COUNT, 0, "restarts", "N", "of lowrank: also N random starts, of which the best is used",
           SINGLE, .initial = "0", .high = 1e6),
    OPTION(CHOICE, 0, "start", "NAME",
           "of lowrank: the first start; with solver alternate it is random", SINGLE,
           .initial = "svd", .choices = starts, .meanings = start_meanings),
    OPTION(TEXT, 0, "positive", "LABEL", "of two labels, the one that has decision values above 0",
           SINGLE, .absent = "the second by number, or by bytes"),
    LABEL_WEIGHTS_OF_ROWS,
    OPTION(TEXT, 0, "weights", "FILE",
           "also write the matrix of weights, its singular values and vectors", SINGLE,
           .aside = true)};

/* ---- options ---- */

static bool uses(const struct options *options, enum smm_formulation formulation) {
    return options_lists(options, "formulation", formulation);
}

static bool applies(struct point point, const char *option) {
    enum smm_formulation formulation = (enum smm_formulation)point_choice(point, "formulation");
    if (strcmp(option, "rank") == 0 || strcmp(option, "restarts") == 0 ||
        strcmp(option, "start") == 0) {
        return formulation == SMM_LOWRANK;
    }
    return strcmp(option, "tau") != 0 || formulation == SMM_NUCLEAR;
}

static int check(const struct options *options, struct error *err) {
    bool lowrank = uses(options, SMM_LOWRANK), start = options_given(options, "start");
    const struct refusal refusals[] = {
        {!lowrank && options_given(options, "rank"), "--rank is for formulation lowrank"},
        {!lowrank && options_given(options, "restarts"), "--restarts is for formulation lowrank"},
        {!lowrank && start, "--start is for formulation lowrank"},
        {!uses(options, SMM_NUCLEAR) && options_given(options, "tau"),
         "--tau is for formulation nuclear"},
        {options_choice(options, "solver") == SMM_ALTERNATE && (!lowrank || start),
         "--solver alternate is for formulation lowrank, and starts at random"},
        {0}};
    return matrix_shape_check(options, err) < 0 ? -1 : options_refuse(refusals, err);
}

/* The hinge needs many Newton steps, with about ten allreduce sums each. With fewer values than
 * this, one process is faster. */
static const double FEW_VALUES = 1 << 17;

static enum family_distribution share(struct point point, const struct family_size *size) {
    enum smm_formulation formulation = (enum smm_formulation)point_choice(point, "formulation");
    bool hinge = point_choice(point, "loss") == SMM_HINGE;
    if (!size->room) {
        return FAMILY_DISTRIBUTED_ROWS;
    }
    if (formulation == SMM_LOWRANK && point_number(point, "restarts") > 0) {
        return FAMILY_DISTRIBUTED_STARTS;
    }
    return hinge && size->values <= FEW_VALUES ? FAMILY_SINGLE_PROCESS : FAMILY_DISTRIBUTED_ROWS;
}

static int check_positive(const struct options *options, const struct data *data,
                          struct error *err) {
    const char *positive = options_text(options, "positive");
    if (!positive) {
        return 0;
    }
    if (names_find(&data->names, positive, strlen(positive)) == UINT32_MAX) {
        return error_set(err, ERROR_USAGE, "option --positive: no training row has the label '%s'",
                         positive);
    }
    return data->names.n == 2
               ? 0
               : error_set(err, ERROR_USAGE,
                           "option --positive is for two labels, and there are %zu", data->names.n);
}

/* --proof of lowrank needs full rank. */
static int check_data(const struct options *options, const struct data *data,
                      struct cluster *cluster, struct error *err) {
    (void)cluster;
    struct matrix_shape shape;
    if (check_positive(options, data, err) < 0) {
        return -1;
    }
    if (options_given(options, "proof") && uses(options, SMM_LOWRANK)) {
        if (matrix_shape_find(&shape, options, data, err) < 0) {
            return -1;
        }
        uint64_t side = shape.height < shape.width ? shape.height : shape.width;
        const struct option *rank = options_find(options, "rank");
        for (size_t i = 0; i < rank->n; i++) {
            if (rank->number[i] < (double)side) {
                return error_set(err, ERROR_USAGE,
                                 "--proof is not for formulation lowrank below full rank, which "
                                 "is not convex");
            }
        }
    }
    return label_weights_check(options, data, err);
}

static void limit(const void *options, const char *comment, struct input_limit *limit) {
    matrix_shape_limit(options_text(options, "shape"), comment, limit);
}

/* ---- the problem ---- */

static int open_problem(void **state, const struct problem *problem, struct point point,
                        struct error *err) {
    const struct data *data = problem->data;
    struct matrix_shape shape;
    double *weight = memory_array(data->names.n, sizeof *weight, "labels", err);
    struct smm *smm = NULL;
    int status = -1;
    if (weight && matrix_shape_find(&shape, point.options, data, err) == 0) {
        label_weights_read(point.options, data, weight);
        status = smm_create(&smm, problem, (size_t)shape.height, (size_t)shape.width, weight,
                            options_text(point.options, "positive"), err);
    }
    free(weight);
    *state = smm;
    return status;
}

static void close_problem(void *state) {
    smm_free(state);
}

static int solve(void *state, struct point point, const struct monitor *monitor,
                 struct solution *solution, struct error *err) {
    struct smm_parameters parameters = {
        .formulation = (enum smm_formulation)point_choice(point, "formulation"),
        .loss = (enum smm_loss)point_choice(point, "loss"),
        .method = (enum smm_method)point_choice(point, "solver"),
        .cost = point_number(point, "cost"),
        .epsilon = point_number(point, "epsilon"),
        .rank = (size_t)point_number(point, "rank"),
        .tau = point_number(point, "tau"),
        .random_start = point_choice(point, "start") == 1,
        .restarts = (size_t)point_number(point, "restarts"),
        .seed = (uint64_t)point_number(point, "seed")};
    return smm_solve(state, &parameters, monitor, solution, err);
}

/* ---- report, model, proof and weights ---- */

/* The largest rank of the subproblems and, for lowrank, their largest measure of stationarity. */
static size_t largest_rank(const struct smm *smm, double *stationarity) {
    size_t n, rank = 0;
    const struct smm_subproblem *subproblem = smm_subproblems(smm, &n);
    *stationarity = 0;
    for (size_t m = 0; m < n; m++) {
        rank = subproblem[m].rank > rank ? subproblem[m].rank : rank;
        *stationarity = fmax(*stationarity, subproblem[m].stationarity);
    }
    return rank;
}

static int header(const void *state, struct point point, struct model *model, struct error *err) {
    const struct smm *smm = state;
    size_t height, width;
    enum smm_formulation formulation = (enum smm_formulation)point_choice(point, "formulation");
    double stationarity;
    size_t rank = largest_rank(smm, &stationarity);
    smm_shape(smm, &height, &width);
    if (label_line_write(smm_labels(smm), model, err) < 0 ||
        model_add(model, err, "shape", "%zux%zu", height, width) < 0 ||
        model_add(model, err, "rank", "%zu", rank) < 0 ||
        (formulation == SMM_NUCLEAR &&
         model_add_number(model, err, "tau", point_number(point, "tau")) < 0) ||
        (formulation == SMM_LOWRANK && isfinite(stationarity) &&
         model_add_number(model, err, "stationarity", stationarity) < 0)) {
        return -1;
    }
    return 0;
}

static void report(const void *state, struct point point, const struct model *model,
                   struct output *output) {
    (void)model;
    const struct smm *smm = state;
    size_t height, width, n;
    const struct smm_subproblem *subproblem = smm_subproblems(smm, &n);
    double stationarity;
    size_t rank = largest_rank(smm, &stationarity);
    smm_shape(smm, &height, &width);
    output_format(output, "shape = %zux%zu\nrank = %zu\n", height, width, rank);
    if ((enum smm_formulation)point_choice(point, "formulation") != SMM_LOWRANK) {
        return;
    }
    if (isfinite(stationarity)) {
        report_number(output, "stationarity", stationarity);
    }
    size_t fewest = SIZE_MAX, most = 0; /* starts of a machine; a limit of time leaves out some */
    double best = 0, worst = 0;
    for (size_t m = 0; m < n; m++) {
        fewest = subproblem[m].n_starts < fewest ? subproblem[m].n_starts : fewest;
        most = subproblem[m].n_starts > most ? subproblem[m].n_starts : most;
        best += subproblem[m].best;
        worst += subproblem[m].worst;
    }
    if (most > 1) {
        output_format(output, "starts = %zu\n", fewest);
        report_number(output, "best-start", best);
        report_number(output, "worst-start", worst);
    }
}

static void note(const void *state, struct point point, const struct solution *solution,
                 const struct model *model, struct output *output) {
    (void)solution;
    (void)model;
    size_t height, width;
    smm_shape(state, &height, &width);
    size_t side = height < width ? height : width;
    double rank = point_number(point, "rank");
    if ((enum smm_formulation)point_choice(point, "formulation") == SMM_LOWRANK &&
        rank > (double)side) {
        output_format(
            output,
            "note = --rank %g is no limit: matrices of %zux%zu have a rank of %zu at most\n", rank,
            height, width, side);
    }
}

static void prove(const void *state, struct point point, struct proof_writer *proof) {
    size_t n_subproblems, n = smm_rows(state);
    const struct smm_subproblem *subproblem = smm_subproblems(state, &n_subproblems);
    label_weights_prove(point.options, proof);
    if ((enum smm_formulation)point_choice(point, "formulation") == SMM_LOWRANK) {
        proof_writer_number(proof, "rank", point_number(point, "rank"));
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t m = 0; m < n_subproblems; m++) {
            if (subproblem[m].alpha[i] != 0) {
                proof_writer_value(proof, (uint32_t)i, (uint32_t)(m + 1), 0,
                                   subproblem[m].alpha[i]);
            }
        }
    }
}

static void write_matrix(struct output *output, const double *matrix, size_t height, size_t width,
                         size_t stride) {
    for (size_t a = 0; a < height; a++) {
        for (size_t c = 0; c < width; c++) {
            output_write(output, " ", c > 0);
            output_number(output, matrix[a * stride + c]);
        }
        output_write(output, "\n", 1);
    }
}

/* Writes W, then s, U and V in columns. */
static void write_subproblem(const struct smm_subproblem *subproblem, size_t height, size_t width,
                             struct output *output) {
    size_t k = height < width ? height : width, r = subproblem->rank;
    output_format(output, "# bias\n");
    output_number(output, subproblem->bias);
    output_format(output, "\n# B %zu %zu\n", height, width);
    write_matrix(output, subproblem->W, height, width, width);
    output_format(output, "# singular-values %zu\n", r);
    write_matrix(output, subproblem->s, r > 0, r, r);
    output_format(output, "# U %zu %zu\n", height, r);
    write_matrix(output, subproblem->U, r > 0 ? height : 0, r, k);
    output_format(output, "# V %zu %zu\n", width, r);
    for (size_t c = 0; r > 0 && c < width; c++) {
        for (size_t j = 0; j < r; j++) {
            output_write(output, " ", j > 0);
            output_number(output, subproblem->Vt[j * width + c]);
        }
        output_write(output, "\n", 1);
    }
}

/* Writes the file of --weights. */
static void write_weights(const void *state, struct output *output) {
    const struct smm *smm = state;
    const struct names *names = &smm_labels(smm)->names;
    size_t height, width, n;
    const struct smm_subproblem *subproblem = smm_subproblems(smm, &n);
    smm_shape(smm, &height, &width);
    for (size_t m = 0; m < n; m++) {
        output_format(output, "# positive %s\n", names->name[n == 1 ? 1 : m]);
        write_subproblem(&subproblem[m], height, width, output);
    }
}

const struct family smm_family = {
    .name = "smm",
    .summary = "Trains a support matrix machine: a classifier of matrices whose weights are a "
               "matrix of low rank.",
    .has = FAMILY_LOSS | FAMILY_WEIGHT | FAMILY_ROW_WEIGHTS,
    .labels = DATA_NAME,
    .formulations = formulations,
    .uncertified = uncertified,
    .formulation_meanings = formulation_meanings,
    .solvers = solvers,
    .solver_meanings = solver_meanings,
    TABLE(options, own_options),
    .measures = &smm_measures,
    .applies = applies,
    .check = check,
    .share = share,
    .check_data = check_data,
    .limit = limit,
    .width = matrix_shape_width,
    .check_held = matrix_shape_check_held,
    .open = open_problem,
    .solve = solve,
    .close = close_problem,
    .header = header,
    .report = report,
    .note = note,
    .prove = prove,
    .extra_option = "weights",
    .extra_begins = "# positive ",
    .write_extra = write_weights};
