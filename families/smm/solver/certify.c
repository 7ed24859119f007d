/* Rounding-error bounds of loss and dual point of smm (certify.h). One pass over the data per
 * bound. */
#include "families/smm/solver/certify.h"

#include "common/base/memory.h"
#include "common/kernel/linear.h"
#include "common/linear_algebra/svd.h"
#include "families/smm/solver/nuclear.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Backward error of LAPACK's singular values: so many units times (height + width) times the
 * norm. */
enum { SVD_UNITS = 16 };

struct work {
    const struct smm_claim *claim;
    double nuclear_norm, svd_rounding; /* of W */
};

static double svd_unit(const struct smm_matrices *matrices) {
    return SVD_UNITS * (double)(matrices->height + matrices->width) * DBL_EPSILON;
}

static int evaluate_loss(void *context, size_t first, size_t n, const double *s,
                         const double *error, double *value, double *rounding, struct error *err) {
    (void)first;
    (void)err;
    const struct work *work = context;
    const struct binary_loss *loss = work->claim->loss;
    bool leads = cluster_is_root(loss->cluster); /* terms not of rows count once */
    *value = leads ? work->claim->tau * work->nuclear_norm : 0;
    *rounding = leads ? work->claim->tau * work->svd_rounding : 0;
    for (size_t i = 0; i < n; i++) {
        double slack = error[i] + DBL_EPSILON * (1 + fabs(s[i]));
        double u = fmax(0, 1 - loss->y[i] * s[i]), upper = fmax(0, 1 - loss->y[i] * s[i] + slack);
        *value += loss->cost[i] * (loss->squared ? u * u : u);
        *rounding += loss->cost[i] * (loss->squared ? upper * upper - u * u : upper - u);
        *rounding += upper > 0 ? (2 + upper * upper) * CERTIFY_UNDERFLOW : 0;
    }
    *rounding += (double)(n + 4) * DBL_EPSILON * *value;
    return 0;
}

/* Sums over the dual point. */
struct sums {
    double linear, size; /* linear part of D, and of the magnitudes of its terms */
    double residual;     /* bound of |y'alpha| */
    double norms;        /* sum of alpha_i times feature norm i */
    /* largest relative excess of an alpha over its cost; INFINITY if an alpha is negative */
    double excess;
    double under;  /* error of the linear part where costs underflow */
    size_t n_used; /* number of roundings of sums over alpha > 0 */
    size_t n;      /* and of sums over all rows */
};

static struct sums add_up(const struct binary_loss *loss, const double *alpha, size_t n,
                          const double *norms) {
    struct sums sums = {0};
    double residual = 0, total = 0;
    for (size_t i = 0; i < n; i++) {
        double conjugate = loss->squared ? alpha[i] * (alpha[i] / (4 * loss->cost[i])) : 0;
        double ratio = loss->squared ? alpha[i] / loss->cost[i] : 0;
        sums.under += (2 + ratio * ratio) * CERTIFY_UNDERFLOW;
        sums.linear += alpha[i] - conjugate;
        sums.size += alpha[i] + conjugate;
        residual += loss->y[i] * alpha[i];
        total += alpha[i];
        sums.norms += alpha[i] * norms[i];
        sums.n_used += alpha[i] > 0;
        if (!(alpha[i] >= 0)) {
            sums.excess = INFINITY;
        } else if (!loss->squared && alpha[i] > loss->cost[i]) {
            sums.excess = fmax(sums.excess, (alpha[i] - loss->cost[i]) / loss->cost[i]);
        }
    }
    sums.excess = cluster_largest(loss->cluster, sums.excess);
    double all[] = {sums.linear, sums.size, residual, total, sums.norms, sums.under};
    size_t others = cluster_size(loss->cluster) - 1; /* processes, each an addition more */
    cluster_sum(loss->cluster, all, sizeof all / sizeof all[0]);
    sums.linear = all[0];
    sums.size = all[1];
    sums.norms = all[4];
    sums.under = all[5];
    sums.n_used = cluster_count(loss->cluster, sums.n_used) + others;
    sums.n = cluster_count(loss->cluster, n) + others;
    sums.residual = fabs(all[2]) + ((double)sums.n + 2) * DBL_EPSILON * all[3];
    sums.residual += all[3] > 0 ? CERTIFY_UNDERFLOW : 0;
    return sums;
}

/* Bound of the decrease of D when y'alpha is made exactly 0. One entry with enough room moves by
 * the residual; there the derivative of D is at most 1 + |score of g| [+ alpha / 2C], and its
 * curvature the squared feature norm of the row. The cheapest entry is taken, in the worse
 * direction, because rounding hides the sign of the residual. INFINITY if no entry has room. s (n):
 * scores of g. */
static double cost_of_balance(const struct binary_loss *loss, const double *alpha, size_t n,
                              const double *norms, const double *s, double norm,
                              const struct sums *sums) {
    const double unit = 1e-9; /* of norm times feature norm; the scores are more accurate */
    double min_cost[2] = {INFINITY, INFINITY}, residual = sums->residual;
    for (size_t i = 0; i < n; i++) {
        double more = loss->squared ? INFINITY : loss->cost[i] - alpha[i];
        double ratio = loss->squared ? alpha[i] / (2 * loss->cost[i]) : 0;
        double curved = loss->squared ? residual * (residual / (2 * loss->cost[i])) : 0;
        double moved = residual * norms[i];
        double cost = residual * (1 + ratio + fabs(s[i]) + unit * norm * norms[i]);
        cost += 0.5 * (moved * moved + curved);
        for (int up = 0; up < 2; up++) { /* y'alpha lowered, then raised */
            bool adds = (loss->y[i] > 0) == (up > 0);
            if (residual <= (adds ? more : alpha[i])) {
                min_cost[up] = fmin(min_cost[up], cost);
            }
        }
    }
    for (int up = 0; up < 2; up++) {
        min_cost[up] = -cluster_largest(loss->cluster, -min_cost[up]);
    }
    return residual > 0 ? fmax(min_cost[0], min_cost[1]) : 0;
}

/* G = sum alpha y X, with its norm and a bound of its error; signs (n) gets y alpha. */
static int add_matrices(const struct smm_claim *claim, const struct sums *sums, double *signs,
                        double *G, double *norm, double *error, struct error *err) {
    const struct smm_matrices *matrices = claim->matrices;
    size_t cells = matrices->height * matrices->width;
    for (size_t i = 0; i < matrices->n; i++) {
        signs[i] = claim->loss->y[i] * claim->alpha[i];
    }
    const struct binary_rows rows = binary_rows_of(matrices);
    if (binary_adjoint(&rows, signs, G, err) < 0) {
        return -1;
    }
    double square = 0;
    for (size_t j = 0; j < cells; j++) {
        square += G[j] * G[j];
    }
    *error = certify_coefficient_rounding(sums->n_used) * sums->norms;
    *norm = sqrt(square) + *error;
    return 0;
}

/* The same for G = SVT_tau(sum alpha y X). */
static int dual_matrix(const struct smm_claim *claim, const struct sums *sums, double *signs,
                       double *G, double *norm, double *error, struct error *err) {
    const struct smm_matrices *matrices = claim->matrices;
    if (add_matrices(claim, sums, signs, G, norm, error, err) < 0) {
        return -1;
    }
    if (claim->tau > 0) {
        double nuclear, square;
        *error += svd_unit(matrices) * *norm; /* thresholding itself does not increase errors */
        return smm_nuclear_threshold(G, matrices->height, matrices->width, claim->tau, G, &nuclear,
                                     &square, err);
    }
    return 0;
}

static int measure_nuclear(const struct smm_claim *claim, struct work *work, double *scratch,
                           struct error *err) {
    const struct smm_matrices *matrices = claim->matrices;
    double square;
    if (claim->tau == 0) {
        return 0;
    }
    if (smm_nuclear_threshold(claim->W, matrices->height, matrices->width, 0, scratch,
                              &work->nuclear_norm, &square, err) < 0) {
        return -1;
    }
    size_t k = matrices->height < matrices->width ? matrices->height : matrices->width;
    work->svd_rounding = svd_unit(matrices) * (double)k * sqrt(square);
    return 0;
}

/* All rows of the side with the smaller cost have u = 2. Costs are rounded products. */
double smm_loss_of_zero(const struct binary_loss *loss, size_t n) {
    double side[3] = {0, 0, (double)n};
    for (size_t i = 0; i < n; i++) {
        side[loss->y[i] > 0] += loss->cost[i];
    }
    cluster_sum(loss->cluster, side, 3);
    double others = (double)cluster_size(loss->cluster) - 1;
    double up = 1 + (side[2] + others + 8) * DBL_EPSILON;
    double under = side[2] > 0 ? 8 * (side[2] + 2) * CERTIFY_UNDERFLOW : 0;
    return up * (loss->squared ? 4 * side[0] * (side[1] / (side[0] + side[1]))
                               : 2 * fmin(side[0], side[1])) +
           under;
}

int smm_certify(struct certify *certify, const struct smm_claim *claim,
                struct certificate *certificate, struct error *err) {
    size_t n = claim->matrices->n, cells = claim->matrices->height * claim->matrices->width;
    double *G = memory_array(2 * cells + n, sizeof *G, "a certificate", err), norm = 0, error = 0;
    if (!G) {
        return -1;
    }
    struct work work = {.claim = claim};
    double *signs = G + 2 * cells;
    struct sums sums = add_up(claim->loss, claim->alpha, n, certify_norm_bounds(certify));
    int status = dual_matrix(claim, &sums, signs, G, &norm, &error, err);
    status = status < 0 ? -1 : measure_nuclear(claim, &work, G + cells, err);
    if (status == 0) {
        smm_scores(claim->matrices, G, signs);
        double cost = cost_of_balance(claim->loss, claim->alpha, n, certify_norm_bounds(certify),
                                      signs, norm, &sums);
        const struct certify_function f = {.weights = claim->W, .bias = &claim->bias};
        /* Alpha above the costs is scaled down to them, which costs as large a share of the linear
         * part. The dual bound is 0 if the point is not feasible at all. */
        double unit = ((double)sums.n + 4) * DBL_EPSILON;
        unit += sums.excess > 4 * DBL_EPSILON ? sums.excess : 0;
        const bool useful = isfinite(cost) && unit < 1;
        const bool whole = claim->tau > 0; /* then the error bounds the norm */
        for (size_t i = 0; i < n; i++) {   /* otherwise of the plain sum, per row */
            signs[i] = certify_coefficient_rounding(sums.n_used) * claim->alpha[i];
        }
        const struct certify_function g = {
            .weights = G, .norm_error = whole ? error : 0, .error = whole ? NULL : signs};
        const struct certify_family family = {.context = &work,
                                              .loss = evaluate_loss,
                                              .linear = useful ? sums.linear : 0,
                                              .linear_rounding =
                                                  useful ? cost + unit * sums.size + sums.under : 0,
                                              .zero_primal = smm_loss_of_zero(claim->loss, n)};
        status = certify_bounds(certify, 1, &f, &g, &family, certificate, err);
    }
    free(G);
    return status;
}
