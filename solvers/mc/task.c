#include "solvers/mc/task.h"

#include <stdlib.h>

void mc_fit_free(struct mc_fit *fit) {
    free(fit->weights);
    free(fit->bias);
    mc_alpha_free(&fit->alpha);
    *fit = (struct mc_fit){0};
}

void mc_fit_join(struct mc_fit *fit, struct mc_fit *other) {
    uint64_t iterations = fit->iterations + other->iterations;
    if (other->primal < fit->primal) {
        enum stop_reason reason = fit->reason;
        struct mc_fit better = *other;
        *other = *fit;
        *fit = better;
        fit->reason = reason;
    }
    if (other->certificate.certified &&
        other->certificate.dual > fit->certificate.dual) { /* the dual bound that is joined */
        struct mc_alpha alpha = fit->alpha;
        fit->alpha = other->alpha;
        other->alpha = alpha;
    }
    certify_join(&fit->certificate, &other->certificate);
    fit->dual = fit->certificate.dual;
    fit->iterations = iterations;
    mc_fit_free(other);
}
