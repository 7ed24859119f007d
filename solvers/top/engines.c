#include "solvers/top/engines.h"

#include "common/base/gap.h"
#include "common/base/memory.h"
#include "solvers/top/cd.h"
#include "solvers/top/finish.h"
#include "solvers/top/interior.h"

#include <math.h>

/* Budget of smo and planes after parts, in what all have spent: as long again would be much where
 * they crawl. */
static const double FURTHER = 1.5;

/* Gap after a first turn of coordinate descent that does not crawl. */
static const double WELL = 0.2;

void top_engines_free(struct top_engines *engines) {
    bundle_free(engines->bundle);
    top_smo_free(engines->smo);
    top_descent_free(engines->descent);
    top_risk_free(&engines->risk);
}

/* Both blocks of the dual point. */
struct blocks {
    double *alpha, *beta;
};

static void add_plane(void *context, double weight, const void *record) {
    const struct blocks *blocks = context;
    top_risk_add_record(weight, record, blocks->alpha, blocks->beta);
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
    if (bundle_solve(engines->bundle, parameters->cost, epsilon, monitor, fit, err)) {
        return -1;
    }
    size_t n = engines->map->n;
    fit->alpha = memory_zeros(n, sizeof(double), "the dual point", err);
    fit->beta = memory_zeros(n, sizeof(double), "the dual point", err);
    if (!fit->alpha || !fit->beta) {
        fit_free(fit);
        return -1;
    }
    struct blocks blocks = {fit->alpha, fit->beta};
    bundle_visit(engines->bundle, parameters->cost, add_plane, &blocks);
    return 0;
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

/* Whether rows can be visited one by one. */
static bool is_plain(const struct top_engines *engines) {
    return engines->risk.kind == TOP_NONE && engines->map->primal;
}

static int run_cd(struct top_engines *engines, const struct top_parameters *parameters,
                  double epsilon, const struct monitor *monitor, struct fit *fit,
                  struct error *err) {
    if (!is_plain(engines)) {
        return top_cd_solve(engines->problem, engines->map, &engines->risk, parameters->cost,
                            epsilon, parameters->seed, monitor, fit, err);
    }
    if (!engines->descent &&
        top_descent_create(&engines->descent, engines->problem, engines->map, &engines->risk,
                           engines->length, parameters->seed, err) < 0) {
        return -1;
    }
    return top_descent_solve(engines->descent, parameters->cost, epsilon, monitor, fit, err);
}

/* Whether interior points are those over the rows that matter. */
static bool is_parted(const struct top_engines *engines) {
    return engines->smo && isinf(top_interior_work(engines->problem, &engines->risk));
}

/* Interior points over all rows, or, where these are too many and smo has begun, over the rows that
 * matter. */
static int run_interior(struct top_engines *engines, const struct top_parameters *parameters,
                        double epsilon, const struct monitor *monitor, struct fit *fit,
                        struct error *err) {
    if (is_parted(engines)) {
        const struct top_smo_settings settings = {.cost = parameters->cost, .epsilon = epsilon};
        return top_finish_solve(engines->smo, &settings, monitor, fit, err);
    }
    if (top_interior_solve(engines->problem, engines->map, &engines->risk, NULL, engines->length,
                           engines->misled, parameters->cost, epsilon, monitor, fit, err)) {
        return -1;
    }
    if (engines->smo) {
        top_smo_adopt(engines->smo, parameters->cost, fit->alpha, fit->beta);
    }
    return 0;
}

static int run_one(struct top_engines *engines, enum top_method method,
                   const struct top_parameters *parameters, double epsilon,
                   const struct monitor *monitor, struct fit *fit, struct error *err) {
    switch (method) {
    case TOP_BUNDLE:
        return run_bundle(engines, parameters, epsilon, monitor, fit, err);
    case TOP_CD:
        return run_cd(engines, parameters, epsilon, monitor, fit, err);
    case TOP_INTERIOR:
        return run_interior(engines, parameters, epsilon, monitor, fit, err);
    default:
        return run_smo(engines, parameters, epsilon, monitor, fit, err);
    }
}

/* ---- engines in turn ---- */

/* What one iteration costs, about, in operations of a plain loop: a plane two products with the
 * data or K, and its part of the master; a step of smo some passes over the rows. */
static double iteration_work(const struct top_engines *engines, enum top_method method) {
    enum { PASSES = 16, MASTER = 20000 };
    double n = (double)engines->risk.n_all;
    switch (method) {
    case TOP_BUNDLE:
        return MASTER + (engines->map->primal ? 4 * engines->values : 2 * n * n);
    case TOP_CD:
        return PASSES * n + 4 * engines->values;
    case TOP_SMO:
        return PASSES * n;
    default: /* interior points; over all rows they are a relay's last but one, and not counted */
        return is_parted(engines) ? top_finish_step_work(engines->problem) : 0;
    }
}

/* Iterations of a first turn: turns are to take about as long. */
static uint64_t first_turn(const struct top_engines *engines, enum top_method method) {
    enum { PLANES = 256, SWEEPS = 64, STEPS = 4096, PAIRS = 64, USUAL = 8 };
    uint64_t n = engines->problem->n;
    uint64_t part = engines->risk.kind == TOP_NONE ? PAIRS : USUAL; /* of n steps, for a plane */
    if (method == TOP_BUNDLE) {
        return PLANES;
    }
    if (method == TOP_CD) {
        return SWEEPS;
    }
    uint64_t row =
        engines->map->primal ? data_values(engines->problem->data) / (n + 1) / 4 : n / part;
    return STEPS + PLANES * row;
}

/* A solve by several engines: the best of all so far, whose turn it is, and what was spent. */
struct relay {
    struct top_engines *engines;
    const struct top_parameters *parameters;
    double epsilon;
    const struct monitor *monitor;
    struct fit *fit;
    bool started, ended;
    int number;   /* of turns */
    int given_up; /* turns in a row that ended by themselves */
    double spent; /* operations */
};

/* One turn of at most so many iterations; relay->ended: there is nothing more to do. */
static int take_turn(struct relay *relay, enum top_method method, uint64_t most,
                     struct error *err) {
    struct fit *fit = relay->fit, turn_fit;
    uint64_t before = relay->started ? fit->iterations : 0;
    struct monitor_run turn;
    const struct monitor watch = monitor_after(&turn, relay->monitor, before, most);
    if (run_one(relay->engines, method, relay->parameters, relay->epsilon, &watch, &turn_fit,
                err)) {
        return -1;
    }
    uint64_t iterations = turn_fit.iterations;
    enum stop_reason reason = turn_fit.reason;
    bool limited = stop_limited(reason);
    relay->given_up = turn_fit.converged || limited ? 0 : relay->given_up + 1;
    relay->spent += (double)iterations * iteration_work(relay->engines, method);
    if (relay->started) {
        fit_join(fit, &turn_fit);
    } else {
        *fit = turn_fit;
        fit->reason = STOP_REACHED;
    }
    relay->started = true;
    fit->iterations = before + iterations;
    fit->converged = gap_reached(fit->primal, fit->dual, relay->epsilon);
    relay->ended = fit->converged || turn.said;
    if (fit->converged) {
        fit->reason = STOP_REACHED;     /* perhaps by several together */
    } else if (!limited || turn.said) { /* else the turn is over, and no more */
        fit->reason = reason;
    }
    return 0;
}

/* Whether coordinate descent has come so far in its turns that it is best left to end. */
static bool goes_well(const struct relay *relay) {
    return relay->started && gap_relative(relay->fit->primal, relay->fit->dual) < WELL;
}

/* Cutting planes and smo in turn, each going on from where it was, with twice the iterations from
 * round to round: the slower one costs no more than the better. Planes come first with the linear
 * kernel, where they mostly need some hundred; with other kernels smo does. Planes fail where many
 * features and small lambda make many planes; smo fails where few features make many equal
 * solutions, and where C is so large that floats in rows of K are in the way. Of the linear svm,
 * coordinate descent comes first, and planes only where it crawls, as with large C. Or the one that
 * is asked for alone. Ends when no more is left of the budget, in operations, or when all gave up:
 * *stuck. */
static int run_turns(struct relay *relay, double budget, bool *stuck, struct error *err) {
    const struct top_engines *engines = relay->engines;
    enum top_method asked = relay->parameters->method;
    bool plain = is_plain(engines), both = asked == TOP_AUTO && (plain || !engines->map->cluster);
    both = both && !engines->misled;
    asked = asked != TOP_AUTO ? asked : engines->misled ? TOP_SMO : TOP_BUNDLE;
    *stuck = false;
    while (!relay->ended && !*stuck && relay->spent < budget) {
        bool even = relay->number % 2 == 0, goes = plain && goes_well(relay);
        bool planes = plain ? !even && !goes : engines->map->primal == even;
        enum top_method other = plain ? TOP_CD : TOP_SMO;
        enum top_method method = !both ? asked : planes ? TOP_BUNDLE : other;
        uint64_t most = both ? first_turn(engines, method) << relay->number / (goes ? 1 : 2) : 0;
        double left = (budget - relay->spent) / iteration_work(engines, method);
        bool cut = most == 0 || left < (double)most; /* the same engine then goes on */
        most = cut ? (uint64_t)fmin(left + 1, 1e18) : most;
        if (take_turn(relay, method, most, err)) {
            return -1;
        }
        relay->number += !cut || relay->given_up > 0;
        *stuck = relay->given_up >= (both ? 2 : 1);
    }
    return 0;
}

/* Where rows are too many for interior points: smo and planes, and in turn with them interior
 * points over the rows that matter. */
static int run_parts(struct relay *relay, struct error *err) {
    double budget = top_finish_work(relay->engines->problem);
    bool stuck = false;
    while (!relay->ended && !stuck) {
        if (run_turns(relay, budget, &stuck, err)) {
            return -1;
        }
        int given_up =
            relay->given_up; /* of those in turn alone, as is the reason of a fit that they end */
        enum stop_reason reason = relay->fit->reason;
        if (!relay->ended && top_finish_fits(relay->engines->problem, relay->fit)) {
            stuck = stuck && !top_finish_grows(relay->engines->smo);
            if (take_turn(relay, TOP_INTERIOR, 0, err)) {
                return -1;
            }
        }
        relay->given_up = stuck ? given_up : 0; /* else each has another turn */
        relay->fit->reason = relay->ended ? relay->fit->reason : reason;
        budget = fmax(budget, FURTHER * relay->spent);
    }
    return 0;
}

/* First those engines whose steps are cheap, until they have spent what interior points need; then
 * these; and where rounding ended them, though the others still gained, the others again. */
static int run_relay(struct relay *relay, struct error *err) {
    enum { MORE = 4 };
    struct top_engines *engines = relay->engines;
    enum top_method asked = relay->parameters->method;
    double finish = top_interior_work(engines->problem, &engines->risk);
    bool stuck;
    if (isinf(finish) && !engines->map->primal && (asked == TOP_AUTO || asked == TOP_SMO)) {
        return run_parts(relay, err);
    }
    if (run_turns(relay, finish, &stuck, err)) {
        return -1;
    }
    if (relay->ended || isinf(finish)) {
        return 0;
    }
    if (take_turn(relay, TOP_INTERIOR, 0, err)) {
        return -1;
    }
    return relay->ended || stuck ? 0 : run_turns(relay, relay->spent + MORE * finish, &stuck, err);
}

int top_engines_solve(struct top_engines *engines, const struct top_parameters *parameters,
                      double epsilon, uint64_t before, const struct monitor *monitor,
                      struct fit *fit, struct error *err) {
    struct monitor_run run;
    const struct monitor watch = monitor_after(&run, monitor, before, 0);
    if ((parameters->method == TOP_CD && !is_plain(engines)) ||
        parameters->method == TOP_INTERIOR) {
        return run_one(engines, parameters->method, parameters, epsilon, &watch, fit, err);
    }
    struct relay relay = {.engines = engines,
                          .parameters = parameters,
                          .epsilon = epsilon,
                          .monitor = &watch,
                          .fit = fit};
    *fit = (struct fit){0};
    int status = run_relay(&relay, err);
    if (status < 0) {
        fit_free(fit);
    }
    return status;
}
