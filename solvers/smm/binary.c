#include "solvers/smm/binary.h"

#include "common/base/array.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/kernel/linear.h"
#include "solvers/methods/score_map.h"
#include "solvers/smm/binary_bias.h"
#include "solvers/smm/binary_private.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CORRECTIONS = 8,  /* Newton steps at one mu that should do */
    STALL_STEPS = 40, /* steps without a better gap: rounding has the last word */
    LINE_STEPS = 30,
    COEFFICIENT_ROWS = 3000, /* at most; the matrix of products then has 72 MB */
    WEIGHT_FEATURES = 3000   /* at most, for a Hessian that is factored */
};

/* mu: where the path is looked for, first downwards from an earlier solution, then upwards from 0;
 * how far a step goes down, usually, at the most (after steps that needed no halving) and at the
 * least; how far it goes back up among kinks; where rounding of u / mu ends it; the shortest step.
 */
static const double MU_FIRST = 1, MU_TRIED_LEAST = 1e-6, MU_TRIED_MOST = 1e12;
static const double MU_DOWN = 0.1, MU_UP = 10, MU_BACK = 5, MU_TIMID = 0.5;
static const double MU_CAREFUL = 0.1, MU_BOLD = 0.01, MU_LEAST = 1e-10, MU_SHORTEST = 0.1;
static const double NEAR = 0.3, FAR = 0.9; /* of the path: shares of the gap */
static const double EXACT_GAP = 4;    /* of the gap wanted: worth the sorting of its own bias */
static const double NEAR_GAP = 0.05;  /* at most, for a start to count as near */
static const double LINE_SLOPE = 0.1; /* what the line search leaves of the slope */

/* ---- rows ---- */

void binary_scores(const struct binary_rows *rows, const double *w, double *s) {
    if (!rows->z) {
        linear_scores(rows->data, w, rows->d, 1, s, rows->threads);
    } else if (rows->n > 0 && rows->d > 0) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)rows->n, (int)rows->d, 1, rows->z,
                    (int)rows->d, w, 1, 0, s, 1);
    }
}

int binary_adjoint(const struct binary_rows *rows, const double *r, double *w, struct error *err) {
    if (!rows->z) {
        size_t stored = rows->data->n_features;
        memset(w + stored, 0, (rows->d - stored) * sizeof *w);
        return linear_adjoint(rows->data, r, w, rows->threads, err);
    }
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)rows->n, (int)rows->d, 1, rows->z, (int)rows->d, r,
                1, 0, w, 1);
    return 0;
}

/* ---- opening ---- */

/* A row of the lower half of K at a time. */
struct products {
    const struct binary *binary;
    double *dense; /* (n, d); NULL: rows.z */
};

static void fill_dense(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct products *products = argument;
    const struct binary_rows *rows = &products->binary->rows;
    data_row_dense(rows->data, task, rows->d, products->dense + task * rows->d);
}

static int fill_products(struct binary *binary, struct error *err) {
    const struct binary_rows *rows = &binary->rows;
    struct products products = {.binary = binary};
    const double *z = rows->z;
    if (!z) {
        products.dense = memory_array(rows->n, rows->d * sizeof *z, "dense rows", err);
        if (!products.dense) {
            return -1;
        }
        threads_run(rows->threads, rows->n, fill_dense, &products);
        z = products.dense;
    }
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)rows->n, (int)rows->d, 1, z,
                (int)rows->d, 0, binary->K, (int)rows->n);
    for (size_t i = 0; i < rows->n; i++) { /* the band's entries are read from whole rows */
        for (size_t j = 0; j < i; j++) {
            binary->K[j * rows->n + i] = binary->K[i * rows->n + j];
        }
    }
    free(products.dense);
    return 0;
}

static enum binary_form choose_form(const struct binary_rows *rows) {
    if (rows->n <= rows->d && rows->n <= COEFFICIENT_ROWS) {
        return BINARY_COEFFICIENTS;
    }
    return rows->d <= WEIGHT_FEATURES ? BINARY_WEIGHTS : BINARY_CONJUGATE;
}

static int allocate(struct binary *binary, struct error *err) {
    size_t n = binary->n, m = binary->dimension;
    size_t side = binary->form == BINARY_CONJUGATE ? 0 : m;
    double **by_row[] = {&binary->s,         &binary->alpha,   &binary->signed_alpha,
                         &binary->v_s,       &binary->q,       &binary->curvature,
                         &binary->share,     &binary->trial_s, &binary->trial_alpha,
                         &binary->best_alpha};
    double **by_weight[] = {&binary->x,    &binary->v,    &binary->gradient,
                            &binary->step, &binary->mean, &binary->best_x};
    for (size_t k = 0; k < sizeof by_row / sizeof by_row[0]; k++) {
        if (!(*by_row[k] = memory_zeros(n, sizeof(double), "scores", err))) {
            return -1;
        }
    }
    for (size_t k = 0; k < sizeof by_weight / sizeof by_weight[0]; k++) {
        if (!(*by_weight[k] = memory_zeros(m, sizeof(double), "weights", err))) {
            return -1;
        }
    }
    binary->band = memory_array(n, sizeof *binary->band, "scores", err);
    binary->breaks = memory_array(n, 2 * sizeof(double), "scores", err);
    binary->best_w = memory_array(binary->rows.d, sizeof(double), "weights", err);
    binary->matrix = memory_array(side, side * sizeof(double), "a Hessian", err);
    binary->work = memory_array(binary_step_work(binary), sizeof(double), "a Hessian", err);
    binary->K = binary->form == BINARY_COEFFICIENTS
                    ? memory_array(n, n * sizeof(double), "products of rows", err)
                    : NULL;
    return binary->band && binary->breaks && binary->best_w && binary->matrix && binary->work &&
                   (binary->K || binary->form != BINARY_COEFFICIENTS)
               ? 0
               : -1;
}

int binary_open(struct binary **binary, const struct binary_rows *rows, struct error *err) {
    struct binary *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->rows = *rows;
    made->form = choose_form(rows);
    made->n = rows->n;
    made->dimension = made->form == BINARY_COEFFICIENTS ? rows->n : rows->d;
    if (allocate(made, err) || (made->K && fill_products(made, err))) {
        binary_close(made);
        return -1;
    }
    *binary = made;
    return 0;
}

void binary_close(struct binary *binary) {
    if (!binary) {
        return;
    }
    double *arrays[] = {
        binary->K,          binary->x,       binary->s,         binary->alpha,
        binary->v,          binary->v_s,     binary->gradient,  binary->step,
        binary->q,          binary->trial_s, binary->mean,      binary->matrix,
        binary->work,       binary->breaks,  binary->best_x,    binary->best_alpha,
        binary->best_w,     binary->share,   binary->curvature, binary->signed_alpha,
        binary->trial_alpha};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
        free(arrays[k]);
    }
    free(binary->band);
    free(binary);
}

void binary_start(struct binary *binary, const double *w) {
    if (binary->form != BINARY_COEFFICIENTS) {
        memcpy(binary->x, w, binary->dimension * sizeof *w);
        binary->started = true;
    }
}

void binary_forget(struct binary *binary) {
    memset(binary->x, 0, binary->dimension * sizeof *binary->x);
    binary->b = 0;
    binary->started = false;
}

/* ---- a point ---- */

/* v = Z' signed_alpha, and what it needs of scores. */
static int form_adjoint(struct binary *binary, struct error *err) {
    if (binary->form == BINARY_COEFFICIENTS) {
        memcpy(binary->v, binary->signed_alpha, binary->n * sizeof *binary->v);
        binary_form_scores(binary, binary->v, binary->v_s);
        return 0;
    }
    return binary_adjoint(&binary->rows, binary->signed_alpha, binary->v, err);
}

static double argument_of(const struct binary *binary, const struct binary_loss *loss, size_t i) {
    return (loss->margin ? loss->margin[i] : 1) - loss->y[i] * (binary->s[i] + binary->b);
}

/* The bounds at the point where the solver is. */
struct bounds {
    double primal, dual;
};

/* Both bounds at the scores, and the smooth problem's gradient. The primal has the smooth problem's
 * bias, which costs less than its own. */
static int evaluate(struct binary *binary, const struct binary_loss *loss, struct bounds *at,
                    struct error *err) {
    size_t n = binary->n;
    binary_form_scores(binary, binary->x, binary->s);
    binary->b = binary_smooth_bias(loss, binary->s, n, binary->mu, binary->b, binary->alpha);
    double linear = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        double alpha = binary->alpha[i], u = fmax(argument_of(binary, loss, i), 0);
        sum += loss->cost[i] * (loss->squared ? u * u : u);
        binary->signed_alpha[i] = loss->y[i] * alpha;
        linear += alpha * (loss->margin ? loss->margin[i] : 1);
        linear -= loss->squared ? alpha * (alpha / (4 * loss->cost[i])) : 0;
    }
    if (form_adjoint(binary, err)) {
        return -1;
    }
    binary->norm = binary_inner(binary, binary->x, binary->x, binary->s);
    double dual_norm = binary_inner(binary, binary->v, binary->v, binary->v_s);
    double mixed = binary_inner(binary, binary->v, binary->x, binary->s);
    binary->residual = 0.5 * fmax(binary->norm - 2 * mixed + dual_norm, 0);
    at->primal = 0.5 * binary->norm + sum;
    at->dual = linear - 0.5 * dual_norm;
    return isfinite(at->primal) && isfinite(at->dual)
               ? 0
               : error_set(err, ERROR_RUNTIME, "scores overflow: scale the data or lower the cost");
}

/* The rows that bend the loss at this point, with their curvature. */
static void find_band(struct binary *binary, const struct binary_loss *loss) {
    double total = 0;
    binary->n_band = 0;
    for (size_t i = 0; i < binary->n; i++) {
        double u = argument_of(binary, loss, i);
        if (u > 0 && (loss->squared || u < binary->mu)) {
            double curvature = loss->cost[i] * (loss->squared ? 2 : 1 / binary->mu);
            size_t place = binary->n_band++;
            binary->curvature[place] = curvature;
            binary->band[place] = (uint32_t)i;
            total += curvature;
        }
    }
    for (size_t k = 0; k < binary->n_band; k++) {
        binary->share[k] = binary->curvature[k] / total;
    }
}

/* Lowers mu. The minimum moves with mu along a line as long as the band keeps its rows: the
 * gradient becomes that of the new mu with the band of the old one, whose alphas may then be over
 * C. *lack is the slope in b that this leaves. */
static int lower_mu(struct binary *binary, const struct binary_loss *loss, double mu, double *lack,
                    struct error *err) {
    double old = binary->mu;
    binary->mu = mu;
    *lack = 0;
    for (size_t k = 0; k < binary->n_band; k++) {
        binary->curvature[k] *= old / mu;
    }
    for (size_t i = 0; i < binary->n; i++) {
        double u = argument_of(binary, loss, i);
        double part = u <= 0 ? 0 : u >= old ? 1 : u / mu;
        binary->signed_alpha[i] = loss->y[i] * loss->cost[i] * part;
        *lack -= binary->signed_alpha[i];
    }
    return form_adjoint(binary, err);
}

/* ---- along a step ---- */

struct line {
    struct binary *binary;
    const struct binary_loss *loss;
    double mixed, square; /* <x, step>, |step|^2 */
};

/* The slope of the smooth problem at x + theta step, its bias minimised out. */
static double line_slope(const struct line *line, double theta) {
    struct binary *binary = line->binary;
    const struct binary_loss *loss = line->loss;
    double sum = 0;
    for (size_t i = 0; i < binary->n; i++) {
        binary->trial_s[i] = binary->s[i] + theta * binary->q[i];
    }
    binary_smooth_bias(loss, binary->trial_s, binary->n, binary->mu, binary->b,
                       binary->trial_alpha);
    for (size_t i = 0; i < binary->n; i++) {
        sum += loss->y[i] * binary->trial_alpha[i] * binary->q[i];
    }
    return line->mixed + theta * line->square - sum;
}

/* Goes along the step to where the slope is nearly 0, by false positions that keep a bracket.
 * Returns false if the step leads nowhere. */
static bool line_search(struct binary *binary, const struct binary_loss *loss) {
    struct line line = {.binary = binary,
                        .loss = loss,
                        .mixed = binary_inner(binary, binary->step, binary->x, binary->s),
                        .square = binary_inner(binary, binary->step, binary->step, binary->q)};
    double low = 0, low_slope = line_slope(&line, 0), high = INFINITY, high_slope = 0;
    if (!(low_slope < 0)) {
        return false;
    }
    double enough = LINE_SLOPE * -low_slope, theta = 1;
    for (int k = 0; k < LINE_STEPS; k++) {
        double slope = line_slope(&line, theta);
        if (fabs(slope) <= enough) {
            break;
        }
        if (slope < 0) {
            if (low > 0) { /* the same end again: the other one counts half (Illinois) */
                high_slope *= 0.5;
            }
            low = theta;
            low_slope = slope;
        } else {
            if (high < INFINITY) {
                low_slope *= 0.5;
            }
            high = theta;
            high_slope = slope;
        }
        theta =
            high == INFINITY ? 2 * low : low - low_slope * (high - low) / (high_slope - low_slope);
    }
    array_add(binary->x, theta, binary->step, binary->dimension);
    return true;
}

/* ---- the solver ---- */

/* Looks where the solver is, and keeps the better of the bounds, each with its point. */
static int look(struct binary *binary, const struct binary_loss *loss, double epsilon,
                struct bounds *at, struct binary_fit *fit, struct error *err) {
    if (evaluate(binary, loss, at, err)) {
        return -1;
    }
    if (at->dual > fit->dual) {
        fit->dual = at->dual;
        memcpy(binary->best_alpha, binary->alpha, binary->n * sizeof *binary->alpha);
    }
    if (!loss->squared && !gap_reached(at->primal, fit->dual, epsilon) &&
        gap_reached(at->primal, fit->dual, EXACT_GAP * epsilon)) {
        double sum;
        binary_bias(loss, binary->s, binary->n, binary->breaks, &sum);
        at->primal = fmin(at->primal, 0.5 * binary->norm + sum);
    }
    if (at->primal < fit->primal) {
        fit->primal = at->primal;
        memcpy(binary->best_x, binary->x, binary->dimension * sizeof *binary->x);
    }
    return 0;
}

/* True if the gap comes from the smoothing, but for `share` of it, rather than from a point that is
 * not yet its minimum. */
static bool is_smooth(const struct binary *binary, const struct bounds *at, double share) {
    return binary->residual < share * (at->primal - at->dual);
}

/* A step down the path of minima. Those of mu between the old and the new one lie nearly on the
 * line to the new one, as long as no row enters or leaves the band: where the new minimum is too
 * far for that, the way is halved, mu with it. (A shorter step with the new mu would put most rows
 * out of the band.) Sets *factor for the next step down. */
static int follow(struct binary *binary, const struct binary_loss *loss, double epsilon,
                  double boldest, double *factor, struct bounds *at, struct binary_fit *fit,
                  struct error *err) {
    double smoothing = at->primal - at->dual - binary->residual; /* falls with mu, linearly */
    double enough = 0.3 * epsilon * at->primal / smoothing, lack;
    double old = binary->mu, mu = fmax(old * fmin(fmax(*factor, enough), MU_TIMID), MU_LEAST);
    if (lower_mu(binary, loss, mu, &lack, err) || binary_step(binary, lack, err)) {
        return -1;
    }
    double gone = 0, theta = 1;
    for (;; theta *= 0.5) {
        array_add(binary->x, theta - gone, binary->step, binary->dimension);
        gone = theta;
        binary->mu = old + theta * (mu - old);
        if (look(binary, loss, epsilon, at, fit, err)) {
            return -1;
        }
        if (is_smooth(binary, at, FAR) || theta < MU_SHORTEST ||
            gap_reached(fit->primal, fit->dual, epsilon)) {
            break;
        }
    }
    *factor = fmax(theta == 1 ? *factor * MU_CAREFUL : MU_CAREFUL, boldest);
    return 0;
}

static int iterate(struct binary *binary, const struct binary_loss *loss, double epsilon,
                   struct binary_fit *fit, struct error *err) {
    double best_gap = INFINITY, best_mu = INFINITY, factor = MU_CAREFUL;
    double boldest = MU_BOLD;
    int stalled = 0, corrections = 0;
    struct bounds at;
    if (look(binary, loss, epsilon, &at, fit, err)) {
        return -1;
    }
    for (;;) {
        double gap = fit->primal - fit->dual;
        if (gap_reached(fit->primal, fit->dual, epsilon)) {
            return 0;
        }
        fit->iterations++;
        enum stop_reason limit =
            monitor_check(binary->monitor, fit->iterations, fit->primal, fit->dual);
        bool better = gap < best_gap * (1 - 1e-4) || binary->mu < best_mu;
        stalled = better ? 0 : stalled + 1;
        best_gap = fmin(best_gap, gap);
        best_mu = fmin(best_mu, binary->mu);
        bool smooth = !loss->squared && is_smooth(binary, &at, NEAR);
        corrections = smooth ? 0 : corrections + 1;
        if (limit || stalled >= STALL_STEPS || (smooth && binary->mu <= MU_LEAST)) {
            fit->reason = limit ? limit : STOP_ROUNDING;
            return 0;
        }
        find_band(binary, loss);
        if (smooth) {
            if (follow(binary, loss, epsilon, boldest, &factor, &at, fit, err)) {
                return -1;
            }
            continue;
        }
        if (!loss->squared && corrections > CORRECTIONS) { /* among kinks: back up, then in */
            corrections = 0;                               /* shorter steps */
            boldest = factor = fmin(boldest * MU_BACK, MU_TIMID);
            binary->mu *= MU_BACK;
            if (look(binary, loss, epsilon, &at, fit, err)) {
                return -1;
            }
            find_band(binary, loss);
        }
        if (binary_step(binary, 0, err)) {
            return -1;
        }
        if (!line_search(binary, loss)) {
            return 0; /* rounding */
        }
        if (look(binary, loss, epsilon, &at, fit, err)) {
            return -1;
        }
    }
}

/* Tries mu = first, first * factor, ..., and takes the one that gives the best dual bound where the
 * solver is; ends where the bound falls. *dual gets it. */
static int try_mu(struct binary *binary, const struct binary_loss *loss, double epsilon,
                  double factor, double last, double *dual, struct binary_fit *fit,
                  struct error *err) {
    double best_mu = MU_FIRST;
    *dual = -INFINITY;
    for (double mu = MU_FIRST; factor > 1 ? mu <= last : mu >= last; mu *= factor) {
        struct bounds at;
        binary->mu = mu;
        if (look(binary, loss, epsilon, &at, fit, err)) {
            return -1;
        }
        if (at.dual > *dual) {
            *dual = at.dual;
            best_mu = mu;
        } else if (factor > 1) {
            break;
        }
    }
    binary->mu = best_mu;
    return 0;
}

/* Near a solution of a problem much like this one, the mu that gives the best dual bound is about
 * right: at a larger one the path would first lead away, at a smaller one be all kinks. From afar
 * the path begins at w = 0 and at a mu so large that the alphas there are small enough for a bound:
 * where C is large, Newton's method would need many more steps to come down at mu = 1. */
static int choose_mu(struct binary *binary, const struct binary_loss *loss, double epsilon,
                     struct binary_fit *fit, struct error *err) {
    double dual;
    if (binary->started) {
        if (try_mu(binary, loss, epsilon, MU_DOWN, MU_TRIED_LEAST, &dual, fit, err)) {
            return -1;
        }
        if (fit->primal - dual <= NEAR_GAP * fit->primal) {
            return 0;
        }
        memset(binary->x, 0, binary->dimension * sizeof *binary->x);
    }
    return try_mu(binary, loss, epsilon, MU_UP, MU_TRIED_MOST, &dual, fit, err);
}

int binary_solve(struct binary *binary, const struct binary_loss *loss, double epsilon,
                 const struct monitor *monitor, struct binary_fit *fit, struct error *err) {
    *fit = (struct binary_fit){.primal = INFINITY, .dual = -INFINITY};
    binary->mu = MU_FIRST;
    binary->monitor = monitor;
    int status = !loss->squared ? choose_mu(binary, loss, epsilon, fit, err) : 0;
    status = status ? status : iterate(binary, loss, epsilon, fit, err);
    bool reached = gap_reached(fit->primal, fit->dual, epsilon);
    if (status == 0 && binary->started && !reached &&
        !stop_limited(fit->reason)) { /* a start among kinks */
        binary_forget(binary);
        status = loss->squared ? 0 : choose_mu(binary, loss, epsilon, fit, err);
        status = status ? status : iterate(binary, loss, epsilon, fit, err);
    }
    binary->started = true;
    if (status) {
        return -1;
    }
    memcpy(binary->x, binary->best_x, binary->dimension * sizeof *binary->x);
    if (binary->form == BINARY_COEFFICIENTS) {
        status = binary_adjoint(&binary->rows, binary->x, binary->best_w, err);
    } else {
        memcpy(binary->best_w, binary->x, binary->dimension * sizeof *binary->best_w);
    }
    double sum, *s = binary->trial_s;
    binary_form_scores(binary, binary->x, s);
    fit->bias = binary_bias(loss, s, binary->n, binary->breaks, &sum);
    fit->primal = 0.5 * binary_inner(binary, binary->x, binary->x, s) + sum;
    fit->converged = gap_reached(fit->primal, fit->dual, epsilon);
    fit->w = binary->best_w;
    fit->alpha = binary->best_alpha;
    return status;
}
