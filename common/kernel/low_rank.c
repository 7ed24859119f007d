/* Systems of a low-rank matrix plus a diagonal, by the Woodbury formula. */
#include "common/kernel/low_rank.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/cholesky.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>

enum {
    BLOCK = 64,  /* rows of M of a task */
    CHUNK = 512, /* rows of Z that are converted to double at a time */
    PARTS = 16   /* tasks of rows in a solution; their sums are added in a fixed order */
};

double low_rank_bytes(size_t n, size_t k, const struct landmarks_goal *goal) {
    double rows = (double)n, m = (double)goal->m + 1, columns = (double)k;
    return (3 * m * m + CHUNK * m + rows + m * columns) * sizeof(double) +
           (rows * (m + columns) + PARTS * m * columns) * sizeof(float);
}

int low_rank_create(struct low_rank *low, const struct gram *gram, const uint32_t *rows, size_t n,
                    const double *diagonal, const struct landmarks_goal *goal, size_t k,
                    struct threads *threads, struct error *err) {
    *low = (struct low_rank){.k = k, .threads = threads};
    if (landmarks_create(&low->landmarks, gram, rows, n, diagonal, goal, threads, err) < 0) {
        return -1;
    }
    size_t m = low->landmarks.width;
    low->block = ARRAYS_CREATE("a surrogate", err, ARRAYS(n, double, &low->inverse),
                               ARRAYS(m * m, double, &low->M),
                               ARRAYS(threads_count(threads) * CHUNK * m, double, &low->wide),
                               ARRAYS(m * k, double, &low->sum), ARRAYS(n * k, float, &low->right),
                               ARRAYS(PARTS * m * k, float, &low->part));
    if (!low->block) {
        low_rank_free(low);
        return -1;
    }
    return 0;
}

void low_rank_free(struct low_rank *low) {
    landmarks_free(&low->landmarks);
    free(low->block);
    *low = (struct low_rank){0};
}

/* Task: some rows of Z' diag(inverse) Z, up to the diagonal block. */
static void multiply_block(void *argument, size_t task, size_t worker) {
    const struct low_rank *low = argument;
    const struct landmarks *landmarks = &low->landmarks;
    size_t first = task * BLOCK, m = smaller(BLOCK, landmarks->width - first), end = first + m;
    double *wide = low->wide + worker * CHUNK * landmarks->width;
    for (size_t from = 0; from < landmarks->n; from += CHUNK) {
        size_t n = smaller(CHUNK, landmarks->n - from);
        for (size_t i = 0; i < n; i++) {
            const float *row = landmarks->Z + (from + i) * landmarks->stride;
            double root = sqrt(low->inverse[from + i]);
            for (size_t a = 0; a < end; a++) {
                wide[i * end + a] = root * (double)row[a];
            }
        }
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)m, (int)end, (int)n, 1,
                    wide + first, (int)end, wide, (int)end, from > 0,
                    low->M + first * landmarks->width, (int)landmarks->width);
    }
}

int low_rank_factor(struct low_rank *low, double ridge) {
    size_t m = low->landmarks.width;
    for (size_t i = 0; i < low->landmarks.n; i++) {
        low->inverse[i] = 1 / ((double)low->landmarks.rest[i] + ridge);
    }
    threads_run(low->threads, (m + BLOCK - 1) / BLOCK, multiply_block, low);
    for (size_t a = 0; a < m; a++) {
        low->M[a * m + a] += 1;
    }
    return cholesky_factor(low->M, m);
}

/* A solution in progress. */
struct solving {
    const struct low_rank *low;
    double *B; /* (n, k) */
};

static size_t part_start(const struct solving *solving, size_t part) {
    return solving->low->landmarks.n * part / PARTS;
}

/* Task: B = diag(inverse) B at some rows, and their part of Z'B. */
static void project(void *argument, size_t part, size_t worker) {
    (void)worker;
    const struct solving *solving = argument;
    const struct low_rank *low = solving->low;
    const struct landmarks *landmarks = &low->landmarks;
    size_t first = part_start(solving, part), end = part_start(solving, part + 1), k = low->k;
    double *B = solving->B + first * k;
    float *right = low->right + first * k;
    for (size_t j = 0; j < (end - first) * k; j++) {
        B[j] *= low->inverse[first + j / k];
        right[j] = (float)B[j];
    }
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)landmarks->width, (int)k,
                (int)(end - first), 1, landmarks->Z + first * landmarks->stride,
                (int)landmarks->stride, right, (int)k, 0, low->part + part * landmarks->width * k,
                (int)k);
}

/* Task: B -= diag(inverse) Z sum at some rows. */
static void subtract_correction(void *argument, size_t part, size_t worker) {
    (void)worker;
    const struct solving *solving = argument;
    const struct low_rank *low = solving->low;
    const struct landmarks *landmarks = &low->landmarks;
    size_t first = part_start(solving, part), n = part_start(solving, part + 1) - first;
    size_t k = low->k;
    double *B = solving->B + first * k;
    float *right = low->right + first * k;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)k, (int)landmarks->width, 1,
                landmarks->Z + first * landmarks->stride, (int)landmarks->stride, low->part, (int)k,
                0, right, (int)k);
    for (size_t j = 0; j < n * k; j++) {
        B[j] -= low->inverse[first + j / k] * (double)right[j];
    }
}

void low_rank_solve(const struct low_rank *low, double *B) {
    size_t k = low->k, m = low->landmarks.width, size = m * k;
    struct solving solving = {low, B};
    threads_run(low->threads, PARTS, project, &solving);
    for (size_t j = 0; j < size; j++) {
        low->sum[j] = 0;
        for (size_t part = 0; part < PARTS; part++) {
            low->sum[j] += (double)low->part[part * size + j];
        }
    }
    const enum CBLAS_TRANSPOSE half[] = {CblasNoTrans, CblasTrans};
    for (int h = 0; h < 2 && m > 0; h++) {
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, half[h], CblasNonUnit, (int)m, (int)k, 1,
                    low->M, (int)m, low->sum, (int)k);
    }
    array_narrow(low->part, low->sum, size);
    threads_run(low->threads, PARTS, subtract_correction, &solving);
}
