#include "tests/optima/interior.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 120 };

void *zeros(size_t count, size_t size) {
    void *made = calloc(count ? count : 1, size);
    if (!made) {
        fputs("no memory\n", stderr);
        exit(1);
    }
    return made;
}

void factor(real *a, size_t n) {
    for (size_t j = 0; j < n; j++) {
        real pivot = a[j * n + j], size = fabsl(pivot);
        for (size_t k = 0; k < j; k++) {
            pivot -= a[j * n + k] * a[j * n + k];
        }
        bool lost = !(pivot > 4 * LDBL_EPSILON * size);
        a[j * n + j] = lost ? INFINITY : sqrtl(pivot);
        for (size_t i = j + 1; i < n; i++) {
            real sum = a[i * n + j];
            for (size_t k = 0; k < j; k++) {
                sum -= a[i * n + k] * a[j * n + k];
            }
            a[i * n + j] = lost ? 0 : sum / a[j * n + j];
        }
    }
}

void solve_factored(const real *l, size_t n, real *x) {
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            x[i] -= l[i * n + k] * x[k];
        }
        x[i] /= l[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) {
            x[i] -= l[k * n + i] * x[k];
        }
        x[i] /= l[i * n + i];
    }
}

/* What a run holds: s the bounds' slack, z their multipliers, and the steps of all. */
struct state {
    real *s, *z, *ds, *dz, *aim; /* (m); aim: what s z is to become */
    real *gradient;              /* (n) of the objective */
    real *dual;                  /* (n) gradient + G'z + E'y */
    real *matrix;                /* (n, n) H + G'(z/s)G, then its factor */
    real *dx;                    /* (n) */
    real *image, *schur, *dy;    /* (equal, n) matrix^-1 E', (equal, equal), (equal) */
};

static real of_bound(const struct bound *bound, const real *x) {
    real sum = 0;
    for (size_t t = 0; t < bound->terms; t++) {
        sum += bound->factor[t] * x[bound->at[t]];
    }
    return sum;
}

static void add_bound(const struct bound *bound, real times, real *x) {
    for (size_t t = 0; t < bound->terms; t++) {
        x[bound->at[t]] += times * bound->factor[t];
    }
}

static void differentiate(const struct program *p, struct state *v) {
    memcpy(v->matrix, p->h, p->n * p->n * sizeof *v->matrix);
    for (size_t i = 0; i < p->n; i++) {
        v->gradient[i] = -p->c[i];
        for (size_t j = 0; j < p->n; j++) {
            v->gradient[i] += p->h[i * p->n + j] * p->x[j];
        }
    }
    if (p->more) {
        p->more(p->context, p->x, v->gradient, v->matrix);
    }
}

/* The matrix of the Newton system and its factor; the residual of the stationarity. */
static void prepare(const struct program *p, struct state *v) {
    memcpy(v->dual, v->gradient, p->n * sizeof *v->dual);
    for (size_t b = 0; b < p->m; b++) {
        const struct bound *bound = &p->bound[b];
        real ratio = v->z[b] / v->s[b];
        for (size_t t = 0; t < bound->terms; t++) {
            for (size_t u = 0; u < bound->terms; u++) {
                v->matrix[bound->at[t] * p->n + bound->at[u]] +=
                    ratio * bound->factor[t] * bound->factor[u];
            }
        }
        add_bound(bound, v->z[b], v->dual);
    }
    factor(v->matrix, p->n);
    for (size_t e = 0; e < p->equal; e++) {
        real *image = v->image + e * p->n;
        memcpy(image, p->e + e * p->n, p->n * sizeof *image);
        solve_factored(v->matrix, p->n, image);
        for (size_t i = 0; i < p->n; i++) {
            v->dual[i] += p->e[e * p->n + i] * p->y[e];
        }
    }
    for (size_t e = 0; e < p->equal; e++) {
        for (size_t f = 0; f < p->equal; f++) {
            real sum = 0;
            for (size_t i = 0; i < p->n; i++) {
                sum += p->e[e * p->n + i] * v->image[f * p->n + i];
            }
            v->schur[e * p->equal + f] = sum;
        }
    }
    factor(v->schur, p->equal);
}

/* The step that is to make s z the aim. */
static void newton(const struct program *p, struct state *v) {
    for (size_t i = 0; i < p->n; i++) {
        v->dx[i] = -v->dual[i];
    }
    for (size_t b = 0; b < p->m; b++) {
        add_bound(&p->bound[b], v->z[b] - v->aim[b] / v->s[b], v->dx);
    }
    solve_factored(v->matrix, p->n, v->dx);
    for (size_t e = 0; e < p->equal; e++) {
        v->dy[e] = 0;
        for (size_t i = 0; i < p->n; i++) {
            v->dy[e] += p->e[e * p->n + i] * (p->x[i] + v->dx[i]);
        }
    }
    solve_factored(v->schur, p->equal, v->dy);
    for (size_t e = 0; e < p->equal; e++) {
        for (size_t i = 0; i < p->n; i++) {
            v->dx[i] -= v->image[e * p->n + i] * v->dy[e];
        }
    }
    for (size_t b = 0; b < p->m; b++) {
        v->ds[b] = -of_bound(&p->bound[b], v->dx);
        v->dz[b] = (v->aim[b] - v->z[b] * v->ds[b]) / v->s[b] - v->z[b];
    }
}

/* The longest step that keeps s and z above 0, at most 1. */
static real longest(const struct program *p, const struct state *v) {
    real step = 1;
    for (size_t b = 0; b < p->m; b++) {
        step = v->ds[b] < 0 ? fminl(step, -v->s[b] / v->ds[b]) : step;
        step = v->dz[b] < 0 ? fminl(step, -v->z[b] / v->dz[b]) : step;
    }
    return step;
}

static real complementarity(const struct program *p, const struct state *v, real step) {
    real sum = 0;
    for (size_t b = 0; b < p->m; b++) {
        sum += (v->s[b] + step * v->ds[b]) * (v->z[b] + step * v->dz[b]);
    }
    return sum / (real)p->m;
}

/* Slacks at the start, and multipliers on the central path of a height that suits the gradient. */
static void begin(struct program *p, struct state *v) {
    real height = 0;
    differentiate(p, v);
    for (size_t b = 0; b < p->m; b++) {
        real slope = 0;
        v->s[b] = p->bound[b].most - of_bound(&p->bound[b], p->x);
        for (size_t t = 0; t < p->bound[b].terms; t++) {
            slope = fmaxl(slope, fabsl(v->gradient[p->bound[b].at[t]] * p->bound[b].factor[t]));
        }
        height += slope * v->s[b] / (real)p->m;
    }
    for (size_t b = 0; b < p->m; b++) {
        v->z[b] = fmaxl(height, 1e-30L) / v->s[b];
    }
}

static bool advance(struct program *p, struct state *v) {
    memset(v->ds, 0, p->m * sizeof *v->ds);
    memset(v->dz, 0, p->m * sizeof *v->dz);
    memset(v->aim, 0, p->m * sizeof *v->aim);
    real mu = complementarity(p, v, 0);
    differentiate(p, v);
    prepare(p, v);
    newton(p, v);
    real ratio = complementarity(p, v, longest(p, v)) / mu, aim = ratio * ratio * ratio * mu;
    for (size_t b = 0; b < p->m; b++) {
        v->aim[b] = aim - (p->more ? 0 : v->ds[b] * v->dz[b]);
    }
    newton(p, v);
    real step = fminl(1, (p->more ? 0.8L : 0.995L) * longest(p, v));
    if (!(step > 1e-12L) || !isfinite(step)) {
        return false;
    }
    for (size_t i = 0; i < p->n; i++) {
        p->x[i] += step * v->dx[i];
    }
    for (size_t e = 0; e < p->equal; e++) {
        p->y[e] += step * v->dy[e];
    }
    for (size_t b = 0; b < p->m; b++) {
        v->s[b] += step * v->ds[b];
        v->z[b] += step * v->dz[b];
    }
    return true;
}

void interior_solve(struct program *p) {
    size_t vectors = 5 * p->m + 3 * p->n + p->equal * (p->n + p->equal + 1) + p->n * p->n;
    real *memory = zeros(vectors, sizeof *memory), *at = memory;
    struct state v;
    real **const parts[] = {&v.s,    &v.z,  &v.ds, &v.dz,    &v.aim,   &v.gradient,
                            &v.dual, &v.dx, &v.dy, &v.image, &v.schur, &v.matrix};
    const size_t sizes[] = {p->m,
                            p->m,
                            p->m,
                            p->m,
                            p->m,
                            p->n,
                            p->n,
                            p->n,
                            p->equal,
                            p->equal * p->n,
                            p->equal * p->equal,
                            p->n * p->n};
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
