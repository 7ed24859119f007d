#include "tests/optima/wide/optimum.h"

#include "tests/optima/gram.h"
#include "tests/optima/wide/proof.h"
#include "tests/optima/wide/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the interior point's watch has; the task comes first (task.h, `more`). */
struct search {
    const struct task *task;
    const num *gram;
    num lower, upper;
    int idle;          /* iterates that brought nothing */
    num *a, *b, *move; /* (m), (n k), (m) */
};

static bool positive(num a) {
    return n_compare(a, n_of(0)) > 0;
}

/* ---- a dual point ---- */

static void clip(const struct task *task, num *a) {
    for (size_t v = 0; v < task->m; v++) {
        a[v] = n_minimum(n_maximum(a[v], n_of(0)), n_of(task->most[v]));
    }
}

/* The nearest point that meets the equations, distances measured by the slack of the entries. */
static void balance(const struct search *search, num *a) {
    const struct task *task = search->task;
    size_t q = task->equal, m = task->m;
    num schur[MAX_LABELS * MAX_LABELS], residual[MAX_LABELS];
    for (size_t v = 0; v < m; v++) {
        num slack = n_minimum(a[v], n_subtract(n_of(task->most[v]), a[v]));
        search->move[v] = n_multiply(slack, slack);
    }
    for (size_t e = 0; e < q; e++) {
        residual[e] = n_of(0);
        for (size_t v = 0; v < m; v++) {
            residual[e] = n_plus(residual[e], n_of(task->e[e * MAX_VARIABLES + v]), a[v]);
        }
        for (size_t f = 0; f < q; f++) {
            schur[e * q + f] = n_of(0);
            for (size_t v = 0; v < m; v++) {
                num product = n_of(task->e[e * MAX_VARIABLES + v] * task->e[f * MAX_VARIABLES + v]);
                schur[e * q + f] = n_plus(schur[e * q + f], search->move[v], product);
            }
        }
    }
    wide_factor(schur, q);
    wide_solve_factored(schur, q, residual);
    for (size_t v = 0; v < m; v++) {
        for (size_t e = 0; e < q; e++) {
            num part = n_multiply(n_of(task->e[e * MAX_VARIABLES + v]), residual[e]);
            a[v] = n_minus(a[v], search->move[v], part);
        }
    }
}

/* Whether the equations hold up to rounding. */
static bool is_balanced(const struct task *task, const num *a) {
    for (size_t e = 0; e < task->equal; e++) {
        num sum = n_of(0), magnitude = sum;
        for (size_t v = 0; v < task->m; v++) {
            num term = n_multiply(n_of(task->e[e * MAX_VARIABLES + v]), a[v]);
            sum = n_add(sum, term);
            magnitude = n_add(magnitude, n_absolute(term));
        }
        if (n_compare(n_absolute(sum), n_multiply(magnitude, n_of(0x1p-500L))) > 0) {
            return false;
        }
    }
    return true;
}

/* ---- what families have of their own ---- */

static bool is_quantile(const struct task *task) {
    return task->trial->family == TOP &&
           (trial_is(task->trial, FORMULATION, 4) || trial_is(task->trial, FORMULATION, 5));
}

/* top, caps on beta: moves beta towards the point in the ratio of the caps, as far as is needed. */
static void keep_caps(const struct task *task, num *a) {
    num *beta = a + task->n_positive, sum = n_of(0), caps = sum, share = sum;
    for (size_t i = 0; i < task->n_positive; i++) {
        sum = n_add(sum, a[i]);
    }
    for (size_t j = 0; j < task->n_top; j++) {
        caps = n_add(caps, n_of(task->cap[j]));
    }
    for (size_t j = 0; j < task->n_top; j++) {
        num cap = n_multiply(n_of(task->cap[j]), sum), over = n_subtract(beta[j], cap);
        if (positive(over)) {
            share = n_maximum(share, n_divide(over, n_subtract(beta[j], n_divide(cap, caps))));
        }
    }
    for (size_t j = 0; j < task->n_top; j++) {
        num cap = n_divide(n_multiply(n_of(task->cap[j]), sum), caps);
        beta[j] = n_plus(beta[j], share, n_subtract(cap, beta[j]));
    }
}

/* top, quantile: what the conjugate of the threshold costs. */
static num quantile_cost(const struct task *task, num *a) {
    const num *beta = a + task->n_positive;
    num most = n_of(0), squares = n_of(0), budget = n_of(task->budget);
    a[task->level] = n_of(0);
    for (size_t j = 0; j < task->n_top; j++) {
        num ratio = n_divide(beta[j], n_of(task->multiple[j]));
        most = n_maximum(most, ratio);
        squares = n_plus(squares, beta[j], ratio);
    }
    num cost = trial_is(task->trial, LOSS, 1) ? n_root(n_multiply(budget, squares))
                                              : n_multiply(budget, most);
    return n_divide(cost, n_of(task->theta));
}

/* Makes a feasible as to what is not an equation; returns what the dual loses beside its linear and
 * squared terms. */
static num finish(const struct task *task, num *a) {
    if (!task->finish) {
        return n_of(0);
    }
    if (is_quantile(task)) {
        return quantile_cost(task, a);
    }
    keep_caps(task, a);
    return n_of(0);
}

/* The square's quantile: sqrt(B sum beta^2 / m) / theta = min over d > 0 of
 * (B d + sum beta^2 / (m d)) / (2 theta). */
static void add_cone(const void *context, const num *a, num *gradient, num *hessian) {
    const struct task *task = ((const struct search *)context)->task;
    size_t n = task->m, d = task->level;
    num unit = n_divide(n_of(1), n_multiply(n_of(2 * task->theta), a[d])), two = n_of(2);
    for (size_t j = 0; j < task->n_top; j++) {
        size_t v = task->n_positive + j;
        num m = n_of(task->multiple[j]), ratio = n_divide(a[v], a[d]);
        num slope = n_multiply(unit, n_divide(a[v], m)), steep = n_multiply(slope, ratio);
        num cross = n_divide(n_multiply(two, slope), a[d]);
        gradient[v] = n_plus(gradient[v], two, slope);
        gradient[d] = n_subtract(gradient[d], steep);
        hessian[v * n + v] = n_plus(hessian[v * n + v], two, n_divide(unit, m));
        hessian[v * n + d] = n_subtract(hessian[v * n + d], cross);
        hessian[d * n + v] = n_subtract(hessian[d * n + v], cross);
        hessian[d * n + d] = n_plus(hessian[d * n + d], two, n_divide(steep, a[d]));
    }
}

/* ml: the multipliers are those of the equations of the labels but the last; labels that nothing
 * ties are set apart. */
static void find_label_biases(const struct task *task, const num *y, const struct scores *v,
                              num *bias) {
    num most = n_of(1);
    for (size_t c = 0; c < task->k; c++) {
        bias[c] = c + 1 < task->k ? y[c] : n_of(0);
    }
    for (size_t i = 0; i < task->n * task->k; i++) {
        num size = n_add(n_absolute(v->s[i]), n_absolute(bias[i % task->k]));
        most = n_maximum(most, size);
    }
    for (size_t c = 0; c < task->k; c++) {
        bias[c] = n_plus(bias[c], n_of(4 * task->above[c]), most);
    }
}

/* smm: the loss has a kink in the bias for each row; of the square the multiplier is as good as the
 * point. */
static void find_bias(const struct task *task, const num *y, const struct scores *v, num *bias) {
    num *still = n_zeros(task->n);
    bias[0] = y[0];
    num least = exact_loss(task, v->s, still, bias);
    for (size_t i = 0; i < task->n; i++) {
        num kink = n_subtract(n_of(task->sign[i]), v->s[i]);
        num value = exact_loss(task, v->s, still, &kink);
        if (n_compare(value, least) < 0) {
            least = value;
            bias[0] = kink;
        }
    }
    free(still);
}

/* ---- bounds of a point ---- */

static num dual_of(const struct task *task, const num *a, const struct scores *v, num lost) {
    num linear = n_negative(lost), squares = n_maximum(n_of(0), n_add(v->norm, v->norm_off));
    for (size_t i = 0; i < task->m; i++) {
        linear = n_plus(linear, n_of(task->linear[i]), a[i]);
        squares = n_plus(squares, n_of(task->square[i]), n_multiply(a[i], a[i]));
    }
    if (!positive(squares) || !positive(linear)) {
        return n_maximum(n_of(0), linear);
    }
    num best = task->matrix ? n_of(1) : n_minimum(n_of(1), n_divide(linear, squares));
    num half = n_divide(n_multiply(n_multiply(best, best), squares), n_of(2));
    return n_subtract(n_multiply(best, linear), half);
}

/* Makes the point a feasible, if it can be, and b its coefficients; returns what the dual loses
 * beside its linear and squared terms. */
static num repair(const struct search *search) {
    const struct task *task = search->task;
    num *a = search->a, *b = search->b;
    clip(task, a);
    for (int round = 0; task->equal > 0 && round < 3; round++) {
        balance(search, a);
        clip(task, a);
    }
    num lost = finish(task, a);
    for (size_t i = 0; i < task->n * task->k; i++) {
        b[i] = n_of(0);
        for (size_t v = 0; v < task->m; v++) {
            real entry = task->basis[i * MAX_VARIABLES + v];
            b[i] = entry != 0 ? n_plus(b[i], n_of(entry), a[v]) : b[i];
        }
    }
    return lost;
}

static bool watch(void *context, const num *x, const num *y) {
    struct search *search = context;
    const struct task *task = search->task;
    num *a = search->a, *b = search->b, bias[MAX_LABELS];
    num lower = search->lower, upper = search->upper;
    memcpy(a, x, task->m * sizeof *a);
    num lost = repair(search);
    struct scores v = scores_of_coefficients(task, search->gram, b);
    if (task->find_bias) {
        (task->trial->family == ML ? find_label_biases : find_bias)(task, y, &v, bias);
    }
    num primal = exact_primal(task, &v, bias, 1);
    search->upper = n_compare(primal, upper) < 0 ? primal : upper;
    if (is_balanced(task, a)) {
        search->lower = n_maximum(lower, dual_of(task, a, &v, lost));
    }
    scores_free(&v);
    bool better = n_compare(search->lower, lower) > 0 || n_compare(search->upper, upper) < 0;
    search->idle = better ? 0 : search->idle + 1;
    num apart = n_subtract(search->upper, search->lower);
    return search->idle > 15 || n_compare(apart, n_multiply(n_of(1e-22L), search->upper)) < 0;
}

/* ---- the search ---- */

static void set_start(const struct task *task, const num *h, num *x) {
    for (size_t v = 0; v < task->m; v++) {
        num curve = h[v * task->m + v];
        x[v] = task->start[v] > 0        ? n_of(task->start[v])
               : isfinite(task->most[v]) ? n_of(task->most[v] / 2)
               : positive(curve)         ? n_divide(n_of(1), curve)
                                         : n_of(1);
    }
}

/* h = basis'(K x I) basis + squares. */
static void set_hessian(const struct task *task, const num *gram, num *h) {
    size_t m = task->m, n = task->n, k = task->k;
    num *image = n_zeros(n * k * m);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            for (size_t c = 0; c < k; c++) {
                const real *from = task->basis + (j * k + c) * MAX_VARIABLES;
                for (size_t v = 0; v < m; v++) {
                    num *to = &image[(i * k + c) * m + v];
                    *to = from[v] != 0 ? n_plus(*to, gram[i * n + j], n_of(from[v])) : *to;
                }
            }
        }
    }
    for (size_t i = 0; i < n * k; i++) {
        for (size_t u = 0; u < m; u++) {
            real entry = task->basis[i * MAX_VARIABLES + u];
            for (size_t v = 0; entry != 0 && v < m; v++) {
                h[u * m + v] = n_plus(h[u * m + v], n_of(entry), image[i * m + v]);
            }
        }
    }
    for (size_t v = 0; v < m; v++) {
        h[v * m + v] = n_add(h[v * m + v], n_of(task->square[v]));
    }
    free(image);
}

static struct wide_bound widened(const struct bound *bound) {
    struct wide_bound wide = {.terms = bound->terms, .most = n_of(bound->most)};
    for (size_t t = 0; t < bound->terms; t++) {
        wide.at[t] = bound->at[t];
        wide.factor[t] = n_of(bound->factor[t]);
    }
    return wide;
}

/* Those of the family, and of single variables. */
static size_t set_bounds(const struct task *task, struct wide_bound *bound) {
    size_t m = 0;
    for (; m < task->n_bounds; m++) {
        bound[m] = widened(&task->bound[m]);
    }
    for (size_t v = 0; v < task->m; v++) {
        bound[m++] = widened(&(struct bound){.terms = 1, .at = {v}, .factor = {-1}, .most = 0});
        if (isfinite(task->most[v])) {
            bound[m++] = widened(
                &(struct bound){.terms = 1, .at = {v}, .factor = {1}, .most = task->most[v]});
        }
    }
    return m;
}

static void solve(struct search *search) {
    const struct task *task = search->task;
    size_t m = task->m, q = task->equal;
    num *memory = n_zeros(m * m + 4 * m + q * m + q + task->n * task->k);
    struct wide_program program = {.n = m, .equal = q, .watch = watch, .context = search};
    program.h = memory;
    program.c = program.h + m * m;
    program.x = program.c + m;
    program.e = program.x + m;
    program.y = program.e + q * m;
    search->a = program.y + q;
    search->move = search->a + m;
    search->b = search->move + m;
    program.bound = zeros(task->n_bounds + 2 * m, sizeof *program.bound);
    program.m = set_bounds(task, program.bound);
    program.more = is_quantile(task) && task->more ? add_cone : NULL;
    set_hessian(task, search->gram, program.h);
    set_start(task, program.h, program.x);
    for (size_t v = 0; v < m; v++) {
        program.c[v] = n_of(task->linear[v]);
        for (size_t e = 0; e < q; e++) {
            program.e[e * m + v] = n_of(task->e[e * MAX_VARIABLES + v]);
        }
    }
    if (m > 0) {
        wide_solve(&program);
    } else {
        watch(search, program.x, program.y);
    }
    free(program.bound);
    free(memory);
}

bool optimum_find(const struct trial *trial, struct optimum *optimum) {
    num zero = n_of(0);
    size_t count = task_count(trial);
    *optimum = (struct optimum){zero, zero, zero, kernel_known(trial)};
    for (size_t number = 0; number < count; number++) {
        struct task *task = task_create(trial, number);
        if (!task) {
            return false;
        }
        num *gram = exact_gram(task);
        struct search search = {task, gram, zero, n_of(INFINITY), 0, NULL, NULL, NULL};
        num bias[MAX_LABELS], *nothing = n_zeros(task->n * task->k);
        for (size_t c = 0; c < MAX_LABELS; c++) {
            bias[c] = zero;
        }
        struct scores none = scores_of_coefficients(task, gram, nothing);
        if (task->find_bias && trial->family == SMM) {
            find_bias(task, bias, &none, bias);
        }
        num of_zero = exact_primal(task, &none, bias, 1);
        if (optimum->known && !task->matrix) {
            solve(&search);
        }
        optimum->zero = n_add(optimum->zero, of_zero);
        optimum->lower = n_add(optimum->lower, search.lower);
        optimum->upper = n_add(optimum->upper, n_minimum(search.upper, of_zero));
        scores_free(&none);
        free(nothing);
        free(gram);
        task_free(task);
    }
    return true;
}

/* Adds the pairs' coefficients to those of the task's pairs (n_pairs); false where one is none of
 * these. */
static bool add_pairs(const struct task *task, const struct answer *answer, num *b) {
    bool all = true;
    for (size_t p = 0; p < answer->n_pairs; p++) {
        size_t u = answer->pair[p].u, v = answer->pair[p].v, q = 0;
        bool turned = false;
        for (; q < task->n_pairs; q++) {
            size_t better = task->pair[q].better, worse = task->pair[q].worse;
            turned = better == v && worse == u;
            if (turned || (better == u && worse == v)) {
                break;
            }
        }
        all = all && q < task->n_pairs;
        if (q < task->n_pairs) {
            b[q] = n_add(b[q], n_of(turned ? -answer->pair[p].value : answer->pair[p].value));
        }
    }
    return all;
}

bool optimum_has_model(const struct trial *trial, const struct answer *answer) {
    if (answer->n_pairs == 0) {
        return answer->complete;
    }
    struct task *task = task_create(trial, 0);
    num *b = n_zeros(task->n);
    bool has = add_pairs(task, answer, b);
    free(b);
    task_free(task);
    return has;
}

num optimum_of_model(const struct trial *trial, const struct answer *answer, int direction) {
    size_t count = task_count(trial), k = answer->outputs;
    num sum = n_of(0);
    for (size_t number = 0; number < count; number++) {
        struct task *task = task_create(trial, number);
        num *gram = exact_gram(task), bias[MAX_LABELS];
        num *value = n_zeros((size_t)MAX_FEATURES * MAX_LABELS + task->n);
        size_t rows = answer->weights ? trial->n_features : trial->n;
        for (size_t c = 0; c < MAX_LABELS; c++) {
            size_t from = count > 1 ? number : c;
            bias[c] = n_of(answer->bias[from]);
        }
        for (size_t i = 0; i < rows * k; i++) {
            if (count == 1) {
                value[i] = n_of(answer->value[i]);
            } else if (i % k == number) {
                value[i / k] = n_of(answer->value[i]);
            }
        }
        add_pairs(task, answer, value);
        struct scores v = answer->weights ? scores_of_weights(task, value, bias)
                                          : scores_of_model(task, gram, value, bias);
        sum = n_add(sum, exact_primal(task, &v, bias, direction));
        scores_free(&v);
        free(value);
        free(gram);
        task_free(task);
    }
    return sum;
}

/* ---- of a proof ---- */

/* smm with the nuclear norm: |W|^2 of the matrix of coefficients b, its singular values lowered. */
static num lowered_norm(const struct task *task, const num *b) {
    const struct trial *trial = task->trial;
    size_t r = trial->matrix_rows, c = trial->n_features / r;
    num w[MAX_FEATURES], value[MAX_FEATURES], sum = n_of(0);
    for (size_t j = 0; j < r * c; j++) {
        w[j] = n_of(0);
        for (size_t i = 0; i < task->n; i++) {
            w[j] = n_plus(w[j], b[i], n_of(trial->x[i][j]));
        }
    }
    exact_singular(w, r, c, value, NULL, NULL);
    for (size_t j = 0; j < (r < c ? r : c); j++) {
        num left = n_maximum(n_of(0), n_subtract(value[j], n_of(task->tau)));
        sum = n_plus(sum, left, left);
    }
    return sum;
}

/* D of the proof's point, made feasible; 0 where that is not known. */
static num dual_of_proof(const struct task *task, size_t number, const char *path) {
    num dual = n_of(0), *a = n_zeros(2 * task->m + task->n * task->k), *gram = exact_gram(task);
    struct search search = {.task = task, .gram = gram, .a = a};
    search.move = a + task->m;
    search.b = search.move + task->m;
    if (proof_point(task, number, path, a)) {
        num lost = repair(&search);
        struct scores v = scores_of_coefficients(task, gram, search.b);
        if (task->matrix) {
            v.norm = lowered_norm(task, search.b);
            v.norm_off = n_multiply(v.norm, n_of(0x1p-500L));
        }
        dual = is_balanced(task, a) ? dual_of(task, a, &v, lost) : dual;
        scores_free(&v);
    }
    free(a);
    free(gram);
    return n_maximum(n_of(0), dual);
}

num optimum_of_proof(const struct trial *trial, const char *path) {
    num sum = n_of(0);
    for (size_t number = 0; number < task_count(trial); number++) {
        struct task *task = task_create(trial, number);
        sum = task ? n_add(sum, dual_of_proof(task, number, path)) : sum;
        task_free(task);
    }
    return sum;
}
