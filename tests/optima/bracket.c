#include "tests/optima/bracket.h"

#include "tests/optima/gram.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sum of so many terms, generously, in long double; costs are doubles, products of doubles. */
static const real ROUNDING = 4096 * LDBL_EPSILON;

/* ---- one point ---- */

/* s = K b and its errors, and b'K b with the sum of its magnitudes. */
struct scores {
    real *s, *off; /* (n, k), (n) */
    real norm, norm_off;
};

static struct scores scores_of(const struct task *task, const real *b) {
    size_t n = task->n, k = task->k;
    struct scores v = {.s = zeros(n * k + n, sizeof(real))};
    v.off = v.s + n * k;
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < k; c++) {
            real sum = 0, off = 0;
            for (size_t j = 0; j < n; j++) {
                real term = task->gram[i * n + j] * b[j * k + c];
                sum += term;
                off += task->off[i * n + j] * fabsl(b[j * k + c]) + ROUNDING / 64 * fabsl(term);
            }
            v.s[i * k + c] = sum;
            v.off[i] = fmaxl(v.off[i], off);
            v.norm += sum * b[i * k + c];
            v.norm_off += off * fabsl(b[i * k + c]);
        }
    }
    return v;
}

/* The same of a model: what it adds to the scores for the constant feature is what is written. */
static struct scores scores_of_model(const struct task *task, const real *b, const real *bias) {
    struct scores v = scores_of(task, b);
    size_t n = task->n, k = task->k;
    real constant = trial_option(task->trial, BIAS);
    for (size_t c = 0; constant > 0 && c < k; c++) {
        real part = 0;
        for (size_t i = 0; i < n; i++) {
            part += constant * constant * b[i * k + c];
        }
        for (size_t i = 0; i < n; i++) {
            v.s[i * k + c] += bias[c] - part;
        }
    }
    return v;
}

/* The same of weights of features (n_features, k). With a constant feature the bias is its part,
 * and counts. */
static struct scores scores_of_weights(const struct task *task, const real *w, const real *bias) {
    size_t n = task->n, k = task->k, d = task->trial->n_features;
    struct scores v = {.s = zeros(n * k + n, sizeof(real))};
    real constant = trial_option(task->trial, BIAS);
    v.off = v.s + n * k;
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < k; c++) {
            real magnitude = constant > 0 ? fabsl(bias[c]) : 0;
            v.s[i * k + c] = constant > 0 ? bias[c] : 0;
            for (size_t j = 0; j < d; j++) {
                real term = w[j * k + c] * (real)task->trial->x[i][j];
                v.s[i * k + c] += term;
                magnitude += fabsl(term);
            }
            v.off[i] = fmaxl(v.off[i], ROUNDING / 64 * magnitude);
        }
    }
    if (task->matrix) {
        v.norm = 2 * smm_norms(task, w);
    } else {
        for (size_t j = 0; j < d * k; j++) {
            v.norm += w[j] * w[j];
        }
        for (size_t c = 0; constant > 0 && c < k; c++) {
            v.norm += bias[c] / constant * (bias[c] / constant);
        }
    }
    v.norm_off = ROUNDING * v.norm;
    return v;
}

/* off (n): errors of the scores. */
static real primal_of(const struct task *task, const struct scores *v, const real *off,
                      const real *bias, int direction) {
    real moved[MAX_VARIABLES];
    for (size_t i = 0; i < task->n; i++) {
        moved[i] = direction * off[i];
    }
    real loss = task->loss(task, v->s, moved, bias);
    real norm = fmaxl(0, v->norm + direction * v->norm_off);
    return (norm / 2 + loss) * (1 + direction * ROUNDING);
}

real bracket_primal(const struct task *task, const real *b, const real *w, const real *bias,
                    int direction) {
    struct scores v = w ? scores_of_weights(task, w, bias) : scores_of_model(task, b, bias);
    real value = primal_of(task, &v, v.off, bias, direction);
    free(v.s);
    return value;
}

/* ---- a dual point ---- */

/* What the interior point's watch has; the task comes first (task.h, `more`). */
struct search {
    const struct task *task;
    real lower, upper, priced;
    int idle;           /* iterates that brought nothing */
    real *a, *b, *move; /* (m), (n k), (m) */
};

static void clip(const struct task *task, real *a) {
    for (size_t v = 0; v < task->m; v++) {
        a[v] = fminl(fmaxl(a[v], 0), task->most[v]);
    }
}

/* The nearest point that meets the equations, distances measured by the room that entries have. */
static void balance(const struct search *search, real *a) {
    const struct task *task = search->task;
    size_t q = task->equal, m = task->m;
    real schur[MAX_LABELS * MAX_LABELS], residual[MAX_LABELS];
    for (size_t v = 0; v < m; v++) {
        real room = fminl(a[v], task->most[v] - a[v]);
        search->move[v] = room * room;
    }
    for (size_t e = 0; e < q; e++) {
        residual[e] = 0;
        for (size_t v = 0; v < m; v++) {
            residual[e] += task->e[e * MAX_VARIABLES + v] * a[v];
        }
        for (size_t f = 0; f < q; f++) {
            schur[e * q + f] = 0;
            for (size_t v = 0; v < m; v++) {
                schur[e * q + f] += task->e[e * MAX_VARIABLES + v] * search->move[v] *
                                    task->e[f * MAX_VARIABLES + v];
            }
        }
    }
    factor(schur, q);
    solve_factored(schur, q, residual);
    for (size_t v = 0; v < m; v++) {
        for (size_t e = 0; e < q; e++) {
            a[v] -= search->move[v] * task->e[e * MAX_VARIABLES + v] * residual[e];
        }
    }
}

/* What the sums that should be 0 are, times how much the dual may gain by that: the multipliers. */
static real imbalance(const struct task *task, const real *a, const real *y) {
    real sum = 0;
    for (size_t e = 0; e < task->equal; e++) {
        real left = 0, magnitude = 0;
        for (size_t v = 0; v < task->m; v++) {
            left += task->e[e * MAX_VARIABLES + v] * a[v];
            magnitude += fabsl(task->e[e * MAX_VARIABLES + v] * a[v]);
        }
        if (fabsl(left) > 1e-12L * magnitude) {
            return INFINITY;
        }
        sum += (fabsl(left) + ROUNDING / 64 * magnitude) * (1 + 2 * fabsl(y[e]));
    }
    return sum;
}

/* Distances by norms, as blocks of kernels have them, and tanh of small sums, are known less well
 * than their values say: how much. */
static real roughness(const struct trial *trial) {
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

/* In place of the errors here, those that double would have to pay for by bounds a priori: of an
 * entry of the matrix, its parts' magnitudes, and sqrt(K_ii K_jj) or more. off (n): of scores. */
static void price(const struct task *task, const real *b, struct scores *v, real *off) {
    const real rough = task->trial->family == SMM ? 1 : roughness(task->trial);
    const real own = 4096 * DBL_EPSILON * rough, wider = 16 * DBL_EPSILON / LDBL_EPSILON;
    size_t n = task->n, k = task->k;
    bool small = trial_is(task->trial, KERNEL, SIGMOID);
    v->norm_off = own * v->norm;
    for (size_t i = 0; i < n; i++) {
        off[i] = own * (task->matrix ? sqrtl(v->norm * task->gram[i * n + i]) : 1);
        for (size_t c = 0; c < k && !task->matrix; c++) {
            real sum = 0;
            for (size_t j = 0; j < n; j++) {
                real size = sqrtl(fabsl(task->gram[i * n + i] * task->gram[j * n + j]));
                size = own * (small ? fmaxl(1, size) : size) + wider * task->off[i * n + j];
                sum += size * fabsl(b[j * k + c]);
            }
            off[i] += sum;
            v->norm_off += sum * fabsl(b[i * k + c]);
        }
    }
}

static real dual_of(const struct task *task, const real *a, const struct scores *v, real loss) {
    real linear = -loss, magnitude = loss, squares = 0;
    for (size_t i = 0; i < task->m; i++) {
        linear += task->linear[i] * a[i];
        magnitude += fabsl(task->linear[i] * a[i]);
        squares += task->square[i] * a[i] * a[i];
    }
    real quadratic = squares + fmaxl(0, v->norm + v->norm_off);
    real best = quadratic > 0 && !task->matrix ? fmaxl(0, fminl(1, linear / quadratic)) : 1;
    return best * linear - best * best * quadratic / 2 - ROUNDING * (magnitude + quadratic);
}

/* The dual norm of smm with the nuclear norm, in place of the coefficients'. */
static void take_lowered(const struct task *task, const real *w, struct scores *v) {
    real squares = 0;
    for (size_t j = 0; j < task->trial->n_features; j++) {
        squares += w[j] * w[j];
    }
    v->norm = squares;
    v->norm_off = ROUNDING * squares;
}

static bool watch(void *context, const real *x, const real *y) {
    struct search *search = context;
    const struct task *task = search->task;
    real *a = search->a, *b = search->b, bias[MAX_LABELS] = {0}, w[MAX_FEATURES];
    real lower = search->lower, upper = search->upper;
    memcpy(a, x, task->m * sizeof *a);
    clip(task, a);
    for (int round = 0; task->equal > 0 && round < 3; round++) {
        balance(search, a);
        clip(task, a);
    }
    real lost = task->equal > 0 ? imbalance(task, a, y) : 0;
    lost += task->finish ? task->finish(task, a) : 0;
    for (size_t i = 0; i < task->n * task->k; i++) {
        b[i] = 0;
        for (size_t v = 0; v < task->m; v++) {
            b[i] += task->basis[i * MAX_VARIABLES + v] * a[v];
        }
    }
    if (task->matrix) {
        smm_lowered(task, a, w);
    }
    struct scores v = task->matrix ? scores_of_weights(task, w, bias) : scores_of(task, b);
    real *off = zeros(task->n, sizeof *off), norms[2] = {v.norm, v.norm};
    if (task->find_bias) {
        task->find_bias(task, y, v.s, v.off, bias);
    }
    search->upper = fminl(search->upper, primal_of(task, &v, v.off, bias, 1));
    if (task->matrix) {
        take_lowered(task, w, &v);
        norms[1] = v.norm;
    }
    search->lower = fmaxl(search->lower, dual_of(task, a, &v, lost));
    price(task, b, &v, off);
    real gap = -dual_of(task, a, &v, lost);
    v.norm = norms[0];
    gap += primal_of(task, &v, off, bias, 1);
    search->priced = fminl(search->priced, gap + 4096 * DBL_EPSILON * search->upper);
    free(off);
    free(v.s);
    search->idle = search->lower > lower || search->upper < upper ? 0 : search->idle + 1;
    return search->idle > 15 || search->upper - search->lower < 1e-14L * search->upper;
}

/* ---- the search ---- */

static void set_start(const struct task *task, const real *h, real *x) {
    for (size_t v = 0; v < task->m; v++) {
        x[v] = task->start[v] > 0        ? task->start[v]
               : isfinite(task->most[v]) ? task->most[v] / 2
               : h[v * task->m + v] > 0  ? 1 / h[v * task->m + v]
                                         : 1;
    }
}

/* h = basis'(K x I) basis + squares. */
static void set_hessian(const struct task *task, real *h) {
    size_t m = task->m, n = task->n, k = task->k;
    real *image = zeros(n * k * m, sizeof *image);
    for (size_t i = 0; i < n && !task->matrix; i++) {
        for (size_t j = 0; j < n; j++) {
            for (size_t c = 0; c < k; c++) {
                const real *from = task->basis + (j * k + c) * MAX_VARIABLES;
                for (size_t v = 0; v < m; v++) {
                    image[(i * k + c) * m + v] += task->gram[i * n + j] * from[v];
                }
            }
        }
    }
    for (size_t i = 0; i < n * k; i++) {
        for (size_t u = 0; u < m; u++) {
            real entry = task->basis[i * MAX_VARIABLES + u];
            for (size_t v = 0; entry != 0 && v < m; v++) {
                h[u * m + v] += entry * image[i * m + v];
            }
        }
    }
    for (size_t v = 0; v < m; v++) {
        h[v * m + v] += task->square[v];
    }
    free(image);
}

/* Those of the family, and of single variables. */
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

static void solve(const struct task *task, struct bracket *bracket) {
    size_t m = task->m, q = task->equal;
    real *memory = zeros(m * m + 5 * m + q * m + q + task->n * task->k, sizeof *memory);
    struct search search = {.task = task, .upper = INFINITY, .priced = INFINITY};
    struct program program = {
        .n = m, .equal = q, .more = task->more, .watch = watch, .context = &search};
    program.h = memory;
    program.c = program.h + m * m;
    program.x = program.c + m;
    program.e = program.x + m;
    program.y = program.e + q * m;
    search.a = program.y + q;
    search.move = search.a + m;
    search.b = search.move + m;
    program.bound = zeros(task->n_bounds + 2 * m, sizeof *program.bound);
    program.m = set_bounds(task, program.bound);
    set_hessian(task, program.h);
    set_start(task, program.h, program.x);
    memcpy(program.c, task->linear, m * sizeof *program.c);
    for (size_t e = 0; e < q; e++) {
        memcpy(program.e + e * m, task->e + e * MAX_VARIABLES, m * sizeof *program.e);
    }
    if (m > 0) {
        interior_solve(&program);
    } else {
        watch(&search, program.x, program.y);
    }
    bracket->lower += search.lower;
    bracket->upper += search.upper;
    bracket->priced += search.priced;
    free(program.bound);
    free(memory);
}

/* A matrix that is positive semidefinite but for the rounding here is made so. A row that is 0 has
 * no part in that, and stays: its coefficients may be as large as the cost. */
static bool make_definite(struct task *task) {
    size_t n = task->n;
    real trace = 0;
    if (kernel_known(task->trial)) {
        return true;
    }
    for (size_t i = 0; i < n; i++) {
        trace += fabsl(task->gram[i * n + i]);
    }
    real least = least_eigenvalue(task->gram, n);
    if (least < -ROUNDING * trace) {
        return false;
    }
    for (size_t i = 0; i < n && least < 0; i++) {
        task->gram[i * n + i] -= task->gram[i * n + i] != 0 ? least : 0;
    }
    return true;
}

bool bracket_find(const struct trial *trial, struct bracket *bracket) {
    *bracket = (struct bracket){.known = true};
    size_t count = task_count(trial);
    for (size_t number = 0; number < count; number++) {
        struct task *task = task_create(trial, number);
        if (!task) {
            return false;
        }
        bracket->known = bracket->known && make_definite(task);
        if (bracket->known) {
            solve(task, bracket);
        }
        real *zero = zeros(task->n * task->k + task->k, sizeof *zero);
        bracket->nothing += bracket_primal(task, zero + task->k, NULL, zero, 1);
        free(zero);
        task_free(task);
    }
    return true;
}
