#include "solvers/smm/band_system.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/kernel/linear.h"
#include "solvers/methods/cholesky.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_MOST = 4000, /* of a matrix that is factored */
    TILE = 128,       /* rows of a task */
    CG_FEW = 10,
    CG_MOST = 300 /* steps of conjugate gradients */
};

static const double BLAS = 20; /* how much faster than a pass over the rows, for each product */

static const size_t VALUES_MOST = (size_t)1 << 26; /* of kept rows, of features */
static const double FORCING = 0.05;                /* residual of CG, relative to b */

struct band_system {
    const struct smm_matrices *matrices;
    size_t cells, kept_most; /* rows whose products are kept, at most */
    uint32_t *row;           /* (kept_most) their numbers */
    uint32_t *place;         /* (n) of a row among them; UINT32_MAX: none */
    size_t n_kept, room;
    double *X;                          /* (room, cells) kept rows */
    double *K;                          /* (room, room) lower half: their products */
    double *full, *x, *b;               /* (n): zeros but during a product; of the band */
    double *p, *Pp, *Ap, *residual, *z; /* (cells) */
};

int band_system_create(struct band_system **system, const struct smm_matrices *matrices,
                       struct error *err) {
    struct band_system *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->matrices = matrices;
    made->cells = matrices->height * matrices->width;
    made->kept_most = smaller(ROWS_MOST, VALUES_MOST / larger(made->cells, 1));
    made->kept_most = smaller(made->kept_most, matrices->n);
    made->row = memory_array(made->kept_most, sizeof *made->row, "a system", err);
    made->place = memory_array(matrices->n, sizeof *made->place, "a system", err);
    made->full = memory_zeros(matrices->n, 3 * sizeof *made->full, "a system", err);
    made->p = memory_zeros(made->cells, 5 * sizeof *made->p, "a system", err);
    if (!made->row || !made->place || !made->full || !made->p) {
        band_system_free(made);
        return -1;
    }
    memset(made->place, 0xff, matrices->n * sizeof *made->place);
    made->x = made->full + matrices->n;
    made->b = made->x + matrices->n;
    made->Pp = made->p + made->cells;
    made->Ap = made->Pp + made->cells;
    made->residual = made->Ap + made->cells;
    made->z = made->residual + made->cells;
    *system = made;
    return 0;
}

void band_system_free(struct band_system *system) {
    if (system) {
        free(system->row);
        free(system->place);
        free(system->full);
        free(system->p);
        free(system->X);
        free(system->K);
        free(system);
    }
}

/* ---- the band's rows ---- */

static void band_scores(const struct band_system *system, const uint32_t *band, size_t m,
                        const double *W, double *s) {
    const struct smm_matrices *matrices = system->matrices;
    linear_scores_at(matrices->data, W, system->cells, band, m, s, matrices->threads);
}

/* H (cells) = X'x. */
static int band_adjoint(struct band_system *system, const uint32_t *band, size_t m, const double *x,
                        double *H, struct error *err) {
    const struct smm_matrices *matrices = system->matrices;
    size_t stored = matrices->data->n_features;
    for (size_t i = 0; i < m; i++) {
        system->full[band[i]] = x[i];
    }
    memset(H + stored, 0, (system->cells - stored) * sizeof *H);
    int status = linear_adjoint(matrices->data, system->full, H, matrices->threads, err);
    for (size_t i = 0; i < m; i++) {
        system->full[band[i]] = 0;
    }
    return status;
}

/* ---- products of rows ---- */

static void drop_kept(struct band_system *system) {
    for (size_t i = 0; i < system->n_kept; i++) {
        system->place[system->row[i]] = UINT32_MAX;
    }
    system->n_kept = 0;
}

void band_system_release(struct band_system *system) {
    drop_kept(system);
    free(system->X);
    free(system->K);
    system->X = system->K = NULL;
    system->room = 0;
}

/* Makes room for `wanted` rows and their products. What was kept stays, if it was enough. */
static int make_room(struct band_system *system, size_t wanted, struct error *err) {
    if (wanted <= system->room) {
        return 0;
    }
    size_t room = smaller(larger(wanted + wanted / 4, 2 * system->room), system->kept_most);
    band_system_release(system);
    system->X = memory_array(room, system->cells * sizeof(double), "rows", err);
    system->K = memory_array(room, room * sizeof(double), "products of rows", err);
    if (!system->X || !system->K) {
        return -1;
    }
    system->room = room;
    return 0;
}

/* Rows first .. n_kept of X are new: a tile of them at a time, and the products with all before. */
struct fresh {
    struct band_system *system;
    const struct monitor *monitor;
    size_t first;
};

static void fill_rows(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct fresh *fresh = argument;
    struct band_system *system = fresh->system;
    size_t i = fresh->first + task;
    data_row_dense(system->matrices->data, system->row[i], system->cells,
                   system->X + i * system->cells);
}

static void fill_tile(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct fresh *fresh = argument;
    struct band_system *system = fresh->system;
    if (monitor_late(fresh->monitor)) {
        return;
    }
    size_t begin = fresh->first + task * TILE, end = smaller(system->n_kept, begin + TILE);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)(end - begin), (int)end,
                (int)system->cells, 1, system->X + begin * system->cells, (int)system->cells,
                system->X, (int)system->cells, 0, system->K + begin * system->room,
                (int)system->room);
}

/* Keeps the rows of the band, and their products. */
static int keep(struct band_system *system, const uint32_t *band, size_t m,
                const struct monitor *monitor, struct error *err) {
    size_t fresh = 0;
    for (size_t i = 0; i < m; i++) {
        fresh += system->place[band[i]] == UINT32_MAX;
    }
    if (system->n_kept + fresh > system->kept_most) {
        drop_kept(system);
        fresh = m;
    }
    if (make_room(system, system->n_kept + fresh, err) < 0) {
        return -1;
    }
    struct fresh work = {system, monitor, system->n_kept};
    for (size_t i = 0; i < m; i++) {
        if (system->place[band[i]] == UINT32_MAX) {
            system->place[band[i]] = (uint32_t)system->n_kept;
            system->row[system->n_kept++] = band[i];
        }
    }
    fresh = system->n_kept - work.first;
    threads_run(system->matrices->threads, fresh, fill_rows, &work);
    threads_run(system->matrices->threads, (fresh + TILE - 1) / TILE, fill_tile, &work);
    return 0;
}

/* ---- the matrix ---- */

struct forming {
    struct band_system *system;
    const struct smm_spectral *spectral;
    const struct monitor *monitor;
    const uint32_t *band;
    const double *d;
    size_t m, n_features, n_work;
    double *Z, *H, *work; /* (m, n_features), (m, m), (workers, n_work) */
};

static void describe_tile(void *argument, size_t task, size_t worker) {
    const struct forming *forming = argument;
    const struct band_system *system = forming->system;
    size_t end = monitor_late(forming->monitor) ? 0 : smaller(forming->m, (task + 1) * TILE);
    for (size_t i = task * TILE; i < end; i++) {
        smm_spectral_describe(
            forming->spectral, system->X + system->place[forming->band[i]] * system->cells,
            forming->Z + i * forming->n_features, forming->work + worker * forming->n_work);
    }
}

static void form_tile(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct forming *forming = argument;
    const struct band_system *system = forming->system;
    size_t m = forming->m, n = forming->n_features, begin = task * TILE;
    size_t end = smaller(m, begin + TILE);
    if (monitor_late(forming->monitor)) {
        return;
    }
    double share = 1 / (1 + forming->spectral->rho);
    for (size_t i = begin; i < end; i++) {
        size_t a = system->place[forming->band[i]];
        for (size_t j = 0; j <= i; j++) {
            size_t c = system->place[forming->band[j]];
            forming->H[i * m + j] = share * system->K[larger(a, c) * system->room + smaller(a, c)];
        }
        for (size_t j = i + 1; j < end; j++) {
            forming->H[i * m + j] = 0;
        }
        forming->H[i * m + i] += forming->d[i];
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

/* *solved = false if the matrix could not be factored, or it is late; what is kept is then of no
 * use. */
static int solve_formed(struct forming *forming, double *b, double *x, bool *solved,
                        struct error *err) {
    struct band_system *system = forming->system;
    struct threads *threads = system->matrices->threads;
    size_t m = forming->m, tiles = (m + TILE - 1) / TILE;
    if (keep(system, forming->band, m, forming->monitor, err) < 0) {
        return -1;
    }
    forming->n_work = smm_spectral_feature_work(forming->spectral);
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
        *solved = !monitor_late(forming->monitor) && cholesky_factor(forming->H, m) == 0;
        if (*solved) {
            solve_balanced(forming->H, m, b, x);
        } else {
            drop_kept(system);
        }
    }
    free(forming->Z);
    free(forming->H);
    free(forming->work);
    return status;
}

/* step = -P^-1 (g + X'x). */
static int step_of(struct band_system *system, struct smm_spectral *spectral, const uint32_t *band,
                   size_t m, const double *gradient, double *step, struct error *err) {
    if (band_adjoint(system, band, m, system->x, system->p, err) < 0) {
        return -1;
    }
    for (size_t j = 0; j < system->cells; j++) {
        system->p[j] = -gradient[j] - system->p[j];
    }
    smm_spectral_inverse(spectral, system->p, step);
    return 0;
}

/* ---- conjugate gradients ---- */

/* Ap = P p + X'D^-1 (X p + b 1), with the best b. */
static int apply(struct band_system *system, const uint32_t *band, size_t m, const double *d,
                 struct error *err) {
    double sum = 0, total = 0, *x = system->x;
    band_scores(system, band, m, system->p, x);
    for (size_t i = 0; i < m; i++) {
        sum += x[i] / d[i];
        total += 1 / d[i];
    }
    for (size_t i = 0; i < m; i++) {
        x[i] = (x[i] - sum / total) / d[i];
    }
    if (band_adjoint(system, band, m, x, system->Ap, err) < 0) {
        return -1;
    }
    array_add(system->Ap, 1, system->Pp, system->cells);
    return 0;
}

/* At most so many steps; *solved = false if these did not do. */
static int solve_conjugate(struct band_system *system, struct smm_spectral *spectral,
                           const uint32_t *band, size_t m, const double *d, const double *gradient,
                           double *step, double most, const struct monitor *monitor, bool *solved,
                           struct error *err) {
    size_t cells = system->cells;
    double *p = system->p, *Pp = system->Pp, *residual = system->residual, *z = system->z;
    for (size_t j = 0; j < cells; j++) {
        residual[j] = Pp[j] = -gradient[j];
        step[j] = 0;
    }
    smm_spectral_inverse(spectral, residual, z);
    memcpy(p, z, cells * sizeof *p);
    double square = array_dot(residual, z, cells), target = FORCING * FORCING * square;
    int k = 0;
    for (; k < most && square > target && !(k > 0 && monitor_late(monitor)); k++) {
        if (apply(system, band, m, d, err) < 0) {
            return -1;
        }
        double length = square / array_dot(p, system->Ap, cells);
        array_add(step, length, p, cells);
        array_add(residual, -length, system->Ap, cells);
        smm_spectral_inverse(spectral, residual, z);
        double next = array_dot(residual, z, cells), ratio = next / square;
        for (size_t j = 0; j < cells; j++) {
            p[j] = z[j] + ratio * p[j];
            Pp[j] = residual[j] + ratio * Pp[j];
        }
        square = next;
    }
    *solved = square <= target;
    return 0;
}

/* Steps of conjugate gradients that take as long as forming the matrix and factoring it. */
static double steps_worth(const struct forming *forming) {
    double m = (double)forming->m, cells = (double)forming->system->cells;
    double features = (double)forming->n_features, r = (double)forming->spectral->r;
    double fresh = 0;
    for (size_t i = 0; i < forming->m; i++) {
        fresh += forming->system->place[forming->band[i]] == UINT32_MAX;
    }
    double products = m * m * (features / 2 + m / 6) + 8 * m * r * cells + fresh * m * cells;
    return products / BLAS / (2 * m * cells);
}

int band_system_solve(struct band_system *system, struct smm_spectral *spectral,
                      const uint32_t *band, size_t m, const double *d, const double *gradient,
                      double *step, const struct monitor *monitor, struct error *err) {
    struct forming forming = {.system = system,
                              .spectral = spectral,
                              .monitor = monitor,
                              .band = band,
                              .d = d,
                              .m = m,
                              .n_features = smm_spectral_features(spectral)};
    bool possible = m <= system->kept_most && m <= VALUES_MOST / larger(forming.n_features, 1);
    double worth = possible ? fmin(steps_worth(&forming), CG_MOST) : CG_MOST;
    bool solved = false, tried = worth > CG_FEW;
    if (tried && solve_conjugate(system, spectral, band, m, d, gradient, step, worth, monitor,
                                 &solved, err) < 0) {
        return -1;
    }
    if (solved || !possible || (tried && monitor_late(monitor))) {
        return 0;
    }
    smm_spectral_inverse(spectral, gradient, system->z);
    band_scores(system, band, m, system->z, system->b);
    for (size_t i = 0; i < m; i++) {
        system->b[i] = -system->b[i];
    }
    if (solve_formed(&forming, system->b, system->x, &solved, err) < 0) {
        return -1;
    }
    return solved ? step_of(system, spectral, band, m, gradient, step, err)
                  : solve_conjugate(system, spectral, band, m, d, gradient, step, CG_MOST, monitor,
                                    &solved, err);
}
