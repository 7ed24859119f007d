/* speeds: multiply-adds a nanosecond of the routines that dominate the solvers, on one core, and as
 * a ratio to those of a scalar loop; beside it the ratio that solvers count with. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include "fit/work.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void openblas_set_num_threads(int threads);
void dpotrf_(const char *uplo, const int *n, double *A, const int *ld, int *info);

enum { ORDER = 768, RUNS = 7 };
static const double SHORTEST = 0.05; /* seconds of a run */

struct arrays {
    double *A, *B, *C, *x, *y;
    float *a, *b, *c;
};

typedef double routine(struct arrays *arrays); /* returns its multiply-adds */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double run_dgemm(struct arrays *arrays) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, ORDER, ORDER, ORDER, 1, arrays->A, ORDER,
                arrays->B, ORDER, 0, arrays->C, ORDER);
    return (double)ORDER * ORDER * ORDER;
}

static double run_sgemm(struct arrays *arrays) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, ORDER, ORDER, ORDER, 1, arrays->a, ORDER,
                arrays->b, ORDER, 0, arrays->c, ORDER);
    return (double)ORDER * ORDER * ORDER;
}

static double run_dsyrk(struct arrays *arrays) {
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, ORDER, ORDER, 1, arrays->A, ORDER, 0,
                arrays->C, ORDER);
    return (double)ORDER * ORDER * ORDER / 2;
}

static double run_dpotrf(struct arrays *arrays) {
    const int order = ORDER;
    int info;
    for (size_t j = 0; j < ORDER; j++) { /* the identity costs as much as any other */
        for (size_t i = 0; i < ORDER; i++) {
            arrays->C[j * ORDER + i] = i == j;
        }
    }
    dpotrf_("U", &order, arrays->C, &order, &info);
    return (double)ORDER * ORDER * ORDER / 6;
}

static double run_dgemv(struct arrays *arrays) {
    cblas_dgemv(CblasRowMajor, CblasNoTrans, ORDER, ORDER, 1, arrays->A, ORDER, arrays->x, 1, 0,
                arrays->y, 1);
    return (double)ORDER * ORDER;
}

static double run_sgemv(struct arrays *arrays) {
    cblas_sgemv(CblasRowMajor, CblasNoTrans, ORDER, ORDER, 1, arrays->a, ORDER, arrays->b, 1, 0,
                arrays->c, 1);
    return (double)ORDER * ORDER;
}

/* Sums that wait for one another, as in most loops of the solvers. */
static double run_scalar(struct arrays *arrays) {
    for (size_t i = 0; i < ORDER; i++) {
        double sum = 0;
        for (size_t j = 0; j < ORDER; j++) {
            sum += arrays->A[i * ORDER + j] * arrays->x[j];
        }
        arrays->y[i] = sum;
    }
    return (double)ORDER * ORDER;
}

/* y += a x, which the compiler vectorises. */
static double run_vector(struct arrays *arrays) {
    double *restrict y = arrays->y;
    for (size_t i = 0; i < ORDER; i++) {
        double factor = arrays->x[i];
        const double *restrict row = arrays->A + i * ORDER;
        for (size_t j = 0; j < ORDER; j++) {
            y[j] += factor * row[j];
        }
    }
    return (double)ORDER * ORDER;
}

/* Work by a count of multiply-adds, as of the other routines. */
static double count_cholesky(double multiply_adds) {
    return work_cholesky(ORDER) / (double)ORDER / ORDER / ORDER * 6 * multiply_adds;
}

static const struct {
    const char *name;
    routine *run;
    double (*count)(double multiply_adds);
} table[] = {{"scalar loop", run_scalar, work_scalar}, {"vector loop", run_vector, work_blas2},
             {"dgemv", run_dgemv, work_blas2},         {"sgemv", run_sgemv, work_blas2_float},
             {"dpotrf", run_dpotrf, count_cholesky},   {"dsyrk", run_dsyrk, work_blas3},
             {"dgemm", run_dgemm, work_blas3},         {"sgemm", run_sgemm, work_blas3}};

static double speed_of(routine *run, struct arrays *arrays) {
    double best = 0;
    for (int i = 0; i < RUNS; i++) {
        double start = now(), work = 0, seconds = 0;
        while (seconds < SHORTEST) {
            work += run(arrays);
            seconds = now() - start;
        }
        best = work / seconds > best ? work / seconds : best;
    }
    return best;
}

int main(void) {
    size_t square = (size_t)ORDER * ORDER;
    struct arrays arrays = {malloc(square * 8), malloc(square * 8), malloc(square * 8),
                            malloc(ORDER * 8),  malloc(ORDER * 8),  malloc(square * 4),
                            malloc(square * 4), malloc(square * 4)};
    if (!arrays.A || !arrays.B || !arrays.C || !arrays.x || !arrays.y || !arrays.a || !arrays.b ||
        !arrays.c) {
        fprintf(stderr, "speeds: not enough memory\n");
        return 1;
    }
    openblas_set_num_threads(1);
    for (size_t i = 0; i < square; i++) {
        arrays.A[i] = arrays.B[i] = (double)(i % 97) / 97;
        arrays.a[i] = arrays.b[i] = (float)(i % 97) / 97;
    }
    for (size_t i = 0; i < ORDER; i++) {
        arrays.x[i] = 1e-3 * (double)(i % 7);
        arrays.y[i] = 0;
    }
    double scalar = speed_of(table[0].run, &arrays);
    for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
        double speed = t == 0 ? scalar : speed_of(table[t].run, &arrays);
        printf("speed of %-37s %6.2f/ns, %5.1f x scalar, counted %4.1f x\n", table[t].name,
               1e-9 * speed, speed / scalar, 1 / table[t].count(1));
    }
    return 0;
}
