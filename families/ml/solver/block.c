/* Losses, pair steps and alpha of a row (block.h). */
#include "families/ml/solver/block_private.h"

#include "common/base/arrays.h"
#include "common/base/dispatch.h"
#include "common/base/memory.h"
#include "families/ml/solver/sort.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Up to so many labels on one side, the loss is summed over all pairs by vector loops. */
enum { FEW_LABELS = 32 };

int ml_scratch_create(struct ml_scratch **scratch, uint32_t q, struct error *err) {
    struct ml_scratch *made = memory_zeros(1, sizeof *made, "work of a row", err);
    if (!made) {
        return -1;
    }
    size_t n = (size_t)q + 1;
    made->q = q;
    made->block = ARRAYS_CREATE(
        "work of a row", err,
        ARRAYS(n, double, &made->u, &made->v, &made->sum, &made->new_u, &made->new_v, &made->x,
               &made->y, &made->diagonal, &made->upper, &made->right),
        ARRAYS(n, uint32_t, &made->other, &made->count),
        ARRAYS(n, struct ml_sort, &made->p, &made->r, &made->merge),
        ARRAYS(n, struct subproblem, &made->subproblems),
        ARRAYS(ML_BINS + 1, struct bin, &made->bins), ARRAYS(n, uint16_t, &made->bin));
    if (!made->block) {
        ml_scratch_free(made);
        return -1;
    }
    *scratch = made;
    return 0;
}

void ml_scratch_free(struct ml_scratch *scratch) {
    if (scratch) {
        free(scratch->block);
        free(scratch);
    }
}

/* v and other of the labels first..end, none of which is relevant. */
DISPATCH static void copy_others(const double *restrict s, double k, const double *restrict beta,
                                 uint32_t first, uint32_t end, double *restrict v,
                                 uint32_t *restrict other) {
    for (uint32_t label = first; label < end; label++) {
        v[label - first] = beta ? s[label] - k * beta[label] : s[label];
        other[label - first] = label;
    }
}

void ml_block_split_scores(const struct ml_block *block, const double *s, double k,
                           const double *beta, struct ml_scratch *w) {
    uint32_t first = 0;
    for (uint32_t p = 0; p <= block->n_relevant; p++) {
        uint32_t end = p < block->n_relevant ? block->relevant[p] : block->q, n = first - p;
        copy_others(s, k, beta, first, end, w->v + n, w->other + n);
        if (p < block->n_relevant) {
            w->u[p] = (beta ? s[end] - k * beta[end] : s[end]) - 1;
        }
        first = end + 1;
    }
}

static double lowest(const double *x, uint32_t n) {
    double low = x[0];
    for (uint32_t i = 1; i < n; i++) {
        low = x[i] < low ? x[i] : low;
    }
    return low;
}

/* One maximum per vector lane, for the compiler to vectorise. */
DISPATCH static double highest(const double *restrict x, uint32_t n) {
    enum { LANES = 16 };
    double lane[LANES], high = x[0];
    uint32_t i = 0;
    for (uint32_t j = 0; j < LANES; j++) {
        lane[j] = high;
    }
    for (; i + LANES <= n; i += LANES) {
        for (uint32_t j = 0; j < LANES; j++) {
            lane[j] = x[i + j] > lane[j] ? x[i + j] : lane[j];
        }
    }
    for (; i < n; i++) {
        high = x[i] > high ? x[i] : high;
    }
    for (uint32_t j = 0; j < LANES; j++) {
        high = lane[j] > high ? lane[j] : high;
    }
    return high;
}

void ml_block_range(const struct ml_block *block, const struct ml_scratch *w, double *low,
                    double *high) {
    *low = lowest(w->u, block->n_relevant);
    *high = highest(w->v, block->q - block->n_relevant);
}

/* ---- losses ---- */

/* sum_p sum_r of max(0, v_r - u_p), or of its square. */
DISPATCH static double sum_pairs(enum ml_loss loss, const double *restrict u, uint32_t n_u,
                                 const double *restrict v, uint32_t n_v, double *restrict sum) {
    double total = 0;
    memset(sum, 0, n_v * sizeof *sum);
    for (uint32_t p = 0; p < n_u; p++) {
        double low = u[p];
        if (loss == ML_HINGE) {
            for (uint32_t r = 0; r < n_v; r++) {
                double x = v[r] - low;
                sum[r] += x > 0 ? x : 0;
            }
        } else {
            for (uint32_t r = 0; r < n_v; r++) {
                double x = v[r] - low;
                x = x > 0 ? x : 0;
                sum[r] += x * x;
            }
        }
    }
    for (uint32_t r = 0; r < n_v; r++) {
        total += sum[r];
    }
    return total;
}

bool ml_block_sort(const struct ml_block *block, struct ml_scratch *w, uint32_t *n_p,
                   uint32_t *n_r) {
    uint32_t n_others = block->q - block->n_relevant;
    double low, high;
    ml_block_range(block, w, &low, &high);
    *n_p = *n_r = 0;
    if (!(high > low)) {
        return false;
    }
    for (uint32_t p = 0; p < block->n_relevant; p++) {
        if (w->u[p] < high) {
            w->p[(*n_p)++] = (struct ml_sort){w->u[p], p};
        }
    }
    for (uint32_t r = 0; r < n_others; r++) {
        if (w->v[r] > low) {
            w->r[(*n_r)++] = (struct ml_sort){w->v[r], r};
        }
    }
    ml_sort(w->p, *n_p, w->merge);
    ml_sort(w->r, *n_r, w->merge);
    return true;
}

double ml_block_loss(const struct ml_block *block, const double *s, struct ml_scratch *w) {
    uint32_t n_others = block->q - block->n_relevant;
    if (block->n_relevant <= FEW_LABELS || n_others <= FEW_LABELS) {
        ml_block_split_scores(block, s, 0, NULL, w);
        return block->lambda *
               sum_pairs(block->loss, w->u, block->n_relevant, w->v, n_others, w->sum);
    }
    double conjugate;
    return ml_block_vertex(block, s, w->y, &conjugate, w);
}

double ml_block_linear(const struct ml_block *block, const double *beta) {
    double sum = 0;
    for (uint32_t p = 0; p < block->n_relevant; p++) {
        sum += beta[block->relevant[p]];
    }
    return sum;
}

double ml_block_vertex(const struct ml_block *block, const double *s, double *vertex,
                       double *conjugate, struct ml_scratch *w) {
    ml_block_split_scores(block, s, 0, NULL, w);
    memset(vertex, 0, block->q * sizeof *vertex);
    *conjugate = 0;
    uint32_t n_p, n_r;
    if (!ml_block_sort(block, w, &n_p, &n_r)) {
        return 0;
    }
    double lambda = block->lambda, origin = w->r[0].key, loss = 0;
    bool hinge = block->loss == ML_HINGE;
    double sum = 0, squares = 0;
    uint32_t end = 0;
    for (uint32_t p = 0; p < n_p; p++) {
        double u = w->p[p].key;
        for (; end < n_r && w->r[end].key > u; end++) {
            /* differences from origin: squares of raw values would cancel */
            double v = w->r[end].key - origin;
            sum += v;
            squares += v * v;
        }
        double n = (double)end;
        u -= origin;
        loss += hinge ? sum - n * u : squares - 2 * u * sum + n * u * u;
        vertex[block->relevant[w->p[p].index]] = lambda * (hinge ? n : 2 * (sum - n * u));
    }
    /* r ascending: the p from `first` on have u < v */
    uint32_t first = n_p;
    sum = 0;
    for (uint32_t r = n_r; r-- > 0;) {
        double v = w->r[r].key;
        for (; first > 0 && w->p[first - 1].key < v; first--) {
            sum += w->p[first - 1].key - origin;
        }
        double n = (double)(n_p - first);
        vertex[w->other[w->r[r].index]] = -lambda * (hinge ? n : 2 * (n * (v - origin) - sum));
    }
    *conjugate = hinge ? 0 : lambda * loss;
    return lambda * loss;
}

/* ---- pair steps ---- */

static double pair_pass(const struct ml_block *block, double k, double *alpha,
                        struct ml_scratch *w) {
    uint32_t n_others = block->q - block->n_relevant;
    bool hinge = block->loss == ML_HINGE;
    double bound = hinge ? block->lambda : INFINITY;
    double ridge = hinge ? 0 : 1 / (2 * block->lambda);
    double slope = 1 / (2 * k + ridge), largest = 0;
    for (uint32_t p = 0; p < block->n_relevant; p++) {
        double u = w->u[p], *row = alpha + (size_t)p * n_others;
        for (uint32_t r = 0; r < n_others; r++) {
            double gradient = w->v[r] - u - ridge * row[r];
            if (gradient <= 0 && row[r] == 0) {
                continue;
            }
            double target = row[r] + gradient * slope;
            target = target < 0 ? 0 : target > bound ? bound : target;
            double change = target - row[r];
            row[r] = target;
            u += k * change;
            w->v[r] -= k * change;
            largest = fmax(largest, fabs(change));
        }
        w->u[p] = u;
    }
    return largest;
}

/* If k = 0, or lambda underflows, steps do not change the scores: each alpha becomes the derivative
 * of its own loss. */
static void set_pairs_to_slopes(const struct ml_block *block, double *alpha,
                                const struct ml_scratch *w) {
    uint32_t n_others = block->q - block->n_relevant;
    for (uint32_t p = 0; p < block->n_relevant; p++) {
        for (uint32_t r = 0; r < n_others; r++) {
            double x = w->v[r] - w->u[p];
            double *at = alpha + (size_t)p * n_others + r;
            *at = x <= 0 ? 0 : block->lambda * (block->loss == ML_HINGE ? 1 : 2 * x);
        }
    }
}

/* beta and the conjugate of alpha; returns the largest change of an entry of beta. w->other must be
 * set. */
static double sum_alpha(const struct ml_block *block, const double *alpha, double *beta,
                        double *conjugate, const struct ml_scratch *w) {
    uint32_t n_others = block->q - block->n_relevant;
    double largest = 0, squares = 0;
    memset(w->sum, 0, n_others * sizeof *w->sum);
    for (uint32_t p = 0; p < block->n_relevant; p++) {
        const double *row = alpha + (size_t)p * n_others;
        double total = 0;
        for (uint32_t r = 0; r < n_others; r++) {
            total += row[r];
            /* lambda may be 0 */
            squares += row[r] > 0 ? row[r] * (row[r] / (4 * block->lambda)) : 0;
            w->sum[r] -= row[r];
        }
        double *at = &beta[block->relevant[p]];
        largest = fmax(largest, fabs(total - *at));
        *at = total;
    }
    for (uint32_t r = 0; r < n_others; r++) {
        double *at = &beta[w->other[r]];
        largest = fmax(largest, fabs(w->sum[r] - *at));
        *at = w->sum[r];
    }
    *conjugate = block->loss == ML_HINGE ? 0 : squares;
    return largest;
}

double ml_block_pairs(const struct ml_block *block, double k, const double *s, double *alpha,
                      int passes, double *beta, double *conjugate, struct ml_scratch *w) {
    ml_block_split_scores(block, s, 0, NULL, w);
    bool moves = block->loss == ML_HINGE || isfinite(1 / (2 * block->lambda));
    if (k > 0 && moves) {
        while (passes > 0 && pair_pass(block, k, alpha, w) > 0) {
            passes--;
        }
    } else {
        set_pairs_to_slopes(block, alpha, w);
    }
    return sum_alpha(block, alpha, beta, conjugate, w);
}

/* ---- alpha of a hinge block ---- */

/* The level t with sum_r min(lambda, max(0, d_r - t)) = total: Newton's method in a bracket, on a
 * decreasing piecewise linear function. */
static double find_level(const double *d, uint32_t n, double lambda, double total) {
    enum { MAX_STEPS = 100 };
    double high = highest(d, n), low = lowest(d, n) - lambda, t = -total / (double)n;
    for (uint32_t r = 0; r < n; r++) {
        t += d[r] / (double)n;
    }
    t = t > low && t < high ? t : high;
    for (int step = 0; step < MAX_STEPS; step++) {
        double sum = 0, free = 0;
        for (uint32_t r = 0; r < n; r++) {
            double x = d[r] - t;
            sum += x < 0 ? 0 : x > lambda ? lambda : x;
            free += x >= 0 && x < lambda;
        }
        if (sum >= total) {
            low = t;
        } else {
            high = t;
        }
        double next = free > 0 ? t + (sum - total) / free : low;
        next = next > low && next < high ? next : low + (high - low) / 2;
        if (sum == total || next == t) {
            break;
        }
        t = next;
    }
    return t;
}

void ml_block_hinge_alpha(const struct ml_block *block, const double *beta, double *alpha,
                          struct ml_scratch *w) {
    uint32_t n_others = block->q - block->n_relevant;
    double lambda = block->lambda, *left = w->v;
    ml_block_split_scores(block, beta, 0, NULL, w);
    for (uint32_t r = 0; r < n_others; r++) {
        left[r] = -left[r];
    }
    /* Each relevant label takes from the others with the largest remainders, by water filling. */
    for (uint32_t p = 0; p < block->n_relevant; p++) {
        double *row = alpha + (size_t)p * n_others;
        double t = find_level(left, n_others, lambda, beta[block->relevant[p]]);
        for (uint32_t r = 0; r < n_others; r++) {
            double x = left[r] - t;
            row[r] = x < 0 ? 0 : x > lambda ? lambda : x;
            left[r] -= row[r];
        }
    }
}

void ml_block_squared_alpha(const struct ml_block *block, const double *s, double *alpha) {
    size_t at = 0;
    for (uint32_t p = 0; p < block->n_relevant; p++) {
        uint32_t next = 0;
        for (uint32_t r = 0; r < block->q; r++) {
            if (next < block->n_relevant && block->relevant[next] == r) {
                next++;
                continue;
            }
            double x = 1 - s[block->relevant[p]] + s[r];
            alpha[at++] = x > 0 ? 2 * block->lambda * x : 0;
        }
    }
}
