#include "solvers/smm/nuclear.h"

#include "common/base/array.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "solvers/methods/pace.h"
#include "solvers/methods/score_map.h"
#include "solvers/smm/nuclear_interior.h"
#include "solvers/smm/nuclear_newton.h"
#include "solvers/smm/svd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITERATIONS = 20000 };

static const double INNER = 0.05;     /* gap of the SVM, relative to the gap so far ... */
static const double INNER_GAP = 0.01; /* ... or this */
static const double INNER_HALF = 20;  /* iterations after which it has halved */
static const double INNER_LEAST = 1e-9;
static const double RELAX = 1.6;   /* over-relaxation */
static const double RHO_SHARE = 2; /* threshold as a share of the mean singular value, inverse */
static const double RHO_EMPTY = 3; /* factor while W is 0 */
static const double RHO_LEAST = 1, RHO_MOST = 1e6;

struct smm_nuclear {
    const struct smm_matrices *matrices;
    struct binary *svm;
    struct smm_nuclear_newton *newton;
    double rho;
    double *S, *multiplier;            /* (cells) */
    double *W, *M, *dual_W;            /* (cells) */
    double *margin, *cost, *s, *signs; /* (n) */
    double *breaks;                    /* (2n) */
    double *alpha;                     /* (n) of the best dual value */
    double work;                       /* operations since the solve began */
};

int smm_nuclear_create(struct smm_nuclear **nuclear, const struct smm_matrices *matrices,
                       struct binary *svm, struct error *err) {
    struct smm_nuclear *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    size_t cells = matrices->height * matrices->width, n = matrices->n;
    made->matrices = matrices;
    made->svm = svm;
    made->rho = 1;
    made->S = memory_zeros(5 * cells, sizeof *made->S, "matrices", err);
    made->margin = memory_zeros(7 * n, sizeof *made->margin, "scores", err);
    if (!made->S || !made->margin || smm_nuclear_newton_create(&made->newton, matrices, err) < 0) {
        smm_nuclear_free(made);
        return -1;
    }
    made->multiplier = made->S + cells;
    made->W = made->multiplier + cells;
    made->M = made->W + cells;
    made->dual_W = made->M + cells;
    made->cost = made->margin + n;
    made->s = made->cost + n;
    made->signs = made->s + n;
    made->breaks = made->signs + n;
    made->alpha = made->breaks + 2 * n;
    *nuclear = made;
    return 0;
}

void smm_nuclear_free(struct smm_nuclear *nuclear) {
    if (nuclear) {
        smm_nuclear_newton_free(nuclear->newton);
        free(nuclear->S);
        free(nuclear->margin);
        free(nuclear);
    }
}

int smm_nuclear_shrink(const double *A, size_t height, size_t width, double tau, double *W,
                       double *nuclear_norm, double *square, struct error *err) {
    size_t k = height < width ? height : width, r = 0;
    double *U = memory_array(height * k + k + k * width, sizeof *U, "singular values", err);
    if (!U) {
        return -1;
    }
    double *s = U + height * k, *Vt = s + k;
    int status = svd_thin(A, height, width, U, s, Vt, err);
    if (status == 0) {
        *nuclear_norm = *square = 0;
        while (r < k && s[r] > tau) {
            double left = s[r] - tau;
            *nuclear_norm += left;
            *square += left * left;
            for (size_t c = 0; c < width; c++) {
                Vt[r * width + c] *= left;
            }
            r++;
        }
        for (size_t a = 0; a < height; a++) { /* the first r columns, closed up */
            memmove(U + a * r, U + a * k, r * sizeof *U);
        }
        memset(W, 0, height * width * sizeof *W);
        if (r > 0) {
            smm_product(U, Vt, height, r, width, W);
        }
    }
    free(U);
    return status;
}

/* What is known of the optimum, and the W that has the primal value. */
struct best {
    double *W;
    struct binary_fit *fit;
};

/* The primal at W, whose norms are given, with its best bias. */
static double primal_at(struct smm_nuclear *nuclear, const struct binary_loss *loss, double tau,
                        const double *W, double nuclear_norm, double square, double *bias) {
    double sum;
    smm_scores(nuclear->matrices, W, nuclear->s);
    *bias = binary_bias(loss, nuclear->s, nuclear->matrices->n, nuclear->breaks, &sum);
    return 0.5 * square + tau * nuclear_norm + sum;
}

static void offer(struct smm_nuclear *nuclear, const struct binary_loss *loss, double tau,
                  const double *W, double nuclear_norm, double square, struct best *best) {
    size_t cells = nuclear->matrices->height * nuclear->matrices->width;
    double bias, primal = primal_at(nuclear, loss, tau, W, nuclear_norm, square, &bias);
    if (primal < best->fit->primal) {
        best->fit->primal = primal;
        best->fit->bias = bias;
        memcpy(best->W, W, cells * sizeof *W);
    }
}

/* Operations of plain loops of an iteration whose SVM took so many Newton steps. */
static double count_work(const struct smm_matrices *matrices, uint64_t steps) {
    enum { LOOPS = 10, SINGULAR = 20 }; /* over the rows; over the matrix, for each of its sides */
    const double blas_speed = 16;
    double n = (double)matrices->n, d = (double)(matrices->height * matrices->width);
    double m = fmin(n, d), k = (double)smaller(matrices->height, matrices->width);
    double step = (n * m * m + m * m * m / 3) / blas_speed + LOOPS * n * m;
    return (double)steps * step + LOOPS * n * d + SINGULAR * d * k;
}

/* The W step: with W0 = (multiplier + rho S)/(1 + rho), W = W0 + w for the w of an SVM of cost C/(1
 * + rho) and margins 1 - y <W0, X>. M becomes sum alpha y X, *linear the dual's other part. */
static int svm_step(struct smm_nuclear *nuclear, const struct binary_loss *loss, double epsilon,
                    const struct monitor *monitor, double *linear, struct error *err) {
    const struct smm_matrices *matrices = nuclear->matrices;
    size_t n = matrices->n, cells = matrices->height * matrices->width;
    double rho = nuclear->rho;
    for (size_t j = 0; j < cells; j++) {
        nuclear->W[j] = (nuclear->multiplier[j] + rho * nuclear->S[j]) / (1 + rho);
    }
    smm_scores(matrices, nuclear->W, nuclear->s);
    for (size_t i = 0; i < n; i++) {
        nuclear->margin[i] = 1 - loss->y[i] * nuclear->s[i];
        nuclear->cost[i] = loss->cost[i] / (1 + rho);
    }
    const struct binary_loss shifted = {.y = loss->y,
                                        .cost = nuclear->cost,
                                        .margin = nuclear->margin,
                                        .squared = loss->squared,
                                        .cluster = loss->cluster};
    const struct monitor inner = monitor_inner(monitor);
    struct binary_fit fit;
    if (binary_solve(nuclear->svm, &shifted, epsilon, &inner, &fit, err) < 0) {
        return -1;
    }
    nuclear->work += count_work(matrices, fit.iterations);
    *linear = 0;
    for (size_t i = 0; i < n; i++) {
        double alpha = fmin((1 + rho) * fit.alpha[i], loss->squared ? INFINITY : loss->cost[i]);
        *linear += alpha;
        *linear -= loss->squared ? alpha * (alpha / (4 * loss->cost[i])) : 0;
        nuclear->signs[i] = loss->y[i] * alpha;
    }
    *linear = cluster_total(loss->cluster, *linear);
    array_add(nuclear->W, 1, fit.w, cells);
    const struct binary_rows rows = {.n = n,
                                     .d = cells,
                                     .data = matrices->data,
                                     .threads = matrices->threads,
                                     .cluster = matrices->cluster};
    return binary_adjoint(&rows, nuclear->signs, nuclear->M, err);
}

/* The threshold tau / rho should be of the size of W's singular values: much smaller ones change
 * the rank too slowly, much larger ones cut all away. (Balancing the two residuals, as is usual,
 * took ten times the iterations where tau is large.) Ever more rarely, so that the method
 * converges. */
static void set_rho(struct smm_nuclear *nuclear, double tau, double norm, double square) {
    double rho = norm > 0 ? RHO_SHARE * tau * norm / square : RHO_EMPTY * nuclear->rho;
    nuclear->rho = fmin(fmax(rho, RHO_LEAST), RHO_MOST);
}

static int iterate(struct smm_nuclear *nuclear, const struct binary_loss *loss, double tau,
                   double inner, const struct monitor *monitor, struct best *best,
                   struct error *err) {
    const struct smm_matrices *matrices = nuclear->matrices;
    size_t height = matrices->height, width = matrices->width, cells = height * width;
    double linear, norm, square, rho = nuclear->rho;
    if (svm_step(nuclear, loss, inner, monitor, &linear, err) < 0 ||
        smm_nuclear_shrink(nuclear->M, height, width, tau, nuclear->dual_W, &norm, &square, err) <
            0) {
        return -1;
    }
    if (linear - 0.5 * square > best->fit->dual) {
        best->fit->dual = linear - 0.5 * square;
        for (size_t i = 0; i < matrices->n; i++) {
            nuclear->alpha[i] = loss->y[i] * nuclear->signs[i];
        }
    }
    offer(nuclear, loss, tau, nuclear->dual_W, norm, square, best);

    for (size_t j = 0; j < cells; j++) {
        nuclear->W[j] = RELAX * nuclear->W[j] + (1 - RELAX) * nuclear->S[j];
        nuclear->S[j] = nuclear->W[j] - nuclear->multiplier[j] / rho;
    }
    if (smm_nuclear_shrink(nuclear->S, height, width, tau / rho, nuclear->S, &norm, &square, err) <
        0) {
        return -1;
    }
    for (size_t j = 0; j < cells; j++) {
        nuclear->multiplier[j] += rho * (nuclear->S[j] - nuclear->W[j]);
    }
    offer(nuclear, loss, tau, nuclear->S, norm, square, best);
    uint64_t k = best->fit->iterations;
    if ((k & (k - 1)) == 0) { /* 1, 2, 4, 8 ... */
        set_rho(nuclear, tau, norm, square);
    }
    return 0;
}

/* ---- the interior point ---- */

/* Of W = U diag(s) Vt those of the r largest singular values, with its norms. */
static void cut(const struct smm_matrices *matrices, const double *U, const double *s,
                const double *Vt, size_t r, double *W, double *norm, double *square) {
    size_t height = matrices->height, width = matrices->width, k = smaller(height, width);
    *norm = *square = 0;
    memset(W, 0, height * width * sizeof *W);
    for (size_t i = 0; i < r; i++) {
        *norm += s[i];
        *square += s[i] * s[i];
        for (size_t a = 0; a < height; a++) {
            array_add(W + a * width, s[i] * U[a * k + i], Vt + i * width, width);
        }
    }
}

/* Offers W with as few of its singular values as the gap allows: the interior point has none that
 * are 0. */
static int offer_cut(struct smm_nuclear *nuclear, const struct binary_loss *loss, double tau,
                     double epsilon, const double *W, struct best *best, struct error *err) {
    const struct smm_matrices *matrices = nuclear->matrices;
    size_t height = matrices->height, width = matrices->width, k = smaller(height, width);
    double *U = memory_array(height * k + k + k * width, sizeof *U, "singular values", err);
    double *s = U + height * k, *Vt = s + k, norm, square, bias;
    int status = U ? svd_thin(W, height, width, U, s, Vt, err) : -1;
    for (size_t r = 0; status == 0 && r <= k; r++) {
        cut(matrices, U, s, Vt, r, nuclear->dual_W, &norm, &square);
        double primal = primal_at(nuclear, loss, tau, nuclear->dual_W, norm, square, &bias);
        bool enough = gap_reached(primal, best->fit->dual, epsilon);
        if (enough || primal < best->fit->primal) {
            best->fit->primal = primal;
            best->fit->bias = bias;
            memcpy(best->W, nuclear->dual_W, height * width * sizeof *W);
        }
        if (enough) {
            break;
        }
    }
    free(U);
    return status;
}

int smm_nuclear_finish(struct smm_nuclear *nuclear, const struct binary_loss *loss, double tau,
                       double epsilon, const struct monitor *monitor, double *W,
                       struct binary_fit *fit, struct error *err) {
    const double tight = 0.5; /* what cutting singular values may take is left */
    const struct smm_matrices *matrices = nuclear->matrices;
    struct best best = {W, fit};
    struct monitor_run run;
    const struct monitor after = monitor_after(&run, monitor, fit->iterations, 0);
    double *alpha = memory_array(matrices->n, sizeof *alpha, "dual variables", err);
    struct smm_nuclear_point point = {.W = nuclear->W, .alpha = alpha};
    run.primal = fit->primal;
    run.dual = fit->dual;
    int status =
        alpha ? smm_nuclear_interior(matrices, loss, tau, tight * epsilon, &after, &point, err)
              : -1;
    if (status == 0) {
        if (point.dual > fit->dual) {
            fit->dual = point.dual;
            memcpy(nuclear->alpha, alpha, matrices->n * sizeof *alpha);
        }
        fit->iterations += point.iterations;
        fit->reason = point.stop;
        status = offer_cut(nuclear, loss, tau, epsilon, point.W, &best, err);
    }
    free(alpha);
    return status;
}

double smm_nuclear_interior_cost(const struct smm_nuclear *nuclear) {
    /* it wants all rows */
    return nuclear->matrices->cluster ? INFINITY : smm_nuclear_interior_work(nuclear->matrices);
}

bool smm_nuclear_newton_ended(const struct smm_nuclear *nuclear, const struct binary_loss *loss,
                              double tau) {
    return smm_nuclear_newton_knows(nuclear->newton, loss, tau);
}

int smm_nuclear_newton(struct smm_nuclear *nuclear, const struct binary_loss *loss, double tau,
                       double epsilon, const struct monitor *monitor, double *W,
                       struct binary_fit *fit, struct error *err) {
    struct smm_nuclear_point point = {.W = W, .alpha = nuclear->alpha};
    if (smm_nuclear_newton_solve(nuclear->newton, loss, tau, epsilon, monitor, &point, err) < 0) {
        return -1;
    }
    fit->bias = point.bias;
    fit->primal = point.primal;
    fit->dual = point.dual;
    fit->iterations = point.iterations;
    fit->reason = point.stop;
    fit->converged = !point.stop;
    return 0;
}

void smm_nuclear_begin(struct smm_nuclear *nuclear, const struct binary_loss *loss, double tau,
                       double *W, struct binary_fit *fit) {
    struct best best = {W, fit};
    *fit = (struct binary_fit){.w = W, .primal = INFINITY, .alpha = nuclear->alpha};
    memset(nuclear->alpha, 0, nuclear->matrices->n * sizeof *nuclear->alpha);
    memset(W, 0, nuclear->matrices->height * nuclear->matrices->width * sizeof *W);
    offer(nuclear, loss, tau, W, 0, 0, &best);
}

int smm_nuclear_admm(struct smm_nuclear *nuclear, const struct binary_loss *loss, double tau,
                     double epsilon, double other, const struct monitor *monitor, double *W,
                     struct binary_fit *fit, struct error *err) {
    struct pace pace = {.other = other};
    struct best best = {W, fit};
    nuclear->work = 0;
    bool finished = false;
    for (double gap = 1;; gap = gap_relative(fit->primal, fit->dual)) {
        if (gap_reached(fit->primal, fit->dual, epsilon)) {
            fit->converged = true;
            return 0;
        }
        if (pace_slow(&pace, nuclear->work, gap, epsilon)) {
            if (finished) {
                fit->reason = STOP_ROUNDING;
                return 0;
            }
            monitor_algorithm(monitor, ALGORITHM_INTERIOR_POINT);
            if (smm_nuclear_finish(nuclear, loss, tau, epsilon, monitor, W, fit, err) < 0) {
                return -1;
            }
            if (stop_limited(fit->reason)) {
                return 0;
            }
            finished = true; /* where rounding held it up, ADMM may still go on */
            monitor_algorithm(monitor, ALGORITHM_ADMM);
            pace = (struct pace){.other = pace.other};
            continue;
        }
        if (fit->iterations >= MOST_ITERATIONS) {
            fit->reason = STOP_SLOW_ADMM;
            return 0;
        }
        fit->iterations++;
        fit->reason = monitor_check(monitor, fit->iterations, fit->primal, fit->dual);
        if (fit->reason) {
            return 0;
        }
        /* errors must have a finite sum, or the method may come to turn in a circle */
        double k = (double)fit->iterations / INNER_HALF;
        double inner = INNER * fmin(gap, INNER_GAP) / (1 + k * k);
        if (iterate(nuclear, loss, tau, fmax(inner, INNER_LEAST), monitor, &best, err) < 0) {
            return -1;
        }
        if (!isfinite(fit->primal) || !isfinite(fit->dual)) {
            return error_set(err, ERROR_RUNTIME,
                             "scores overflow: scale the data or lower the cost");
        }
    }
}
