#include "solvers/rank/landmarks.h"

#include "common/base/memory.h"
#include "common/kernel/linear.h"
#include "solvers/methods/cholesky.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double UNEXPLAINED = 1e-5;

/* Column number m of Psi from the pivot's column of K; takes its square off the diagonal left. */
static void append_column(struct landmarks *landmarks, size_t n, size_t width, uint32_t pivot,
                          const double *column, double *left) {
    size_t m = landmarks->m;
    float *psi = landmarks->psi.value;
    const float *pivot_row = psi + pivot * width;
    double root = sqrt(left[pivot]);
    for (size_t i = 0; i < n; i++) {
        float *row = psi + i * width;
        float sum[16] = {0}; /* single precision serves a preconditioner */
        size_t k = 0;
        for (; k + 16 <= m; k += 16) {
            for (size_t lane = 0; lane < 16; lane++) {
                sum[lane] += row[k + lane] * pivot_row[k + lane];
            }
        }
        double done = 0;
        for (; k < m; k++) {
            done += (double)row[k] * (double)pivot_row[k];
        }
        for (size_t lane = 0; lane < 16; lane++) {
            done += (double)sum[lane];
        }
        double value = (column[i] - done) / root;
        row[m] = left[i] > 0 ? (float)value : 0; /* 0: a landmark already, T is triangular */
        left[i] = fmax(0, left[i] - value * value);
    }
    psi[pivot * width + m] = (float)root;
    left[pivot] = 0;
    landmarks->pivot[landmarks->m++] = pivot;
}

static int choose(struct landmarks *landmarks, const struct score_map *map, size_t most,
                  double *column, double *left, struct error *err) {
    size_t n = map->n;
    if (map->diagonal(map, left, err) < 0) {
        return -1;
    }
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        total += left[i];
    }
    while (landmarks->m < most) {
        size_t pivot = 0;
        double rest = 0;
        for (size_t i = 0; i < n; i++) {
            pivot = left[i] > left[pivot] ? i : pivot;
            rest += left[i];
        }
        if (!(rest > UNEXPLAINED * total)) {
            break;
        }
        if (map->column(map, (uint32_t)pivot, column, err) < 0) {
            return -1;
        }
        append_column(landmarks, n, most, (uint32_t)pivot, column, left);
    }
    return 0;
}

/* Closes the rows of Psi up to m columns and copies the triangle T out of them. */
static void settle(struct landmarks *landmarks, size_t n, size_t most) {
    size_t m = landmarks->m;
    float *psi = landmarks->psi.value;
    for (size_t i = 0; i < n && m < most; i++) {
        memmove(psi + i * m, psi + i * most, m * sizeof *psi);
    }
    landmarks->psi.n_rows = n;
    landmarks->psi.n_features = (uint32_t)m;
    for (size_t j = 0; j < m; j++) {
        for (size_t k = 0; k < m; k++) {
            landmarks->T[j * m + k] = k <= j ? (double)psi[(size_t)landmarks->pivot[j] * m + k] : 0;
        }
    }
}

int landmarks_create(struct landmarks *landmarks, const struct score_map *map, size_t most,
                     struct error *err) {
    size_t n = map->n;
    *landmarks = (struct landmarks){.threads = map->threads};
    most = most < n ? most : n;
    landmarks->psi.value = memory_array(n, most * sizeof(float), "a preconditioner", err);
    landmarks->pivot = memory_array(most, sizeof *landmarks->pivot, "a preconditioner", err);
    landmarks->T = memory_array(most, most * sizeof(double), "a preconditioner", err);
    landmarks->M = memory_array(most, most * sizeof(double), "a preconditioner", err);
    landmarks->v = memory_array(most, sizeof(double), "a preconditioner", err);
    landmarks->u = memory_array(most, sizeof(double), "a preconditioner", err);
    double *column = memory_array(n, sizeof *column, "a preconditioner", err);
    double *left = memory_array(n, sizeof *left, "a preconditioner", err);
    int status = -1;
    if (landmarks->psi.value && landmarks->pivot && landmarks->T && landmarks->M && landmarks->v &&
        landmarks->u && column && left) {
        status = choose(landmarks, map, most, column, left, err);
    }
    free(column);
    free(left);
    if (status < 0) {
        landmarks_free(landmarks);
        return -1;
    }
    settle(landmarks, n, most);
    return 0;
}

void landmarks_free(struct landmarks *landmarks) {
    data_free(&landmarks->psi);
    free(landmarks->pivot);
    free(landmarks->T);
    free(landmarks->M);
    free(landmarks->v);
    free(landmarks->u);
    *landmarks = (struct landmarks){0};
}

/* M = I + factor Psi'L Psi. */
static int form_system(struct landmarks *landmarks, const struct rank_laplacian *laplacian,
                       double factor, struct error *err) {
    size_t m = landmarks->m;
    if (rank_laplacian_gram(laplacian, &landmarks->psi, NULL, m, 1, landmarks->M, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < m * m; i++) {
        landmarks->M[i] *= factor;
    }
    for (size_t i = 0; i < m; i++) {
        landmarks->M[i * m + i] += 1;
    }
    return 0;
}

int landmarks_update(struct landmarks *landmarks, const struct rank_laplacian *laplacian,
                     double factor, bool *found, struct error *err) {
    if (form_system(landmarks, laplacian, factor, err) < 0) {
        return -1;
    }
    *found = cholesky_regularised(landmarks->M, landmarks->m, landmarks->u) == 0;
    return 0;
}

int landmarks_apply(struct landmarks *landmarks, const double *residual, double *z,
                    struct error *err) {
    size_t m = landmarks->m;
    double *u = landmarks->u;
    if (linear_adjoint(&landmarks->psi, residual, landmarks->v, landmarks->threads, err) < 0) {
        return -1;
    }
    memcpy(u, landmarks->v, m * sizeof *u);
    cholesky_solve(landmarks->M, m, u);
    for (size_t j = 0; j < m; j++) {
        u[j] -= landmarks->v[j];
    }
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)m, landmarks->T, (int)m,
                u, 1);
    memcpy(z, residual, landmarks->psi.n_rows * sizeof *z);
    for (size_t j = 0; j < m; j++) {
        z[landmarks->pivot[j]] += u[j];
    }
    return 0;
}
