/* Landmarks: their Cholesky factor in double, the features of all rows in float, and products. */
#include "common/kernel/landmarks.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/base/sizes.h"
#include "common/base/vector.h"
#include "common/kernel/kernel_private.h"
#include "common/linear_algebra/cholesky.h"

#include <cblas.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 512, /* rows of a task */
    PARTS = 16   /* partial sums over rows of a product, added in a fixed order */
};

/* A landmark is used if the others leave it at least this fraction of the largest entry: systems in
 * float stay accurate. */
static const double MIN_PIVOT = 1e-3;

enum { RANDOM_STREAM = 31 }; /* of the seed, different from the solvers' own uses */

/* The features in progress. */
struct filling {
    struct landmarks *landmarks;
    const struct gram *gram;
    const uint32_t *index; /* (n) rows of the gram */
    const double *diagonal;
    uint32_t *landmark; /* (m) rows of the gram, index[landmarks->row] */
    size_t m;
    float *T; /* (m, m) lower triangle, unless landmarks->T holds it */
    double constant;
    struct kernel_worker *worker; /* blocks: (CHUNK, m) in the type of T */
    atomic_bool failed;
};

/* The landmarks are m of the n rows. */
static void take_landmarks(struct filling *filling, const uint32_t *row, size_t m) {
    for (size_t a = 0; a < m; a++) {
        filling->landmarks->row[a] = row[a];
        filling->landmark[a] = filling->index[row[a]];
    }
    filling->m = m;
}

/* Draws a row of each of up to m equal parts of those with a diagonal entry. */
static void draw(struct filling *filling, size_t m, uint64_t seed) {
    struct random random;
    uint32_t *row = filling->landmarks->row;
    size_t n = filling->landmarks->n, eligible = 0;
    for (size_t i = 0; i < n; i++) {
        eligible += filling->diagonal[i] > 0;
    }
    m = smaller(m, eligible);
    double part = (double)eligible / (double)m;
    random_start(&random, seed, RANDOM_STREAM);
    for (size_t a = 0; a < m; a++) {
        size_t i = (size_t)(((double)a + random_unit(&random)) * part);
        row[a] = (uint32_t)smaller(i, eligible - 1);
    }
    for (size_t i = 0, number = 0, a = 0; i < n; i++) {
        if (filling->diagonal[i] > 0) {
            for (; a < m && row[a] == number; a++) {
                row[a] = (uint32_t)i;
            }
            number++;
        }
    }
    take_landmarks(filling, row, m);
}

/* Computes T of the first pivots, up to goal->m, without landmarks that the others nearly span. */
static int factor(struct filling *filling, const struct landmarks_goal *goal, struct error *err) {
    size_t m = filling->m, n_used = 0;
    double *K = memory_array(m, m * sizeof *K, "landmarks", err);
    double *T = filling->landmarks->T;
    uint32_t *drawn = filling->landmarks->row;
    uint32_t *order = memory_array(2 * m, sizeof *order, "landmarks", err);
    int status = K && order ? gram_block_exact(filling->gram, filling->landmark, m,
                                               filling->landmark, m, K, err)
                            : -1;
    double largest = 0;
    for (size_t a = 0; status == 0 && a < m; a++) {
        largest = fmax(largest, K[a * m + a]);
    }
    double least = (T ? goal->min_pivot : MIN_PIVOT) * largest;
    status = status < 0 ? -1 : cholesky_pivoted(K, m, least, &n_used, order, err);
    n_used = smaller(n_used, goal->m);
    for (size_t a = 0; status == 0 && a < n_used; a++) {
        order[m + a] = drawn[order[a]];
        for (size_t b = 0; b <= a; b++) {
            if (T) {
                T[a * n_used + b] = K[a * m + b];
            } else {
                filling->T[a * n_used + b] = (float)K[a * m + b];
            }
        }
    }
    if (status == 0) {
        take_landmarks(filling, order + m, n_used);
    }
    free(K);
    free(order);
    return status;
}

/* The first m features of n rows, in float. */
static int solve_in_float(struct filling *filling, size_t first, size_t n,
                          struct kernel_worker *worker) {
    const struct landmarks *landmarks = filling->landmarks;
    size_t m = filling->m;
    float *block = worker->block;
    if (kernel_block_listed(gram_rows(filling->gram), filling->index + first, n, filling->landmark,
                            m, block, worker->scratch, &worker->error) < 0) {
        return -1;
    }
    if (m > 0) { /* BLAS takes no matrices without columns */
        cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)n, (int)m,
                    1, filling->T, (int)m, block, (int)m);
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(landmarks->Z + (first + i) * landmarks->stride, block + i * m, m * sizeof *block);
    }
    return 0;
}

/* The same in double. */
static int solve_in_double(struct filling *filling, size_t first, size_t n,
                           struct kernel_worker *worker) {
    const struct landmarks *landmarks = filling->landmarks;
    size_t m = filling->m;
    double *block = worker->block;
    if (gram_block_exact(filling->gram, filling->index + first, n, filling->landmark, m, block,
                         &worker->error) < 0) {
        return -1;
    }
    if (m > 0) {
        cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)n, (int)m,
                    1, landmarks->T, (int)m, block, (int)m);
    }
    for (size_t i = 0; i < n; i++) {
        float *row = landmarks->Z + (first + i) * landmarks->stride;
        array_narrow(row, block + i * m, m);
    }
    return 0;
}

/* Task: the features of some rows. */
static void fill(void *argument, size_t task, size_t worker) {
    struct filling *filling = argument;
    struct landmarks *landmarks = filling->landmarks;
    size_t first = task * CHUNK, n = smaller(CHUNK, landmarks->n - first), m = filling->m;
    if (atomic_load(&filling->failed) || (landmarks->T ? solve_in_double : solve_in_float)(
                                             filling, first, n, &filling->worker[worker]) < 0) {
        atomic_store(&filling->failed, true);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        float *row = landmarks->Z + (first + i) * landmarks->stride;
        if (landmarks->width > m) {
            row[m] = (float)filling->constant;
        }
        float square = cblas_sdot((int)landmarks->width, row, 1, row, 1);
        landmarks->rest[first + i] = (float)fmax(0, filling->diagonal[first + i] - (double)square);
    }
}

static int fill_all(struct filling *filling, struct threads *threads, struct error *err) {
    size_t workers = threads_count(threads), n = filling->landmarks->n;
    size_t value = filling->landmarks->T ? sizeof(double) : sizeof(float);
    filling->worker = kernel_workers_create(workers, filling->m * CHUNK * value, err);
    if (!filling->worker) {
        return -1;
    }
    threads_run(threads, (n + CHUNK - 1) / CHUNK, fill, filling);
    int status = kernel_workers_error(filling->worker, workers, err);
    kernel_workers_free(filling->worker, workers);
    return status;
}

int landmarks_create(struct landmarks *landmarks, const struct gram *gram, const uint32_t *rows,
                     size_t n, const double *diagonal, const struct landmarks_goal *goal,
                     struct threads *threads, struct error *err) {
    *landmarks = (struct landmarks){.n = n};
    struct filling filling = {
        .landmarks = landmarks, .gram = gram, .diagonal = diagonal, .constant = goal->constant};
    size_t drawn = goal->drawn ? goal->drawn : goal->m;
    uint32_t *index = memory_array(n, sizeof *index, "landmarks", err);
    filling.index = index;
    filling.landmark = memory_array(drawn, sizeof *filling.landmark, "landmarks", err);
    landmarks->row = memory_array(drawn, sizeof *landmarks->row, "landmarks", err);
    if (goal->min_pivot > 0) {
        landmarks->T = memory_zeros(goal->m, goal->m * sizeof(double), "landmarks", err);
    } else {
        filling.T = memory_zeros(goal->m, goal->m * sizeof(float), "landmarks", err);
    }
    int status =
        index && filling.landmark && landmarks->row && (landmarks->T || filling.T) ? 0 : -1;
    for (size_t i = 0; status == 0 && i < n; i++) {
        index[i] = rows ? rows[i] : (uint32_t)i;
    }
    if (status == 0) {
        draw(&filling, drawn, goal->seed);
        status = factor(&filling, goal, err);
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
        array_narrow(extension->narrow, V + first * k, n * k);
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
    array_narrow(extension->part, extension->P, landmarks->width * k);
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
    void *block =
        ARRAYS_CREATE("features", err, ARRAYS(CHUNK * k, float, &extension.narrow),
                      ARRAYS(landmarks->width * k, float, &extension.part),
                      ARRAYS(landmarks->width * k, double, &extension.P),
                      ARRAYS(landmarks->n * k, double, &extension.EV),
                      ARRAYS(k * k, double, &extension.G), ARRAYS(k, uint32_t, &extension.pivot));
    double largest = 0;
    size_t rank = 0;
    if (block) {
        multiply_features(landmarks, V, &extension);
        subtract_features(landmarks, V, KV, &extension);
    }
    for (size_t c = 0; block && c < k; c++) {
        largest = fmax(largest, extension.G[c * k + c]);
    }
    int status = !block        ? -1
                 : largest > 0 ? cholesky_pivoted(extension.G, k, MIN_PIVOT * largest, &rank,
                                                  extension.pivot, err)
                               : 0;
    if (status == 0) {
        append(landmarks, &extension, rank);
    }
    free(block);
    return status;
}

/* ---- products ---- */

/* A product in progress: part = Z'b of the parts, then s = Z (the first part). */
struct product {
    const struct landmarks *landmarks;
    const double *b;
    double *part;   /* (PARTS, width) */
    bool projected; /* the first part is Z'b */
    double *s;
};

static size_t part_start(const struct product *product, size_t part) {
    return product->landmarks->n * part / PARTS;
}

/* The rows of Z from i on; those beyond `end` repeat its last one. Returns how many there are. */
static size_t take_rows(const struct landmarks *landmarks, size_t i, size_t end,
                        const float *row[VECTOR_ROWS]) {
    for (size_t r = 0; r < VECTOR_ROWS; r++) {
        row[r] = landmarks->Z + smaller(i + r, end - 1) * landmarks->stride;
    }
    return smaller(VECTOR_ROWS, end - i);
}

/* Task: Z'b of some rows, or their scores. */
static void multiply_part(void *argument, size_t part, size_t worker) {
    (void)worker;
    const struct product *product = argument;
    const struct landmarks *landmarks = product->landmarks;
    size_t width = landmarks->width, end = part_start(product, part + 1);
    for (size_t i = part_start(product, part); i < end; i += VECTOR_ROWS) {
        const float *row[VECTOR_ROWS];
        double of_row[VECTOR_ROWS] = {0};
        size_t n = take_rows(landmarks, i, end, row);
        if (product->projected) {
            vector_float()->dot(row, width, product->part, of_row);
            memcpy(product->s + i, of_row, n * sizeof *of_row);
        } else {
            memcpy(of_row, product->b + i, n * sizeof *of_row);
            vector_float()->axpy(row, width, of_row, product->part + part * width);
        }
    }
}

/* Allocates the parts; the first becomes Z'b. The caller frees them. */
static int project(struct product *product, struct threads *threads, struct error *err) {
    size_t width = product->landmarks->width;
    product->part = memory_zeros(PARTS, width * sizeof *product->part, "a product", err);
    if (!product->part) {
        return -1;
    }
    threads_run(threads, PARTS, multiply_part, product);
    for (size_t part = 1; part < PARTS; part++) {
        array_add(product->part, 1, product->part + part * width, width);
    }
    product->projected = true;
    return 0;
}

int landmarks_multiply(const struct landmarks *landmarks, const double *b, double *s,
                       struct threads *threads, struct error *err) {
    struct product product = {.landmarks = landmarks, .b = b, .s = s};
    if (project(&product, threads, err) < 0) {
        return -1;
    }
    threads_run(threads, PARTS, multiply_part, &product);
    free(product.part);
    return 0;
}

int landmarks_coefficients(const struct landmarks *landmarks, double *b, struct threads *threads,
                           struct error *err) {
    struct product product = {.landmarks = landmarks, .b = b};
    if (project(&product, threads, err) < 0) {
        return -1;
    }
    if (landmarks->width > 0) {
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)landmarks->width,
                    landmarks->T, (int)landmarks->width, product.part, 1);
    }
    memset(b, 0, landmarks->n * sizeof *b);
    for (size_t a = 0; a < landmarks->width; a++) {
        b[landmarks->row[a]] = product.part[a];
    }
    free(product.part);
    return 0;
}

int landmarks_expand(const struct landmarks *landmarks, double *W, size_t k, struct error *err) {
    size_t m = landmarks->width;
    double *own = landmarks->T ? NULL : memory_array(m, m * sizeof *own, "landmarks", err);
    if (!landmarks->T && !own) {
        return -1;
    }
    for (size_t a = 0; own && a < m; a++) { /* T in float */
        const float *row = landmarks->Z + landmarks->row[a] * landmarks->stride;
        for (size_t b = 0; b < m; b++) {
            own[a * m + b] = (double)row[b];
        }
    }
    if (m > 0) {
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (int)m, (int)k,
                    1, own ? own : landmarks->T, (int)m, W, (int)k);
    }
    free(own);
    return 0;
}

void landmarks_free(struct landmarks *landmarks) {
    free(landmarks->Z);
    free(landmarks->rest);
    free(landmarks->row);
    free(landmarks->T);
    *landmarks = (struct landmarks){0};
}
