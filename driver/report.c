#include "driver/report.h"

#include "common/base/number.h"

#include <inttypes.h>
#include <math.h>

void report_fit(const struct plain_fit *fit, struct output *output) {
    const struct solution *solution = &fit->solution;
    if (fit->family->report) {
        fit->family->report(fit->state, fit->point, output);
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
}

void report_seconds(const struct plain_fit *fit, double read_seconds, struct output *output) {
    output_format(output, "read-seconds = %.3f\nkernel-seconds = %.3f\nsolve-seconds = %.3f\n",
                  read_seconds, fit->kernel_seconds, fit->solve_seconds);
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
            continue; /* nothing to measure */
        }
        if (sweep->measure[k].row->accuracy) {
            output_format(output, "%s Accuracy = %g%%\n", how, 100 * sweep->value[k]);
        } else {
            output_format(output, "%s %s = %g\n", how, sweep->measure[k].name, sweep->value[k]);
        }
    }
}

void report_best(const struct sweep *sweep, uint32_t n_features, struct output *output) {
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
}
