/* Memory of a solver's result. */
#include "fit/fit.h"

#include "common/base/array.h"

#include <stdlib.h>

void fit_free(struct fit *fit) {
    free(fit->weights);
    free(fit->scores);
    free(fit->dual_weights);
    free(fit->dual_scores);
    free(fit->dual_error);
    free(fit->alpha);
    free(fit->beta);
    *fit = (struct fit){0};
}

void fit_take_better(struct fit *fit, struct fit *other) {
    if (other->primal < fit->primal) {
        array_swap(&fit->weights, &other->weights);
        array_swap(&fit->scores, &other->scores);
        fit->bias = other->bias;
        fit->has_bias = other->has_bias;
        fit->primal = other->primal;
    }
    if (other->dual > fit->dual) {
        array_swap(&fit->dual_weights, &other->dual_weights);
        array_swap(&fit->dual_scores, &other->dual_scores);
        array_swap(&fit->dual_error, &other->dual_error);
        array_swap(&fit->alpha, &other->alpha);
        array_swap(&fit->beta, &other->beta);
        fit->dual_offset = other->dual_offset;
        fit->smoothing = other->smoothing;
        fit->rounding = other->rounding;
        fit->dual = other->dual;
    }
    fit_free(other);
}
