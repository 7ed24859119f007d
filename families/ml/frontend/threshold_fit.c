/* Fits thresholds to the scores of training rows: least squares by normal equations, O(n q^2 +
 * q^3), or by conjugate gradients, O(n q) per step; cuts of sorted scores, O(n q log(n q)). */
#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/linear_algebra/cholesky.h"
#include "families/ml/frontend/threshold.h"
#include "families/ml/solver/sort.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* relative to the mean diagonal entry; see threshold.h */
static const double RIDGE = 1e-6;

/* Up to DIRECT_LABELS labels the normal equations are factored (33 MB). Beyond, conjugate gradients
 * stop at the relative residual RESIDUAL or after MAX_STEPS. The deadline is checked every
 * CLOCK_ROWS rows. */
enum { DIRECT_LABELS = 2048, MAX_STEPS = 200, CLOCK_ROWS = 256 };
static const double RESIDUAL = 1e-6;

/* ---- segments ---- */

/* The midpoint between list[at - 1] and list[at], of n scores in descending order. */
static double middle(const struct ml_sort *list, uint32_t n, uint32_t at) {
    if (at == 0) {
        return list[0].key + 1;
    }
    return at == n ? list[n - 1].key - 1 : 0.5 * (list[at - 1].key + list[at].key);
}

/* A score, its row's weight, and whether its label is relevant. */
struct labelled {
    double score, weight;
    bool is_relevant;
};

/* The best cut of the scores: the number of scores before it in descending order. `wrong`:
 * minimises the labels on the wrong side; otherwise maximises F1. Of equal cuts the last, which is
 * lowest. */
static uint32_t best_cut(const struct ml_sort *list, uint32_t n, const struct labelled *labelled,
                         bool wrong) {
    double n_relevant = 0, true_positives = 0, chosen = 0, best = -INFINITY;
    uint32_t best_at = 0;
    for (uint32_t i = 0; i < n; i++) {
        n_relevant += labelled[i].is_relevant ? labelled[i].weight : 0;
    }
    for (uint32_t at = 0; at <= n; at++) {
        bool cuts = at == 0 || at == n || list[at - 1].key > list[at].key;
        double value = wrong ? 2 * true_positives - chosen - n_relevant
                             : 2 * true_positives / (chosen + n_relevant);
        if (cuts && value >= best) {
            best = value;
            best_at = at;
        }
        if (at < n) {
            const struct labelled *next = &labelled[list[at].index];
            chosen += next->weight;
            true_positives += next->is_relevant ? next->weight : 0;
        }
    }
    return best_at;
}

/* Number of scores >= level, and the largest of the others; -INFINITY if there is none. */
static uint32_t count_from(const double *s, uint32_t q, double level, double *below) {
    uint32_t n = 0;
    *below = -INFINITY;
    for (uint32_t k = 0; k < q; k++) {
        n += s[k] >= level;
        *below = s[k] < level && s[k] > *below ? s[k] : *below;
    }
    return n;
}

/* The best cut is above all scores or directly below the score of a relevant label. Counting the
 * scores above each of these costs less than sorting all labels. */
double ml_threshold_target(const double *s, uint32_t q, const uint32_t *relevant,
                           uint32_t n_relevant, struct ml_sort *list, struct ml_sort *merge) {
    double least_wrong = n_relevant, below, highest = s[0];
    for (uint32_t k = 1; k < q; k++) {
        highest = s[k] > highest ? s[k] : highest;
    }
    double target = highest + 1;
    for (uint32_t p = 0; p < n_relevant; p++) {
        list[p] = (struct ml_sort){s[relevant[p]], relevant[p]};
    }
    ml_sort(list, n_relevant, merge);
    for (uint32_t p = 0; p < n_relevant; p++) {
        if (p + 1 < n_relevant && list[p + 1].key == list[p].key) {
            continue;
        }
        uint32_t chosen = count_from(s, q, list[p].key, &below);
        double wrong = (double)chosen + n_relevant - 2 * ((double)p + 1);
        if (wrong <= least_wrong) { /* of equals the lowest */
            least_wrong = wrong;
            target = chosen == q ? list[p].key - 1 : 0.5 * (list[p].key + below);
        }
    }
    return target;
}

/* ---- fits ---- */

/* Data and work space of a fit. */
struct work {
    const struct ml_rows *rows;
    const double *scores;
    struct cluster *cluster;
    double n_total; /* rows of all processes, times their weights */
    const struct monitor *monitor;
    bool late;                    /* the deadline has passed */
    bool *is_relevant;            /* (n_all, q); NULL for ew */
    struct ml_sort *list, *merge; /* (q) */
};

static bool has_scores(const struct work *work) {
    bool has = false;
    for (size_t j = 0; !has && j < work->rows->n_all * work->rows->q; j++) {
        has = work->scores[j] != 0;
    }
    return cluster_any(work->cluster, has);
}

static double weight_of(const struct work *work, size_t i) {
    return work->rows->weight ? work->rows->weight[i] : 1;
}

/* The scores of rows times the roots of their weights; the caller frees them. NULL: an error. */
static double *weigh_scores(const struct work *work, struct error *err) {
    size_t q = work->rows->q, n = work->rows->n_all;
    double *weighted = memory_array(n, q * sizeof *weighted, "scores", err);
    for (size_t i = 0; weighted && i < n; i++) {
        double root = sqrt(weight_of(work, i));
        for (size_t k = 0; k < q; k++) {
            weighted[i * q + k] = root * work->scores[i * q + k];
        }
    }
    return weighted;
}

/* Cholesky factor, in A (q, q), of the products of the centred scores. scores: of weigh_scores, or
 * the work's. */
static bool factor_scores(const struct work *work, const double *scores, const double *mean,
                          double *A) {
    size_t q = work->rows->q, n = work->rows->n_all;
    double trace = 0;
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)q, (int)n, 1, scores, (int)q, 0, A,
                (int)q);
    cluster_sum(work->cluster, A, q * q);
    for (size_t k = 0; k < q; k++) {
        for (size_t l = 0; l <= k; l++) {
            A[k * q + l] -= work->n_total * mean[k] * mean[l];
        }
        trace += A[k * q + k];
    }
    for (size_t k = 0; k < q; k++) {
        A[k * q + k] += RIDGE * trace / (double)q + 1e-300;
    }
    return cholesky_factor(A, q) == 0;
}

/* The matrix of factor_scores as an operator, for conjugate gradients. */
struct normal {
    const struct work *work;
    const double *mean; /* (q) */
    double ridge;
    double *diagonal;               /* (q) */
    double *x, *r, *z, *p, *Ap, *y; /* (q) each; y (n_all) */
};

static void set_diagonal(struct normal *normal) {
    const struct work *work = normal->work;
    size_t q = work->rows->q;
    double trace = 0;
    memset(normal->diagonal, 0, q * sizeof *normal->diagonal);
    for (size_t i = 0; i < work->rows->n_all; i++) {
        for (size_t k = 0; k < q; k++) {
            double off = work->scores[i * q + k] - normal->mean[k];
            normal->diagonal[k] += weight_of(work, i) * off * off;
        }
    }
    cluster_sum(work->cluster, normal->diagonal, q);
    for (size_t k = 0; k < q; k++) {
        trace += normal->diagonal[k];
    }
    normal->ridge = RIDGE * trace / (double)q + 1e-300;
    for (size_t k = 0; k < q; k++) {
        normal->diagonal[k] += normal->ridge;
    }
}

/* Ap = matrix times p. */
static void apply(const struct normal *normal) {
    const struct work *work = normal->work;
    int q = (int)work->rows->q, n = (int)work->rows->n_all;
    double offset = cblas_ddot(q, normal->mean, 1, normal->p, 1), sum = 0;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, q, 1, work->scores, q, normal->p, 1, 0, normal->y,
                1);
    for (int i = 0; i < n; i++) {
        normal->y[i] = weight_of(work, (size_t)i) * (normal->y[i] - offset);
        sum += normal->y[i];
    }
    cblas_dgemv(CblasRowMajor, CblasTrans, n, q, 1, work->scores, q, normal->y, 1, 0, normal->Ap,
                1);
    cblas_daxpy(q, -sum, normal->mean, 1, normal->Ap, 1);
    cluster_sum(work->cluster, normal->Ap, (size_t)q);
    cblas_daxpy(q, normal->ridge, normal->p, 1, normal->Ap, 1);
}

/* Conjugate gradients with a diagonal preconditioner, started at 0. r is the right-hand side, x the
 * solution. */
static void iterate(struct normal *normal, bool *late) {
    size_t q = normal->work->rows->q;
    double first = 0, last = 0;
    memset(normal->x, 0, q * sizeof *normal->x);
    for (int step = 0; step <= MAX_STEPS; step++) {
        for (size_t k = 0; k < q; k++) {
            normal->z[k] = normal->r[k] / normal->diagonal[k];
        }
        double rz = array_dot(normal->r, normal->z, q);
        first = step == 0 ? rz : first;
        if (!(rz > RESIDUAL * RESIDUAL * first) || step == MAX_STEPS) {
            return;
        }
        for (size_t k = 0; k < q; k++) {
            normal->p[k] = normal->z[k] + (step > 0 ? rz / last * normal->p[k] : 0);
        }
        last = rz;
        *late = monitor_past_deadline(normal->work->monitor);
        if (*late) {
            return;
        }
        apply(normal);
        double length = rz / array_dot(normal->p, normal->Ap, q);
        array_add(normal->x, length, normal->p, q);
        array_add(normal->r, -length, normal->Ap, q);
    }
}

/* Replaces value (q), the right-hand side, by the solution of the normal equations. */
static int solve_iteratively(struct work *work, const double *mean, double *value,
                             struct error *err) {
    size_t q = work->rows->q;
    double *work_array =
        memory_array(5 * q + work->rows->n_all, sizeof *work_array, "a least-squares fit", err);
    if (!work_array) {
        return -1;
    }
    double *r = work_array, *z = r + q, *p = z + q, *Ap = p + q, *diagonal = Ap + q,
           *y = diagonal + q;
    struct normal normal = {work, mean, 0, diagonal, value, r, z, p, Ap, y};
    memcpy(r, value, q * sizeof *r);
    set_diagonal(&normal);
    iterate(&normal, &work->late);
    free(work_array);
    return 0;
}

/* The same by a Cholesky factor; 0 if rounding prevents one. */
static int solve_directly(const struct work *work, const double *mean, double *value,
                          struct error *err) {
    size_t q = work->rows->q;
    double *A = memory_zeros(q, q * sizeof *A, "a least-squares fit", err);
    double *weighted = A && work->rows->weight ? weigh_scores(work, err) : NULL;
    if (!A || (work->rows->weight && !weighted)) {
        free(A);
        return -1;
    }
    if (factor_scores(work, weighted ? weighted : work->scores, mean, A)) {
        cholesky_solve(A, q, value);
    } else {
        memset(value, 0, q * sizeof *value);
    }
    free(weighted);
    free(A);
    return 0;
}

/* Least squares t = w's + constant for targets (n_all), with centred scores. */
static int least_squares(struct work *work, const double *target, double *value,
                         struct error *err) {
    size_t q = work->rows->q, n = work->rows->n_all;
    double *mean = memory_zeros(q, sizeof *mean, "a least-squares fit", err);
    if (!mean) {
        return -1;
    }
    double target_mean = 0, constant;
    for (size_t i = 0; i < n; i++) {
        double weight = weight_of(work, i);
        array_add(mean, weight / work->n_total, work->scores + i * q, q);
        target_mean += weight * target[i] / work->n_total;
    }
    cluster_sum(work->cluster, mean, q);
    target_mean = cluster_total(work->cluster, target_mean);
    memset(value, 0, q * sizeof *value);
    for (size_t i = 0; i < n; i++) {
        array_add(value, weight_of(work, i) * (target[i] - target_mean), work->scores + i * q, q);
    }
    cluster_sum(work->cluster, value, q);
    int status = 0;
    if (has_scores(work)) {
        status = (q > DIRECT_LABELS ? solve_iteratively(work, mean, value, err)
                                    : solve_directly(work, mean, value, err));
    } else { /* all scores are 0 */
        memset(value, 0, q * sizeof *value);
    }
    constant = target_mean;
    for (size_t k = 0; k < q; k++) {
        constant -= value[k] * mean[k];
    }
    value[q] = constant;
    free(mean);
    return status;
}

static int fit_ew(struct work *work, double *value, struct error *err) {
    const struct ml_rows *rows = work->rows;
    size_t q = rows->q, n = rows->n_all;
    double *target = memory_array(n, sizeof *target, "targets", err);
    if (!target) {
        return -1;
    }
    for (size_t i = 0; i < n && !work->late; i++) {
        work->late = i % CLOCK_ROWS == 0 && !work->cluster && monitor_past_deadline(work->monitor);
        const uint32_t *relevant = rows->relevant + rows->start[i];
        target[i] = ml_threshold_target(work->scores + i * q, (uint32_t)q, relevant,
                                        (uint32_t)(rows->start[i + 1] - rows->start[i]), work->list,
                                        work->merge);
    }
    int status = work->late ? 0 : least_squares(work, target, value, err);
    free(target);
    return status;
}

/* The cut of n labelled scores together with those of other processes. */
static int fit_cut(const struct work *work, const struct labelled *own, size_t n, bool wrong,
                   double *value, struct error *err) {
    char *bytes = NULL;
    size_t *start = memory_array(cluster_size(work->cluster) + 1, sizeof *start, "scores", err);
    if (!start || cluster_allgather(work->cluster, own, n * sizeof *own, &bytes, start, err) < 0) {
        free(start);
        return -1;
    }
    size_t all = start[cluster_size(work->cluster)] / sizeof *own;
    const struct labelled *labelled = (const void *)bytes;
    struct ml_sort *list = memory_array(all, 2 * sizeof *list, "scores", err);
    int status = list ? 0 : -1;
    for (size_t i = 0; status == 0 && i < all; i++) {
        list[i] = (struct ml_sort){labelled[i].score, (uint32_t)i};
    }
    if (status == 0) {
        ml_sort(list, (uint32_t)all, list + all);
        *value = middle(list, (uint32_t)all, best_cut(list, (uint32_t)all, labelled, wrong));
    }
    free(start);
    free(bytes);
    free(list);
    return status;
}

static int fit_scut(const struct work *work, double *value, struct error *err) {
    size_t q = work->rows->q, n = work->rows->n_all;
    struct labelled *column = memory_array(n, sizeof *column, "scores", err);
    int status = column ? 0 : -1;
    for (size_t k = 0; status == 0 && k < q; k++) {
        for (size_t i = 0; i < n; i++) {
            column[i] = (struct labelled){work->scores[i * q + k], weight_of(work, i),
                                          work->is_relevant[i * q + k]};
        }
        status = fit_cut(work, column, n, false, &value[k], err);
    }
    free(column);
    return status;
}

static int fit_global(const struct work *work, double *value, struct error *err) {
    size_t n = work->rows->n_all * work->rows->q;
    struct labelled *own = memory_array(n, sizeof *own, "scores", err);
    for (size_t i = 0; own && i < n; i++) {
        own[i] = (struct labelled){work->scores[i], weight_of(work, i / work->rows->q),
                                   work->is_relevant[i]};
    }
    int status = own ? fit_cut(work, own, n, true, value, err) : -1;
    free(own);
    return status;
}

static int fit(struct ml_threshold *threshold, struct work *work, struct error *err) {
    const struct ml_rows *rows = work->rows;
    if (threshold->kind == ML_EW) {
        return fit_ew(work, threshold->value, err);
    }
    work->is_relevant = memory_zeros(rows->n_all, rows->q * sizeof(bool), "label sets", err);
    if (!work->is_relevant) {
        return -1;
    }
    for (size_t i = 0; i < rows->n_all; i++) {
        for (uint64_t at = rows->start[i]; at < rows->start[i + 1]; at++) {
            work->is_relevant[i * rows->q + rows->relevant[at]] = true;
        }
    }
    return (threshold->kind == ML_SCUT ? fit_scut : fit_global)(work, threshold->value, err);
}

int ml_threshold_fit(struct ml_threshold *threshold, const struct ml_rows *rows,
                     const double *scores, const struct monitor *monitor, bool *late,
                     struct error *err) {
    *late = false;
    threshold->q = rows->q;
    threshold->n = ml_threshold_count(threshold);
    if (threshold->n == 0) {
        return 0;
    }
    size_t n_rows = cluster_count(rows->cluster, rows->n_all);
    size_t n_scores = threshold->kind == ML_GLOBAL ? n_rows * rows->q : n_rows;
    if (n_scores > UINT32_MAX) {
        return error_set(err, ERROR_RUNTIME, "threshold: more than %lu scores",
                         (unsigned long)UINT32_MAX);
    }
    struct work work = {.rows = rows,
                        .scores = scores,
                        .cluster = rows->cluster,
                        .n_total = (double)n_rows,
                        .monitor = monitor,
                        .late = monitor_past_deadline(monitor),
                        .list = memory_array(rows->q, sizeof(struct ml_sort), "scores", err),
                        .merge = memory_array(rows->q, sizeof(struct ml_sort), "scores", err)};
    if (rows->weight) {
        double own = 0;
        for (size_t i = 0; i < rows->n_all; i++) {
            own += rows->weight[i];
        }
        work.n_total = cluster_total(rows->cluster, own);
    }
    threshold->value = memory_zeros(threshold->n, sizeof(double), "a threshold", err);
    int status = -1;
    if (work.list && work.merge && threshold->value) {
        status = work.late ? 0 : fit(threshold, &work, err);
        *late = work.late;
    }
    free(work.is_relevant);
    free(work.list);
    free(work.merge);
    if (status < 0) {
        ml_threshold_free(threshold);
    }
    return status;
}
