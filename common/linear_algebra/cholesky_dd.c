/* Row-oriented factorisations. Compiled without contraction, see common/double_double/dd.h. */
#include "common/linear_algebra/cholesky_dd.h"

#include "common/double_double/dd.h"

double cholesky_dd_nanoseconds(size_t n) {
    const double each = 8; /* nanoseconds of a multiply-add */
    double side = (double)n;
    return each * side * side * (side / 6 + 1);
}

static struct dd dot(const struct dd *a, const struct dd *b, size_t n) {
    struct dd sum = {0, 0};
    for (size_t j = 0; j < n; j++) {
        sum = dd_add(sum, dd_multiply(a[j], b[j]));
    }
    return sum;
}

/* a - sum_j x_j y_j over n. */
static struct dd less_dot(struct dd a, const struct dd *x, const struct dd *y, size_t n) {
    return dd_add(a, dd_negative(dot(x, y, n)));
}

bool cholesky_dd_factor(struct dd *A, size_t n) {
    for (size_t j = 0; j < n; j++) {
        struct dd *own = A + j * n;
        for (size_t k = 0; k < j; k++) {
            own[k] = dd_divide(less_dot(own[k], own, A + k * n, k), A[k * n + k]);
        }
        own[j] = less_dot(own[j], own, own, j);
        if (!(own[j].hi > 0) || !isfinite(own[j].hi)) {
            return false;
        }
        own[j] = dd_root(own[j]);
    }
    return true;
}

void cholesky_dd_solve(const struct dd *L, size_t n, struct dd *x) {
    for (size_t j = 0; j < n; j++) {
        x[j] = dd_divide(less_dot(x[j], L + j * n, x, j), L[j * n + j]);
    }
    for (size_t j = n; j-- > 0;) {
        x[j] = dd_divide(x[j], L[j * n + j]);
        for (size_t k = 0; k < j; k++) {
            x[k] = dd_add(x[k], dd_negative(dd_multiply(x[j], L[j * n + k])));
        }
    }
}

static void swap(struct dd *a, struct dd *b) {
    struct dd saved = *a;
    *a = *b;
    *b = saved;
}

/* Exchanges rows and columns k and p > k in the lower half. */
static void exchange(struct dd *A, size_t n, size_t k, size_t p, uint32_t *pivot) {
    for (size_t j = 0; j < k; j++) {
        swap(A + k * n + j, A + p * n + j);
    }
    for (size_t j = k + 1; j < p; j++) {
        swap(A + j * n + k, A + p * n + j);
    }
    for (size_t i = p + 1; i < n; i++) {
        swap(A + i * n + k, A + i * n + p);
    }
    swap(A + k * n + k, A + p * n + p);
    uint32_t saved = pivot[k];
    pivot[k] = pivot[p];
    pivot[p] = saved;
}

/* At step k the diagonal from k on is that of the Schur complement. */
size_t cholesky_dd_pivoted(struct dd *A, size_t n, const double *least, uint32_t *pivot) {
    for (size_t i = 0; i < n; i++) {
        pivot[i] = (uint32_t)i;
    }
    for (size_t k = 0; k < n; k++) {
        size_t largest = n;
        for (size_t i = k; i < n; i++) {
            double left = A[i * n + i].hi;
            if (left > least[pivot[i]] && (largest == n || left > A[largest * n + largest].hi)) {
                largest = i;
            }
        }
        if (largest == n) {
            return k;
        }
        if (largest > k) {
            exchange(A, n, k, largest, pivot);
        }
        struct dd *own = A + k * n;
        own[k] = dd_root(own[k]);
        for (size_t i = k + 1; i < n; i++) {
            struct dd *row = A + i * n;
            row[k] = dd_divide(less_dot(row[k], row, own, k), own[k]);
            row[i] = dd_add(row[i], dd_negative(dd_multiply(row[k], row[k])));
        }
    }
    return n;
}
