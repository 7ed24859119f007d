#include "solvers/ml/bias.h"

#include "common/base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- circulations ---- */

#define NOBODY UINT32_MAX

/* A shortest path with flow from a label that sends too much to one that gets too much; from[r] is
 * the label before r. Returns its end, or NOBODY. */
static uint32_t find_path(const double *flow, uint32_t q, const double *excess, double least,
                          uint32_t *from, uint32_t *queue) {
    uint32_t head = 0, tail = 0;
    for (uint32_t k = 0; k < q; k++) {
        from[k] = NOBODY;
        if (excess[k] > least) {
            from[k] = k;
            queue[tail++] = k;
        }
    }
    while (head < tail) {
        uint32_t p = queue[head++];
        for (uint32_t r = 0; r < q; r++) {
            if (from[r] == NOBODY && flow[(size_t)p * q + r] > 0) {
                from[r] = p;
                if (excess[r] < -least) {
                    return r;
                }
                queue[tail++] = r;
            }
        }
    }
    return NOBODY;
}

static void take_back(double *flow, uint32_t q, double *excess, const uint32_t *from,
                      uint32_t end) {
    double amount = -excess[end];
    uint32_t r = end;
    for (; from[r] != r; r = from[r]) {
        amount = fmin(amount, flow[(size_t)from[r] * q + r]);
    }
    amount = fmin(amount, excess[r]);
    excess[r] -= amount;
    excess[end] += amount;
    for (r = end; from[r] != r; r = from[r]) {
        flow[(size_t)from[r] * q + r] -= amount;
    }
}

/* The same for all paths of a single edge at once: most of what there is. */
static void take_back_edges(double *flow, uint32_t q, double *excess) {
    for (uint32_t p = 0; p < q; p++) {
        for (uint32_t r = 0; r < q && excess[p] > 0; r++) {
            double *edge = &flow[(size_t)p * q + r];
            if (excess[r] < 0 && *edge > 0) {
                double amount = fmin(*edge, fmin(excess[p], -excess[r]));
                *edge -= amount;
                excess[p] -= amount;
                excess[r] += amount;
            }
        }
    }
}

int ml_bias_circulate(double *flow, size_t n, struct error *err) {
    uint32_t q = (uint32_t)n;
    double *excess = memory_zeros(q, sizeof *excess, "flows", err);
    uint32_t *from = memory_array(q, 2 * sizeof *from, "flows", err);
    if (!excess || !from) {
        free(excess);
        free(from);
        return -1;
    }
    double total = 0;
    for (uint32_t p = 0; p < q; p++) {
        for (uint32_t r = 0; r < q; r++) {
            double x = flow[(size_t)p * q + r];
            excess[p] += x;
            excess[r] -= x;
            total += x;
        }
    }
    const double rounding = 1e-15;
    take_back_edges(flow, q, excess);
    for (;;) {
        uint32_t end = find_path(flow, q, excess, rounding * total, from, from + q);
        if (end == NOBODY) {
            break;
        }
        take_back(flow, q, excess, from, end);
    }
    free(excess);
    free(from);
    return 0;
}

/* ---- the rows' part in the flow ---- */

struct balance {
    const struct ml_bcd *bcd;
    double *alpha;   /* of one row */
    uint32_t *other; /* (q) its labels that are not relevant */
    double *flow;    /* (q, q) */
};

/* The row's alpha (n_relevant, q - n_relevant). */
static void row_alpha(const struct balance *balance, size_t i, const struct ml_block *block) {
    const struct ml_bcd *bcd = balance->bcd;
    uint32_t n_others = 0, p = 0;
    for (uint32_t k = 0; k < block->q; k++) {
        if (p < block->n_relevant && block->relevant[p] == k) {
            p++;
        } else {
            balance->other[n_others++] = k;
        }
    }
    size_t pairs = (size_t)block->n_relevant * n_others;
    if (bcd->alpha_start[i + 1] > bcd->alpha_start[i]) {
        memcpy(balance->alpha, bcd->alpha + bcd->alpha_start[i], pairs * sizeof(double));
    } else if (block->loss == ML_SQUARED_HINGE) {
        const double *s = bcd->stand + i * bcd->store.width;
        for (p = 0; p < block->n_relevant; p++) {
            for (uint32_t r = 0; r < n_others; r++) {
                double x = 1 - s[block->relevant[p]] + s[balance->other[r]];
                balance->alpha[(size_t)p * n_others + r] = x > 0 ? 2 * block->lambda * x : 0;
            }
        }
    } else {
        ml_block_spread(block, bcd->beta + i * bcd->store.width, balance->alpha, bcd->scratch[0]);
    }
}

static void add_flow(const struct balance *balance, const struct ml_block *block, double *flow) {
    uint32_t n_others = block->q - block->n_relevant;
    for (uint32_t p = 0; p < block->n_relevant; p++) {
        double *out = flow + (size_t)block->relevant[p] * block->q;
        for (uint32_t r = 0; r < n_others; r++) {
            out[balance->other[r]] += balance->alpha[(size_t)p * n_others + r];
        }
    }
}

/* beta of the row's alpha, each scaled by what is left of its flow; returns its linear part of D.
 */
static double scaled_beta(const struct balance *balance, const struct ml_block *block,
                          const double *left, double *beta) {
    uint32_t n_others = block->q - block->n_relevant;
    double sum = 0, squares = 0;
    for (uint32_t p = 0; p < block->n_relevant; p++) {
        const double *factor = left + (size_t)block->relevant[p] * block->q;
        for (uint32_t r = 0; r < n_others; r++) {
            double x = balance->alpha[(size_t)p * n_others + r] * factor[balance->other[r]];
            beta[block->relevant[p]] += x;
            beta[balance->other[r]] -= x;
            sum += x;
            squares += x * (x / (4 * block->lambda));
        }
    }
    return block->loss == ML_HINGE ? sum : sum - squares;
}

static int balance_rows(const struct balance *balance, double *left, double *beta, double *gain,
                        struct error *err) {
    const struct ml_bcd *bcd = balance->bcd;
    size_t n = bcd->rows->n, width = bcd->store.width, q = bcd->rows->q;
    for (size_t i = 0; i < n; i++) {
        struct ml_block block = ml_bcd_block(bcd, i);
        row_alpha(balance, i, &block);
        add_flow(balance, &block, balance->flow);
    }
    memcpy(left, balance->flow, q * q * sizeof *left);
    if (ml_bias_circulate(left, q, err) < 0) {
        return -1;
    }
    for (size_t k = 0; k < q * q; k++) {
        left[k] = balance->flow[k] > 0 ? left[k] / balance->flow[k] : 0;
    }
    *gain = 0;
    memset(beta, 0, n * width * sizeof *beta);
    for (size_t i = 0; i < n; i++) {
        struct ml_block block = ml_bcd_block(bcd, i);
        row_alpha(balance, i, &block);
        *gain += scaled_beta(balance, &block, left, beta + i * width);
    }
    return 0;
}

int ml_bias_balance(const struct ml_bcd *bcd, double *beta, double *gain, struct error *err) {
    size_t q = bcd->rows->q, pairs = 0;
    for (size_t i = 0; i < bcd->rows->n; i++) {
        struct ml_block block = ml_bcd_block(bcd, i);
        size_t own = (size_t)block.n_relevant * (block.q - block.n_relevant);
        pairs = own > pairs ? own : pairs;
    }
    struct balance balance = {.bcd = bcd,
                              .alpha = memory_array(pairs, sizeof(double), "pairs", err),
                              .other = memory_array(q, sizeof(uint32_t), "labels", err),
                              .flow = memory_zeros(q * q, sizeof(double), "flows", err)};
    double *left = memory_array(q * q, sizeof(double), "flows", err);
    int status = -1;
    if (balance.alpha && balance.other && balance.flow && left) {
        status = balance_rows(&balance, left, beta, gain, err);
    }
    free(balance.alpha);
    free(balance.other);
    free(balance.flow);
    free(left);
    return status;
}
