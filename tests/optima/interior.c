/* Mehrotra's predictor-corrector method with dense matrices. */
#include "tests/optima/interior.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 200 };

void *zeros(size_t count, size_t size) {
    void *made = calloc(count ? count : 1, size);
    if (!made) {
        fputs("no memory\n", stderr);
        exit(1);
    }
    return made;
}

void factor(num *a, size_t n) {
    for (size_t j = 0; j < n; j++) {
        num pivot = a[j * n + j], least = n_multiply(n_absolute(pivot), n_of(N_LOST));
        for (size_t k = 0; k < j; k++) {
            pivot = n_minus(pivot, a[j * n + k], a[j * n + k]);
        }
        bool lost = n_compare(pivot, least) <= 0 || !n_finite(pivot);
        a[j * n + j] = lost ? n_of(INFINITY) : n_root(pivot);
        for (size_t i = j + 1; i < n; i++) {
            num sum = a[i * n + j];
            for (size_t k = 0; k < j; k++) {
                sum = n_minus(sum, a[i * n + k], a[j * n + k]);
            }
            a[i * n + j] = lost ? n_of(0) : n_divide(sum, a[j * n + j]);
        }
    }
}

void solve_factored(const num *l, size_t n, num *x) {
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            x[i] = n_minus(x[i], l[i * n + k], x[k]);
        }
        x[i] = n_divide(x[i], l[i * n + i]);
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) {
            x[i] = n_minus(x[i], l[k * n + i], x[k]);
        }
        x[i] = n_divide(x[i], l[i * n + i]);
    }
}

/* The iterate: slacks s of the bounds, their multipliers z, and the steps of all variables. */
struct state {
    num *s, *z, *ds, *dz, *target; /* (m); target: intended values of s z */
    num *gradient;                 /* (n) of the objective */
    num *residual;                 /* (n) residual of stationarity: gradient + G'z + E'y */
    num *matrix;                   /* (n, n) H + G'(z/s)G, then its factor */
    num *dx;                       /* (n) */
    num *image, *schur, *dy;       /* (equal, n) matrix^-1 E', (equal, equal), (equal) */
};

static num of_bound(const struct bound *bound, const num *x) {
    num sum = n_of(0);
    for (size_t t = 0; t < bound->terms; t++) {
        sum = n_plus(sum, n_of(bound->factor[t]), x[bound->at[t]]);
    }
    return sum;
}

static void add_bound(const struct bound *bound, num times, num *x) {
    for (size_t t = 0; t < bound->terms; t++) {
        x[bound->at[t]] = n_plus(x[bound->at[t]], times, n_of(bound->factor[t]));
    }
}

static void differentiate(const struct program *p, struct state *v) {
    memcpy(v->matrix, p->h, p->n * p->n * sizeof *v->matrix);
    for (size_t i = 0; i < p->n; i++) {
        v->gradient[i] = n_negative(p->c[i]);
        for (size_t j = 0; j < p->n; j++) {
            v->gradient[i] = n_plus(v->gradient[i], p->h[i * p->n + j], p->x[j]);
        }
    }
    if (p->more) {
        p->more(p->context, p->x, v->gradient, v->matrix);
    }
}

/* Computes the Newton matrix and its factor, and the residual of stationarity. */
static void prepare(const struct program *p, struct state *v) {
    memcpy(v->residual, v->gradient, p->n * sizeof *v->residual);
    for (size_t b = 0; b < p->m; b++) {
        const struct bound *bound = &p->bound[b];
        num ratio = n_divide(v->z[b], v->s[b]);
        for (size_t t = 0; t < bound->terms; t++) {
            for (size_t u = 0; u < bound->terms; u++) {
                num *entry = &v->matrix[bound->at[t] * p->n + bound->at[u]];
                num product = n_multiply(n_of(bound->factor[t]), n_of(bound->factor[u]));
                *entry = n_plus(*entry, ratio, product);
            }
        }
        add_bound(bound, v->z[b], v->residual);
    }
    factor(v->matrix, p->n);
    for (size_t e = 0; e < p->equal; e++) {
        num *image = v->image + e * p->n;
        memcpy(image, p->e + e * p->n, p->n * sizeof *image);
        solve_factored(v->matrix, p->n, image);
        for (size_t i = 0; i < p->n; i++) {
            v->residual[i] = n_plus(v->residual[i], p->e[e * p->n + i], p->y[e]);
        }
    }
    for (size_t e = 0; e < p->equal; e++) {
        for (size_t f = 0; f < p->equal; f++) {
            num sum = n_of(0);
            for (size_t i = 0; i < p->n; i++) {
                sum = n_plus(sum, p->e[e * p->n + i], v->image[f * p->n + i]);
            }
            v->schur[e * p->equal + f] = sum;
        }
    }
    factor(v->schur, p->equal);
}

/* The Newton step towards s z = target. */
static void newton(const struct program *p, struct state *v) {
    for (size_t i = 0; i < p->n; i++) {
        v->dx[i] = n_negative(v->residual[i]);
    }
    for (size_t b = 0; b < p->m; b++) {
        num part = n_subtract(v->z[b], n_divide(v->target[b], v->s[b]));
        add_bound(&p->bound[b], part, v->dx);
    }
    solve_factored(v->matrix, p->n, v->dx);
    for (size_t e = 0; e < p->equal; e++) {
        v->dy[e] = n_of(0);
        for (size_t i = 0; i < p->n; i++) {
            v->dy[e] = n_plus(v->dy[e], p->e[e * p->n + i], n_add(p->x[i], v->dx[i]));
        }
    }
    solve_factored(v->schur, p->equal, v->dy);
    for (size_t e = 0; e < p->equal; e++) {
        for (size_t i = 0; i < p->n; i++) {
            v->dx[i] = n_minus(v->dx[i], v->image[e * p->n + i], v->dy[e]);
        }
    }
    for (size_t b = 0; b < p->m; b++) {
        v->ds[b] = n_negative(of_bound(&p->bound[b], v->dx));
        num part = n_minus(v->target[b], v->z[b], v->ds[b]);
        v->dz[b] = n_subtract(n_divide(part, v->s[b]), v->z[b]);
    }
}

static num limit_step(num step, num at, num change) {
    bool falls = n_compare(change, n_of(0)) < 0;
    return falls ? n_minimum(step, n_negative(n_divide(at, change))) : step;
}

/* The longest step, at most 1, that keeps s and z positive. */
static num longest(const struct program *p, const struct state *v) {
    num step = n_of(1);
    for (size_t b = 0; b < p->m; b++) {
        step = limit_step(step, v->s[b], v->ds[b]);
        step = limit_step(step, v->z[b], v->dz[b]);
    }
    return step;
}

static num complementarity(const struct program *p, const struct state *v, num step) {
    num sum = n_of(0);
    for (size_t b = 0; b < p->m; b++) {
        sum = n_plus(sum, n_plus(v->s[b], step, v->ds[b]), n_plus(v->z[b], step, v->dz[b]));
    }
    return n_divide(sum, n_of((long double)p->m));
}

/* Initialises the slacks, and the multipliers with the size of the gradient. */
static void begin(struct program *p, struct state *v) {
    num height = n_of(0), least = n_of(N_MIN_MULTIPLIER);
    differentiate(p, v);
    for (size_t b = 0; b < p->m; b++) {
        num slope = n_of(0);
        v->s[b] = n_subtract(n_of(p->bound[b].most), of_bound(&p->bound[b], p->x));
        for (size_t t = 0; t < p->bound[b].terms; t++) {
            num part = n_multiply(v->gradient[p->bound[b].at[t]], n_of(p->bound[b].factor[t]));
            slope = n_maximum(slope, n_absolute(part));
        }
        height = n_add(height, n_divide(n_multiply(slope, v->s[b]), n_of((long double)p->m)));
    }
    for (size_t b = 0; b < p->m; b++) {
        v->z[b] = n_divide(n_maximum(height, least), v->s[b]);
    }
}

static void clear(num *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        x[i] = n_of(0);
    }
}

static bool advance(struct program *p, struct state *v) {
    clear(v->ds, p->m);
    clear(v->dz, p->m);
    clear(v->target, p->m);
    num mu = complementarity(p, v, n_of(0));
    differentiate(p, v);
    prepare(p, v);
    newton(p, v);
    num ratio = n_divide(complementarity(p, v, longest(p, v)), mu);
    num target = n_multiply(n_multiply(ratio, n_multiply(ratio, ratio)), mu);
    for (size_t b = 0; b < p->m; b++) {
        v->target[b] = p->more ? target : n_minus(target, v->ds[b], v->dz[b]);
    }
    newton(p, v);
    num step = n_multiply(n_of(p->more ? 0.8L : 0.995L), longest(p, v));
    step = n_minimum(n_of(1), step);
    if (!n_finite(step) || n_compare(step, n_of(1e-12L)) <= 0) {
        return false;
    }
    for (size_t i = 0; i < p->n; i++) {
        p->x[i] = n_plus(p->x[i], step, v->dx[i]);
    }
    for (size_t e = 0; e < p->equal; e++) {
        p->y[e] = n_plus(p->y[e], step, v->dy[e]);
    }
    for (size_t b = 0; b < p->m; b++) {
        v->s[b] = n_plus(v->s[b], step, v->ds[b]);
        v->z[b] = n_plus(v->z[b], step, v->dz[b]);
    }
    return true;
}

void interior_solve(struct program *p) {
    size_t n = p->n, m = p->m, q = p->equal;
    num *at = n_zeros(5 * m + 3 * n + q * (n + q + 1) + n * n), *memory = at;
    struct state v;
    num **const parts[] = {&v.s,        &v.z,  &v.ds,    &v.dz,    &v.target, &v.gradient,
                           &v.residual, &v.dx, &v.image, &v.schur, &v.dy,     &v.matrix};
    const size_t sizes[] = {m, m, m, m, m, n, n, n, q * n, q * q, q, n * n};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        *parts[k] = at;
        at += sizes[k];
    }
    begin(p, &v);
    for (int step = 0; step < MAX_STEPS && !p->watch(p->context, p->x, p->y); step++) {
        if (!advance(p, &v)) {
            break;
        }
    }
    free(memory);
}
