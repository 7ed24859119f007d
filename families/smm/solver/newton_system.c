/* Newton systems: Cholesky factors of the matrix of rows or of features, or conjugate gradients
 * (newton_system.h). */
#include "families/smm/solver/newton_system.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/cholesky.h"
#include "families/smm/solver/feature_hessian.h"
#include "families/smm/solver/quantised_rows.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_ROWS = 4000,  /* of a factored matrix */
    MAX_CELLS = 3000, /* the same: it then has 72 MB */
    TILE = 128,       /* rows per task */
    MIN_CG_STEPS = 10,
    MAX_CG_STEPS = 300 /* of conjugate gradients */
};

/* speed of a matrix product relative to a pass over the rows, per product */
static const double BLAS = 20;

static const size_t MAX_VALUES = (size_t)1 << 26; /* of cached rows, and of features */

/* Relative residuals of conjugate gradients. Steps may be inexact: the second one suffices as soon
 * as the products cost as much as the passes that evaluate a point. 2,000 of 40 x 40, tau = 30,
 * takes 69 steps and .9 s; 203 and 2.2 s with the first one always; 10,000 of 100 x 100, tau =
 * 1000, 91 steps instead of 58 with the second. */
static const double FORCING = 0.05, LOOSE_FORCING = 0.2, EVALUATION_PASSES = 2;

/* A pass over quantised rows counts as so many over the rows. Its time is .4 of one; with that
 * value systems are solved less well, and 10,000 x 100 x 100, C = 1, tau = 100 takes 128 Newton
 * steps instead of 63 (tau = 1 and 10: 52 and 66 instead of 48 and 60). */
static const double QUANTISED_PASS = 0.2;

/* Above this ratio of the curvature along a step to that which conjugate gradients have seen,
 * quantised rows are too coarse. */
static const double MAX_CURVATURE = 1.2;

/* The curved rows, ascending, and d of each. */
struct curved {
    const uint32_t *row;
    const double *d;
    size_t m;
};

/* Rows are numbered over all processes, but within `struct curved` of one process locally. */
struct newton_system {
    const struct binary_rows *rows;
    size_t n_all, first;      /* rows of all processes; first row of this one */
    size_t cells, max_cached; /* maximal number of cached rows */
    uint32_t *row;            /* (max_cached) numbers of the cached rows */
    uint32_t *position;       /* (n_all) position of a row in the cache; UINT32_MAX: none */
    size_t n_cached, capacity;
    double *X;                                 /* (capacity, cells) cached rows */
    double *K;                                 /* (capacity, capacity) lower half: their products */
    double *H;                                 /* (cells, cells) matrix of features, or NULL */
    double *full, *products;                   /* (n) zeros, except during a product; work */
    double *x, *b;                             /* (n_all) of the curved rows */
    uint32_t *all_row;                         /* (n_all) the curved rows of all processes */
    double *all_d;                             /* (n_all) and their d */
    double *p, *Pp, *Ap, *residual, *z, *mean; /* (cells) */
    double *P_step;                            /* (cells) P times the step */
    void *block;                               /* all arrays except X and K */
    struct quantised_rows *quantised;          /* NULL: none yet */
    bool exact; /* conjugate gradients read the data, not quantised rows */
};

static int count_rows(struct newton_system *system, struct error *err) {
    struct cluster *cluster = system->rows->cluster;
    size_t own = cluster_rank(cluster), processes = cluster_size(cluster);
    double *rows = memory_zeros(processes, sizeof *rows, "numbers of rows", err);
    if (!rows) {
        return -1;
    }
    rows[own] = (double)system->rows->n;
    cluster_sum(cluster, rows, processes);
    for (size_t k = 0; k < processes; k++) {
        system->first += k < own ? (size_t)rows[k] : 0;
        system->n_all += (size_t)rows[k];
    }
    free(rows);
    return 0;
}

int newton_system_create(struct newton_system **system, const struct binary_rows *rows,
                         struct error *err) {
    struct newton_system *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->rows = rows;
    made->cells = rows->d;
    made->max_cached = smaller(MAX_ROWS, MAX_VALUES / larger(made->cells, 1));
    if (count_rows(made, err) < 0) {
        newton_system_free(made);
        return -1;
    }
    made->exact = cluster_any(rows->cluster, !rows->data || !quantised_rows_pay(rows->data));
    size_t n_all = made->n_all;
    made->max_cached = smaller(made->max_cached, n_all);
    made->block = ARRAYS_CREATE("a system", err, ARRAYS(made->max_cached, uint32_t, &made->row),
                                ARRAYS(n_all, uint32_t, &made->position, &made->all_row),
                                ARRAYS(rows->n, double, &made->full, &made->products),
                                ARRAYS(n_all, double, &made->x, &made->b, &made->all_d),
                                ARRAYS(made->cells, double, &made->p, &made->Pp, &made->Ap,
                                       &made->residual, &made->z, &made->mean, &made->P_step));
    if (!made->block) {
        newton_system_free(made);
        return -1;
    }
    memset(made->position, 0xff, n_all * sizeof *made->position);
    *system = made;
    return 0;
}

void newton_system_free(struct newton_system *system) {
    if (system) {
        quantised_rows_free(system->quantised);
        free(system->block);
        free(system->X);
        free(system->K);
        free(system->H);
        free(system);
    }
}

/* ---- the curved rows ---- */

static void curved_scores(const struct newton_system *system, const struct curved *curved,
                          const double *W, double *s) {
    binary_scores_at(system->rows, curved->row, curved->m, W, s);
}

/* out = P^-1 H. */
static void invert(const struct newton_system *system, struct smm_spectral *spectral,
                   const double *H, double *out) {
    if (spectral) {
        smm_spectral_inverse(spectral, H, out);
    } else {
        memcpy(out, H, system->cells * sizeof *out);
    }
}

/* H (cells) = X'x. */
static int curved_adjoint(struct newton_system *system, const struct curved *curved,
                          const double *x, double *H, struct error *err) {
    for (size_t i = 0; i < curved->m; i++) {
        system->full[curved->row[i]] = x[i];
    }
    int status = binary_adjoint(system->rows, system->full, H, err);
    for (size_t i = 0; i < curved->m; i++) {
        system->full[curved->row[i]] = 0;
    }
    return status;
}

/* The curved rows of all processes; those of this one start at *own. */
static struct curved allgather_curved(struct newton_system *system, const struct curved *curved,
                                      size_t *own) {
    struct curved all = {.row = system->all_row, .d = system->all_d};
    memset(system->all_d, 0, system->n_all * sizeof *system->all_d);
    for (size_t i = 0; i < curved->m; i++) {
        system->all_d[system->first + curved->row[i]] = curved->d[i];
    }
    cluster_sum(system->rows->cluster, system->all_d, system->n_all);
    *own = 0;
    for (size_t i = 0; i < system->n_all; i++) {
        if (system->all_d[i] > 0) {
            *own += i < system->first;
            system->all_row[all.m] = (uint32_t)i;
            system->all_d[all.m++] = system->all_d[i];
        }
    }
    return all;
}

/* ---- products of rows ---- */

static void drop_cache(struct newton_system *system) {
    for (size_t i = 0; i < system->n_cached; i++) {
        system->position[system->row[i]] = UINT32_MAX;
    }
    system->n_cached = 0;
}

void newton_system_release(struct newton_system *system) {
    drop_cache(system);
    free(system->X);
    free(system->K);
    free(system->H);
    system->X = system->K = system->H = NULL;
    system->capacity = 0;
}

/* Allocates room for `wanted` rows and their products. Keeps the cache if it is large enough. */
static int reserve(struct newton_system *system, size_t wanted, struct error *err) {
    if (wanted <= system->capacity) {
        return 0;
    }
    size_t capacity =
        smaller(larger(wanted + wanted / 4, 2 * system->capacity), system->max_cached);
    newton_system_release(system);
    system->X = memory_array(capacity, system->cells * sizeof(double), "rows", err);
    system->K = memory_array(capacity, capacity * sizeof(double), "products of rows", err);
    if (!system->X || !system->K) {
        return -1;
    }
    system->capacity = capacity;
    return 0;
}

/* Rows first .. n_cached of X are new. A task fills a tile of them and its products with all rows
 * up to its end. */
struct new_rows {
    struct newton_system *system;
    const struct monitor *monitor;
    size_t first;
};

static void fill_rows(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct new_rows *new_rows = argument;
    struct newton_system *system = new_rows->system;
    size_t i = new_rows->first + task,
           row = system->row[i] - system->first; /* or beyond n: of another process */
    double *x = system->X + i * system->cells;
    if (row < system->rows->n) {
        binary_row(system->rows, row, x);
    } else {
        memset(x, 0, system->cells * sizeof *x);
    }
}

static void fill_tile(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct new_rows *new_rows = argument;
    struct newton_system *system = new_rows->system;
    if (monitor_past_deadline(new_rows->monitor)) {
        return;
    }
    size_t begin = new_rows->first + task * TILE, end = smaller(system->n_cached, begin + TILE);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)(end - begin), (int)end,
                (int)system->cells, 1, system->X + begin * system->cells, (int)system->cells,
                system->X, (int)system->cells, 0, system->K + begin * system->capacity,
                (int)system->capacity);
}

/* Caches the curved rows and their products. */
static int cache_rows(struct newton_system *system, const struct curved *all,
                      const struct monitor *monitor, struct error *err) {
    const uint32_t *curved = all->row;
    size_t m = all->m, new_rows = 0;
    for (size_t i = 0; i < m; i++) {
        new_rows += system->position[curved[i]] == UINT32_MAX;
    }
    if (system->n_cached + new_rows > system->max_cached) {
        drop_cache(system);
        new_rows = m;
    }
    if (reserve(system, system->n_cached + new_rows, err) < 0) {
        return -1;
    }
    struct new_rows work = {system, monitor, system->n_cached};
    for (size_t i = 0; i < m; i++) {
        if (system->position[curved[i]] == UINT32_MAX) {
            system->position[curved[i]] = (uint32_t)system->n_cached;
            system->row[system->n_cached++] = curved[i];
        }
    }
    new_rows = system->n_cached - work.first;
    threads_run(system->rows->threads, new_rows, fill_rows, &work);
    cluster_sum(system->rows->cluster, system->X + work.first * system->cells,
                new_rows * system->cells);
    threads_run(system->rows->threads, (new_rows + TILE - 1) / TILE, fill_tile, &work);
    return 0;
}

/* ---- the matrix ---- */

struct forming {
    struct newton_system *system;
    struct smm_spectral *spectral;
    /* of the tiles; NULL if distributed, as processes must not diverge */
    const struct monitor *monitor;
    struct curved curved; /* of all processes */
    size_t n_features, n_work;
    double *Z, *H, *work; /* (m, n_features), (m, m), (workers, n_work) */
};

static void describe_tile(void *argument, size_t task, size_t worker) {
    const struct forming *forming = argument;
    const struct newton_system *system = forming->system;
    size_t end =
        monitor_past_deadline(forming->monitor) ? 0 : smaller(forming->curved.m, (task + 1) * TILE);
    for (size_t i = task * TILE; i < end; i++) {
        smm_spectral_describe(
            forming->spectral, system->X + system->position[forming->curved.row[i]] * system->cells,
            forming->Z + i * forming->n_features, forming->work + worker * forming->n_work);
    }
}

static void form_tile(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct forming *forming = argument;
    const struct newton_system *system = forming->system;
    size_t m = forming->curved.m, n = forming->n_features, begin = task * TILE;
    size_t end = smaller(m, begin + TILE);
    if (monitor_past_deadline(forming->monitor)) {
        return;
    }
    double share = forming->spectral ? 1 / (1 + forming->spectral->rho) : 1;
    for (size_t i = begin; i < end; i++) {
        size_t a = system->position[forming->curved.row[i]];
        for (size_t j = 0; j <= i; j++) {
            size_t c = system->position[forming->curved.row[j]];
            forming->H[i * m + j] =
                share * system->K[larger(a, c) * system->capacity + smaller(a, c)];
        }
        for (size_t j = i + 1; j < end; j++) {
            forming->H[i * m + j] = 0;
        }
        forming->H[i * m + i] += forming->curved.d[i];
    }
    if (n > 0) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)(end - begin), (int)end, (int)n,
                    1, forming->Z + begin * n, (int)n, forming->Z, (int)n, 1,
                    forming->H + begin * m, (int)m);
    }
}

/* x = H^-1 (b + c 1). */
static void solve_balanced(const double *H, size_t m, double *b, double *x) {
    double sum = 0, total = 0;
    for (size_t i = 0; i < m; i++) {
        x[i] = 1;
    }
    cholesky_solve(H, m, b);
    cholesky_solve(H, m, x);
    for (size_t i = 0; i < m; i++) {
        sum += b[i];
        total += x[i];
    }
    for (size_t i = 0; i < m; i++) {
        x[i] = b[i] - sum / total * x[i];
    }
}

/* *solved = false if the matrix cannot be factored or the deadline passes; the cache is then
 * dropped. */
static int solve_formed(struct forming *forming, const struct monitor *monitor, double *b,
                        double *x, bool *solved, struct error *err) {
    struct newton_system *system = forming->system;
    struct threads *threads = system->rows->threads;
    size_t m = forming->curved.m, tiles = (m + TILE - 1) / TILE;
    if (cache_rows(system, &forming->curved, forming->monitor, err) < 0) {
        return -1;
    }
    forming->n_work = forming->spectral ? smm_spectral_feature_work(forming->spectral) : 0;
    forming->Z = memory_array(m, forming->n_features * sizeof(double), "features", err);
    forming->H = memory_array(m, m * sizeof(double), "a Hessian", err);
    forming->work =
        memory_array(threads_count(threads), forming->n_work * sizeof(double), "features", err);
    int status = forming->Z && forming->H && forming->work ? 0 : -1;
    if (status == 0) {
        if (forming->n_features > 0) {
            threads_run(threads, tiles, describe_tile, forming);
        }
        threads_run(threads, tiles, form_tile, forming);
        *solved = !monitor_past_deadline(monitor) && cholesky_factor(forming->H, m) == 0;
        if (*solved) {
            solve_balanced(forming->H, m, b, x);
        } else {
            drop_cache(system);
        }
    }
    free(forming->Z);
    free(forming->H);
    free(forming->work);
    return status;
}

/* step = -P^-1 (g + X'x). */
static int step_of(struct newton_system *system, struct smm_spectral *spectral,
                   const struct curved *curved, const double *x, const double *gradient,
                   double *step, struct error *err) {
    if (curved_adjoint(system, curved, x, system->p, err) < 0) {
        return -1;
    }
    for (size_t j = 0; j < system->cells; j++) {
        system->p[j] = -gradient[j] - system->p[j];
    }
    invert(system, spectral, system->p, step);
    return 0;
}

/* ---- the matrix of features ---- */

/* mean = X'D^-1 1 / 1'D^-1 1, where mean is X'D^-1 1 before. */
static void divide_mean(struct newton_system *system, const struct curved *curved) {
    double sum = 0;
    for (size_t i = 0; i < curved->m; i++) {
        sum += 1 / curved->d[i];
    }
    sum = cluster_total(system->rows->cluster, sum);
    for (size_t j = 0; j < system->cells && sum > 0; j++) { /* else no row is curved */
        system->mean[j] /= sum;
    }
}

/* step = -H^-1 g. *solved = false if H cannot be factored or the deadline passes (monitor: NULL if
 * rows are distributed, as processes must not diverge). */
static int solve_features(struct newton_system *system, const struct curved *curved,
                          const double *gradient, double *step, const struct monitor *monitor,
                          bool *solved, struct error *err) {
    size_t cells = system->cells;
    double *weight = system->x;
    for (size_t i = 0; i < curved->m; i++) {
        weight[i] = 1 / curved->d[i];
    }
    if (curved_adjoint(system, curved, weight, system->mean, err) < 0) {
        return -1;
    }
    divide_mean(system, curved);
    system->H =
        system->H ? system->H : memory_array(cells, cells * sizeof *system->H, "a Hessian", err);
    if (!system->H || feature_hessian(system->rows, curved->row, curved->m, curved->d, system->mean,
                                      monitor, system->H, err) < 0) {
        return -1;
    }
    *solved = !monitor_past_deadline(monitor) && cholesky_factor(system->H, cells) == 0;
    if (*solved) {
        array_multiple(step, -1, gradient, cells);
        cholesky_solve(system->H, cells, step);
    }
    return 0;
}

/* ---- conjugate gradients ---- */

struct conjugate {
    struct newton_system *system;
    struct smm_spectral *spectral;
    const struct curved *curved;
    const struct monitor *monitor;
    double max_steps;
    double passes; /* as *cg_passes */
    bool solved;
};

/* w (cells) = X' diag(full) v, or X'full for v = NULL; `products` get diag(full) X v. */
static int multiply(const struct conjugate *conjugate, const double *v, double *w,
                    struct error *err) {
    struct newton_system *system = conjugate->system;
    const struct binary_rows *rows = system->rows;
    if (system->exact) {
        return v ? binary_normal(rows, system->full, v, system->products, w, err)
                 : binary_adjoint(rows, system->full, w, err);
    }
    if (v) {
        quantised_rows_normal(system->quantised, system->full, v, system->products, w);
    } else {
        quantised_rows_adjoint(system->quantised, system->full, w);
    }
    memset(w + rows->data->n_features, 0, (rows->d - rows->data->n_features) * sizeof *w);
    cluster_sum(rows->cluster, w, rows->d);
    return 0;
}

/* Ap = P p + X'D^-1 (X p + b 1), minimised over b. */
static int apply(const struct conjugate *conjugate, struct error *err) {
    struct newton_system *system = conjugate->system;
    const struct curved *curved = conjugate->curved;
    double sum = 0;
    if (multiply(conjugate, system->p, system->Ap, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < curved->m; i++) {
        sum += system->products[curved->row[i]];
    }
    sum = cluster_total(system->rows->cluster, sum);
    array_add(system->Ap, -sum, system->mean, system->cells);
    array_add(system->Ap, 1, system->Pp, system->cells);
    return 0;
}

/* Conjugate gradients from step = 0, where `mean` is set. */
static int iterate(struct conjugate *conjugate, const double *gradient, double *step,
                   struct error *err) {
    struct newton_system *system = conjugate->system;
    size_t cells = system->cells;
    double *p = system->p, *Pp = system->Pp, *residual = system->residual, *z = system->z;
    for (size_t j = 0; j < cells; j++) {
        residual[j] = Pp[j] = -gradient[j];
        step[j] = system->P_step[j] = 0;
    }
    invert(system, conjugate->spectral, residual, z);
    memcpy(p, z, cells * sizeof *p);
    double passes_per_step = 2 *
                             cluster_total(system->rows->cluster, (double)conjugate->curved->m) /
                             (double)system->n_all * (system->exact ? 1 : QUANTISED_PASS);
    double square = array_dot(residual, z, cells), target = FORCING * FORCING * square;
    double loose_target = LOOSE_FORCING * LOOSE_FORCING * square;
    int k = 0;
    for (; k < conjugate->max_steps && square > target &&
           !(k > 0 && monitor_past_deadline(conjugate->monitor));
         k++) {
        if (apply(conjugate, err) < 0) {
            return -1;
        }
        double length = square / array_dot(p, system->Ap, cells);
        array_add(step, length, p, cells);
        array_add(system->P_step, length, Pp, cells);
        array_add(residual, -length, system->Ap, cells);
        invert(system, conjugate->spectral, residual, z);
        double next = array_dot(residual, z, cells), ratio = next / square;
        for (size_t j = 0; j < cells; j++) {
            p[j] = z[j] + ratio * p[j];
            Pp[j] = residual[j] + ratio * Pp[j];
        }
        square = next;
        if ((k + 1) * passes_per_step >= EVALUATION_PASSES) {
            target = loose_target;
        }
    }
    conjugate->passes = k * passes_per_step;
    conjugate->solved = square <= target;
    return 0;
}

/* *solved = false if max_steps did not suffice; *passes: as *cg_passes. */
static int solve_conjugate(struct newton_system *system, struct smm_spectral *spectral,
                           const struct curved *curved, const double *gradient, double *step,
                           double max_steps, const struct monitor *monitor, double *passes,
                           bool *solved, struct error *err) {
    if (!system->quantised && !system->exact &&
        quantised_rows_create(&system->quantised, system->rows->data, system->rows->threads, err) <
            0) {
        return -1;
    }
    struct conjugate conjugate = {.system = system,
                                  .spectral = spectral,
                                  .curved = curved,
                                  .monitor = monitor,
                                  .max_steps = max_steps};
    for (size_t i = 0; i < curved->m; i++) {
        system->full[curved->row[i]] = 1 / curved->d[i];
    }
    int status = multiply(&conjugate, NULL, system->mean, err);
    if (status == 0) {
        divide_mean(system, curved);
        status = iterate(&conjugate, gradient, step, err);
    }
    for (size_t i = 0; i < curved->m; i++) {
        system->full[curved->row[i]] = 0;
    }
    *passes = conjugate.passes;
    *solved = conjugate.solved;
    return status;
}

/* Whether the curvature along the step, whose scores these are, is about that of the system with
 * quantised rows, which conjugate gradients have solved. The error that rounding the rows makes in
 * the norm of the system is the difference. */
static bool is_faithful(const struct newton_system *system, const struct curved *curved,
                        const double *gradient, const double *step, const double *scores) {
    struct cluster *cluster = system->rows->cluster;
    double weight = 0, mean = 0, square = 0;
    for (size_t i = 0; i < curved->m; i++) {
        weight += 1 / curved->d[i];
        mean += scores[curved->row[i]] / curved->d[i];
    }
    weight = cluster_total(cluster, weight);
    mean = weight > 0 ? cluster_total(cluster, mean) / weight : 0;
    for (size_t i = 0; i < curved->m; i++) {
        double s = scores[curved->row[i]] - mean;
        square += s * s / curved->d[i];
    }
    square = cluster_total(cluster, square);
    double curvature = square + array_dot(step, system->P_step, system->cells);
    double expected = -array_dot(gradient, step, system->cells);
    return curvature <= MAX_CURVATURE * expected;
}

/* Products of forming and factoring the matrix of rows; INFINITY if it would be too large. */
static double row_work(const struct forming *forming) {
    const struct newton_system *system = forming->system;
    size_t all = forming->curved.m;
    if (all > system->max_cached || all > MAX_VALUES / larger(forming->n_features, 1)) {
        return INFINITY;
    }
    double m = (double)all, cells = (double)system->cells;
    double features = (double)forming->n_features, new_rows = 0;
    double r = forming->spectral ? (double)forming->spectral->r : 0;
    for (size_t i = 0; i < all; i++) {
        new_rows += system->position[forming->curved.row[i]] == UINT32_MAX;
    }
    return m * m * (features / 2 + m / 6) + 8 * m * r * cells + new_rows * m * cells;
}

/* The same of the matrix of features. */
static double feature_work(const struct forming *forming) {
    double m = (double)forming->curved.m, cells = (double)forming->system->cells;
    return forming->spectral || cells > MAX_CELLS ? INFINITY : cells * cells * (m / 2 + cells / 6);
}

/* Number of conjugate-gradient steps that cost as much as so many products, or the most allowed:
 * always if no row is curved, since one step suffices then. */
static double equivalent_cg_steps(const struct forming *forming, double products) {
    double m = (double)forming->curved.m, cells = (double)forming->system->cells;
    double pass = forming->system->exact ? 1 : QUANTISED_PASS;
    return m > 0 ? fmin(products / BLAS / (2 * m * cells * pass), MAX_CG_STEPS) : MAX_CG_STEPS;
}

/* *solved as of solve_formed. */
static int solve_rows(struct forming *forming, const struct curved *curved, size_t own,
                      const double *gradient, double *step, const struct monitor *monitor,
                      bool *solved, struct error *err) {
    struct newton_system *system = forming->system;
    size_t all = forming->curved.m;
    invert(system, forming->spectral, gradient, system->z);
    memset(system->b, 0, all * sizeof *system->b);
    curved_scores(system, curved, system->z, system->b + own);
    cluster_sum(system->rows->cluster, system->b, all);
    array_scale(system->b, -1, all);
    if (solve_formed(forming, monitor, system->b, system->x, solved, err) < 0) {
        return -1;
    }
    return *solved
               ? step_of(system, forming->spectral, curved, system->x + own, gradient, step, err)
               : 0;
}

/* newton_system_solve but for the scores. *conjugate: conjugate gradients found the step. */
static int find_step(struct newton_system *system, struct smm_spectral *spectral,
                     const struct curved *curved, const double *gradient, double *step,
                     double *cg_passes, bool *conjugate, const struct monitor *monitor,
                     struct error *err) {
    struct cluster *cluster = system->rows->cluster;
    size_t own;
    struct forming forming = {.system = system,
                              .spectral = spectral,
                              .monitor = cluster ? NULL : monitor,
                              .curved = allgather_curved(system, curved, &own),
                              .n_features = spectral ? smm_spectral_features(spectral) : 0};
    double rows = row_work(&forming), features = feature_work(&forming);
    double max_cg_steps = equivalent_cg_steps(&forming, fmin(rows, features));
    bool possible = fmin(rows, features) < INFINITY;
    bool solved = false, tried = max_cg_steps > MIN_CG_STEPS;
    *conjugate = true;
    if (tried && solve_conjugate(system, spectral, curved, gradient, step, max_cg_steps, monitor,
                                 cg_passes, &solved, err) < 0) {
        return -1;
    }
    if (solved || !possible || (tried && monitor_past_deadline(monitor))) {
        return 0;
    }
    *cg_passes = 0;
    int status = features < rows
                     ? solve_features(system, curved, gradient, step, forming.monitor, &solved, err)
                     : solve_rows(&forming, curved, own, gradient, step, monitor, &solved, err);
    *conjugate = !solved;
    return status < 0 || solved ? status
                                : solve_conjugate(system, spectral, curved, gradient, step,
                                                  MAX_CG_STEPS, monitor, cg_passes, &solved, err);
}

int newton_system_solve(struct newton_system *system, struct smm_spectral *spectral,
                        const uint32_t *row, size_t m, const double *d, const double *gradient,
                        double *step, double *scores, double *cg_passes,
                        const struct monitor *monitor, struct error *err) {
    const struct curved curved = {row, d, m};
    bool conjugate;
    if (find_step(system, spectral, &curved, gradient, step, cg_passes, &conjugate, monitor, err) <
        0) {
        return -1;
    }
    binary_scores(system->rows, step, scores);
    system->exact =
        system->exact || (conjugate && !is_faithful(system, &curved, gradient, step, scores));
    return 0;
}
