#include "families/smm/solver/certify.h"

#include "common/base/memory.h"
#include "common/kernel/linear.h"
#include "common/linear_algebra/svd.h"
#include "families/smm/solver/nuclear.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Singular values from LAPACK are those of a matrix within so many units times a side of the
 * norm. */
enum { SVD_UNITS = 16 };

/* Where more than this part of the gap is paid for rounding, large features may have left it in the
 * dual point's sums, which long double then adds up; up to so many products. */
static const double ROUNDING_SHARE = 0.1, MAX_LONG_DOUBLE = 1 << 28;

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
    bool leads = cluster_leads(loss->cluster); /* what is not of rows counts once */
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

/* The dual point's sums. */
struct sums {
    double linear, size; /* the linear part of D, and that of its magnitudes */
    double residual;     /* bound of |y'alpha| */
    double reach;        /* sum of alpha_i reach_i */
    double excess;       /* the largest part of its cost that an alpha is above it; INFINITY: one is
                            below 0 */
    double under;        /* of the linear part, where costs underflow */
    size_t n_used;       /* roundings of sums over those with alpha > 0 */
    size_t n;            /* of sums over all rows */
};

static struct sums add_up(const struct binary_loss *loss, const double *alpha, size_t n,
                          const double *reach) {
    struct sums sums = {0};
    double residual = 0, total = 0;
    for (size_t i = 0; i < n; i++) {
        double part = loss->squared ? alpha[i] * (alpha[i] / (4 * loss->cost[i])) : 0;
        double ratio = loss->squared ? alpha[i] / loss->cost[i] : 0;
        sums.under += (2 + ratio * ratio) * CERTIFY_UNDERFLOW;
        sums.linear += alpha[i] - part;
        sums.size += alpha[i] + part;
        residual += loss->y[i] * alpha[i];
        total += alpha[i];
        sums.reach += alpha[i] * reach[i];
        sums.n_used += alpha[i] > 0;
        if (!(alpha[i] >= 0)) {
            sums.excess = INFINITY;
        } else if (!loss->squared && alpha[i] > loss->cost[i]) {
            sums.excess = fmax(sums.excess, (alpha[i] - loss->cost[i]) / loss->cost[i]);
        }
    }
    sums.excess = cluster_largest(loss->cluster, sums.excess);
    double all[] = {sums.linear, sums.size, residual, total, sums.reach, sums.under};
    size_t ranks = cluster_size(loss->cluster) - 1;
    cluster_sum(loss->cluster, all, sizeof all / sizeof all[0]);
    sums.linear = all[0];
    sums.size = all[1];
    sums.reach = all[4];
    sums.under = all[5];
    sums.n_used = cluster_count(loss->cluster, sums.n_used) + ranks;
    sums.n = cluster_count(loss->cluster, n) + ranks;
    sums.residual = fabs(all[2]) + ((double)sums.n + 2) * DBL_EPSILON * all[3];
    sums.residual += all[3] > 0 ? CERTIFY_UNDERFLOW : 0;
    return sums;
}

/* What D is less, at the most, at a point with y'alpha = 0 exactly: an entry that has the room
 * moves by the residual, where the slope of D is at most 1 + |score of g| [+ alpha / 2C], and its
 * curvature the square of the row's reach. Either way, for rounding hides the residual's sign; of
 * the entries that which costs least. INFINITY: none has the room. s (n): scores of g. */
static double cost_of_balance(const struct binary_loss *loss, const double *alpha, size_t n,
                              const double *reach, const double *s, double norm,
                              const struct sums *sums) {
    const double unit = 1e-9; /* of norm times reach: more than the scores may be off by */
    double min_cost[2] = {INFINITY, INFINITY}, residual = sums->residual;
    for (size_t i = 0; i < n; i++) {
        double more = loss->squared ? INFINITY : loss->cost[i] - alpha[i];
        double ratio = loss->squared ? alpha[i] / (2 * loss->cost[i]) : 0;
        double curve = loss->squared ? 1 / (2 * loss->cost[i]) : 0, moved = residual * reach[i];
        double cost = residual * (1 + ratio + fabs(s[i]) + unit * norm * reach[i]);
        cost += 0.5 * (moved * moved + residual * residual * curve);
        for (int up = 0; up < 2; up++) { /* y'alpha lowered, and raised */
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

/* G = sum alpha y X, with a bound of the error of its norm; fine: in long double. signs (n): room
 * for y alpha. */
static int add_matrices(const struct smm_claim *claim, const struct sums *sums, bool long_double,
                        double *signs, double *G, double *norm, double *error, struct error *err) {
    const struct smm_matrices *matrices = claim->matrices;
    size_t cells = matrices->height * matrices->width;
    for (size_t i = 0; i < matrices->n; i++) {
        signs[i] = claim->loss->y[i] * claim->alpha[i];
    }
    const struct binary_rows rows = binary_rows_of(matrices);
    if (long_double) {
        size_t stored = matrices->data->n_features;
        memset(G + stored, 0, (cells - stored) * sizeof *G);
    }
    if ((long_double ? linear_adjoint_fine(matrices->data, signs, G, err)
                     : binary_adjoint(&rows, signs, G, err)) < 0) {
        return -1;
    }
    double square = 0;
    for (size_t j = 0; j < cells; j++) {
        square += G[j] * G[j];
    }
    *error = long_double ? ((double)sums->n_used + 2) * (double)LDBL_EPSILON * sums->reach +
                               DBL_EPSILON * sqrt(square)
                         : certify_sum_rounding(sums->n_used) * sums->reach;
    *norm = sqrt(square) + *error;
    return 0;
}

/* The same, G = SVT_tau(sum alpha y X). */
static int dual_matrix(const struct smm_claim *claim, const struct sums *sums, bool long_double,
                       double *signs, double *G, double *norm, double *error, struct error *err) {
    const struct smm_matrices *matrices = claim->matrices;
    if (add_matrices(claim, sums, long_double, signs, G, norm, error, err) < 0) {
        return -1;
    }
    if (claim->tau > 0) {
        double nuclear, square;
        *error += svd_unit(matrices) * *norm; /* the shrinking itself does not expand */
        return smm_nuclear_shrink(G, matrices->height, matrices->width, claim->tau, G, &nuclear,
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
    if (smm_nuclear_shrink(claim->W, matrices->height, matrices->width, 0, scratch,
                           &work->nuclear_norm, &square, err) < 0) {
        return -1;
    }
    size_t k = matrices->height < matrices->width ? matrices->height : matrices->width;
    work->svd_rounding = svd_unit(matrices) * (double)k * sqrt(square);
    return 0;
}

/* The loss of W = 0 with its best bias: all rows of the side that weighs less have margin 2. Costs
 * are products that have been rounded. */
double smm_loss_of_zero(const struct binary_loss *loss, size_t n) {
    double side[3] = {0, 0, (double)n};
    for (size_t i = 0; i < n; i++) {
        side[loss->y[i] > 0] += loss->cost[i];
    }
    cluster_sum(loss->cluster, side, 3);
    double ranks = (double)cluster_size(loss->cluster) - 1;
    double up = 1 + (side[2] + ranks + 8) * DBL_EPSILON;
    double under = side[2] > 0 ? 8 * (side[2] + 2) * CERTIFY_UNDERFLOW : 0;
    return up * (loss->squared ? 4 * side[0] * (side[1] / (side[0] + side[1]))
                               : 2 * fmin(side[0], side[1])) +
           under;
}

static int certify_with(struct certify *certify, const struct smm_claim *claim, bool long_double,
                        struct certificate *certificate, struct error *err) {
    size_t n = claim->matrices->n, cells = claim->matrices->height * claim->matrices->width;
    double *G = memory_array(2 * cells + n, sizeof *G, "a certificate", err), norm = 0, error = 0;
    if (!G) {
        return -1;
    }
    struct work work = {.claim = claim};
    double *signs = G + 2 * cells;
    struct sums sums = add_up(claim->loss, claim->alpha, n, certify_reach(certify));
    int status = dual_matrix(claim, &sums, long_double, signs, G, &norm, &error, err);
    status = status < 0 ? -1 : measure_nuclear(claim, &work, G + cells, err);
    if (status == 0) {
        smm_scores(claim->matrices, G, signs);
        double cost = cost_of_balance(claim->loss, claim->alpha, n, certify_reach(certify), signs,
                                      norm, &sums);
        const struct certify_function f = {.weights = claim->W, .bias = &claim->bias};
        /* alpha above costs, by more than these are rounded, is scaled down to them: as much is
         * lost of the linear part; the trivial bound where that is no dual point */
        double unit = ((double)sums.n + 4) * DBL_EPSILON;
        unit += sums.excess > 4 * DBL_EPSILON ? sums.excess : 0;
        const bool useful = isfinite(cost) && unit < 1;
        const bool whole = claim->tau > 0 || long_double; /* the error is that of the norm */
        for (size_t i = 0; i < n; i++) {                  /* of the plain sum, row by row */
            signs[i] = certify_sum_rounding(sums.n_used) * claim->alpha[i];
        }
        const struct certify_function g = {
            .weights = G, .norm_error = whole ? error : 0, .error = whole ? NULL : signs};
        const struct certify_family family = {.context = &work,
                                              .loss = evaluate_loss,
                                              .linear = useful ? sums.linear : 0,
                                              .linear_rounding =
                                                  useful ? cost + unit * sums.size + sums.under : 0,
                                              .nothing = smm_loss_of_zero(claim->loss, n)};
        status = certify_bounds(certify, 1, &f, &g, &family, certificate, err);
    }
    free(G);
    return status;
}

int smm_certify(struct certify *certify, const struct smm_claim *claim,
                struct certificate *certificate, struct error *err) {
    const struct smm_matrices *matrices = claim->matrices;
    struct certificate long_double;
    if (certify_with(certify, claim, false, certificate, err) < 0) {
        return -1;
    }
    if (!(certificate->paid > ROUNDING_SHARE * (certificate->primal - certificate->dual)) ||
        matrices->cluster || (double)data_values(matrices->data) > MAX_LONG_DOUBLE) {
        return 0;
    }
    if (certify_with(certify, claim, true, &long_double, err) < 0) {
        return -1;
    }
    if (long_double.dual > certificate->dual) {
        *certificate = long_double;
    }
    return 0;
}
