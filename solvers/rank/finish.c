#include "solvers/rank/finish.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "solvers/methods/cholesky.h"
#include "solvers/methods/interior.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_SCORES = 1024, /* a step then takes a second */
    MOST_VALUES = 1 << 24
};

static const double INDEFINITE = 1e-9; /* of K's diagonal: more than rounding leaves */
/* Of a score's reach: where the diagonal is its square rounding is INDEFINITE of it. */
static const double LEAST_SIZE = 0x1p-10;
static const double RIDGE_FIRST = 1e-15, RIDGE_GROWTH = 100, RIDGE_MOST = 1e-7;

struct rank_finish {
    const struct problem *problem;
    const struct score_map *map;
    const struct rank_pairs *pairs;
    size_t n, m;              /* scores, features */
    size_t n_hinges;          /* preferences */
    uint32_t *better, *worse; /* (n_hinges) scores; worse NULL: a score is a margin */
    double *weight, *cost;    /* (n_hinges); cost: C weight */
    bool own;                 /* features are the problem's own */
    double *F, *centred;      /* (n, m) features; less the means of their groups */
    uint32_t *pivot;          /* (n) rows of F that make a triangle, the first m; NULL: own */
    double *s, *b;            /* (n) scores, coefficients */
    double *L, *LF, *H;       /* (n, n), (n, m), (m, m) */
    double *counted;          /* (m) ones */
    struct interior *interior;
    bool squared, tied;
    double C;
    const double *alpha; /* (n_hinges) of the last run */
};

/* ---- preferences ---- */

static bool is_preference(const struct rank_pairs *pairs, size_t high, size_t low) {
    uint32_t apart = pairs->level[high] - pairs->level[low];
    return apart >= pairs->low && apart <= pairs->high;
}

static void add_pair(struct rank_finish *finish, size_t group, size_t high, size_t low) {
    size_t j = finish->n_hinges++;
    finish->better[j] = finish->pairs->row[high];
    finish->worse[j] = finish->pairs->row[low];
    finish->weight[j] = finish->pairs->weight[group] *
                        rank_pairs_listed(finish->pairs, finish->pairs->start[group], high, low);
}

static void list_group(struct rank_finish *finish, size_t group) {
    const struct rank_pairs *pairs = finish->pairs;
    size_t base = pairs->start[group];
    for (size_t k = base; k < pairs->start[group + 1]; k++) {
        if (pairs->partner_start) {
            for (size_t p = pairs->partner_start[k]; p < pairs->partner_start[k + 1]; p++) {
                add_pair(finish, group, k, base + pairs->partner[p]);
            }
            continue;
        }
        for (size_t low = base; low < k; low++) {
            if (is_preference(pairs, k, low)) {
                add_pair(finish, group, k, low);
            }
        }
    }
}

static int list_hinges(struct rank_finish *finish, const double *weight, struct error *err) {
    size_t most = weight ? finish->n : (size_t)finish->pairs->n_pairs;
    finish->weight = memory_array(most, 2 * sizeof *finish->weight, "pairs", err);
    finish->better = memory_array(most, 2 * sizeof *finish->better, "pairs", err);
    if (!finish->weight || !finish->better) {
        return -1;
    }
    finish->cost = finish->weight + most;
    finish->worse = weight ? NULL : finish->better + most;
    for (size_t j = 0; weight && j < most; j++) {
        finish->better[j] = (uint32_t)j;
        finish->weight[j] = weight[j];
        finish->n_hinges++;
    }
    for (size_t group = 0; !weight && group < finish->pairs->n_groups; group++) {
        list_group(finish, group);
    }
    return 0;
}

/* ---- features ---- */

static void fill_rows(const struct rank_finish *finish, size_t width, double *X) {
    for (size_t i = 0; i < finish->n; i++) {
        size_t row = finish->problem->rows ? finish->problem->rows[i] : i;
        data_row_dense(finish->problem->data, row, width, X + i * width);
    }
}

/* K (n, n), in double: by the map's scores of unit coefficients, or the products of rows. */
static int fill_matrix(const struct rank_finish *finish, double *K, struct error *err) {
    size_t n = finish->n, d = finish->map->dimension;
    double *X = memory_zeros(n, d * sizeof *X, "features", err);
    if (!X) {
        return -1;
    }
    int status = 0;
    if (finish->map->primal) {
        fill_rows(finish, d, X);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)n, (int)d, 1, X, (int)d,
                    X, (int)d, 0, K, (int)n);
    } else {
        for (size_t i = 0; i < n; i++) {
            X[i * n + i] = 1;
        }
        status = finish->map->exact(finish->map, X, n, K, err);
    }
    free(X);
    return status;
}

/* True if what the factor leaves of the matrix is rounding. */
static bool leaves_nothing(const struct rank_finish *finish, double *K) {
    size_t n = finish->n, m = finish->m;
    double most = 0, left = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(K[i * n + i]));
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)n, (int)m, -1, finish->F,
                (int)m, finish->F, (int)m, 1, K, (int)n);
    for (size_t i = 0; i < n * n; i++) {
        left = fmax(left, fabs(K[i]));
    }
    return left <= INDEFINITE * most;
}

/* Divides rows and columns by *unit (n), powers of 2, so that what is small is no rounding of what
 * is large. A diagonal of few units of its rounding is left small. */
static void equilibrate(const struct rank_finish *finish, const double *reach, double *K,
                        double *unit) {
    size_t n = finish->n;
    for (size_t i = 0; i < n; i++) {
        double size = fmax(sqrt(fmax(0, K[i * n + i])), LEAST_SIZE * reach[i]);
        unit[i] = size > 0 ? exp2(round(log2(size))) : 1;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            K[i * n + j] /= unit[i] * unit[j];
        }
    }
}

static int factor_matrix(struct rank_finish *finish, const double *reach, bool *definite,
                         struct error *err) {
    size_t n = finish->n, rank = 0;
    double *K = memory_array(2 * n + 1, n * sizeof *K, "a kernel matrix", err);
    double *L = K + n * n, *unit = L + n * n;
    finish->pivot = memory_array(n, sizeof *finish->pivot, "a factor", err);
    int status = K && finish->pivot ? fill_matrix(finish, K, err) : -1;
    if (status == 0) {
        equilibrate(finish, reach, K, unit);
        memcpy(L, K, n * n * sizeof *L);
        status = cholesky_pivoted(L, n, &rank, finish->pivot, err);
    }
    if (status == 0) {
        finish->m = rank;
        finish->F = memory_zeros(n, rank * sizeof *finish->F, "features", err);
        status = finish->F ? 0 : -1;
        for (size_t i = 0; status == 0 && i < n; i++) {
            memcpy(finish->F + finish->pivot[i] * rank, L + i * n,
                   smaller(i + 1, rank) * sizeof *L);
        }
        *definite = status == 0 && rank > 0 && leaves_nothing(finish, K);
        for (size_t i = 0; *definite && i < n; i++) {
            for (size_t f = 0; f < rank; f++) {
                finish->F[i * rank + f] *= unit[i];
            }
        }
    }
    free(K);
    return status;
}

static void centre(struct rank_finish *finish) {
    const struct rank_pairs *pairs = finish->pairs;
    size_t m = finish->m;
    memcpy(finish->centred, finish->F, finish->n * m * sizeof *finish->F);
    for (size_t group = 0; finish->worse && group < pairs->n_groups; group++) {
        size_t first = pairs->start[group], end = pairs->start[group + 1];
        for (size_t f = 0; f < m; f++) {
            double mean = 0;
            for (size_t k = first; k < end; k++) {
                mean += finish->F[pairs->row[k] * m + f] / (double)(end - first);
            }
            for (size_t k = first; k < end; k++) {
                finish->centred[pairs->row[k] * m + f] -= mean;
            }
        }
    }
}

/* ---- what the interior point asks for ---- */

static void scores(void *context, const double *w, double *v) {
    const struct rank_finish *finish = context;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)finish->n, (int)finish->m, 1, finish->centred,
                (int)finish->m, w, 1, 0, finish->s, 1);
    for (size_t j = 0; j < finish->n_hinges; j++) {
        v[j] = finish->s[finish->better[j]] - (finish->worse ? finish->s[finish->worse[j]] : 0);
    }
}

static void set_coefficients(const struct rank_finish *finish, const double *a, double *b) {
    memset(b, 0, finish->n * sizeof *b);
    for (size_t j = 0; j < finish->n_hinges; j++) {
        b[finish->better[j]] += a[j];
        if (finish->worse) {
            b[finish->worse[j]] -= a[j];
        }
    }
}

static void adjoint(void *context, const double *a, double *g) {
    const struct rank_finish *finish = context;
    set_coefficients(finish, a, finish->b);
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)finish->n, (int)finish->m, 1, finish->centred,
                (int)finish->m, finish->b, 1, 0, g, 1);
}

/* I + F'L F; where rounding leaves it indefinite a ridge, relative to its diagonal, makes up for
 * it. */
static int factor(void *context, const double *theta) {
    const struct rank_finish *finish = context;
    size_t n = finish->n, m = finish->m;
    memset(finish->L, 0, n * n * sizeof *finish->L);
    for (size_t j = 0; j < finish->n_hinges; j++) {
        size_t i = finish->better[j], k = finish->worse ? finish->worse[j] : i;
        finish->L[i * n + i] += theta[j];
        if (k != i) {
            finish->L[k * n + k] += theta[j];
            finish->L[i * n + k] -= theta[j];
            finish->L[k * n + i] -= theta[j];
        }
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)m, (int)n, 1, finish->L,
                (int)n, finish->centred, (int)m, 0, finish->LF, (int)m);
    for (double ridge = 0; ridge <= RIDGE_MOST;
         ridge = ridge > 0 ? RIDGE_GROWTH * ridge : RIDGE_FIRST) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)m, (int)m, (int)n, 1,
                    finish->centred, (int)m, finish->LF, (int)m, 0, finish->H, (int)m);
        for (size_t f = 0; f < m; f++) {
            finish->H[f * m + f] = (finish->H[f * m + f] + 1) * (1 + ridge);
        }
        if (cholesky_factor(finish->H, m) == 0) {
            return 0;
        }
    }
    return -1;
}

static void solve(void *context, double *x) {
    const struct rank_finish *finish = context;
    cholesky_solve(finish->H, finish->m, x);
}

/* ---- creation ---- */

bool rank_finish_fits(const struct score_map *map, const struct rank_pairs *pairs) {
    size_t n = map->n, d = map->primal ? map->dimension : n;
    return n <= MOST_SCORES && d <= MOST_VALUES / n &&
           pairs->n_pairs <= (double)MOST_SCORES * MOST_SCORES;
}

static int allocate(struct rank_finish *finish, struct error *err) {
    size_t n = finish->n, m = finish->m;
    finish->centred = memory_array(n, 2 * m * sizeof(double), "features", err);
    finish->s = memory_array(n, 2 * sizeof(double), "scores", err);
    finish->L = memory_array(n, n * sizeof(double), "a system", err);
    finish->H = memory_array(m + 1, m * sizeof(double), "a system", err);
    if (!finish->centred || !finish->s || !finish->L || !finish->H) {
        return -1;
    }
    finish->LF = finish->centred + n * m;
    finish->b = finish->s + n;
    finish->counted = finish->H + m * m;
    for (size_t f = 0; f < m; f++) {
        finish->counted[f] = 1;
    }
    return 0;
}

static int set_features(struct rank_finish *finish, const double *reach, bool *possible,
                        struct error *err) {
    finish->own = finish->map->primal && finish->map->dimension <= finish->n;
    if (!finish->own) {
        return factor_matrix(finish, reach, possible, err);
    }
    finish->m = finish->map->dimension;
    *possible = finish->m > 0;
    finish->F = memory_array(finish->n, finish->m * sizeof(double), "features", err);
    if (!finish->F) {
        return -1;
    }
    fill_rows(finish, finish->m, finish->F);
    return 0;
}

int rank_finish_create(struct rank_finish **finish, const struct problem *problem,
                       const struct score_map *map, const struct rank_pairs *pairs,
                       const double *reach, const double *weight, struct error *err) {
    struct rank_finish *made = memory_zeros(1, sizeof *made, "a solver", err);
    *finish = NULL;
    if (!made) {
        return -1;
    }
    made->problem = problem;
    made->map = map;
    made->pairs = pairs;
    made->n = map->n;
    bool possible = rank_finish_fits(map, pairs);
    int status = possible ? set_features(made, reach, &possible, err) : 0;
    if (status == 0 && possible) {
        status = list_hinges(made, weight, err) < 0 || allocate(made, err) < 0 ? -1 : 0;
    }
    if (status < 0 || !possible) {
        rank_finish_free(made);
        return status;
    }
    centre(made);
    *finish = made;
    return 0;
}

void rank_finish_free(struct rank_finish *finish) {
    if (!finish) {
        return;
    }
    interior_close(finish->interior);
    free(finish->better);
    free(finish->weight);
    free(finish->F);
    free(finish->centred);
    free(finish->pivot);
    free(finish->s);
    free(finish->L);
    free(finish->H);
    free(finish);
}

/* ---- solving ---- */

int rank_finish_start(struct rank_finish *finish, bool squared, double cost, struct error *err) {
    for (size_t j = 0; j < finish->n_hinges; j++) {
        finish->cost[j] = cost * finish->weight[j];
    }
    const struct interior_problem problem = {.n = finish->n_hinges,
                                             .dimension = finish->m,
                                             .cost = finish->cost,
                                             .counted = finish->counted,
                                             .squared = squared,
                                             .context = finish,
                                             .scores = scores,
                                             .adjoint = adjoint,
                                             .factor = factor,
                                             .solve = solve};
    interior_close(finish->interior);
    finish->interior = NULL;
    finish->squared = squared;
    finish->tied = false;
    finish->C = cost;
    return interior_open(&finish->interior, &problem, err);
}

/* b (n) with F'b = w, by back substitution in the pivots' triangle. */
static void substitute(const struct rank_finish *finish, const double *w, double *b) {
    size_t m = finish->m;
    memset(b, 0, finish->n * sizeof *b);
    for (size_t k = m; k-- > 0;) {
        double sum = w[k];
        for (size_t l = k + 1; l < m; l++) {
            sum -= finish->F[finish->pivot[l] * m + k] * b[finish->pivot[l]];
        }
        b[finish->pivot[k]] = sum / finish->F[finish->pivot[k] * m + k];
    }
}

/* The dual point, its sums in long double: exact but for their last rounding. */
static int take_dual(const struct rank_finish *finish, const double *alpha, struct fit *fit,
                     struct error *err) {
    long double *sum = memory_zeros(finish->n, sizeof *sum, "coefficients", err);
    long double linear = 0, size = 0;
    double ratio = 0, terms = (double)finish->n_hinges + 4;
    if (!sum) {
        return -1;
    }
    for (size_t j = 0; j < finish->n_hinges; j++) {
        long double a = alpha[j];
        sum[finish->better[j]] += a;
        if (finish->worse) {
            sum[finish->worse[j]] -= a;
        }
        linear += finish->squared ? a - a * a / (4 * (long double)finish->cost[j]) : a;
        size += finish->squared ? a + a * a / (4 * (long double)finish->cost[j]) : a;
        ratio = finish->cost[j] > 0 ? fmax(ratio, alpha[j] / finish->cost[j]) : ratio;
    }
    for (size_t i = 0; i < finish->n; i++) {
        finish->b[i] = (double)sum[i];
    }
    free(sum);
    double unit = terms * (double)LDBL_EPSILON + DBL_EPSILON + finish->pairs->weight_error;
    fit->dual_offset = (double)linear;
    fit->rounding = (struct risk_rounding){
        .offset = unit * (double)size / finish->C, .gradient = unit * ratio, .size = ratio};
    return finish->map->adjoint(finish->map, finish->b, fit->dual_weights, err);
}

static int take_primal(const struct rank_finish *finish, bool tied, const double *w,
                       struct fit *fit, struct error *err) {
    if (finish->own) {
        memcpy(fit->weights, w, finish->m * sizeof *w);
        return 0;
    }
    if (tied) {
        memcpy(fit->weights, fit->dual_weights, finish->map->dimension * sizeof *fit->weights);
        return 0;
    }
    substitute(finish, w, finish->b);
    return finish->map->adjoint(finish->map, finish->b, fit->weights, err);
}

int rank_finish_run(struct rank_finish *finish, bool tied, double epsilon, double least,
                    const struct monitor *monitor, struct fit *fit, struct error *err) {
    size_t d = finish->map->dimension;
    struct interior_fit found;
    *fit = (struct fit){0};
    tied = tied && !finish->own;
    if (tied != finish->tied) {
        interior_tie(finish->interior, tied);
        finish->tied = tied;
    }
    interior_run(finish->interior, epsilon, least, monitor, &found);
    finish->alpha = found.alpha;
    fit->weights = memory_array(d, sizeof(double), "weights", err);
    fit->dual_weights = memory_array(d, sizeof(double), "weights", err);
    if (!fit->weights || !fit->dual_weights || take_dual(finish, found.alpha, fit, err) < 0 ||
        take_primal(finish, tied, found.w, fit, err) < 0) {
        fit_free(fit);
        return -1;
    }
    fit->primal = found.primal;
    fit->dual = found.dual;
    fit->iterations = found.iterations;
    fit->reason = found.stop;
    fit->converged = !found.stop;
    return 0;
}

int rank_finish_points(const struct rank_finish *finish, struct rank_points *points,
                       struct error *err) {
    for (size_t j = 0; j < finish->n_hinges; j++) {
        if (finish->alpha[j] > 0 &&
            rank_points_add_pair(points, finish->better[j], finish->worse[j], finish->alpha[j],
                                 err) < 0) {
            return -1;
        }
    }
    rank_points_sort(points);
    return 0;
}
