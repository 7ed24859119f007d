#include "solvers/methods/fit.h"

#include <stdlib.h>

void fit_free(struct fit *fit) {
    free(fit->weights);
    free(fit->dual_weights);
    free(fit->dual_scores);
    free(fit->alpha);
    free(fit->beta);
    *fit = (struct fit){0};
}

static void swap(double **a, double **b) {
    double *spare = *a;
    *a = *b;
    *b = spare;
}

void fit_join(struct fit *fit, struct fit *other) {
    if (other->primal < fit->primal) {
        swap(&fit->weights, &other->weights);
        fit->primal = other->primal;
    }
    if (other->dual > fit->dual) {
        swap(&fit->alpha, &other->alpha);
        swap(&fit->beta, &other->beta);
        fit->dual = other->dual;
    }
    fit_free(other);
}
