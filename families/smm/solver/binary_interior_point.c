#include "families/smm/solver/binary_interior_point.h"

#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/cholesky.h"
#include "common/linear_algebra/least_squares.h"
#include "methods/interior_point.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_UNKNOWNS = 3000, MOST_VALUES = 1 << 25 };

/* Features: the rows' own, or those of a factor of their products, F F' = Z Z'. */
struct binary_interior {
    size_t n, m;          /* rows, columns of F with the last, of ones */
    double *F;            /* (n, m) */
    uint32_t *pivot;      /* (rank) the rows of F that are a lower triangle; NULL: own features */
    const double *y;      /* (n) */
    double *signed_alpha; /* (n) */
    double *counted;      /* (m) */
    struct stacked *stacked; /* the system's rows */
};

bool binary_interior_possible(const struct binary_rows *rows) {
    size_t least = smaller(rows->n, rows->d);
    return !rows->cluster && least < MOST_UNKNOWNS && least > 0 &&
           (double)rows->n * (double)rows->d <= (double)MOST_VALUES;
}

/* ---- features ---- */

static int factor_products(struct binary_interior *in, const struct binary_rows *rows,
                           struct error *err) {
    size_t n = in->n, rank = 0;
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
        in->m = rank + 1;
        in->F = memory_zeros(n, in->m * sizeof *in->F, "features", err);
        status = in->F ? 0 : -1;
    }
    for (size_t i = 0; status == 0 && i < n; i++) {
        memcpy(in->F + in->pivot[i] * in->m, K + i * n, smaller(i + 1, rank) * sizeof *K);
    }
    free(Z);
    free(K);
    return status;
}

static int create_features(struct binary_interior *in, const struct binary_rows *rows,
                           struct error *err) {
    if (rows->n < rows->d) {
        if (factor_products(in, rows, err) < 0) {
            return -1;
        }
    } else {
        in->m = rows->d + 1;
        in->F = memory_array(in->n, in->m * sizeof *in->F, "features", err);
        if (!in->F) {
            return -1;
        }
        for (size_t i = 0; i < in->n; i++) {
            binary_row(rows, i, in->F + i * in->m);
        }
    }
    for (size_t i = 0; i < in->n; i++) {
        in->F[i * in->m + in->m - 1] = 1;
    }
    return 0;
}

/* ---- what the interior point asks for ---- */

static void scores(void *context, const double *w, double *v) {
    const struct binary_interior *in = context;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)in->n, (int)in->m, 1, in->F, (int)in->m, w, 1, 0,
                v, 1);
    for (size_t i = 0; i < in->n; i++) {
        v[i] *= in->y[i];
    }
}

static void adjoint(void *context, const double *a, double *g) {
    const struct binary_interior *in = context;
    for (size_t i = 0; i < in->n; i++) {
        in->signed_alpha[i] = in->y[i] * a[i];
    }
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)in->n, (int)in->m, 1, in->F, (int)in->m,
                in->signed_alpha, 1, 0, g, 1);
}

static int factor(void *context, const double *theta) {
    const struct binary_interior *in = context;
    for (size_t i = 0; i < in->n; i++) {
        const double *x = in->F + i * in->m;
        double root = sqrt(theta[i]), *row = stacked_row(in->stacked, i);
        for (size_t j = 0; j < in->m; j++) {
            row[j] = root * x[j];
        }
    }
    return stacked_factor(in->stacked);
}

static void solve(void *context, double *x) {
    const struct binary_interior *in = context;
    stacked_solve(in->stacked, x);
}

/* ---- solving ---- */

static int allocate(struct binary_interior *in, struct error *err) {
    size_t m = in->m;
    in->signed_alpha = memory_array(in->n, sizeof(double), "scores", err);
    in->counted = memory_array(m, sizeof(double), "weights", err);
    if (!in->signed_alpha || !in->counted ||
        stacked_create(&in->stacked, in->n, m, m - 1, true, err) < 0) {
        return -1;
    }
    for (size_t j = 0; j < m; j++) {
        in->counted[j] = j + 1 < m ? 1 : 0;
    }
    return 0;
}

static void release(struct binary_interior *in) {
    free(in->F);
    free(in->pivot);
    free(in->signed_alpha);
    free(in->counted);
    stacked_free(in->stacked);
}

/* w (d) of a point in F's weights: as they are, or as the rows at the pivots make them. */
static int take_weights(struct binary_interior *in, const struct binary_rows *rows,
                        const double *weights, double *w, struct error *err) {
    size_t m = in->m;
    if (!in->pivot) {
        memcpy(w, weights, (m - 1) * sizeof *w);
        return 0;
    }
    double *c = in->signed_alpha;
    memset(c, 0, in->n * sizeof *c);
    for (size_t k = m - 1; k-- > 0;) {
        double left = weights[k];
        for (size_t l = k + 1; l < m - 1; l++) {
            left -= in->F[in->pivot[l] * m + k] * c[in->pivot[l]];
        }
        c[in->pivot[k]] = left / in->F[in->pivot[k] * m + k];
    }
    return binary_adjoint(rows, c, w, err);
}

void binary_balance(struct cluster *cluster, const double *y, size_t n, double *alpha) {
    double sums[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        sums[y[i] > 0] += alpha[i];
    }
    cluster_sum(cluster, sums, 2);
    double least = fmin(sums[0], sums[1]);
    for (size_t i = 0; least > 0 && i < n; i++) {
        alpha[i] *= least / sums[y[i] > 0];
    }
}

int binary_interior_solve(const struct binary_rows *rows, const struct binary_loss *loss,
                          double epsilon, const struct monitor *monitor,
                          struct binary_interior_fit *fit, struct error *err) {
    struct binary_interior in = {.n = rows->n, .y = loss->y};
    struct interior *interior = NULL;
    *fit = (struct binary_interior_fit){
        .w = memory_array(rows->d, sizeof(double), "weights", err),
        .alpha = memory_array(rows->n, sizeof(double), "dual variables", err)};
    int status = fit->w && fit->alpha ? create_features(&in, rows, err) : -1;
    if (status == 0) {
        status = allocate(&in, err);
    }
    if (status == 0) {
        const struct interior_problem problem = {.n = in.n,
                                                 .dimension = in.m,
                                                 .cost = loss->cost,
                                                 .margin = loss->margin,
                                                 .counted = in.counted,
                                                 .squared = loss->squared,
                                                 .context = &in,
                                                 .scores = scores,
                                                 .adjoint = adjoint,
                                                 .factor = factor,
                                                 .solve = solve};
        status = interior_open(&interior, &problem, err);
    }
    if (status == 0) {
        struct interior_fit found;
        interior_run(interior, epsilon, 0, monitor, &found);
        memcpy(fit->alpha, found.alpha, in.n * sizeof *fit->alpha);
        binary_balance(rows->cluster, loss->y, in.n, fit->alpha);
        fit->bias = found.w[in.m - 1];
        fit->primal = found.primal;
        fit->dual = found.dual;
        fit->iterations = found.iterations;
        fit->stop = found.stop;
        status = take_weights(&in, rows, found.w, fit->w, err);
    }
    interior_close(interior);
    release(&in);
    if (status < 0) {
        binary_interior_free(fit);
    }
    return status;
}

void binary_interior_free(struct binary_interior_fit *fit) {
    free(fit->w);
    free(fit->alpha);
    fit->w = fit->alpha = NULL;
}
