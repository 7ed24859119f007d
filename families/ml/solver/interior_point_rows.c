/* Input of the interior-point method: work estimate, features (the rows' own or a Cholesky factor
 * of the kernel matrix), and pairs of labels. */
#include "families/ml/solver/interior_point_private.h"

#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/cholesky.h"
#include "families/ml/solver/kernel_products.h"
#include "fit/work.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_UNKNOWNS = 4096, /* the system then has 134 MB */
    MAX_ROWS = 4096,     /* of a factored kernel matrix */
    MAX_PAIRS = 1 << 21, /* a dozen numbers each: 200 MB */
    MAX_VALUES = 1 << 25,
    TYPICAL_STEPS = 20,
    SYSTEMS_A_STEP = 5 /* solves per iteration, with corrections */
};

/* Largest residual of the factorisation relative to K's diagonal; rounding leaves less. */
static const double INDEFINITE = 1e-9;

/* ---- sizes ---- */

static size_t count_pairs(const struct ml_rows *rows) {
    size_t pairs = 0;
    for (size_t i = 0; i < rows->n; i++) {
        struct ml_block block = ml_rows_block(rows, i, ML_HINGE, 1);
        pairs += (size_t)block.n_relevant * (block.q - block.n_relevant);
    }
    return pairs;
}

bool ml_interior_own_features(const struct problem *problem, const struct ml_rows *rows) {
    return !problem->gram && (problem->cluster || problem->data->n_features <= rows->n);
}

double ml_interior_work(const struct problem *problem, const struct ml_rows *rows) {
    bool factored = !ml_interior_own_features(problem, rows);
    double n = (double)rows->n_everywhere, q = (double)rows->q;
    double m = (factored ? n : (double)problem->data->n_features) + 1, unknowns = m * (q - 1);
    double pairs = cluster_total(rows->cluster, (double)count_pairs(rows));
    if (unknowns > MAX_UNKNOWNS || (factored && n > MAX_ROWS) || pairs > MAX_PAIRS ||
        n * m > MAX_VALUES) {
        return INFINITY;
    }
    double square = unknowns * unknowns, system = work_blas3(pairs * m * m / 2);
    double products = SYSTEMS_A_STEP * (work_blas3(2 * n * m * q) + work_scalar(square));
    double features = factored ? work_blas3(n * n * m / 2) + work_scalar(50 * n * n) : 0;
    return features + TYPICAL_STEPS * (system + work_cholesky(unknowns) + products +
                                       work_scalar(50 * pairs + square / 2));
}

/* ---- features ---- */

/* Whether K, given by its lower half, minus F F' for the factor F (n, rank) is rounding error. */
static bool is_definite(const double *K, const double *F, size_t n, size_t rank, size_t width) {
    double max_diagonal = 0;
    for (size_t i = 0; i < n; i++) {
        max_diagonal = fmax(max_diagonal, fabs(K[i * n + i]));
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double residual = K[i * n + j];
            residual -= cblas_ddot((int)rank, F + i * width, 1, F + j * width, 1);
            if (!(fabs(residual) <= INDEFINITE * max_diagonal)) {
                return false;
            }
        }
    }
    return true;
}

/* F (n, rank + bias) with F F' = K, by pivoted Cholesky factorisation; *possible: whether it
 * exists. */
static int factor_products(struct ml_interior *ml, bool *possible, struct error *err) {
    size_t n = ml->n, rank = 0;
    double *K = memory_zeros(n, 2 * n * sizeof(double), "a kernel matrix", err);
    uint32_t *pivot = memory_array(n, sizeof *pivot, "a factor", err);
    int status = K && pivot ? ml_products(ml->problem, ml->rows, K, err) : -1;
    if (status == 0) {
        double *L = K + n * n;
        memcpy(L, K, n * n * sizeof *L);
        status = cholesky_pivoted(L, n, 0, &rank, pivot, err);
        ml->m = rank + (ml->bias > 0);
        *possible = ml->m > 0;
        ml->F = status == 0 ? memory_zeros(n, ml->m * sizeof(double), "features", err) : NULL;
        status = ml->F ? status : -1;
        for (size_t i = 0; ml->F && i < n; i++) {
            memcpy(ml->F + pivot[i] * ml->m, L + i * n, smaller(i + 1, rank) * sizeof *L);
        }
        *possible = *possible && ml->F && is_definite(K, ml->F, n, rank, ml->m);
    }
    free(K);
    free(pivot);
    return status;
}

int ml_interior_features(struct ml_interior *ml, bool *possible, struct error *err) {
    *possible = true;
    if (ml->own_features) {
        size_t d = ml->problem->data->n_features;
        ml->m = d + (ml->bias > 0);
        ml->F = memory_array(ml->n, ml->m * sizeof(double), "features", err);
        for (size_t i = 0; ml->F && i < ml->n; i++) {
            data_row_dense(ml->problem->data, ml_products_row(ml->problem, ml->rows, i), d,
                           ml->F + i * ml->m);
        }
    } else if (factor_products(ml, possible, err) < 0) {
        return -1;
    }
    for (size_t i = 0; ml->F && ml->bias > 0 && i < ml->n; i++) {
        ml->F[i * ml->m + ml->m - 1] = ml->bias;
    }
    return ml->F || !*possible ? 0 : -1;
}

/* ---- pairs ---- */

static size_t group_of(uint32_t a, uint32_t b) {
    size_t high = a > b ? a : b, low = a > b ? b : a;
    return high * (high - 1) / 2 + low;
}

int ml_interior_pairs(struct ml_interior *ml, struct error *err) {
    size_t n = ml->n, q = ml->q, n_groups = q * (q - 1) / 2, at = 0;
    ml->n_pairs = count_pairs(ml->rows);
    ml->start = memory_array(n + 1, sizeof *ml->start, "pairs", err);
    ml->row = memory_array(ml->n_pairs, 4 * sizeof *ml->row, "pairs", err);
    ml->group_start = memory_zeros(n_groups + 2, sizeof *ml->group_start, "pairs", err);
    ml->lambda = memory_array(ml->n_pairs, sizeof *ml->lambda, "pairs", err);
    if (!ml->start || !ml->row || !ml->group_start || !ml->lambda) {
        return -1;
    }
    ml->first = ml->row + ml->n_pairs;
    ml->second = ml->first + ml->n_pairs;
    ml->group = ml->second + ml->n_pairs;
    for (size_t i = 0; i < n; i++) {
        struct ml_block block = ml_rows_block(ml->rows, i, ML_HINGE, 1);
        ml->start[i] = at;
        for (uint32_t p = 0; p < block.n_relevant; p++) {
            uint32_t next = 0;
            for (uint32_t r = 0; r < block.q; r++) {
                if (next < block.n_relevant && block.relevant[next] == r) {
                    next++;
                    continue;
                }
                ml->row[at] = (uint32_t)i;
                ml->first[at] = block.relevant[p];
                ml->second[at++] = r;
                ml->group_start[group_of(block.relevant[p], r) + 2]++;
            }
        }
    }
    ml->start[n] = at;
    for (size_t g = 2; g < n_groups + 2; g++) {
        ml->group_start[g] += ml->group_start[g - 1];
    }
    /* group_start[g + 1] moves from the start of group g to its end */
    for (size_t j = 0; j < at; j++) {
        ml->group[ml->group_start[group_of(ml->first[j], ml->second[j]) + 1]++] = (uint32_t)j;
    }
    return 0;
}
