/* Landmarks: their Cholesky factor in double, and the features of all rows in float. */
#include "common/kernel/landmarks.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/base/sizes.h"
#include "common/kernel/kernel_private.h"
#include "common/linear_algebra/cholesky.h"

#include <cblas.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 512 }; /* rows of a task */

/* A landmark is used if the others leave it at least this fraction of the largest entry: systems in
 * float stay accurate. */
static const double MIN_PIVOT = 1e-3;

enum { RANDOM_STREAM = 31 }; /* of the seed, different from all other uses */

/* The features in progress. */
struct filling {
    struct landmarks *landmarks;
    const struct gram *gram;
    const uint32_t *index; /* (n) rows of the gram */
    const double *diagonal;
    uint32_t *landmark; /* (m) rows of the gram */
    size_t m;
    float *T; /* (m, m) lower triangle */
    double constant;
    struct kernel_scratch **scratch; /* of the workers */
    float **block;                   /* of the workers: (CHUNK, m) */
    struct error *error;             /* of the workers */
    atomic_bool failed;
};

/* Draws a row of each of m equal parts. */
static void draw(struct filling *filling, uint64_t seed) {
    struct random random;
    double part = (double)filling->landmarks->n / (double)filling->m;
    random_start(&random, seed, RANDOM_STREAM);
    for (size_t a = 0; a < filling->m; a++) {
        size_t i = (size_t)(((double)a + random_unit(&random)) * part);
        filling->landmark[a] = filling->index[smaller(i, filling->landmarks->n - 1)];
    }
}

/* Computes T, and leaves out the landmarks that the others nearly span. */
static int factor(struct filling *filling, struct error *err) {
    size_t m = filling->m, n_used = 0;
    double *K = memory_array(m, m * sizeof *K, "landmarks", err);
    uint32_t *order = memory_array(2 * m, sizeof *order, "landmarks", err);
    int status = K && order ? gram_block_exact(filling->gram, filling->landmark, m,
                                               filling->landmark, m, K, err)
                            : -1;
    double largest = 0;
    for (size_t a = 0; status == 0 && a < m; a++) {
        largest = fmax(largest, K[a * m + a]);
    }
    status = status < 0 ? -1 : cholesky_pivoted(K, m, MIN_PIVOT * largest, &n_used, order, err);
    for (size_t a = 0; status == 0 && a < n_used; a++) {
        order[m + a] = filling->landmark[order[a]];
        for (size_t b = 0; b <= a; b++) {
            filling->T[a * n_used + b] = (float)K[a * m + b];
        }
    }
    if (status == 0) {
        memcpy(filling->landmark, order + m, n_used * sizeof *order);
        filling->m = n_used;
    }
    free(K);
    free(order);
    return status;
}

/* Task: the features of some rows. */
static void fill(void *argument, size_t task, size_t worker) {
    struct filling *filling = argument;
    struct landmarks *landmarks = filling->landmarks;
    size_t first = task * CHUNK, n = smaller(CHUNK, landmarks->n - first), m = filling->m;
    float *block = filling->block[worker];
    if (atomic_load(&filling->failed) ||
        kernel_block_listed(gram_rows(filling->gram), filling->index + first, n, filling->landmark,
                            m, block, filling->scratch[worker], &filling->error[worker]) < 0) {
        atomic_store(&filling->failed, true);
        return;
    }
    cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)n, (int)m, 1,
                filling->T, (int)m, block, (int)m);
    for (size_t i = 0; i < n; i++) {
        float *row = landmarks->Z + (first + i) * landmarks->stride;
        memcpy(row, block + i * m, m * sizeof *row);
        if (landmarks->width > m) {
            row[m] = (float)filling->constant;
        }
        float square = cblas_sdot((int)landmarks->width, row, 1, row, 1);
        landmarks->rest[first + i] = (float)fmax(0, filling->diagonal[first + i] - (double)square);
    }
}

static int fill_all(struct filling *filling, struct threads *threads, struct error *err) {
    size_t workers = threads_count(threads), n = filling->landmarks->n;
    filling->scratch = kernel_scratch_array(workers, err);
    filling->error = memory_zeros(workers, sizeof *filling->error, "landmarks", err);
    filling->block = memory_zeros(workers, sizeof *filling->block, "landmarks", err);
    int status = filling->scratch && filling->error && filling->block ? 0 : -1;
    for (size_t w = 0; status == 0 && w < workers; w++) {
        filling->block[w] = memory_array(filling->m, CHUNK * sizeof(float), "landmarks", err);
        status = filling->block[w] ? 0 : -1;
    }
    if (status == 0) {
        threads_run(threads, (n + CHUNK - 1) / CHUNK, fill, filling);
    }
    for (size_t w = 0; filling->block && w < workers; w++) {
        if (status == 0 && filling->error[w].kind != ERROR_NONE) {
            *err = filling->error[w];
            status = -1;
        }
        free(filling->block[w]);
    }
    kernel_scratch_array_free(filling->scratch, workers);
    free(filling->error);
    free(filling->block);
    return status;
}

int landmarks_create(struct landmarks *landmarks, const struct gram *gram, const uint32_t *rows,
                     size_t n, const double *diagonal, const struct landmarks_goal *goal,
                     struct threads *threads, struct error *err) {
    *landmarks = (struct landmarks){.n = n};
    struct filling filling = {.landmarks = landmarks,
                              .gram = gram,
                              .diagonal = diagonal,
                              .m = goal->m,
                              .constant = goal->constant};
    uint32_t *index = memory_array(n, sizeof *index, "landmarks", err);
    filling.index = index;
    filling.landmark = memory_array(goal->m, sizeof *filling.landmark, "landmarks", err);
    filling.T = memory_zeros(goal->m, goal->m * sizeof *filling.T, "landmarks", err);
    int status = index && filling.landmark && filling.T ? 0 : -1;
    for (size_t i = 0; status == 0 && i < n; i++) {
        index[i] = rows ? rows[i] : (uint32_t)i;
    }
    if (status == 0) {
        draw(&filling, goal->seed);
        status = factor(&filling, err);
    }
    if (status == 0) {
        landmarks->width = filling.m + (goal->constant > 0);
        landmarks->stride = landmarks->width + goal->spare;
        landmarks->Z = memory_array(n, landmarks->stride * sizeof(float), "landmarks", err);
        landmarks->rest = memory_array(n, sizeof(float), "landmarks", err);
        status = landmarks->Z && landmarks->rest ? fill_all(&filling, threads, err) : -1;
    }
    free(index);
    free(filling.landmark);
    free(filling.T);
    if (status < 0) {
        landmarks_free(landmarks);
    }
    return status;
}

/* ---- further features ---- */

/* The columns of a call of landmarks_extend. */
struct extension {
    size_t k;
    float *narrow; /* (CHUNK, k) some rows of V, or of Z P */
    float *part;   /* (width, k) their part of P */
    double *P;     /* (width, k) Z'V */
    double *EV;    /* (n, k) */
    double *G;     /* (k, k) V'E V, then T */
    uint32_t *pivot;
};

/* P = Z'V: sums of CHUNK rows are in float. */
static void multiply_features(const struct landmarks *landmarks, const double *V,
                              struct extension *extension) {
    size_t k = extension->k, size = landmarks->width * k;
    for (size_t first = 0; first < landmarks->n; first += CHUNK) {
        size_t n = smaller(CHUNK, landmarks->n - first);
        for (size_t j = 0; j < n * k; j++) {
            extension->narrow[j] = (float)V[first * k + j];
        }
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)landmarks->width, (int)k, (int)n,
                    1, landmarks->Z + first * landmarks->stride, (int)landmarks->stride,
                    extension->narrow, (int)k, 0, extension->part, (int)k);
        for (size_t j = 0; j < size; j++) {
            extension->P[j] += (double)extension->part[j];
        }
    }
}

/* EV = KV - Z P, G = V'EV. */
static void subtract_features(const struct landmarks *landmarks, const double *V, const double *KV,
                              struct extension *extension) {
    size_t k = extension->k;
    for (size_t j = 0; j < landmarks->width * k; j++) {
        extension->part[j] = (float)extension->P[j];
    }
    for (size_t first = 0; first < landmarks->n; first += CHUNK) {
        size_t n = smaller(CHUNK, landmarks->n - first);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)k,
                    (int)landmarks->width, 1, landmarks->Z + first * landmarks->stride,
                    (int)landmarks->stride, extension->part, (int)k, 0, extension->narrow, (int)k);
        for (size_t i = 0; i < n; i++) {
            const double *v = V + (first + i) * k;
            double *row = extension->EV + (first + i) * k;
            for (size_t c = 0; c < k; c++) {
                row[c] = KV[(first + i) * k + c] - (double)extension->narrow[i * k + c];
            }
            for (size_t c = 0; c < k; c++) {
                array_add(extension->G + c * k, v[c], row, k);
            }
        }
    }
}

/* Appends the features EV T'^-1 of `rank` pivots. */
static void append(struct landmarks *landmarks, struct extension *extension, size_t rank) {
    size_t k = extension->k;
    double *x = extension->P; /* no longer used */
    for (size_t i = 0; i < landmarks->n; i++) {
        float *row = landmarks->Z + i * landmarks->stride + landmarks->width;
        double square = 0;
        for (size_t a = 0; a < rank; a++) {
            const double *T = extension->G + a * k;
            x[a] = (extension->EV[i * k + extension->pivot[a]] - array_dot(T, x, a)) / T[a];
            row[a] = (float)x[a];
            square += x[a] * x[a];
        }
        landmarks->rest[i] = (float)fmax(0, (double)landmarks->rest[i] - square);
    }
    landmarks->width += rank;
}

int landmarks_extend(struct landmarks *landmarks, const double *V, const double *KV, size_t k,
                     struct error *err) {
    if (landmarks->width < k || landmarks->width + k > landmarks->stride) {
        return 0;
    }
    struct extension extension = {.k = k};
    extension.narrow = memory_array(CHUNK, k * sizeof(float), "features", err);
    extension.part = memory_array(landmarks->width, k * sizeof(float), "features", err);
    extension.P = memory_zeros(landmarks->width, k * sizeof(double), "features", err);
    extension.EV = memory_array(landmarks->n, k * sizeof(double), "features", err);
    extension.G = memory_zeros(k, k * sizeof(double), "features", err);
    extension.pivot = memory_array(k, sizeof *extension.pivot, "features", err);
    bool made = extension.narrow && extension.part && extension.P && extension.EV && extension.G &&
                extension.pivot;
    double largest = 0;
    size_t rank = 0;
    if (made) {
        multiply_features(landmarks, V, &extension);
        subtract_features(landmarks, V, KV, &extension);
    }
    for (size_t c = 0; made && c < k; c++) {
        largest = fmax(largest, extension.G[c * k + c]);
    }
    int status = !made         ? -1
                 : largest > 0 ? cholesky_pivoted(extension.G, k, MIN_PIVOT * largest, &rank,
                                                  extension.pivot, err)
                               : 0;
    if (status == 0) {
        append(landmarks, &extension, rank);
    }
    free(extension.narrow);
    free(extension.part);
    free(extension.P);
    free(extension.EV);
    free(extension.G);
    free(extension.pivot);
    return status;
}

void landmarks_free(struct landmarks *landmarks) {
    free(landmarks->Z);
    free(landmarks->rest);
    *landmarks = (struct landmarks){0};
}
