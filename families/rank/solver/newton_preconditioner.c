/* The Newton system of few distinct rows: its Cholesky factor, used as a preconditioner
 * (newton_preconditioner.h). */
#include "families/rank/solver/newton_preconditioner.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/kernel/gram.h"
#include "common/linear_algebra/cholesky.h"
#include "families/rank/solver/listed_pairs.h"
#include "families/rank/solver/multipliers.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Maximal number of distinct rows, whose factorisation takes half a minute, and of pairs, which
 * each factorisation visits. */
enum { MAX_ROWS = 1 << 14, MAX_PAIRS = 1 << 28, TILE = 64 };

/* The first shift; others follow as ridges do (cholesky_next_ridge). */
static const double FIRST_SHIFT = 1e-10;

/* Smallest entry of D, relative to the largest entry of the diagonal of K. */
static const double MIN_DIAGONAL = 1e-8;

struct rank_preconditioner {
    struct gram *gram;
    struct problem problem; /* with gram as its kernel matrix */
    struct score_map map;
    const struct rank_pairs *pairs;
    const struct distinct *distinct;
    size_t m; /* distinct rows */
    /* (m, m) K~^-1 above the diagonal; the Cholesky factor of the system on and below it */
    double *inverse_and_factor;
    double *diagonal; /* (m) diagonal of K~^-1 */
    double *shift;    /* (m) diagonal of K~ - K */
    double *u, *v;    /* (m) work: the system's right-hand side and solution; shift times it */
    double *s, *Ls;   /* (n) work: the solution by rows, and L times it */
    double factor;    /* c of the last update */
    void *block;      /* all arrays except the matrix */
};

/* ---- creation ---- */

size_t rank_preconditioner_rows(const struct problem *problem, const struct rank_pairs *pairs) {
    if (!problem->gram || !kernel_definite(gram_rows(problem->gram)->kernel) ||
        pairs->n_pairs > MAX_PAIRS) {
        return 0;
    }
    const struct distinct *distinct = gram_distinct(problem->gram);
    size_t m = distinct ? distinct->m : gram_size(problem->gram);
    /* As many rows as the interior-point method has are taken whatever the cache: 100 MB. */
    bool fits = m <= MAX_ROWS && rank_preconditioner_bytes(m) <= (double)problem->cache_bytes;
    return m <= RANK_MAX_LISTED_ROWS || fits ? m : 0;
}

/* Fills the lower triangle of K~, by tiles of rows. */
static int fill_matrix(struct rank_preconditioner *preconditioner, double shift,
                       struct error *err) {
    size_t m = preconditioner->m;
    const uint32_t *row = preconditioner->distinct->row;
    double *block = memory_array(m, TILE * sizeof *block, "a kernel matrix", err);
    double *A = preconditioner->inverse_and_factor;
    double max_diagonal = 0;
    int status = block ? 0 : -1;
    for (size_t first = 0; status == 0 && first < m; first += TILE) {
        size_t end = smaller(m, first + TILE);
        status = gram_block(preconditioner->gram, row + first, end - first, row, end, block, err);
        for (size_t i = first; status == 0 && i < end; i++) {
            memcpy(A + i * m, block + (i - first) * end, (i + 1) * sizeof *A);
            max_diagonal = fmax(max_diagonal, A[i * m + i]);
        }
    }
    for (size_t i = 0; status == 0 && i < m; i++) {
        preconditioner->shift[i] = shift * fmax(A[i * m + i], MIN_DIAGONAL * max_diagonal);
        A[i * m + i] += preconditioner->shift[i];
    }
    free(block);
    return status;
}

static int invert(struct rank_preconditioner *preconditioner, bool *definite, struct error *err) {
    size_t m = preconditioner->m;
    *definite = false;
    for (double shift = FIRST_SHIFT; !*definite && shift < INFINITY;
         shift = cholesky_next_ridge(shift)) {
        if (fill_matrix(preconditioner, shift, err) < 0) {
            return -1;
        }
        *definite = cholesky_factor_blocks(preconditioner->inverse_and_factor, m,
                                           preconditioner->problem.threads) == 0 &&
                    cholesky_invert(preconditioner->inverse_and_factor, m) == 0;
    }
    for (size_t i = 0; i < m; i++) {
        preconditioner->diagonal[i] = preconditioner->inverse_and_factor[i * m + i];
    }
    cholesky_mirror(preconditioner->inverse_and_factor, m, CHOLESKY_FROM_LOWER);
    return 0;
}

static int create_gram(struct rank_preconditioner *preconditioner, const struct problem *problem,
                       struct error *err) {
    const struct kernel *kernel = gram_rows(problem->gram)->kernel;
    struct distinct distinct;
    if (distinct_find(&distinct, problem->data, err) < 0) {
        return -1;
    }
    preconditioner->m = distinct.m;
    preconditioner->problem = *problem;
    if (gram_create_distinct(&preconditioner->gram, kernel, problem->data, &distinct,
                             distinct.m * distinct.m * sizeof(double), true, NULL, problem->threads,
                             err) < 0) {
        return -1;
    }
    preconditioner->problem.gram = preconditioner->gram;
    preconditioner->distinct = gram_distinct(preconditioner->gram);
    return score_map_create(&preconditioner->map, &preconditioner->problem, err);
}

static int allocate(struct rank_preconditioner *preconditioner, struct error *err) {
    size_t n = preconditioner->problem.n, m = preconditioner->m;
    preconditioner->inverse_and_factor =
        memory_array(m, m * sizeof(double), "a preconditioner", err);
    preconditioner->block =
        ARRAYS_CREATE("a preconditioner", err,
                      ARRAYS(m, double, &preconditioner->diagonal, &preconditioner->shift,
                             &preconditioner->u, &preconditioner->v),
                      ARRAYS(n, double, &preconditioner->s, &preconditioner->Ls));
    return preconditioner->inverse_and_factor && preconditioner->block ? 0 : -1;
}

int rank_preconditioner_create(struct rank_preconditioner **preconditioner,
                               const struct problem *problem, const struct rank_pairs *pairs,
                               struct error *err) {
    struct rank_preconditioner *made = memory_zeros(1, sizeof *made, "a preconditioner", err);
    bool definite = false;
    *preconditioner = NULL;
    if (!made) {
        return -1;
    }
    made->pairs = pairs;
    int status = create_gram(made, problem, err);
    status = status < 0 ? -1 : allocate(made, err);
    status = status < 0 ? -1 : invert(made, &definite, err);
    if (!definite) {
        rank_preconditioner_free(made);
        return status;
    }
    *preconditioner = made;
    return 0;
}

void rank_preconditioner_free(struct rank_preconditioner *preconditioner) {
    if (!preconditioner) {
        return;
    }
    score_map_free(&preconditioner->map);
    gram_free(preconditioner->gram);
    free(preconditioner->inverse_and_factor);
    free(preconditioner->block);
    free(preconditioner);
}

double rank_preconditioner_bytes(size_t m) {
    return (double)m * (double)m * 1.5 * sizeof(double);
}

double rank_preconditioner_work(size_t m) {
    const double nanoseconds = 0.1; /* measured: nanoseconds for each m^3 */
    return nanoseconds * (double)m * (double)m * (double)m;
}

const struct score_map *rank_preconditioner_map(const struct rank_preconditioner *preconditioner) {
    return &preconditioner->map;
}

/* ---- the system ---- */

/* Adds the Laplacian of one pair of problem rows, of this weight, to the lower triangle. */
static void add_pair(struct rank_preconditioner *preconditioner, size_t better, size_t worse,
                     double weight) {
    const uint32_t *rows = preconditioner->problem.rows, *place = preconditioner->distinct->place;
    size_t i = place[rows ? rows[better] : better], j = place[rows ? rows[worse] : worse];
    size_t m = preconditioner->m;
    double *A = preconditioner->inverse_and_factor;
    if (i != j) {
        A[larger(i, j) * m + smaller(i, j)] -= weight;
        A[i * m + i] += weight;
        A[j * m + j] += weight;
    }
}

static void add_region(struct rank_preconditioner *preconditioner,
                       const struct rank_multipliers *multipliers) {
    const struct rank_listed *listed = multipliers->listed;
    for (size_t r = 0; r < multipliers->n_region; r++) {
        size_t j = multipliers->region[r];
        add_pair(preconditioner, listed->row[listed->better[j]], listed->row[listed->worse[j]],
                 preconditioner->factor * listed->weight[j]);
    }
}

/* Adds c L to the lower triangle of the matrix. */
static void add_laplacian(struct rank_preconditioner *preconditioner,
                          const struct rank_laplacian *laplacian, const double *s) {
    const uint32_t *row = preconditioner->pairs->row;
    if (laplacian->multipliers) {
        add_region(preconditioner, laplacian->multipliers);
        return;
    }
    struct rank_pairs_walk walk =
        rank_pairs_walk(preconditioner->pairs, 0, preconditioner->pairs->n_groups);
    while (rank_pairs_next(&walk)) {
        uint32_t better = row[walk.better], worse = row[walk.worse];
        double margin = s[better] - s[worse];
        if (margin < laplacian->high && !(margin < laplacian->low)) {
            add_pair(preconditioner, better, worse,
                     preconditioner->factor * rank_pairs_walk_weight(&walk));
        }
    }
}

bool rank_preconditioner_update(struct rank_preconditioner *preconditioner,
                                const struct rank_laplacian *laplacian, const double *s,
                                double factor) {
    size_t m = preconditioner->m;
    bool found = false;
    preconditioner->factor = factor;
    for (double ridge = 0; !found && ridge < INFINITY; ridge = cholesky_next_ridge(ridge)) {
        cholesky_mirror(preconditioner->inverse_and_factor, m, CHOLESKY_FROM_UPPER);
        for (size_t i = 0; i < m; i++) {
            preconditioner->inverse_and_factor[i * m + i] = preconditioner->diagonal[i];
        }
        add_laplacian(preconditioner, laplacian, s);
        for (size_t i = 0; i < m; i++) {
            preconditioner->inverse_and_factor[i * m + i] *= 1 + ridge;
        }
        found = cholesky_factor_blocks(preconditioner->inverse_and_factor, m,
                                       preconditioner->problem.threads) == 0;
    }
    return found;
}

void rank_preconditioner_apply(const struct rank_preconditioner *preconditioner,
                               const struct rank_laplacian *laplacian, const double *residual,
                               double *z) {
    size_t n = preconditioner->problem.n, m = preconditioner->m;
    double *u = preconditioner->u, *v = preconditioner->v;
    distinct_aggregate(preconditioner->distinct, preconditioner->problem.rows, n, residual, 1, u);
    /* u = K~^-1 K u = u - K~^-1 v, v = shift u. The array's diagonal is that of the factor, so the
     * loop adds the difference to the diagonal of K~^-1. */
    for (size_t i = 0; i < m; i++) {
        v[i] = preconditioner->shift[i] * u[i];
        u[i] -=
            (preconditioner->diagonal[i] - preconditioner->inverse_and_factor[i * m + i]) * v[i];
    }
    cblas_dsymv(CblasRowMajor, CblasUpper, (int)m, -1, preconditioner->inverse_and_factor, (int)m,
                v, 1, 1, u, 1);
    cholesky_solve(preconditioner->inverse_and_factor, m, u);
    distinct_broadcast(preconditioner->distinct, preconditioner->problem.rows, n, u, 1,
                       preconditioner->s);
    rank_laplacian_apply(laplacian, preconditioner->s, preconditioner->Ls);
    for (size_t i = 0; i < n; i++) {
        z[i] = residual[i] - preconditioner->factor * preconditioner->Ls[i];
    }
}
