/* The two-loop recursion and its pairs, in a ring. */
#include "methods/lbfgs.h"

#include "common/base/array.h"
#include "common/base/sizes.h"

#include <math.h>

void lbfgs_direction(const struct lbfgs *lbfgs, const double *gradient, double *direction) {
    size_t size = lbfgs->size, stored = smaller(lbfgs->n, lbfgs->max);
    double factor[LBFGS_MAX_PAIRS];
    array_multiple(direction, -1, gradient, size);
    for (size_t t = lbfgs->n; t-- > lbfgs->n - stored;) {
        size_t p = t % lbfgs->max;
        factor[p] = lbfgs->reciprocal[p] * array_dot(lbfgs->step + p * size, direction, size);
        array_add(direction, -factor[p], lbfgs->change + p * size, size);
    }
    if (stored > 0) {
        size_t last = (lbfgs->n - 1) % lbfgs->max;
        const double *y = lbfgs->change + last * size;
        array_scale(direction, 1 / (lbfgs->reciprocal[last] * array_dot(y, y, size)), size);
    }
    for (size_t t = lbfgs->n - stored; t < lbfgs->n; t++) {
        size_t p = t % lbfgs->max;
        double back = lbfgs->reciprocal[p] * array_dot(lbfgs->change + p * size, direction, size);
        array_add(direction, factor[p] - back, lbfgs->step + p * size, size);
    }
}

void lbfgs_store(struct lbfgs *lbfgs, const double *at, const double *next, const double *gradient,
                 const double *next_gradient, double min_cosine) {
    size_t p = lbfgs->n % lbfgs->max, size = lbfgs->size;
    double *step = lbfgs->step + p * size, *change = lbfgs->change + p * size, least = 0;
    for (size_t j = 0; j < size; j++) {
        step[j] = next[j] - at[j];
        change[j] = next_gradient[j] - gradient[j];
    }
    double product = array_dot(step, change, size);
    if (min_cosine > 0) {
        least = min_cosine * sqrt(array_dot(step, step, size) * array_dot(change, change, size));
    }
    if (product > least) {
        lbfgs->reciprocal[p] = 1 / product;
        lbfgs->n++;
    }
}
