/* Products with the skew matrix of exterior-product features (exterior.h): two GEMMs each. */
#include "families/rank/solver/exterior.h"

#include "common/base/memory.h"
#include "common/kernel/kernel_dd.h"
#include "families/rank/solver/skew_dd.h"

#include <cblas.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct exterior {
    const struct problem *problem;
    const struct rank_pairs *pairs;
    size_t n_rows;          /* rows of the groups, in the order of pairs->row */
    double *K;              /* (n_rows, n_rows) */
    bool double_double;     /* certificates evaluate margins in double-double */
    double *K_low;          /* (n_rows, n_rows) low-order part of K, for double-double; else NULL */
    struct skew_pair *pair; /* (n_pairs) by position of the rows, ascending in `high` */
    size_t *first;          /* (n_rows + 1) first pair of each row as `high` */
    size_t n_pairs;
    double *weight;                /* (n_pairs) */
    double *S, *SK;                /* one square matrix for each group; (n_rows, n_rows) */
    size_t *S_start;               /* (n_groups) first entry of each group in S */
    struct risk_rounding rounding; /* of the last evaluation of the risk */
};

static int list_pairs(struct exterior *exterior, struct error *err) {
    const struct rank_pairs *pairs = exterior->pairs;
    if (pairs->n_pairs > 0x1p40) {
        return error_set(err, ERROR_RUNTIME,
                         "%.0f pairs are too many for exterior-product features: use a fraction",
                         pairs->n_pairs);
    }
    size_t n_pairs = exterior->n_pairs = (size_t)pairs->n_pairs;
    exterior->pair = memory_array(n_pairs, sizeof *exterior->pair, "pairs", err);
    exterior->weight = memory_array(n_pairs, sizeof *exterior->weight, "pairs", err);
    exterior->first = memory_zeros(exterior->n_rows + 1, sizeof *exterior->first, "pairs", err);
    if (!exterior->pair || !exterior->weight || !exterior->first) {
        return -1;
    }
    struct rank_pairs_walk walk = rank_pairs_walk(pairs, 0, pairs->n_groups);
    for (size_t n = 0; rank_pairs_next(&walk); n++) {
        exterior->pair[n] = (struct skew_pair){(uint32_t)walk.better, (uint32_t)walk.worse};
        exterior->weight[n] = rank_pairs_walk_weight(&walk);
        exterior->first[walk.better + 1]++;
    }
    for (size_t k = 0; k < exterior->n_rows; k++) {
        exterior->first[k + 1] += exterior->first[k];
    }
    return 0;
}

/* The row of the data at a position. */
static size_t row_at(const struct exterior *exterior, size_t position) {
    size_t row = exterior->pairs->row[position];
    return exterior->problem->rows ? exterior->problem->rows[row] : row;
}

static int evaluate_kernel(struct exterior *exterior, struct error *err) {
    const struct kernel_rows *rows = gram_rows(exterior->problem->gram);
    size_t all = rows->data->n_rows, n = exterior->n_rows;
    double *line = memory_array(all, sizeof *line, "kernel matrix", err);
    struct kernel_scratch *scratch = NULL;
    int status = line ? kernel_scratch_create(&scratch, err) : -1;
    for (size_t k = 0; status == 0 && k < n; k++) {
        status = kernel_block_double(rows, row_at(exterior, k), 1, rows, 0, all, line, all, scratch,
                                     err);
        for (size_t j = 0; status == 0 && j < n; j++) {
            exterior->K[k * n + j] = line[row_at(exterior, j)];
        }
    }
    kernel_scratch_free(scratch);
    free(line);
    return status;
}

static int evaluate_low_part(struct exterior *exterior, struct error *err) {
    size_t n = exterior->n_rows;
    uint32_t *rows = memory_array(n, sizeof *rows, "kernel matrix", err);
    exterior->K_low =
        rows ? memory_array(n, n * sizeof *exterior->K_low, "kernel matrix", err) : NULL;
    for (size_t k = 0; exterior->K_low && k < n; k++) {
        rows[k] = (uint32_t)row_at(exterior, k);
    }
    int status = exterior->K_low
                     ? kernel_remainder_dd(gram_rows(exterior->problem->gram), rows, n, exterior->K,
                                           exterior->K_low, exterior->problem->threads, err)
                     : -1;
    free(rows);
    return status;
}

/* Bytes of `matrices` matrices over all rows, one square matrix for each group, and the pairs. */
static double bytes_of(const struct rank_pairs *pairs, double matrices) {
    double n = (double)pairs->start[pairs->n_groups];
    double bytes = matrices * n * n * sizeof(double) +
                   pairs->n_pairs * (sizeof(struct skew_pair) + sizeof(double));
    for (size_t g = 0; g < pairs->n_groups; g++) {
        double m = (double)(pairs->start[g + 1] - pairs->start[g]);
        bytes += m * m * sizeof(double);
    }
    return bytes;
}

/* Checks the memory of all matrices and pairs before any is allocated: the cache size is its limit.
 */
static int check_memory(const struct problem *problem, const struct rank_pairs *pairs,
                        struct error *err) {
    const double mebibyte = 1048576;
    double bytes = bytes_of(pairs, 2);
    if (bytes > (double)problem->cache_bytes) {
        return error_set(err, ERROR_RUNTIME,
                         "pair features of these rows want %.0f MB: the cache has %.0f",
                         ceil(bytes / mebibyte), (double)problem->cache_bytes / mebibyte);
    }
    return memory_require(bytes, "pair features", err);
}

int exterior_create(struct exterior **exterior, const struct problem *problem,
                    const struct rank_pairs *pairs, struct error *err) {
    struct exterior *made = check_memory(problem, pairs, err) < 0
                                ? NULL
                                : memory_zeros(1, sizeof *made, "pair features", err);
    if (!made) {
        return -1;
    }
    size_t n = pairs->start[pairs->n_groups], squares = 0;
    made->problem = problem;
    made->pairs = pairs;
    made->n_rows = n;
    made->S_start = memory_array(pairs->n_groups, sizeof *made->S_start, "pair features", err);
    made->K = memory_array(n, n * sizeof *made->K, "kernel matrix", err);
    made->SK = memory_array(n, n * sizeof *made->SK, "kernel matrix", err);
    int status = made->S_start && made->K && made->SK && n <= INT_MAX ? 0 : -1;
    for (size_t g = 0; status == 0 && g < pairs->n_groups; g++) {
        size_t m = pairs->start[g + 1] - pairs->start[g];
        made->S_start[g] = squares;
        squares += m * m; /* at most n * n */
    }
    made->S = status == 0 ? memory_zeros(squares, sizeof *made->S, "pair features", err) : NULL;
    if (!made->S || list_pairs(made, err) < 0 || evaluate_kernel(made, err) < 0) {
        exterior_free(made);
        return -1;
    }
    *exterior = made;
    return 0;
}

void exterior_free(struct exterior *exterior) {
    if (exterior) {
        free(exterior->S_start);
        free(exterior->K);
        free(exterior->K_low);
        free(exterior->first);
        free(exterior->SK);
        free(exterior->S);
        free(exterior->pair);
        free(exterior->weight);
        free(exterior);
    }
}

int exterior_use_double_double(struct exterior *exterior, struct error *err) {
    bool fits_cache = bytes_of(exterior->pairs, 3) <= (double)exterior->problem->cache_bytes;
    if (!exterior->double_double && fits_cache && evaluate_low_part(exterior, err) < 0) {
        return -1;
    }
    exterior->double_double = true;
    return 0;
}

/* ---- F = 2 K S K -------------------------------------------------------------------------------
 */

struct margins_task {
    struct exterior *exterior;
    const double *b;
    double *s;
};

/* Fills S of the group from b and computes the rows of S K. */
static void multiply_left(void *argument, size_t g, size_t worker) {
    (void)worker;
    const struct margins_task *task = argument;
    struct exterior *exterior = task->exterior;
    size_t base = exterior->pairs->start[g], m = exterior->pairs->start[g + 1] - base;
    size_t n = exterior->n_rows;
    double *S = exterior->S + exterior->S_start[g];
    for (size_t p = exterior->first[base]; p < exterior->first[base + m]; p++) {
        size_t high = exterior->pair[p].high - base, low = exterior->pair[p].low - base;
        S[high * m + low] = task->b[p];
        S[low * m + high] = -task->b[p];
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)m, 1, S, (int)m,
                exterior->K + base * n, (int)n, 0, exterior->SK + base * n, (int)n);
}

/* Computes the group's block of K (S K), in the memory of the group's S, and clears it. */
static void multiply_right(void *argument, size_t g, size_t worker) {
    (void)worker;
    const struct margins_task *task = argument;
    struct exterior *exterior = task->exterior;
    size_t base = exterior->pairs->start[g], m = exterior->pairs->start[g + 1] - base;
    size_t n = exterior->n_rows;
    double *F = exterior->S + exterior->S_start[g];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)m, (int)n, 2,
                exterior->K + base * n, (int)n, exterior->SK + base, (int)n, 0, F, (int)m);
    for (size_t p = exterior->first[base]; p < exterior->first[base + m]; p++) {
        task->s[p] = F[(exterior->pair[p].high - base) * m + exterior->pair[p].low - base];
    }
    memset(F, 0, m * m * sizeof *F);
}

static int exterior_scores(const struct score_map *map, const double *weights, double *s,
                           struct error *err) {
    (void)err;
    struct margins_task task = {map->context, weights, s};
    size_t n_groups = task.exterior->pairs->n_groups;
    threads_run(map->threads, n_groups, multiply_left, &task);
    threads_run(map->threads, n_groups, multiply_right, &task);
    return 0;
}

static int double_double_scores(const struct score_map *map, const double *weights, double *s,
                                struct error *err) {
    const struct exterior *exterior = map->context;
    const struct skew skew = {.n = exterior->n_rows,
                              .K = exterior->K,
                              .K_low = exterior->K_low,
                              .pair = exterior->pair,
                              .first = exterior->first,
                              .threads = map->threads};
    return skew_margins(&skew, weights, s, err);
}

static int exterior_exact(const struct score_map *map, const double *weights, size_t n_outputs,
                          double *s, struct error *err) {
    struct score_map each = *map;
    if (((const struct exterior *)map->context)->double_double) {
        each.scores = double_double_scores;
    }
    return score_map_each(&each, weights, n_outputs, s, err);
}

struct score_map exterior_map(struct exterior *exterior) {
    return (struct score_map){
        .n = exterior->n_pairs,
        .dimension = exterior->n_pairs,
        .primal = false,
        .context = exterior,
        .threads = exterior->problem->threads,
        .scores = exterior_scores,
        .adjoint = score_map_copy,
        .exact = exterior_exact,
        .release = NULL,
    };
}

/* ---- risk --------------------------------------------------------------------------------------
 */

static double hinge_cut(void *context, const double *s, double *g, double *offset) {
    struct exterior *exterior = context;
    double value = 0, active = 0;
    for (size_t p = 0; p < exterior->n_pairs; p++) {
        double weight = exterior->weight[p];
        double on = s[p] < 1 ? weight : 0;
        g[p] = -on;
        active += on;
        value += on * (1 - s[p]);
    }
    *offset = active;
    exterior->rounding =
        (struct risk_rounding){((double)exterior->n_pairs + 4) * DBL_EPSILON * active, 0, 1};
    return value;
}

static double square_cut(void *context, const double *s, double *g, double *offset) {
    struct exterior *exterior = context;
    double value = 0, linear = 0, largest = 0;
    for (size_t p = 0; p < exterior->n_pairs; p++) {
        double weight = exterior->weight[p];
        double u = s[p] < 1 ? 1 - s[p] : 0;
        g[p] = -2 * weight * u;
        value += weight * u * u;
        linear += weight * u;
        largest = fmax(largest, u);
    }
    *offset = 2 * linear - value;
    double unit = ((double)exterior->n_pairs + 4) * DBL_EPSILON;
    exterior->rounding =
        (struct risk_rounding){unit * (2 * linear + value), 4 * DBL_EPSILON * largest, 2 * largest};
    return value;
}

static struct risk_rounding exterior_rounding(const void *context) {
    const struct exterior *exterior = context;
    return exterior->rounding;
}

struct risk exterior_risk(struct exterior *exterior, bool squared) {
    return (struct risk){.n = exterior->n_pairs,
                         .context = exterior,
                         .cut = squared ? square_cut : hinge_cut,
                         .rounding = exterior_rounding};
}

const double *exterior_weights(const struct exterior *exterior) {
    return exterior->weight;
}

void exterior_norm_bounds(const struct exterior *exterior, const double *row_norm_bound,
                          double *norm_bound, struct certify_pair *rows) {
    const uint32_t *row = exterior->pairs->row;
    for (size_t p = 0; p < exterior->n_pairs; p++) {
        struct skew_pair pair = exterior->pair[p];
        rows[p] = (struct certify_pair){row[pair.high], row[pair.low]};
        norm_bound[p] = 2 * row_norm_bound[rows[p].one] * row_norm_bound[rows[p].other];
    }
}

double exterior_factor(const struct exterior *exterior, double row_factor) {
    const struct kernel_rows *rows = gram_rows(exterior->problem->gram);
    double each =
        exterior->K_low ? kernel_rounding_dd(rows, 0) + DBL_EPSILON * row_factor : row_factor;
    double sums = exterior->double_double ? skew_rounding(exterior->n_rows)
                                          : 2 * ((double)exterior->n_rows + 4) * DBL_EPSILON;
    return 2 * each + sums;
}

/* ---- certificates ------------------------------------------------------------------------------
 */

void exterior_loss(const struct exterior *exterior, bool squared, const double *s,
                   const double *error, double *value, double *rounding) {
    double sum = 0, upper_sum = 0;
    for (size_t p = 0; p < exterior->n_pairs; p++) {
        double weight = exterior->weight[p];
        double u = fmax(0, 1 - s[p]);
        double upper = fmax(0, (1 - s[p] + error[p]) * (1 + 4 * DBL_EPSILON));
        sum += weight * (squared ? u * u : u);
        upper_sum += weight * (squared ? upper * upper : upper);
    }
    *value = sum;
    double each = ((double)exterior->n_pairs + 4) * DBL_EPSILON + exterior->pairs->weight_error;
    *rounding = fmax(0, upper_sum - sum) + each * upper_sum;
}

/* A lower bound of cost * weight. Weights of RANK_QUERY are rounded quotients, others may have a
 * relative error `off`. */
static double lower_product(double cost, double weight, double off) {
    double product = cost * weight;
    bool exact = off == 0 && weight == floor(weight) && fma(cost, weight, -product) >= 0;
    return exact ? product : product * (1 - off - 2 * DBL_EPSILON);
}

void exterior_dual(const struct exterior *exterior, bool squared, double cost, double *b,
                   double *linear, double *rounding) {
    double off = exterior->pairs->weight_error;
    long double sum = 0, size = 0;
    for (size_t p = 0; p < exterior->n_pairs; p++) {
        double cap = lower_product(cost, exterior->weight[p], off);
        b[p] = fmax(0, squared && cap > 0 ? b[p] : fmin(b[p], cap));
        long double a = b[p], square = squared && a > 0 ? a * a / (4 * (long double)cap) : 0;
        sum += a - square;
        size += a + square;
    }
    *linear = (double)sum;
    *rounding = DBL_EPSILON * fabs(*linear) +
                (double)(((long double)exterior->n_pairs + 4) * LDBL_EPSILON * size);
}

int exterior_coefficients(const struct exterior *exterior, const double *b,
                          struct pair_coefficient **coefficients, size_t *n, struct error *err) {
    struct pair_coefficient *list =
        memory_array(exterior->n_pairs, sizeof *list, "pair coefficients", err);
    if (!list) {
        return -1;
    }
    size_t n_stored = 0;
    for (size_t p = 0; p < exterior->n_pairs; p++) {
        uint32_t high = exterior->pairs->row[exterior->pair[p].high];
        uint32_t low = exterior->pairs->row[exterior->pair[p].low];
        if (b[p] != 0) {
            list[n_stored++] = high < low ? (struct pair_coefficient){high, low, b[p]}
                                          : (struct pair_coefficient){low, high, -b[p]};
        }
    }
    *coefficients = list;
    *n = n_stored;
    return 0;
}

int exterior_points(const struct exterior *exterior, const double *b, struct rank_points *points,
                    struct error *err) {
    const uint32_t *row = exterior->pairs->row;
    for (size_t p = 0; p < exterior->n_pairs; p++) {
        struct skew_pair pair = exterior->pair[p];
        if (b[p] > 0 &&
            rank_points_add_pair(points, row[pair.high], row[pair.low], b[p], err) < 0) {
            return -1;
        }
    }
    rank_points_sort(points);
    return 0;
}
