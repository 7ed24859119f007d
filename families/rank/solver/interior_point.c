#include "families/rank/solver/interior_point.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/least_squares.h"
#include "families/rank/solver/graph.h"
#include "families/rank/solver/listed_pairs.h"
#include "fit/certify.h"
#include "methods/interior_point.h"
#include "methods/row_features_dd.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rank_finish {
    const struct score_map *map;
    struct rank_hinges hinges;
    struct row_features features;
    double *cost;            /* (n_pairs) C weight */
    double *s, *b;           /* (hinges.n) scores, coefficients */
    double *spread;          /* (map->n) coefficients of all scores */
    long double *sum;        /* (hinges.n) work */
    double *work, *start;    /* (m) work; where a run starts */
    struct stacked *stacked; /* the system's rows */
    double *counted;         /* (m) ones */
    struct interior *interior;
    double weight_error; /* of pairs, see rank_pairs */
    bool squared, tied;
    double C;
    double *alpha; /* (n_pairs) of the last run */
};

/* ---- what the interior point asks for ---- */

static void scores(void *context, const double *w, double *v) {
    const struct rank_finish *finish = context;
    const struct rank_hinges *hinges = &finish->hinges;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)hinges->n, (int)finish->features.m, 1,
                finish->features.F, (int)finish->features.m, w, 1, 0, finish->s, 1);
    for (size_t j = 0; j < hinges->n_hinges; j++) {
        v[j] = finish->s[hinges->better[j]] - (hinges->worse ? finish->s[hinges->worse[j]] : 0);
    }
}

/* In long double: many pairs of cost C each may leave little of a row's sum, and in double-double
 * rows whose sums are large little of the product. */
static void adjoint(void *context, const double *a, double *g) {
    const struct rank_finish *finish = context;
    const struct rank_hinges *hinges = &finish->hinges;
    long double *sum = finish->sum;
    for (size_t k = 0; k < hinges->n; k++) {
        sum[k] = 0;
    }
    for (size_t j = 0; j < hinges->n_hinges; j++) {
        sum[hinges->better[j]] += (long double)a[j];
        if (hinges->worse) {
            sum[hinges->worse[j]] -= (long double)a[j];
        }
    }
    row_features_adjoint(&finish->features, sum, finish->work, g);
}

/* Rows whose squares are F'L F: sqrt(theta) F where scores are margins, else B F with L = B'B. */
static int factor(void *context, const double *theta) {
    const struct rank_finish *finish = context;
    const struct rank_hinges *hinges = &finish->hinges;
    size_t n = hinges->n, m = finish->features.m;
    double *rows = stacked_row(finish->stacked, 0), *W = hinges->W;
    memcpy(rows, finish->features.F, n * m * sizeof *rows);
    if (W) {
        memset(W, 0, n * n * sizeof *W);
        for (size_t j = 0; j < hinges->n_hinges; j++) {
            size_t one = hinges->better[j], other = hinges->worse[j];
            W[smaller(one, other) * n + larger(one, other)] += theta[j];
        }
        rank_graph_factor(W, n);
        rank_graph_multiply(W, n, rows, m);
    } else {
        for (size_t j = 0; j < hinges->n_hinges; j++) {
            double root = sqrt(theta[j]);
            for (size_t f = 0; f < m; f++) {
                rows[hinges->better[j] * m + f] *= root;
            }
        }
    }
    return stacked_factor(finish->stacked);
}

static void solve(void *context, double *x) {
    const struct rank_finish *finish = context;
    stacked_solve(finish->stacked, x);
}

/* ---- creation ---- */

static int allocate(struct rank_finish *finish, struct error *err) {
    const struct rank_hinges *hinges = &finish->hinges;
    size_t n = hinges->n, m = finish->features.m;
    finish->cost = memory_array(hinges->n_pairs, 2 * sizeof(double), "pairs", err);
    finish->s = memory_array(n, 2 * sizeof(double), "scores", err);
    finish->spread = memory_zeros(finish->map->n, sizeof(double), "coefficients", err);
    finish->sum = memory_array(n, sizeof *finish->sum, "scores", err);
    finish->counted = memory_array(m, 3 * sizeof(double), "a system", err);
    if (!finish->cost || !finish->s || !finish->spread || !finish->sum || !finish->counted ||
        stacked_create(&finish->stacked, n, m, m, true, err) < 0) {
        return -1;
    }
    finish->alpha = finish->cost + hinges->n_pairs;
    finish->b = finish->s + n;
    finish->work = finish->counted + m;
    finish->start = finish->work + m;
    for (size_t f = 0; f < m; f++) {
        finish->counted[f] = 1;
    }
    return 0;
}

/* The features of the rows that differ: those of a problem of these alone. */
static int make_features(struct rank_finish *finish, const struct problem *problem,
                         const double *reach, bool *possible, struct error *err) {
    const struct rank_hinges *hinges = &finish->hinges;
    struct problem part = *problem;
    struct score_map map = {0};
    uint32_t *rows = memory_array(hinges->n, sizeof *rows, "rows", err);
    double *reaches = memory_array(hinges->n, sizeof *reaches, "rows", err);
    int status = rows && reaches ? 0 : -1;
    for (size_t k = 0; status == 0 && k < hinges->n; k++) {
        uint32_t i = hinges->row[k];
        rows[k] = problem->rows ? problem->rows[i] : i;
        reaches[k] = reach[i];
    }
    part.rows = rows;
    part.n = hinges->n;
    if (status == 0 && score_map_create(&map, &part, err) < 0) {
        status = -1;
    }
    if (status == 0) {
        status = row_features_create(&finish->features, &part, &map, &hinges->groups, reaches,
                                     possible, err);
    }
    score_map_free(&map);
    free(rows);
    free(reaches);
    return status;
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
    made->weight_error = pairs->weight_error;
    int status = rank_hinges_create(&made->hinges, problem, map, pairs, weight, err);
    bool possible = status == 0 && made->hinges.n_hinges > 0;
    if (possible) {
        status =
            weight ? row_features_create(&made->features, problem, map, NULL, reach, &possible, err)
                   : make_features(made, problem, reach, &possible, err);
    }
    if (status == 0 && possible) {
        status = allocate(made, err);
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
    rank_hinges_free(&finish->hinges);
    row_features_free(&finish->features);
    stacked_free(finish->stacked);
    free(finish->cost);
    free(finish->s);
    free(finish->spread);
    free(finish->sum);
    free(finish->counted);
    free(finish);
}

/* ---- solving ---- */

bool rank_finish_starts_at(const struct rank_finish *finish) {
    return finish->features.own || !finish->map->primal;
}

/* Coefficients of a primal point cancel in each group, as those of a dual point do: what features
 * have lost by being centred they would not have had. */
static void start_at(struct rank_finish *finish, const double *weights) {
    if (finish->features.own) {
        interior_start_at(finish->interior, weights);
        return;
    }
    const struct rank_hinges *hinges = &finish->hinges;
    memset(finish->sum, 0, hinges->n * sizeof *finish->sum);
    for (size_t i = 0; i < hinges->n_scores; i++) {
        if (hinges->place[i] != RANK_HINGES_NONE) {
            finish->sum[hinges->place[i]] += (long double)weights[i];
        }
    }
    row_features_adjoint(&finish->features, finish->sum, finish->work, finish->start);
    interior_start_at(finish->interior, finish->start);
}

int rank_finish_start(struct rank_finish *finish, bool squared, double cost, const double *weights,
                      struct error *err) {
    const struct rank_hinges *hinges = &finish->hinges;
    double constant = 0;
    for (size_t j = 0; j < hinges->n_pairs; j++) {
        finish->cost[j] = cost * hinges->weight[j];
        finish->alpha[j] = (squared ? 2 : 1) * finish->cost[j];
        constant += j < hinges->n_hinges ? 0 : finish->cost[j];
    }
    const struct interior_problem problem = {.n = hinges->n_hinges,
                                             .dimension = finish->features.m,
                                             .cost = finish->cost,
                                             .constant = constant,
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
    if (interior_open(&finish->interior, &problem, err) < 0) {
        return -1;
    }
    if (weights) {
        start_at(finish, weights);
    }
    return 0;
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

/* weights = those of the coefficients b. */
static int weights_of(const struct rank_finish *finish, double *weights, struct error *err) {
    for (size_t k = 0; k < finish->hinges.n; k++) {
        finish->spread[finish->hinges.row[k]] = finish->b[k];
    }
    return finish->map->adjoint(finish->map, finish->spread, weights, err);
}

/* weights = those of alpha; error (map->n), if not NULL: what their coefficients may be off by,
 * with what sums of rows into weights add to that. */
static int take_weights(const struct rank_finish *finish, const double *alpha, double *weights,
                        double *error, struct error *err) {
    const struct rank_hinges *hinges = &finish->hinges;
    double rows = finish->map->primal ? certify_sum_rounding(finish->map->n) : 0;
    struct sum *sums = memory_zeros(hinges->n, sizeof *sums, "coefficients", err);
    if (!sums) {
        return -1;
    }
    for (size_t j = 0; j < hinges->n_hinges; j++) {
        add_to(&sums[hinges->better[j]], alpha[j], 1);
        if (hinges->worse) {
            add_to(&sums[hinges->worse[j]], alpha[j], -1);
        }
    }
    for (size_t k = 0; k < hinges->n; k++) {
        struct sum sum = sums[k];
        finish->b[k] = (double)sum.sum;
        if (error) {
            long double rounded = fabsl(sum.sum - (long double)finish->b[k]);
            long double off = rounded + sum.lost + finish->weight_error * sum.size;
            off += (long double)(rows * fabs(finish->b[k]));
            error[hinges->row[k]] = (double)off * (1 + 4 * DBL_EPSILON);
        }
    }
    free(sums);
    return weights_of(finish, weights, err);
}

static int take_dual(const struct rank_finish *finish, struct fit *fit, struct error *err) {
    const struct rank_hinges *hinges = &finish->hinges;
    long double linear = 0, size = 0;
    const double *alpha = finish->alpha;
    double ratio = 0, terms = (double)hinges->n_pairs + 4;
    for (size_t j = 0; j < hinges->n_pairs; j++) {
        long double a = alpha[j];
        linear += finish->squared ? a - a * a / (4 * (long double)finish->cost[j]) : a;
        size += finish->squared ? a + a * a / (4 * (long double)finish->cost[j]) : a;
        ratio = finish->cost[j] > 0 ? fmax(ratio, alpha[j] / finish->cost[j]) : ratio;
    }
    double unit = terms * (double)LDBL_EPSILON + DBL_EPSILON + finish->weight_error;
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
               : weights_of(finish, fit->weights, err);
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
    memcpy(finish->alpha, found.alpha, finish->hinges.n_hinges * sizeof *found.alpha);
    fit->weights = memory_array(d, sizeof(double), "weights", err);
    fit->dual_weights = memory_array(d, sizeof(double), "weights", err);
    fit->dual_error = memory_zeros(finish->map->n, sizeof *fit->dual_error, "a certificate", err);
    if (!fit->weights || !fit->dual_weights || !fit->dual_error ||
        take_dual(finish, fit, err) < 0 || take_primal(finish, &found, fit, err) < 0) {
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

int rank_finish_points(struct rank_finish *finish, struct rank_points *points, struct error *err) {
    return rank_hinges_points(&finish->hinges, finish->alpha, finish->C, !finish->squared, points,
                              err);
}
