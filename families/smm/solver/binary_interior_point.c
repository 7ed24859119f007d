/* Rows, callbacks and runs of the interior-point methods of smm (binary_interior_point.h). */
#include "families/smm/solver/binary_interior_point.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/cholesky.h"
#include "common/linear_algebra/least_squares.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_UNKNOWNS = 3000 };

/* ---- rows of both interior-point methods ---- */

int interior_rows_create(struct interior_rows *rows, size_t n, size_t m, struct error *err) {
    rows->n = n;
    rows->m = m;
    rows->F = memory_zeros(n, m * sizeof *rows->F, "features", err);
    rows->signed_alpha = memory_array(n, sizeof *rows->signed_alpha, "scores", err);
    if (!rows->F || !rows->signed_alpha) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        rows->F[i * m + m - 1] = 1;
    }
    return 0;
}

void interior_rows_free(struct interior_rows *rows) {
    free(rows->F);
    free(rows->signed_alpha);
}

static void scores(void *context, const double *w, double *v) {
    const struct interior_rows *rows = context;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)rows->n, (int)rows->m, 1, rows->F, (int)rows->m,
                w, 1, 0, v, 1);
    for (size_t i = 0; i < rows->n; i++) {
        v[i] *= rows->y[i];
    }
}

static void adjoint(void *context, const double *a, double *g) {
    const struct interior_rows *rows = context;
    for (size_t i = 0; i < rows->n; i++) {
        rows->signed_alpha[i] = rows->y[i] * a[i];
    }
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)rows->n, (int)rows->m, 1, rows->F, (int)rows->m,
                rows->signed_alpha, 1, 0, g, 1);
}

int interior_rows_solve(struct interior_rows *rows, struct interior_problem *problem,
                        const struct binary_loss *loss, double epsilon,
                        const struct monitor *monitor, struct binary_fit *fit, struct error *err) {
    struct interior *interior = NULL;
    struct interior_fit found;
    rows->y = loss->y;
    problem->n = rows->n;
    problem->dimension = rows->m;
    problem->cost = loss->cost;
    problem->n_free = 1;
    problem->squared = loss->squared;
    problem->context = rows;
    problem->scores = scores;
    problem->adjoint = adjoint;
    if (interior_open(&interior, problem, err) < 0) {
        return -1;
    }
    interior_run(interior, epsilon, 0, monitor, &found);
    memcpy(fit->w, found.w, (rows->m - 1) * sizeof *fit->w);
    memcpy(fit->alpha, found.alpha, rows->n * sizeof *fit->alpha);
    binary_balance(loss->cluster, loss->y, rows->n, fit->alpha);
    fit->bias = found.w[rows->m - 1];
    fit->primal = found.primal;
    fit->dual = found.dual;
    fit->iterations = found.iterations;
    fit->reason = found.stop;
    interior_close(interior);
    return 0;
}

/* ---- features of the SVM ---- */

/* Features: the rows' own, or of a pivoted Cholesky factor, F F' = Z Z'. */
struct binary_interior {
    struct interior_rows rows;
    uint32_t *pivot; /* (rank) rows of F that form a lower triangle; NULL: own features */
    struct least_squares *stacked; /* factorisation of the system by its stacked rows */
};

bool binary_interior_possible(const struct binary_rows *rows) {
    size_t min_side = smaller(rows->n, rows->d);
    return !rows->cluster && min_side < MAX_UNKNOWNS && min_side > 0 &&
           (double)rows->n * (double)rows->d <= (double)SMM_INTERIOR_VALUES;
}

static int factor_products(struct binary_interior *in, const struct binary_rows *rows,
                           struct error *err) {
    size_t n = rows->n, rank = 0;
    double *Z = memory_array(n, rows->d * sizeof *Z, "dense rows", err);
    double *K = memory_array(n, n * sizeof *K, "products of rows", err);
    in->pivot = memory_array(n, sizeof *in->pivot, "products of rows", err);
    int status = Z && K && in->pivot ? 0 : -1;
    if (status == 0) {
        for (size_t i = 0; i < n; i++) {
            binary_row(rows, i, Z + i * rows->d);
        }
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)n, (int)rows->d, 1, Z,
                    (int)rows->d, 0, K, (int)n);
        status = cholesky_pivoted(K, n, 0, &rank, in->pivot, err);
    }
    if (status == 0) {
        status = interior_rows_create(&in->rows, n, rank + 1, err);
    }
    for (size_t i = 0; status == 0 && i < n; i++) {
        memcpy(in->rows.F + in->pivot[i] * in->rows.m, K + i * n, smaller(i + 1, rank) * sizeof *K);
    }
    free(Z);
    free(K);
    return status;
}

static int create_features(struct binary_interior *in, const struct binary_rows *rows,
                           struct error *err) {
    if (rows->n < rows->d) {
        return factor_products(in, rows, err);
    }
    if (interior_rows_create(&in->rows, rows->n, rows->d + 1, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < rows->n; i++) {
        binary_row(rows, i, in->rows.F + i * in->rows.m);
    }
    return 0;
}

static int factor(void *context, const double *theta) {
    const struct binary_interior *in = context;
    for (size_t i = 0; i < in->rows.n; i++) {
        const double *x = in->rows.F + i * in->rows.m;
        double root = sqrt(theta[i]), *row = least_squares_row(in->stacked, i);
        array_multiple(row, root, x, in->rows.m);
    }
    return least_squares_factor(in->stacked);
}

static void solve(void *context, double *x) {
    const struct binary_interior *in = context;
    least_squares_solve(in->stacked, x);
}

/* ---- solving ---- */

/* Turns F's weights, the first entries of w (d), into weights of the rows' features: unchanged for
 * own features, else through coefficients of the pivot rows, by back substitution. */
static int take_weights(const struct binary_interior *in, const struct binary_rows *rows, double *w,
                        struct error *err) {
    size_t m = in->rows.m;
    if (!in->pivot) {
        return 0;
    }
    const double *F = in->rows.F;
    double *c = in->rows.signed_alpha;
    memset(c, 0, in->rows.n * sizeof *c);
    for (size_t k = m - 1; k-- > 0;) {
        double left = w[k];
        for (size_t l = k + 1; l < m - 1; l++) {
            left -= F[in->pivot[l] * m + k] * c[in->pivot[l]];
        }
        c[in->pivot[k]] = left / F[in->pivot[k] * m + k];
    }
    return binary_adjoint(rows, c, w, err);
}

void binary_balance(struct cluster *cluster, const double *y, size_t n, double *alpha) {
    double sums[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        sums[y[i] > 0] += alpha[i];
    }
    cluster_sum(cluster, sums, 2);
    double min_side = fmin(sums[0], sums[1]);
    for (size_t i = 0; sums[0] != sums[1] && i < n; i++) {
        alpha[i] *= sums[y[i] > 0] > 0 ? min_side / sums[y[i] > 0] : 1;
    }
}

int binary_interior_solve(const struct binary_rows *rows, const struct binary_loss *loss,
                          double epsilon, const struct monitor *monitor, struct binary_fit *fit,
                          struct error *err) {
    struct binary_interior in = {0};
    struct interior_problem problem = {.factor = factor, .solve = solve};
    int status = create_features(&in, rows, err);
    if (status == 0) {
        size_t m = in.rows.m;
        status = least_squares_create(&in.stacked, in.rows.n, m, m - 1, true, err);
    }
    if (status == 0) {
        status = interior_rows_solve(&in.rows, &problem, loss, epsilon, monitor, fit, err);
    }
    if (status == 0) {
        status = take_weights(&in, rows, fit->w, err);
    }
    interior_rows_free(&in.rows);
    free(in.pivot);
    least_squares_free(in.stacked);
    return status;
}
