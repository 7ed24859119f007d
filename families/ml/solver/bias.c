#include "families/ml/solver/bias.h"

#include "common/base/memory.h"
#include "common/base/sizes.h"

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
    const struct ml_alphas *alphas;
    double *alpha;   /* of one row */
    uint32_t *other; /* (q) its labels that are not relevant */
    double *flow;    /* (q, q) */
    double *left;    /* (q, q) the part of each flow that is kept */
};

/* The row's alpha, and its labels. */
static struct ml_block look_at_row(const struct balance *balance, size_t i) {
    const struct ml_alphas *alphas = balance->alphas;
    struct ml_block block = ml_rows_block(alphas->rows, i, alphas->loss, alphas->cost);
    uint32_t n_others = 0, p = 0;
    for (uint32_t k = 0; k < block.q; k++) {
        if (p < block.n_relevant && block.relevant[p] == k) {
            p++;
        } else {
            balance->other[n_others++] = k;
        }
    }
    alphas->row(alphas->context, i, &block, balance->alpha);
    return block;
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
                          double *beta) {
    uint32_t n_others = block->q - block->n_relevant;
    double sum = 0, squares = 0;
    for (uint32_t p = 0; p < block->n_relevant; p++) {
        const double *factor = balance->left + (size_t)block->relevant[p] * block->q;
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

/* Hinge: beta; squared: the alphas. */
static int keep_row(const struct balance *balance, const struct ml_block *block, size_t i,
                    const double *beta, struct ml_kept *kept, struct error *err) {
    uint32_t n_others = block->q - block->n_relevant, row = balance->alphas->rows->row[i];
    if (block->loss == ML_HINGE) {
        return ml_kept_add_beta(kept, row, beta, block->q, err);
    }
    for (uint32_t p = 0; p < block->n_relevant; p++) {
        const double *factor = balance->left + (size_t)block->relevant[p] * block->q;
        for (uint32_t r = 0; r < n_others; r++) {
            uint32_t other = balance->other[r];
            double x = balance->alpha[(size_t)p * n_others + r] * factor[other];
            const struct ml_number number = {row, block->relevant[p], other, x};
            if (x != 0 && ml_kept_add(kept, &number, err) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

static int find_circulation(const struct balance *balance, struct error *err) {
    size_t n = balance->alphas->rows->n, q = balance->alphas->rows->q;
    for (size_t i = 0; i < n; i++) {
        struct ml_block block = look_at_row(balance, i);
        add_flow(balance, &block, balance->flow);
    }
    cluster_sum(balance->alphas->rows->cluster, balance->flow, q * q);
    memcpy(balance->left, balance->flow, q * q * sizeof *balance->left);
    if (ml_bias_circulate(balance->left, q, err) < 0) {
        return -1;
    }
    for (size_t k = 0; k < q * q; k++) {
        balance->left[k] = balance->flow[k] > 0 ? balance->left[k] / balance->flow[k] : 0;
    }
    return 0;
}

static int allocate(struct balance *balance, struct error *err) {
    const struct ml_rows *rows = balance->alphas->rows;
    size_t q = rows->q, pairs = 0;
    for (size_t i = 0; i < rows->n; i++) {
        struct ml_block block = ml_rows_block(rows, i, ML_HINGE, 1);
        pairs = larger(pairs, (size_t)block.n_relevant * (block.q - block.n_relevant));
    }
    balance->alpha = memory_array(pairs, sizeof(double), "pairs", err);
    balance->other = memory_array(q, sizeof(uint32_t), "labels", err);
    balance->flow = memory_zeros(q * q, sizeof(double), "flows", err);
    balance->left = memory_array(q * q, sizeof(double), "flows", err);
    return balance->alpha && balance->other && balance->flow && balance->left ? 0 : -1;
}

int ml_bias_beta(const struct ml_alphas *alphas, bool balanced, size_t width, double *beta,
                 double *gain, struct ml_kept *kept, struct error *err) {
    struct balance balance = {.alphas = alphas};
    size_t n = alphas->rows->n, q = alphas->rows->q;
    int status = allocate(&balance, err);
    for (size_t k = 0; status == 0 && k < q * q; k++) {
        balance.left[k] = 1;
    }
    if (status == 0 && balanced) {
        status = find_circulation(&balance, err);
    }
    if (status == 0) {
        *gain = 0;
        memset(beta, 0, n * width * sizeof *beta);
        ml_kept_clear(kept);
        for (size_t i = 0; status == 0 && i < n; i++) {
            struct ml_block block = look_at_row(&balance, i);
            *gain += scaled_beta(&balance, &block, beta + i * width);
            status = kept ? keep_row(&balance, &block, i, beta + i * width, kept, err) : 0;
        }
        *gain = cluster_total(alphas->rows->cluster, *gain);
    }
    free(balance.alpha);
    free(balance.other);
    free(balance.flow);
    free(balance.left);
    return status;
}
