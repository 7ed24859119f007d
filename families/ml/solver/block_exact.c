/* The exact block step for both losses (block.h): divide and conquer for the hinge, Newton for its
 * square. */
#include "families/ml/solver/block_private.h"

#include "common/base/dispatch.h"

#include <math.h>
#include <string.h>

/* ---- the exact hinge block ----
 *
 * u and v keep the order of a and b. For any level t, the labels whose values are above it solve a
 * minimum cut problem. With j relevant labels and l others above,
 *   cut(j, l) = sum_{p < j} (t - a_p) + sum_{r < l} (t - b_r) + kappa l (n_p - j),
 *   kappa = k lambda.
 * Take the mean for t; then cut(0, 0) = cut(all) = 0. If no cut is negative, all values are t.
 * Otherwise the lowest cut divides the labels into two independent subproblems: across it every
 * pair with p below and r above has alpha = lambda, and every pair with p above and r below has
 * alpha = 0. This is the decomposition algorithm for separable convex functions over base polytopes
 * (Fujishige, Math. Oper. Res. 1980; Groenevelt, EJOR 1991). */

/* a of relevant label i of the subproblem, with the contribution of labels outside it. */
static double shifted_p(const struct ml_scratch *w, const struct subproblem *subproblem, uint32_t i,
                        double kappa) {
    return w->p[i].key + kappa * (double)subproblem->n_above;
}

static double shifted_r(const struct ml_scratch *w, const struct subproblem *subproblem, uint32_t i,
                        double kappa) {
    return w->r[i].key - kappa * (double)subproblem->n_below;
}

/* The lowest cut. False if it is not negative. */
static bool lowest_cut(const struct ml_scratch *w, const struct subproblem *subproblem,
                       double kappa, double t, uint32_t *best_j, uint32_t *best_l) {
    uint32_t n_p = subproblem->p_end - subproblem->p_first,
             n_r = subproblem->r_end - subproblem->r_first, j = 0;
    double lowest_value = 0, sum_p = 0, sum_r = 0;
    for (uint32_t l = 0;; l++) {
        while (j < n_p) {
            double above = t - shifted_p(w, subproblem, subproblem->p_first + j, kappa);
            if (above >= kappa * (double)l) {
                break;
            }
            sum_p += above;
            j++;
        }
        double value = sum_p + sum_r + kappa * (double)l * (double)(n_p - j);
        bool divides = (j > 0 || l > 0) && (j < n_p || l < n_r);
        if (divides && value < lowest_value) {
            lowest_value = value;
            *best_j = j;
            *best_l = l;
        }
        if (l == n_r) {
            break;
        }
        sum_r += t - shifted_r(w, subproblem, subproblem->r_first + l, kappa);
    }
    return lowest_value < 0;
}

/* Sets all labels of the subproblem to the level t. */
static void set_level(const struct ml_block *block, const struct ml_scratch *w,
                      const struct subproblem *subproblem, double k, double t, double *beta) {
    double kappa = k * block->lambda;
    for (uint32_t i = subproblem->p_first; i < subproblem->p_end; i++) {
        beta[block->relevant[w->p[i].index]] = (t - shifted_p(w, subproblem, i, kappa)) / k +
                                               block->lambda * (double)subproblem->n_above;
    }
    for (uint32_t i = subproblem->r_first; i < subproblem->r_end; i++) {
        beta[w->other[w->r[i].index]] = (t - shifted_r(w, subproblem, i, kappa)) / k -
                                        block->lambda * (double)subproblem->n_below;
    }
}

/* w->p and w->r hold a and b, sorted; beta of all other labels is 0. */
static void solve_hinge(const struct ml_block *block, double k, uint32_t n_p, uint32_t n_r,
                        struct ml_scratch *w, double *beta) {
    double kappa = k * block->lambda;
    size_t n = 0;
    w->subproblems[n++] = (struct subproblem){0, n_p, 0, n_r, 0, 0};
    while (n > 0) {
        struct subproblem subproblem = w->subproblems[--n];
        double sum = 0;
        for (uint32_t i = subproblem.p_first; i < subproblem.p_end; i++) {
            sum += shifted_p(w, &subproblem, i, kappa);
        }
        for (uint32_t i = subproblem.r_first; i < subproblem.r_end; i++) {
            sum += shifted_r(w, &subproblem, i, kappa);
        }
        uint32_t size =
                     subproblem.p_end - subproblem.p_first + subproblem.r_end - subproblem.r_first,
                 j = 0, l = 0;
        double t = sum / (double)size;
        if (size == 1) { /* a single label is exactly at its bound */
            t = subproblem.p_end > subproblem.p_first
                    ? shifted_p(w, &subproblem, subproblem.p_first, kappa)
                    : shifted_r(w, &subproblem, subproblem.r_first, kappa);
        }
        if (size == 1 || !lowest_cut(w, &subproblem, kappa, t, &j, &l)) {
            set_level(block, w, &subproblem, k, t, beta);
            continue;
        }
        struct subproblem above = subproblem, below = subproblem;
        above.p_end = below.p_first = subproblem.p_first + j;
        above.r_end = below.r_first = subproblem.r_first + l;
        above.n_below += below.p_end - below.p_first;
        below.n_above += above.r_end - above.r_first;
        w->subproblems[n++] = above;
        w->subproblems[n++] = below;
    }
}

/* ---- a presolve of the hinge block by binning ----
 *
 * p ends in [a_p, a_p + kappa n_r] and r in [b_r - kappa n_p, b_r]; pairs whose intervals do not
 * overlap have alpha = lambda or 0. Tighter: p ends at the level u = a_p + kappa |{r: v_r > u}|,
 * and counts of the others per bin of their values bound u from both sides. Others in closed bins,
 * where no relevant label can end, are fixed, and raise p by a known amount. The few others in open
 * bins are sorted and solved as above. All bounds are widened by one bin, so that rounding of bin
 * numbers does not matter. Without this, exact hinge blocks take 1.5 to 2 times as long. */

/* Histogram of the others over (low, high]: sets w->bin and `above`. */
DISPATCH static void count_bins(struct ml_scratch *w, uint32_t n_others, double low, double scale) {
    for (size_t j = 0; j <= ML_BINS; j++) {
        w->bins[j] = (struct bin){0};
    }
    for (uint32_t r = 0; r < n_others; r++) {
        double at = (w->v[r] - low) * scale;
        at = at > 0 ? at : -1;
        at = at < ML_BINS - 1 ? at : ML_BINS - 1;
        w->bin[r] = (uint16_t)(int16_t)at; /* UINT16_MAX for those not above low */
    }
    for (uint32_t r = 0; r < n_others; r++) {
        if (w->bin[r] < ML_BINS) {
            w->bins[w->bin[r]].above++;
        }
    }
    for (size_t j = ML_BINS; j-- > 0;) {
        w->bins[j].above += w->bins[j + 1].above;
    }
}

/* The last bin whose lower end p reaches from a if all others in it and above push it up. */
static size_t last_bin_reached(const struct ml_scratch *w, double a, double kappa) {
    size_t reached = 0, beyond = ML_BINS + 1;
    while (beyond - reached > 1) {
        size_t middle = reached + (beyond - reached) / 2;
        bool is_reached = a + kappa * (double)w->bins[middle].above >= (double)middle;
        *(is_reached ? &reached : &beyond) = middle;
    }
    return reached;
}

/* Opens the bins where relevant labels may end and counts what is certain. A value x is in bin (x -
 * low) scale; kappa is in bins. w->p has the labels of pairs that may have a loss. */
static void open_bins(struct ml_scratch *w, uint32_t n_p, double low, double scale, double kappa) {
    size_t spare = (size_t)ceil(fmin(kappa * (double)n_p, ML_BINS)) + 2;
    for (uint32_t p = 0; p < n_p; p++) {
        size_t at = last_bin_reached(w, (w->p[p].key - low) * scale, kappa);
        size_t first = at > spare ? at - spare : 0, end = at + spare + 2;
        for (size_t j = first; j < end && j <= ML_BINS; j++) {
            w->bins[j].open = true;
        }
        if (end <= ML_BINS) {
            w->bins[end].below++;
        }
        w->count[p] = (uint32_t)end;
    }
    for (size_t j = 1; j <= ML_BINS; j++) {
        w->bins[j].below += w->bins[j - 1].below;
    }
    for (size_t j = ML_BINS; j-- > 0;) {
        uint32_t own = w->bins[j].open ? 0 : w->bins[j].above - w->bins[j + 1].above;
        w->bins[j].certain = w->bins[j + 1].certain + own;
    }
}

/* Sets beta of the others in closed bins and copies those in open bins to w->r, *n_r of them. */
static void fix_certain(const struct ml_block *block, struct ml_scratch *w, uint32_t n_others,
                        uint32_t *n_r, double *beta) {
    *n_r = 0;
    for (uint32_t r = 0; r < n_others; r++) {
        if (w->bin[r] >= ML_BINS) {
            continue;
        }
        const struct bin *bin = &w->bins[w->bin[r]];
        if (bin->open) {
            w->r[(*n_r)++] = (struct ml_sort){w->v[r], r};
        } else {
            beta[w->other[r]] = -block->lambda * bin->below;
        }
    }
}

/* w->u and w->v hold a and b, and beta is 0. Returns false, with beta unchanged, if binning would
 * fix too few of the others. */
static bool solve_hinge_binned(const struct ml_block *block, double k, struct ml_scratch *w,
                               double *beta) {
    enum { MIN_OTHERS = 64, MAX_OPEN = ML_BINS / 4 };
    uint32_t n_others = block->q - block->n_relevant, n_p = 0, n_r;
    double low, high, kappa = k * block->lambda;
    ml_block_range(block, w, &low, &high);
    double scale = ML_BINS / (high - low);
    /* of the bins that one relevant label opens */
    double width = 2 * kappa * scale * (double)block->n_relevant;
    if (n_others < MIN_OTHERS || !(high > low) || !(width * (double)block->n_relevant < MAX_OPEN)) {
        return false;
    }
    for (uint32_t p = 0; p < block->n_relevant; p++) {
        if (w->u[p] < high) {
            w->p[n_p++] = (struct ml_sort){w->u[p], p};
        }
    }
    count_bins(w, n_others, low, scale);
    open_bins(w, n_p, low, scale, kappa * scale);
    fix_certain(block, w, n_others, &n_r, beta);
    double *extra = w->x; /* by relevant label: how many fixed others end above it */
    for (uint32_t p = 0; p < n_p; p++) {
        double n = w->count[p] <= ML_BINS ? w->bins[w->count[p]].certain : 0;
        extra[w->p[p].index] = n;
        w->p[p].key += kappa * n;
    }
    if (n_r > 0) {
        ml_sort(w->p, n_p, w->merge);
        ml_sort(w->r, n_r, w->merge);
        solve_hinge(block, k, n_p, n_r, w, beta);
    }
    for (uint32_t p = 0; p < n_p; p++) {
        beta[block->relevant[w->p[p].index]] += block->lambda * extra[w->p[p].index];
    }
    return true;
}

/* ---- the exact squared hinge block ----
 *
 * Newton's method. With r in descending order, the active r of p are a prefix of length c_p. With p
 * in ascending order, the active p of r are a prefix of length d_r, and d_r = p for the r between
 * c_{p+1} and c_p. With kappa = 2 k lambda the Newton system is
 *   (1 + kappa c_p) u_p = a_p + kappa sum_{r < c_p} v_r,
 *   (1 + kappa d_r) v_r = b_r + kappa U(d_r),   U(m) = u_1 + ... + u_m.
 * Eliminate v and subtract the equation of p + 1 from that of p: the result is tridiagonal in U. */

/* Writes to x, y the Newton iterate for the active sets at new_u, new_v. p ascends, r descends. */
static void newton_iterate(struct ml_scratch *w, double kappa, uint32_t n_p, uint32_t n_r) {
    const double *u = w->new_u, *v = w->new_v;
    const struct ml_sort *p = w->p, *r = w->r;
    double *diagonal = w->diagonal, *upper = w->upper, *right = w->right;
    uint32_t *count = w->count, end = n_r;
    for (uint32_t i = 0; i < n_p; i++) { /* c, descending */
        while (end > 0 && v[r[end - 1].index] <= u[p[i].index]) {
            end--;
        }
        count[i] = end;
    }
    count[n_p] = 0;
    /* Thomas algorithm, elimination */
    for (uint32_t i = 0; i < n_p; i++) {
        double weight = 1 / (1 + kappa * (double)(i + 1));
        double members = (double)(count[i] - count[i + 1]), sum = 0;
        for (uint32_t at = count[i + 1]; at < count[i]; at++) {
            sum += w->v[r[at].index];
        }
        double own = 1 + kappa * (double)count[i];
        double next = i + 1 < n_p ? 1 + kappa * (double)count[i + 1] : 0;
        double a_next = i + 1 < n_p ? w->u[p[i + 1].index] : 0;
        diagonal[i] = own + next - kappa * kappa * members * weight;
        right[i] = w->u[p[i].index] - a_next + kappa * sum * weight;
        if (i > 0) { /* the entry below the diagonal is -own */
            diagonal[i] += own * upper[i - 1];
            right[i] += own * right[i - 1];
        }
        upper[i] = -next / diagonal[i];
        right[i] /= diagonal[i];
    }
    for (uint32_t i = n_p - 1; i-- > 0;) {
        right[i] -= upper[i] * right[i + 1];
    }
    for (uint32_t i = 0; i < n_p; i++) {
        w->x[p[i].index] = right[i] - (i > 0 ? right[i - 1] : 0);
    }
    uint32_t d = 0;
    for (uint32_t at = n_r; at-- > 0;) { /* d, ascending */
        while (d < n_p && count[d] > at) {
            d++;
        }
        double sum = d > 0 ? right[d - 1] : 0;
        w->y[r[at].index] = (w->v[r[at].index] + kappa * sum) / (1 + kappa * (double)d);
    }
}

/* Sorts the labels by new_u and new_v. */
static void sort_iterate(struct ml_scratch *w, uint32_t n_p, uint32_t n_r) {
    for (uint32_t i = 0; i < n_p; i++) {
        w->p[i].key = -w->new_u[w->p[i].index];
    }
    for (uint32_t i = 0; i < n_r; i++) {
        w->r[i].key = w->new_v[w->r[i].index];
    }
    ml_sort(w->p, n_p, w->merge);
    ml_sort(w->r, n_r, w->merge);
}

/* beta (NULL: not wanted) and the conjugate of alpha = 2 lambda max(0, v_r - u_p) at the sorted
 * point. */
static double set_slopes(const struct ml_block *block, const struct ml_scratch *w, uint32_t n_p,
                         uint32_t n_r, double *beta) {
    const double *u = w->new_u, *v = w->new_v;
    double lambda = block->lambda, origin = v[w->r[0].index], sum = 0, squares = 0, conjugate = 0;
    uint32_t end = 0;
    for (uint32_t i = n_p; i-- > 0;) {
        double x = u[w->p[i].index];
        for (; end < n_r && v[w->r[end].index] > x; end++) {
            double y = v[w->r[end].index] - origin;
            sum += y;
            squares += y * y;
        }
        x -= origin;
        conjugate += lambda * (squares - 2 * x * sum + (double)end * x * x);
        if (beta) {
            beta[block->relevant[w->p[i].index]] = 2 * lambda * (sum - (double)end * x);
        }
    }
    sum = 0;
    uint32_t first = 0;
    for (uint32_t i = n_r; beta && i-- > 0;) {
        double y = v[w->r[i].index];
        for (; first < n_p && u[w->p[first].index] < y; first++) {
            sum += u[w->p[first].index] - origin;
        }
        beta[w->other[w->r[i].index]] = -2 * lambda * ((double)first * (y - origin) - sum);
    }
    return conjugate > 0 ? conjugate : 0;
}

/* 1/2 |u - a|^2 + 1/2 |v - b|^2 + k lambda sum max(0, v_r - u_p)^2 at the sorted point. */
static double squared_value(const struct ml_block *block, const struct ml_scratch *w, double k,
                            uint32_t n_p, uint32_t n_r) {
    double value = k * set_slopes(block, w, n_p, n_r, NULL);
    for (uint32_t i = 0; i < n_p; i++) {
        double x = w->new_u[w->p[i].index] - w->u[w->p[i].index];
        value += 0.5 * x * x;
    }
    for (uint32_t i = 0; i < n_r; i++) {
        double x = w->new_v[w->r[i].index] - w->v[w->r[i].index];
        value += 0.5 * x * x;
    }
    return value;
}

/* Subtracts `from` from `to` at the labels of the list. True if more than rounding error
 * remains. */
static bool subtract(const struct ml_sort *list, uint32_t n, double *to, const double *from) {
    const double rounding = 1e-14;
    bool moved = false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = list[i].index;
        to[at] -= from[at];
        moved = moved || fabs(to[at]) > rounding * (fabs(from[at]) + 1);
    }
    return moved;
}

static void add_along(const struct ml_sort *list, uint32_t n, double length, const double *way,
                      double *to) {
    for (uint32_t i = 0; i < n; i++) {
        to[list[i].index] += length * way[list[i].index];
    }
}

/* w->u and w->v hold a and b, w->p and w->r the labels. Starts at new_u, new_v. */
static double solve_squared(const struct ml_block *block, double k, uint32_t n_p, uint32_t n_r,
                            struct ml_scratch *w, double *beta) {
    enum { MAX_STEPS = 50, MAX_HALVINGS = 30 };
    double kappa = 2 * k * block->lambda;
    sort_iterate(w, n_p, n_r);
    double value = squared_value(block, w, k, n_p, n_r);
    for (int step = 0; step < MAX_STEPS; step++) {
        newton_iterate(w, kappa, n_p, n_r);
        bool moved = subtract(w->p, n_p, w->x, w->new_u); /* x and y become the step */
        moved = subtract(w->r, n_r, w->y, w->new_v) || moved;
        double length = 1, gone = 0, next = value;
        for (int halving = 0; moved && halving < MAX_HALVINGS; halving++) {
            add_along(w->p, n_p, length - gone, w->x, w->new_u);
            add_along(w->r, n_r, length - gone, w->y, w->new_v);
            gone = length;
            length /= 2;
            sort_iterate(w, n_p, n_r);
            next = squared_value(block, w, k, n_p, n_r);
            if (next < value) {
                break;
            }
        }
        if (!(next < value)) {
            break;
        }
        value = next;
    }
    return set_slopes(block, w, n_p, n_r, beta);
}

/* Starts at the row's present scores. */
static void start_squared(const struct ml_block *block, const double *s, uint32_t n_p, uint32_t n_r,
                          struct ml_scratch *w) {
    for (uint32_t i = 0; i < n_p; i++) {
        uint32_t at = w->p[i].index;
        w->new_u[at] = s[block->relevant[at]] - 1;
    }
    for (uint32_t i = 0; i < n_r; i++) {
        uint32_t at = w->r[i].index;
        w->new_v[at] = s[w->other[at]];
    }
}

/* ---- the exact step ---- */

/* beta, 0 on entry, from a and b in w->u and w->v; s are the row's present scores. Returns the
 * conjugate. */
static double solve(const struct ml_block *block, double k, const double *s, struct ml_scratch *w,
                    double *beta) {
    bool hinge = block->loss == ML_HINGE;
    uint32_t n_p, n_r;
    if ((hinge && solve_hinge_binned(block, k, w, beta)) || !ml_block_sort(block, w, &n_p, &n_r)) {
        return 0;
    }
    if (hinge) {
        solve_hinge(block, k, n_p, n_r, w, beta);
        return 0;
    }
    start_squared(block, s, n_p, n_r, w);
    return solve_squared(block, k, n_p, n_r, w, beta);
}

double ml_block_exact(const struct ml_block *block, double k, const double *s, double *beta,
                      double *conjugate, struct ml_scratch *w) {
    double *old = w->sum;
    memcpy(old, beta, block->q * sizeof *old);
    *conjugate = 0;
    if (k > 0) {
        ml_block_split_scores(block, s, k, beta, w);
        memset(beta, 0, block->q * sizeof *beta);
        *conjugate = solve(block, k, s, w, beta);
    } else {
        double *vertex = w->x;
        ml_block_vertex(block, s, vertex, conjugate, w);
        memcpy(beta, vertex, block->q * sizeof *beta);
    }
    double largest = 0;
    for (uint32_t label = 0; label < block->q; label++) {
        double change = fabs(beta[label] - old[label]);
        largest = change > largest ? change : largest;
    }
    return largest;
}
