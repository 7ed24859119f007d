/* Rounding-error bounds of loss and dual point of ml (certify.h). O(pairs) or O(q log q) per
 * row. */
#include "families/ml/solver/certify.h"

#include "common/base/array.h"
#include "common/base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum {
    BLOCK_SCORES = 1 << 18,
    MAX_PAIRS = 1024 /* of a row whose loss is summed pair by pair */
};

struct loss {
    const struct ml_claim *claim;
    size_t next; /* next row with a loss */
};

/* The loss of a row pair by pair, each score within `error` of the true one. Pairs whose margin is
 * certainly met add neither loss nor rounding error. */
static void pair_loss(const struct ml_block *block, const double *s, double error, double *value,
                      double *rounding) {
    double sum = 0, off = 0;
    for (uint32_t p = 0; p < block->n_relevant; p++) {
        double better = s[block->relevant[p]];
        for (uint32_t r = 0, next = 0; r < block->q; r++) {
            if (next < block->n_relevant && block->relevant[next] == r) {
                next++;
                continue;
            }
            double u = 1 - (better - s[r]);
            double slack = 2 * error + 2 * DBL_EPSILON * (1 + fabs(better) + fabs(s[r]));
            if (u + slack > 0) {
                double hinge = fmax(0, u);
                bool squared = block->loss == ML_SQUARED_HINGE;
                sum += squared ? hinge * hinge : hinge;
                off += squared ? slack * (2 * hinge + slack) : slack;
            }
        }
    }
    double pairs = block->n_relevant * (double)(block->q - block->n_relevant);
    *value += block->lambda * sum;
    *rounding += block->lambda * (off + (pairs + 4) * DBL_EPSILON * (sum + off));
    if (sum + off > 0) { /* of lambda, and of these products */
        *rounding += (sum + off + 4) * CERTIFY_UNDERFLOW;
    }
}

/* Blocks of rows come in order; rows without a loss are skipped. In rows of more pairs, sums have
 * at most q terms of the size of the scores. */
static int evaluate_loss(void *context, size_t first, size_t n, const double *s,
                         const double *error, double *value, double *rounding, struct error *err) {
    (void)err;
    struct loss *loss = context;
    const struct ml_claim *claim = loss->claim;
    const struct ml_rows *rows = claim->rows;
    size_t q = rows->q;
    *value = *rounding = 0;
    if (first == 0) {
        loss->next = 0;
    }
    for (; loss->next < rows->n && rows->row[loss->next] < first + n; loss->next++) {
        size_t i = rows->row[loss->next] - first;
        struct ml_block block = ml_rows_block(rows, loss->next, claim->loss, claim->cost);
        double pairs = block.n_relevant * (double)(q - block.n_relevant);
        if (pairs <= MAX_PAIRS) {
            pair_loss(&block, s + i * q, error[i], value, rounding);
            continue;
        }
        double found = ml_block_loss(&block, s + i * q, claim->scratch);
        double size = 1 + 2 * array_largest(s + i * q, q), slack = 2 * error[i];
        double unit = 4 * ((double)q + 8) * DBL_EPSILON * size;
        *value += found;
        *rounding +=
            claim->loss == ML_HINGE
                ? block.lambda * pairs * (slack + unit)
                : slack * (2 * sqrt(block.lambda * pairs * found) + block.lambda * pairs * slack) +
                      block.lambda * pairs * unit * (size + 2 * slack);
        *rounding += (pairs * (size + slack) * (size + slack) + 8) * CERTIFY_UNDERFLOW;
    }
    *rounding += ((double)n + 4) * DBL_EPSILON * *value;
    return 0;
}

/* Rounding errors of the rows' blocks. */
struct rounding {
    double *error;              /* (n_all) of their coefficients */
    double total_size;          /* sum over rows of sum |beta_k| */
    double underflow;           /* excess of alpha over lambda where lambda underflows, in total */
    double max_norm, max_ratio; /* largest feature norm, and largest alpha / (2 lambda) */
};

static int bound_rounding(struct certify *certify, const struct ml_claim *claim,
                          struct rounding *rounding, struct error *err) {
    const double *norms = certify_norm_bounds(certify);
    const struct ml_rows *rows = claim->rows;
    double unit = ((double)rows->q + 8) * DBL_EPSILON;
    double sums =
        certify_coefficient_rounding(rows->n_everywhere + cluster_size(rows->cluster) - 1);
    *rounding =
        (struct rounding){.error = memory_zeros(rows->n_all, sizeof(double), "a certificate", err)};
    if (!rounding->error) {
        return -1;
    }
    for (size_t i = 0; i < rows->n; i++) {
        size_t row = rows->row[i];
        struct ml_block block = ml_rows_block(rows, i, claim->loss, claim->cost);
        const struct ml_feasibility *row_feasibility = &claim->feasibility[row];
        double infeasibility = claim->loss == ML_HINGE ? row_feasibility->infeasibility : 0;
        if (claim->loss == ML_HINGE && row_feasibility->max_product > block.lambda) {
            /* the part of beta that lambda cannot carry is subtracted */
            bool excess = row_feasibility->excess > unit * (row_feasibility->sum + block.lambda);
            infeasibility += unit * block.lambda + (excess ? 2 * row_feasibility->excess : 0);
        }
        rounding->error[row] =
            row_feasibility->sum > 0 ? (unit + sums) * row_feasibility->sum + infeasibility : 0;
        rounding->total_size += row_feasibility->sum + infeasibility / unit;
        double pairs = block.n_relevant * (double)(block.q - block.n_relevant);
        rounding->underflow += pairs * CERTIFY_UNDERFLOW;
        rounding->error[row] += 2 * pairs * CERTIFY_UNDERFLOW;
        rounding->max_norm = fmax(rounding->max_norm, norms[row]);
        if (claim->loss == ML_SQUARED_HINGE) {
            rounding->max_ratio = fmax(rounding->max_ratio, row_feasibility->sum / block.lambda);
        }
    }
    double maxima[] = {rounding->max_norm, rounding->max_ratio};
    cluster_max(rows->cluster, maxima, 2);
    rounding->total_size = cluster_total(rows->cluster, rounding->total_size);
    rounding->underflow = cluster_total(rows->cluster, rounding->underflow);
    rounding->max_norm = maxima[0];
    rounding->max_ratio = maxima[1];
    return 0;
}

/* Cost of sums that are not exactly 0. A feasible point with sums of 0 is found by cancelling the
 * residual flow along paths of at most q edges. */
static double cost_of_balance(const struct ml_claim *claim, const struct rounding *rounding,
                              double largest) {
    double q = (double)claim->rows->q, sum = 0;
    if (!claim->residual) {
        return 0;
    }
    for (size_t k = 0; k < claim->rows->q; k++) {
        sum += fabs(claim->residual[k]);
    }
    double terms = (double)(claim->rows->n_everywhere + cluster_size(claim->rows->cluster) - 1);
    sum += (terms + 2) * DBL_EPSILON * rounding->total_size;
    double moved = q * sum, step = 2 * moved * rounding->max_norm;
    return moved * (1 + rounding->max_ratio + 2 * largest) + 0.5 * step * step;
}

double ml_loss_of_zero(const struct ml_rows *rows, double cost) {
    return certify_total_times(&rows->total_weight, cost);
}

int ml_certify(struct certify *certify, const struct ml_claim *claim,
               struct certificate *certificate, struct error *err) {
    const struct ml_rows *rows = claim->rows;
    struct rounding rounding;
    if (bound_rounding(certify, claim, &rounding, err) < 0) {
        return -1;
    }
    struct certify_function g = *claim->g;
    g.error = rounding.error;
    double largest = 0;
    if (claim->residual && certify_score_bound(certify, rows->q, &g, &largest, err) < 0) {
        free(rounding.error);
        return -1;
    }
    struct loss loss = {.claim = claim};
    double terms = (double)(rows->n_everywhere + cluster_size(rows->cluster) - 1);
    double unit = (16 * ((double)rows->q + 8) + terms) * DBL_EPSILON;
    const struct certify_family family = {
        .context = &loss,
        .block = 1 + BLOCK_SCORES / rows->q,
        .loss = evaluate_loss,
        .linear = claim->linear,
        .linear_rounding = 2 * unit * rounding.total_size +
                           cost_of_balance(claim, &rounding, largest) +
                           rounding.underflow * (2 + rounding.max_ratio * rounding.max_ratio),
        .zero_primal = ml_loss_of_zero(rows, claim->cost),
        .target_gap = claim->epsilon,
        .compute_scaling = true};
    int status = certify_bounds(certify, rows->q, claim->f, &g, &family, certificate, err);
    free(rounding.error);
    return status;
}
