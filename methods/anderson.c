#include "methods/anderson.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/cholesky.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Added to the diagonal of the residuals' products, over their trace: residuals that are nearly
 * dependent combine to anything. */
static const double RIDGE = 1e-9;

struct anderson {
    size_t size, memory;
    double *pool;      /* all arrays of `size` */
    double *f, *r;     /* of the point before, its residual */
    double *safe;      /* f of it, to go back to */
    double *df, *dr;   /* (memory, size) differences of both from point to point */
    double *gram;      /* (memory, memory) products of dr, */
    double *system;    /* and a copy to be factored */
    double *share;     /* (memory) of the differences in the next point */
    size_t held, next; /* differences; place of the next one */
    bool any;          /* there is a point before, */
    bool combined;     /* which f did not make */
    double last;       /* |r|^2 of it */
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
    made->pool = memory_array(size, anderson_arrays(memory) * sizeof(double), "points", err);
    made->gram = memory_zeros(memory, (2 * memory + 1) * sizeof(double), "an acceleration", err);
    if (!made->pool || !made->gram) {
        anderson_free(made);
        return -1;
    }
    made->f = made->pool;
    made->r = made->f + size;
    made->safe = made->r + size;
    made->df = made->safe + size;
    made->dr = made->df + memory * size;
    made->system = made->gram + memory * memory;
    made->share = made->system + memory * memory;
    *anderson = made;
    return 0;
}

void anderson_free(struct anderson *anderson) {
    if (anderson) {
        free(anderson->pool);
        free(anderson->gram);
        free(anderson);
    }
}

void anderson_restart(struct anderson *anderson) {
    anderson->held = anderson->next = 0;
    anderson->any = anderson->combined = false;
}

/* Takes the point y in: its value f and its residual, in r, and what both differ by from those
 * before. */
static void take(struct anderson *anderson, const double *y, const double *f) {
    size_t size = anderson->size, memory = anderson->memory;
    double *df = anderson->df + anderson->next * size, *dr = anderson->dr + anderson->next * size;
    for (size_t j = 0; j < size; j++) {
        double r = f[j] - y[j];
        df[j] = f[j] - anderson->f[j];
        dr[j] = r - anderson->r[j];
        anderson->f[j] = f[j];
        anderson->r[j] = r;
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

/* share: of dr in the least |r - sum of them|. False where it cannot be told. */
static bool find_shares(struct anderson *anderson) {
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
    take(anderson, y, f);
    anderson->last = norm;
    anderson->combined = find_shares(anderson);
    if (anderson->combined) {
        memcpy(anderson->safe, f, size * sizeof *f);
        for (size_t t = 0; t < anderson->held; t++) {
            array_add(f, -anderson->share[t], anderson->df + t * size, size);
        }
    }
}
