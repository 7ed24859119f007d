#include "tests/optima/bracket.h"

#include "tests/optima/gram.h"

#include <stdlib.h>
#include <string.h>

/* ---- one point ---- */

/* Scores (n, k) with error bounds (n), and |f|^2 with its error bound. */
struct scores {
    num *s, *off;
    num norm, norm_off;
};

static struct scores scores_create(const struct task *task) {
    num *s = n_zeros(task->n * task->k + task->n);
    return (struct scores){s, s + task->n * task->k, n_of(0), n_of(0)};
}

/* Scores K b. */
static struct scores scores_of(const struct task *task, const num *b) {
    size_t n = task->n, k = task->k;
    struct scores v = scores_create(task);
    for (size_t e = 0; e < n * k; e++) {
        size_t i = e / k, c = e % k;
        num sum = n_of(0), off = n_of(0);
        for (size_t j = 0; j < n; j++) {
            num size = n_absolute(b[j * k + c]), term = n_absolute(task->gram[i * n + j]);
            sum = n_plus(sum, task->gram[i * n + j], b[j * k + c]);
            off = n_plus(off, n_plus(task->off[i * n + j], n_of(N_UNIT), term), size);
        }
        v.s[e] = sum;
        v.off[i] = n_maximum(v.off[i], off);
        v.norm = n_plus(v.norm, sum, b[e]);
        v.norm_off = n_plus(v.norm_off, off, n_absolute(b[e]));
    }
    return v;
}

/* Scores of a model. The constant feature contributes the bias that is written in the model, since
 * a model omits rows whose kernel values are 0. */
static struct scores scores_of_model(const struct task *task, const num *b, const num *bias) {
    struct scores v = scores_of(task, b);
    size_t n = task->n, k = task->k;
    num constant = n_of(trial_option(task->trial, BIAS)), square = n_multiply(constant, constant);
    for (size_t c = 0; n_positive(constant) && c < k; c++) {
        num part = n_of(0);
        for (size_t i = 0; i < n; i++) {
            part = n_plus(part, square, b[i * k + c]);
        }
        for (size_t i = 0; i < n; i++) {
            v.s[i * k + c] = n_add(v.s[i * k + c], n_subtract(bias[c], part));
        }
        num own = n_divide(bias[c], constant), gone = n_divide(part, constant);
        v.norm = n_plus(v.norm, n_subtract(own, gone), n_add(own, gone));
    }
    return v;
}

/* Scores of weights of features (n_features, k). With a constant feature the bias is its
 * contribution, and part of the norm. */
static struct scores scores_of_weights(const struct task *task, const num *w, const num *bias) {
    size_t n = task->n, k = task->k, d = task->trial->n_features;
    struct scores v = scores_create(task);
    num constant = n_of(trial_option(task->trial, BIAS));
    bool counts = n_positive(constant);
    for (size_t e = 0; e < n * k; e++) {
        size_t i = e / k, c = e % k;
        num sum = counts ? bias[c] : n_of(0), magnitude = n_absolute(sum);
        for (size_t j = 0; j < d; j++) {
            num term = n_multiply(w[j * k + c], n_of(task->trial->x[i][j]));
            sum = n_add(sum, term);
            magnitude = n_add(magnitude, n_absolute(term));
        }
        v.s[e] = sum;
        v.off[i] = n_maximum(v.off[i], n_multiply(n_of(N_UNIT), magnitude));
    }
    for (size_t j = 0; j < d * k && !task->matrix; j++) {
        v.norm = n_plus(v.norm, w[j], w[j]);
    }
    for (size_t c = 0; counts && c < k; c++) {
        num part = n_divide(bias[c], constant);
        v.norm = n_plus(v.norm, part, part);
    }
    v.norm = task->matrix ? n_multiply(n_of(2), smm_norms(task, w)) : v.norm;
    v.norm_off = n_multiply(n_of(N_ROUNDING), v.norm);
    return v;
}

/* The primal; off (n): errors of the scores. */
static num primal_of(const struct task *task, const struct scores *v, const num *off,
                     const num *bias, int direction) {
    num moved[MAX_VARIABLES], sign = n_of(direction);
    for (size_t i = 0; i < task->n; i++) {
        moved[i] = n_multiply(sign, off[i]);
    }
    num norm = n_maximum(n_of(0), n_plus(v->norm, sign, v->norm_off));
    num value = n_plus(task->loss(task, v->s, moved, bias), n_of(0.5L), norm);
    return n_plus(value, n_of(direction * N_ROUNDING), value);
}

/* ---- a dual point ---- */

/* The context of the interior-point method; the task comes first (task.h, `more`). */
struct search {
    const struct task *task;
    num lower, upper, priced;
    int idle;          /* iterates without progress */
    num *a, *b, *move; /* (m), (n k), (m) */
};

static struct search search_open(const struct task *task) {
    num *a = n_zeros(2 * task->m + task->n * task->k);
    return (struct search){.task = task,
                           .lower = n_of(0),
                           .upper = n_of(INFINITY),
                           .priced = n_of(INFINITY),
                           .a = a,
                           .move = a + task->m,
                           .b = a + 2 * task->m};
}

static num equation(const struct task *task, size_t e, size_t v) {
    return n_of(task->e[e * MAX_VARIABLES + v]);
}

static void clip(const struct task *task, num *a) {
    for (size_t v = 0; v < task->m; v++) {
        a[v] = n_minimum(n_maximum(a[v], n_of(0)), n_of(task->most[v]));
    }
}

/* Projects a onto the equations, with distances relative to the distance of entries from their
 * bounds. */
static void balance(const struct search *search, num *a) {
    const struct task *task = search->task;
    size_t q = task->equal, m = task->m;
    num schur[MAX_LABELS * MAX_LABELS], residual[MAX_LABELS];
    for (size_t v = 0; v < m; v++) {
        num room = n_minimum(a[v], n_subtract(n_of(task->most[v]), a[v]));
        search->move[v] = n_multiply(room, room);
    }
    for (size_t e = 0; e < q; e++) {
        residual[e] = n_of(0);
        for (size_t v = 0; v < m; v++) {
            residual[e] = n_plus(residual[e], equation(task, e, v), a[v]);
        }
        for (size_t f = 0; f < q; f++) {
            schur[e * q + f] = n_of(0);
            for (size_t v = 0; v < m; v++) {
                num product = n_multiply(equation(task, e, v), equation(task, f, v));
                schur[e * q + f] = n_plus(schur[e * q + f], search->move[v], product);
            }
        }
    }
    factor(schur, q);
    solve_factored(schur, q, residual);
    for (size_t v = 0; v < m; v++) {
        for (size_t e = 0; e < q; e++) {
            num part = n_multiply(equation(task, e, v), residual[e]);
            a[v] = n_minus(a[v], search->move[v], part);
        }
    }
}

/* The penalty of the residuals of the equations: their absolute values times the multipliers y
 * (NULL: unknown, 0). */
static num imbalance(const struct task *task, const num *a, const num *y) {
    num sum = n_of(0);
    for (size_t e = 0; e < task->equal; e++) {
        num left = n_of(0), magnitude = left, one = n_of(1);
        for (size_t v = 0; v < task->m; v++) {
            num term = n_multiply(equation(task, e, v), a[v]);
            left = n_add(left, term);
            magnitude = n_add(magnitude, n_absolute(term));
        }
        left = n_absolute(left);
        if (n_compare(left, n_multiply(n_of(N_BALANCED), magnitude)) > 0) {
            return n_of(INFINITY);
        }
        num gain = y ? n_plus(one, n_of(2), n_absolute(y[e])) : one;
        sum = n_plus(sum, n_plus(left, n_of(N_UNIT), magnitude), gain);
    }
    return sum;
}

/* Makes the point a feasible if possible, and b its coefficients. Returns the terms of the dual
 * besides linear and squared ones. */
static num repair(const struct search *search, const num *y) {
    const struct task *task = search->task;
    num *a = search->a, *b = search->b;
    clip(task, a);
    for (int round = 0; task->equal > 0 && round < 3; round++) {
        balance(search, a);
        clip(task, a);
    }
    num lost = imbalance(task, a, y);
    lost = task->finish ? n_add(lost, task->finish(task, a)) : lost;
    for (size_t i = 0; i < task->n * task->k; i++) {
        b[i] = n_of(0);
        for (size_t v = 0; v < task->m; v++) {
            real entry = task->basis[i * MAX_VARIABLES + v];
            b[i] = entry != 0 ? n_plus(b[i], n_of(entry), a[v]) : b[i];
        }
    }
    return lost;
}

/* The factor by which errors exceed the rounding of the values: distances from norms, as blocks of
 * kernels compute them, and tanh of small sums, are less accurate. */
static real error_factor(const struct trial *trial) {
    real gamma = trial_option(trial, GAMMA), most = 0;
    bool absolute = trial_is(trial, KERNEL, LAPLACIAN) || trial_is(trial, KERNEL, RATIONAL);
    for (size_t i = 0; i < trial->n; i++) {
        real norm = 0;
        for (size_t j = 0; j < trial->n_features; j++) {
            real x = fabsl((real)trial->x[i][j]);
            norm += absolute ? x : x * x;
        }
        most = fmaxl(most, norm);
    }
    bool distance = absolute || trial_is(trial, KERNEL, RBF);
    return distance || trial_is(trial, KERNEL, SIGMOID) ? 1 + 2 * gamma * most : 1;
}

/* Replaces the error bounds by the a priori bounds of double: of an entry of the matrix, from the
 * magnitudes of its terms, and sqrt(K_ii K_jj) or more. */
static void use_bounds_of_double(const struct task *task, const num *b, struct scores *v) {
    const real rough = task->trial->family == SMM ? 1 : error_factor(task->trial);
    const num own = n_of(4096 * DBL_EPSILON * rough), wider = n_of(16 * DBL_EPSILON / N_EPSILON);
    size_t n = task->n, k = task->k;
    num least = n_of(trial_is(task->trial, KERNEL, SIGMOID));
    v->norm_off = n_multiply(own, v->norm);
    for (size_t i = 0; i < n; i++) {
        num size = n_root(n_multiply(v->norm, n_absolute(task->gram[i * n + i])));
        v->off[i] = n_multiply(own, task->matrix ? size : n_of(1));
        for (size_t c = 0; c < k && !task->matrix; c++) {
            num sum = n_of(0);
            for (size_t j = 0; j < n; j++) {
                size = n_multiply(task->gram[i * n + i], task->gram[j * n + j]);
                size = n_multiply(own, n_maximum(least, n_root(n_absolute(size))));
                size = n_plus(size, wider, task->off[i * n + j]);
                sum = n_plus(sum, size, n_absolute(b[j * k + c]));
            }
            v->off[i] = n_add(v->off[i], sum);
            v->norm_off = n_plus(v->norm_off, sum, n_absolute(b[i * k + c]));
        }
    }
}

static num dual_of(const struct task *task, const num *a, const struct scores *v, num lost) {
    num linear = n_negative(lost), magnitude = lost, squares = n_of(0), best = n_of(1);
    for (size_t i = 0; i < task->m; i++) {
        num term = n_multiply(n_of(task->linear[i]), a[i]);
        linear = n_add(linear, term);
        magnitude = n_add(magnitude, n_absolute(term));
        squares = n_plus(squares, n_of(task->square[i]), n_multiply(a[i], a[i]));
    }
    squares = n_add(squares, n_maximum(n_of(0), n_add(v->norm, v->norm_off)));
    if (n_positive(squares) && !task->matrix) {
        best = n_maximum(n_of(0), n_minimum(best, n_divide(linear, squares)));
    }
    num half = n_multiply(n_multiply(best, n_of(0.5L)), n_multiply(best, squares));
    num value = n_subtract(n_multiply(best, linear), half);
    return n_minus(value, n_of(N_ROUNDING), n_add(magnitude, squares));
}

/* Replaces |f|^2 by the dual norm of smm with the nuclear norm. */
static void use_dual_norm(const struct task *task, const num *a, struct scores *v) {
    num w[MAX_FEATURES];
    smm_lowered(task, a, w);
    v->norm = n_of(0);
    for (size_t j = 0; j < task->trial->n_features; j++) {
        v->norm = n_plus(v->norm, w[j], w[j]);
    }
    v->norm_off = n_multiply(n_of(N_ROUNDING), v->norm);
}

static bool watch(void *context, const num *x, const num *y) {
    struct search *search = context;
    const struct task *task = search->task;
    num *a = search->a, bias[MAX_LABELS], w[MAX_FEATURES];
    num lower = search->lower, upper = search->upper;
    for (size_t c = 0; c < MAX_LABELS; c++) {
        bias[c] = n_of(0);
    }
    memcpy(a, x, task->m * sizeof *a);
    num lost = repair(search, y);
    if (task->matrix) {
        smm_lowered(task, a, w);
    }
    struct scores v = task->matrix ? scores_of_weights(task, w, bias) : scores_of(task, search->b);
    if (task->find_bias) {
        task->find_bias(task, y, v.s, v.off, bias);
    }
    num primal = primal_of(task, &v, v.off, bias, 1), norm = v.norm;
    search->upper = n_compare(primal, upper) < 0 ? primal : upper;
    if (task->matrix) {
        use_dual_norm(task, a, &v);
    }
    search->lower = n_maximum(lower, dual_of(task, a, &v, lost));
    if (!N_WIDE) {
        use_bounds_of_double(task, search->b, &v);
        num dual = dual_of(task, a, &v, lost);
        v.norm = norm;
        num gap = n_subtract(primal_of(task, &v, v.off, bias, 1), dual);
        gap = n_plus(gap, n_of(4096 * DBL_EPSILON), search->upper);
        search->priced = n_minimum(search->priced, gap);
    }
    free(v.s);
    bool better = n_compare(search->lower, lower) > 0 || n_compare(search->upper, upper) < 0;
    search->idle = better ? 0 : search->idle + 1;
    num apart = n_subtract(search->upper, search->lower);
    return search->idle > 15 || n_compare(apart, n_multiply(n_of(N_ENOUGH), search->upper)) < 0;
}

num bracket_of_point(const struct task *task, const num *a) {
    struct search search = search_open(task);
    memcpy(search.a, a, task->m * sizeof *a);
    num lost = repair(&search, NULL);
    struct scores v = scores_of(task, search.b);
    if (task->matrix) {
        use_dual_norm(task, search.a, &v);
    }
    num dual = n_finite(lost) ? dual_of(task, search.a, &v, lost) : n_of(0);
    free(v.s);
    free(search.a);
    return n_maximum(n_of(0), dual);
}

/* ---- the search ---- */

static void set_start(const struct task *task, const num *h, num *x) {
    for (size_t v = 0; v < task->m; v++) {
        num curve = h[v * task->m + v];
        x[v] = task->start[v] > 0        ? n_of(task->start[v])
               : isfinite(task->most[v]) ? n_of(task->most[v] / 2)
               : n_positive(curve)       ? n_divide(n_of(1), curve)
                                         : n_of(1);
    }
}

/* h = basis'(K x I) basis + squares, the Hessian of the dual. */
static void set_hessian(const struct task *task, num *h) {
    size_t m = task->m, n = task->n, k = task->k;
    num *image = n_zeros(n * k * m);
    for (size_t i = 0; i < n * k && !task->matrix; i++) {
        for (size_t j = 0; j < n; j++) {
            const real *from = task->basis + (j * k + i % k) * MAX_VARIABLES;
            for (size_t v = 0; v < m; v++) {
                num *to = &image[i * m + v];
                *to = from[v] != 0 ? n_plus(*to, task->gram[i / k * n + j], n_of(from[v])) : *to;
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

/* Sets the bounds of the family and of single variables. Returns their number. */
static size_t set_bounds(const struct task *task, struct bound *bound) {
    size_t m = task->n_bounds;
    memcpy(bound, task->bound, m * sizeof *bound);
    for (size_t v = 0; v < task->m; v++) {
        bound[m++] = (struct bound){.terms = 1, .at = {v}, .factor = {-1}, .most = 0};
        if (isfinite(task->most[v])) {
            bound[m++] =
                (struct bound){.terms = 1, .at = {v}, .factor = {1}, .most = task->most[v]};
        }
    }
    return m;
}

static void solve(struct search *search) {
    const struct task *task = search->task;
    size_t m = task->m, q = task->equal;
    num *memory = n_zeros(m * m + 2 * m + q * m + q);
    struct program program = {
        .n = m, .equal = q, .more = task->more, .watch = watch, .context = search};
    program.h = memory;
    program.c = program.h + m * m;
    program.x = program.c + m;
    program.e = program.x + m;
    program.y = program.e + q * m;
    program.bound = zeros(task->n_bounds + 2 * m, sizeof *program.bound);
    program.m = set_bounds(task, program.bound);
    set_hessian(task, program.h);
    set_start(task, program.h, program.x);
    for (size_t v = 0; v < m; v++) {
        program.c[v] = n_of(task->linear[v]);
        for (size_t e = 0; e < q; e++) {
            program.e[e * m + v] = equation(task, e, v);
        }
    }
    if (m > 0) {
        interior_solve(&program);
    } else {
        watch(search, program.x, program.y);
    }
    free(program.bound);
    free(memory);
}

/* Shifts the diagonal of a matrix that is positive semidefinite up to rounding, each entry by the
 * same fraction of itself, as its rounding is: a common shift would be a large change of small
 * entries. Zero rows are not shifted, because their coefficients may be as large as the cost. */
static bool make_definite(struct task *task) {
    size_t n = task->n;
    if (N_WIDE || kernel_known(task->trial)) {
        return kernel_known(task->trial);
    }
    num *scaled = n_zeros(n * n);
    for (size_t i = 0; i < n * n; i++) {
        num own = task->gram[i / n * (n + 1)], other = task->gram[i % n * (n + 1)];
        num size = n_root(n_absolute(n_multiply(own, other)));
        scaled[i] = n_positive(size) ? n_divide(task->gram[i], size) : task->gram[i];
    }
    num least = least_eigenvalue(scaled, n);
    free(scaled);
    if (n_compare(least, n_multiply(n_of(-N_ROUNDING), n_of(n))) < 0) {
        return false;
    }
    for (size_t i = 0; i < n && n_positive(n_negative(least)); i++) {
        num *entry = &task->gram[i * (n + 1)];
        *entry = n_minus(*entry, least, *entry);
    }
    return true;
}

bool bracket_find(const struct trial *trial, struct bracket *bracket) {
    num zero = n_of(0);
    *bracket = (struct bracket){zero, zero, zero, zero, true};
    for (size_t number = 0; number < task_count(trial); number++) {
        struct task *task = task_create(trial, number);
        if (!task) {
            return false;
        }
        struct search search = search_open(task);
        bracket->known = bracket->known && make_definite(task);
        if (bracket->known) {
            solve(&search);
        }
        num *none = n_zeros(task->n * task->k + task->k);
        struct scores v = scores_of(task, none + task->k);
        num nothing = primal_of(task, &v, v.off, none, 1);
        bracket->nothing = n_add(bracket->nothing, nothing);
        bracket->lower = n_add(bracket->lower, search.lower);
        bracket->upper = n_add(bracket->upper, n_minimum(search.upper, nothing));
        bracket->priced = n_add(bracket->priced, search.priced);
        free(v.s);
        free(none);
        free(search.a);
        task_free(task);
    }
    return true;
}

/* ---- models ---- */

/* Adds the coefficients of the model's pairs to those of the task's pairs (n_pairs). False if one
 * is not among these. */
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

bool bracket_has_model(const struct trial *trial, const struct answer *answer) {
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

num bracket_of_model(const struct trial *trial, const struct answer *answer, int direction) {
    size_t count = task_count(trial), k = answer->outputs;
    size_t rows = answer->weights ? trial->n_features : trial->n;
    num sum = n_of(0);
    for (size_t number = 0; number < count; number++) {
        struct task *task = task_create(trial, number);
        num bias[MAX_LABELS], *value = n_zeros((size_t)MAX_FEATURES * MAX_LABELS + task->n);
        for (size_t c = 0; c < MAX_LABELS; c++) {
            bias[c] = n_of(answer->bias[count > 1 ? number : c]);
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
                                          : scores_of_model(task, value, bias);
        sum = n_add(sum, primal_of(task, &v, v.off, bias, direction));
        free(v.s);
        free(value);
        task_free(task);
    }
    return sum;
}
