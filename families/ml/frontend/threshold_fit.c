/* Fits thresholds to the scores of training rows: least squares by normal equations, O(n q^2 +
 * q^3), or by conjugate gradients, O(n q) per step; cuts of sorted scores, O(n q log(n q)). */
#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/dispatch.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/cholesky.h"
#include "families/ml/frontend/threshold.h"
#include "families/ml/solver/sort.h"

#include <cblas.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* relative to the mean diagonal entry; see threshold.h */
static const double RIDGE = 1e-6;

/* Up to DIRECT_LABELS labels the normal equations are factored (33 MB). Beyond, conjugate gradients
 * stop at the relative residual RESIDUAL or after MAX_STEPS. Sums over rows are those of at most
 * TASKS parts with TASK_ROWS rows or more. The deadline is checked every CLOCK_ROWS rows. */
enum { DIRECT_LABELS = 2048, MAX_STEPS = 50, TASKS = 64, TASK_ROWS = 128, CLOCK_ROWS = 256 };
static const double RESIDUAL = 5e-3;

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
DISPATCH static uint32_t count_from(const double *s, uint32_t q, double level, double *below) {
    double n = 0, largest = -INFINITY;
#pragma omp simd reduction(+ : n) reduction(max : largest)
    for (uint32_t k = 0; k < q; k++) {
        double other = s[k] >= level ? -INFINITY : s[k];
        n += s[k] >= level ? 1 : 0;
        largest = other > largest ? other : largest;
    }
    *below = largest;
    return (uint32_t)n;
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
    struct threads *threads;
    double n_total; /* rows of all processes, times their weights */
    const struct monitor *monitor;
    bool late;         /* the deadline has passed */
    bool *is_relevant; /* (n_all, q); NULL for ew */
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

/* Adds to sums what the row i with scores s (q) contributes. */
typedef void add_row(const void *context, const double *s, size_t i, double *sums);

/* Sums over the rows: that of each task, and then of all in order, for any number of threads. */
struct row_sums {
    const struct work *work;
    add_row *add;
    const void *context;
    size_t m, rows; /* length of the sums; rows of a task */
    double *parts;  /* (tasks, m) */
};

static void sum_task(void *argument, size_t task, size_t worker) {
    const struct row_sums *sums = argument;
    const struct work *work = sums->work;
    size_t first = task * sums->rows, end = smaller(first + sums->rows, work->rows->n_all);
    (void)worker;
    for (size_t i = first; i < end; i++) {
        sums->add(sums->context, work->scores + i * work->rows->q, i, sums->parts + task * sums->m);
    }
}

/* out (m) = the sum of what `add` adds for each row of all processes. */
static int sum_rows(const struct work *work, add_row *add, const void *context, size_t m,
                    double *out, struct error *err) {
    size_t n = work->rows->n_all, rows = larger((n + TASKS - 1) / TASKS, TASK_ROWS);
    size_t tasks = (n + rows - 1) / rows;
    struct row_sums sums = {.work = work,
                            .add = add,
                            .context = context,
                            .m = m,
                            .rows = rows,
                            .parts = memory_zeros(tasks, m * sizeof *out, "sums of rows", err)};
    if (!sums.parts) {
        return -1;
    }
    threads_run(work->threads, tasks, sum_task, &sums);
    memset(out, 0, m * sizeof *out);
    for (size_t task = 0; task < tasks; task++) {
        array_add(out, 1, sums.parts + task * m, m);
    }
    free(sums.parts);
    cluster_sum(work->cluster, out, m);
    return 0;
}

/* The matrix of factor_scores as an operator, for conjugate gradients. */
struct normal {
    const struct work *work;
    const double *mean; /* (q) */
    double ridge, offset;
    double *diagonal;           /* (q) */
    double *x, *r, *z, *p, *Ap; /* (q) each; Ap (q + 1) */
};

static void add_squares(const void *context, const double *s, size_t i, double *sums) {
    const struct normal *normal = context;
    double weight = weight_of(normal->work, i);
    for (size_t k = 0; k < normal->work->rows->q; k++) {
        double off = s[k] - normal->mean[k];
        sums[k] += weight * off * off;
    }
}

static int set_diagonal(struct normal *normal, struct error *err) {
    size_t q = normal->work->rows->q;
    double trace = 0;
    if (sum_rows(normal->work, add_squares, normal, q, normal->diagonal, err) < 0) {
        return -1;
    }
    for (size_t k = 0; k < q; k++) {
        trace += normal->diagonal[k];
    }
    normal->ridge = RIDGE * trace / (double)q + 1e-300;
    for (size_t k = 0; k < q; k++) {
        normal->diagonal[k] += normal->ridge;
    }
    return 0;
}

/* The product of the row with p, times the row; and, last, the products. */
static void add_product(const void *context, const double *s, size_t i, double *sums) {
    const struct normal *normal = context;
    size_t q = normal->work->rows->q;
    double y = weight_of(normal->work, i) * (array_dot(s, normal->p, q) - normal->offset);
    array_add(sums, y, s, q);
    sums[q] += y;
}

/* Ap = matrix times p. The scores are read once. */
static int apply(struct normal *normal, struct error *err) {
    size_t q = normal->work->rows->q;
    normal->offset = array_dot(normal->mean, normal->p, q);
    if (sum_rows(normal->work, add_product, normal, q + 1, normal->Ap, err) < 0) {
        return -1;
    }
    array_add(normal->Ap, -normal->Ap[q], normal->mean, q);
    array_add(normal->Ap, normal->ridge, normal->p, q);
    return 0;
}

/* Conjugate gradients with a diagonal preconditioner, started at 0. r is the right-hand side, x the
 * solution. */
static int iterate(struct normal *normal, bool *late, struct error *err) {
    size_t q = normal->work->rows->q;
    double first = 0, last = 0;
    memset(normal->x, 0, q * sizeof *normal->x);
    for (int step = 0; step < MAX_STEPS; step++) {
        for (size_t k = 0; k < q; k++) {
            normal->z[k] = normal->r[k] / normal->diagonal[k];
        }
        double rz = array_dot(normal->r, normal->z, q);
        first = step == 0 ? rz : first;
        if (!(rz > RESIDUAL * RESIDUAL * first)) {
            break;
        }
        for (size_t k = 0; k < q; k++) {
            normal->p[k] = normal->z[k] + (step > 0 ? rz / last * normal->p[k] : 0);
        }
        last = rz;
        *late = monitor_past_deadline(normal->work->monitor);
        if (*late) {
            break;
        }
        if (apply(normal, err) < 0) {
            return -1;
        }
        double length = rz / array_dot(normal->p, normal->Ap, q);
        array_add(normal->x, length, normal->p, q);
        array_add(normal->r, -length, normal->Ap, q);
    }
    return 0;
}

/* Replaces value (q), the right-hand side, by the solution of the normal equations. */
static int solve_iteratively(struct work *work, const double *mean, double *value,
                             struct error *err) {
    size_t q = work->rows->q;
    double *r = memory_array(5 * q + 1, sizeof *r, "a least-squares fit", err);
    if (!r) {
        return -1;
    }
    struct normal normal = {.work = work,
                            .mean = mean,
                            .x = value,
                            .r = r,
                            .z = r + q,
                            .p = r + 2 * q,
                            .diagonal = r + 3 * q,
                            .Ap = r + 4 * q};
    memcpy(r, value, q * sizeof *r);
    int status = set_diagonal(&normal, err);
    status = status < 0 ? -1 : iterate(&normal, &work->late, err);
    free(r);
    return status;
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

/* The context of add_moments. */
struct moments {
    const struct work *work;
    const double *target; /* (n_all) */
    double target_mean;
};

/* The row, and times its centred target. */
static void add_moments(const void *context, const double *s, size_t i, double *sums) {
    const struct moments *moments = context;
    size_t q = moments->work->rows->q;
    double weight = weight_of(moments->work, i);
    array_add(sums, weight / moments->work->n_total, s, q);
    array_add(sums + q, weight * (moments->target[i] - moments->target_mean), s, q);
}

/* Least squares t = w's + constant for targets (n_all), with centred scores. */
static int least_squares(struct work *work, const double *target, double *value,
                         struct error *err) {
    size_t q = work->rows->q, n = work->rows->n_all;
    double *mean = memory_array(q, 2 * sizeof *mean, "a least-squares fit", err);
    double target_mean = 0, constant;
    for (size_t i = 0; i < n; i++) {
        target_mean += weight_of(work, i) * target[i] / work->n_total;
    }
    target_mean = cluster_total(work->cluster, target_mean);
    const struct moments moments = {work, target, target_mean};
    if (!mean || sum_rows(work, add_moments, &moments, 2 * q, mean, err) < 0) {
        free(mean);
        return -1;
    }
    memcpy(value, mean + q, q * sizeof *value);
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

/* The targets of ew, in tasks of CLOCK_ROWS rows. */
struct targets {
    const struct work *work;
    double *target;       /* (n_all) */
    struct ml_sort *list; /* (workers, 2, q) work */
    atomic_bool late;     /* the deadline has passed: some targets are missing */
};

static void target_task(void *argument, size_t task, size_t worker) {
    struct targets *targets = argument;
    const struct work *work = targets->work;
    const struct ml_rows *rows = work->rows;
    size_t q = rows->q, end = smaller((task + 1) * CLOCK_ROWS, rows->n_all);
    struct ml_sort *list = targets->list + 2 * q * worker;
    if (!work->cluster && monitor_past_deadline(work->monitor)) {
        atomic_store(&targets->late, true);
    }
    for (size_t i = task * CLOCK_ROWS; i < end && !atomic_load(&targets->late); i++) {
        uint32_t n_relevant = (uint32_t)(rows->start[i + 1] - rows->start[i]);
        targets->target[i] =
            ml_threshold_target(work->scores + i * q, (uint32_t)q, rows->relevant + rows->start[i],
                                n_relevant, list, list + q);
    }
}

static int fit_ew(struct work *work, double *value, struct error *err) {
    size_t q = work->rows->q, n = work->rows->n_all, workers = threads_count(work->threads);
    struct targets targets = {.work = work};
    void *block = ARRAYS_CREATE("targets", err, ARRAYS(n, double, &targets.target),
                                ARRAYS(workers * 2 * q, struct ml_sort, &targets.list));
    if (!block) {
        return -1;
    }
    threads_run(work->threads, (n + CLOCK_ROWS - 1) / CLOCK_ROWS, target_task, &targets);
    work->late = atomic_load(&targets.late);
    int status = work->late ? 0 : least_squares(work, targets.target, value, err);
    free(block);
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
        ml_sort(list, all, list + all);
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
                     const double *scores, struct threads *threads, const struct monitor *monitor,
                     bool *late, struct error *err) {
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
                        .threads = threads,
                        .n_total = (double)n_rows,
                        .monitor = monitor,
                        .late = monitor_past_deadline(monitor)};
    if (rows->weight) {
        double own = 0;
        for (size_t i = 0; i < rows->n_all; i++) {
            own += rows->weight[i];
        }
        work.n_total = cluster_total(rows->cluster, own);
    }
    threshold->value = memory_zeros(threshold->n, sizeof(double), "a threshold", err);
    int status = -1;
    if (threshold->value) {
        status = work.late ? 0 : fit(threshold, &work, err);
        *late = work.late;
    }
    free(work.is_relevant);
    if (status < 0) {
        ml_threshold_free(threshold);
    }
    return status;
}
