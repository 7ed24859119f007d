/* The landmarks of a problem, a pilot on some of its rows, and the linear problem. */
#include "common/kernel/explicit_features.h"

#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/base/sizes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PILOT = 256,          /* landmarks that are tried first */
    PILOT_ROWS = 1024,    /* on so many rows, which the problem must have */
    ROWS_PER_FEATURE = 8, /* with fewer, solvers of kernels are as fast */
    RANDOM_STREAM = 32    /* of the seed, different from the solvers' own uses */
};

/* A pilot that leaves more than this part of the trace is not repeated with more landmarks. */
static const double MAX_PILOT_PART = 0.02;

/* Exact features leave at most this part of the trace, which is near the rounding of floats. */
static const double MAX_ROUNDING = 1e-6;

/* Landmarks are left out to which the others leave this part of the largest diagonal entry. */
static const double MIN_PIVOT = 1e-10;

/* Kernel values of these magnitudes and their squares are in the range of floats. */
static const double MIN_SCALE = 1e-15, MAX_SCALE = 1e15;

/* The part of the trace that the landmarks leave; 1 for a diagonal (n) that is 0 or out of
 * range. */
static double part_left(const struct landmarks *landmarks, const double *diagonal) {
    double rest = 0, whole = 0, largest = 0;
    for (size_t i = 0; i < landmarks->n; i++) {
        const float *z = landmarks->Z + i * landmarks->stride;
        double square = 0;
        for (size_t a = 0; a < landmarks->width; a++) {
            square += (double)z[a] * (double)z[a];
        }
        rest += fabs(diagonal[i] - square);
        whole += diagonal[i];
        largest = fmax(largest, diagonal[i]);
    }
    return largest >= MIN_SCALE && largest <= MAX_SCALE && isfinite(rest) ? rest / whole : 1;
}

/* Landmarks of rows (n) of the kernel matrix. *part = the part of the trace that they leave. */
static int create_landmarks(struct landmarks *landmarks, const struct problem *problem,
                            const uint32_t *rows, size_t n, size_t size, uint64_t seed,
                            double *part, struct error *err) {
    const struct kernel_rows *own = gram_rows(problem->gram);
    const struct landmarks_goal goal = {.m = size, .seed = seed, .min_pivot = MIN_PIVOT};
    double *diagonal = memory_array(n, sizeof *diagonal, "landmarks", err);
    if (!diagonal) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        size_t row = rows ? rows[i] : i;
        diagonal[i] = kernel_value(own, row, own, row);
    }
    int status =
        landmarks_create(landmarks, problem->gram, rows, n, diagonal, &goal, problem->threads, err);
    *part = status == 0 ? part_left(landmarks, diagonal) : 1;
    free(diagonal);
    return status;
}

int explicit_features_pilot(const struct problem *problem, size_t size, uint64_t seed, double *part,
                            struct error *err) {
    struct random random;
    struct landmarks landmarks;
    uint32_t row[PILOT_ROWS];
    double step = (double)problem->n / PILOT_ROWS;
    random_start(&random, seed, RANDOM_STREAM);
    for (size_t i = 0; i < PILOT_ROWS; i++) {
        size_t drawn = (size_t)(((double)i + random_unit(&random)) * step);
        drawn = smaller(drawn, problem->n - 1);
        row[i] = problem->rows ? problem->rows[drawn] : (uint32_t)drawn;
    }
    if (create_landmarks(&landmarks, problem, row, PILOT_ROWS, size, seed, part, err) < 0) {
        return -1;
    }
    landmarks_free(&landmarks);
    return 0;
}

int explicit_features_size(const struct problem *problem, size_t max_rank, uint64_t seed,
                           size_t *size, struct error *err) {
    const struct gram *gram = problem->gram;
    size_t most = smaller(smaller(max_rank, EXPLICIT_MAX_FEATURES), problem->n / ROWS_PER_FEATURE);
    double bytes = (double)most * ((double)problem->n * sizeof(float) +
                                   2 * (double)most * sizeof(double)); /* Z and T */
    double part;
    *size = 0;
    if (!gram || problem->zero_only || gram_rows(gram)->cluster ||
        !kernel_definite(gram_rows(gram)->kernel) || problem->n < PILOT_ROWS || most == 0 ||
        bytes > (double)problem->cache_bytes) {
        return 0;
    }
    if (explicit_features_pilot(problem, smaller(most, PILOT), seed, &part, err) < 0 ||
        (most > PILOT && part <= MAX_PILOT_PART &&
         explicit_features_pilot(problem, most, seed, &part, err) < 0)) {
        return -1;
    }
    *size = part <= MAX_ROUNDING ? most : 0;
    return 0;
}

int explicit_features_create(struct explicit_features *features, const struct problem *problem,
                             size_t size, uint64_t seed, struct error *err) {
    struct landmarks *landmarks = &features->landmarks;
    double part;
    *features = (struct explicit_features){0};
    if (create_landmarks(landmarks, problem, problem->rows, problem->n, size, seed, &part, err) <
        0) {
        return -1;
    }
    features->data = (struct data){.n_rows = problem->n,
                                   .n_features = (uint32_t)landmarks->width,
                                   .value = landmarks->Z,
                                   .borrowed_features = true};
    features->problem = (struct problem){.data = &features->data,
                                         .n = problem->n,
                                         .threads = problem->threads,
                                         .cache_bytes = problem->cache_bytes,
                                         .certify_time = problem->certify_time,
                                         .end_time = problem->end_time,
                                         .constant = problem->constant};
    features->exact = landmarks->width * ROWS_PER_FEATURE <= problem->n && part <= MAX_ROUNDING;
    return 0;
}

void explicit_features_free(struct explicit_features *features) {
    landmarks_free(&features->landmarks);
}

int explicit_features_expand(const struct explicit_features *features, double *W, size_t k,
                             double *B, struct error *err) {
    const struct landmarks *landmarks = &features->landmarks;
    if (landmarks_expand(landmarks, W, k, err) < 0) {
        return -1;
    }
    memset(B, 0, landmarks->n * k * sizeof *B);
    for (size_t a = 0; a < landmarks->width; a++) {
        memcpy(B + landmarks->row[a] * k, W + a * k, k * sizeof *B);
    }
    return 0;
}
