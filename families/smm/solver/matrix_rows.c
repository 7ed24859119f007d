/* Products of matrix rows with thin matrices (matrix_rows.h). */
#include "families/smm/solver/matrix_rows.h"

#include "common/base/memory.h"
#include "common/kernel/linear.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 }; /* rows per task */

/* One pass over the rows. One of U and Vt may be NULL. */
struct projection {
    const struct smm_matrices *matrices;
    const double *U, *Vt;
    size_t r;
    double *out;
    size_t stride, right_at; /* length of a row of out; offset of X_i V in it */
    double *dense;           /* (workers, height width); NULL: sparse data */
};

/* Both products of a sparse row. out is 0 on entry. */
static void project_sparse(const struct projection *projection, size_t row, double *out) {
    const struct smm_matrices *matrices = projection->matrices;
    const struct data *data = matrices->data;
    size_t r = projection->r, width = matrices->width;
    double *right = out + projection->right_at;
    for (size_t at = (size_t)data->row_start[row]; at < data->row_start[row + 1]; at++) {
        size_t a = data->column[at] / width, c = data->column[at] % width;
        double x = data->value[at];
        for (size_t k = 0; projection->U && k < r; k++) {
            out[k * width + c] += projection->U[a * r + k] * x;
        }
        for (size_t k = 0; projection->Vt && k < r; k++) {
            right[a * r + k] += x * projection->Vt[k * width + c];
        }
    }
}

static void project_dense(const struct projection *projection, size_t row, double *x, double *out) {
    const struct smm_matrices *matrices = projection->matrices;
    int r = (int)projection->r, height = (int)matrices->height, width = (int)matrices->width;
    data_row_dense(matrices->data, row, matrices->height * matrices->width, x);
    if (projection->U) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, r, width, height, 1, projection->U, r,
                    x, width, 0, out, width);
    }
    if (projection->Vt) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, height, r, width, 1, x, width,
                    projection->Vt, width, 0, out + projection->right_at, r);
    }
}

/* F = (I - U U') F for F (height, r). */
static void remove_span(const double *U, size_t height, size_t r, double *F) {
    for (size_t k = 0; k < r; k++) {
        for (size_t j = 0; j < r; j++) {
            double dot = 0;
            for (size_t a = 0; a < height; a++) {
                dot += U[a * r + k] * F[a * r + j];
            }
            for (size_t a = 0; a < height; a++) {
                F[a * r + j] -= dot * U[a * r + k];
            }
        }
    }
}

static void project_chunk(void *argument, size_t task, size_t worker) {
    const struct projection *projection = argument;
    const struct smm_matrices *matrices = projection->matrices;
    size_t cells = matrices->height * matrices->width;
    size_t end = (task + 1) * CHUNK < matrices->n ? (task + 1) * CHUNK : matrices->n;
    for (size_t i = task * CHUNK; i < end; i++) {
        double *out = projection->out + i * projection->stride;
        if (projection->dense) {
            project_dense(projection, i, projection->dense + worker * cells, out);
        } else {
            memset(out, 0, projection->stride * sizeof *out);
            project_sparse(projection, i, out);
        }
        if (projection->U && projection->Vt) {
            remove_span(projection->U, matrices->height, projection->r, out + projection->right_at);
        }
    }
}

int smm_project(const struct smm_matrices *matrices, const double *U, const double *Vt, size_t r,
                double *out, struct error *err) {
    size_t height = matrices->height, width = matrices->width, left = U ? r * width : 0;
    struct projection projection = {.matrices = matrices,
                                    .U = U,
                                    .Vt = Vt,
                                    .r = r,
                                    .out = out,
                                    .stride = left + (Vt ? height * r : 0),
                                    .right_at = left};
    if (!matrices->data->row_start) {
        projection.dense = memory_array(threads_count(matrices->threads),
                                        height * width * sizeof(double), "a dense row", err);
        if (!projection.dense) {
            return -1;
        }
    }
    threads_run(matrices->threads, (matrices->n + CHUNK - 1) / CHUNK, project_chunk, &projection);
    free(projection.dense);
    return 0;
}

void smm_scores(const struct smm_matrices *matrices, const double *W, double *s) {
    linear_scores(matrices->data, W, matrices->height * matrices->width, 1, s, matrices->threads);
}
