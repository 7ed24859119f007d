#include "solvers/top/certify.h"

#include "common/base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

struct loss {
    const struct top_claim *claim;
    double *g; /* (n) work */
    double threshold;
};

static double largest_of(const double *x, size_t n) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(x[i]));
    }
    return largest;
}

/* How far the threshold that was found may be below the true one: by how much it must rise until the
 * sum that defines it is within the budget, for a quantile; a mean is a sum. */
static double threshold_error(const struct top_risk *risk, const double *s, double t) {
    double size = 1 + fabs(t) + largest_of(s, risk->n);
    double terms = ((double)risk->n + 8) * DBL_EPSILON, moved = terms * size;
    for (; risk->kind == TOP_QUANTILE && isfinite(moved); moved *= 2) {
        double sum = 0;
        for (size_t j = 0; j < risk->n; j++) {
            sum += risk->mass[j] > 0
                       ? risk->mass[j] * top_loss(risk->square, risk->theta * (s[j] - t - moved))
                       : 0;
        }
        if (sum * (1 + terms) <= risk->budget) {
            break;
        }
    }
    return risk->kind == TOP_NONE ? 0 : moved;
}

/* The threshold moves by no more than the scores do. */
static int evaluate_loss(void *context, size_t first, size_t n, const double *s,
                         const double *error, double *value, double *rounding, struct error *err) {
    (void)first;
    (void)err;
    struct loss *loss = context;
    struct top_risk *risk = loss->claim->risk;
    double offset, total = risk->total_cost + (risk->kind == TOP_NONE ? risk->total_mass : 0);
    double found = top_risk_cut(risk, s, loss->g, &offset);
    loss->threshold = risk->threshold;
    double slack = 2 * largest_of(error, n) + threshold_error(risk, s, risk->threshold) +
                   4 * DBL_EPSILON * (1 + 2 * largest_of(s, n));
    double moved = risk->square ? slack * (2 * sqrt(total * found) + slack * total) : slack * total;
    *value = loss->claim->cost * found;
    *rounding = loss->claim->cost * (moved + ((double)n + 8) * DBL_EPSILON * found);
    return 0;
}

/* Sums over the dual point. */
struct sums {
    double size;     /* magnitudes of the terms of the linear part */
    double all;      /* sum of alpha and beta */
    double residual; /* bound of |sum alpha - sum beta| */
    double ratio;    /* the largest alpha / (2 C), and beta / (theta mass) or so, in a slope of D */
    double reach;    /* sum of (alpha + beta) reach */
    double most_reach;
    size_t n_used;
};

static struct sums add_up(const struct top_claim *claim, const double *reach, double *error) {
    const struct top_risk *risk = claim->risk;
    struct sums sums = {0};
    double alphas = 0, betas = 0, largest = 0, squares = 0;
    for (size_t i = 0; i < risk->n; i++) {
        double both = claim->alpha[i] + claim->beta[i];
        double share = risk->square && risk->cost[i] > 0
                           ? claim->alpha[i] / (2 * claim->cost * risk->cost[i])
                           : 0;
        alphas += claim->alpha[i];
        betas += claim->beta[i];
        sums.size += 0.5 * share * claim->alpha[i];
        sums.ratio = fmax(sums.ratio, share);
        if (risk->mass[i] > 0) {
            largest = fmax(largest, claim->beta[i] / risk->mass[i]);
            squares += claim->beta[i] * (claim->beta[i] / risk->mass[i]);
        }
        error[i] = 2 * DBL_EPSILON * both;
        sums.reach += both * reach[i];
        sums.most_reach = fmax(sums.most_reach, both > 0 ? reach[i] : 0);
        sums.n_used += both > 0;
    }
    sums.all = alphas + betas;
    sums.size += sums.all;
    if (risk->kind == TOP_QUANTILE) {
        sums.size +=
            (betas + (risk->square ? sqrt(risk->budget * squares) : risk->budget * largest)) /
            risk->theta;
        sums.ratio += 1 / risk->theta + risk->budget / (risk->theta * fmin(1, risk->total_mass));
    } else if (risk->kind == TOP_NONE && risk->square) {
        sums.size += squares / (4 * claim->cost);
    }
    if (risk->kind != TOP_NONE) {
        sums.residual = fabs(alphas - betas) + ((double)risk->n + 4) * DBL_EPSILON * sums.all;
    }
    return sums;
}

/* What D may lose from here to a point whose sums are equal exactly: entries move by the residual
 * together, where slopes of D are at most 1 + ratio + 2 |g| reach. */
static double price_of_balance(const struct sums *sums, double norm) {
    double moved = sums->residual, step = moved * sums->most_reach;
    return moved * (2 + sums->ratio + 2 * norm * sums->most_reach) + 0.5 * step * step;
}

static int loss_of_nothing(const struct top_claim *claim, double *work, double *value) {
    double offset;
    for (size_t i = 0; i < claim->risk->n; i++) {
        work[i] = 0;
    }
    *value = claim->cost * top_risk_cut(claim->risk, work, work + claim->risk->n, &offset);
    return 0;
}

int top_certify(struct certify *certify, const struct top_claim *claim, double *threshold,
                struct certificate *certificate, struct error *err) {
    const struct score_map *map = claim->map;
    size_t n = map->n, d = map->dimension;
    double *work = memory_array(4 * n + d, sizeof *work, "a certificate", err), nothing = 0;
    if (!work) {
        return -1;
    }
    double *error = work + 2 * n, *b = work + 3 * n, *dual = work + 4 * n;
    loss_of_nothing(claim, work, &nothing);
    struct sums sums = add_up(claim, certify_reach(certify), error);
    for (size_t i = 0; i < n; i++) {
        b[i] = claim->alpha[i] - claim->beta[i];
    }
    struct loss loss = {.claim = claim, .g = work};
    int status = map->adjoint(map, b, dual, err);
    if (status == 0) {
        double linear = top_risk_dual(claim->risk, claim->cost, claim->alpha, claim->beta);
        const struct certify_function f = {.weights = claim->weights};
        struct certify_function g = {.weights = dual};
        if (map->primal) {
            g.norm_error = certify_adjoint_error(certify, sums.n_used, sums.reach) +
                           2 * DBL_EPSILON * sums.reach;
        } else {
            g.error = error;
        }
        double norm = sqrt(2 * fmax(0, linear)); /* where D >= 0 */
        const struct certify_family family = {.context = &loss,
                                              .loss = evaluate_loss,
                                              .linear = linear,
                                              .linear_rounding =
                                                  price_of_balance(&sums, norm) +
                                                  ((double)n + 8) * DBL_EPSILON * sums.size,
                                              .nothing = nothing};
        status = certify_bounds(certify, 1, &f, &g, &family, certificate, err);
        *threshold = loss.threshold;
    }
    free(work);
    return status;
}
