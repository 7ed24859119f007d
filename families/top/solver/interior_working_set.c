/* Selection of working sets, and the loop that solves them until the gap is reached. */
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
    FIRST_ROWS = 2048, /* rows of the first working set */
    /* rows at 0 that join a working set, for alpha and for beta each: rows above 0 /
     * NONZERO_PER_ZERO, or MIN_ZERO_ROWS. With 2 and 512, 38 fits of spambase at large C take 1.4
     * times as long */
    MIN_ZERO_ROWS = 64,
    NONZERO_PER_ZERO = 8,
    /* limit of rows above 0, as a multiple of the largest working set: some of them go to 0 */
    MAX_EXCESS = 2,
    MAX_STALLED = 2 /* working sets without progress, which end a run */
};

/* The shares of the rows of a working set sum to at least this, so that not all of beta is at its
 * caps. */
static const double MIN_SHARES = 1.25;

double top_working_set_work(const struct problem *problem) {
    size_t rows = smaller(FIRST_ROWS, top_system_max_rows(problem));
    double n = (double)problem->n, product = work_scalar(n * n);
    return TOP_INTERIOR_STEPS * top_system_work(problem, smaller(problem->n, rows)) + product;
}

double top_working_set_step_work(const struct problem *problem) {
    return top_working_set_work(problem) / TOP_INTERIOR_STEPS;
}

bool top_working_set_grows(const struct top_smo *smo) {
    return smo->set_rows < top_system_max_rows(smo->problem);
}

bool top_working_set_fits(const struct problem *problem, const struct fit *fit) {
    size_t nonzero = 0;
    for (size_t i = 0; i < problem->n; i++) {
        nonzero += fit->alpha[i] > 0 || fit->beta[i] > 0;
    }
    size_t max_rows = top_system_max_rows(problem);
    return nonzero < (problem->n <= max_rows ? problem->n / 2 : MAX_EXCESS * max_rows);
}

/* Of the rows above 0 that smo->keep marks, keeps the `target` largest. */
static void keep_largest(struct top_smo *smo, size_t target) {
    const struct top_state *state = &smo->state;
    size_t n = 0;
    double left;
    for (size_t p = 0; p < state->n; p++) {
        smo->row_s[p] = fmax(state->alpha[p], state->beta[p]);
        smo->row_g[p] = 1;
        if (smo->row_s[p] > 0) {
            smo->order[n++] = (uint32_t)p;
        }
    }
    size_t kept =
        select_largest(NULL, smo->row_s, smo->row_g, (double)target, smo->order, n, &left, NULL);
    for (size_t t = kept; t < n; t++) {
        smo->keep[smo->order[t]] = 0;
    }
}

/* Chooses the next working set of at most max_rows rows, marked by row in in_set: the rows above 0,
 * or the largest of them if they are more than three quarters of it, and of the others those with
 * the steepest slopes. The entries of an earlier working set are all above 0, most of them
 * barely. More of these join until the shares suffice. Returns false if they do not, or the set is
 * too large: at the point 0 all of beta is at its caps, which are 0, and stays in the set. */
static bool choose_set(struct top_smo *smo, size_t max_rows, bool *in_set) {
    const struct top_state *state = &smo->state;
    size_t n = state->n, nonzero = top_state_count_above(state, n);
    size_t n_nonzero = smaller(nonzero, max_rows - max_rows / 4);
    size_t few = n_nonzero / NONZERO_PER_ZERO, limit = (max_rows - n_nonzero) / 2;
    size_t n_zero = smaller(few > MIN_ZERO_ROWS ? few : MIN_ZERO_ROWS, limit);
    for (;; n_zero = smaller(2 * n_zero, limit)) {
        double shares = 0;
        size_t kept = 0;
        memset(smo->keep, 1, n);
        top_choose_steepest(state, n_zero, smo->keep, smo->row_s, smo->row_g, smo->order);
        if (n_nonzero < nonzero) {
            keep_largest(smo, n_nonzero);
        }
        for (size_t p = 0; p < n; p++) {
            uint32_t row = state->row_of[p];
            in_set[row] = smo->keep[p];
            kept += in_set[row];
            shares += in_set[row] ? smo->risk->share[row] : 0;
        }
        bool enough = smo->risk->kind != TOP_MEAN || shares >= MIN_SHARES;
        if (enough || n_zero == limit) {
            return enough && kept <= max_rows;
        }
    }
}

/* Sets the primal of the function that a working set gave to that of all rows, at its best
 * multiple: one product with K for its scores and those of smo's point. */
static int complete_primal(struct top_smo *smo, struct fit *inner, struct error *err) {
    size_t n = smo->state.n;
    if (top_smo_recompute(smo, false, inner->weights, err) < 0) {
        return -1;
    }
    double squared_norm = array_dot(inner->weights, smo->row_s, n);
    double multiple = top_risk_multiple(smo->risk, smo->cost, squared_norm, smo->row_s,
                                        TOP_MULTIPLE_EXACT, smo->scores, &inner->primal);
    array_scale(inner->weights, multiple, n);
    return 0;
}

/* Solves over the working set, makes its solution smo's point, and takes the better bounds. */
static int solve_set(struct top_smo *smo, const bool *in_set, double epsilon,
                     const struct monitor *monitor, struct fit *fit, struct error *err) {
    const struct monitor watch = monitor_deadline_only(monitor);
    const struct top_interior_settings settings = {
        .cost = smo->cost, .epsilon = epsilon, .in_set = in_set};
    struct fit inner;
    if (top_interior_solve(smo->problem, smo->map, smo->risk, &settings, &watch, &inner, err) < 0) {
        return -1;
    }
    top_smo_set_point(smo, smo->cost, inner.alpha, inner.beta);
    if (complete_primal(smo, &inner, err) < 0) {
        fit_free(&inner);
        return -1;
    }
    fit->iterations += inner.iterations;
    fit_take_better(fit, &inner);
    return 0;
}

/* Solves working sets until the gap is reached or two in a row bring no progress. An iteration
 * costs the cube of the rows, and few rows that smo leaves above 0 mostly stay there: the sets are
 * larger only in the next time slice, if smo's own slice has not reached the gap. */
static int run(struct top_smo *smo, double epsilon, bool *in_set, const struct monitor *monitor,
               struct fit *fit, struct error *err) {
    double min_gap = INFINITY;
    size_t limit = top_system_max_rows(smo->problem);
    smo->set_rows = smaller(smo->set_rows > 0 ? smo->set_rows : FIRST_ROWS, limit);
    for (int stalled = 0; stalled < MAX_STALLED;) {
        double gap = gap_relative(fit->primal, fit->dual);
        fit->converged = gap_reached(fit->primal, fit->dual, epsilon);
        enum stop_reason reason = monitor_check(monitor, fit->iterations, fit->primal, fit->dual);
        if (fit->converged || reason) {
            fit->reason = fit->converged ? STOP_REACHED : reason;
            return 0;
        }
        stalled = gap < STOP_PROGRESS * min_gap ? 0 : stalled + 1;
        min_gap = fmin(min_gap, gap);
        if (!choose_set(smo, smo->set_rows, in_set)) {
            break;
        }
        if (solve_set(smo, in_set, 0.5 * epsilon, monitor, fit, err) < 0) {
            return -1;
        }
    }
    fit->reason = STOP_STALLED; /* not STOP_FLOAT_KERNEL: systems and scores are in double */
    smo->set_rows = smaller(2 * smo->set_rows, limit);
    return 0;
}

int top_working_set_solve(struct top_smo *smo, const struct top_smo_settings *settings,
                          const struct monitor *monitor, struct fit *fit, struct error *err) {
    *fit = (struct fit){0};
    smo->monitor = monitor;
    bool *in_set = memory_array(smo->state.n, sizeof *in_set, "rows", err);
    int status = in_set ? top_smo_begin(smo, settings->cost, err) : -1;
    if (status == 0) {
        top_smo_bounds(smo, settings->epsilon, fit);
        status = top_smo_copy(smo, fit, err);
    }
    if (status == 0) {
        status = run(smo, settings->epsilon, in_set, monitor, fit, err);
    }
    if (status == 0) {
        top_smo_set_point(smo, smo->cost, fit->alpha, fit->beta);
    }
    smo->monitor = NULL;
    free(in_set);
    if (status < 0) {
        fit_free(fit);
        smo->cost = 0;
    }
    return status;
}
