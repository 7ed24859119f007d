/* The smallest shift that makes a kernel matrix positive semidefinite: a bisection over Cholesky
 * factorisations, m^3 / 6 multiply-adds each, in double-double for few points and in long double
 * for many. */
#include "check/definite.h"

#include "common/base/arrays.h"
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

enum { BLOCK = 64, LANES = 4 };

/* A matrix to be factored, with a shift of its diagonal: unit * shape (m). */
struct matrix {
    struct definite *definite;
    const struct points *points;
    struct threads *threads;
    bool (*factor)(struct matrix *matrix);
    double *shape;                   /* (m) */
    double *scale;                   /* (m) powers of 2 by which rows and columns are multiplied */
    double unit, min_unit, max_unit; /* least: the minimum for the accuracy of the arithmetic */
    double near;                     /* the ratio at which bisection stops */
    double largest;                  /* largest diagonal entry of all training rows */
    double backward_error; /* bound of the backward error of a factorisation; beside the errors of
                           the entries */
    double off;
    struct dd *K, *L;   /* (m, m), the lower halves */
    long double *rough; /* (m, m) L */
    double *x;          /* (workers, width) */
    double *error;      /* (m) bound of the sum of squared errors of the scaled entries of a row */
    size_t first;       /* first column of the current block */
};

/* ---- entries ---- */

static bool is_symmetric(const struct definite *definite, const struct points *points) {
    bool symmetric = true;
    for (size_t i = 0; symmetric && i < definite->m; i++) {
        for (size_t j = 0; symmetric && j < i; j++) {
            struct ball lower = points_kernel(points, definite->point[i], NULL, definite->point[j]);
            struct ball upper = points_kernel(points, definite->point[j], NULL, definite->point[i]);
            symmetric = lower.m.hi == upper.m.hi;
        }
    }
    return symmetric;
}

/* The largest shift that rounding may explain, relative to that entry: values in a file were
 * rounded when they were written, and again to float. */
static double largest_unit(const struct points *points) {
    double rows = (double)points->n;
    return rows * (points->kernel.type == KERNEL_PRECOMPUTED ? FLT_EPSILON : 2 * DBL_EPSILON);
}

double definite_largest_shift(const struct points *points) {
    return largest_unit(points) * points_largest_own(points);
}

/* The shift of the scaled matrix at point i. Where it costs nothing, it is the largest that
 * rounding may explain. */
static double shift_of(const struct matrix *matrix, size_t i) {
    const double *cost = matrix->definite->cost;
    double shift =
        cost && cost[i] == 0 ? matrix->max_unit * matrix->largest : matrix->unit * matrix->shape[i];
    return shift * matrix->scale[i] * matrix->scale[i];
}

/* ---- in double-double ---- */

/* L_ij less the products of rows i and j before column j, for LANES rows from i on, so that their
 * additions are independent. */
static void subtract_products(const struct dd *L, size_t m, size_t i, size_t j,
                              struct dd left[LANES]) {
    const struct dd *row[LANES], *other = L + j * m;
    for (size_t lane = 0; lane < LANES; lane++) {
        row[lane] = L + (i + lane < m ? i + lane : m - 1) * m;
        left[lane] = row[lane][j];
    }
    for (size_t k = 0; k < j; k++) {
        for (size_t lane = 0; lane < LANES; lane++) {
            struct dd product = dd_multiply(row[lane][k], other[k]);
            left[lane] = dd_add(left[lane], dd_negative(product));
        }
    }
}

/* Factors the lower triangle of L in place; false if a pivot is not positive. */
static bool factor_plain(struct dd *L, size_t m) {
    for (size_t j = 0; j < m; j++) {
        for (size_t i = j; i < m; i += LANES) {
            struct dd left[LANES];
            subtract_products(L, m, i, j, left);
            if (i == j && !(left[0].hi > 0)) {
                return false;
            }
            L[j * m + j] = i == j ? dd_root(left[0]) : L[j * m + j];
            for (size_t lane = i == j; lane < LANES && i + lane < m; lane++) {
                L[(i + lane) * m + j] = dd_divide(left[lane], L[j * m + j]);
            }
        }
    }
    return true;
}

/* The result is the factorisation of a matrix whose distance to the given one, in norm, is at most
 * (m + 1) units of 2^-98 times its trace (backward error, Higham 2002, theorem 10.3), and that
 * differs from the true one by the radii. */
static bool factor_exactly(struct matrix *matrix) {
    size_t m = matrix->definite->m;
    double trace = 0;
    memcpy(matrix->L, matrix->K, m * m * sizeof *matrix->L);
    for (size_t i = 0; i < m; i++) {
        struct dd *own = &matrix->L[i * m + i];
        *own = dd_add(*own, (struct dd){shift_of(matrix, i), 0});
        trace += fabs(own->hi);
    }
    matrix->backward_error = ((double)m + 1) * 0x1p-98 * trace;
    return factor_plain(matrix->L, m);
}

/* The lower half of K. */
static void fill_exactly(struct matrix *matrix) {
    const struct definite *definite = matrix->definite;
    for (size_t i = 0; i < definite->m; i++) {
        points_load(matrix->points, definite->point[i], matrix->x);
        matrix->error[i] = 0;
        for (size_t j = 0; j <= i; j++) {
            struct ball value =
                points_kernel(matrix->points, definite->point[i], matrix->x, definite->point[j]);
            double scale = matrix->scale[i] * matrix->scale[j], off = value.r * scale;
            matrix->K[i * definite->m + j] = (struct dd){value.m.hi * scale, value.m.lo * scale};
            matrix->error[i] += 2 * off * off;
        }
    }
}

/* ---- in long double, for many points ---- */

/* Row i of the lower half, rounded. */
static void fill_row(void *argument, size_t i, size_t worker) {
    const struct matrix *matrix = argument;
    const struct points *points = matrix->points;
    const uint32_t *point = matrix->definite->point;
    double *x = matrix->x + worker * points->width;
    long double *row = matrix->rough + i * matrix->definite->m;
    points_load(points, point[i], x);
    matrix->error[i] = 0;
    for (size_t j = 0; j <= i; j++) {
        struct ball value = points_kernel(points, point[i], x, point[j]);
        double scale = matrix->scale[i] * matrix->scale[j];
        double off = scale * (value.r + (double)LDBL_EPSILON * fabs(value.m.hi));
        row[j] = ((long double)value.m.hi + value.m.lo) * (long double)scale;
        matrix->error[i] += 2 * off * off;
    }
    row[i] += shift_of(matrix, i);
}

/* Factors entries first .. end of row i, after those before them; false if a pivot is not positive.
 */
static bool factor_row(const struct matrix *matrix, size_t i, size_t first, size_t end) {
    size_t m = matrix->definite->m;
    long double *row = matrix->rough + i * m;
    for (size_t j = first; j < end && j <= i; j++) {
        const long double *other = matrix->rough + j * m;
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
    const struct matrix *matrix = argument;
    factor_row(matrix, matrix->first + BLOCK + task, matrix->first, matrix->first + BLOCK);
}

/* The same theorem, with the unit of long double and sums in LANES: up to some thousands of points
 * the error is smaller than what trainers, with matrices in double, have added to their bounds. */
static bool factor_roughly(struct matrix *matrix) {
    size_t m = matrix->definite->m;
    double trace = 0, M = (double)m;
    threads_run(matrix->threads, m, fill_row, matrix);
    for (size_t i = 0; i < m; i++) {
        trace += (double)fabsl(matrix->rough[i * m + i]);
    }
    matrix->backward_error =
        (M / LANES + 12) * ((double)LDBL_EPSILON / 2) * trace * (1 + M * 0x1p-52);
    for (matrix->first = 0; matrix->first < m; matrix->first += BLOCK) {
        size_t end = matrix->first + BLOCK;
        for (size_t i = matrix->first; i < end && i < m; i++) {
            if (!factor_row(matrix, i, matrix->first, end)) {
                return false;
            }
        }
        if (end < m) {
            threads_run(matrix->threads, m - end, factor_below, matrix);
        }
    }
    return true;
}

/* ---- the smallest shift ---- */

/* With a zero diagonal there is no relative shift: such a matrix is positive semidefinite if all of
 * it is 0. */
static bool is_zero(const struct definite *definite, const struct points *points, double *x) {
    bool zero = true;
    for (size_t i = 0; zero && i < definite->m; i++) {
        points_load(points, definite->point[i], x);
        for (size_t j = 0; zero && j <= i; j++) {
            uint32_t other = definite->point[j];
            zero = ball_magnitude(points_kernel(points, definite->point[i], x, other)) == 0;
        }
    }
    return zero;
}

/* A matrix of floats may need a shift that the bounds show: it is found to a ratio of NEAR. COARSE
 * is the ratio of the first bisection. Shifts below NEGLIGIBLE do not show in the bounds. */
static const double NEAR = 1.01, COARSE = 1.25, NEGLIGIBLE = 0x1p-60;

static bool works(struct matrix *matrix, double unit) {
    double error = 0;
    matrix->unit = unit;
    bool factored = matrix->factor(matrix);
    for (size_t i = 0; i < matrix->definite->m; i++) {
        error += matrix->error[i];
    }
    matrix->off = fmax(matrix->off, matrix->backward_error + 2 * sqrt(error));
    return factored;
}

/* An interval of units: `high` succeeds, and `low` fails or is the minimum. */
struct bracket {
    double low, high;
    double off; /* bound of the distance between the factored matrix and the true one */
};

/* Bisection in the logarithm, to a ratio of `near`. */
static void narrow(struct matrix *matrix, struct bracket *bracket, double near) {
    while (bracket->high > NEGLIGIBLE && bracket->high > near * bracket->low) {
        double middle = sqrt(bracket->low) * sqrt(bracket->high);
        *(works(matrix, middle) ? &bracket->high : &bracket->low) = middle;
    }
    bracket->off = fmax(bracket->off, matrix->off);
}

/* False if no unit that rounding may explain succeeds. */
static bool find_bracket(struct matrix *matrix, struct bracket *bracket) {
    *bracket = (struct bracket){fmin(matrix->min_unit, matrix->max_unit), matrix->max_unit, 0};
    if (works(matrix, bracket->low)) {
        bracket->high = bracket->low;
    }
    bool found = bracket->low == bracket->high || works(matrix, bracket->high);
    if (found) {
        narrow(matrix, bracket, COARSE);
    }
    return found;
}

/* Chooses shifts of equal size or, if `own`, proportional to the diagonal, but not to values near
 * 0, which may be 0. In the second case the matrix is scaled, so that its trace does not hide
 * rounding errors of small values. */
static void set_shape(struct matrix *matrix, bool own) {
    const double small = 0x1p-60;
    const struct definite *definite = matrix->definite;
    for (size_t i = 0; i < definite->m; i++) {
        double value = ball_magnitude(points_own(matrix->points, definite->point[i]));
        double size = own ? fmax(value, small * matrix->largest) : matrix->largest;
        matrix->shape[i] = size / definite->copies[i];
        matrix->scale[i] = own && size > 0 ? exp2(-round(log2(size) / 2)) : 1;
    }
    if (matrix->K) {
        fill_exactly(matrix);
    }
    matrix->off = 0;
}

static double cost_of(const struct matrix *matrix, double unit) {
    const struct definite *definite = matrix->definite;
    double cost = 0;
    for (size_t i = 0; definite->cost && i < definite->m; i++) {
        cost += unit * matrix->shape[i] * definite->cost[i];
    }
    return cost;
}

/* True if shifts proportional to the diagonal would cost about as much as equal ones. */
static bool is_even(const struct matrix *matrix) {
    const double half = 0.5;
    const struct definite *definite = matrix->definite;
    double own = 0, all = 0;
    for (size_t i = 0; i < definite->m; i++) {
        double cost = definite->cost[i] / definite->copies[i];
        own += ball_magnitude(points_own(matrix->points, definite->point[i])) * cost;
        all += matrix->largest * cost;
    }
    return own >= half * all;
}

/* Finds the cheaper shape, and its unit. */
static void find_shift(struct matrix *matrix) {
    struct definite *definite = matrix->definite;
    double costs[2] = {INFINITY, INFINITY};
    struct bracket found[2];
    for (int own = 0; own < (definite->cost ? 2 : 1); own++) {
        set_shape(matrix, own == 1);
        if (find_bracket(matrix, &found[own])) {
            definite->found = true;
            costs[own] = fmin(cost_of(matrix, found[own].high), DBL_MAX);
            if (found[own].high <= fmax(NEGLIGIBLE, matrix->min_unit) &&
                (!definite->cost || is_even(matrix))) {
                break; /* the other shape cannot be much better */
            }
        }
    }
    if (!definite->found) {
        return;
    }
    int best = costs[1] < costs[0];
    set_shape(matrix, best == 1);
    narrow(matrix, &found[best], matrix->near);
    double off = found[best].off * (1 + (double)definite->m * 0x1p-50);
    for (size_t i = 0; i < definite->m; i++) {
        double scale = matrix->scale[i];
        definite->shift[i] = found[best].high * matrix->shape[i] + off / (scale * scale);
    }
}

int definite_shift(struct definite *definite, const struct points *points, struct threads *threads,
                   struct error *err) {
    size_t m = definite->m, workers = threads_count(threads);
    bool exactly = m <= DEFINITE_MAX_EXACT;
    double M = (double)m;
    struct matrix matrix = {.definite = definite, .points = points, .threads = threads};
    definite->found = false;
    definite->symmetric =
        points->kernel.type != KERNEL_PRECOMPUTED || is_symmetric(definite, points);
    if (m == 0 || !definite->symmetric) {
        definite->found = m == 0;
        return 0;
    }
    matrix.factor = exactly ? factor_exactly : factor_roughly;
    matrix.near = exactly ? NEAR : COARSE;
    matrix.min_unit = M * (exactly ? 0x1p-90 : 4 * (double)LDBL_EPSILON);
    void *block = ARRAYS_CREATE("rows", err, ARRAYS(workers * points->width, double, &matrix.x),
                                ARRAYS(m, double, &matrix.shape, &matrix.error, &matrix.scale));
    size_t entry = exactly ? 2 * sizeof *matrix.K : sizeof *matrix.rough;
    void *entries = memory_array(m, m * entry, "a check of the kernel matrix", err);
    bool ready = block && entries;
    if (ready) {
        matrix.K = exactly ? entries : NULL;
        matrix.L = exactly ? matrix.K + m * m : NULL;
        matrix.rough = exactly ? NULL : entries;
        matrix.largest = points_largest_own(points);
        matrix.max_unit = largest_unit(points);
        if (matrix.largest > 0) {
            find_shift(&matrix);
        } else {
            definite->found = is_zero(definite, points, matrix.x);
        }
    }
    free(block);
    free(entries);
    return ready ? 0 : -1;
}
