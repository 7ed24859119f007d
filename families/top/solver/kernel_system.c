/* The matrix of rows or of features in double by BLAS and LAPACK; see feature_system_dd.c for
 * double-double. */
#include "families/top/solver/kernel_system.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/cholesky.h"
#include "families/top/solver/feature_system_dd.h"
#include "fit/work.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_ROWS = 4096,    /* largest order of a matrix that is factored */
    ALWAYS_ROWS = 1024, /* and this order for any cache size */
    BLOCK = 128         /* rows of features per block */
};

struct top_system {
    const struct problem *problem;
    const struct score_map *map;
    const uint32_t *rows;
    /* (m, d) features of the rows from a factor of K; NULL: the problem's */
    const double *factor_features;
    double *with_constant; /* (m, d) copy of these with the constant feature; or NULL */
    size_t m, d;           /* d: order of the factored matrix */
    bool features;
    bool centred;
    double *diagonal;                /* (m) */
    double *K;                       /* (m, m), lower half; without features */
    double *factor;                  /* (d, d) Cholesky factor */
    double *E;                       /* (m) of the last factorisation; with features */
    double *mean;                    /* (d) the centre; with features and centred */
    double *weights, *weights_work;  /* (dimension) work; weights_work: with features */
    double *all_rows;                /* (n) work: coefficients or scores of all rows */
    double *row_work;                /* (m) work */
    double *block;                   /* (BLOCK, d) work; with features */
    double *X;                       /* (m, d) the rows; with system_dd */
    void *work, *feature_work;       /* blocks of these arrays: vectors, and those with features */
    struct top_system_dd *system_dd; /* NULL: systems are solved in double */
};

/* The number of features, with the constant one. */
static size_t count_features(const struct problem *problem) {
    return (size_t)problem->data->n_features + (problem->constant > 0);
}

/* Whether the system is that of the features. Over processes it is: a matrix of rows would be of
 * all processes' rows. */
static bool by_features(const struct problem *problem, size_t m) {
    return problem->cluster || (!problem->gram && count_features(problem) <= m);
}

double top_system_work(const struct problem *problem, size_t m) {
    double rows = (double)m, side = rows, forming, bytes;
    if (by_features(problem, m)) {
        side = (double)count_features(problem);
        double values = cluster_total(problem->cluster, (double)data_values(problem->data));
        forming = work_blas3(rows * side * side / 2) + work_scalar(2 * values);
        bytes = side * side * sizeof(double);
    } else {
        forming = work_scalar(8 * rows * rows);
        bytes = 2 * rows * rows * sizeof(double);
    }
    if (side > MAX_ROWS || (side > ALWAYS_ROWS && bytes > (double)problem->cache_bytes)) {
        return INFINITY;
    }
    return forming + work_cholesky(side);
}

size_t top_system_max_rows(const struct problem *problem) {
    double room = sqrt((double)problem->cache_bytes / (2 * sizeof(double)));
    return room >= MAX_ROWS ? MAX_ROWS : room <= ALWAYS_ROWS ? ALWAYS_ROWS : (size_t)room;
}

/* ---- creation ---- */

/* Centres K: K_ij - k_i - k_j + c'k, k = K c. */
static int centre_matrix(struct top_system *system, const double *centre, struct error *err) {
    const struct score_map *map = system->map;
    size_t m = system->m;
    if (map->adjoint(map, centre, system->weights, err) < 0 ||
        map->exact(map, system->weights, 1, system->all_rows, err) < 0) {
        return -1;
    }
    double square = array_dot(centre, system->all_rows, map->n);
    for (size_t i = 0; i < m; i++) {
        double k_i = system->all_rows[system->rows[i]];
        for (size_t j = 0; j <= i; j++) {
            system->K[i * m + j] += square - k_i - system->all_rows[system->rows[j]];
        }
    }
    return 0;
}

static int fill_matrix(struct top_system *system, const double *centre, struct error *err) {
    size_t m = system->m;
    system->K = memory_array(m, m * sizeof *system->K, "a kernel matrix", err);
    if (!system->K || problem_matrix(system->problem, system->rows, m, system->K, err) < 0 ||
        (centre && centre_matrix(system, centre, err) < 0)) {
        return -1;
    }
    for (size_t i = 0; i < m; i++) {
        system->diagonal[i] = fmax(0, system->K[i * m + i]);
    }
    return 0;
}

/* Row i of the features in use, less the centre. */
static void take_row(const struct top_system *system, size_t i, double *row) {
    const struct problem *problem = system->problem;
    if (system->factor_features) {
        memcpy(row, system->factor_features + i * system->d, system->d * sizeof *row);
        return;
    }
    data_row_dense(problem->data, system->rows[i], problem->data->n_features, row);
    if (problem->constant > 0) {
        row[system->d - 1] = problem->constant;
    }
    if (system->centred) {
        array_add(row, -1, system->mean, system->d);
    }
}

static int prepare_features(struct top_system *system, const double *centre, struct error *err) {
    const struct score_map *map = system->map;
    size_t m = system->m, d = system->d;
    system->feature_work = ARRAYS_CREATE("a system", err, ARRAYS(m, double, &system->E),
                                         ARRAYS(d * BLOCK, double, &system->block),
                                         ARRAYS(d, double, &system->mean, &system->weights_work));
    if (!system->feature_work || (centre && map->adjoint(map, centre, system->mean, err) < 0)) {
        return -1;
    }
    for (size_t i = 0; i < m; i++) {
        take_row(system, i, system->block);
        system->diagonal[i] = array_dot(system->block, system->block, d);
    }
    return 0;
}

/* Uses the features of a factor of K, with the constant feature as the last column: in the factor
 * of K a large one would leave rounding errors of its square. */
static int use_factor_features(struct top_system *system,
                               const struct row_features *factor_features, struct error *err) {
    size_t m = system->m, d = system->d;
    system->factor_features = factor_features->F;
    if (d == factor_features->m) {
        return 0;
    }
    system->factor_features = system->with_constant =
        memory_array(m, d * sizeof(double), "features", err);
    for (size_t i = 0; system->factor_features && i < m; i++) {
        memcpy(system->with_constant + i * d, factor_features->F + i * factor_features->m,
               factor_features->m * sizeof(double));
        system->with_constant[(i + 1) * d - 1] = system->problem->constant;
    }
    return system->factor_features ? 0 : -1;
}

int top_system_create(struct top_system **system, const struct problem *problem,
                      const struct score_map *map, const uint32_t *rows, size_t m,
                      const double *centre, const struct row_features *factor_features,
                      bool add_constant, struct error *err) {
    struct top_system *made = memory_zeros(1, sizeof *made, "a system", err);
    if (!made) {
        return -1;
    }
    made->problem = problem;
    made->map = map;
    made->rows = rows;
    made->m = m;
    made->features = factor_features || by_features(problem, m);
    made->d = factor_features  ? factor_features->m + add_constant
              : made->features ? count_features(problem)
                               : m;
    made->centred = centre;
    made->work = ARRAYS_CREATE("a system", err, ARRAYS(m, double, &made->diagonal, &made->row_work),
                               ARRAYS(larger(map->dimension, made->d), double, &made->weights),
                               ARRAYS(map->n, double, &made->all_rows));
    made->factor = memory_array(made->d, made->d * sizeof(double), "a system", err);
    if (!made->work || !made->factor ||
        (factor_features && use_factor_features(made, factor_features, err) < 0) ||
        (made->features ? prepare_features(made, centre, err) : fill_matrix(made, centre, err)) <
            0) {
        top_system_free(made);
        return -1;
    }
    *system = made;
    return 0;
}

void top_system_free(struct top_system *system) {
    if (!system) {
        return;
    }
    top_system_dd_free(system->system_dd);
    free(system->work);
    free(system->feature_work);
    free(system->K);
    free(system->factor);
    free(system->X);
    free(system->with_constant);
    free(system);
}

/* ---- use ---- */

const double *top_system_diagonal(const struct top_system *system) {
    return system->diagonal;
}

bool top_system_by_features(const struct top_system *system) {
    return system->features;
}

size_t top_system_width(const struct top_system *system) {
    return system->features ? system->d : 0;
}

int top_system_use_dd(struct top_system *system, bool *uses_dd, struct error *err) {
    size_t m = system->m, d = system->d;
    *uses_dd = false;
    if (!system->features || system->map->cluster || system->system_dd ||
        !top_system_dd_fits(m, d)) {
        return 0;
    }
    system->X = memory_array(m, d * sizeof *system->X, "a system", err);
    if (!system->X || top_system_dd_create(&system->system_dd, system->X, m, d, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < m; i++) {
        take_row(system, i, system->X + i * d);
    }
    *uses_dd = true;
    return 0;
}

/* system->weights (d) = X'r for the rows in use, r (m). */
static int features_adjoint(struct top_system *system, const double *r, struct error *err) {
    double sum = 0;
    if (system->factor_features) {
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)system->m, (int)system->d, 1,
                    system->factor_features, (int)system->d, r, 1, 0, system->weights, 1);
        return 0;
    }
    for (size_t i = 0; i < system->m; i++) {
        system->all_rows[system->rows[i]] = r[i];
        sum += r[i];
    }
    int status = system->map->adjoint(system->map, system->all_rows, system->weights, err);
    if (status == 0 && system->centred) {
        sum = cluster_total(system->map->cluster, sum);
        array_add(system->weights, -sum, system->mean, system->d);
    }
    for (size_t i = 0; i < system->m; i++) {
        system->all_rows[system->rows[i]] = 0;
    }
    return status;
}

int top_system_scores(struct top_system *system, const double *weights, double *s,
                      struct error *err) {
    if (system->factor_features) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)system->m, (int)system->d, 1,
                    system->factor_features, (int)system->d, weights, 1, 0, s, 1);
        return 0;
    }
    double offset = system->centred ? array_dot(system->mean, weights, system->d) : 0;
    if (system->map->scores(system->map, weights, system->all_rows, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < system->m; i++) {
        s[i] = system->all_rows[system->rows[i]] - offset;
    }
    memset(system->all_rows, 0, system->map->n * sizeof *system->all_rows);
    return 0;
}

int top_system_weights(struct top_system *system, const double *b, double *weights,
                       struct error *err) {
    if (features_adjoint(system, b, err) < 0) {
        return -1;
    }
    memcpy(weights, system->weights, system->d * sizeof *weights);
    return 0;
}

int top_system_square(struct top_system *system, const double *b, double *s, double *square,
                      struct error *err) {
    int m = (int)system->m;
    if (system->features) {
        if (features_adjoint(system, b, err) < 0) {
            return -1;
        }
        *square = array_dot(system->weights, system->weights, system->d);
        return 0;
    }
    cblas_dsymv(CblasRowMajor, CblasLower, m, 1, system->K, m, b, 1, 0, s, 1);
    *square = fmax(0, array_dot(b, s, system->m));
    return 0;
}

static int factor_feature_matrix(struct top_system *system, const double *E) {
    size_t m = system->m, d = system->d;
    memcpy(system->E, E, m * sizeof *E);
    if (system->system_dd) {
        return top_system_dd_factor(system->system_dd, system->E) ? 0 : -1;
    }
    struct cluster *cluster = system->map->cluster;
    memset(system->factor, 0, d * d * sizeof *system->factor);
    for (size_t j = 0; j < d && cluster_is_root(cluster); j++) {
        system->factor[j * d + j] = 1;
    }
    for (size_t i = 0; i < m; i += BLOCK) {
        size_t height = smaller(BLOCK, m - i);
        for (size_t r = 0; r < height; r++) {
            double *row = system->block + r * d, scale = 1 / sqrt(E[i + r]);
            take_row(system, i + r, row);
            array_scale(row, scale, d);
        }
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)d, (int)height, 1, system->block,
                    (int)d, 1, system->factor, (int)d);
    }
    cluster_sum_lower(cluster, system->factor, d);
    return cholesky_factor(system->factor, d);
}

static int factor_kernel_matrix(struct top_system *system, const double *E) {
    size_t m = system->m;
    for (size_t i = 0; i < m; i++) {
        memcpy(system->factor + i * m, system->K + i * m, (i + 1) * sizeof *system->K);
        system->factor[i * m + i] += E[i];
    }
    return cholesky_factor(system->factor, m);
}

bool top_system_factor(struct top_system *system, const double *E) {
    return (system->features ? factor_feature_matrix(system, E)
                             : factor_kernel_matrix(system, E)) == 0;
}

int top_system_solve_both(struct top_system *system, const double *residual, double *x,
                          double *weights, struct error *err) {
    size_t m = system->m, d = system->d;
    if (system->system_dd) {
        top_system_dd_solve(system->system_dd, residual, x, weights);
        return 0;
    }
    for (size_t i = 0; i < m; i++) {
        system->row_work[i] = x[i] / system->E[i];
    }
    if (features_adjoint(system, system->row_work, err) < 0) {
        return -1;
    }
    memcpy(weights, system->weights, d * sizeof *weights);
    if (residual) {
        array_add(weights, 1, residual, d);
    }
    cholesky_solve(system->factor, d, weights);
    if (top_system_scores(system, weights, system->row_work, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < m; i++) {
        x[i] = (x[i] - system->row_work[i]) / system->E[i];
    }
    return 0;
}

int top_system_solve(struct top_system *system, double *x, struct error *err) {
    if (system->features) {
        return top_system_solve_both(system, NULL, x, system->weights_work, err);
    }
    cholesky_solve(system->factor, system->m, x);
    return 0;
}
