/* Newton steps of the binary SVM; sums are over the rows of all processes. With D the curvatures of
 * the curved rows, w = D1/(1'D1) their shares and zbar = Z'w, and the bias minimised out of the
 * quadratic model:
 *
 *   (I + Zc'Zc) p = -(g - bias_slope zbar),   Zc = D^(1/2) (Z - 1 zbar')   over the curved rows. */
#include "common/linear_algebra/cholesky.h"
#include "families/smm/solver/binary_private.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum {
    BLOCK = 256, /* rows per product */
    TILE = 256   /* side of the Hessian's tiles, one task each */
};

size_t binary_step_work(const struct binary *binary) {
    return binary->system ? binary->n : BLOCK * binary->d;
}

/* A block of curved rows, centred and scaled, to be added to the Hessian. */
struct tiles {
    const struct binary *binary;
    double *block; /* (n_block, d) */
    size_t first, n_block;
};

static void gather_row(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct tiles *tiles = argument;
    const struct binary *binary = tiles->binary;
    size_t d = binary->d, position = tiles->first + task, row = binary->curved[position];
    double *to = tiles->block + task * d, scale = sqrt(binary->curvature[position]);
    binary_row(&binary->rows, row, to);
    for (size_t j = 0; j < d; j++) {
        to[j] = scale * (to[j] - binary->mean[j]);
    }
}

/* One row of tiles, up to the diagonal. */
static void add_tiles(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct tiles *tiles = argument;
    size_t d = tiles->binary->d, first = task * TILE;
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

static bool hessian_step(struct binary *binary) {
    size_t d = binary->d;
    struct threads *threads = binary->rows.threads;
    struct tiles tiles = {.binary = binary, .block = binary->work};
    memset(binary->matrix, 0, d * d * sizeof *binary->matrix);
    for (size_t i = 0; i < d; i++) {
        binary->matrix[i * d + i] = cluster_is_root(binary->rows.cluster) ? 1 : 0;
        binary->step[i] = -binary->gradient[i];
    }
    for (; tiles.first < binary->n_curved; tiles.first += BLOCK) {
        if (!binary->rows.cluster && monitor_past_deadline(binary->monitor)) {
            return false;
        }
        size_t left = binary->n_curved - tiles.first;
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

int binary_step(struct binary *binary, bool *found, struct error *err) {
    size_t d = binary->d;
    memset(binary->q, 0, binary->n * sizeof *binary->q);
    for (size_t k = 0; k < binary->n_curved; k++) {
        binary->q[binary->curved[k]] = binary->share[k];
    }
    if (binary_adjoint(&binary->rows, binary->q, binary->mean, err) < 0) {
        return -1;
    }
    for (size_t j = 0; j < d; j++) {
        binary->gradient[j] = binary->x[j] - binary->v[j] - binary->bias_slope * binary->mean[j];
    }
    double cg_passes;
    if (!binary->system) {
        *found = hessian_step(binary);
    } else {
        *found = true;
        for (size_t k = 0; k < binary->n_curved; k++) {
            binary->work[k] = 1 / binary->curvature[k];
        }
        if (newton_system_solve(binary->system, NULL, binary->curved, binary->n_curved,
                                binary->work, binary->gradient, binary->step, binary->q, &cg_passes,
                                binary->monitor, err) < 0) {
            return -1;
        }
    }
    if (*found && !binary->system) {
        binary_scores(&binary->rows, binary->step, binary->q);
    }
    return 0;
}
