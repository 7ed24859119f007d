#include "solvers/top/engines.h"

#include "common/base/gap.h"
#include "solvers/top/cd.h"

void top_engines_free(struct top_engines *engines) {
    bundle_free(engines->bundle);
    top_smo_free(engines->smo);
    top_risk_free(&engines->risk);
}

static int run_bundle(struct top_engines *engines, const struct top_parameters *parameters,
                      double epsilon, const struct monitor *monitor, struct fit *fit,
                      struct error *err) {
    if (!engines->bundle) {
        engines->table = top_risk_table(&engines->risk);
        if (bundle_create(&engines->bundle, engines->map, &engines->table, err) < 0) {
            return -1;
        }
    }
    return bundle_solve(engines->bundle, parameters->cost, epsilon, monitor, fit, err);
}

static int run_smo(struct top_engines *engines, const struct top_parameters *parameters,
                   double epsilon, const struct monitor *monitor, struct fit *fit,
                   struct error *err) {
    if (!engines->smo &&
        top_smo_create(&engines->smo, engines->problem, engines->map, &engines->risk, err) < 0) {
        return -1;
    }
    const struct top_smo_settings settings = {
        .cost = parameters->cost, .epsilon = epsilon, .shrink = parameters->shrink};
    return top_smo_solve(engines->smo, &settings, monitor, fit, err);
}

static int run_one(struct top_engines *engines, enum top_method method,
                   const struct top_parameters *parameters, double epsilon,
                   const struct monitor *monitor, struct fit *fit, struct error *err) {
    switch (method) {
    case TOP_BUNDLE:
        return run_bundle(engines, parameters, epsilon, monitor, fit, err);
    case TOP_CD:
        return top_cd_solve(engines->problem, engines->map, &engines->risk, parameters->cost,
                            epsilon, parameters->seed, monitor, fit, err);
    default:
        return run_smo(engines, parameters, epsilon, monitor, fit, err);
    }
}

/* ---- two engines in turn ---- */

/* Takes the better primal and the better dual of two fits into the first, frees the second. */
static void join_fits(struct fit *fit, struct fit *other) {
    double *spare;
    if (other->primal < fit->primal) {
        spare = fit->weights;
        fit->weights = other->weights;
        other->weights = spare;
        fit->primal = other->primal;
    }
    if (other->dual > fit->dual) {
        spare = fit->dual_weights;
        fit->dual_weights = other->dual_weights;
        other->dual_weights = spare;
        fit->dual = other->dual;
        fit->dual_offset = other->dual_offset;
    }
    fit_free(other);
}

/* Iterations of a first turn. A plane costs two products with the data or K, a step of smo one or
 * two rows of K that are mostly in the cache: turns are to take about as long. */
static uint64_t first_turn(const struct top_engines *engines, enum top_method method) {
    enum { PLANES = 256, STEPS = 4096 };
    uint64_t n = engines->problem->n;
    if (method == TOP_BUNDLE) {
        return PLANES;
    }
    uint64_t row = engines->map->primal ? data_values(engines->problem->data) / (n + 1) / 4 : n / 8;
    return STEPS + PLANES * row;
}

/* Cutting planes and smo in turn, each going on from where it was, with twice the iterations from
 * round to round: the slower one costs no more than the better. Planes come first with the linear
 * kernel, where they mostly need some hundred; with other kernels smo does. Planes fail where many
 * features and small lambda make many planes; smo fails where few features make many equal
 * solutions, and where C is so large that floats in rows of K are in the way. */
static int run_both(struct top_engines *engines, const struct top_parameters *parameters,
                    double epsilon, const struct monitor *monitor, struct fit *fit,
                    struct error *err) {
    enum top_method method = engines->map->primal ? TOP_BUNDLE : TOP_SMO;
    uint64_t iterations = 0;
    int given_up = 0; /* turns in a row that ended by themselves */
    for (int number = 0;; number++) {
        struct fit turn_fit;
        struct monitor_run turn;
        const struct monitor watch =
            monitor_after(&turn, monitor, iterations, first_turn(engines, method) << number / 2);
        if (run_one(engines, method, parameters, epsilon, &watch, &turn_fit, err) < 0) {
            if (number > 0) {
                fit_free(fit);
            }
            return -1;
        }
        iterations += turn_fit.iterations;
        given_up = turn_fit.converged || stop_limited(turn_fit.reason) ? 0 : given_up + 1;
        if (number == 0) {
            *fit = turn_fit;
        } else {
            fit->reason = turn_fit.reason;
            join_fits(fit, &turn_fit);
        }
        fit->iterations = iterations;
        fit->converged = gap_reached(fit->primal, fit->dual, epsilon);
        if (fit->converged) {
            fit->reason = STOP_REACHED; /* by both together */
        }
        if (fit->converged || turn.said || given_up == 2) {
            return 0;
        }
        method = method == TOP_SMO ? TOP_BUNDLE : TOP_SMO;
    }
}

int top_engines_solve(struct top_engines *engines, const struct top_parameters *parameters,
                      double epsilon, uint64_t before, const struct monitor *monitor,
                      struct fit *fit, struct error *err) {
    struct monitor_run run;
    const struct monitor watch = monitor_after(&run, monitor, before, 0);
    return parameters->method == TOP_AUTO
               ? run_both(engines, parameters, epsilon, &watch, fit, err)
               : run_one(engines, parameters->method, parameters, epsilon, &watch, fit, err);
}
