/* Removal by Givens rotations. */
#include "common/linear_algebra/cholesky_update.h"

#include "common/base/array.h"
#include "common/base/dispatch.h"
#include "common/base/memory.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* LAPACK, column-major: its lower half is our upper one. */
extern void dpotrf_(const char *half, const int *n, double *a, const int *lda, int *info);

int factor_allocate(struct factor *factor, size_t n, struct error *err) {
    if (n > factor->room) {
        factor_free(factor);
        factor->U = memory_array(n, n * sizeof(double), "a factor", err);
        factor->work = memory_array(n, sizeof(double), "a factor", err);
        if (!factor->U || !factor->work) {
            return -1;
        }
        factor->room = n;
    }
    factor->n = n;
    return 0;
}

void factor_free(struct factor *factor) {
    free(factor->U);
    free(factor->work);
    *factor = (struct factor){0};
}

int factor_compute(struct factor *factor) {
    if (factor->n == 0) {
        return 0;
    }
    if (factor->n > INT_MAX) {
        return -1;
    }
    int order = (int)factor->n, info = 0;
    dpotrf_("L", &order, factor->U, &order, &info);
    return info == 0 ? 0 : -1;
}

void factor_solve(const struct factor *factor, double *x) {
    size_t n = factor->n;
    for (size_t r = 0; r < n; r++) {
        const double *row = factor->U + r * n;
        x[r] /= row[r];
        if (x[r] != 0) {
            array_add(x + r + 1, -x[r], row + r + 1, n - r - 1);
        }
    }
    for (size_t r = n; r-- > 0;) {
        const double *row = factor->U + r * n;
        x[r] = (x[r] - array_dot(row + r + 1, x + r + 1, n - r - 1)) / row[r];
    }
}

/* (a, b) = (c a + s b, c b - s a) over n entries. */
DISPATCH static void rotate(double *restrict a, double *restrict b, double c, double s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double x = a[i], y = b[i];
        a[i] = c * x + s * y;
        b[i] = c * y - s * x;
    }
}

void factor_remove(struct factor *factor, size_t r) {
    size_t n = factor->n;
    double *U = factor->U, *x = factor->work;
    memcpy(x + r + 1, U + r * n + r + 1, (n - r - 1) * sizeof *x);
    memset(U + r * n + r + 1, 0, (n - r - 1) * sizeof *x);
    for (size_t i = 0; i < r; i++) {
        U[i * n + r] = 0;
    }
    U[r * n + r] = 1;
    /* Add the row's contribution to the rows after it, a rank-one update by rotations. */
    for (size_t i = r + 1; i < n; i++) {
        if (x[i] == 0) {
            continue;
        }
        double *row = U + i * n, length = hypot(row[i], x[i]);
        double c = row[i] / length, s = x[i] / length;
        row[i] = length;
        rotate(row + i + 1, x + i + 1, c, s, n - i - 1);
    }
}

void factor_subtract(struct factor *factor, size_t j, size_t i) {
    size_t n = factor->n;
    for (size_t r = 0; r <= i; r++) {
        factor->U[r * n + j] -= factor->U[r * n + i];
    }
}
