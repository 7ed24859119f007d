#include "check/definite.h"

#include "common/base/memory.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

bool definite_always(const struct kernel *kernel) {
    switch (kernel->type) {
    case KERNEL_POLYNOMIAL:
        return kernel->coef0 >= 0 && kernel->gamma >= 0;
    case KERNEL_RBF:
    case KERNEL_LAPLACIAN:
    case KERNEL_RATIONAL:
        return kernel->gamma >= 0;
    case KERNEL_SIGMOID:
    case KERNEL_PRECOMPUTED:
        return false;
    default:
        return true;
    }
}

struct result {
    double shift;
    bool found, symmetric;
};

/* The largest diagonal entry of all training rows. */
static double largest_own(const struct points *points) {
    double largest = 0;
    for (size_t i = 0; i < points->n; i++) {
        largest = fmax(largest, ball_most(points_own(points, i)));
    }
    return largest;
}

/* The largest shift that rounding excuses, over that entry and the number of points: values in a file were
 * rounded when they were written, and again to float. */
static double largest_unit(const struct points *points, size_t m) {
    double rows = (double)points->n / (double)m;
    return rows * (points->kernel.type == KERNEL_PRECOMPUTED ? FLT_EPSILON : 2 * DBL_EPSILON);
}

/* ---- in double-double ---- */

/* The lower half of the matrix. Returns whether the upper one is the same; *error: the sum of the squares of
 * the radii, twice. */
static bool fill(const struct points *points, const uint32_t *used, size_t m, double *x,
                 struct dd *K, double *error) {
    bool symmetric = true, stored = points->kernel.type == KERNEL_PRECOMPUTED;
    for (size_t i = 0; i < m; i++) {
        points_load(points, used[i], x);
        for (size_t j = 0; j <= i; j++) {
            struct ball value = points_kernel(points, used[i], x, used[j]);
            K[i * m + j] = value.m;
            *error += 2 * value.r * value.r;
            if (stored) { /* x does not count */
                symmetric =
                    symmetric && value.m.hi == points_kernel(points, used[j], x, used[i]).m.hi;
            }
        }
    }
    return symmetric;
}

/* Factors the lower half of L in place; false where a pivot is not above 0. */
static bool factor(struct dd *L, size_t m) {
    for (size_t j = 0; j < m; j++) {
        for (size_t i = j; i < m; i++) {
            struct dd sum = L[i * m + j];
            for (size_t k = 0; k < j; k++) {
                sum = dd_add(sum, dd_negative(dd_multiply(L[i * m + k], L[j * m + k])));
            }
            if (i == j && !(sum.hi > 0)) {
                return false;
            }
            if (i == j) {
                double root = sqrt(sum.hi);
                struct dd rest = dd_add(sum, dd_negative(dd_two_product(root, root)));
                L[j * m + j] = dd_quick_sum(root, rest.hi / (2 * root));
            } else {
                L[i * m + j] = dd_divide(sum, L[j * m + j]);
            }
        }
    }
    return true;
}

static bool try_shift(const struct dd *K, struct dd *L, size_t m, double shift) {
    memcpy(L, K, m * m * sizeof *L);
    for (size_t i = 0; i < m; i++) {
        L[i * m + i] = dd_add(L[i * m + i], (struct dd){shift, 0});
    }
    return factor(L, m);
}

/* A matrix of floats may want a shift that the bounds show: it is brought within 2^(1/4) of the least. */
enum { HALVINGS = 3 };

/* What comes out is the factorisation of a matrix that differs from the one that went in by no more than
 * (m + 1) units of 2^-100 times its trace, in norm (Higham 2002, theorem 10.3), and that from the true
 * one by the radii: the shift is lifted by both. */
static int shift_exactly(const struct points *points, const uint32_t *used, size_t m,
                         struct result *result, struct error *err) {
    struct dd *K = memory_array(2 * m + 1, m * sizeof *K, "a check of the kernel matrix", err);
    double *x = memory_array(points->width, sizeof *x, "a row", err), error = 0;
    if (!K || !x) {
        free(K);
        free(x);
        return -1;
    }
    result->symmetric = fill(points, used, m, x, K, &error);
    double unit = 0x1p-90, low = unit, largest = largest_own(points), M = (double)m;
    double most = largest_unit(points, m);
    struct dd *L = K + m * m;
    for (; result->symmetric && !result->found && unit <= most;
         unit *= unit < 0x1p-60 ? 0x1p15 : 4) {
        result->shift = M * unit * largest;
        result->found = try_shift(K, L, m, result->shift);
        low = result->found ? low : unit;
    }
    double high = result->shift / (M * largest);
    for (int halving = 0; result->found && high > 0x1p-60 && halving < HALVINGS; halving++) {
        double middle = sqrt(low * high);
        if (try_shift(K, L, m, M * middle * largest)) {
            high = middle;
            result->shift = M * middle * largest;
        } else {
            low = middle;
        }
    }
    result->shift += (M + 1) * 0x1p-98 * M * (largest + result->shift) + 2 * sqrt(error);
    free(K);
    free(x);
    return 0;
}

/* ---- in long double, where points are many ---- */

enum { BLOCK = 64, LANES = 4 };

struct work {
    const struct points *points;
    const uint32_t *used;
    size_t m;
    long double *L; /* (m, m), the lower half */
    double *x;      /* (workers, width) */
    double *error;  /* (m) bound of what the entries of a row are off by, squared and summed */
    bool *uneven;   /* (m) the upper half has other entries */
    size_t first;   /* column of the block at hand */
};

/* Row i of the lower half, rounded. */
static void fill_row(void *argument, size_t i, size_t worker) {
    const struct work *work = argument;
    const struct points *points = work->points;
    double *x = work->x + worker * points->width;
    long double *row = work->L + i * work->m;
    bool stored = points->kernel.type == KERNEL_PRECOMPUTED;
    points_load(points, work->used[i], x);
    work->error[i] = 0;
    work->uneven[i] = false;
    for (size_t j = 0; j <= i; j++) {
        struct ball value = points_kernel(points, work->used[i], x, work->used[j]);
        row[j] = (long double)value.m.hi + value.m.lo;
        double off = value.r + (double)LDBL_EPSILON * fabs(value.m.hi);
        work->error[i] += 2 * off * off;
        if (stored && value.m.hi != points_kernel(points, work->used[j], x, work->used[i]).m.hi) {
            work->uneven[i] = true;
        }
    }
}

/* Entries first .. end of row i, those before them known; false where a pivot is not above 0. */
static bool factor_row(const struct work *work, size_t i, size_t first, size_t end) {
    long double *row = work->L + i * work->m;
    for (size_t j = first; j < end && j <= i; j++) {
        const long double *other = work->L + j * work->m;
        long double sum[LANES] = {0}, rest = 0;
        size_t k = 0;
        for (; k + LANES <= j; k += LANES) {
            for (size_t lane = 0; lane < LANES; lane++) {
                sum[lane] += row[k + lane] * other[k + lane];
            }
        }
        for (; k < j; k++) {
            rest += row[k] * other[k];
        }
        for (size_t lane = 0; lane < LANES; lane++) {
            rest += sum[lane];
        }
        long double left = row[j] - rest;
        if (i == j && !(left > 0)) {
            return false;
        }
        row[j] = i == j ? sqrtl(left) : left / other[j];
    }
    return true;
}

static void factor_below(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct work *work = argument;
    factor_row(work, work->first + BLOCK + task, work->first, work->first + BLOCK);
}

static bool factor_blocks(struct work *work, struct threads *threads) {
    for (work->first = 0; work->first < work->m; work->first += BLOCK) {
        size_t end = work->first + BLOCK;
        for (size_t i = work->first; i < end && i < work->m; i++) {
            if (!factor_row(work, i, work->first, end)) {
                return false;
            }
        }
        if (end < work->m) {
            threads_run(threads, work->m - end, factor_below, work);
        }
    }
    return true;
}

static void try_shifts(struct work *work, struct threads *threads, struct result *result) {
    size_t m = work->m;
    const double rounding = (double)LDBL_EPSILON;
    double unit = 4 * rounding, most = largest_unit(work->points, m), M = (double)m;
    double largest = largest_own(work->points), error = 0;
    for (; result->symmetric && !result->found && unit <= most; unit *= 0x1p5) {
        double trace = 0;
        threads_run(threads, m, fill_row, work);
        error = 0;
        for (size_t i = 0; i < m; i++) {
            trace += (double)fabsl(work->L[i * m + i]);
            error += work->error[i];
            result->symmetric = result->symmetric && !work->uneven[i];
        }
        result->shift = M * unit * largest;
        for (size_t i = 0; i < m; i++) {
            work->L[i * m + i] += result->shift;
        }
        result->found = result->symmetric && factor_blocks(work, threads);
        result->shift += (M + 8) * (rounding / 2) * (trace + M * result->shift) * (1 + M * 0x1p-52);
    }
    result->shift += 2 * sqrt(error);
}

/* The same theorem, with the units of long double: up to some thousands of points no more is lost than
 * what trainers, whose matrices are of doubles, have paid for. */
static int shift_roughly(const struct points *points, const uint32_t *used, size_t m,
                         struct threads *threads, struct result *result, struct error *err) {
    size_t workers = threads_count(threads);
    struct work work = {.points = points, .used = used, .m = m};
    work.L = memory_array(m, m * sizeof *work.L, "a check of the kernel matrix", err);
    work.x = memory_array(workers, points->width * sizeof *work.x, "rows", err);
    work.error = memory_array(m, sizeof *work.error, "rows", err);
    work.uneven = memory_array(m, sizeof *work.uneven, "rows", err);
    bool ready = work.L && work.x && work.error && work.uneven;
    if (ready) {
        try_shifts(&work, threads, result);
    }
    free(work.L);
    free(work.x);
    free(work.error);
    free(work.uneven);
    return ready ? 0 : -1;
}

int definite_shift(const struct points *points, const uint32_t *used, size_t m,
                   struct threads *threads, double *shift, bool *found, bool *symmetric,
                   struct error *err) {
    struct result result = {.symmetric = true};
    int status = m <= DEFINITE_EXACT ? shift_exactly(points, used, m, &result, err)
                                     : shift_roughly(points, used, m, threads, &result, err);
    *shift = result.shift;
    *found = result.found;
    *symmetric = result.symmetric;
    return status;
}
