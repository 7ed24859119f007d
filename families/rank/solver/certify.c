/* The hinge losses with their rounding-error bounds, and the dual points of both losses
 * (certify.h). */
#include "families/rank/solver/certify.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "families/rank/solver/extended_sums.h"
#include "families/rank/solver/laplacian.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest rounding-error bound of pair features, as a part of the target gap, that needs no
 * double-double. */
static const double MAX_ROUNDING = 0.01;

/* ---- creation ---- */

/* weight (n) = total weight of the pairs that contain each row: the degrees of the Laplacian of all
 * pairs, rounded up. */
static int compute_weights(struct rank_certifier *certifier, struct error *err) {
    size_t n = certifier->map->n;
    struct rank_laplacian all;
    double *s = memory_zeros(n, sizeof *s, "pairs", err);
    certifier->weight = memory_array(n, sizeof *certifier->weight, "pairs", err);
    int status = s && certifier->weight ? rank_laplacian_create(&all, certifier->pairs, err) : -1;
    if (status == 0) {
        rank_laplacian_set(&all, s, -INFINITY, INFINITY);
        for (size_t i = 0; i < n; i++) {
            certifier->weight[i] = all.degree[i] * (1 + certifier->hinge->sums_rounding);
        }
        rank_laplacian_free(&all);
    }
    free(s);
    return status;
}

int rank_certifier_create(struct rank_certifier *certifier, const struct problem *problem,
                          const struct score_map *map, struct rank_pairs *pairs,
                          struct exterior *exterior, const struct rank_risk *hinge,
                          struct error *err) {
    size_t n = map->n;
    *certifier =
        (struct rank_certifier){.map = map, .pairs = pairs, .exterior = exterior, .hinge = hinge};
    if (certify_create(&certifier->certify, problem, map, 0, err) < 0) {
        return -1;
    }
    if (!exterior) {
        return compute_weights(certifier, err);
    }
    double *norm_bound = memory_array(n, sizeof *norm_bound, "pairs", err);
    struct certify_pair *rows = memory_array(n, sizeof *rows, "pairs", err);
    if (!norm_bound || !rows) {
        free(norm_bound);
        free(rows);
        return -1;
    }
    exterior_norm_bounds(exterior, certify_norm_bounds(certifier->certify), norm_bound, rows);
    certifier->row_factor = certify_error_factor(certifier->certify);
    certify_pairs(certifier->certify, norm_bound, exterior_factor(exterior, certifier->row_factor),
                  rows);
    return 0;
}

void rank_certifier_free(struct rank_certifier *certifier) {
    certify_free(certifier->certify);
    free(certifier->weight);
    *certifier = (struct rank_certifier){0};
}

/* ---- the loss ---- */

/* What evaluate_loss needs besides the scores. */
struct loss {
    const struct rank_certifier *certifier;
    enum rank_loss loss;
    double cost;
    double *g; /* (n) work */
};

/* An upper bound of the total weight of the pairs with margin below 1, if each margin is within
 * slack of that at scores s. The other pairs add neither loss nor rounding error. work (n). */
static double unmet_weight(const struct rank_certifier *certifier, const double *s, double slack,
                           double *work) {
    size_t n = certifier->map->n;
    double largest = array_largest(s, n);
    double delta = 1 + slack + 8 * DBL_EPSILON * (1 + slack + largest);
    double up = certifier->pairs->gain ? certifier->hinge->sums_rounding : (double)n * DBL_EPSILON;
    return fmin(certifier->hinge->total,
                rank_pairs_sums(certifier->pairs, s, delta, work, NULL) * (1 + up));
}

static int evaluate_loss(void *context, size_t first, size_t n, const double *s,
                         const double *error, double *value, double *rounding, struct error *err) {
    (void)first;
    struct loss *loss = context;
    const struct rank_certifier *certifier = loss->certifier;
    bool squared = loss->loss == RANK_SQUARED_HINGE;
    double sum, sums;
    if (certifier->exterior) {
        exterior_loss(certifier->exterior, squared, s, error, &sum, &sums);
        *value = loss->cost * sum;
        *rounding = loss->cost * sums + (sum + sums > 0 ? 4 * CERTIFY_UNDERFLOW : 0);
        return 0;
    }
    if (rank_extended_loss(certifier->pairs, s, squared, &sum, &sums, err) < 0) {
        return -1;
    }
    double slack = 2 * array_largest(error, n); /* of a margin: two scores */
    double unmet = unmet_weight(certifier, s, slack, loss->g);
    double perturbation = rank_loss_perturbation(slack, unmet, squared, sum + sums);
    *value = loss->cost * sum;
    *rounding = loss->cost * (sums + perturbation);
    *rounding += sum + sums + perturbation > 0 ? 4 * CERTIFY_UNDERFLOW : 0;
    return 0;
}

/* ---- the dual point ---- */

/* A dual point in the form that certify_bounds takes. */
struct dual {
    struct certify_function function;
    double *error; /* (n) */
    double *slack; /* (n) further error of the coefficients, over C; NULL: none */
    double linear, rounding;
};

/* A smoothed loss at scores: recomputes its coefficients and their function, and replaces the
 * running dual_weights. Leaves |coefficients| in dual->error. */
static int smooth_dual(const struct rank_certifier *certifier, double cost, struct fit *fit,
                       struct dual *dual, double *unit, struct error *err) {
    size_t n = certifier->map->n;
    double *coefficient = memory_array(n, sizeof *coefficient, "a certificate", err);
    dual->slack = memory_array(n, sizeof *dual->slack, "a certificate", err);
    double grid = rank_extended_round(certifier->pairs, fit->dual_scores, &fit->smoothing);
    int status = coefficient && dual->slack
                     ? rank_extended_dual(certifier->pairs, fit->dual_scores, fit->smoothing, grid,
                                          coefficient, dual->slack, unit, &dual->linear,
                                          &dual->rounding, err)
                     : -1;
    for (size_t i = 0; status == 0 && i < n; i++) {
        coefficient[i] *= cost;
        dual->error[i] = fabs(coefficient[i]);
    }
    double linear[] = {dual->linear, dual->rounding};
    cluster_sum(certifier->map->cluster, linear, 2);
    double process_sums = (double)cluster_size(certifier->map->cluster) - 1;
    dual->linear = cost * linear[0];
    dual->rounding = cost * (linear[1] + process_sums * DBL_EPSILON * linear[0]);
    status = status < 0
                 ? -1
                 : certifier->map->adjoint(certifier->map, coefficient, fit->dual_weights, err);
    free(coefficient);
    return status;
}

/* Cutting planes: their sum and its offset are the running ones. Leaves bounds of |coefficients| in
 * dual->error. */
static void plane_dual(const struct rank_certifier *certifier, double cost, const struct fit *fit,
                       struct dual *dual, double *unit) {
    for (size_t i = 0; i < certifier->map->n; i++) {
        dual->error[i] = cost * fit->rounding.size * certifier->weight[i];
    }
    *unit = fit->rounding.gradient;
    dual->linear = fit->dual_offset;
    dual->rounding = cost * fit->rounding.offset;
}

static int make_dual(const struct rank_certifier *certifier, enum rank_loss loss, double cost,
                     struct fit *fit, struct dual *dual, struct error *err) {
    size_t n = certifier->map->n;
    struct cluster *cluster = certifier->map->cluster;
    size_t terms = cluster_count(cluster, n) + cluster_size(cluster) - 1;
    double unit = 0, sums = certifier->map->primal ? certify_coefficient_rounding(terms) : 0;
    dual->error = memory_array(n, sizeof *dual->error, "a certificate", err);
    if (!dual->error) {
        return -1;
    }
    if (certifier->exterior) {
        bool squared = loss == RANK_SQUARED_HINGE;
        exterior_dual(certifier->exterior, squared, cost, fit->dual_weights, &dual->linear,
                      &dual->rounding);
        memset(dual->error, 0, n * sizeof *dual->error);
    } else if (!fit->dual_scores) {
        plane_dual(certifier, cost, fit, dual, &unit);
        unit = fit->dual_error ? 0 : unit; /* dual_error bounds the error of each coefficient, */
        sums = fit->dual_error ? 0 : sums; /* and includes that of the sum into weights */
    } else if (smooth_dual(certifier, cost, fit, dual, &unit, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        if (!certifier->exterior) {
            dual->error[i] = cost * unit * certifier->weight[i] + sums * dual->error[i];
        }
        dual->error[i] += dual->slack ? cost * dual->slack[i] : 0;
        dual->error[i] += fit->dual_error ? fit->dual_error[i] : 0;
        dual->error[i] += 2 * (double)terms * CERTIFY_UNDERFLOW;
    }
    /* underflow of the product of cost and weight of each pair */
    dual->rounding += (double)terms * (double)terms * CERTIFY_UNDERFLOW;
    dual->function = (struct certify_function){.weights = fit->dual_weights, .error = dual->error};
    return 0;
}

/* ---- certificates ---- */

double rank_certifier_zero_loss(const struct rank_certifier *certifier, double cost) {
    const struct rank_pairs *pairs = certifier->pairs;
    struct certify_total total = {0};
    for (size_t g = 0; g < pairs->n_groups; g++) {
        double weight = pairs->weight[g];
        certify_total_add(&total, weight, pairs->group_relative_weight[g]);
        total.rounded = total.rounded || weight != floor(weight);
    }
    certify_total_over_processes(&total, pairs->cluster);
    return certify_total_times(&total, cost) *
           (1 + 2 * cluster_largest(pairs->cluster, pairs->weight_error));
}

/* Evaluates the margins of pairs in double-double from now on. */
static int refine(struct rank_certifier *certifier, struct error *err) {
    certifier->double_double = true;
    if (exterior_use_double_double(certifier->exterior, err) < 0) {
        return -1;
    }
    certify_set_pair_factor(certifier->certify,
                            exterior_factor(certifier->exterior, certifier->row_factor));
    return 0;
}

int rank_certify(struct rank_certifier *certifier, enum rank_loss kind, double cost, double epsilon,
                 struct fit *fit, struct certificate *certificate, struct error *err) {
    struct loss loss = {.certifier = certifier,
                        .loss = kind,
                        .cost = cost,
                        .g = memory_array(certifier->map->n, sizeof *loss.g, "a certificate", err)};
    struct dual dual = {.error = NULL, .slack = NULL};
    int status = loss.g ? make_dual(certifier, kind, cost, fit, &dual, err) : -1;
    if (status == 0) {
        const struct certify_function f = {.weights = fit->weights, .points = fit->points};
        const struct certify_family family = {.context = &loss,
                                              .loss = evaluate_loss,
                                              .linear = dual.linear,
                                              .linear_rounding = dual.rounding,
                                              .zero_primal =
                                                  rank_certifier_zero_loss(certifier, cost),
                                              .target_gap = epsilon};
        status =
            certify_bounds(certifier->certify, 1, &f, &dual.function, &family, certificate, err);
        bool coarse = certifier->exterior && !certifier->double_double;
        if (status == 0 && coarse && certificate->gap > epsilon &&
            certificate->rounding > MAX_ROUNDING * epsilon * certificate->primal) {
            status = refine(certifier, err) < 0
                         ? -1
                         : certify_bounds(certifier->certify, 1, &f, &dual.function, &family,
                                          certificate, err);
        }
    }
    free(loss.g);
    free(dual.error);
    free(dual.slack);
    return status;
}
