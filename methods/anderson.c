/* Type-II Anderson acceleration by regularised normal equations. */
#include "methods/anderson.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/cholesky.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The ridge on the normal equations, relative to their trace: without it, nearly dependent
 * residuals have arbitrarily large coefficients. */
static const double RIDGE = 1e-9;

struct anderson {
    size_t size, memory;
    void *pool;        /* all arrays */
    double *f, *r;     /* value and residual of the last point */
    double *safe;      /* f of the last accepted point, for rejections */
    double *df, *dr;   /* (memory, size) differences of both between successive points */
    double *gram;      /* (memory, memory) products of dr */
    double *system;    /* (memory, memory) its factor */
    double *share;     /* (memory) coefficients of the differences */
    size_t held, next; /* number of differences; index of the next one */
    bool any;          /* there is a last point */
    bool combined;     /* it is a combination, not a value of f */
    double last;       /* |r|^2 of the last point */
};

size_t anderson_arrays(size_t memory) {
    return 3 + 2 * memory; /* f, r, safe; df and dr */
}

int anderson_create(struct anderson **anderson, size_t size, size_t memory, struct error *err) {
    struct anderson *made = memory_zeros(1, sizeof *made, "an acceleration", err);
    if (!made) {
        return -1;
    }
    made->size = size;
    made->memory = memory;
    made->pool =
        ARRAYS_CREATE("an acceleration", err, ARRAYS(size, double, &made->f, &made->r, &made->safe),
                      ARRAYS(memory * size, double, &made->df, &made->dr),
                      ARRAYS(memory * memory, double, &made->gram, &made->system),
                      ARRAYS(memory, double, &made->share));
    if (!made->pool) {
        anderson_free(made);
        return -1;
    }
    *anderson = made;
    return 0;
}

void anderson_free(struct anderson *anderson) {
    if (anderson) {
        free(anderson->pool);
        free(anderson);
    }
}

void anderson_restart(struct anderson *anderson) {
    anderson->held = anderson->next = 0;
    anderson->any = anderson->combined = false;
}

/* Adds the point y with value f: stores both, the residual, and the differences from the last
 * point. */
static void add_point(struct anderson *anderson, const double *y, const double *f) {
    size_t size = anderson->size, memory = anderson->memory;
    double *df = anderson->df + anderson->next * size, *dr = anderson->dr + anderson->next * size;
    for (size_t j = 0; anderson->any && j < size; j++) {
        df[j] = f[j] - anderson->f[j];
        dr[j] = f[j] - y[j] - anderson->r[j];
    }
    for (size_t j = 0; j < size; j++) {
        anderson->f[j] = f[j];
        anderson->r[j] = f[j] - y[j];
    }
    if (anderson->any) {
        anderson->held = smaller(anderson->held + 1, memory);
        for (size_t t = 0; t < anderson->held; t++) {
            double product = array_dot(dr, anderson->dr + t * size, size);
            anderson->gram[anderson->next * memory + t] = product;
            anderson->gram[t * memory + anderson->next] = product;
        }
        anderson->next = (anderson->next + 1) % memory;
    }
    anderson->any = true;
}

/* share: the coefficients of dr that minimise |r - dr share|. False if the system has no factor. */
static bool find_coefficients(struct anderson *anderson) {
    size_t held = anderson->held, memory = anderson->memory;
    double trace = 0;
    for (size_t t = 0; t < held; t++) {
        trace += anderson->gram[t * memory + t];
    }
    for (size_t t = 0; t < held; t++) {
        for (size_t u = 0; u < held; u++) {
            anderson->system[t * held + u] =
                anderson->gram[t * memory + u] + (t == u ? RIDGE * trace : 0);
        }
        anderson->share[t] =
            array_dot(anderson->dr + t * anderson->size, anderson->r, anderson->size);
    }
    if (held == 0 || cholesky_factor(anderson->system, held) < 0) {
        return false;
    }
    cholesky_solve(anderson->system, held, anderson->share);
    return true;
}

void anderson_next(struct anderson *anderson, const double *y, double *f) {
    size_t size = anderson->size;
    double norm = 0;
    for (size_t j = 0; j < size; j++) {
        norm += (f[j] - y[j]) * (f[j] - y[j]);
    }
    if (anderson->combined && !(norm <= anderson->last)) {
        memcpy(f, anderson->safe, size * sizeof *f);
        anderson_restart(anderson);
        return;
    }
    add_point(anderson, y, f);
    anderson->last = norm;
    anderson->combined = find_coefficients(anderson);
    if (anderson->combined) {
        memcpy(anderson->safe, f, size * sizeof *f);
        for (size_t t = 0; t < anderson->held; t++) {
            array_add(f, -anderson->share[t], anderson->df + t * size, size);
        }
    }
}
