#include "tests/optima/wide/exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- kernels ---- */

/* Sums over the features. */
struct sums {
    num product, squares, square_distance, absolute_distance, least, most;
};

static struct sums sum_up(const struct trial *trial, size_t i, size_t k) {
    num zero = n_of(0);
    struct sums s = {zero, zero, zero, zero, zero, zero};
    for (size_t j = 0; j < trial->n_features; j++) {
        num a = n_of(trial->x[i][j]), b = n_of(trial->x[k][j]), apart = n_subtract(a, b);
        s.product = n_plus(s.product, a, b);
        s.squares = n_plus(n_plus(s.squares, a, a), b, b);
        s.square_distance = n_plus(s.square_distance, apart, apart);
        s.absolute_distance = n_add(s.absolute_distance, n_absolute(apart));
        s.least = n_add(s.least, n_minimum(a, b));
        s.most = n_add(s.most, n_maximum(a, b));
    }
    return s;
}

static num kernel_value(const struct trial *trial, size_t i, size_t k) {
    struct sums s = sum_up(trial, i, k);
    num one = n_of(1), gamma = n_of(trial_option(trial, GAMMA));
    num base = n_plus(n_of(trial_option(trial, COEF0)), gamma, s.product);
    switch ((enum kernel)trial_option(trial, KERNEL)) {
    case LINEAR:
        return s.product;
    case POLYNOMIAL:
        return n_power(base, (unsigned)trial_option(trial, DEGREE));
    case RBF:
        return n_exponential(n_negative(n_multiply(gamma, s.square_distance)));
    case LAPLACIAN:
        return n_exponential(n_negative(n_multiply(gamma, s.absolute_distance)));
    case RATIONAL:
        return n_divide(one, n_plus(one, gamma, s.absolute_distance));
    case SIGMOID:
        return n_tangent(base);
    case TANIMOTO:
        return n_compare(s.squares, n_of(0)) > 0
                   ? n_divide(s.product, n_subtract(s.squares, s.product))
                   : one;
    case MINMAX:
        return n_compare(s.most, n_of(0)) > 0 ? n_divide(s.least, s.most) : one;
    default:
        return n_of(trial->x[i][k]);
    }
}

/* The kernel of pairs (i, j) and (u, v): 2 (K_iu K_jv - K_iv K_ju). */
static num *pair_gram(const struct task *task, const num *k) {
    size_t n = task->trial->n, m = task->n_pairs;
    num *gram = n_zeros(m * m), two = n_of(2);
    for (size_t p = 0; p < m; p++) {
        for (size_t q = 0; q < m; q++) {
            size_t i = task->pair[p].better, j = task->pair[p].worse;
            size_t u = task->pair[q].better, v = task->pair[q].worse;
            num straight = n_multiply(k[i * n + u], k[j * n + v]);
            gram[p * m + q] = n_multiply(two, n_minus(straight, k[i * n + v], k[j * n + u]));
        }
    }
    return gram;
}

num *exact_gram(const struct task *task) {
    const struct trial *trial = task->trial;
    size_t n = trial->n;
    num *gram = n_zeros(n * n), constant = n_of(trial_option(trial, BIAS));
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            gram[i * n + j] = kernel_value(trial, i, j);
            if (trial_is(trial, PAIR_FEATURES, 0)) {
                gram[i * n + j] = n_plus(gram[i * n + j], constant, constant);
            }
            gram[j * n + i] = gram[i * n + j];
        }
    }
    if (trial_is(trial, PAIR_FEATURES, 1)) {
        num *pairs = pair_gram(task, gram);
        free(gram);
        return pairs;
    }
    return gram;
}

/* ---- scores ---- */

static struct scores scores_create(const struct task *task) {
    return (struct scores){.s = n_zeros(task->n * task->k),
                           .off = n_zeros(task->n),
                           .norm = n_of(0),
                           .norm_off = n_of(0)};
}

void scores_free(struct scores *scores) {
    free(scores->s);
    free(scores->off);
}

struct scores scores_of_coefficients(const struct task *task, const num *gram, const num *b) {
    size_t n = task->n, k = task->k;
    struct scores v = scores_create(task);
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < k; c++) {
            num sum = n_of(0), magnitude = sum;
            for (size_t j = 0; j < n; j++) {
                num term = n_multiply(gram[i * n + j], b[j * k + c]);
                sum = n_add(sum, term);
                magnitude = n_add(magnitude, n_absolute(term));
            }
            num off = n_multiply(magnitude, n_rounding());
            v.s[i * k + c] = sum;
            v.off[i] = n_maximum(v.off[i], off);
            v.norm = n_plus(v.norm, sum, b[i * k + c]);
            v.norm_off = n_plus(v.norm_off, off, n_absolute(b[i * k + c]));
        }
    }
    return v;
}

struct scores scores_of_model(const struct task *task, const num *gram, const num *b,
                              const num *bias) {
    struct scores v = scores_of_coefficients(task, gram, b);
    size_t n = task->n, k = task->k;
    num constant = n_of(trial_option(task->trial, BIAS)), square = n_multiply(constant, constant);
    for (size_t c = 0; trial_option(task->trial, BIAS) > 0 && c < k; c++) {
        num part = n_of(0);
        for (size_t i = 0; i < n; i++) {
            part = n_plus(part, square, b[i * k + c]);
        }
        for (size_t i = 0; i < n; i++) {
            v.s[i * k + c] = n_add(v.s[i * k + c], n_subtract(bias[c], part));
        }
        num own = n_divide(bias[c], constant), gone = n_divide(part, constant);
        v.norm = n_minus(n_plus(v.norm, own, own), gone, gone);
    }
    return v;
}

/* |W|^2 / 2 + tau |W|_*, twice. */
static num matrix_norms(const struct task *task, const num *w) {
    size_t r = task->trial->matrix_rows, c = task->trial->n_features / r, m = r < c ? r : c;
    num value[MAX_FEATURES], sum = n_of(0), tau = n_of(2 * task->tau);
    exact_singular(w, r, c, value, NULL, NULL);
    for (size_t i = 0; i < m; i++) {
        sum = n_plus(n_plus(sum, value[i], value[i]), tau, value[i]);
    }
    return sum;
}

struct scores scores_of_weights(const struct task *task, const num *w, const num *bias) {
    size_t n = task->n, k = task->k, d = task->trial->n_features;
    bool has_constant = trial_option(task->trial, BIAS) > 0;
    num constant = n_of(trial_option(task->trial, BIAS));
    struct scores v = scores_create(task);
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < k; c++) {
            num sum = has_constant ? bias[c] : n_of(0), magnitude = n_absolute(sum);
            for (size_t j = 0; j < d; j++) {
                num term = n_multiply(w[j * k + c], n_of(task->trial->x[i][j]));
                sum = n_add(sum, term);
                magnitude = n_add(magnitude, n_absolute(term));
            }
            v.s[i * k + c] = sum;
            v.off[i] = n_maximum(v.off[i], n_multiply(magnitude, n_rounding()));
        }
    }
    for (size_t j = 0; j < d * k && !task->matrix; j++) {
        v.norm = n_plus(v.norm, w[j], w[j]);
    }
    for (size_t c = 0; has_constant && c < k; c++) {
        num part = n_divide(bias[c], constant);
        v.norm = n_plus(v.norm, part, part);
    }
    v.norm = task->matrix ? matrix_norms(task, w) : v.norm;
    v.norm_off = n_multiply(v.norm, n_of(0x1p-500L));
    return v;
}

/* ---- losses ---- */

static num hinge_of(const struct task *task, num u) {
    u = n_maximum(u, n_of(0));
    return trial_is(task->trial, LOSS, 1) ? n_multiply(u, u) : u;
}

static num rank_loss(const struct task *task, const num *s, const num *move) {
    bool pairs = trial_is(task->trial, PAIR_FEATURES, 1);
    num sum = n_of(0), one = n_of(1);
    for (size_t p = 0; p < task->n_pairs; p++) {
        const struct pair *pair = &task->pair[p];
        num margin = pairs ? s[p] : n_subtract(s[pair->better], s[pair->worse]);
        num moved = pairs ? move[p] : n_add(move[pair->better], move[pair->worse]);
        num u = n_add(n_subtract(one, margin), moved);
        sum = n_plus(sum, n_of(pair->cost), hinge_of(task, u));
    }
    return sum;
}

static num ml_loss(const struct task *task, const num *s, const num *move, const num *bias) {
    bool is_free = trial_is(task->trial, FREE_BIAS, 1); /* else it is in s */
    num sum = n_of(0), one = n_of(1), two = n_of(2);
    for (size_t p = 0; p < task->n_pairs; p++) {
        const struct pair *pair = &task->pair[p];
        const num *row = s + pair->row * task->k;
        num margin = n_subtract(row[pair->better], row[pair->worse]);
        if (is_free) {
            margin = n_add(margin, n_subtract(bias[pair->better], bias[pair->worse]));
        }
        num u = n_plus(n_subtract(one, margin), two, move[pair->row]);
        sum = n_plus(sum, n_of(pair->cost), hinge_of(task, u));
    }
    return sum;
}

static num smm_loss(const struct task *task, const num *s, const num *move, const num *bias) {
    num sum = n_of(0), one = n_of(1);
    for (size_t i = 0; i < task->n; i++) {
        num score = n_add(s[i], bias[0]);
        num margin = task->sign[i] > 0 ? score : n_negative(score);
        num u = n_add(n_subtract(one, margin), move[i]);
        sum = n_plus(sum, n_of(task->cost[i]), hinge_of(task, u));
    }
    return sum;
}

/* Formulations of mc, in the order of the options: ww, cs, llw, adm, atm, ats, mmr, ova. */
static num mc_loss(const struct task *task, const num *s, const num *move) {
    static const char relative[] = "11000000", by_maximum[] = "01011000", own[] = "00001111",
                      others[] = "11111101", centred[] = "00111110";
    size_t f = (size_t)trial_option(task->trial, FORMULATION), k = task->k;
    num scale = n_of(trial_option(task->trial, MARGIN_SCALE)), sum = n_of(0), one = n_of(1);
    for (size_t i = 0; i < task->n; i++) {
        const num *row = s + i * k;
        size_t y = task->class[i];
        num mean = n_of(0), total = n_of(0), most = n_of(0);
        for (size_t c = 0; c < k && centred[f] == '1'; c++) {
            mean = n_add(mean, n_divide(row[c], n_of((long double)k)));
        }
        for (size_t c = 0; c < k; c++) {
            num margin = relative[f] == '1' ? n_multiply(scale, n_subtract(row[y], row[c]))
                         : c == y           ? n_subtract(row[c], mean)
                                            : n_subtract(mean, row[c]);
            if (c == y ? own[f] == '1' : others[f] == '1') {
                num u = n_plus(n_subtract(one, margin), n_of(2), move[i]);
                num term = hinge_of(task, u);
                total = n_add(total, term);
                most = n_maximum(most, term);
            }
        }
        sum = n_plus(sum, n_of(task->cost[i]), by_maximum[f] == '1' ? most : total);
    }
    return sum;
}

/* ---- top ---- */

/* The rows of J with the highest scores first. */
static void sort_top(const struct task *task, const num *z, size_t *order) {
    for (size_t j = 0; j < task->n_top; j++) {
        size_t at = j;
        for (; at > 0 && n_compare(z[order[at - 1]], z[j]) < 0; at--) {
            order[at] = order[at - 1];
        }
        order[at] = j;
    }
}

/* The mean of the highest: the largest sum p_j z_j, sum p = 1, 0 <= p_j <= cap_j. */
static num highest_mean(const struct task *task, const num *z) {
    size_t order[MAX_ROWS];
    num left = n_of(1), sum = n_of(0);
    sort_top(task, z, order);
    for (size_t a = 0; a < task->n_top; a++) {
        num cap = n_of(task->cap[order[a]]);
        num part = a + 1 == task->n_top ? left : n_minimum(left, cap);
        sum = n_plus(sum, part, z[order[a]]);
        left = n_subtract(left, part);
    }
    return sum;
}

/* The t with sum m_j l(1 + theta (z_j - t)) = B. With the a highest rows in the sum it is the root
 * of a linear or a quadratic equation; it is right if just these have a loss. */
static num quantile(const struct task *task, const num *z) {
    bool squared = trial_is(task->trial, LOSS, 1);
    size_t order[MAX_ROWS];
    num theta = n_of(task->theta), budget = n_of(task->budget), one = n_of(1);
    num weight = n_of(0), first = weight, second = weight, x = weight;
    sort_top(task, z, order);
    for (size_t a = 0; a < task->n_top; a++) {
        num m = n_of(task->multiple[order[a]]), c = n_plus(one, theta, z[order[a]]);
        weight = n_add(weight, m);
        first = n_plus(first, m, c);
        second = n_plus(second, n_multiply(m, c), c);
        if (squared) {
            num over = n_multiply(weight, n_subtract(second, budget));
            num square = n_subtract(n_multiply(first, first), over);
            x = n_divide(n_subtract(first, n_root(n_maximum(square, n_of(0)))), weight);
        } else {
            x = n_divide(n_subtract(first, budget), weight);
        }
        bool last = a + 1 == task->n_top || n_compare(n_plus(one, theta, z[order[a + 1]]), x) <= 0;
        if (last) {
            break;
        }
    }
    return n_divide(x, theta);
}

static num top_loss(const struct task *task, const num *s, const num *move) {
    int f = (int)trial_option(task->trial, FORMULATION);
    num z[MAX_ROWS], t = n_of(0), sum = t, one = n_of(1);
    for (size_t j = 0; j < task->n_top; j++) {
        z[j] = n_add(s[task->top[j]], move[task->top[j]]);
    }
    if (f != 8) {
        t = f == 4 || f == 5 ? quantile(task, z) : highest_mean(task, z);
    }
    for (size_t i = 0; i < task->n_positive; i++) {
        size_t row = task->positive[i];
        num u = n_add(n_subtract(n_add(one, t), s[row]), move[row]);
        sum = n_plus(sum, n_of(task->positive_cost[i]), hinge_of(task, u));
    }
    for (size_t j = 0; f == 8 && j < task->n_top; j++) {
        sum = n_plus(sum, n_of(task->cost[task->top[j]]), hinge_of(task, n_add(one, z[j])));
    }
    return sum;
}

/* ---- primals ---- */

num exact_loss(const struct task *task, const num *s, const num *move, const num *bias) {
    switch (task->trial->family) {
    case RANK:
        return rank_loss(task, s, move);
    case TOP:
        return top_loss(task, s, move);
    case MC:
        return mc_loss(task, s, move);
    case ML:
        return ml_loss(task, s, move, bias);
    default:
        return smm_loss(task, s, move, bias);
    }
}

num exact_primal(const struct task *task, const struct scores *v, const num *bias, int direction) {
    num *move = n_zeros(task->n), sign = n_of(direction);
    for (size_t i = 0; i < task->n; i++) {
        move[i] = n_multiply(sign, v->off[i]);
    }
    num norm = n_maximum(n_of(0), n_plus(v->norm, sign, v->norm_off));
    num loss = exact_loss(task, v->s, move, bias);
    free(move);
    return n_add(n_divide(norm, n_of(2)), loss);
}

/* ---- singular values ---- */

static num dot(const num *a, const num *b, size_t n) {
    num sum = n_of(0);
    for (size_t j = 0; j < n; j++) {
        sum = n_plus(sum, a[j], b[j]);
    }
    return sum;
}

static void rotate(num *a, num *b, size_t n, num c, num s) {
    for (size_t j = 0; j < n; j++) {
        num x = a[j], y = b[j];
        a[j] = n_minus(n_multiply(c, x), s, y);
        b[j] = n_plus(n_multiply(s, x), c, y);
    }
}

/* Makes two vectors orthogonal by a rotation, which `turned` takes part in; false if they were. */
static bool rotate_pair(num *a, num *b, size_t n, num *turned_a, num *turned_b, size_t m) {
    num aa = dot(a, a, n), bb = dot(b, b, n), ab = dot(a, b, n), one = n_of(1);
    num size = n_root(n_multiply(aa, bb));
    if (n_compare(n_absolute(ab), n_multiply(n_rounding(), size)) <= 0) {
        return false;
    }
    num zeta = n_divide(n_subtract(bb, aa), n_add(ab, ab));
    num t = n_divide(one, n_add(n_absolute(zeta), n_root(n_plus(one, zeta, zeta))));
    t = n_compare(zeta, n_of(0)) < 0 ? n_negative(t) : t;
    num c = n_divide(one, n_root(n_plus(one, t, t))), s = n_multiply(c, t);
    rotate(a, b, n, c, s);
    rotate(turned_a, turned_b, m, c, s);
    return true;
}

void exact_singular(const num *w, size_t r, size_t c, num *value, num *left, num *right) {
    bool flat = r <= c;
    size_t m = flat ? r : c, n = flat ? c : r;
    num *vector = n_zeros(m * n), *turn = n_zeros(m * m);
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            vector[i * n + j] = flat ? w[i * c + j] : w[j * c + i];
        }
        turn[i * m + i] = n_of(1);
    }
    bool moved = true;
    for (int sweep = 0; moved && sweep < 100; sweep++) {
        moved = false;
        for (size_t i = 0; i < m; i++) {
            for (size_t j = i + 1; j < m; j++) {
                moved |=
                    rotate_pair(vector + i * n, vector + j * n, n, turn + i * m, turn + j * m, m);
            }
        }
    }
    for (size_t i = 0; i < m; i++) {
        value[i] = n_root(dot(vector + i * n, vector + i * n, n));
        bool zero = n_compare(value[i], n_of(0)) == 0;
        for (size_t j = 0; j < n; j++) {
            num *to = flat ? right : left;
            if (to) {
                to[i * n + j] = zero ? n_of(0) : n_divide(vector[i * n + j], value[i]);
            }
        }
        for (size_t j = 0; j < m; j++) {
            num *to = flat ? left : right;
            if (to) {
                to[i * m + j] = turn[i * m + j];
            }
        }
    }
    free(vector);
    free(turn);
}
