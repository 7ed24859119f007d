#include "solvers/rank/finish.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/kernel/distinct.h"
#include "solvers/methods/certify.h"
#include "solvers/methods/interior.h"
#include "solvers/methods/row_features.h"
#include "solvers/methods/stacked.h"
#include "solvers/rank/graph.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rank_finish {
    const struct score_map *map;
    const struct rank_pairs *pairs;
    size_t n;                 /* scores */
    size_t n_pairs, n_hinges; /* preferences; those whose margin is not 0 always, the first */
    uint32_t *better, *worse; /* (n_pairs) scores; worse NULL: a score is a margin */
    uint32_t *same;           /* (n) the first score whose row is equal */
    struct row_groups linked; /* groups that have equal rows count as one, of these: */
    size_t *linked_start;
    uint32_t *linked_row;  /* (n); NULL: none, scores are margins */
    double *weight, *cost; /* (n_pairs); cost: C weight */
    struct row_features features;
    double *s, *b;           /* (n) scores, coefficients */
    long double *sum;        /* (n) work */
    double *work, *start;    /* (m) work; where a run starts */
    double *W;               /* (n, n) weights of pairs of scores, then their factor */
    struct stacked *stacked; /* the system's rows */
    double *counted;         /* (m) ones */
    struct interior *interior;
    bool squared, tied;
    double C;
    double *alpha; /* (n_pairs) of the last run */
};

/* ---- preferences ---- */

static bool is_preference(const struct rank_pairs *pairs, size_t high, size_t low) {
    uint32_t apart = pairs->level[high] - pairs->level[low];
    return apart >= pairs->low && apart <= pairs->high;
}

/* Pairs of equal rows, whose margin is 0 whatever the weights, come last. */
static void add_pair(struct rank_finish *finish, size_t group, size_t high, size_t low) {
    const struct rank_pairs *pairs = finish->pairs;
    uint32_t better = pairs->row[high], worse = pairs->row[low];
    bool equal = finish->same[better] == finish->same[worse];
    size_t j = equal ? --finish->n_pairs : finish->n_hinges++;
    finish->better[j] = better;
    finish->worse[j] = worse;
    finish->weight[j] =
        pairs->weight[group] * rank_pairs_listed(pairs, pairs->start[group], high, low);
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

/* The first of the groups that `group` is linked with. */
static size_t head_of(size_t *next, size_t group) {
    while (next[group] != group) {
        group = next[group] = next[next[group]];
    }
    return group;
}

/* same, and next (n_groups): a way from each group to the first of those that are linked with it.
 * first (n_rows of data), group (the same): work. */
static void find_same(struct rank_finish *finish, const struct problem *problem,
                      const struct distinct *distinct, uint32_t *first, size_t *group,
                      size_t *next) {
    const struct rank_pairs *pairs = finish->pairs;
    for (size_t i = 0; i < distinct->m; i++) {
        group[i] = pairs->n_groups;
    }
    for (size_t g = 0; g < pairs->n_groups; g++) {
        next[g] = g;
        for (size_t k = pairs->start[g]; k < pairs->start[g + 1]; k++) {
            uint32_t i = pairs->row[k];
            size_t place = distinct->place[problem->rows ? problem->rows[i] : i];
            if (group[place] == pairs->n_groups) {
                group[place] = g;
                first[place] = i;
            }
            finish->same[i] = first[place];
            size_t one = head_of(next, g), other = head_of(next, group[place]);
            next[larger(one, other)] = smaller(one, other);
        }
    }
}

/* Lists the rows of linked groups together. */
static int list_linked(struct rank_finish *finish, size_t *next, struct error *err) {
    const struct rank_pairs *pairs = finish->pairs;
    size_t *start = memory_array(pairs->n_groups + 1, sizeof *start, "groups", err), n = 0;
    uint32_t *row = memory_array(finish->n, sizeof *row, "groups", err);
    finish->linked_start = start;
    finish->linked_row = row;
    if (!start || !row) {
        return -1;
    }
    finish->linked = (struct row_groups){.start = start, .row = row};
    start[0] = 0;
    for (size_t head = 0; head < pairs->n_groups; head++) {
        for (size_t g = head; g < pairs->n_groups && head_of(next, head) == head; g++) {
            size_t m = head_of(next, g) == head ? pairs->start[g + 1] - pairs->start[g] : 0;
            memcpy(row + n, pairs->row + pairs->start[g], m * sizeof *row);
            n += m;
        }
        finish->linked.n += n > start[finish->linked.n];
        start[finish->linked.n] = n;
    }
    return 0;
}

/* Scores of equal rows are one, also where these are in several groups: at large C coefficients of
 * the first nearly cancel those of the others, which features with the groups' own means taken off
 * would not show. */
static int link_groups(struct rank_finish *finish, const struct problem *problem,
                       struct error *err) {
    size_t all = problem->data->n_rows;
    struct distinct distinct = {0};
    uint32_t *first = memory_array(all, sizeof *first, "pairs", err);
    size_t *group = memory_array(all, sizeof *group, "pairs", err); /* that `first` is of */
    size_t *next = memory_array(finish->pairs->n_groups, sizeof *next, "pairs", err);
    int status = first && group && next ? distinct_find(&distinct, problem->data, err) : -1;
    if (status == 0) {
        find_same(finish, problem, &distinct, first, group, next);
        status = list_linked(finish, next, err);
    }
    distinct_free(&distinct);
    free(first);
    free(group);
    free(next);
    return status;
}

/* Lists the pairs, or the scores that are margins, of these weights. */
static int list_pairs(struct rank_finish *finish, const double *weight, struct error *err) {
    size_t n = weight ? finish->n : (size_t)finish->pairs->n_pairs;
    finish->weight = memory_array(n, 3 * sizeof *finish->weight, "pairs", err);
    finish->better = memory_array(n, 2 * sizeof *finish->better, "pairs", err);
    if (!finish->weight || !finish->better) {
        return -1;
    }
    finish->cost = finish->weight + n;
    finish->alpha = finish->cost + n;
    finish->worse = weight ? NULL : finish->better + n;
    finish->n_pairs = n;
    if (weight) {
        for (size_t j = 0; j < n; j++) {
            finish->better[j] = (uint32_t)j;
            finish->weight[j] = weight[j];
        }
        finish->n_hinges = n;
        return 0;
    }
    for (size_t group = 0; group < finish->pairs->n_groups; group++) {
        list_group(finish, group);
    }
    finish->n_pairs = n;
    return 0;
}

/* ---- what the interior point asks for ---- */

static void scores(void *context, const double *w, double *v) {
    const struct rank_finish *finish = context;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)finish->n, (int)finish->features.m, 1,
                finish->features.F, (int)finish->features.m, w, 1, 0, finish->s, 1);
    for (size_t j = 0; j < finish->n_hinges; j++) {
        v[j] = finish->s[finish->same[finish->better[j]]] -
               (finish->worse ? finish->s[finish->same[finish->worse[j]]] : 0);
    }
}

/* In long double: many pairs of cost C each may leave little of a row's sum, and in double-double
 * rows whose sums are large little of the product. */
static void adjoint(void *context, const double *a, double *g) {
    const struct rank_finish *finish = context;
    long double *sum = finish->sum;
    for (size_t i = 0; i < finish->n; i++) {
        sum[i] = 0;
    }
    for (size_t j = 0; j < finish->n_hinges; j++) {
        sum[finish->same[finish->better[j]]] += (long double)a[j];
        if (finish->worse) {
            sum[finish->same[finish->worse[j]]] -= (long double)a[j];
        }
    }
    row_features_adjoint(&finish->features, sum, finish->work, g);
}

/* Rows whose squares are F'L F: sqrt(theta) F where scores are margins, else B F with L = B'B. */
static int factor(void *context, const double *theta) {
    const struct rank_finish *finish = context;
    size_t n = finish->n, m = finish->features.m;
    double *rows = stacked_row(finish->stacked, 0);
    memcpy(rows, finish->features.F, n * m * sizeof *rows);
    if (finish->worse) {
        memset(finish->W, 0, n * n * sizeof *finish->W);
        for (size_t j = 0; j < finish->n_hinges; j++) {
            size_t one = finish->same[finish->better[j]], other = finish->same[finish->worse[j]];
            finish->W[smaller(one, other) * n + larger(one, other)] += theta[j];
        }
        rank_graph_factor(finish->W, n);
        rank_graph_multiply(finish->W, n, rows, m);
    } else {
        for (size_t j = 0; j < finish->n_hinges; j++) {
            double root = sqrt(theta[j]);
            for (size_t f = 0; f < m; f++) {
                rows[finish->better[j] * m + f] *= root;
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

bool rank_finish_fits(const struct score_map *map, const struct rank_pairs *pairs) {
    return row_features_fits(map) &&
           pairs->n_pairs <= (double)ROW_FEATURES_MOST * ROW_FEATURES_MOST;
}

static int allocate(struct rank_finish *finish, struct error *err) {
    size_t n = finish->n, m = finish->features.m;
    size_t side = finish->worse ? n : 0;
    finish->s = memory_array(n, 2 * sizeof(double), "scores", err);
    finish->sum = memory_array(n, sizeof *finish->sum, "scores", err);
    finish->W = memory_array(side, n * sizeof(double), "a system", err);
    finish->counted = memory_array(m, 3 * sizeof(double), "a system", err);
    if (!finish->s || !finish->sum || !finish->W || !finish->counted ||
        stacked_create(&finish->stacked, n, m, m, true, err) < 0) {
        return -1;
    }
    finish->b = finish->s + n;
    finish->work = finish->counted + m;
    finish->start = finish->work + m;
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
    made->same = memory_array(made->n, sizeof *made->same, "pairs", err);
    bool possible = rank_finish_fits(map, pairs);
    int status = made->same ? 0 : -1;
    for (size_t i = 0; status == 0 && i < made->n; i++) {
        made->same[i] = (uint32_t)i;
    }
    if (status == 0 && possible && !weight) {
        status = link_groups(made, problem, err);
    }
    if (status == 0 && possible) {
        status = row_features_create(&made->features, problem, map, weight ? NULL : &made->linked,
                                     reach, &possible, err);
    }
    if (status == 0 && possible) {
        status = list_pairs(made, weight, err);
        possible = made->n_hinges > 0;
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
    free(finish->better);
    free(finish->same);
    free(finish->weight);
    row_features_free(&finish->features);
    free(finish->linked_start);
    free(finish->linked_row);
    stacked_free(finish->stacked);
    free(finish->s);
    free(finish->sum);
    free(finish->W);
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
    memset(finish->sum, 0, finish->n * sizeof *finish->sum);
    for (size_t i = 0; i < finish->n; i++) {
        finish->sum[finish->same[i]] += (long double)weights[i];
    }
    row_features_adjoint(&finish->features, finish->sum, finish->work, finish->start);
    interior_start_at(finish->interior, finish->start);
}

int rank_finish_start(struct rank_finish *finish, bool squared, double cost, const double *weights,
                      struct error *err) {
    double constant = 0;
    for (size_t j = 0; j < finish->n_pairs; j++) {
        finish->cost[j] = cost * finish->weight[j];
        finish->alpha[j] = (squared ? 2 : 1) * finish->cost[j];
        constant += j < finish->n_hinges ? 0 : finish->cost[j];
    }
    const struct interior_problem problem = {.n = finish->n_hinges,
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

/* weights = those of alpha; error (n), if not NULL: what their coefficients may be off by, with
 * what sums of rows into weights add to that. */
static int take_weights(const struct rank_finish *finish, const double *alpha, double *weights,
                        double *error, struct error *err) {
    size_t n = finish->n;
    double rows = finish->map->primal ? certify_sum_rounding(n) : 0;
    struct sum *sums = memory_zeros(n, sizeof *sums, "coefficients", err);
    if (!sums) {
        return -1;
    }
    for (size_t j = 0; j < finish->n_hinges; j++) {
        add_to(&sums[finish->same[finish->better[j]]], alpha[j], 1);
        if (finish->worse) {
            add_to(&sums[finish->same[finish->worse[j]]], alpha[j], -1);
        }
    }
    for (size_t i = 0; i < n; i++) {
        struct sum sum = sums[i];
        finish->b[i] = (double)sum.sum;
        if (error) {
            long double rounded = fabsl(sum.sum - (long double)finish->b[i]);
            long double off = rounded + sum.lost + finish->pairs->weight_error * sum.size;
            off += (long double)(rows * fabs(finish->b[i]));
            error[i] = (double)off * (1 + 4 * DBL_EPSILON);
        }
    }
    free(sums);
    return finish->map->adjoint(finish->map, finish->b, weights, err);
}

static int take_dual(const struct rank_finish *finish, struct fit *fit, struct error *err) {
    long double linear = 0, size = 0;
    const double *alpha = finish->alpha;
    double ratio = 0, terms = (double)finish->n_pairs + 4;
    for (size_t j = 0; j < finish->n_pairs; j++) {
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
    memcpy(finish->alpha, found.alpha, finish->n_hinges * sizeof *found.alpha);
    fit->weights = memory_array(d, sizeof(double), "weights", err);
    fit->dual_weights = memory_array(d, sizeof(double), "weights", err);
    fit->dual_error = memory_array(finish->n, sizeof *fit->dual_error, "a certificate", err);
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

int rank_finish_points(const struct rank_finish *finish, struct rank_points *points,
                       struct error *err) {
    for (size_t j = 0; j < finish->n_pairs; j++) {
        if (finish->alpha[j] > 0 &&
            rank_points_add_pair(points, finish->better[j], finish->worse[j], finish->alpha[j],
                                 err) < 0) {
            return -1;
        }
    }
    rank_points_sort(points);
    return 0;
}
