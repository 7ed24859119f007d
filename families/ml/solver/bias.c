/* Balances the dual point of a free bias (bias.h). */
#include "families/ml/solver/bias.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- circulations ---- */

#define NO_LABEL UINT32_MAX

/* A shortest path of positive flow from a label with excess above min_excess to one below
 * -min_excess, by breadth-first search. from[r] is the label before r. Returns its end, or
 * NO_LABEL. */
static uint32_t find_path(const double *flow, uint32_t q, const double *excess, double min_excess,
                          uint32_t *from, uint32_t *queue) {
    uint32_t head = 0, tail = 0;
    for (uint32_t k = 0; k < q; k++) {
        from[k] = NO_LABEL;
        if (excess[k] > min_excess) {
            from[k] = k;
            queue[tail++] = k;
        }
    }
    while (head < tail) {
        uint32_t p = queue[head++];
        for (uint32_t r = 0; r < q; r++) {
            if (from[r] == NO_LABEL && flow[(size_t)p * q + r] > 0) {
                from[r] = p;
                if (excess[r] < -min_excess) {
                    return r;
                }
                queue[tail++] = r;
            }
        }
    }
    return NO_LABEL;
}

static void cancel_path(double *flow, uint32_t q, double *excess, const uint32_t *from,
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

/* Cancels all paths of a single edge; this is most of the flow. */
static void cancel_edges(double *flow, uint32_t q, double *excess) {
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
    cancel_edges(flow, q, excess);
    for (;;) {
        uint32_t end = find_path(flow, q, excess, rounding * total, from, from + q);
        if (end == NO_LABEL) {
            break;
        }
        cancel_path(flow, q, excess, from, end);
    }
    free(excess);
    free(from);
    return 0;
}

/* ---- the rows' contributions to the flow ---- */

struct balancing {
    const struct ml_alphas *alphas;
    double *alpha;     /* of one row */
    uint32_t *other;   /* (q) its labels that are not relevant */
    double *flow;      /* (q, q); NULL if flows are not balanced */
    double *remaining; /* (q, q) remaining share of each flow; or NULL */
    void *block;       /* all arrays */
};

/* Loads the row's alpha and its labels that are not relevant. */
static struct ml_block load_row(const struct balancing *balancing, size_t i) {
    const struct ml_alphas *alphas = balancing->alphas;
    struct ml_block block = ml_rows_block(alphas->rows, i, alphas->loss, alphas->cost);
    uint32_t n_others = 0, p = 0;
    for (uint32_t k = 0; k < block.q; k++) {
        if (p < block.n_relevant && block.relevant[p] == k) {
            p++;
        } else {
            balancing->other[n_others++] = k;
        }
    }
    alphas->row(alphas->context, i, &block, balancing->alpha);
    return block;
}

static void add_flow(const struct balancing *balancing, const struct ml_block *block,
                     double *flow) {
    uint32_t n_others = block->q - block->n_relevant;
    for (uint32_t p = 0; p < block->n_relevant; p++) {
        double *out = flow + (size_t)block->relevant[p] * block->q;
        for (uint32_t r = 0; r < n_others; r++) {
            out[balancing->other[r]] += balancing->alpha[(size_t)p * n_others + r];
        }
    }
}

/* The remaining shares of the flows from a label; NULL: all remains. */
static const double *shares_of(const struct balancing *balancing, uint32_t label) {
    size_t q = balancing->alphas->rows->q;
    return balancing->remaining ? balancing->remaining + label * q : NULL;
}

/* Adds to beta the row's alphas, each scaled by the remaining share of its flow. Returns the row's
 * linear part of D. */
static double scaled_beta(const struct balancing *balancing, const struct ml_block *block,
                          double *beta) {
    uint32_t n_others = block->q - block->n_relevant;
    double sum = 0, squares = 0;
    for (uint32_t p = 0; p < block->n_relevant; p++) {
        const double *factor = shares_of(balancing, block->relevant[p]);
        for (uint32_t r = 0; r < n_others; r++) {
            double x = balancing->alpha[(size_t)p * n_others + r];
            x *= factor ? factor[balancing->other[r]] : 1;
            beta[block->relevant[p]] += x;
            beta[balancing->other[r]] -= x;
            sum += x;
            squares += x > 0 ? x * (x / (4 * block->lambda)) : 0; /* lambda may be 0 */
        }
    }
    return block->loss == ML_HINGE ? sum : sum - squares;
}

/* The hinge adds beta, the squared hinge its alphas. */
static int add_to_proof(const struct balancing *balancing, const struct ml_block *block, size_t i,
                        const double *beta, struct ml_proof_point *proof, struct error *err) {
    uint32_t n_others = block->q - block->n_relevant, row = balancing->alphas->rows->row[i];
    if (block->loss == ML_HINGE) {
        return ml_proof_point_add_beta(proof, row, beta, block->q, err);
    }
    for (uint32_t p = 0; p < block->n_relevant; p++) {
        const double *factor = shares_of(balancing, block->relevant[p]);
        for (uint32_t r = 0; r < n_others; r++) {
            uint32_t other = balancing->other[r];
            double x = balancing->alpha[(size_t)p * n_others + r] * (factor ? factor[other] : 1);
            const struct ml_proof_entry number = {row, block->relevant[p], other, x};
            if (x != 0 && ml_proof_point_add(proof, &number, err) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

static int find_circulation(const struct balancing *balancing, struct error *err) {
    size_t n = balancing->alphas->rows->n, q = balancing->alphas->rows->q;
    for (size_t i = 0; i < n; i++) {
        struct ml_block block = load_row(balancing, i);
        add_flow(balancing, &block, balancing->flow);
    }
    cluster_sum(balancing->alphas->rows->cluster, balancing->flow, q * q);
    memcpy(balancing->remaining, balancing->flow, q * q * sizeof *balancing->remaining);
    if (ml_bias_circulate(balancing->remaining, q, err) < 0) {
        return -1;
    }
    for (size_t k = 0; k < q * q; k++) {
        balancing->remaining[k] =
            balancing->flow[k] > 0 ? balancing->remaining[k] / balancing->flow[k] : 0;
    }
    return 0;
}

/* Without flows if they are not balanced: these are q^2 numbers. */
static int allocate(struct balancing *balancing, bool balanced, struct error *err) {
    const struct ml_rows *rows = balancing->alphas->rows;
    size_t q = rows->q, pairs = 0;
    for (size_t i = 0; i < rows->n; i++) {
        struct ml_block block = ml_rows_block(rows, i, ML_HINGE, 1);
        pairs = larger(pairs, (size_t)block.n_relevant * (block.q - block.n_relevant));
    }
    const struct arrays arrays[] = {ARRAYS(pairs, double, &balancing->alpha),
                                    ARRAYS(q, uint32_t, &balancing->other),
                                    ARRAYS(q * q, double, &balancing->flow, &balancing->remaining)};
    balancing->block = arrays_create(arrays, balanced ? 3 : 2, "flows", err);
    return balancing->block ? 0 : -1;
}

int ml_bias_beta(const struct ml_alphas *alphas, bool balanced, size_t width, double *beta,
                 double *linear, struct ml_proof_point *proof, struct error *err) {
    struct balancing balancing = {.alphas = alphas};
    size_t n = alphas->rows->n;
    int status = allocate(&balancing, balanced, err);
    if (status == 0 && balanced) {
        status = find_circulation(&balancing, err);
    }
    if (status == 0) {
        *linear = 0;
        memset(beta, 0, n * width * sizeof *beta);
        ml_proof_point_clear(proof);
        for (size_t i = 0; status == 0 && i < n; i++) {
            struct ml_block block = load_row(&balancing, i);
            *linear += scaled_beta(&balancing, &block, beta + i * width);
            status = proof ? add_to_proof(&balancing, &block, i, beta + i * width, proof, err) : 0;
        }
        *linear = cluster_total(alphas->rows->cluster, *linear);
    }
    free(balancing.block);
    return status;
}
