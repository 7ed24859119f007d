/* The smoothed loss about the centre, and its Laplacian (multipliers.h). */
#include "families/rank/solver/multipliers.h"

#include "common/base/arrays.h"
#include "common/base/dispatch.h"
#include "common/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double rank_multipliers_bytes(const struct rank_pairs *pairs, size_t n_distinct) {
    const double entry = 12, preference = 36;
    double n = (double)n_distinct;
    return n * n * entry + fmin(pairs->n_pairs, n * n) * preference;
}

double rank_multipliers_curvature(bool squared) {
    return squared ? 0.5 : 0;
}

int rank_multipliers_create(struct rank_multipliers *multipliers, const struct rank_listed *listed,
                            bool squared, double mu, struct error *err) {
    size_t n = listed->n, n_pairs = listed->n_pairs, n_hinges = listed->n_hinges;
    *multipliers = (struct rank_multipliers){.listed = listed, .squared = squared, .mu = mu};
    multipliers->block =
        ARRAYS_CREATE("multipliers", err, ARRAYS(n_hinges, double, &multipliers->centre),
                      ARRAYS(n_pairs, double, &multipliers->alpha),
                      ARRAYS(listed->n_scores, double, &multipliers->last),
                      ARRAYS(n, double, &multipliers->s, &multipliers->sum, &multipliers->a));
    multipliers->region = memory_array(n_hinges, sizeof *multipliers->region, "multipliers", err);
    for (size_t j = n_hinges; j < n_pairs; j++) {
        multipliers->constant += listed->weight[j];
    }
    return multipliers->block && multipliers->region ? 0 : -1;
}

void rank_multipliers_free(struct rank_multipliers *multipliers) {
    free(multipliers->block);
    free(multipliers->region);
    *multipliers = (struct rank_multipliers){0};
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* The smoothed loss: the maximum of a u - q/2 a^2 - mu/2 (a - centre)^2 over 0 <= a <= max. */
struct shape {
    double half_q, max, mu, scale; /* scale: 1 / (q + mu) */
};

static struct shape shape_of(const struct rank_multipliers *multipliers, double mu) {
    bool squared = multipliers->squared;
    double q = rank_multipliers_curvature(squared);
    return (struct shape){q / 2, squared ? INFINITY : 1, mu, 1 / (q + mu)};
}

/* ---- preferences of one better row ----------------------------------------------------------- */

/* Consecutive preferences of the list with the same better row, in ascending order of the worse. */
struct run {
    size_t n;
    double score; /* of the better row */
    const uint32_t *worse;
    const double *weight, *centre;
};

/* The run that begins at preference j. */
static struct run run_at(const struct rank_multipliers *multipliers, size_t j) {
    const struct rank_listed *listed = multipliers->listed;
    size_t end = j;
    while (end < listed->n_hinges && listed->better[end] == listed->better[j]) {
        end++;
    }
    return (struct run){end - j, multipliers->s[listed->better[j]], listed->worse + j,
                        listed->weight + j, multipliers->centre + j};
}

static inline double slack_of(const struct run *run, const double *s, size_t p) {
    return 1 - (run->score - s[run->worse[p]]);
}

/* a before it is clipped, for slack u. */
static inline double unclipped(const struct shape *shape, double centre, double u) {
    return (u + shape->mu * centre) * shape->scale;
}

static inline double clipped(const struct shape *shape, double a) {
    double above = a > 0 ? a : 0;
    return above < shape->max ? above : shape->max;
}

/* a (run->n) = weight times a. Returns the sums over the run. */
DISPATCH static struct rank_centred_loss evaluate_run(const struct run *run, struct shape shape,
                                                      const double *restrict s,
                                                      double *restrict a) {
    double value = 0, loss = 0, total = 0;
#pragma omp simd reduction(+ : value, loss, total)
    for (size_t p = 0; p < run->n; p++) {
        double u = slack_of(run, s, p), weight = run->weight[p], centre = run->centre[p];
        double own = clipped(&shape, unclipped(&shape, centre, u)), off = own - centre;
        double square = shape.half_q * own * own, above = u > 0 ? u : 0;
        a[p] = weight * own;
        value += weight * (own * u - square - 0.5 * shape.mu * off * off);
        loss += weight * (shape.half_q > 0 ? above * above : above);
        total += weight * (own - square);
    }
    return (struct rank_centred_loss){value, loss, total};
}

/* ---- all preferences ------------------------------------------------------------------------- */

static void load_scores(struct rank_multipliers *multipliers, const double *s) {
    for (size_t k = 0; k < multipliers->listed->n; k++) {
        multipliers->s[k] = s[multipliers->listed->row[k]];
    }
}

/* out (n_scores) = the sums of distinct rows, at the first of each. */
static void store_sums(const struct rank_multipliers *multipliers, double *out) {
    const struct rank_listed *listed = multipliers->listed;
    memset(out, 0, listed->n_scores * sizeof *out);
    for (size_t k = 0; k < listed->n; k++) {
        out[listed->row[k]] = multipliers->sum[k];
    }
}

struct rank_centred_loss rank_multipliers_evaluate(struct rank_multipliers *multipliers, double mu,
                                                   const double *s, double *g) {
    const struct rank_listed *listed = multipliers->listed;
    const struct shape shape = shape_of(multipliers, mu);
    double constant = multipliers->constant, *sum = multipliers->sum;
    struct rank_centred_loss all = {constant, constant, constant};
    struct run run;
    load_scores(multipliers, s);
    memset(sum, 0, listed->n * sizeof *sum);
    for (size_t j = 0; j < listed->n_hinges; j += run.n) {
        run = run_at(multipliers, j);
        struct rank_centred_loss own = evaluate_run(&run, shape, multipliers->s, multipliers->a);
        double sum_of_run = 0;
        for (size_t p = 0; p < run.n; p++) {
            sum[run.worse[p]] += multipliers->a[p];
            sum_of_run += multipliers->a[p];
        }
        sum[listed->better[j]] -= sum_of_run;
        all.value += own.value;
        all.loss += own.loss;
        all.total += own.total;
    }
    store_sums(multipliers, g);
    return all;
}

/* a (n_hinges) = a at scores s. */
static void fill(struct rank_multipliers *multipliers, double mu, const double *s, double *a) {
    const struct rank_listed *listed = multipliers->listed;
    const struct shape shape = shape_of(multipliers, mu);
    struct run run;
    load_scores(multipliers, s);
    for (size_t j = 0; j < listed->n_hinges; j += run.n) {
        run = run_at(multipliers, j);
        for (size_t p = 0; p < run.n; p++) {
            double u = slack_of(&run, multipliers->s, p);
            a[j + p] = clipped(&shape, unclipped(&shape, run.centre[p], u));
        }
    }
}

void rank_multipliers_recentre(struct rank_multipliers *multipliers, double mu, const double *s) {
    fill(multipliers, mu, s, multipliers->centre);
}

void rank_multipliers_store(struct rank_multipliers *multipliers, double mu, double cost,
                            const double *s) {
    const struct rank_listed *listed = multipliers->listed;
    fill(multipliers, mu, s, multipliers->alpha);
    for (size_t j = 0; j < listed->n_pairs; j++) {
        double of_equal = multipliers->squared ? 2 : 1;
        multipliers->alpha[j] =
            cost * listed->weight[j] * (j < listed->n_hinges ? multipliers->alpha[j] : of_equal);
    }
}

void rank_multipliers_set_region(struct rank_multipliers *multipliers, double mu, const double *s) {
    const struct rank_listed *listed = multipliers->listed;
    const struct shape shape = shape_of(multipliers, mu);
    struct run run;
    multipliers->n_region = 0;
    load_scores(multipliers, s);
    for (size_t j = 0; j < listed->n_hinges; j += run.n) {
        run = run_at(multipliers, j);
        for (size_t p = 0; p < run.n; p++) { /* without a branch: entries are overwritten */
            double a = unclipped(&shape, run.centre[p], slack_of(&run, multipliers->s, p));
            multipliers->region[multipliers->n_region] = (uint32_t)(j + p);
            multipliers->n_region += a > 0 && a < shape.max;
        }
    }
}

void rank_multipliers_apply(struct rank_multipliers *multipliers, const double *v, double *out) {
    const struct rank_listed *listed = multipliers->listed;
    double *sum = multipliers->sum;
    memset(sum, 0, listed->n * sizeof *sum);
    load_scores(multipliers, v);
    for (size_t r = 0; r < multipliers->n_region; r++) {
        size_t j = multipliers->region[r], one = listed->better[j], other = listed->worse[j];
        double flow = listed->weight[j] * (multipliers->s[one] - multipliers->s[other]);
        sum[one] += flow;
        sum[other] -= flow;
    }
    store_sums(multipliers, out);
}
