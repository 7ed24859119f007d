/* The factor of the kernel matrix and the coefficients that belong to it. Compiled without
 * contraction, see common/double_double/dd.h. */
#include "methods/row_features_dd.h"

#include "common/base/arrays.h"
#include "common/base/dispatch.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/double_double/dd.h"
#include "common/kernel/gram.h"
#include "common/kernel/kernel_dd.h"
#include "common/linear_algebra/cholesky.h"
#include "common/linear_algebra/cholesky_dd.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A residual above this fraction of K's diagonal is not rounding: K is indefinite. */
static const double INDEFINITE = 1e-9;
/* The smallest unit of a row, relative to its norm bound, in double. */
static const double MIN_UNIT = 0x1p-10;
/* A pivot below this multiple of its rounding-error bound is not used: it is mostly rounding, and
 * its feature would have huge coefficients. */
static const double NOISE = 64;
/* Work limits of double-double in nanoseconds of one thread: the usual one, and that of kernels
 * with a norm bound above FAR, whose values cancel to margins of 1. */
static const double MAX_WORK = 5e8, MAX_WORK_FAR = 3e9, FAR = 1e4;

/* The largest number of values of dense features. */
enum { MAX_VALUES = 1 << 24 };

/* With at least this many times as many rows as features, coefficients of all rows are tried. */
enum { SPARE = 2 };

/* The matrix that is factored. */
struct matrix {
    const struct problem *problem;
    const struct score_map *map;
    const double *norm_bound;
    double *K;     /* (n, n) in double */
    double *rest;  /* (n, n) its low parts */
    struct dd *A;  /* (n, n) K + rest, centred, with rows and columns in units */
    double *unit;  /* (n) of rows and columns, powers of 2 */
    double *least; /* (n) the smallest pivots of A that are not rounding */
    double factor; /* error factor, see kernel_rounding_dd; 0: A is in double */
};

/* X (n, width): the rows' features, with the constant feature. */
static void fill_rows(const struct problem *problem, size_t n, size_t width, double *X) {
    for (size_t i = 0; i < n; i++) {
        size_t row = problem->rows ? problem->rows[i] : i;
        data_row_dense(problem->data, row, width, X + i * width);
        if (problem->constant > 0) {
            X[(i + 1) * width - 1] = problem->constant;
        }
    }
}

/* ---- the matrix ---- */

/* Whether the matrix is evaluated in double-double. */
static bool uses_dd(const struct matrix *matrix, bool rows) {
    const struct problem *problem = matrix->problem;
    size_t n = matrix->map->n;
    double norm_bound = 0;
    if (!rows || !problem->gram || !kernel_definite(gram_rows(problem->gram)->kernel)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        norm_bound = fmax(norm_bound, matrix->norm_bound[i]);
    }
    return cholesky_dd_nanoseconds(n) + kernel_work_dd(gram_rows(problem->gram), n, n, 1) <=
           (norm_bound > FAR ? MAX_WORK_FAR : MAX_WORK);
}

/* Fills K in double: the problem's matrix, or that of a map whose scores are not those of rows, by
 * the scores of unit coefficients. */
static int fill_matrix(const struct matrix *matrix, bool rows, struct error *err) {
    size_t n = matrix->map->n;
    if (rows) {
        return problem_matrix(matrix->problem, NULL, n, matrix->K, err);
    }
    double *unit = memory_zeros(n, n * sizeof *unit, "a kernel matrix", err);
    for (size_t i = 0; unit && i < n; i++) {
        unit[i * n + i] = 1;
    }
    int status = unit ? matrix->map->exact(matrix->map, unit, n, matrix->K, err) : -1;
    free(unit);
    return status;
}

/* Fills the low parts of K. */
static int fill_rest(struct matrix *matrix, struct error *err) {
    const struct problem *problem = matrix->problem;
    const struct kernel_rows *rows = gram_rows(problem->gram);
    size_t n = matrix->map->n;
    uint32_t *at = memory_array(n, sizeof *at, "a kernel matrix", err);
    for (size_t i = 0; at && i < n; i++) {
        at[i] = problem->rows ? problem->rows[i] : (uint32_t)i;
    }
    int status =
        at ? kernel_remainder_dd(rows, at, n, matrix->K, matrix->rest, problem->threads, err) : -1;
    matrix->factor = kernel_rounding_dd(rows, n);
    free(at);
    return status;
}

/* Subtracts from A (n, n) the means over each group of rows. */
static void centre_rows(const struct row_groups *groups, size_t n, struct dd *A) {
    for (size_t group = 0; group < groups->n; group++) {
        const uint32_t *row = groups->row + groups->start[group];
        size_t m = groups->start[group + 1] - groups->start[group];
        for (size_t j = 0; j < n; j++) {
            struct dd sum = {0, 0};
            for (size_t k = 0; k < m; k++) {
                sum = dd_add(sum, A[row[k] * n + j]);
            }
            struct dd mean = dd_divide(sum, (struct dd){-(double)m, 0});
            for (size_t k = 0; k < m; k++) {
                A[row[k] * n + j] = dd_add(A[row[k] * n + j], mean);
            }
        }
    }
}

static void transpose(size_t n, struct dd *A) {
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            struct dd saved = A[i * n + j];
            A[i * n + j] = A[j * n + i];
            A[j * n + i] = saved;
        }
    }
}

/* The square of the constant feature, which double-double kernel values do not include. */
static struct dd square_of(const struct matrix *matrix) {
    double constant = matrix->factor > 0 ? matrix->problem->constant : 0;
    return dd_two_product(constant, constant);
}

/* Computes A: K centred, with rows and columns divided by units (powers of 2), so that small
 * entries are not rounding errors of large ones. In double, the units are at least MIN_UNIT of the
 * norm bounds. */
static void prepare(struct matrix *matrix, const struct row_groups *groups) {
    size_t n = matrix->map->n;
    struct dd *A = matrix->A;
    struct dd square = square_of(matrix);
    for (size_t i = 0; i < n * n; i++) {
        A[i] = dd_add(dd_two_sum(matrix->K[i], matrix->rest[i]), square);
    }
    centre_rows(groups, n, A);
    transpose(n, A);
    centre_rows(groups, n, A);
    for (size_t i = 0; i < n; i++) {
        double norm_bound = matrix->norm_bound[i],
               floor = matrix->factor > 0 ? 0 : MIN_UNIT * norm_bound;
        double size = fmax(sqrt(fmax(0, A[i * n + i].hi)), floor);
        matrix->unit[i] = size > 0 ? exp2(round(log2(size))) : 1;
        matrix->least[i] = NOISE * (double)n * matrix->factor * (norm_bound / matrix->unit[i]) *
                           (norm_bound / matrix->unit[i]);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            double inverse = 1 / (matrix->unit[i] * matrix->unit[j]);
            A[i * n + j] = (struct dd){A[i * n + j].hi * inverse, A[i * n + j].lo * inverse};
        }
    }
}

/* ---- the factor ---- */

/* True if K - F F' (n, n) is only rounding. K is work. */
static bool leaves_nothing(const struct row_features *features, double most, double *K) {
    size_t n = features->n, m = features->m;
    double residual = 0;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)n, (int)m, -1, features->F,
                (int)m, features->F, (int)m, 1, K, (int)n);
    for (size_t i = 0; i < n * n; i++) {
        residual = fmax(residual, fabs(K[i]));
    }
    return residual <= INDEFINITE * most;
}

/* Factors A; *definite: whether it is positive semidefinite. */
static int factor(struct row_features *features, struct matrix *matrix, bool *definite,
                  struct error *err) {
    size_t n = features->n;
    double *L = matrix->rest, most = 0;
    for (size_t i = 0; i < n; i++) {
        double unit = matrix->unit[i];
        most = fmax(most, fabs(matrix->K[i * n + i]) / (unit * unit));
    }
    for (size_t i = 0; i < n * n; i++) {
        matrix->K[i] = L[i] = matrix->A[i].hi;
    }
    if (matrix->factor > 0) {
        features->m = cholesky_dd_pivoted(matrix->A, n, matrix->least, features->pivot);
        for (size_t i = 0; i < n * n; i++) {
            L[i] = matrix->A[i].hi;
        }
    } else if (cholesky_pivoted(L, n, 0, &features->m, features->pivot, err) < 0) {
        return -1;
    }
    size_t m = features->m;
    features->F = memory_zeros(n, m * sizeof *features->F, "features", err);
    features->low =
        matrix->factor > 0 ? memory_zeros(m, m * sizeof(double), "features", err) : NULL;
    if (!features->F || (matrix->factor > 0 && !features->low)) {
        return -1;
    }
    for (size_t k = 0; features->low && k < m; k++) {
        for (size_t f = 0; f <= k; f++) {
            features->low[k * m + f] = matrix->unit[features->pivot[k]] * matrix->A[k * n + f].lo;
        }
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(features->F + features->pivot[i] * m, L + i * n, smaller(i + 1, m) * sizeof *L);
    }
    *definite = m > 0 && leaves_nothing(features, most, matrix->K);
    for (size_t i = 0; i < n; i++) {
        for (size_t f = 0; f < m; f++) {
            features->F[i * m + f] *= matrix->unit[i];
        }
    }
    return 0;
}

static int factor_matrix(struct row_features *features, struct matrix *matrix, bool rows,
                         bool *definite, struct error *err) {
    size_t n = features->n;
    double *pool = memory_zeros(2 * n + 2, n * sizeof *pool, "a kernel matrix", err);
    matrix->A = memory_array(n, n * sizeof *matrix->A, "a kernel matrix", err);
    features->pivot = memory_array(n, sizeof *features->pivot, "a factor", err);
    matrix->K = pool;
    matrix->rest = matrix->K + n * n;
    matrix->unit = matrix->rest + n * n;
    matrix->least = matrix->unit + n;
    int status = pool && matrix->A && features->pivot ? fill_matrix(matrix, rows, err) : -1;
    if (status == 0 && uses_dd(matrix, rows)) {
        status = fill_rest(matrix, err);
    }
    if (status == 0) {
        prepare(matrix, &features->groups);
        status = factor(features, matrix, definite, err);
    }
    free(pool);
    free(matrix->A);
    return status;
}

/* ---- creation ---- */

/* Subtracts from F (n, m) the means over each group. */
static void centre(const struct row_groups *groups, size_t m, double *F) {
    for (size_t group = 0; group < groups->n; group++) {
        size_t first = groups->start[group], end = groups->start[group + 1];
        for (size_t f = 0; f < m; f++) {
            double mean = 0;
            for (size_t k = first; k < end; k++) {
                mean += F[groups->row[k] * m + f] / (double)(end - first);
            }
            for (size_t k = first; k < end; k++) {
                F[groups->row[k] * m + f] -= mean;
            }
        }
    }
}

bool row_features_fits(const struct score_map *map, size_t n, size_t most) {
    size_t d = map->primal ? map->dimension : n;
    return n <= most && d <= MAX_VALUES && d * n <= MAX_VALUES;
}

bool row_features_are_own(const struct score_map *map) {
    return map->primal && map->dimension <= map->n;
}

int row_features_create(struct row_features *features, const struct problem *problem,
                        const struct score_map *map, const struct row_groups *groups,
                        const double *norm_bound, bool *possible, struct error *err) {
    *features = (struct row_features){.n = map->n, .own = row_features_are_own(map)};
    if (groups) {
        features->groups = *groups;
    }
    int status;
    if (!features->own) {
        struct matrix matrix = {.problem = problem, .map = map, .norm_bound = norm_bound};
        status = factor_matrix(features, &matrix, groups != NULL, possible, err);
    } else {
        features->m = map->dimension;
        features->F = memory_array(map->n, features->m * sizeof(double), "features", err);
        *possible = features->m > 0;
        status = features->F ? 0 : -1;
        if (status == 0) {
            fill_rows(problem, map->n, features->m, features->F);
            centre(&features->groups, features->m, features->F);
        }
    }
    if (status < 0 || !*possible) {
        row_features_free(features);
    }
    return status;
}

void row_features_free(struct row_features *features) {
    free(features->F);
    free(features->low);
    free(features->pivot);
    *features = (struct row_features){0};
}

void row_features_truncate(struct row_features *features, double part) {
    size_t all = features->m, m = 1;
    const double *F = features->F;
    double least = part * fabs(F[features->pivot[0] * all]);
    while (m < all && fabs(F[features->pivot[m] * all + m]) >= least) {
        m++;
    }
    for (size_t i = 0; i < features->n; i++) {
        memmove(features->F + i * m, F + i * all, m * sizeof *F);
    }
    for (size_t k = 0; features->low && k < m; k++) {
        memmove(features->low + k * m, features->low + k * all, m * sizeof *F);
    }
    features->m = m;
}

/* (g, rest) (m) += (high + low) row. */
DISPATCH static void add_row(const double *row, size_t m, double high, double low, double *g,
                             double *rest) {
    for (size_t f = 0; f < m; f++) {
        struct dd product = dd_two_product(high, row[f]), sum = dd_two_sum(g[f], product.hi);
        g[f] = sum.hi;
        rest[f] += sum.lo + fma(low, row[f], product.lo);
    }
}

void row_features_adjoint(const struct row_features *features, const long double *b, double *rest,
                          double *g) {
    size_t m = features->m;
    memset(g, 0, m * sizeof *g);
    memset(rest, 0, m * sizeof *rest);
    for (size_t i = 0; i < features->n; i++) {
        double high = (double)b[i], low = (double)(b[i] - (long double)high);
        if (high != 0) {
            add_row(features->F + i * m, m, high, low, g, rest);
        }
    }
    for (size_t f = 0; f < m; f++) {
        g[f] += rest[f];
    }
}

/* The entry of the pivots' triangle: feature k of pivot l. */
static struct dd entry(const struct row_features *features, size_t l, size_t k) {
    size_t m = features->m;
    double low = features->low ? features->low[l * m + k] : 0;
    return (struct dd){features->F[features->pivot[l] * m + k], low};
}

/* Back substitution in which each coefficient is rounded before the next is computed, so that the
 * next ones compensate for the rounding: the error in w is of the size of the triangle's diagonal,
 * not of the rows' norms (Babai's nearest-plane algorithm, 1986). */
static void solve_rounded(const struct row_features *features, const double *w, double *b) {
    size_t m = features->m;
    for (size_t k = m; k-- > 0;) {
        struct dd rest = {w[k], 0};
        for (size_t l = k + 1; l < m; l++) {
            double x = -b[features->pivot[l]];
            rest = dd_add(rest, dd_multiply(entry(features, l, k), (struct dd){x, 0}));
        }
        b[features->pivot[k]] = dd_divide(rest, entry(features, k, k)).hi;
    }
}

/* length (n): norms of the rows; 1 for zero rows. */
static void find_lengths(const struct row_features *features, double *length) {
    for (size_t i = 0; i < features->n; i++) {
        length[i] = cblas_dnrm2((int)features->m, features->F + i * features->m, 1);
        length[i] = length[i] > 0 ? length[i] : 1;
    }
}

/* Projects v (n) onto the complement of the first k columns of Q (n, m); adds the coefficients to r
 * (k). c (k) is work. */
static void project(const double *Q, size_t n, size_t m, size_t k, double *v, double *c,
                    double *r) {
    if (k > 0) {
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)n, (int)k, 1, Q, (int)m, v, 1, 0, c, 1);
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)n, (int)k, -1, Q, (int)m, c, 1, 1, v, 1);
        cblas_daxpy((int)k, 1, c, 1, r, 1);
    }
}

/* b (n): the solution of F'b = w with the least norm, each coefficient weighted by its row's
 * length. With rows divided by their lengths and F = Q R by the Gram-Schmidt method, each column
 * projected twice, it is Q R^-T w. Columns of the size of the largest one's rounding errors are
 * left out: the rounding of their coefficients would be larger than their contribution to w. R (m,
 * m), by columns, is followed by 2 m + n numbers of work. */
static void solve_least_norm(const struct row_features *features, const double *w,
                             const double *length, double *Q, double *R, double *b) {
    size_t n = features->n, m = features->m;
    double *v = R + m * m, *c = v + n, *z = c + m, most = 0;
    memset(R, 0, m * m * sizeof *R);
    memset(b, 0, n * sizeof *b);
    for (size_t k = 0; k < m; k++) {
        double *r = R + k * m;
        for (size_t i = 0; i < n; i++) {
            v[i] = features->F[i * m + k] / length[i];
        }
        project(Q, n, m, k, v, c, r);
        project(Q, n, m, k, v, c, r);
        double size = cblas_dnrm2((int)n, v, 1);
        most = fmax(most, size);
        bool counts = size * size > DBL_EPSILON * most * most;
        z[k] = counts ? (w[k] - cblas_ddot((int)k, r, 1, z, 1)) / size : 0;
        for (size_t i = 0; i < n; i++) {
            Q[i * m + k] = counts ? v[i] / size : 0;
        }
        cblas_daxpy((int)n, z[k], Q + k, (int)m, b, 1);
    }
    for (size_t i = 0; i < n; i++) {
        b[i] /= length[i];
    }
}

/* The squared error of the scores of b against those of w, with a bound of one more rounding of
 * each coefficient. r (2 m), sum (n): work. */
static double error_of(const struct row_features *features, const double *w, const double *b,
                       const double *length, double *r, long double *sum) {
    size_t n = features->n, m = features->m;
    double residual = 0, rounding = 0, longest = 0;
    for (size_t i = 0; i < n; i++) {
        sum[i] = b[i];
    }
    row_features_adjoint(features, sum, r + m, r);
    for (size_t k = 0; k < m; k++) {
        r[k] = w[k] - r[k];
    }
    for (size_t i = 0; i < n; i++) {
        double score = cblas_ddot((int)m, features->F + i * m, 1, r, 1);
        double off = DBL_EPSILON * fabs(b[i]) * length[i];
        residual += score * score;
        rounding += off * off;
        longest = fmax(longest, length[i]);
    }
    return residual + (double)n * rounding * longest * longest;
}

/* If groups are centred, which rounds coefficients, and there are many more rows than features:
 * replaces b by the least-norm coefficients of all rows, if their error is smaller. */
static int try_least_norm(const struct row_features *features, const double *w, double *b,
                          struct error *err) {
    size_t n = features->n, m = features->m;
    if (features->groups.n == 0 || n / SPARE < m) {
        return 0;
    }
    double *Q, *R, *other, *length;
    long double *sum;
    void *block = ARRAYS_CREATE("coefficients", err, ARRAYS(n * m, double, &Q),
                                ARRAYS(m * m + 2 * m + n, double, &R),
                                ARRAYS(n, double, &other, &length), ARRAYS(n, long double, &sum));
    if (block) {
        find_lengths(features, length);
        solve_least_norm(features, w, length, Q, R, other);
        if (error_of(features, w, other, length, R, sum) <
            error_of(features, w, b, length, R, sum)) {
            memcpy(b, other, n * sizeof *b);
        }
    }
    free(block);
    return block ? 0 : -1;
}

int row_features_coefficients(const struct row_features *features, const double *w, double *b,
                              struct error *err) {
    memset(b, 0, features->n * sizeof *b);
    solve_rounded(features, w, b);
    if (try_least_norm(features, w, b, err) < 0) {
        return -1;
    }
    centre(&features->groups, 1, b); /* features are those of centred rows */
    return 0;
}
