/* The Schur complement I + X'E^-1 X in double-double: assembly, Cholesky factor, solves. */
#include "families/top/solver/feature_system_dd.h"

#include "common/base/memory.h"
#include "common/double_double/dd.h"
#include "common/linear_algebra/cholesky_dd.h"

#include <stdlib.h>
#include <string.h>

/* Largest number of double-double products in a factorisation, of about 10 ns each. */
static const double MAX_PRODUCTS = 3e7;

struct top_system_dd {
    const double *X, *E;
    size_t m, d;
    struct dd *factor; /* (d, d) lower half */
    struct dd *t;      /* (d) work */
};

bool top_system_dd_fits(size_t m, size_t d) {
    double side = (double)d;
    return side * side * ((double)m / 2 + side / 6) <= MAX_PRODUCTS;
}

int top_system_dd_create(struct top_system_dd **system, const double *X, size_t m, size_t d,
                         struct error *err) {
    struct top_system_dd *made = memory_zeros(1, sizeof *made, "a system", err);
    if (!made) {
        return -1;
    }
    *made =
        (struct top_system_dd){.X = X,
                               .m = m,
                               .d = d,
                               .factor = memory_array(d, d * sizeof *made->factor, "a system", err),
                               .t = memory_array(d, sizeof *made->t, "a system", err)};
    if (!made->factor || !made->t) {
        top_system_dd_free(made);
        return -1;
    }
    *system = made;
    return 0;
}

void top_system_dd_free(struct top_system_dd *system) {
    if (system) {
        free(system->factor);
        free(system->t);
        free(system);
    }
}

/* to += a x, x (n). */
static void add(struct dd *restrict to, struct dd a, const double *restrict x, size_t n) {
    for (size_t j = 0; j < n; j++) {
        to[j] = dd_add(to[j], dd_multiply(a, (struct dd){x[j], 0}));
    }
}

bool top_system_dd_factor(struct top_system_dd *system, const double *E) {
    size_t d = system->d;
    struct dd *A = system->factor;
    system->E = E;
    memset(A, 0, d * d * sizeof *A);
    for (size_t j = 0; j < d; j++) {
        A[j * d + j].hi = 1;
    }
    for (size_t i = 0; i < system->m; i++) {
        const double *x = system->X + i * d;
        for (size_t j = 0; j < d; j++) {
            if (x[j] != 0) {
                add(A + j * d, dd_divide((struct dd){x[j], 0}, (struct dd){E[i], 0}), x, j + 1);
            }
        }
    }
    return cholesky_dd_factor(A, d);
}

void top_system_dd_solve(struct top_system_dd *system, const double *residual, double *x,
                         double *w) {
    size_t d = system->d;
    struct dd *t = system->t;
    for (size_t j = 0; j < d; j++) {
        t[j] = (struct dd){residual ? residual[j] : 0, 0};
    }
    for (size_t i = 0; i < system->m; i++) {
        add(t, dd_divide((struct dd){x[i], 0}, (struct dd){system->E[i], 0}), system->X + i * d, d);
    }
    cholesky_dd_solve(system->factor, d, t);
    for (size_t i = 0; i < system->m; i++) {
        const double *row = system->X + i * d;
        struct dd rest = {x[i], 0};
        for (size_t j = 0; j < d; j++) {
            struct dd part = dd_multiply(t[j], (struct dd){row[j], 0});
            rest = dd_add(rest, dd_negative(part));
        }
        x[i] = rest.hi / system->E[i];
    }
    for (size_t j = 0; j < d; j++) {
        w[j] = t[j].hi;
    }
}
