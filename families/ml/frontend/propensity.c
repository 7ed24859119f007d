/* Counts of training rows per label, and propensities from them (propensity.h). */
#include "families/ml/frontend/propensity.h"

#include "common/base/memory.h"
#include "common/base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ml_label_rows_count(const struct ml_rows *rows, double *count) {
    memset(count, 0, rows->q * sizeof *count);
    for (uint64_t at = 0; at < rows->start[rows->n_all]; at++) {
        count[rows->relevant[at]]++;
    }
    cluster_sum(rows->cluster, count, rows->q);
}

/* Parses the counts of a line. False if they are not one per label, each between 1 and the rows of
 * the model. */
static bool read_counts(const char *line, const struct model *model, double *count) {
    const char *at = line, *end = line + strlen(line);
    for (size_t k = 0; k < model->n_outputs; k++) {
        uint64_t value;
        if (k > 0 && *at++ != ' ') {
            return false;
        }
        at = number_parse_unsigned(at, end, &value);
        if (!at || value < 1 || value > model->n_rows) {
            return false;
        }
        count[k] = (double)value;
    }
    return at == end;
}

int ml_propensity_read(const struct model *model, double a, double b, double **inverse,
                       struct error *err) {
    const char *line = model_value(model, ML_LABEL_ROWS_KEY);
    size_t q = model->n_outputs;
    *inverse = NULL;
    if (!line) {
        return 0;
    }
    double *count = memory_array(q + 1, sizeof *count, "measures", err);
    if (!count) {
        return -1;
    }
    if (!read_counts(line, model, count)) {
        free(count);
        return error_set(err, ERROR_RUNTIME,
                         "the model's label-rows are not counts of its rows, one for each label: "
                         "'%.100s'",
                         line);
    }
    count[q] = 0;
    double excess = fmax(0, log((double)model->n_rows) - 1);
    for (size_t k = 0; k <= q; k++) {
        count[k] = 1 + excess * exp(a * (log(b + 1) - log(count[k] + b)));
    }
    *inverse = count;
    return 0;
}
