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
