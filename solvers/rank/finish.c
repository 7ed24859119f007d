#include "solvers/rank/finish.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "solvers/methods/cholesky.h"
#include "solvers/methods/interior.h"
#include "solvers/methods/row_features.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double RIDGE_FIRST = 1e-15, RIDGE_GROWTH = 100, RIDGE_MOST = 1e-7;

struct rank_finish {
    const struct score_map *map;
    const struct rank_pairs *pairs;
    size_t n;                 /* scores */
    size_t n_hinges;          /* preferences */
    uint32_t *better, *worse; /* (n_hinges) scores; worse NULL: a score is a margin */
    double *weight, *cost;    /* (n_hinges); cost: C weight */
    struct row_features features;
    double *s, *b;      /* (n) scores, coefficients */
    double *L, *LF, *H; /* (n, n), (n, m), (m, m) */
    double *counted;    /* (m) ones */
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

/* ---- what the interior point asks for ---- */

static void scores(void *context, const double *w, double *v) {
    const struct rank_finish *finish = context;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)finish->n, (int)finish->features.m, 1,
                finish->features.F, (int)finish->features.m, w, 1, 0, finish->s, 1);
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
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)finish->n, (int)finish->features.m, 1,
                finish->features.F, (int)finish->features.m, finish->b, 1, 0, g, 1);
}

/* I + F'L F; where rounding leaves it indefinite a ridge, relative to its diagonal, makes up for
 * it. */
static int factor(void *context, const double *theta) {
    const struct rank_finish *finish = context;
    size_t n = finish->n, m = finish->features.m;
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
                (int)n, finish->features.F, (int)m, 0, finish->LF, (int)m);
    for (double ridge = 0; ridge <= RIDGE_MOST;
         ridge = ridge > 0 ? RIDGE_GROWTH * ridge : RIDGE_FIRST) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)m, (int)m, (int)n, 1,
                    finish->features.F, (int)m, finish->LF, (int)m, 0, finish->H, (int)m);
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
    cholesky_solve(finish->H, finish->features.m, x);
}

/* ---- creation ---- */

bool rank_finish_fits(const struct score_map *map, const struct rank_pairs *pairs) {
    return row_features_fits(map) &&
           pairs->n_pairs <= (double)ROW_FEATURES_MOST * ROW_FEATURES_MOST;
}

static int allocate(struct rank_finish *finish, struct error *err) {
    size_t n = finish->n, m = finish->features.m;
    finish->LF = memory_array(n, m * sizeof(double), "a system", err);
    finish->s = memory_array(n, 2 * sizeof(double), "scores", err);
    finish->L = memory_array(n, n * sizeof(double), "a system", err);
    finish->H = memory_array(m + 1, m * sizeof(double), "a system", err);
    if (!finish->LF || !finish->s || !finish->L || !finish->H) {
        return -1;
    }
    finish->b = finish->s + n;
    finish->counted = finish->H + m * m;
    for (size_t f = 0; f < m; f++) {
        finish->counted[f] = 1;
    }
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
    made->map = map;
    made->pairs = pairs;
    made->n = map->n;
    const struct row_groups groups = {pairs->n_groups, pairs->start, pairs->row};
    bool possible = rank_finish_fits(map, pairs);
    int status = possible ? row_features_create(&made->features, problem, map,
                                                weight ? NULL : &groups, reach, &possible, err)
                          : 0;
    if (status == 0 && possible) {
        status = list_hinges(made, weight, err) < 0 || allocate(made, err) < 0 ? -1 : 0;
    }
    if (status < 0 || !possible) {
        rank_finish_free(made);
        return status;
    }
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
    row_features_free(&finish->features);
    free(finish->LF);
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
                                             .dimension = finish->features.m,
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

/* A sum in long double, with the size of its terms and a bound of what it has lost. */
struct sum {
    long double sum, size, lost;
};

static void add_to(struct sum *sum, double size, int sign) {
    sum->sum += sign * (long double)size;
    sum->size += (long double)size;
    sum->lost += LDBL_EPSILON * fabsl(sum->sum); /* two roundings' worth */
}

/* weights = those of alpha; error (n), if not NULL: what their coefficients may be off by. */
static int take_weights(const struct rank_finish *finish, const double *alpha, double *weights,
                        double *error, struct error *err) {
    size_t n = finish->n;
    struct sum *sums = memory_zeros(n, sizeof *sums, "coefficients", err);
    if (!sums) {
        return -1;
    }
    for (size_t j = 0; j < finish->n_hinges; j++) {
        add_to(&sums[finish->better[j]], alpha[j], 1);
        if (finish->worse) {
            add_to(&sums[finish->worse[j]], alpha[j], -1);
        }
    }
    for (size_t i = 0; i < n; i++) {
        struct sum sum = sums[i];
        finish->b[i] = (double)sum.sum;
        if (error) {
            long double rounded = fabsl(sum.sum - (long double)finish->b[i]);
            long double off = rounded + sum.lost + finish->pairs->weight_error * sum.size;
            error[i] = (double)off * (1 + 4 * DBL_EPSILON);
        }
    }
    free(sums);
    return finish->map->adjoint(finish->map, finish->b, weights, err);
}

static int take_dual(const struct rank_finish *finish, const double *alpha, struct fit *fit,
                     struct error *err) {
    long double linear = 0, size = 0;
    double ratio = 0, terms = (double)finish->n_hinges + 4;
    for (size_t j = 0; j < finish->n_hinges; j++) {
        long double a = alpha[j];
        linear += finish->squared ? a - a * a / (4 * (long double)finish->cost[j]) : a;
        size += finish->squared ? a + a * a / (4 * (long double)finish->cost[j]) : a;
        ratio = finish->cost[j] > 0 ? fmax(ratio, alpha[j] / finish->cost[j]) : ratio;
    }
    double unit = terms * (double)LDBL_EPSILON + DBL_EPSILON + finish->pairs->weight_error;
    fit->dual_offset = (double)linear;
    fit->rounding = (struct risk_rounding){
        .offset = unit * (double)size / finish->C, .gradient = unit * ratio, .size = ratio};
    return take_weights(finish, alpha, fit->dual_weights, fit->dual_error, err);
}

static int take_primal(const struct rank_finish *finish, const struct interior_fit *found,
                       struct fit *fit, struct error *err) {
    if (finish->features.own) {
        memcpy(fit->weights, found->w, finish->features.m * sizeof *found->w);
        return 0;
    }
    if (found->tied) {
        return take_weights(finish, found->tied, fit->weights, NULL, err);
    }
    return row_features_coefficients(&finish->features, found->w, finish->b, err) < 0
               ? -1
               : finish->map->adjoint(finish->map, finish->b, fit->weights, err);
}

int rank_finish_run(struct rank_finish *finish, bool tied, double epsilon, double least,
                    const struct monitor *monitor, struct fit *fit, struct error *err) {
    size_t d = finish->map->dimension;
    struct interior_fit found;
    *fit = (struct fit){0};
    tied = tied && !finish->features.own;
    if (tied != finish->tied) {
        interior_tie(finish->interior, tied);
        finish->tied = tied;
    }
    interior_run(finish->interior, epsilon, least, monitor, &found);
    finish->alpha = found.alpha;
    fit->weights = memory_array(d, sizeof(double), "weights", err);
    fit->dual_weights = memory_array(d, sizeof(double), "weights", err);
    bool known = !finish->map->primal;
    fit->dual_error =
        known ? memory_array(finish->n, sizeof *fit->dual_error, "a certificate", err) : NULL;
    if (!fit->weights || !fit->dual_weights || (known && !fit->dual_error) ||
        take_dual(finish, found.alpha, fit, err) < 0 || take_primal(finish, &found, fit, err) < 0) {
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
