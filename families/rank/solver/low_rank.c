/* The approximate problem: its map, its solution, and the estimate of its gap (low_rank.h). */
#include "families/rank/solver/low_rank.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/base/sizes.h"
#include "common/kernel/explicit_features.h"
#include "families/rank/solver/newton.h"
#include "families/rank/solver/risk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PILOT = 256, /* landmarks that are tried first */
    FIRST_LANDMARKS = 3072,
    MIN_LANDMARKS = 512,     /* if rows or memory are few */
    MAX_LANDMARKS = 1 << 13, /* their triangle takes 512 MB */
    STEP = 256,              /* between numbers of landmarks that are tried for memory */
    ROWS_PER_LANDMARK = 8,
    SAMPLE = 1024,     /* rows of K for the estimate, which was wrong by .0 and .1 */
    RANDOM_STREAM = 14 /* of the seed, different from the family's other uses */
};

/* The approximate problem is solved to this part of the target gap. */
static const double OWN_PART = 0.25;

/* The approximation is used if PILOT landmarks leave at most this part of the trace. 512 leave 5e-4
 * where 3,072 lead to a gap of 1e-2, and .48 where 4,096 still leave .27 (`svm-generate` ltr and
 * top, 20,000 rows, 30 features, rbf). */
static const double MAX_RESIDUAL = 0.02;

/* With less than this share of the landmarks asked for, the rows have no more. */
static const double MIN_SHARE = 0.9;

/* More landmarks are worth the time if they are at least so many times as many. */
static const double MIN_GROWTH = 1.5;

/* Of predicted times. */
static const double TIME_MARGIN = 1.25;

struct rank_low_rank {
    const struct problem *problem;
    struct rank_pairs *pairs;
    size_t size; /* landmarks asked for */
    struct explicit_features features;
    struct score_map map; /* of the approximation */
    struct cutting_planes *planes;
    /* the last Newton solution: (n) coefficients, or weights of the features; NULL before the
     * first */
    double *last;
    bool linear;                 /* the linear problem of the features is solved */
    struct score_map linear_map; /* its map, then */
    uint64_t seed;
    double creation_seconds, solution_seconds; /* if there is a time limit */
};

/* ---- creation ---- */

static uint32_t row_of_gram(const struct problem *problem, size_t i) {
    return problem->rows ? problem->rows[i] : (uint32_t)i;
}

static bool has_many_rows(const struct problem *problem) {
    return problem->n >= (size_t)MIN_LANDMARKS * ROWS_PER_LANDMARK;
}

/* Whether there are rows and memory for so many landmarks: Z, and in double the matrix of the
 * landmarks and its factor. */
static bool fits(const struct problem *problem, size_t size) {
    double m = (double)size, row = (double)problem->n * sizeof(float);
    return size * ROWS_PER_LANDMARK <= problem->n &&
           m * (row + 2 * m * sizeof(double)) <= (double)problem->cache_bytes;
}

/* The largest number of landmarks that fits, at most `size`; 0: fewer than MIN_LANDMARKS. */
static size_t largest_size(const struct problem *problem, size_t size) {
    while (size >= MIN_LANDMARKS && !fits(problem, size)) {
        size -= STEP;
    }
    return size < MIN_LANDMARKS ? 0 : size;
}

int rank_low_rank_size(const struct problem *problem, uint64_t seed, size_t *size, bool *exact,
                       struct error *err) {
    const struct gram *gram = problem->gram;
    double part;
    if (explicit_features_size(problem, RANK_MAX_HESSIAN_FEATURES, seed, size, err) < 0) {
        return -1;
    }
    *exact = *size > 0;
    if (*size > 0 || !gram || problem->zero_only || problem->constant > 0 || gram_is_cached(gram) ||
        gram_rows(gram)->cluster || !kernel_definite(gram_rows(gram)->kernel)) {
        return 0;
    }
    size_t first = largest_size(problem, FIRST_LANDMARKS);
    if (first == 0) {
        return 0;
    }
    if (explicit_features_pilot(problem, PILOT, seed, &part, err) < 0) {
        return -1;
    }
    *size = part <= MAX_RESIDUAL ? first : 0;
    return 0;
}

static int map_scores(const struct score_map *map, const double *weights, double *s,
                      struct error *err) {
    const struct rank_low_rank *low = map->context;
    return landmarks_multiply(&low->features.landmarks, weights, s, map->threads, err);
}

int rank_low_rank_create(struct rank_low_rank **low, const struct problem *problem,
                         struct rank_pairs *pairs, size_t size, uint64_t seed,
                         const struct monitor *monitor, struct error *err) {
    double left = monitor_seconds_left(monitor);
    struct rank_low_rank *made = memory_zeros(1, sizeof *made, "a solver", err);
    *low = NULL;
    if (!made || explicit_features_create(&made->features, problem, size, seed, err) < 0) {
        free(made);
        return -1;
    }
    made->problem = problem;
    made->pairs = pairs;
    made->size = size;
    made->seed = seed;
    made->creation_seconds = left - monitor_seconds_left(monitor);
    made->map = (struct score_map){.n = problem->n,
                                   .dimension = problem->n,
                                   .context = made,
                                   .threads = problem->threads,
                                   .scores = map_scores,
                                   .adjoint = score_map_copy};
    made->linear =
        made->features.exact && made->features.data.n_features <= RANK_MAX_HESSIAN_FEATURES;
    if (made->linear && score_map_create(&made->linear_map, &made->features.problem, err) < 0) {
        rank_low_rank_free(made);
        return -1;
    }
    *low = made;
    return 0;
}

void rank_low_rank_free(struct rank_low_rank *low) {
    if (low) {
        cutting_planes_free(low->planes);
        free(low->last);
        score_map_free(&low->linear_map);
        explicit_features_free(&low->features);
        free(low);
    }
}

size_t rank_low_rank_next_size(const struct rank_low_rank *low) {
    size_t size = largest_size(low->problem, smaller(2 * low->size, MAX_LANDMARKS));
    bool all = (double)low->features.landmarks.width < MIN_SHARE * (double)low->size;
    return all || (double)size < MIN_GROWTH * (double)low->size ? 0 : size;
}

double rank_low_rank_next_seconds(const struct rank_low_rank *low) {
    return TIME_MARGIN * (4 * low->creation_seconds + 2 * low->solution_seconds);
}

const struct cutting_planes *rank_low_rank_planes(const struct rank_low_rank *low) {
    return low->planes;
}

/* ---- the estimate ---- */

/* Rows of K. */
struct sample {
    size_t n;             /* different rows, at most SAMPLE */
    uint32_t row[SAMPLE]; /* ascending */
    double weight[SAMPLE];
};

/* Draws rows with probabilities proportional to |beta|, such that the weighted sum of x_i over the
 * sample is an estimate of the sum of |beta_i| x_i. */
static void draw(const struct rank_low_rank *low, const double *beta, struct sample *sample) {
    struct random random;
    double total = 0, sum = 0;
    size_t i = 0;
    sample->n = 0;
    for (size_t j = 0; j < low->problem->n; j++) {
        total += fabs(beta[j]);
    }
    random_start(&random, low->seed, RANDOM_STREAM);
    for (size_t k = 0; k < SAMPLE; k++) {
        double at = ((double)k + random_unit(&random)) / SAMPLE * total;
        while (i + 1 < low->problem->n && sum + fabs(beta[i]) <= at) {
            sum += fabs(beta[i++]);
        }
        if (sample->n == 0 || sample->row[sample->n - 1] != i) {
            sample->row[sample->n] = (uint32_t)i;
            sample->weight[sample->n++] = 0;
        }
        sample->weight[sample->n - 1] += total / SAMPLE;
    }
}

/* product (sample->n) = K beta at the sample. */
static int multiply(const struct problem *problem, const double *beta, const struct sample *sample,
                    double *product, struct error *err) {
    const struct kernel_rows *all = gram_rows(problem->gram);
    struct kernel_rows some = {0};
    struct data data = {0};
    uint32_t row[SAMPLE];
    double *whole = memory_zeros(all->data->n_rows, sizeof *whole, "scores", err);
    for (size_t k = 0; k < sample->n; k++) {
        row[k] = row_of_gram(problem, sample->row[k]);
    }
    for (size_t i = 0; whole && i < problem->n; i++) {
        whole[row_of_gram(problem, i)] = beta[i];
    }
    int status = !whole || data_subset(all->data, row, sample->n, &data, err) < 0 ||
                         kernel_rows_create(&some, all->kernel, &data, err) < 0 ||
                         kernel_scores(&some, all, whole, 1, product, problem->threads, err) < 0
                     ? -1
                     : 0;
    kernel_rows_free(&some);
    data_free(&data);
    free(whole);
    return status;
}

/* *residual = beta'(K - K~) beta, from some of its n terms. */
static int estimate_residual(const struct rank_low_rank *low, const double *beta, double *residual,
                             struct error *err) {
    const struct problem *problem = low->problem;
    struct sample sample;
    double product[SAMPLE];
    double *approximate = memory_array(problem->n, sizeof *approximate, "scores", err);
    draw(low, beta, &sample);
    *residual = 0;
    int status = !approximate ||
                         landmarks_multiply(&low->features.landmarks, beta, approximate,
                                            problem->threads, err) < 0 ||
                         multiply(problem, beta, &sample, product, err) < 0
                     ? -1
                     : 0;
    for (size_t k = 0; status == 0 && k < sample.n; k++) {
        double difference = product[k] - approximate[sample.row[k]];
        *residual += copysign(sample.weight[k], beta[sample.row[k]]) * difference;
    }
    free(approximate);
    return status;
}

int rank_low_rank_time_product(const struct problem *problem, const struct monitor *monitor,
                               double *seconds, struct error *err) {
    struct sample sample = {.n = SAMPLE};
    double product[SAMPLE], left = monitor_seconds_left(monitor);
    *seconds = 0;
    if (!has_many_rows(problem) || !isfinite(left)) {
        return 0;
    }
    double *beta = memory_array(problem->n, sizeof *beta, "scores", err);
    for (size_t i = 0; beta && i < problem->n; i++) {
        beta[i] = 1;
    }
    for (size_t k = 0; k < SAMPLE; k++) {
        sample.row[k] = (uint32_t)(k * problem->n / SAMPLE);
    }
    int status = beta ? multiply(problem, beta, &sample, product, err) : -1;
    free(beta);
    /* the product with all rows computes each value once */
    double parts = (double)problem->n / SAMPLE / 2;
    *seconds = parts * (left - monitor_seconds_left(monitor));
    return status;
}

/* ---- solutions ---- */

static int solve_newton(struct rank_low_rank *low, enum rank_loss loss, double cost, double epsilon,
                        const struct monitor *monitor, struct fit *fit, struct error *err) {
    const struct problem *problem = low->linear ? &low->features.problem : low->problem;
    const struct score_map *map = low->linear ? &low->linear_map : &low->map;
    size_t n = map->dimension;
    if (rank_newton_solve(problem, map, low->pairs, loss, cost, epsilon, low->last, 0, NULL, NULL,
                          monitor, fit, err) < 0) {
        return -1;
    }
    low->last = low->last ? low->last : memory_array(n, sizeof *low->last, "weights", err);
    if (!low->last) {
        return -1;
    }
    memcpy(low->last, fit->weights, n * sizeof *low->last);
    return 0;
}

static int solve_planes(struct rank_low_rank *low, const struct risk *risk, double cost,
                        double epsilon, const struct monitor *monitor, struct fit *fit,
                        struct error *err) {
    if (!low->planes && cutting_planes_create(&low->planes, &low->map, risk, err) < 0) {
        return -1;
    }
    return cutting_planes_solve(low->planes, cost, epsilon, monitor, fit, err);
}

/* Replaces the features' weights of both points by coefficients of rows. */
static int expand(const struct rank_low_rank *low, enum rank_loss loss, double cost,
                  struct fit *fit, struct error *err) {
    struct rank_risk risk;
    size_t n = low->problem->n;
    double offset, *b = memory_array(n, sizeof *b, "weights", err);
    double *beta = memory_array(n, sizeof *beta, "weights", err);
    if (!b || !beta || explicit_features_expand(&low->features, fit->weights, 1, b, err) < 0 ||
        rank_risk_create(&risk, low->pairs, loss == RANK_HINGE ? RANK_RISK_HUBER : RANK_RISK_SQUARE,
                         err) < 0) {
        free(b);
        free(beta);
        return -1;
    }
    memset(beta, 0, n * sizeof *beta);
    risk.mu = fit->smoothing;
    if (loss != RANK_HINGE || risk.mu > 0) { /* else alpha = 0 is the best dual point */
        rank_risk_evaluate(&risk, fit->dual_scores, beta, &offset);
    }
    array_scale(beta, -cost, n);
    rank_risk_free(&risk);
    free(fit->weights);
    free(fit->dual_weights);
    fit->weights = b;
    fit->dual_weights = beta;
    return 0;
}

int rank_low_rank_solve(struct rank_low_rank *low, enum rank_loss loss, const struct risk *risk,
                        double cost, double epsilon, const struct monitor *monitor, struct fit *fit,
                        struct error *err) {
    double residual, left = monitor_seconds_left(monitor);
    *fit = (struct fit){0};
    int status = loss == RANK_HINGE && !low->linear
                     ? solve_planes(low, risk, cost, OWN_PART * epsilon, monitor, fit, err)
                     : solve_newton(low, loss, cost, OWN_PART * epsilon, monitor, fit, err);
    if (status < 0 ||
        (low->linear ? expand(low, loss, cost, fit, err)
                     : landmarks_coefficients(&low->features.landmarks, fit->weights,
                                              low->problem->threads, err)) < 0 ||
        estimate_residual(low, fit->dual_weights, &residual, err) < 0) {
        fit_free(fit);
        return -1;
    }
    fit->dual = fmax(0, fit->dual - 0.5 * residual);
    low->solution_seconds = left - monitor_seconds_left(monitor);
    return 0;
}
