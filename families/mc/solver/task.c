/* Joining of fits, and the outer loop. */
#include "families/mc/solver/task.h"

#include "families/mc/solver/certify.h"
#include "fit/tolerance.h"

#include <math.h>
#include <stdlib.h>

/* Runs of the outer loop. Each halves the tolerance: 8 come to 1/128 of the first. */
enum { MAX_RUNS = 8 };

void mc_fit_free(struct mc_fit *fit) {
    free(fit->weights);
    free(fit->bias);
    mc_alpha_free(&fit->alpha);
    *fit = (struct mc_fit){0};
}

void mc_fit_join(struct mc_fit *fit, struct mc_fit *other) {
    uint64_t iterations = fit->iterations + other->iterations;
    if (other->certificate.primal < fit->certificate.primal) {
        enum stop_reason reason = fit->reason;
        struct mc_fit better = *other;
        *other = *fit;
        *fit = better;
        fit->reason = reason;
    }
    /* the dual point of the bound that certify_take_better_dual takes */
    if (other->certificate.certified && other->certificate.dual > fit->certificate.dual) {
        struct mc_alpha alpha = fit->alpha;
        fit->alpha = other->alpha;
        other->alpha = alpha;
    }
    certify_take_better_dual(&fit->certificate, &other->certificate);
    fit->iterations = iterations;
    mc_fit_free(other);
}

void mc_fit_take(struct mc_fit *fit, struct mc_fit *found) {
    if (fit->weights && found->unsolved) {
        fit->reason = found->reason;
        mc_fit_free(found);
        return;
    }
    if (fit->weights) {
        mc_fit_join(found, fit);
    }
    *fit = *found;
    *found = (struct mc_fit){0};
}

/* The context of run_once. */
struct tightening {
    mc_run run;
    void *solver;
    const struct mc_goal *goal;
    const struct monitor *monitor;
    struct mc_fit *fit;
};

static int run_once(void *context, double epsilon, struct tolerance_result *end,
                    struct error *err) {
    const struct tightening *outer = context;
    struct mc_fit found = {0}, *fit = outer->fit;
    if (outer->run(outer->solver, epsilon, outer->monitor, &found, err) < 0) {
        mc_fit_free(&found);
        return -1;
    }
    uint64_t iterations = found.iterations;
    mc_fit_take(fit, &found);
    fit->iterations = iterations;
    const struct certificate *certificate = &fit->certificate;
    if (!fit->unsolved && certificate->gap <= outer->goal->epsilon) {
        fit->reason = STOP_REACHED;
    } else if (!fit->reason && mc_is_rounding(certificate, certificate->rounding)) {
        fit->reason = STOP_ROUNDING;
    }
    *end = (struct tolerance_result){.gap = certificate->certified ? certificate->gap : (double)NAN,
                                     .limited = stop_limited(fit->reason),
                                     .converged = !fit->reason};
    return 0;
}

int mc_fit_tighten(mc_run run, void *solver, const struct mc_goal *goal,
                   const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    struct tightening outer = {run, solver, goal, monitor, fit};
    if (tolerance_tighten(run_once, &outer, goal->epsilon, MAX_RUNS, err) < 0) {
        mc_fit_free(fit);
        return -1;
    }
    if (!fit->reason && !fit->unsolved && !(fit->certificate.gap <= goal->epsilon)) {
        fit->reason = STOP_OUTER_ITERATIONS;
    }
    return 0;
}
