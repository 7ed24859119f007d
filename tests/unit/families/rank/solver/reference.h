/* RankSVM by its definition, for tests: explicit pairs, kernel values one by one, coordinate ascent
 * on the dual over all pairs, and steps within faces of its box. It is slow on purpose and shares
 * no code with the product.
 *
 *   primal  1/2 |f|^2 + sum_p C_p l(1 - m_p),      m_p = s_i - s_j, or f(phi_i x phi_j - ...)
 *   dual    sum_p a_p - 1/2 a'Qa,                  0 <= a_p <= C_p             (hinge)
 *           sum_p a_p - 1/2 a'Qa - a_p^2/(4 C_p),  0 <= a_p                    (squared hinge)
 * with m = Q a. l(u) = max(0,u)^2 has the conjugate term a^2/(4C), since a u - C u^2 is largest at
 * u = a/(2C). */
#ifndef TESTS_UNIT_FAMILIES_RANK_SOLVER_REFERENCE_H
#define TESTS_UNIT_FAMILIES_RANK_SOLVER_REFERENCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reference_data {
    size_t n, width;      /* columns 0..width-1 hold the indices 0..width-1 */
    double *x;            /* (n, width), rounded to float as the product rounds */
    double *t;            /* (n) */
    unsigned long *query; /* (n) */
};

struct reference_kernel {
    int type, degree; /* LIBSVM's numbers, 5 tanimoto, 6 minmax */
    double gamma, coef0;
};

struct reference_pairs {
    size_t m;
    size_t *i, *j; /* i is preferred to j */
    double *cost;
};

static inline void *reference_alloc(size_t count, size_t size) {
    void *block = calloc(count ? count : 1, size);
    if (!block) {
        fprintf(stderr, "reference: out of memory\n");
        exit(1);
    }
    return block;
}

static inline void reference_pairs_free(struct reference_pairs *pairs) {
    free(pairs->i);
    free(pairs->j);
    free(pairs->cost);
}

/* k(x_i, z_j) */
static inline double reference_kernel_value(const struct reference_kernel *k,
                                            const struct reference_data *x, size_t i,
                                            const struct reference_data *z, size_t j) {
    size_t width = x->width > z->width ? x->width : z->width;
    double dot = 0, xx = 0, zz = 0, distance = 0, absolute = 0, low = 0, high = 0;
    if (k->type == 4) {
        size_t serial = (size_t)z->x[j * z->width];
        return serial < x->width ? x->x[i * x->width + serial] : 0;
    }
    for (size_t c = 1; c < width; c++) {
        double a = c < x->width ? x->x[i * x->width + c] : 0;
        double b = c < z->width ? z->x[j * z->width + c] : 0;
        dot += a * b;
        xx += a * a;
        zz += b * b;
        distance += (a - b) * (a - b);
        absolute += fabs(a - b);
        low += a < b ? a : b;
        high += a < b ? b : a;
    }
    switch (k->type) {
    case 0:
        return dot;
    case 1:
        return pow(k->gamma * dot + k->coef0, k->degree);
    case 2:
        return exp(-k->gamma * distance);
    case 3:
        return tanh(k->gamma * dot + k->coef0);
    case 5:
        return xx + zz == 0 ? 1 : dot / (xx + zz - dot);
    case 6:
        return high == 0 ? 1 : low / high;
    case 7:
        return exp(-k->gamma * absolute);
    default:
        return NAN;
    }
}

/* (n, n), the caller frees */
static inline double *reference_gram(const struct reference_kernel *k,
                                     const struct reference_data *data) {
    size_t n = data->n;
    double *gram = (double *)reference_alloc(n * n, sizeof(double));
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            gram[i * n + j] = reference_kernel_value(k, data, i, data, j);
        }
    }
    return gram;
}

/* Level of row i: the number of distinct targets of its query below its own. */
static inline size_t reference_dense_rank(const struct reference_data *data, size_t i) {
    size_t rank = 0;
    for (size_t j = 0; j < data->n; j++) {
        bool counts = data->query[j] == data->query[i] && data->t[j] < data->t[i];
        for (size_t l = 0; l < j && counts; l++) {
            counts = data->query[l] != data->query[j] || data->t[l] != data->t[j];
        }
        rank += counts;
    }
    return rank;
}

/* Units of the cost: in the order of enum rank_unit, then those with linear gain. */
enum reference_unit {
    REFERENCE_PAIR,
    REFERENCE_QUERY,
    REFERENCE_NDCG,
    REFERENCE_GAIN,
    REFERENCE_NDCG_LINEAR,
    REFERENCE_GAIN_LINEAR
};

/* The mean of 1 / log2(1 + p) over the positions p that rows with row i's grade have in the best
 * order. */
static inline double reference_discount(const struct reference_data *data, size_t i) {
    size_t above = 0, equal = 0;
    for (size_t j = 0; j < data->n; j++) {
        if (data->query[j] == data->query[i]) {
            above += data->t[j] > data->t[i];
            equal += data->t[j] == data->t[i];
        }
    }
    double sum = 0;
    for (size_t place = above + 1; place <= above + equal; place++) {
        sum += 1 / log2(1 + (double)place);
    }
    return sum / (double)equal;
}

static inline double reference_gain(double grade, enum reference_unit unit) {
    return unit < REFERENCE_NDCG_LINEAR ? pow(2, grade) - 1 : grade;
}

/* Multiplies cost (pairs) by the weight of each pair by NDCG, or by the difference of gains alone.
 * No target is negative. */
static inline void reference_weigh(struct reference_pairs *pairs,
                                   const struct reference_data *graded, enum reference_unit unit) {
    double *discount = (double *)reference_alloc(graded->n, sizeof(double));
    double *ideal = (double *)reference_alloc(graded->n, sizeof(double));
    for (size_t i = 0; i < graded->n; i++) {
        discount[i] = reference_discount(graded, i);
    }
    for (size_t i = 0; i < graded->n; i++) {
        for (size_t k = 0; k < graded->n; k++) {
            ideal[i] += graded->query[k] == graded->query[i]
                            ? reference_gain(graded->t[k], unit) * discount[k]
                            : 0;
        }
    }
    for (size_t p = 0; p < pairs->m; p++) {
        size_t i = pairs->i[p], j = pairs->j[p];
        double gains = reference_gain(graded->t[i], unit) - reference_gain(graded->t[j], unit);
        bool alone = unit == REFERENCE_GAIN || unit == REFERENCE_GAIN_LINEAR;
        pairs->cost[p] *= alone ? gains : gains * (discount[i] - discount[j]) / ideal[i];
    }
    free(discount);
    free(ideal);
}

/* All pairs within the window. Their cost is `cost`, divided by the group's number of pairs, or
 * times the pair's weight by NDCG or gain, where negative targets count as 0. */
static inline struct reference_pairs reference_pairs_list(const struct reference_data *rows,
                                                          size_t low, size_t high, double cost,
                                                          enum reference_unit unit) {
    struct reference_data own = *rows, *data = &own;
    size_t n = data->n;
    struct reference_pairs pairs = {0, (size_t *)reference_alloc(n * n, sizeof(size_t)),
                                    (size_t *)reference_alloc(n * n, sizeof(size_t)),
                                    (double *)reference_alloc(n * n, sizeof(double))};
    own.t = (double *)reference_alloc(n, sizeof(double));
    for (size_t i = 0; i < n; i++) {
        own.t[i] = unit >= REFERENCE_NDCG ? fmax(0, rows->t[i]) : rows->t[i];
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            if (data->query[i] != data->query[j] || !(data->t[i] > data->t[j])) {
                continue;
            }
            size_t difference = reference_dense_rank(data, i) - reference_dense_rank(data, j);
            if (low <= difference && difference <= high) {
                pairs.i[pairs.m] = i;
                pairs.j[pairs.m] = j;
                pairs.cost[pairs.m++] = cost;
            }
        }
    }
    for (size_t p = 0; p < pairs.m && unit == REFERENCE_QUERY; p++) {
        size_t size = 0;
        for (size_t q = 0; q < pairs.m; q++) {
            size += data->query[pairs.i[q]] == data->query[pairs.i[p]];
        }
        pairs.cost[p] = cost / (double)size;
    }
    if (unit >= REFERENCE_NDCG) {
        reference_weigh(&pairs, data, unit);
    }
    free(own.t);
    return pairs;
}

/* (m, m): products of the pairs' features, the caller frees */
static inline double *reference_pair_gram(const double *gram, size_t n,
                                          const struct reference_pairs *pairs, bool exterior) {
    size_t m = pairs->m;
    double *q = (double *)reference_alloc(m * m, sizeof(double));
    for (size_t a = 0; a < m; a++) {
        for (size_t b = 0; b < m; b++) {
            size_t i = pairs->i[a], j = pairs->j[a], u = pairs->i[b], v = pairs->j[b];
            double iu = gram[i * n + u], iv = gram[i * n + v];
            double ju = gram[j * n + u], jv = gram[j * n + v];
            q[a * m + b] = exterior ? 2 * (iu * jv - iv * ju) : iu - iv - ju + jv;
        }
    }
    return q;
}

static inline double reference_loss(double u, bool squared) {
    double positive = u > 0 ? u : 0;
    return squared ? positive * positive : positive;
}

/* P and D at alpha, and the margins Q alpha. */
static inline void reference_bounds(const double *q, const struct reference_pairs *pairs,
                                    bool squared, const double *alpha, double *margin,
                                    double *primal, double *dual) {
    size_t m = pairs->m;
    double quadratic = 0, loss = 0, linear = 0;
    for (size_t a = 0; a < m; a++) {
        double sum = 0;
        for (size_t b = 0; b < m; b++) {
            sum += q[a * m + b] * alpha[b];
        }
        margin[a] = sum;
        quadratic += alpha[a] * sum / 2;
        loss += pairs->cost[a] * reference_loss(1 - sum, squared);
        linear += alpha[a];
        if (squared && pairs->cost[a] > 0) {
            linear -= alpha[a] * alpha[a] / (4 * pairs->cost[a]);
        }
    }
    *primal = quadratic + loss;
    *dual = linear - quadratic;
}

/* LAPACK: solves A x = b, A (n, n) positive definite; b becomes x. */
extern void dposv_(const char *half, const int *n, const int *columns, double *A, const int *stride,
                   double *b, const int *b_stride, int *info);

/* Steps within the face of the box that contains alpha: to the maximum over the free coordinates,
 * or to the first bound, repeatedly. Coordinate steps alone converge slowly if Q is nearly singular
 * and C large. */
static inline void reference_climb(const double *q, const struct reference_pairs *pairs,
                                   bool squared, double *alpha, double *margin) {
    size_t m = pairs->m;
    double primal, dual;
    size_t *off = (size_t *)reference_alloc(m, sizeof(size_t));
    for (size_t round = 0; round < m; round++) {
        size_t n = 0, blocked = 0;
        double largest = 0, length = 1;
        for (size_t a = 0; a < m; a++) {
            if (alpha[a] > 0 && (squared || alpha[a] < pairs->cost[a])) {
                off[n++] = a;
                largest = q[a * m + a] > largest ? q[a * m + a] : largest;
            }
        }
        if (n == 0) {
            break;
        }
        double *A = (double *)reference_alloc(n * n, sizeof(double));
        double *step = (double *)reference_alloc(n, sizeof(double));
        reference_bounds(q, pairs, squared, alpha, margin, &primal, &dual);
        for (size_t i = 0; i < n; i++) {
            double ridge = squared ? 1 / (2 * pairs->cost[off[i]]) : 0;
            for (size_t j = 0; j < n; j++) {
                A[i * n + j] = q[off[i] * m + off[j]];
            }
            A[i * n + i] += ridge + 1e-10 * largest;
            step[i] = 1 - margin[off[i]] - ridge * alpha[off[i]];
        }
        int order = (int)n, one = 1, info;
        dposv_("L", &order, &one, A, &order, step, &order, &info);
        if (info != 0) {
            fprintf(stderr, "reference: dposv says %d\n", info);
            exit(1);
        }
        for (size_t i = 0; i < n; i++) {
            double at = alpha[off[i]], room = step[i] < 0 ? -at : pairs->cost[off[i]] - at;
            bool bound = step[i] < 0 || (step[i] > 0 && !squared);
            if (bound && room / step[i] < length) {
                length = room / step[i];
                blocked = i;
            }
        }
        for (size_t i = 0; i < n; i++) {
            alpha[off[i]] += length * step[i];
        }
        if (length < 1) { /* exactly onto the bound */
            alpha[off[blocked]] = step[blocked] < 0 ? 0 : pairs->cost[off[blocked]];
        }
        free(A);
        free(step);
        if (length >= 1) {
            break;
        }
    }
    free(off);
}

/* Coordinate ascent over the pairs until (P - D) / P <= gap or the sweeps are used up. alpha (m)
 * is the starting point and the result. */
static inline void reference_solve(const double *q, const struct reference_pairs *pairs,
                                   bool squared, double gap, size_t max_sweeps, double *alpha,
                                   double *primal, double *dual) {
    size_t m = pairs->m;
    double *margin = (double *)reference_alloc(m, sizeof(double));
    for (size_t sweep = 0;; sweep++) {
        /* recomputes the margins, so that rounding errors do not accumulate */
        if (sweep % 16 == 0) {
            if (sweep % 64 == 32) {
                reference_climb(q, pairs, squared, alpha, margin);
            }
            reference_bounds(q, pairs, squared, alpha, margin, primal, dual);
            if (*primal - *dual <= gap * *primal || sweep >= max_sweeps) {
                break;
            }
        }
        for (size_t a = 0; a < m; a++) {
            double cost = pairs->cost[a];
            if (cost <= 0) {
                continue;
            }
            double ridge = squared ? 1 / (2 * cost) : 0;
            double curvature = q[a * m + a] + ridge;
            double slope = 1 - margin[a] - ridge * alpha[a];
            double value = alpha[a];
            if (curvature > 0) {
                value += slope / curvature;
            } else if (slope > 0) { /* two equal rows: the loss is 1 for every f */
                value = cost;
            }
            value = value < 0 ? 0 : value;
            value = !squared && value > cost ? cost : value;
            double change = value - alpha[a];
            if (change != 0) {
                alpha[a] = value;
                for (size_t b = 0; b < m; b++) {
                    margin[b] += change * q[a * m + b];
                }
            }
        }
    }
    free(margin);
}

/* The optimum of a problem; false if the sweeps did not reach `gap`. */
static inline bool reference_optimum(const struct reference_data *data,
                                     const struct reference_kernel *kernel,
                                     const struct reference_pairs *pairs, bool exterior,
                                     bool squared, double gap, double *primal, double *dual) {
    double *gram = reference_gram(kernel, data);
    double *q = reference_pair_gram(gram, data->n, pairs, exterior);
    double *alpha = (double *)reference_alloc(pairs->m, sizeof(double));
    reference_solve(q, pairs, squared, gap, 5000, alpha, primal, dual);
    free(alpha);
    free(q);
    free(gram);
    return *primal - *dual <= gap * *primal;
}

#endif
