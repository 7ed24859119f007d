/* Outer iterations, Newton steps and line search (newton.h). */
#include "families/smm/solver/newton.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "families/smm/solver/binary_bias.h"
#include "families/smm/solver/binary_scale.h"
#include "families/smm/solver/newton_system.h"
#include "families/smm/solver/nuclear.h"
#include "families/smm/solver/spectral.h"
#include "fit/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOW_STEPS = 8, /* of an outer iteration, which then begins again with a larger mu */
    PATIENCE = 40,  /* steps in a row without progress, after which the solve has stalled */
    MAX_STEPS = 500 /* of a solve */
};

/* An outer iteration ends when half of its gradient's squared norm is at most GRADIENT_FACTOR times
 * primal - dual, and the last step was not shortened to less than SHORT_STEP: the multipliers of a
 * point far from the minimum undo those before. 10,000 x 100 x 100, C = 1, tau = 1: without the
 * second condition, mu and the multipliers oscillated for 70 of 176 steps; with it there are
 * 48. Rounding may shorten every step; the outer iteration ends, too, when half of the squared
 * norm is at most MINIMUM_FACTOR times primal - dual. */
static const double GRADIENT_FACTOR = 2, SHORT_STEP = 0.4, MINIMUM_FACTOR = 1e-6;

/* Factor of mu after an outer iteration of one step; rho is divided by it. After a longer one mu
 * rises if T = 0, at most to the first. 50,000 of 10 x 10, C = 1: 61 Newton steps without, 43 with
 * it, and lowrank of rank 3 takes a third less. RESTART_INCREASE: that of an outer iteration that
 * begins again; rho is divided by its root. */
static const double MU_DECREASE = 0.3, MU_INCREASE = 3, RESTART_INCREASE = 10;

/* With conjugate gradients mu rises after an outer iteration of several steps. After one of one
 * step it falls if that took at most MAX_PASSES passes over the rows (their number grows as mu
 * decreases) and left half of the gradient's squared norm below MAX_GRADIENT times primal - dual.
 */
static const double CG_MU_DECREASE = 0.7, CG_MU_INCREASE = 1.5, MAX_GRADIENT = 0.4, MAX_PASSES = 16;

/* In the first RHO_UPDATES outer iterations rho is RHO_FACTOR tau over the weighted mean of the
 * singular values of S, |S|^2 / |S|_*. Without, eeg64 (tau = 1) takes 52 steps instead of 26; with
 * it always, 8,000 of 10 x 10 take 152 instead of 58. */
static const double RHO_FACTOR = 4;
enum { RHO_UPDATES = 6 };

/* A mu at which no alpha is clipped at W = 0: there |b| <= 1, so 0 <= u <= 2. Then c times its
 * alphas, c <= 1, are the alphas of MU_UNCLIPPED / c; of the squared hinge, of 5 / (2 c) - 1/2. */
static const double MU_UNCLIPPED = 2;

/* The first mu, relative to that whose alphas have the best dual bound at W = 0; and at a given
 * start, to the last of the similar problem. */
static const double MU_FACTOR = 0.2, START_INCREASE = 10;

/* The symbols are those of newton.h; T is tau, Y0 is multiplier0 and Y is multiplier. */
struct smm_newton {
    struct binary_rows rows;
    size_t n, cells;              /* rows; values of a row */
    size_t height, width;         /* of the rows' matrices; 0: rows are no matrices */
    struct smm_spectral spectral; /* allocated for the first T > 0 */
    struct newton_system *system;
    double mu, rho, bias; /* bias: b of the iterate */
    double first_mu;      /* mu of the first outer iteration */

    /* (cells) */
    double *W, *S;                    /* the iterate */
    double *multiplier0, *multiplier; /* Y0, Y */
    double *M;                        /* sum_i y_i alpha_i X_i, see sum_M */
    double *thresholded;              /* SVT_tau(M) (nuclear.h); also work */
    double *gradient, *step, *trial;  /* by W, bias and S minimised out; Newton step; work */
    /* (n) */
    double *s, *step_s; /* scores <W, X_i> and <step, X_i> */
    double *alpha, *alpha0;
    double *margin;                /* m_i of u_i = m_i - y_i (s_i + b): 1 + mu alpha0_i / C_i */
    double *signed_alpha;          /* y_i alpha_i */
    double *summed;                /* those whose sum M is */
    double changes;                /* |alpha_i| that were added to M since it was last summed */
    double *trial_s, *trial_alpha; /* at a point of the line search */
    uint32_t *curved;              /* (n_curved) rows where the loss is curved */
    size_t n_curved;
    double *inverse_curvature; /* (n_curved) mu / C_i, or (mu + 1/2) / C_i for the squared hinge */
    double *breakpoints;       /* (2n) work */
    void *block;               /* all arrays */

    bool started;                            /* the next solve continues from the iterate */
    const double *initial_W, *initial_alpha; /* the start of the next solve; NULL: zero */
    double initial_mu;

    /* of the present solve */
    const struct binary_loss *loss;
    double tau; /* T */
    const struct monitor *monitor;
    struct binary_fit *fit;
    double nuclear_norm, squared_norm; /* |S|_*, |S|^2 */
    double half_squared_gradient;      /* 1/2 |gradient|^2 */
    double cg_passes;                  /* of the last step (newton_system.h); 0: factored */
    double length;                     /* of the last step */
    bool primal_found;                 /* update_primal has seen this S */
};

int smm_newton_create(struct smm_newton **newton, const struct binary_rows *rows, size_t height,
                      size_t width, struct error *err) {
    struct smm_newton *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    size_t n = made->n = rows->n, cells = made->cells = rows->d;
    made->rows = *rows;
    made->height = height;
    made->width = width;
    made->block = ARRAYS_CREATE(
        "matrices", err,
        ARRAYS(cells, double, &made->W, &made->S, &made->multiplier0, &made->multiplier, &made->M,
               &made->thresholded, &made->gradient, &made->step, &made->trial),
        ARRAYS(n, double, &made->s, &made->step_s, &made->trial_s, &made->alpha, &made->trial_alpha,
               &made->alpha0, &made->margin, &made->signed_alpha, &made->summed,
               &made->inverse_curvature),
        ARRAYS(2 * n, double, &made->breakpoints), ARRAYS(n, uint32_t, &made->curved));
    if (!made->block || newton_system_create(&made->system, &made->rows, err) < 0) {
        smm_newton_free(made);
        return -1;
    }
    *newton = made;
    return 0;
}

void smm_newton_forget(struct smm_newton *newton) {
    newton->started = false;
}

void smm_newton_start(struct smm_newton *newton, const double *W, const double *alpha, double mu) {
    newton->started = false;
    newton->initial_W = W;
    newton->initial_alpha = alpha;
    newton->initial_mu = mu;
}

double smm_newton_mu(const struct smm_newton *newton) {
    return newton->mu;
}

void smm_newton_free(struct smm_newton *newton) {
    if (!newton) {
        return;
    }
    free(newton->block);
    smm_spectral_free(&newton->spectral);
    newton_system_free(newton->system);
    free(newton);
}

/* ---- the iterate ---- */

/* Finds the multipliers and S, the minimiser for B (cells), with its norms. Leaves the
 * decomposition of B in `spectral`. Without the nuclear norm S = W. */
static int find_S(struct smm_newton *newton, const double *B, bool moved, struct error *err) {
    size_t cells = newton->cells;
    if (newton->tau == 0) {
        memcpy(newton->S, newton->W, cells * sizeof *newton->S);
        newton->nuclear_norm = 0;
        newton->squared_norm = array_dot(newton->W, newton->W, cells);
        newton->primal_found = newton->primal_found && !moved;
        return 0;
    }
    if (smm_spectral_find(&newton->spectral, B, newton->rho, newton->tau / newton->rho, err) < 0) {
        return -1;
    }
    smm_spectral_threshold(&newton->spectral, newton->S, &newton->nuclear_norm,
                           &newton->squared_norm);
    newton->primal_found = false;
    for (size_t j = 0; j < cells; j++) {
        newton->multiplier[j] = newton->rho * (B[j] - newton->S[j]);
    }
    return 0;
}

/* M of signed_alpha. If at most half of the rows with an alpha have a new one, only the changes are
 * added, for the rows of data: in most steps a tenth of 7,300 rows have (10,000 of 100 x 100,
 * C = 1, tau = 1000). Their rounding adds up, so M is summed anew when all changes together are
 * larger than alpha. `gradient` and `trial_alpha` are work. */
static int sum_M(struct smm_newton *newton, struct error *err) {
    double *change = newton->trial_alpha, *product = newton->gradient;
    double changed = 0, used = 0, changes = 0, size = 0;
    for (size_t i = 0; i < newton->n; i++) {
        change[i] = newton->signed_alpha[i] - newton->summed[i];
        changed += change[i] != 0;
        used += newton->signed_alpha[i] != 0;
        changes += fabs(change[i]);
        size += fabs(newton->signed_alpha[i]);
    }
    double totals[] = {changed, used, changes, size};
    cluster_sum(newton->rows.cluster, totals, sizeof totals / sizeof *totals);
    newton->changes += totals[2];
    memcpy(newton->summed, newton->signed_alpha, newton->n * sizeof *newton->summed);
    if (newton->rows.z || 2 * totals[0] > totals[1] || newton->changes > totals[3]) {
        newton->changes = 0;
        return binary_adjoint(&newton->rows, newton->signed_alpha, newton->M, err);
    }
    int status = binary_adjoint(&newton->rows, change, product, err);
    array_add(newton->M, 1, product, newton->cells);
    return status;
}

/* Both norms of SVT_t(M) (nuclear.h), which `thresholded` gets; of M itself without the nuclear
 * norm. */
static int threshold_M(struct smm_newton *newton, double t, double *nuclear_norm,
                       double *squared_norm, struct error *err) {
    if (newton->tau == 0) {
        *nuclear_norm = 0;
        *squared_norm = array_dot(newton->M, newton->M, newton->cells);
        return 0;
    }
    return smm_nuclear_threshold(newton->M, newton->height, newton->width, t, newton->thresholded,
                                 nuclear_norm, squared_norm, err);
}

/* Updates the best primal with the best multiple of S: with many rows at their margin, small errors
 * of the scores cost much, and a larger W little. */
static void update_primal(struct smm_newton *newton) {
    struct binary_fit *fit = newton->fit;
    const double *s = newton->tau > 0 ? newton->trial_s : newton->s;
    if (newton->tau > 0) {
        binary_scores(&newton->rows, newton->S, newton->trial_s);
    }
    const struct binary_scale found = binary_best_scale(
        newton->loss, s, newton->n, newton->squared_norm, newton->tau * newton->nuclear_norm,
        fit->dual, newton->trial_alpha, newton->breakpoints);
    if (found.primal < fit->primal) {
        fit->primal = found.primal;
        fit->bias = found.bias;
        array_multiple(fit->w, found.c, newton->S, newton->cells);
    }
}

/* Returns the bias that minimises the smoothed loss at scores s. alpha (n) = C_i times the slope of
 * the smoothed loss there. */
static double find_alpha(struct smm_newton *newton, const double *s, double *alpha) {
    return binary_smooth_bias(newton->loss, newton->margin, s, newton->n, newton->mu, newton->bias,
                              alpha);
}

/* Computes the gradient of the outer iteration's function at W, the dual bound of its alpha and, if
 * the outer iteration has converged, the primal of its S. moved: W is not that of the last
 * evaluation. */
static int evaluate(struct smm_newton *newton, bool moved, struct error *err) {
    const struct binary_loss *loss = newton->loss;
    size_t n = newton->n, cells = newton->cells;
    double linear = 0, nuclear_norm, squared_norm, *B = newton->trial;
    newton->bias = find_alpha(newton, newton->s, newton->alpha);
    for (size_t i = 0; i < n; i++) {
        double alpha = newton->alpha[i];
        newton->signed_alpha[i] = loss->y[i] * alpha;
        linear += alpha - (loss->squared ? alpha * (alpha / (4 * loss->cost[i])) : 0);
    }
    linear = cluster_total(loss->cluster, linear);
    for (size_t j = 0; j < cells; j++) {
        B[j] = newton->W[j] + newton->multiplier0[j] / newton->rho;
    }
    if (sum_M(newton, err) < 0 || find_S(newton, B, moved, err) < 0 ||
        threshold_M(newton, newton->tau, &nuclear_norm, &squared_norm, err) < 0) {
        return -1;
    }
    for (size_t j = 0; j < cells; j++) {
        newton->gradient[j] = newton->W[j] + newton->multiplier[j] - newton->M[j];
    }
    newton->half_squared_gradient = 0.5 * array_dot(newton->gradient, newton->gradient, cells);
    double dual = linear - 0.5 * squared_norm;
    if (dual > newton->fit->dual) {
        newton->fit->dual = dual;
        memcpy(newton->fit->alpha, newton->alpha, n * sizeof *newton->alpha);
    }
    double gap = newton->fit->primal - newton->fit->dual;
    if (newton->half_squared_gradient <= GRADIENT_FACTOR * gap && !newton->primal_found) {
        update_primal(newton);
        newton->primal_found = true;
    }
    return isfinite(newton->fit->primal) && isfinite(dual) ? 0 : stop_overflow(err);
}

/* ---- a step ---- */

static void find_curved_rows(struct smm_newton *newton) {
    const struct binary_loss *loss = newton->loss;
    newton->n_curved = 0;
    for (size_t i = 0; i < newton->n; i++) {
        double u = newton->margin[i] - loss->y[i] * (newton->s[i] + newton->bias);
        if (u > 0 && (loss->squared || u < newton->mu)) {
            newton->inverse_curvature[newton->n_curved] =
                (newton->mu + (loss->squared ? 0.5 : 0)) / loss->cost[i];
            newton->curved[newton->n_curved++] = (uint32_t)i;
        }
    }
}

/* Computes the Newton step and its scores. */
static int find_step(struct smm_newton *newton, struct error *err) {
    find_curved_rows(newton);
    return newton_system_solve(newton->system, newton->tau > 0 ? &newton->spectral : NULL,
                               newton->curved, newton->n_curved, newton->inverse_curvature,
                               newton->gradient, newton->step, newton->step_s, &newton->cg_passes,
                               newton->monitor, err);
}

/* Directional derivative of the outer iteration's function at W + theta step, with the bias
 * minimised out. */
static int derivative_at(void *context, double theta, double *derivative, struct error *err) {
    struct smm_newton *newton = context;
    double *B = newton->trial, *S = newton->thresholded, nuclear_norm, squared_norm, sum = 0;
    for (size_t i = 0; i < newton->n; i++) {
        newton->trial_s[i] = newton->s[i] + theta * newton->step_s[i];
    }
    find_alpha(newton, newton->trial_s, newton->trial_alpha);
    for (size_t i = 0; i < newton->n; i++) {
        sum += newton->loss->y[i] * newton->trial_alpha[i] * newton->step_s[i];
    }
    *derivative = -cluster_total(newton->loss->cluster, sum);
    for (size_t j = 0; j < newton->cells; j++) {
        double W = newton->W[j] + theta * newton->step[j];
        *derivative += newton->step[j] * W;
        B[j] = W + newton->multiplier0[j] / newton->rho;
    }
    if (newton->tau == 0) {
        return 0;
    }
    if (smm_nuclear_threshold(B, newton->height, newton->width, newton->tau / newton->rho, S,
                              &nuclear_norm, &squared_norm, err) < 0) {
        return -1;
    }
    for (size_t j = 0; j < newton->cells; j++) {
        *derivative += newton->step[j] * newton->rho * (B[j] - S[j]);
    }
    return 0;
}

/* Moves along the step to where the derivative is nearly 0. *moved = false if the step is no
 * descent direction. Does not move after the deadline. */
static int search(struct smm_newton *newton, bool *moved, struct error *err) {
    double slope = array_dot(newton->gradient, newton->step, newton->cells);
    if (search_length(derivative_at, newton, slope, newton->monitor, &newton->length, moved, err) <
        0) {
        return -1;
    }
    if (newton->length > 0) {
        array_add(newton->W, newton->length, newton->step, newton->cells);
        array_add(newton->s, newton->length, newton->step_s, newton->n);
    }
    return 0;
}

/* ---- outer iterations ---- */

/* The margins by which u includes alpha0: alpha = C clip(u/mu, 0, 1), or C max(0, u)/(mu + 1/2). */
static void set_margins(struct smm_newton *newton) {
    for (size_t i = 0; i < newton->n; i++) {
        newton->margin[i] = 1 + newton->alpha0[i] / newton->loss->cost[i] * newton->mu;
    }
}

/* Starts at W = 0, or the caller's point. mu: from the multiple c of the alphas at W = 0 with the
 * best dual bound. rho: from the singular values of the multiple of M whose margins y_i <W, X_i>,
 * weighted by alpha, average 1. */
static int start(struct smm_newton *newton, struct error *err) {
    size_t n = newton->n, cells = newton->cells;
    double nuclear_norm, squared_norm, linear = 0, best = 0, share = 1;
    memset(newton->W, 0, cells * sizeof *newton->W);
    memset(newton->multiplier0, 0, cells * sizeof *newton->multiplier0);
    memset(newton->multiplier, 0, cells * sizeof *newton->multiplier);
    memset(newton->s, 0, n * sizeof *newton->s);
    memset(newton->alpha0, 0, n * sizeof *newton->alpha0);
    memset(newton->M, 0, cells * sizeof *newton->M);
    memset(newton->summed, 0, n * sizeof *newton->summed);
    newton->changes = 0;
    newton->mu = MU_UNCLIPPED;
    newton->bias = newton->length = 0;
    set_margins(newton);
    newton->bias = find_alpha(newton, newton->s, newton->alpha);
    for (size_t i = 0; i < n; i++) {
        newton->signed_alpha[i] = newton->loss->y[i] * newton->alpha[i];
        linear += newton->alpha[i];
    }
    linear = cluster_total(newton->loss->cluster, linear);
    if (sum_M(newton, err) < 0) {
        return -1;
    }
    for (double c = 1; newton->tau > 0 && c > 1e-15; c *= 0.5) {
        if (threshold_M(newton, newton->tau / c, &nuclear_norm, &squared_norm, err) < 0) {
            return -1;
        }
        double dual = c * linear - 0.5 * c * c * squared_norm;
        if (dual <= best && best > 0) {
            break;
        }
        best = fmax(best, dual);
        share = c;
    }
    if (threshold_M(newton, 0, &nuclear_norm, &squared_norm, err) < 0) {
        return -1;
    }
    if (newton->tau == 0 && linear < squared_norm) {
        share = linear / squared_norm;
    }
    newton->mu = newton->first_mu = MU_FACTOR * MU_UNCLIPPED / share;
    newton->rho = squared_norm > 0 ? fmax(RHO_FACTOR * newton->tau * nuclear_norm / linear, 1) : 1;
    if (newton->initial_W) {
        memcpy(newton->W, newton->initial_W, cells * sizeof *newton->W);
        memcpy(newton->alpha0, newton->initial_alpha, n * sizeof *newton->alpha0);
        binary_scores(&newton->rows, newton->W, newton->s);
        newton->mu = fmin(START_INCREASE * newton->initial_mu, newton->first_mu);
        newton->initial_W = NULL;
    }
    set_margins(newton);
    return 0;
}

/* The factor of mu after an outer iteration of so many steps. */
static double mu_factor(const struct smm_newton *newton, int steps) {
    if (newton->cg_passes > 0) {
        double gap = newton->fit->primal - newton->fit->dual;
        bool close =
            newton->cg_passes <= MAX_PASSES && newton->half_squared_gradient <= MAX_GRADIENT * gap;
        return steps > 1 ? CG_MU_INCREASE : close ? CG_MU_DECREASE : 1;
    }
    return steps <= 1        ? MU_DECREASE
           : newton->tau > 0 ? 1
                             : fmin(MU_INCREASE, newton->first_mu / newton->mu);
}

/* Updates multipliers, mu and rho after an outer iteration of so many steps. */
static void next_outer_iteration(struct smm_newton *newton, uint64_t outer, int steps) {
    double factor = mu_factor(newton, steps);
    memcpy(newton->alpha0, newton->alpha, newton->n * sizeof *newton->alpha);
    memcpy(newton->multiplier0, newton->multiplier, newton->cells * sizeof *newton->multiplier0);
    newton->mu *= factor;
    newton->rho = outer >= RHO_UPDATES ? newton->rho / factor
                  : newton->nuclear_norm > 0
                      ? RHO_FACTOR * newton->tau * newton->nuclear_norm / newton->squared_norm
                      : 3 * newton->rho;
    newton->rho = fmax(newton->rho, 1);
    set_margins(newton);
}

/* Begins the next outer iteration, or the present one again, where that is due after so many steps
 * of the present one. *begun: whether it did. */
static int begin_outer_iteration(struct smm_newton *newton, uint64_t *outer, int steps, bool moved,
                                 bool *begun, struct error *err) {
    double gap = newton->fit->primal - newton->fit->dual;
    bool is_minimum = newton->half_squared_gradient <= MINIMUM_FACTOR * gap;
    *begun = true;
    if (is_minimum || (newton->half_squared_gradient <= GRADIENT_FACTOR * gap &&
                       (newton->length >= SHORT_STEP || !moved))) {
        next_outer_iteration(newton, (*outer)++, steps);
    } else if (steps >= SLOW_STEPS && newton->mu * RESTART_INCREASE <= newton->first_mu) {
        newton->mu *= RESTART_INCREASE;
        newton->rho = fmax(newton->rho / sqrt(RESTART_INCREASE), 1);
        set_margins(newton);
    } else {
        *begun = false;
        return 0;
    }
    return evaluate(newton, false, err);
}

static int run(struct smm_newton *newton, double epsilon, struct error *err) {
    struct binary_fit *fit = newton->fit;
    uint64_t outer = 0;
    double best_gap = INFINITY;
    int steps = 0, stalled = 0;
    bool moved = true, begun;
    while (!gap_reached(fit->primal, fit->dual, epsilon)) {
        double gap = fit->primal - fit->dual;
        bool progress = gap < STOP_PROGRESS * best_gap;
        stalled = progress ? 0 : stalled + 1;
        best_gap = progress ? gap : best_gap;
        fit->iterations++;
        fit->reason = monitor_check(newton->monitor, fit->iterations, fit->primal, fit->dual);
        if (fit->reason) {
            return 0;
        }
        if (stalled >= PATIENCE || fit->iterations > MAX_STEPS) {
            /* certify_reason decides whether rounding is the cause of no progress at all */
            fit->reason = stalled >= PATIENCE ? STOP_ROUNDING : STOP_STALLED;
            return 0;
        }
        if (begin_outer_iteration(newton, &outer, steps, moved, &begun, err) < 0) {
            return -1;
        }
        if (begun) {
            steps = 0;
        }
        steps++;
        if (find_step(newton, err) < 0) {
            return -1;
        }
        if (monitor_past_deadline(newton->monitor)) {
            continue;
        }
        if (search(newton, &moved, err) < 0) {
            return -1;
        }
        if (monitor_past_deadline(newton->monitor)) {
            continue;
        }
        if (evaluate(newton, true, err) < 0) {
            return -1;
        }
        /* no descent direction: rounding, unless the outer iteration is at its minimum */
        if (!moved && newton->half_squared_gradient > GRADIENT_FACTOR * gap) {
            fit->reason = STOP_ROUNDING;
            return 0;
        }
    }
    return 0;
}

int smm_newton_solve(struct smm_newton *newton, const struct binary_loss *loss, double tau,
                     double epsilon, const struct monitor *monitor, struct binary_fit *fit,
                     struct error *err) {
    newton->loss = loss;
    newton->tau = tau;
    newton->monitor = monitor;
    newton->fit = fit;
    if (tau > 0 && !newton->spectral.block &&
        smm_spectral_create(&newton->spectral, newton->height, newton->width, err) < 0) {
        return -1;
    }
    int status = newton->started ? 0 : start(newton, err);
    newton->started = true;
    status = status < 0 || evaluate(newton, true, err) < 0 ? -1 : run(newton, epsilon, err);
    newton_system_release(newton->system);
    fit->converged = !fit->reason;
    return status;
}
