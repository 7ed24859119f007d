#include "solvers/rank/newton.h"

#include "common/base/array.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "solvers/methods/cholesky.h"
#include "solvers/methods/linesearch.h"
#include "solvers/rank/landmarks.h"
#include "solvers/rank/laplacian.h"
#include "solvers/rank/risk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STALL_STEPS = 25, /* Newton steps without a better gap: rounding has the last word */
    CG_MOST = 2000,   /* conjugate gradient steps for one Newton step */
    CG_PLAIN = 40,    /* after so many a preconditioner pays */
    LANDMARKS = 1024
};

/* The smoothing: where it starts, how far it goes down in one step at the least and at the most
 * (the latter when the last step down needed no correction), and where rounding of u / mu ends it.
 */
static const double MU_FIRST = 1, MU_CAREFUL = 0.3, MU_BOLD = 0.01, MU_LEAST = 1e-7;
static const double FORCING = 0.1;    /* residual of CG relative to the gradient */
static const double LEAST_CUT = 1e-4; /* of CG's aim, when it proves too high */
static const double LINE = 1e-3; /* accuracy of the line search, relative to that of the step */

struct newton {
    const struct problem *problem;
    const struct score_map *map;
    struct rank_risk risk; /* the smooth one that is minimised */
    struct rank_laplacian laplacian;
    struct risk table;
    bool huber;
    const struct monitor *monitor;
    double cost, epsilon;
    double *w, *gradient, *step;  /* (dimension) */
    double *dual;                 /* (dimension) A'(-C g) */
    double *s, *g, *q, *trial;    /* (n) */
    double *gradient_s;           /* (n) A gradient; kernels only */
    double *H;                    /* (dimension, dimension): direct; else NULL */
    double *cg;                   /* work of conjugate gradients; else NULL */
    struct landmarks landmarks;   /* kernels: the preconditioner, once plain steps were too many */
    double norm, value, residual; /* |w|^2, the smooth risk, half of |gradient|^2 */
};

static double inner(const struct newton *newton, const double *x, const double *y,
                    const double *y_scores) {
    const struct score_map *map = newton->map;
    return array_dot(x, map->primal ? y : y_scores, map->dimension);
}

/* The factor of the Laplacian in the Hessian. */
static double band_factor(const struct newton *newton) {
    return newton->cost * (newton->huber ? 1 / newton->risk.mu : 2);
}

static int direct_step(struct newton *newton, struct error *err) {
    size_t d = newton->map->dimension;
    if (rank_laplacian_gram(&newton->laplacian, newton->problem->data, newton->problem->rows, d,
                            newton->H, err)) {
        return -1;
    }
    double factor = band_factor(newton);
    for (size_t i = 0; i < d * d; i++) {
        newton->H[i] *= factor;
    }
    for (size_t i = 0; i < d; i++) {
        newton->H[i * d + i] += 1;
        newton->step[i] = -newton->gradient[i];
    }
    if (cholesky_factor(newton->H, d)) {
        return error_set(err, ERROR_RUNTIME, "scores overflow: scale the data or lower the cost");
    }
    cholesky_solve(newton->H, d, newton->step);
    return newton->map->scores(newton->map, newton->step, newton->q, err);
}

/* z = B residual and z_s = A z for the preconditioner B: the Hessian's diagonal for weights w,
 * landmarks for kernels. *square = <residual, z>. */
static int precondition(struct newton *newton, const double *residual, const double *scale,
                        double *z, double *z_s, double *square, struct error *err) {
    const struct score_map *map = newton->map;
    size_t d = map->dimension;
    if (newton->landmarks.m > 0) {
        if (landmarks_apply(&newton->landmarks, residual, z, err)) {
            return -1;
        }
    } else {
        for (size_t k = 0; k < d; k++) {
            z[k] = scale[k] * residual[k];
        }
    }
    if (map->scores(map, z, z_s, err)) {
        return -1;
    }
    *square = inner(newton, residual, z, z_s);
    return 0;
}

/* *square = |x|^2 of weights x; s (n) is work. */
static int inner_square(struct newton *newton, const double *x, double *s, double *square,
                        struct error *err) {
    const struct score_map *map = newton->map;
    if (!map->primal && map->scores(map, x, s, err)) {
        return -1;
    }
    *square = inner(newton, x, x, s);
    return 0;
}

/* Conjugate gradients for (I + c A'LA) step = -gradient, in |.| for weights w and in the K inner
 * product for coefficients, where I + c L K is self-adjoint. q gets A step. Ends at a residual of
 * FORCING |gradient|, preconditioned, or when what is left to gain is below `enough`. */
static int cg_step(struct newton *newton, double enough, struct error *err) {
    const struct score_map *map = newton->map;
    size_t n = map->n, d = map->dimension;
    double factor = band_factor(newton);
    double *residual = newton->cg, *z = residual + d, *p = z + d, *Tp = p + d, *scale = Tp + d;
    double *z_s = scale + d, *p_s = z_s + n, *Lp = p_s + n;
    if (map->primal &&
        rank_laplacian_diagonal(&newton->laplacian, newton->problem->data, scale, err)) {
        return -1;
    }
    if (newton->landmarks.m > 0 &&
        landmarks_update(&newton->landmarks, &newton->laplacian, factor, err)) {
        return -1;
    }
    for (size_t k = 0; k < d; k++) {
        scale[k] = map->primal ? 1 / (1 + factor * scale[k]) : 1;
        residual[k] = -newton->gradient[k];
        newton->step[k] = 0;
    }
    memset(newton->q, 0, n * sizeof *newton->q);
    double rz, next;
    if (precondition(newton, residual, scale, z, z_s, &rz, err)) {
        return -1;
    }
    double left, target = fmax(FORCING * FORCING * rz, 2 * enough);
    double wanted = fmax(FORCING * FORCING * 2 * newton->residual, 2 * enough);
    memcpy(p, z, d * sizeof *p);
    memcpy(p_s, z_s, n * sizeof *p_s);
    bool plain = !map->primal && newton->landmarks.m == 0;
    for (int k = 0; k < (plain ? CG_PLAIN : CG_MOST); k++) {
        if (k > 0 && monitor_late(newton->monitor)) {
            return 0;
        }
        rank_laplacian_apply(&newton->laplacian, p_s, Lp);
        if (map->adjoint(map, Lp, Tp, err)) {
            return -1;
        }
        for (size_t j = 0; j < d; j++) {
            Tp[j] = p[j] + factor * Tp[j];
        }
        double curvature = array_dot(map->primal ? p : p_s, Tp, d);
        if (!(curvature > 0)) {
            return 0; /* rounding, or a kernel that is not positive semidefinite */
        }
        double length = rz / curvature;
        array_add(newton->step, length, p, d);
        array_add(newton->q, length, p_s, n);
        array_add(residual, -length, Tp, d);
        if (precondition(newton, residual, scale, z, z_s, &next, err)) {
            return -1;
        }
        if (next <= target) {
            /* the gap counts the residual without the preconditioner, which may hide much of it */
            if (inner_square(newton, residual, Lp, &left, err)) {
                return -1;
            }
            if (left <= wanted) {
                return 0;
            }
            target *= fmax(wanted / left, LEAST_CUT);
        }
        double ratio = next / rz;
        rz = next;
        for (size_t j = 0; j < d; j++) {
            p[j] = z[j] + ratio * p[j];
        }
        for (size_t i = 0; i < n; i++) {
            p_s[i] = z_s[i] + ratio * p_s[i];
        }
    }
    return plain ? landmarks_create(&newton->landmarks, map, LANDMARKS, err) : 0;
}

/* Values at w: the smooth risk with its gradient, and the bounds of the true problem. */
static int evaluate(struct newton *newton, double *primal, double *dual, double *dual_offset,
                    struct error *err) {
    const struct score_map *map = newton->map;
    size_t d = map->dimension;
    double offset;
    newton->value = rank_risk_cut(&newton->risk, newton->s, newton->g, &offset);
    if (map->adjoint(map, newton->g, newton->dual, err)) {
        return -1;
    }
    for (size_t k = 0; k < d; k++) {
        newton->dual[k] *= -newton->cost;
        newton->gradient[k] = newton->w[k] - newton->dual[k];
    }
    if (!map->primal && map->scores(map, newton->gradient, newton->gradient_s, err)) {
        return -1;
    }
    newton->norm = inner(newton, newton->w, newton->w, newton->s);
    double gradient_norm = inner(newton, newton->gradient, newton->gradient, newton->gradient_s);
    double mixed = inner(newton, newton->gradient, newton->w, newton->s);
    double dual_norm = newton->norm - 2 * mixed + gradient_norm; /* |w - gradient|^2 */
    if (map->primal) {
        dual_norm = array_dot(newton->dual, newton->dual, d);
    }
    *primal = 0.5 * newton->norm + newton->cost * newton->risk.true_value;
    *dual_offset = newton->cost * newton->risk.dual_offset;
    *dual = *dual_offset - 0.5 * dual_norm;
    newton->residual = 0.5 * gradient_norm;
    return 0;
}

/* Goes along the step to the minimum. */
static int line(struct newton *newton, double tolerance, struct error *err) {
    const struct score_map *map = newton->map;
    size_t n = map->n, d = map->dimension;
    struct linesearch search = {
        .risk = &newton->table,
        .cost = newton->cost,
        .s = newton->s,
        .d = newton->q,
        .norm = newton->norm,
        .mixed = inner(newton, newton->w, newton->step, newton->q),
        .curvature = inner(newton, newton->step, newton->step, newton->q),
        .value = newton->value,
        .slope = array_dot(newton->g, newton->q, n),
        .first = 1,
        .trial = newton->trial,
        .g = newton->g,
    };
    struct linesearch_result found = linesearch_minimise(&search, tolerance);
    array_add(newton->w, found.theta, newton->step, d);
    return map->scores(map, newton->w, newton->s, err);
}

/* Keeps the better of the bounds, each with the point that it belongs to. */
static void keep_best(const struct newton *newton, double primal, double dual, double offset,
                      struct fit *fit) {
    size_t d = newton->map->dimension;
    if (primal < fit->primal) {
        fit->primal = primal;
        memcpy(fit->weights, newton->w, d * sizeof *newton->w);
    }
    if (dual > fit->dual) {
        fit->dual = dual;
        fit->dual_offset = offset;
        memcpy(fit->dual_weights, newton->dual, d * sizeof *newton->dual);
    }
}

/* Lowers mu, to what the gap that is asked for needs and by at most `factor`. The minimum moves
 * with mu along a line as long as the band keeps its pairs: the gradient becomes that of the new mu
 * with the band of the old one, so that one Newton step follows. */
static int lower_mu(struct newton *newton, double factor, double gap, double primal,
                    struct error *err) {
    const struct score_map *map = newton->map;
    double band = newton->risk.mu, smoothing = gap - newton->residual, offset;
    double enough = 0.3 * newton->epsilon * primal / smoothing;
    newton->risk.mu = fmax(band * fmin(fmax(factor, enough), MU_CAREFUL), MU_LEAST);
    rank_risk_follow(&newton->risk, newton->s, band, newton->g);
    if (map->adjoint(map, newton->g, newton->gradient, err)) {
        return -1;
    }
    for (size_t k = 0; k < map->dimension; k++) {
        newton->gradient[k] = newton->w[k] + newton->cost * newton->gradient[k];
    }
    double square;
    if (inner_square(newton, newton->gradient, newton->gradient_s, &square, err)) {
        return -1;
    }
    newton->residual = 0.5 * square;
    newton->value = rank_risk_cut(&newton->risk, newton->s, newton->g, &offset);
    return 0;
}

static int step(struct newton *newton, double band, double enough, struct error *err) {
    rank_laplacian_set(&newton->laplacian, newton->s, newton->huber ? 1 - band : -INFINITY, 1);
    if (newton->H ? direct_step(newton, err) : cg_step(newton, enough, err)) {
        return -1;
    }
    return line(newton, LINE * enough, err);
}

static int iterate(struct newton *newton, struct fit *fit, struct error *err) {
    double best_gap = INFINITY, factor = MU_CAREFUL;
    int stalled = 0;
    bool lowered = false;
    fit->primal = INFINITY;
    fit->dual = 0; /* of alpha = 0 */
    for (;;) {
        double primal, dual, offset;
        if (evaluate(newton, &primal, &dual, &offset, err)) {
            return -1;
        }
        if (!isfinite(primal) || !isfinite(dual)) {
            return error_set(err, ERROR_RUNTIME,
                             "scores overflow: scale the data or lower the cost");
        }
        keep_best(newton, primal, dual, offset, fit);
        double gap = fit->primal - fit->dual;
        if (gap_reached(fit->primal, fit->dual, newton->epsilon)) {
            fit->converged = true;
            return 0;
        }
        fit->iterations++;
        fit->reason = monitor_check(newton->monitor, fit->iterations, fit->primal, fit->dual);
        if (fit->reason) {
            return 0;
        }
        stalled = gap < best_gap * (1 - 1e-4) ? 0 : stalled + 1;
        best_gap = fmin(best_gap, gap);
        double band = newton->risk.mu;
        bool smooth_enough = newton->huber && newton->residual < 0.5 * (primal - dual);
        if (stalled >= STALL_STEPS || (smooth_enough && band <= MU_LEAST)) {
            fit->reason = STOP_ROUNDING;
            return 0;
        }
        if (smooth_enough) {
            factor = lowered ? fmax(factor * MU_CAREFUL, MU_BOLD) : MU_CAREFUL;
            if (lower_mu(newton, factor, primal - dual, primal, err)) {
                return -1;
            }
        }
        lowered = smooth_enough;
        if (step(newton, band, 0.1 * newton->epsilon * fit->primal, err)) {
            return -1;
        }
    }
}

int rank_newton_solve(const struct problem *problem, const struct score_map *map,
                      struct rank_pairs *pairs, enum rank_loss loss, double cost, double epsilon,
                      const double *start, const struct monitor *monitor, struct fit *fit,
                      struct error *err) {
    size_t n = map->n, d = map->dimension;
    *fit = (struct fit){0};
    struct newton newton = {.problem = problem,
                            .map = map,
                            .huber = loss == RANK_HINGE,
                            .monitor = monitor,
                            .cost = cost,
                            .epsilon = epsilon};
    if (rank_risk_create(&newton.risk, pairs,
                         loss == RANK_HINGE ? RANK_RISK_HUBER : RANK_RISK_SQUARE, err)) {
        return -1;
    }
    newton.risk.mu = MU_FIRST;
    newton.table = rank_risk_table(&newton.risk);
    bool direct = map->primal && d <= RANK_NEWTON_DIRECT;
    newton.w = memory_zeros(d, sizeof(double), "weights", err);
    newton.gradient = memory_array(d, sizeof(double), "weights", err);
    newton.step = memory_array(d, sizeof(double), "weights", err);
    newton.dual = memory_array(d, sizeof(double), "weights", err);
    newton.s = memory_zeros(n, sizeof(double), "scores", err);
    newton.g = memory_array(n, sizeof(double), "scores", err);
    newton.q = memory_array(n, sizeof(double), "scores", err);
    newton.trial = memory_array(n, sizeof(double), "scores", err);
    newton.gradient_s = memory_array(n, sizeof(double), "scores", err);
    fit->weights = memory_array(d, sizeof(double), "weights", err);
    fit->dual_weights = memory_zeros(d, sizeof(double), "weights", err);
    newton.H = direct ? memory_array(d, d * sizeof(double), "Hessian", err) : NULL;
    newton.cg = direct ? NULL : memory_array(5 * d + 3 * n, sizeof(double), "weights", err);
    int status = -1;
    if (newton.w && newton.gradient && newton.step && newton.dual && newton.s && newton.g &&
        newton.q && newton.trial && newton.gradient_s && fit->weights && fit->dual_weights &&
        (newton.H || newton.cg) && rank_laplacian_create(&newton.laplacian, pairs, err) == 0) {
        status = 0;
        if (start) {
            memcpy(newton.w, start, d * sizeof(double));
            status = map->scores(map, newton.w, newton.s, err);
        }
        status = status ? status : iterate(&newton, fit, err);
        rank_laplacian_free(&newton.laplacian);
    }
    if (status) {
        fit_free(fit);
    }
    rank_risk_free(&newton.risk);
    landmarks_free(&newton.landmarks);
    free(newton.w);
    free(newton.gradient);
    free(newton.step);
    free(newton.dual);
    free(newton.s);
    free(newton.g);
    free(newton.q);
    free(newton.trial);
    free(newton.gradient_s);
    free(newton.H);
    free(newton.cg);
    return status;
}
