/* Reports of fits and of cross-validation (report.h). */
#include "driver/report.h"

#include "common/base/memory.h"
#include "common/base/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void report_number(struct output *output, const char *name, double value) {
    output_format(output, "%s = ", name);
    output_number(output, value);
    output_format(output, "\n");
}

void report_fit(const struct plain_fit *fit, struct output *output) {
    const struct solution *solution = &fit->solution;
    if (fit->family->report) {
        fit->family->report(fit->state, fit->point, &fit->model, output);
    }
    char names[ALGORITHM_NAMES];
    algorithm_list(fit->algorithms, ", ", names);
    output_format(output, "solver = %s\niterations = %" PRIu64 "\nprimal = ", names,
                  solution->iterations);
    output_number(output, solution->primal);
    if (isnan(solution->gap)) {
        const char *why = stop_bounds_failed(solution->reason)
                              ? stop_message(solution->reason)
                              : "not a convex problem: nothing bounds its optimum";
        output_format(output, "\ngap = none (%s)\n", why);
    } else {
        output_format(output, "\ndual = ");
        output_number(output, solution->dual);
        output_format(output, "\ngap = ");
        output_number(output, solution->gap);
        output_format(output, "%s\n",
                      solution->certified ? "" : " (no certificate: not a convex problem)");
    }
    if (!fit->model.weights) {
        output_format(output, "support-vectors = %zu\n", fit->model.vectors.n_rows);
    }
    if (fit->loss.reduced) {
        output_format(output, "max-sv = %zu\nfull-support-vectors = %zu\n", fit->loss.max_vectors,
                      fit->loss.full_vectors);
        report_number(output, "full-primal", fit->loss.full_primal);
        report_number(output, "primal-ratio", solution->primal / fit->loss.full_primal);
    }
}

void report_seconds(const struct plain_fit *fit, double read_seconds, struct output *output) {
    output_format(output,
                  "read-seconds = %.3f\nkernel-seconds = %.3f\nsolve-seconds = %.3f\n"
                  "certify-seconds = %.3f\n",
                  read_seconds, fit->kernel_seconds, fit->solve_seconds,
                  stopwatch_seconds(&fit->certify_time));
    if (fit->n_ranks > 1) {
        output_format(output,
                      "ranks = %zu\nexchanges = %" PRIu64 "\nexchanged-bytes = %" PRIu64
                      "\nexchange-seconds = %.3f\n",
                      fit->n_ranks, fit->traffic.exchanges, fit->traffic.bytes,
                      fit->traffic.seconds);
    }
}

void report_measures(const struct sweep *sweep, const struct options *options,
                     struct output *output) {
    const char *how = options_given(options, "validate") ? "Validation" : "Cross Validation";
    for (size_t k = 0; k < sweep->n_measures; k++) {
        if (isnan(sweep->value[k])) {
            continue; /* undefined */
        }
        if (sweep->measure[k].row->accuracy) {
            const char *measure = sweep->measure[k].name;
            bool other = strcmp(measure, "accuracy") != 0;
            output_format(output, "%s Accuracy = %g%%%s%s%s\n", how, 100 * sweep->value[k],
                          other ? " (" : "", other ? measure : "", other ? ")" : "");
        } else {
            output_format(output, "%s %s = %g\n", how, sweep->measure[k].name, sweep->value[k]);
        }
    }
}

/* Whether the value of the best point is the smallest (-1) or the largest (1) of three or more. */
static int edge_of(const struct sweep *sweep, const struct option *option) {
    struct point best = {sweep->grid.options, sweep->grid.point[sweep->best]};
    bool number = option->spec.kind == OPTION_NUMBER || option->spec.kind == OPTION_COUNT;
    if (!number || option->n < 3) {
        return 0;
    }
    double value = point_number(best, option->spec.name);
    bool smallest = true, largest = true;
    for (size_t i = 0; i < option->n; i++) {
        smallest &= value <= option->number[i];
        largest &= value >= option->number[i];
    }
    return largest - smallest;
}

/* *share: of the held-out rows that have a name, those with the most frequent one. */
static int largest_share(const struct training_data *training, double *share, struct error *err) {
    const struct data *data = &training->data;
    double *rows = memory_zeros(data->names.n + 1, sizeof *rows, "labels", err);
    double largest = 0, n = 0;
    if (!rows) {
        return -1;
    }
    for (size_t i = 0; i < data->n_rows; i++) {
        if (training->folds.fold[i] != FOLDS_NEVER && data->label[i] != UINT32_MAX) {
            largest = fmax(largest, ++rows[data->label[i]]);
            n++;
        }
    }
    free(rows);
    *share = largest / n;
    return 0;
}

/* Notes if the selected measure, or the accuracy, is at all points that of equal scores. */
static int note_chance(const struct sweep *sweep, const struct training_data *training,
                       struct output *output, struct error *err) {
    static const double ROUNDING = 1e-6; /* of the table's text */
    for (size_t k = 0; k < sweep->n_measures; k++) {
        const struct measure *measure = &sweep->measure[k];
        bool accuracy = measure->row->accuracy && training->data.labels == DATA_NAME, all = true;
        double chance = measure->row->chance;
        if (measure->row->lower_is_better || !(accuracy || k == sweep->selected)) {
            continue;
        }
        if (accuracy && largest_share(training, &chance, err) < 0) {
            return -1;
        }
        for (size_t i = 0; i < sweep->grid.n; i++) {
            all &= fabs(sweep->value[i * sweep->n_measures + k] - chance) <= ROUNDING;
        }
        if (all) {
            const struct family *family = sweep->grid.family;
            output_format(
                output,
                "note: %s=%.6g at all points is that of %s; try a larger cost%s%s or --scale\n",
                measure->name, chance, accuracy ? "a single label" : "equal scores",
                family->has & FAMILY_KERNEL ? ", another kernel (-t)" : "",
                family->formulations[1] ? ", formulation (-s)" : "");
            break;
        }
    }
    return 0;
}

int report_best(const struct sweep *sweep, const struct training_data *training,
                struct output *output, struct error *err) {
    uint32_t n_features = training->n_features;
    char text[NUMBER_LENGTH];
    output_format(output, "best: point=%zu", sweep->best + 1);
    for (size_t c = 0; c < sweep->grid.n_columns; c++) {
        const char *value = grid_text(&sweep->grid, sweep->best, c, n_features, text);
        if (*value && sweep->grid.column[c]->n > 1) {
            output_format(output, " %s=%s", sweep->grid.column[c]->spec.name, value);
        }
    }
    output_format(output, " %s=%.6g\n", sweep->measure[sweep->selected].name,
                  sweep->value[sweep->best * sweep->n_measures + sweep->selected]);
    for (size_t c = 0; c < sweep->grid.n_columns; c++) {
        const char *value = grid_text(&sweep->grid, sweep->best, c, n_features, text);
        int edge = *value ? edge_of(sweep, sweep->grid.column[c]) : 0;
        if (edge != 0) {
            output_format(output, "note: %s=%s is the %s that was tried\n",
                          sweep->grid.column[c]->spec.name, value,
                          edge > 0 ? "largest" : "smallest");
        }
    }
    return note_chance(sweep, training, output, err);
}

/* ---- notes ---- */

/* A larger ratio between the largest values of two features makes most methods slow, and lets most
 * kernels ignore the smaller feature. */
static const double MAX_SCALE_RATIO = 1000;

/* Products of features of this size lose digits, in kernels in particular. */
static const double LARGE = 1000;

/* largest (n_features) = the largest |value| of each feature. */
static void find_largest(const struct data *data, double *largest) {
    for (size_t i = 0; i < data->n_rows; i++) {
        struct stored_row row = data_stored(data, i);
        for (size_t k = 0; k < row.n; k++) {
            double *so_far = &largest[stored_column(row, k)], size = fabs((double)row.value[k]);
            *so_far = size > *so_far ? size : *so_far;
        }
    }
}

/* Returns whether scaling the features would change the kernel, and none was applied. */
static bool takes_scales(const struct plain_fit *fit) {
    switch (fit->kernel.type) {
    case KERNEL_PRECOMPUTED:
    case KERNEL_TANIMOTO:
    case KERNEL_MINMAX:
        return false;
    default:
        return fit->model.scale.kind == SCALE_NONE;
    }
}

static void note_scales(const struct plain_fit *fit, const struct data *data,
                        struct output *output) {
    struct error ignored;
    if (!takes_scales(fit)) {
        return;
    }
    struct cluster *cluster = fit->problem.cluster;
    double *largest = memory_zeros(data->n_features, sizeof *largest, "ranges", &ignored);
    if (cluster_any(cluster, !largest)) {
        free(largest);
        return; /* only a note is lost */
    }
    double min_size = INFINITY, max_size = 0;
    find_largest(data, largest);
    cluster_max(cluster, largest, data->n_features);
    for (size_t j = 0; j < data->n_features; j++) {
        double size = largest[j];
        min_size = size > 0 ? fmin(min_size, size) : min_size;
        max_size = fmax(max_size, size);
    }
    if (max_size > MAX_SCALE_RATIO * min_size) {
        output_format(output,
                      "note = features range over %.3g (one) and %.3g (another): --scale std would "
                      "help\n",
                      min_size, max_size);
    } else if (max_size >= LARGE && !fit->solution.converged &&
               !stop_limited(fit->solution.reason)) {
        output_format(output, "note = features reach %.3g: --scale std would help\n", max_size);
    }
    free(largest);
}

void report_notes(const struct plain_fit *fit, const struct data *data, struct output *output) {
    const struct solution *solution = &fit->solution;
    if (!solution->zero && data->n_features == 0) {
        output_format(output, "note = no row has an index:value (if the file is CSV: "
                              "tools/convert)\n");
    } else if (!solution->zero && solution->constant_scores) {
        bool limited = !solution->converged && stop_limited(solution->reason);
        output_format(
            output, "note = all rows have the same score: the model tells nothing apart; %s\n",
            limited ? stop_message(solution->reason) : "a larger cost or another kernel may help");
    }
    if (fit->family->note) {
        fit->family->note(fit->state, fit->point, solution, &fit->model, output);
    }
    note_scales(fit, data, output);
}

/* ---- proofs ---- */

int report_check_proof(const struct family *family, const struct options *options,
                       struct error *err) {
    const char *solver = family->solvers[options_choice(options, "solver")];
    if (strcmp(solver, "fw") == 0) {
        return error_set(err, ERROR_USAGE,
                         "--proof is not for --solver fw, which does not keep its dual point");
    }
    return 0;
}

/* Writes the row weights other than 1, and the value of a constant feature. */
static void write_problem(const struct plain_fit *fit, struct proof_writer *proof) {
    const struct data *data = fit->problem.data;
    double bias = point_number_or(fit->point, "bias", 0);
    if (bias > 0) {
        proof_writer_number(proof, "constant", bias);
    }
    for (size_t i = 0; data->weight && i < fit->problem.n; i++) {
        if (data->weight[i] != 1) {
            char row[32];
            int length = snprintf(row, sizeof row, "%zu", i + 1);
            proof_writer_pair(proof, "row-weight", row, (size_t)length, data->weight[i]);
        }
    }
}

int report_proof(const struct plain_fit *fit, uint32_t fingerprint, uint32_t checksum,
                 struct output *output, struct error *err) {
    struct proof_writer proof;
    if (proof_writer_open(&proof, output, fit->family->name, fit->problem.n, fingerprint, checksum,
                          err) < 0) {
        return -1;
    }
    write_problem(fit, &proof);
    proof.trivial = fit->solution.dual == 0;
    fit->family->prove(fit->state, fit->point, &proof);
    return proof_writer_end(&proof, err);
}
