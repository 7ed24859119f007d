#include "families/top/solver/interior_working_set.h"

#include "common/base/array.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "families/top/solver/interior_point.h"
#include "families/top/solver/kernel_system.h"
#include "families/top/solver/smo_private.h"
#include "families/top/solver/step_selection.h"
#include "fit/work.h"
#include "methods/select_largest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    USUAL = 2048,     /* rows of a part, at first */
    USUAL_STEPS = 20, /* of interior points */
    ROOM = 512,       /* alphas and betas at 0 that are taken along, at least */
    SPARE = 2,  /* times as many rows with entries as the largest part has: some will not stay */
    STALLED = 2 /* parts without progress, after which there is no further one for now */
};

/* Progress: a gap below this part of the least so far. */
static const double BETTER = 0.9;

/* A part is solved to this part of the gap of all rows. */
static const double PART_GAP = 1.0 / 16;

/* Shares of the rows of a part sum to this at least, lest all of beta be at its caps. */
static const double SHARES = 1.25;

double top_finish_work(const struct problem *problem) {
    size_t rows = smaller(USUAL, top_system_most(problem));
    double n = (double)problem->n, product = work_scalar(n * n);
    return USUAL_STEPS * top_system_work(problem, smaller(problem->n, rows)) + product;
}

double top_finish_step_work(const struct problem *problem) {
    return top_finish_work(problem) / USUAL_STEPS;
}

bool top_finish_grows(const struct top_smo *smo) {
    return smo->part < top_system_most(smo->problem);
}

bool top_finish_fits(const struct problem *problem, const struct fit *fit) {
    size_t above = 0;
    for (size_t i = 0; i < problem->n; i++) {
        above += fit->alpha[i] > 0 || fit->beta[i] > 0;
    }
    return above < SPARE * top_system_most(problem);
}

/* Of the rows above 0 that smo->keep marks, leaves those of the largest entries, as many as are
 * wanted. */
static void drop_small(struct top_smo *smo, size_t wanted) {
    const struct top_state *state = &smo->state;
    size_t n = 0;
    double left;
    for (size_t p = 0; p < state->n; p++) {
        smo->row_s[p] = fmax(state->alpha[p], state->beta[p]);
        smo->row_g[p] = 1;
        if (smo->row_s[p] > 0) {
            smo->from[n++] = (uint32_t)p;
        }
    }
    size_t kept =
        select_largest(NULL, smo->row_s, smo->row_g, (double)wanted, smo->from, n, &left, NULL);
    for (size_t t = kept; t < n; t++) {
        smo->keep[smo->from[t]] = 0;
    }
}

/* Marks the rows of the next part, `most` at most, by row: those above 0, or the largest of them if
 * they are more than three quarters, and of the others those of the steepest slopes, as many as
 * fit. All entries of a part before, by interior points, are above 0, and most of them next to
 * nothing. Returns false if that is too few. */
static bool choose_part(struct top_smo *smo, size_t most, bool *within) {
    const struct top_state *state = &smo->state;
    size_t n = state->n, above = 0;
    for (size_t p = 0; p < n; p++) {
        above += state->alpha[p] > 0 || state->beta[p] > 0;
    }
    size_t taken = smaller(above, most - most / 4);
    size_t room = smaller(taken / 2 > ROOM ? taken / 2 : ROOM, (most - taken) / 2);
    memset(smo->keep, 1, n);
    top_choose_few(state, room, smo->keep, smo->row_s, smo->row_g, smo->from);
    if (taken < above) {
        drop_small(smo, taken);
    }
    double shares = 0;
    for (size_t p = 0; p < n; p++) {
        uint32_t row = state->at[p];
        within[row] = smo->keep[p];
        shares += within[row] ? smo->risk->share[row] : 0;
    }
    return smo->risk->kind != TOP_MEAN || shares >= SHARES;
}

/* The primal of a part's function is that of all rows, at its best multiple: one product with the
 * matrix for its scores and those of smo's point. */
static int complete(struct top_smo *smo, struct fit *part, struct error *err) {
    size_t n = smo->state.n;
    if (top_smo_refresh_with(smo, part->weights, err) < 0) {
        return -1;
    }
    double norm = array_dot(part->weights, smo->row_s, n);
    double multiple = top_risk_multiple(smo->risk, smo->cost, norm, smo->row_s, TOP_MULTIPLE_EXACT,
                                        smo->scores, &part->primal);
    for (size_t i = 0; i < n; i++) {
        part->weights[i] *= multiple;
    }
    return 0;
}

/* Solves over the part, which is smo's point then, and takes what is better of it. */
static int solve_part(struct top_smo *smo, const bool *within, double epsilon,
                      const struct monitor *monitor, struct fit *fit, struct error *err) {
    const struct monitor watch = monitor_inner(monitor);
    struct fit part;
    if (top_interior_solve(smo->problem, smo->map, smo->risk, within, NULL, false, smo->cost,
                           epsilon, &watch, &part, err)) {
        return -1;
    }
    top_smo_adopt(smo, smo->cost, part.alpha, part.beta);
    if (complete(smo, &part, err) < 0) {
        fit_free(&part);
        return -1;
    }
    fit->iterations += part.iterations;
    fit_join(fit, &part);
    return 0;
}

/* Part after part. Their steps take the cube of the rows, and few of those that smo leaves above 0
 * mostly stay there: parts are larger only from the next turn on, where smo in its own has not made
 * that needless. */
static int run(struct top_smo *smo, double epsilon, bool *within, const struct monitor *monitor,
               struct fit *fit, struct error *err) {
    double least = INFINITY;
    size_t limit = top_system_most(smo->problem);
    smo->part = smaller(smo->part > 0 ? smo->part : USUAL, limit);
    for (int stalled = 0; stalled < STALLED;) {
        double gap = gap_relative(fit->primal, fit->dual);
        fit->converged = gap_reached(fit->primal, fit->dual, epsilon);
        enum stop_reason said = monitor_check(monitor, fit->iterations, fit->primal, fit->dual);
        if (fit->converged || said) {
            fit->reason = fit->converged ? STOP_REACHED : said;
            return 0;
        }
        stalled = gap < BETTER * least ? 0 : stalled + 1;
        least = fmin(least, gap);
        if (!choose_part(smo, smo->part, within)) {
            break;
        }
        double wanted = stalled ? 0.5 * epsilon : fmax(0.5 * epsilon, PART_GAP * gap);
        if (solve_part(smo, within, wanted, monitor, fit, err)) {
            return -1;
        }
    }
    fit->reason = smo->part < limit ? STOP_STALLED : STOP_PRECISION;
    smo->part = smaller(2 * smo->part, limit);
    return 0;
}

int top_finish_solve(struct top_smo *smo, const struct top_smo_settings *settings,
                     const struct monitor *monitor, struct fit *fit, struct error *err) {
    *fit = (struct fit){0};
    bool *within = memory_array(smo->state.n, sizeof *within, "rows", err);
    int status = within ? top_smo_begin(smo, settings->cost, err) : -1;
    if (status == 0) {
        top_smo_bounds(smo, settings->epsilon, fit);
        status = top_smo_copy(smo, fit, err);
    }
    if (status == 0) {
        status = run(smo, settings->epsilon, within, monitor, fit, err);
    }
    if (status == 0) {
        top_smo_adopt(smo, smo->cost, fit->alpha, fit->beta);
    }
    free(within);
    if (status < 0) {
        fit_free(fit);
        smo->cost = 0;
    }
    return status;
}
