/* Newton steps of the binary SVM, sums over the ranks' rows. With D the curvatures of the band's
 * rows, w = D1/(1'D1) their shares and zbar = Z'w, the bias is minimised out of the quadratic
 * model:
 *
 *   (I + Zc'Zc) p = -(g - lack zbar),   Zc = D^(1/2) (Z - 1 zbar')   over the band,
 *
 * solved for w as it is, and for coefficients by p = -g + Zc' (I + Zc Zc')^-1 Zc g, where Zc Zc'
 * comes from the products of rows. */
#include "common/base/array.h"
#include "common/base/memory.h"
#include "solvers/methods/cholesky.h"
#include "solvers/methods/score_map.h"
#include "solvers/smm/binary_private.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum {
    BLOCK = 256, /* rows gathered at once */
    TILE = 256,  /* side of the Hessian's tiles, each a task */
    CG_MOST = 3000
};

static const double FORCING = 0.1; /* residual of CG, relative to the gradient */

double binary_inner(const struct binary *binary, const double *x, const double *y,
                    const double *y_scores) {
    return array_dot(x, binary->form == BINARY_COEFFICIENTS ? y_scores : y, binary->dimension);
}

void binary_form_scores(const struct binary *binary, const double *x, double *s) {
    if (binary->form == BINARY_COEFFICIENTS) {
        cblas_dsymv(CblasRowMajor, CblasLower, (int)binary->n, 1, binary->K, (int)binary->n, x, 1,
                    0, s, 1);
    } else {
        binary_scores(&binary->rows, x, s);
    }
}

size_t binary_step_work(const struct binary *binary) {
    switch (binary->form) {
    case BINARY_WEIGHTS:
        return BLOCK * binary->dimension + binary->n;
    case BINARY_COEFFICIENTS:
        return 3 * binary->n;
    default:
        return 3 * binary->dimension + binary->n;
    }
}

/* full (n) = values by place in the band, zeros elsewhere. */
static void spread(const struct binary *binary, const double *values, double *full) {
    memset(full, 0, binary->n * sizeof *full);
    for (size_t k = 0; k < binary->n_band; k++) {
        full[binary->band[k]] = values[k];
    }
}

/* ---- weights: the Hessian ---- */

/* Rows of the band, centred and scaled, and the Hessian that they are added to. */
struct tiles {
    const struct binary *binary;
    double *block; /* (n_block, d) */
    size_t first, n_block;
};

static void gather_row(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct tiles *tiles = argument;
    const struct binary *binary = tiles->binary;
    size_t d = binary->dimension, place = tiles->first + task, row = binary->band[place];
    double *to = tiles->block + task * d, scale = sqrt(binary->curvature[place]);
    if (binary->rows.z) {
        memcpy(to, binary->rows.z + row * d, d * sizeof *to);
    } else {
        data_row_dense(binary->rows.data, row, d, to);
    }
    for (size_t j = 0; j < d; j++) {
        to[j] = scale * (to[j] - binary->mean[j]);
    }
}

/* A row of tiles, up to the diagonal. */
static void add_tiles(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct tiles *tiles = argument;
    size_t d = tiles->binary->dimension, first = task * TILE;
    size_t height = d - first < TILE ? d - first : TILE;
    double *H = tiles->binary->matrix + first * d;
    const double *block = tiles->block;
    if (first > 0) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)height, (int)first,
                    (int)tiles->n_block, 1, block + first, (int)d, block, (int)d, 1, H, (int)d);
    }
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)height, (int)tiles->n_block, 1,
                block + first, (int)d, 1, H + first, (int)d);
}

static bool weights_step(struct binary *binary) {
    size_t d = binary->dimension;
    struct threads *threads = binary->rows.threads;
    struct tiles tiles = {.binary = binary, .block = binary->work};
    memset(binary->matrix, 0, d * d * sizeof *binary->matrix);
    for (size_t i = 0; i < d; i++) {
        binary->matrix[i * d + i] = cluster_leads(binary->rows.cluster) ? 1 : 0;
        binary->step[i] = -binary->gradient[i];
    }
    for (; tiles.first < binary->n_band; tiles.first += BLOCK) {
        if (!binary->rows.cluster && monitor_late(binary->monitor)) {
            return false;
        }
        size_t left = binary->n_band - tiles.first;
        tiles.n_block = left < BLOCK ? left : BLOCK;
        threads_run(threads, tiles.n_block, gather_row, &tiles);
        threads_run(threads, (d + TILE - 1) / TILE, add_tiles, &tiles);
    }
    cluster_sum_lower(binary->rows.cluster, binary->matrix, d);
    if (cholesky_factor(binary->matrix, d) < 0) {
        return false;
    }
    cholesky_solve(binary->matrix, d, binary->step);
    return true;
}

/* ---- coefficients ---- */

static bool coefficients_step(struct binary *binary) {
    size_t n = binary->n, m = binary->n_band;
    const uint32_t *band = binary->band;
    const double *share = binary->share;
    double *M = binary->matrix, *scores = binary->work, *centre = scores + n,
           *solution = centre + n;
    binary_form_scores(binary, binary->gradient, scores);
    double mean = 0, mean_score = 0;
    for (size_t i = 0; i < m; i++) {
        const double *row = binary->K + band[i] * n;
        double sum = 0;
        for (size_t j = 0; j < m; j++) {
            M[i * m + j] = row[band[j]];
            sum += share[j] * row[band[j]];
        }
        centre[i] = sum;
        mean += share[i] * sum;
        mean_score += share[i] * scores[band[i]];
    }
    for (size_t i = 0; i < m; i++) {
        double scale = sqrt(binary->curvature[i]);
        for (size_t j = 0; j <= i; j++) {
            M[i * m + j] =
                scale * sqrt(binary->curvature[j]) * (M[i * m + j] - centre[i] - centre[j] + mean);
        }
        M[i * m + i] += 1;
        solution[i] = scale * (scores[band[i]] - mean_score);
    }
    if (cholesky_factor(M, m) < 0) {
        return false;
    }
    cholesky_solve(M, m, solution);
    double total = 0;
    for (size_t i = 0; i < m; i++) {
        solution[i] *= sqrt(binary->curvature[i]);
        total += solution[i];
    }
    for (size_t i = 0; i < n; i++) {
        binary->step[i] = -binary->gradient[i];
    }
    for (size_t i = 0; i < m; i++) {
        binary->step[band[i]] += solution[i] - share[i] * total;
    }
    return true;
}

/* ---- conjugate gradients ---- */

static int conjugate_step(struct binary *binary, struct error *err) {
    size_t n = binary->n, d = binary->dimension;
    double *residual = binary->work, *p = residual + d, *Hp = p + d, *scores = Hp + d;
    for (size_t j = 0; j < d; j++) {
        residual[j] = p[j] = -binary->gradient[j];
        binary->step[j] = 0;
    }
    double square = array_dot(residual, residual, d);
    double target = FORCING * FORCING * square;
    for (int k = 0; k < CG_MOST && square > target; k++) {
        if (k > 0 && monitor_late(binary->monitor)) {
            break;
        }
        binary_scores(&binary->rows, p, scores);
        double mean = 0;
        for (size_t i = 0; i < binary->n_band; i++) {
            mean += binary->share[i] * scores[binary->band[i]];
        }
        mean = cluster_total(binary->rows.cluster, mean);
        memset(binary->q, 0, n * sizeof *binary->q);
        for (size_t i = 0; i < binary->n_band; i++) {
            uint32_t row = binary->band[i];
            binary->q[row] = binary->curvature[i] * (scores[row] - mean);
        }
        if (binary_adjoint(&binary->rows, binary->q, Hp, err) < 0) {
            return -1;
        }
        array_add(Hp, 1, p, d);
        double length = square / array_dot(p, Hp, d);
        array_add(binary->step, length, p, d);
        array_add(residual, -length, Hp, d);
        double next = array_dot(residual, residual, d), ratio = next / square;
        for (size_t j = 0; j < d; j++) {
            p[j] = residual[j] + ratio * p[j];
        }
        square = next;
    }
    return 0;
}

int binary_step(struct binary *binary, bool *found, struct error *err) {
    size_t n = binary->dimension;
    for (size_t i = 0; i < n; i++) {
        binary->gradient[i] = binary->x[i] - binary->v[i];
    }
    spread(binary, binary->share, binary->q);
    if (binary->form == BINARY_COEFFICIENTS) {
        memcpy(binary->mean, binary->q, n * sizeof *binary->mean);
    } else if (binary_adjoint(&binary->rows, binary->q, binary->mean, err) < 0) {
        return -1;
    }
    array_add(binary->gradient, -binary->lack, binary->mean, n);
    if (binary->form == BINARY_CONJUGATE) {
        if (conjugate_step(binary, err) < 0) {
            return -1;
        }
    } else {
        *found = binary->form == BINARY_WEIGHTS ? weights_step(binary) : coefficients_step(binary);
    }
    if (*found) {
        binary_form_scores(binary, binary->step, binary->q);
    }
    return 0;
}
