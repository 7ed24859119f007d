/* The active-set iterations. */
#include "methods/simplex_qp.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/linear_algebra/cholesky.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The first ridge on the reduced matrix, relative to the squared norms of the planes, as the
 * rounding of their differences is. It makes affinely dependent planes move together. Steps are
 * computed from the exact gradient, so the ridge changes the path to the optimum, not the
 * optimum. */
static const double RIDGE = 1e-13;

/* Resolution of the gradient, relative to the linear terms, of whose size its summands are. */
static const double ROUNDING = 4 * DBL_EPSILON;

/* Ends after MAX_STALLED successive full steps that raise the value by less than the fraction
 * MIN_RISE: rounding makes the method cycle. */
enum { MAX_STALLED = 20 };
static const double MIN_RISE = 1e-9;

struct search {
    size_t p, stride;
    const double *G, *linear;
    double *mu, *gradient;
    bool *is_free;
    size_t *free; /* the free entries except the base, then the base */
    size_t n_free;
    double *reduced, *step;
    double scale; /* the largest linear term, for planes with norm 0 */
};

static void compute_gradient(struct search *search) {
    memcpy(search->gradient, search->linear, search->p * sizeof *search->gradient);
    for (size_t t = 0; t < search->p; t++) {
        if (search->mu[t] != 0) {
            array_add(search->gradient, -search->mu[t], search->G + t * search->stride, search->p);
        }
    }
}

static void list_free(struct search *search) {
    size_t base = 0;
    bool found = false;
    for (size_t t = 0; t < search->p; t++) {
        if (search->is_free[t] && (!found || search->mu[t] > search->mu[base])) {
            base = t;
            found = true;
        }
    }
    search->n_free = 0;
    for (size_t t = 0; t < search->p; t++) {
        if (search->is_free[t] && t != base) {
            search->free[search->n_free++] = t;
        }
    }
    search->free[search->n_free] = base;
}

/* Computes the Newton step on the free entries. Returns -1 if the matrix cannot be factored. */
static int newton_step(struct search *search) {
    size_t m = search->n_free, base = search->free[m];
    const double *G = search->G, *base_row = G + base * search->stride;
    double ridge = RIDGE;
    do {
        if (ridge == INFINITY) {
            return -1;
        }
        for (size_t i = 0; i < m; i++) {
            size_t u = search->free[i];
            const double *row = G + u * search->stride;
            for (size_t j = 0; j <= i; j++) {
                size_t v = search->free[j];
                search->reduced[i * m + j] = row[v] - base_row[u] - base_row[v] + base_row[base];
            }
            search->reduced[i * m + i] += ridge * (row[u] + base_row[base] + search->scale);
            search->step[i] = search->gradient[u] - search->gradient[base];
        }
        ridge = cholesky_next_ridge(ridge);
    } while (cholesky_factor(search->reduced, m));
    cholesky_solve(search->reduced, m, search->step);
    search->step[m] = -array_sum(search->step, m);
    return 0;
}

/* Moves along the step, up to its length, as far as mu >= 0 allows. Returns true if it was a full
 * step. */
static bool advance(struct search *search) {
    double length = 1;
    size_t blocking = SIZE_MAX;
    for (size_t i = 0; i <= search->n_free; i++) {
        double mu = search->mu[search->free[i]], step = search->step[i];
        if (step < 0 && mu + length * step < 0) {
            length = mu / -step;
            blocking = search->free[i];
        }
    }
    double sum = 0;
    for (size_t i = 0; i <= search->n_free; i++) {
        size_t t = search->free[i];
        search->mu[t] = fmax(0, search->mu[t] + length * search->step[i]);
        if (t == blocking) {
            search->mu[t] = 0;
            search->is_free[t] = false;
        }
        sum += search->mu[t];
    }
    for (size_t i = 0; i <= search->n_free; i++) {
        search->mu[search->free[i]] /= sum;
    }
    return blocking == SIZE_MAX;
}

/* linear'mu - mu'G mu / 2. */
static double value_of(const struct search *search) {
    return 0.5 * (array_dot(search->linear, search->mu, search->p) +
                  array_dot(search->gradient, search->mu, search->p));
}

/* Ends when the gradients of the free entries are equal and no other is larger. */
static void run(struct search *search, double tolerance) {
    size_t p = search->p, stalled = 0;
    for (size_t t = 0; t < p; t++) {
        search->is_free[t] = search->mu[t] > 0;
        search->scale = fmax(search->scale, fabs(search->linear[t]));
    }
    tolerance = fmax(tolerance, ROUNDING * search->scale);
    compute_gradient(search);
    double best_value = value_of(search);
    size_t max_steps = 20 * p + 100; /* a limit against cycling by rounding; 2 to 5 are usual */
    for (size_t k = 0; k < max_steps && stalled < MAX_STALLED; k++) {
        list_free(search);
        if (newton_step(search) < 0) {
            return;
        }
        bool full = advance(search);
        compute_gradient(search);
        if (!full) {
            continue;
        }
        double value = value_of(search);
        stalled = value > best_value + MIN_RISE * fabs(best_value) ? 0 : stalled + 1;
        best_value = fmax(best_value, value);
        double mean = array_dot(search->gradient, search->mu, p), imbalance = 0;
        size_t best = 0;
        for (size_t t = 0; t < p; t++) {
            if (search->gradient[t] > search->gradient[best]) {
                best = t;
            }
            if (search->mu[t] > 0) {
                imbalance = fmax(imbalance, mean - search->gradient[t]);
            }
        }
        bool balanced = imbalance <= tolerance;
        /* a free entry with the largest gradient: rounding, the step does not equalise gradients */
        if (balanced && (search->gradient[best] - mean <= tolerance || search->is_free[best])) {
            return;
        }
        search->is_free[best] = true;
    }
}

int simplex_maximise(size_t p, const double *G, size_t stride, const double *linear,
                     double tolerance, double *mu, struct error *err) {
    struct search search = {.p = p, .stride = stride, .G = G, .linear = linear, .mu = mu};
    double *block = ARRAYS_CREATE("planes", err, ARRAYS(p, double, &search.gradient, &search.step),
                                  ARRAYS(p * p, double, &search.reduced));
    search.is_free = memory_array(p, sizeof *search.is_free, "planes", err);
    search.free = memory_array(p, sizeof *search.free, "planes", err);
    int status = -1;
    if (block && search.is_free && search.free) {
        run(&search, tolerance);
        status = 0;
    }
    free(block);
    free(search.is_free);
    free(search.free);
    return status;
}
