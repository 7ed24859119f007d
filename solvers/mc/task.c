#include "solvers/mc/task.h"

#include <stdlib.h>

void mc_fit_free(struct mc_fit *fit) {
    free(fit->weights);
    free(fit->bias);
    mc_alpha_free(&fit->alpha);
    *fit = (struct mc_fit){0};
}
