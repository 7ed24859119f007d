/* RankSVM as methods/interior_point.h takes it: features, listed pairs, Newton systems and the
 * run. */
#include "families/rank/solver/interior_point.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/least_squares.h"
#include "families/rank/solver/laplacian_factor.h"
#include "families/rank/solver/listed_pairs.h"
#include "methods/interior_point.h"
#include "methods/row_features_dd.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rank_interior {
    const struct score_map *map;
    const struct rank_listed *listed;
    struct row_features features;
    double *cost;                  /* (n_pairs) C times weight */
    double *s, *b;                 /* (listed.n) scores, coefficients of distinct rows */
    long double *sum;              /* (listed.n) work */
    double *work, *start;          /* (m) work; starting point */
    struct least_squares *stacked; /* rows of the least-squares system */
    struct interior *solver;
    bool squared, from_dual;
    double C;
    double *alpha; /* (n_pairs) dual point of the last run */
    void *block;   /* all arrays */
};

/* ---- operations of the interior-point method ---- */

static void scores(void *context, const double *w, double *v) {
    const struct rank_interior *interior = context;
    const struct rank_listed *listed = interior->listed;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)listed->n, (int)interior->features.m, 1,
                interior->features.F, (int)interior->features.m, w, 1, 0, interior->s, 1);
    for (size_t j = 0; j < listed->n_hinges; j++) {
        v[j] = interior->s[listed->better[j]] - (listed->worse ? interior->s[listed->worse[j]] : 0);
    }
}

/* Sums in long double: with many pairs of cost C each, the sum of a row may cancel; the product in
 * double-double: with large sums, the product may cancel. */
static void adjoint(void *context, const double *a, double *g) {
    const struct rank_interior *interior = context;
    const struct rank_listed *listed = interior->listed;
    long double *sum = interior->sum;
    for (size_t k = 0; k < listed->n; k++) {
        sum[k] = 0;
    }
    for (size_t j = 0; j < listed->n_hinges; j++) {
        sum[listed->better[j]] += (long double)a[j];
        if (listed->worse) {
            sum[listed->worse[j]] -= (long double)a[j];
        }
    }
    row_features_adjoint(&interior->features, sum, interior->work, g);
}

/* Factors I + F'L F by rows whose squares are F'L F: sqrt(theta) F if scores are margins, else B F
 * with L = B'B (laplacian_factor.h). */
static int factor(void *context, const double *theta) {
    const struct rank_interior *interior = context;
    const struct rank_listed *listed = interior->listed;
    size_t n = listed->n, m = interior->features.m;
    double *rows = least_squares_row(interior->stacked, 0), *W = listed->W;
    memcpy(rows, interior->features.F, n * m * sizeof *rows);
    if (W) {
        memset(W, 0, n * n * sizeof *W);
        for (size_t j = 0; j < listed->n_hinges; j++) {
            size_t one = listed->better[j], other = listed->worse[j];
            W[smaller(one, other) * n + larger(one, other)] += theta[j];
        }
        rank_laplacian_factor(W, n);
        rank_laplacian_factor_multiply(W, n, rows, m);
    } else {
        for (size_t j = 0; j < listed->n_hinges; j++) {
            double root = sqrt(theta[j]);
            for (size_t f = 0; f < m; f++) {
                rows[listed->better[j] * m + f] *= root;
            }
        }
    }
    return least_squares_factor(interior->stacked);
}

static void solve(void *context, double *x) {
    const struct rank_interior *interior = context;
    least_squares_solve(interior->stacked, x);
}

/* ---- creation ---- */

static int allocate(struct rank_interior *interior, struct error *err) {
    const struct rank_listed *listed = interior->listed;
    size_t n = listed->n, m = interior->features.m;
    interior->block = ARRAYS_CREATE(
        "pairs", err, ARRAYS(listed->n_pairs, double, &interior->cost, &interior->alpha),
        ARRAYS(n, double, &interior->s, &interior->b), ARRAYS(n, long double, &interior->sum),
        ARRAYS(m, double, &interior->work, &interior->start));
    return interior->block ? least_squares_create(&interior->stacked, n, m, m, true, err) : -1;
}

/* The features of the distinct rows, as those of a problem of these rows alone. */
static int make_features(struct rank_interior *interior, const struct problem *problem,
                         const double *norm_bound, bool *possible, struct error *err) {
    const struct rank_listed *listed = interior->listed;
    struct problem part = *problem;
    struct score_map map = {0};
    uint32_t *rows = memory_array(listed->n, sizeof *rows, "rows", err);
    double *norm_bounds = memory_array(listed->n, sizeof *norm_bounds, "rows", err);
    int status = rows && norm_bounds ? 0 : -1;
    for (size_t k = 0; status == 0 && k < listed->n; k++) {
        uint32_t i = listed->row[k];
        rows[k] = problem->rows ? problem->rows[i] : i;
        norm_bounds[k] = norm_bound[i];
    }
    part.rows = rows;
    part.n = listed->n;
    if (status == 0 && score_map_create(&map, &part, err) < 0) {
        status = -1;
    }
    if (status == 0) {
        status = row_features_create(&interior->features, &part, &map, &listed->groups, norm_bounds,
                                     possible, err);
    }
    score_map_free(&map);
    free(rows);
    free(norm_bounds);
    return status;
}

int rank_interior_create(struct rank_interior **interior, const struct problem *problem,
                         const struct score_map *map, const struct rank_listed *listed,
                         const double *norm_bound, struct error *err) {
    struct rank_interior *made = memory_zeros(1, sizeof *made, "a solver", err);
    *interior = NULL;
    if (!made) {
        return -1;
    }
    made->map = map;
    made->listed = listed;
    int status = 0;
    bool possible = listed->n_hinges > 0;
    if (possible) {
        status = listed->worse ? make_features(made, problem, norm_bound, &possible, err)
                               : row_features_create(&made->features, problem, map, NULL,
                                                     norm_bound, &possible, err);
    }
    if (status == 0 && possible) {
        status = allocate(made, err);
    }
    if (status < 0 || !possible) {
        rank_interior_free(made);
        return status;
    }
    *interior = made;
    return 0;
}

void rank_interior_free(struct rank_interior *interior) {
    if (!interior) {
        return;
    }
    interior_close(interior->solver);
    row_features_free(&interior->features);
    least_squares_free(interior->stacked);
    free(interior->block);
    free(interior);
}

/* ---- solving ---- */

bool rank_interior_has_warm_start(const struct rank_interior *interior) {
    return interior->features.own || !interior->map->primal;
}

/* Coefficients of a primal point sum to 0 in each group, as those of a dual point do. So centring
 * the features does not change the weights. */
static void start_at(struct rank_interior *interior, const double *weights) {
    if (interior->features.own) {
        interior_start_at(interior->solver, weights);
        return;
    }
    const struct rank_listed *listed = interior->listed;
    memset(interior->sum, 0, listed->n * sizeof *interior->sum);
    for (size_t i = 0; i < listed->n_scores; i++) {
        if (listed->distinct_row[i] != RANK_LISTED_NONE) {
            interior->sum[listed->distinct_row[i]] += (long double)weights[i];
        }
    }
    row_features_adjoint(&interior->features, interior->sum, interior->work, interior->start);
    interior_start_at(interior->solver, interior->start);
}

int rank_interior_start(struct rank_interior *interior, bool squared, double cost,
                        const double *weights, struct error *err) {
    const struct rank_listed *listed = interior->listed;
    double constant = 0;
    for (size_t j = 0; j < listed->n_pairs; j++) {
        interior->cost[j] = cost * listed->weight[j];
        interior->alpha[j] = (squared ? 2 : 1) * interior->cost[j];
        constant += j < listed->n_hinges ? 0 : interior->cost[j];
    }
    const struct interior_problem problem = {.n = listed->n_hinges,
                                             .dimension = interior->features.m,
                                             .cost = interior->cost,
                                             .constant = constant,
                                             .squared = squared,
                                             .context = interior,
                                             .scores = scores,
                                             .adjoint = adjoint,
                                             .factor = factor,
                                             .solve = solve};
    interior->squared = squared;
    interior->from_dual = false;
    interior->C = cost;
    if (interior_open(&interior->solver, &problem, err) < 0) {
        return -1;
    }
    if (weights) {
        start_at(interior, weights);
    }
    return 0;
}

static int take_primal(const struct rank_interior *interior, const struct interior_fit *found,
                       struct fit *fit, struct error *err) {
    if (interior->features.own) {
        memcpy(fit->weights, found->w, interior->features.m * sizeof *found->w);
        return 0;
    }
    const struct rank_listed *listed = interior->listed;
    if (found->tied) {
        return rank_listed_weights(listed, interior->map, found->tied, fit->weights, NULL, err);
    }
    return row_features_coefficients(&interior->features, found->w, interior->b, err) < 0
               ? -1
               : rank_listed_adjoint(listed, interior->map, interior->b, fit->weights, err);
}

int rank_interior_run(struct rank_interior *interior, bool from_dual, double epsilon,
                      const struct monitor *monitor, struct fit *fit, struct error *err) {
    size_t d = interior->map->dimension;
    struct interior_fit found;
    *fit = (struct fit){0};
    from_dual = from_dual && !interior->features.own;
    if (from_dual != interior->from_dual) {
        interior_evaluate_primal_at_dual(interior->solver, from_dual);
        interior->from_dual = from_dual;
    }
    interior_run(interior->solver, epsilon, 0, monitor, &found);
    memcpy(interior->alpha, found.alpha, interior->listed->n_hinges * sizeof *found.alpha);
    fit->weights = memory_array(d, sizeof(double), "weights", err);
    fit->dual_weights = memory_array(d, sizeof(double), "weights", err);
    fit->dual_error = memory_zeros(interior->map->n, sizeof *fit->dual_error, "a certificate", err);
    if (!fit->weights || !fit->dual_weights || !fit->dual_error ||
        rank_listed_dual(interior->listed, interior->map, interior->alpha, interior->C,
                         interior->squared, fit, err) < 0 ||
        take_primal(interior, &found, fit, err) < 0) {
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

const double *rank_interior_alpha(const struct rank_interior *interior) {
    return interior->alpha;
}
