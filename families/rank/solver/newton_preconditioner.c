#include "families/rank/solver/newton_preconditioner.h"

#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/kernel/gram.h"
#include "common/linear_algebra/cholesky.h"
#include "families/rank/solver/listed_pairs.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows that differ, of which a factorisation takes half a minute, and pairs, which are visited for
 * each. */
enum { MOST_ROWS = 1 << 14, MOST_PAIRS = 1 << 28, TILE = 64 };

/* Shifts that are tried. */
static const double SHIFT_FIRST = 1e-10, SHIFT_GROWTH = 100, SHIFT_MOST = 1e-4;

/* Of the largest diagonal entry of K: what one of D is at least. */
static const double LEAST_SIZE = 1e-8;

struct rank_inverse {
    struct gram *gram;
    struct problem problem; /* with that */
    struct score_map map;
    const struct rank_pairs *pairs;
    const struct distinct *distinct;
    size_t m;
    double *A;        /* (m, m) above the diagonal K~^-1; the rest is the system's factor */
    double *diagonal; /* (m) of K~^-1 */
    double *shift;    /* (m) K~ less K */
    double *u, *v;    /* (m) work */
    double *s, *Ls;   /* (n) work */
    double factor;
};

/* ---- creation ---- */

size_t rank_inverse_rows(const struct problem *problem, const struct rank_pairs *pairs) {
    if (!problem->gram || !kernel_definite(gram_rows(problem->gram)->kernel) ||
        pairs->n_pairs > MOST_PAIRS) {
        return 0;
    }
    const struct distinct *distinct = gram_distinct(problem->gram);
    size_t m = distinct ? distinct->m : gram_size(problem->gram);
    /* as few rows as the interior-point method has are taken whatever the cache: 100 MB */
    double size = (double)m * (double)m * 1.5 * sizeof(double);
    bool fits = m <= MOST_ROWS && size <= (double)problem->cache_bytes;
    return m <= RANK_HINGES_ROWS || fits ? m : 0;
}

/* The lower half of K~, by tiles of rows. */
static int fill_matrix(struct rank_inverse *inverse, double shift, struct error *err) {
    size_t m = inverse->m;
    const uint32_t *row = inverse->distinct->row;
    double *block = memory_array(m, TILE * sizeof *block, "a kernel matrix", err);
    double *A = inverse->A;
    double most = 0;
    int status = block ? 0 : -1;
    for (size_t first = 0; status == 0 && first < m; first += TILE) {
        size_t end = smaller(m, first + TILE);
        status = gram_block(inverse->gram, row + first, end - first, row, end, block, err);
        for (size_t i = first; status == 0 && i < end; i++) {
            memcpy(A + i * m, block + (i - first) * end, (i + 1) * sizeof *A);
            most = fmax(most, A[i * m + i]);
        }
    }
    for (size_t i = 0; status == 0 && i < m; i++) {
        inverse->shift[i] = shift * fmax(A[i * m + i], LEAST_SIZE * most);
        A[i * m + i] += inverse->shift[i];
    }
    free(block);
    return status;
}

static int invert(struct rank_inverse *inverse, bool *definite, struct error *err) {
    size_t m = inverse->m;
    *definite = false;
    for (double shift = SHIFT_FIRST; !*definite && shift <= SHIFT_MOST; shift *= SHIFT_GROWTH) {
        if (fill_matrix(inverse, shift, err) < 0) {
            return -1;
        }
        *definite = cholesky_factor_blocks(inverse->A, m, inverse->problem.threads) == 0 &&
                    cholesky_invert(inverse->A, m) == 0;
    }
    for (size_t i = 0; i < m; i++) {
        inverse->diagonal[i] = inverse->A[i * m + i];
    }
    cholesky_mirror(inverse->A, m, true);
    return 0;
}

static int create_gram(struct rank_inverse *inverse, const struct problem *problem,
                       struct error *err) {
    const struct kernel *kernel = gram_rows(problem->gram)->kernel;
    struct distinct distinct;
    if (distinct_find(&distinct, problem->data, err) < 0) {
        return -1;
    }
    inverse->m = distinct.m;
    inverse->problem = *problem;
    if (gram_create_distinct(&inverse->gram, kernel, problem->data, &distinct,
                             distinct.m * distinct.m * sizeof(double), true, NULL, problem->threads,
                             err) < 0) {
        return -1;
    }
    inverse->problem.gram = inverse->gram;
    inverse->distinct = gram_distinct(inverse->gram);
    return score_map_create(&inverse->map, &inverse->problem, err);
}

static int allocate(struct rank_inverse *inverse, struct error *err) {
    size_t n = inverse->problem.n, m = inverse->m;
    inverse->A = memory_array(m, m * sizeof(double), "a preconditioner", err);
    inverse->diagonal = memory_array(m, 4 * sizeof(double), "a preconditioner", err);
    inverse->s = memory_array(n, 2 * sizeof(double), "scores", err);
    if (!inverse->A || !inverse->diagonal || !inverse->s) {
        return -1;
    }
    inverse->shift = inverse->diagonal + m;
    inverse->u = inverse->shift + m;
    inverse->v = inverse->u + m;
    inverse->Ls = inverse->s + n;
    return 0;
}

int rank_inverse_create(struct rank_inverse **inverse, const struct problem *problem,
                        const struct rank_pairs *pairs, struct error *err) {
    struct rank_inverse *made = memory_zeros(1, sizeof *made, "a preconditioner", err);
    bool definite = false;
    *inverse = NULL;
    if (!made) {
        return -1;
    }
    made->pairs = pairs;
    int status = create_gram(made, problem, err);
    status = status < 0 ? -1 : allocate(made, err);
    status = status < 0 ? -1 : invert(made, &definite, err);
    if (!definite) {
        rank_inverse_free(made);
        return status;
    }
    *inverse = made;
    return 0;
}

void rank_inverse_free(struct rank_inverse *inverse) {
    if (!inverse) {
        return;
    }
    score_map_free(&inverse->map);
    gram_free(inverse->gram);
    free(inverse->A);
    free(inverse->diagonal);
    free(inverse->s);
    free(inverse);
}

double rank_inverse_work(const struct rank_inverse *inverse) {
    const double cube = 0.1; /* measured: that of each m */
    double m = (double)inverse->m;
    return cube * m * m * m;
}

const struct score_map *rank_inverse_map(const struct rank_inverse *inverse) {
    return &inverse->map;
}

/* ---- the system ---- */

/* A += factor L of the laplacian's pairs, below the diagonal and on it. */
static void add_laplacian(struct rank_inverse *inverse, const struct rank_laplacian *laplacian,
                          const double *s) {
    const uint32_t *row = inverse->pairs->row, *rows = inverse->problem.rows;
    const uint32_t *place = inverse->distinct->place;
    double *A = inverse->A;
    size_t m = inverse->m;
    struct rank_pairs_walk walk = rank_pairs_walk(inverse->pairs, 0, inverse->pairs->n_groups);
    while (rank_pairs_next(&walk)) {
        uint32_t better = row[walk.better], worse = row[walk.worse];
        double margin = s[better] - s[worse];
        if (!(margin < laplacian->high) || margin < laplacian->low) {
            continue;
        }
        size_t i = place[rows ? rows[better] : better], j = place[rows ? rows[worse] : worse];
        if (i != j) {
            double curvature = inverse->factor * rank_pairs_walk_weight(&walk);
            A[larger(i, j) * m + smaller(i, j)] -= curvature;
            A[i * m + i] += curvature;
            A[j * m + j] += curvature;
        }
    }
}

bool rank_inverse_update(struct rank_inverse *inverse, const struct rank_laplacian *laplacian,
                         const double *s, double factor) {
    size_t m = inverse->m;
    bool found = false;
    inverse->factor = factor;
    for (double ridge = 0; !found && ridge < INFINITY; ridge = cholesky_next_ridge(ridge)) {
        cholesky_mirror(inverse->A, m, false);
        for (size_t i = 0; i < m; i++) {
            inverse->A[i * m + i] = inverse->diagonal[i];
        }
        add_laplacian(inverse, laplacian, s);
        for (size_t i = 0; i < m; i++) {
            inverse->A[i * m + i] *= 1 + ridge;
        }
        found = cholesky_factor_blocks(inverse->A, m, inverse->problem.threads) == 0;
    }
    return found;
}

void rank_inverse_apply(const struct rank_inverse *inverse, const struct rank_laplacian *laplacian,
                        const double *residual, double *z) {
    size_t n = inverse->problem.n, m = inverse->m;
    double *u = inverse->u, *v = inverse->v;
    distinct_gather(inverse->distinct, inverse->problem.rows, n, residual, 1, u);
    for (size_t i = 0; i < m; i++) {
        v[i] = inverse->shift[i] * u[i];
        u[i] -= (inverse->diagonal[i] - inverse->A[i * m + i]) * v[i];
    }
    cblas_dsymv(CblasRowMajor, CblasUpper, (int)m, -1, inverse->A, (int)m, v, 1, 1, u, 1);
    cholesky_solve(inverse->A, m, u);
    distinct_spread(inverse->distinct, inverse->problem.rows, n, u, 1, inverse->s);
    rank_laplacian_apply(laplacian, inverse->s, inverse->Ls);
    for (size_t i = 0; i < n; i++) {
        z[i] = residual[i] - inverse->factor * inverse->Ls[i];
    }
}
