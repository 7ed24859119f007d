/* The steps of Newton's method on the smoothing path: Hessian or conjugate gradients (newton.h). */
#include "families/rank/solver/newton.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/linear_algebra/cholesky.h"
#include "families/rank/solver/laplacian.h"
#include "families/rank/solver/multipliers.h"
#include "families/rank/solver/newton_preconditioner.h"
#include "families/rank/solver/risk.h"
#include "fit/stop.h"
#include "methods/smoothing_path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Maximal steps of conjugate gradients for one Newton step. The preconditioner is nearly the
 * inverse, so more steps with it gain nothing over rounding. */
enum { CG_MAX_STEPS = 2000, CG_MAX_PRECONDITIONED = 30 };

static const double FORCING = 0.1; /* forcing term: residual of CG relative to the gradient */

/* The vectors of conjugate gradients, T = I + c A'LA, with the map A from w (dimension) to scores
 * (n): the data, or the kernel matrix. */
struct cg {
    /* (dimension) residual, z = B residual, direction p, T p, and the diagonal of B */
    double *residual, *z, *p, *Tp, *scale;
    double *z_s, *p_s, *Lp;  /* (n) A z, A p, L A p */
    double factor;           /* c */
    double residual_squared; /* <residual, z>, the squared residual in the norm of B */
};

struct newton {
    const struct problem *problem;
    const struct score_map *map;
    struct rank_risk risk;           /* the smooth risk that is minimised */
    struct rank_laplacian laplacian; /* of the pairs where the risk is curved */
    bool huber;                      /* the hinge, smoothed by mu; false: the squared hinge */
    struct fit *fit;                 /* gets the best primal and dual points */
    struct huber_path path;
    double *H;    /* (dimension, dimension) the Hessian, if it is formed; else NULL */
    struct cg cg; /* if H is NULL */
    void *block;  /* all arrays except H */
    struct rank_preconditioner *preconditioner; /* of CG with kernels; NULL: none */
    struct rank_multipliers *multipliers; /* the loss is smoothed about a centre; NULL: about 0 */
    double dual_offset;                   /* linear part of the dual objective */
    uint64_t cg_steps_left;               /* remaining steps of CG */
};

/* The factor c of the Laplacian in the Hessian. */
static double curvature_factor(const struct newton *newton) {
    double mu = newton->huber || newton->multipliers ? newton->risk.mu : 0;
    return newton->path.cost / (rank_multipliers_curvature(!newton->huber) + mu);
}

/* H = I + c A'LA, A the data (linear). */
static int form_hessian(struct newton *newton, struct error *err) {
    size_t d = newton->map->dimension;
    if (rank_laplacian_gram(&newton->laplacian, newton->problem->data, newton->problem->rows, d,
                            newton->H, err) < 0) {
        return -1;
    }
    cluster_sum_lower(newton->map->cluster, newton->H, d);
    double factor = curvature_factor(newton);
    array_scale(newton->H, factor, d * d);
    for (size_t i = 0; i < d; i++) {
        newton->H[i * d + i] += 1;
    }
    return 0;
}

/* Computes the Newton step from the Hessian, formed and factored. *found = false if no ridge
 * suffices. */
static int formed_hessian_step(struct newton *newton, bool *found, struct error *err) {
    size_t d = newton->map->dimension;
    if (form_hessian(newton, err) < 0) {
        return -1;
    }
    *found = cholesky_regularised(newton->H, d, newton->path.step) == 0;
    if (!*found) {
        return 0;
    }
    array_multiple(newton->path.step, -1, newton->path.gradient, d);
    cholesky_solve(newton->H, d, newton->path.step);
    return newton->map->scores(newton->map, newton->path.step, newton->path.step_s, err);
}

/* Updates the preconditioner B of CG for the current Laplacian. B is the kernel preconditioner, if
 * there is one; for weights, the inverse of an estimate of the Hessian's diagonal; else I. In the
 * last two cases scale (dimension) = B's diagonal. *found = false if rounding errors leave no
 * factorisation. */
static int make_preconditioner(struct newton *newton, double factor, double *scale, bool *found,
                               struct error *err) {
    const struct score_map *map = newton->map;
    if (newton->preconditioner) {
        *found = rank_preconditioner_update(newton->preconditioner, &newton->laplacian,
                                            newton->path.s, factor);
        return 0;
    }
    if (map->primal &&
        rank_laplacian_diagonal(&newton->laplacian, newton->problem->data, scale, err) < 0) {
        return -1;
    }
    if (map->primal) {
        cluster_sum(map->cluster, scale, map->dimension);
    }
    for (size_t k = 0; k < map->dimension; k++) {
        scale[k] = map->primal ? 1 / (1 + factor * scale[k]) : 1;
    }
    return 0;
}

/* z = B residual and z_s = A z, with the preconditioner B. *squared = <residual, z>. */
static int precondition(struct newton *newton, const double *residual, const double *scale,
                        double *z, double *z_s, double *squared, struct error *err) {
    const struct score_map *map = newton->map;
    size_t d = map->dimension;
    if (newton->preconditioner) {
        rank_preconditioner_apply(newton->preconditioner, &newton->laplacian, residual, z);
    } else {
        for (size_t k = 0; k < d; k++) {
            z[k] = scale[k] * residual[k];
        }
    }
    if (map->scores(map, z, z_s, err) < 0) {
        return -1;
    }
    *squared = huber_inner(map, residual, z, z_s);
    return 0;
}

/* *length = the multiple of p that minimises along it; 0: no positive curvature, because of
 * rounding or a kernel that is not positive semidefinite. */
static int cg_length(struct newton *newton, struct cg *cg, double *length, struct error *err) {
    const struct score_map *map = newton->map;
    rank_laplacian_apply(&newton->laplacian, cg->p_s, cg->Lp);
    if (map->adjoint(map, cg->Lp, cg->Tp, err) < 0) {
        return -1;
    }
    for (size_t j = 0; j < map->dimension; j++) {
        cg->Tp[j] = cg->p[j] + cg->factor * cg->Tp[j];
    }
    double curvature = array_dot(map->primal ? cg->p : cg->p_s, cg->Tp, map->dimension);
    *length = curvature > 0 ? cg->residual_squared / curvature : 0;
    return 0;
}

/* Iterates until <residual, z> <= target. */
static int cg_run(struct newton *newton, struct cg *cg, double target, struct error *err) {
    size_t n = newton->map->n, d = newton->map->dimension;
    int max_steps = newton->preconditioner ? CG_MAX_PRECONDITIONED : CG_MAX_STEPS;
    for (int k = 0; k < max_steps; k++) {
        double length, next;
        if (newton->cg_steps_left == 0 || (k > 0 && monitor_past_deadline(newton->path.monitor))) {
            return 0;
        }
        newton->cg_steps_left--;
        if (cg_length(newton, cg, &length, err) < 0) {
            return -1;
        }
        if (length == 0) {
            return 0;
        }
        array_add(newton->path.step, length, cg->p, d);
        array_add(newton->path.step_s, length, cg->p_s, n);
        array_add(cg->residual, -length, cg->Tp, d);
        if (precondition(newton, cg->residual, cg->scale, cg->z, cg->z_s, &next, err) < 0) {
            return -1;
        }
        if (next <= target) {
            return 0;
        }
        double ratio = next / cg->residual_squared;
        cg->residual_squared = next;
        for (size_t j = 0; j < d; j++) {
            cg->p[j] = cg->z[j] + ratio * cg->p[j];
        }
        for (size_t i = 0; i < n; i++) {
            cg->p_s[i] = cg->z_s[i] + ratio * cg->p_s[i];
        }
    }
    return 0;
}

/* Preconditioned conjugate gradients for (I + c A'LA) step = -gradient, in the Euclidean inner
 * product for weights, and in that of K for coefficients, where I + c L K is self-adjoint. step_s =
 * A step. Stops at a residual of FORCING |gradient|. */
static int cg_step(struct newton *newton, bool *found, struct error *err) {
    size_t n = newton->map->n, d = newton->map->dimension;
    struct cg *cg = &newton->cg;
    cg->factor = curvature_factor(newton);
    int status = make_preconditioner(newton, cg->factor, cg->scale, found, err);
    if (status < 0 || !*found) {
        return status;
    }
    for (size_t k = 0; k < d; k++) {
        cg->residual[k] = -newton->path.gradient[k];
        newton->path.step[k] = 0;
    }
    memset(newton->path.step_s, 0, n * sizeof *newton->path.step_s);
    if (precondition(newton, cg->residual, cg->scale, cg->z, cg->z_s, &cg->residual_squared, err) <
        0) {
        return -1;
    }
    memcpy(cg->p, cg->z, d * sizeof *cg->p);
    memcpy(cg->p_s, cg->z_s, n * sizeof *cg->p_s);
    return cg_run(newton, cg, FORCING * FORCING * cg->residual_squared, err);
}

static int dual_bound(void *context, double squared_norm, double *dual, struct error *err) {
    struct newton *newton = context;
    newton->dual_offset = newton->path.cost * newton->risk.dual_offset;
    *dual = newton->dual_offset - 0.5 * squared_norm;
    return isfinite(*dual) ? 0 : stop_overflow(err);
}

static void store_dual(void *context) {
    const struct newton *newton = context;
    struct fit *fit = newton->fit;
    if (newton->multipliers) {
        rank_multipliers_store(newton->multipliers, newton->risk.mu, newton->path.cost,
                               newton->path.s);
        return;
    }
    fit->dual_offset = newton->dual_offset;
    fit->smoothing = newton->huber ? newton->risk.mu : 0;
    memcpy(fit->dual_scores, newton->path.s, newton->map->n * sizeof *newton->path.s);
    memcpy(fit->dual_weights, newton->path.dual_weights,
           newton->map->dimension * sizeof *newton->path.dual_weights);
}

static void model_gradient(void *context, double region_mu) {
    struct newton *newton = context;
    rank_risk_model_gradient(&newton->risk, newton->path.s, region_mu, newton->path.g);
}

static int step(void *context, double region_mu, bool *found, struct error *err) {
    struct newton *newton = context;
    if (newton->cg_steps_left == 0) {
        *found = false;
        return 0;
    }
    if (newton->multipliers) {
        rank_multipliers_set_region(newton->multipliers, newton->risk.mu, newton->path.s);
    } else {
        rank_laplacian_set(&newton->laplacian, newton->path.s,
                           newton->huber ? 1 - region_mu : -INFINITY, 1);
    }
    return newton->H ? formed_hessian_step(newton, found, err) : cg_step(newton, found, err);
}

static void recentre(void *context, double mu) {
    struct newton *newton = context;
    rank_multipliers_recentre(newton->multipliers, newton->risk.mu, newton->path.s);
    newton->risk.mu = mu;
}

static const struct huber_steps STEPS = {.dual_bound = dual_bound,
                                         .store_dual = store_dual,
                                         .model_gradient = model_gradient,
                                         .step = step},
                                CENTRED_STEPS = {.dual_bound = dual_bound,
                                                 .store_dual = store_dual,
                                                 .recentre = recentre,
                                                 .step = step};

/* Runs from w; fit gets the best points. */
static int run(struct newton *newton, struct error *err) {
    struct fit *fit = newton->fit;
    const struct huber_path *path = &newton->path;
    int status = huber_path_run(&newton->path, err);
    fit->primal = path->primal;
    fit->dual = path->dual;
    fit->iterations = path->iterations;
    fit->converged = path->reason == STOP_REACHED;
    bool ended = fit->converged || stop_limited(path->reason);
    fit->reason = newton->cg_steps_left > 0 || ended ? path->reason : STOP_ITERATIONS;
    if (status == 0 && newton->multipliers) {
        newton->multipliers->mu = newton->risk.mu;
        newton->multipliers->has_run = true;
        memcpy(newton->multipliers->last, path->w, newton->map->dimension * sizeof *path->w);
        status = rank_listed_dual(newton->multipliers->listed, newton->map,
                                  newton->multipliers->alpha, path->cost, !newton->huber, fit, err);
    }
    return status;
}

static void newton_free(struct newton *newton) {
    rank_laplacian_free(&newton->laplacian);
    rank_risk_free(&newton->risk);
    free(newton->block);
    free(newton->H);
}

/* Allocates everything; starts at w = 0. */
static int newton_create(struct newton *newton, struct rank_pairs *pairs, struct error *err) {
    size_t n = newton->map->n, d = newton->map->dimension;
    struct fit *fit = newton->fit;
    struct huber_path *path = &newton->path;
    bool forms_hessian = newton->map->primal && d <= RANK_MAX_HESSIAN_FEATURES;
    newton->H = forms_hessian ? memory_array(d, d * sizeof(double), "Hessian", err) : NULL;
    size_t cg_d = forms_hessian ? 0 : d, cg_n = forms_hessian ? 0 : n;
    newton->block = ARRAYS_CREATE(
        "weights", err,
        ARRAYS(d, double, &path->w, &path->gradient, &path->step, &path->dual_weights),
        ARRAYS(n, double, &path->s, &path->g, &path->step_s, &path->trial, &path->gradient_s),
        ARRAYS(cg_d, double, &newton->cg.residual, &newton->cg.z, &newton->cg.p, &newton->cg.Tp,
               &newton->cg.scale),
        ARRAYS(cg_n, double, &newton->cg.z_s, &newton->cg.p_s, &newton->cg.Lp));
    path->best_w = fit->weights = memory_array(d, sizeof(double), "weights", err);
    fit->dual_weights = memory_zeros(d, sizeof(double), "weights", err);
    double **of_dual = newton->multipliers ? &fit->dual_error : &fit->dual_scores;
    *of_dual = memory_zeros(n, sizeof(double), "scores", err);
    if (!newton->block || (forms_hessian && !newton->H) || !fit->weights || !fit->dual_weights ||
        !*of_dual) {
        return -1;
    }
    enum rank_risk_type type = newton->multipliers ? RANK_RISK_CENTRED
                               : newton->huber     ? RANK_RISK_HUBER
                                                   : RANK_RISK_SQUARE;
    if (rank_laplacian_create(&newton->laplacian, pairs, err) < 0 ||
        rank_risk_create(&newton->risk, pairs, type, err) < 0) {
        return -1;
    }
    newton->risk.multipliers = newton->laplacian.multipliers = newton->multipliers;
    newton->risk.mu = newton->multipliers ? newton->multipliers->mu : newton->risk.mu;
    path->risk = rank_risk_functions(&newton->risk, false);
    return 0;
}

int rank_newton_solve(const struct problem *problem, const struct score_map *map,
                      struct rank_pairs *pairs, enum rank_loss loss, double cost, double epsilon,
                      const double *start, uint64_t max_cg_steps,
                      struct rank_preconditioner *preconditioner,
                      struct rank_multipliers *multipliers, const struct monitor *monitor,
                      struct fit *fit, struct error *err) {
    struct newton newton = {.problem = problem,
                            .map = map,
                            .huber = loss == RANK_HINGE,
                            .fit = fit,
                            .preconditioner = preconditioner,
                            .multipliers = multipliers,
                            .cg_steps_left = max_cg_steps > 0 ? max_cg_steps : UINT64_MAX};
    /* The line search is exact: pairs that enter the smoothed region along the step may cut it to a
     * small part, and that part is the shortest way to a Hessian that contains them. */
    newton.path = (struct huber_path){.steps = multipliers ? &CENTRED_STEPS : &STEPS,
                                      .context = &newton,
                                      .monitor = monitor,
                                      .map = map,
                                      .mu = &newton.risk.mu,
                                      .loss = &newton.risk.true_value,
                                      .cost = cost,
                                      .epsilon = epsilon,
                                      .piecewise_linear = newton.huber || multipliers,
                                      .primal = INFINITY,
                                      .dual = 0}; /* alpha = 0 */
    *fit = (struct fit){0};
    int status = newton_create(&newton, pairs, err);
    if (multipliers && multipliers->has_run) {
        start = multipliers->last;
    }
    if (status == 0 && start) {
        memcpy(newton.path.w, start, map->dimension * sizeof(double));
        status = map->scores(map, newton.path.w, newton.path.s, err);
    }
    status = status < 0 ? -1 : run(&newton, err);
    if (status < 0) {
        fit_free(fit);
    }
    newton_free(&newton);
    return status;
}
