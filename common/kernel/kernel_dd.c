/* Scores of a kernel expansion in double-double; a task is a block of rows.
 *
 * Values of features are floats: products of two are exact in double, and differences are exact as
 * sums of two doubles. Their sums over the features are LANES running sums, each with a
 * compensation that sums the rounding errors: a sum of m terms is within (m u)^2 of the sum of the
 * magnitudes, u = 2^-53 (Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM J. Scientific
 * Computing 26, 2005, Sum2 and Dot2). Distances are sums of differences, without cancellation
 * however large the features are. All else is arithmetic of dd.h, with relative errors of at most
 * 2^-100, in loops over the values of a row.
 *
 * Cost: n m d double-double operations for n rows, m rows with coefficients and d features.
 *
 * Compiled without contraction, see dd.h. */
#include "common/kernel/kernel_dd.h"

#include "common/base/dispatch.h"
#include "common/base/memory.h"
#include "common/double_double/dd.h"
#include "common/kernel/table.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = VECTOR_BYTES / sizeof(double), ROWS = 16, COLUMNS = 128, TERMS = 8 };

/* ---- sums over features ---- */

typedef double lanes __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t masks __attribute__((vector_size(VECTOR_BYTES)));
typedef float floats __attribute__((vector_size(VECTOR_BYTES / 2)));

struct running {
    lanes sum, error;
};

/* Adds p + e, where e is small compared to p. Vectors are passed by pointer: by value they would
 * have another ABI without AVX-512. */
static inline __attribute__((always_inline)) void add(struct running *r, const lanes *p,
                                                      const lanes *e) {
    lanes s = r->sum + *p, v = s - r->sum;
    r->error += ((r->sum - (s - v)) + (*p - v)) + *e;
    r->sum = s;
}

static inline __attribute__((always_inline)) void load(const float *from, lanes *to) {
    floats f;
    memcpy(&f, from, sizeof f);
    *to = __builtin_convertvector(f, lanes);
}

/* The terms that are summed over the features of two rows. */
enum sum { PRODUCTS, MINIMA, SQUARES, ABSOLUTES };

/* Adds the terms of LANES features of two rows. */
static inline __attribute__((always_inline)) void
add_features(enum sum kind, const float *u_at, const float *v_at, struct running *r) {
    const lanes none = {0};
    lanes u, v, term, rest;
    load(u_at, &u);
    load(v_at, &v);
    if (kind == PRODUCTS) {
        term = u * v;
        add(r, &term, &none);
    } else if (kind == MINIMA) {
        for (size_t l = 0; l < LANES; l++) { /* gcc's clones cannot select between vectors */
            term[l] = u[l] < v[l] ? u[l] : v[l];
        }
        add(r, &term, &none);
    } else {
        lanes t = u - v, w = t - u, e = (u - (t - w)) - (v + w); /* t + e = u - v */
        masks sign = (masks)t & INT64_MIN;
        if (kind == ABSOLUTES) {
            term = (lanes)((masks)t ^ sign);
            rest = (lanes)((masks)e ^ sign);
            add(r, &term, &rest);
        } else { /* t = high + low, of 26 and 27 bits: all products are exact but low * low */
            lanes high = (lanes)((masks)t & ~(int64_t)0x7ffffff), low = t - high;
            term = high * high;
            rest = low * low + 2 * t * e;
            add(r, &term, &rest);
            term = 2 * high * low;
            add(r, &term, &none);
        }
    }
}

/* The sum over n features, a multiple of LANES. */
static inline __attribute__((always_inline)) struct dd sum_features(enum sum kind, const float *u,
                                                                    const float *v, size_t n) {
    struct running r = {{0}, {0}};
    for (size_t k = 0; k < n; k += LANES) {
        add_features(kind, u + k, v + k, &r);
    }
    struct dd sum = {0, 0};
    for (size_t l = 0; l < LANES; l++) {
        sum = dd_add(sum, dd_two_sum(r.sum[l], r.error[l]));
    }
    return sum;
}

DISPATCH static struct dd sum_products(const float *u, const float *v, size_t n) {
    return sum_features(PRODUCTS, u, v, n);
}

DISPATCH static struct dd sum_minima(const float *u, const float *v, size_t n) {
    return sum_features(MINIMA, u, v, n);
}

DISPATCH static struct dd sum_squares(const float *u, const float *v, size_t n) {
    return sum_features(SQUARES, u, v, n);
}

DISPATCH static struct dd sum_absolutes(const float *u, const float *v, size_t n) {
    return sum_features(ABSOLUTES, u, v, n);
}

/* ---- values of sums ---- */

/* ln 2 and 1/k, to 106 bits. */
static const struct dd LN2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
static const struct dd THIRD = {0x1.5555555555555p-2, 0x1.5555555555555p-56};
static const struct dd FIFTH = {0x1.999999999999ap-3, -0x1.999999999999ap-57};

static inline struct dd scaled(struct dd a, double power_of_two) {
    return (struct dd){a.hi * power_of_two, a.lo * power_of_two};
}

/* x (1 + sum) */
static inline struct dd horner(struct dd x, struct dd sum) {
    return dd_multiply(x, dd_add((struct dd){1, 0}, sum));
}

/* exp(a), -700 < a <= 0, with a relative error of at most 2^-90: a = n ln 2 + 64 x, |x| < 0.0055;
 * exp(x) - 1 by the Taylor series up to x^11, of which terms from x^6 on are below 2^-47 of the
 * first and are summed in double; then doubled six times by e -> 2 e + e^2. */
static inline struct dd exponential(struct dd a) {
    const double log2_e = 0x1.71547652b82fep+0, round = 0x1.8p52;
    double n = (a.hi * log2_e + round) - round;
    struct dd x = dd_add(a, dd_negative(dd_multiply(LN2, (struct dd){n, 0})));
    x = scaled(x, 0x1p-6);
    double t = x.hi, tail = 0;
    tail = t * (1 / 11.) * (1 + tail);
    tail = t * (1 / 10.) * (1 + tail);
    tail = t * (1 / 9.) * (1 + tail);
    tail = t * (1 / 8.) * (1 + tail);
    tail = t * (1 / 7.) * (1 + tail);
    tail = t * (1 / 6.) * (1 + tail);
    struct dd e = horner(dd_multiply(x, FIFTH), (struct dd){tail, 0});
    e = horner(scaled(x, 0.25), e);
    e = horner(dd_multiply(x, THIRD), e);
    e = horner(scaled(x, 0.5), e);
    e = horner(x, e);
    for (int k = 0; k < 6; k++) {
        e = dd_add(scaled(e, 2), dd_multiply(e, e));
    }
    uint64_t bits = (uint64_t)((int64_t)n + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return scaled(dd_add((struct dd){1, 0}, e), power);
}

/* exp(-t), t >= 0; 0 if it is below 10^-304. */
static inline struct dd decay_of(struct dd t) {
    const double far = 699;
    struct dd e = exponential((struct dd){t.hi < far ? -t.hi : -far, t.hi < far ? -t.lo : 0});
    return (struct dd){t.hi < far ? e.hi : 0, t.hi < far ? e.lo : 0};
}

static inline struct dd times(double a, struct dd b) {
    return dd_multiply((struct dd){a, 0}, b);
}

/* Values of sums or distances of a row x and n rows z. */
struct row_values {
    const struct kernel *kernel;
    struct dd x_norm;
    const struct dd *z_norm; /* (n) */
    size_t n;
    struct dd *value; /* (n) in: the sums; out: the kernel values */
};

DISPATCH static void power_values(const struct row_values *row) {
    const struct kernel *kernel = row->kernel;
    for (size_t c = 0; c < row->n; c++) {
        struct dd base = dd_add(times(kernel->gamma, row->value[c]), (struct dd){kernel->coef0, 0});
        struct dd power = {1, 0};
        for (int d = kernel->degree; d > 0; d >>= 1) {
            power = d & 1 ? dd_multiply(power, base) : power;
            base = d > 1 ? dd_multiply(base, base) : base;
        }
        row->value[c] = power;
    }
}

DISPATCH static void decay_values(const struct row_values *row) {
    for (size_t c = 0; c < row->n; c++) {
        row->value[c] = decay_of(times(row->kernel->gamma, row->value[c]));
    }
}

/* (1 - e) / (1 + e), e = exp(-2 |u|) */
DISPATCH static void tanh_values(const struct row_values *row) {
    const struct dd one = {1, 0};
    const struct kernel *kernel = row->kernel;
    for (size_t c = 0; c < row->n; c++) {
        struct dd u = dd_add(times(kernel->gamma, row->value[c]), (struct dd){kernel->coef0, 0});
        bool below = u.hi < 0;
        struct dd e = decay_of(scaled(below ? dd_negative(u) : u, 2));
        struct dd t = dd_divide(dd_add(one, dd_negative(e)), dd_add(one, e));
        row->value[c] = below ? dd_negative(t) : t;
    }
}

DISPATCH static void ratio_values(const struct row_values *row) {
    for (size_t c = 0; c < row->n; c++) {
        struct dd both = dd_add(row->x_norm, row->z_norm[c]);
        struct dd ratio = dd_divide(row->value[c], dd_add(both, dd_negative(row->value[c])));
        row->value[c] = both.hi > 0 ? ratio : (struct dd){1, 0};
    }
}

DISPATCH static void inverse_values(const struct row_values *row) {
    const struct dd one = {1, 0};
    for (size_t c = 0; c < row->n; c++) {
        row->value[c] = dd_divide(one, dd_add(one, times(row->kernel->gamma, row->value[c])));
    }
}

static void apply_function(enum kernel_function function, const struct row_values *row) {
    switch (function) {
    case FUNCTION_PLAIN:
        return;
    case FUNCTION_POWER:
        power_values(row);
        return;
    case FUNCTION_DECAY:
        decay_values(row);
        return;
    case FUNCTION_INVERSE:
        inverse_values(row);
        return;
    case FUNCTION_TANH:
        tanh_values(row);
        return;
    case FUNCTION_RATIO:
        ratio_values(row);
        return;
    }
}

/* ---- rows ---- */

/* The rows, and how their kernel values are computed. */
struct evaluation {
    const struct kernel_rows *rows;
    enum sum kind;
    enum kernel_function function;
    size_t width;    /* size of a buffer: the maximum number of features of two rows together, a
                  multiple of LANES */
    struct dd *norm; /* (rows) norms of the rows in `at`, if the function needs them; else NULL */
};

/* The buffers of a thread. */
struct worker {
    float *u, *v; /* (width) the features of two rows, aligned */
    struct dd value[COLUMNS], norm[COLUMNS];
    double *sum, *error; /* (k) */
};

static struct evaluation plan_evaluation(const struct kernel_rows *rows) {
    const struct kernel_entry *entry = &kernel_table[rows->kernel->type];
    bool distance = entry->function == FUNCTION_DECAY || entry->function == FUNCTION_INVERSE;
    enum sum kind = entry->sums == KERNEL_MINIMA     ? MINIMA
                    : entry->sums == KERNEL_OVERLAPS ? ABSOLUTES
                    : distance                       ? SQUARES
                                                     : PRODUCTS;
    size_t longest = data_longest_row(rows->data),
           both = rows->data->row_start ? 2 * longest : longest;
    return (struct evaluation){rows, kind, entry->function, (both + LANES - 1) / LANES * LANES,
                               NULL};
}

/* Aligns the features of rows i and j: of sparse rows, those that either has. Returns the number of
 * features, padded with zeros to a multiple of LANES. */
static size_t align(const struct data *data, size_t i, size_t j, struct worker *worker) {
    size_t n = data->n_features;
    if (!data->row_start) {
        memcpy(worker->u, data->value + i * n, n * sizeof *worker->u);
        memcpy(worker->v, data->value + j * n, n * sizeof *worker->v);
    } else {
        size_t a = (size_t)data->row_start[i], a_end = (size_t)data->row_start[i + 1];
        size_t b = (size_t)data->row_start[j], b_end = (size_t)data->row_start[j + 1];
        for (n = 0; a < a_end && b < b_end; n++) { /* without branches */
            uint32_t of_u = data->column[a], of_v = data->column[b];
            bool in_u = of_u <= of_v, in_v = of_v <= of_u;
            worker->u[n] = data->value[a] * (float)in_u;
            worker->v[n] = data->value[b] * (float)in_v;
            a += in_u;
            b += in_v;
        }
        for (; a < a_end; n++) {
            worker->u[n] = data->value[a++];
            worker->v[n] = 0;
        }
        for (; b < b_end; n++) {
            worker->u[n] = 0;
            worker->v[n] = data->value[b++];
        }
    }
    for (; n % LANES != 0; n++) {
        worker->u[n] = worker->v[n] = 0;
    }
    return n;
}

static struct dd sum_of(const struct evaluation *evaluation, size_t i, size_t j,
                        struct worker *worker) {
    size_t n = align(evaluation->rows->data, i, j, worker);
    switch (evaluation->kind) {
    case PRODUCTS:
        return sum_products(worker->u, worker->v, n);
    case MINIMA:
        return sum_minima(worker->u, worker->v, n);
    case SQUARES:
        return sum_squares(worker->u, worker->v, n);
    case ABSOLUTES:
        break;
    }
    return sum_absolutes(worker->u, worker->v, n);
}

/* Sets the first n values of the worker, n <= COLUMNS, to those of row i and rows j[0..n). */
static void evaluate(const struct evaluation *evaluation, size_t i, const uint32_t *j, size_t n,
                     struct worker *worker) {
    const struct kernel_rows *rows = evaluation->rows;
    const struct dd none = {0, 0};
    for (size_t c = 0; c < n; c++) {
        size_t other = j[c], later = i > other ? i : other;
        /* a precomputed matrix is symmetric up to rounding; the Gram matrix has the value of the
         * later row */
        worker->value[c] = rows->kernel->type == KERNEL_PRECOMPUTED
                               ? (struct dd){kernel_value(rows, later, rows, i + other - later), 0}
                               : sum_of(evaluation, i, other, worker);
        worker->norm[c] = evaluation->norm ? evaluation->norm[other] : none;
    }
    const struct row_values row = {rows->kernel, evaluation->norm ? evaluation->norm[i] : none,
                                   worker->norm, n, worker->value};
    apply_function(evaluation->function, &row);
}

/* ---- work ---- */

struct work {
    struct evaluation evaluation;
    const uint32_t *at; /* (n) */
    size_t n, k;
    /* (n, n) kernel values in double, for kernel_remainder_dd; NULL: scores are computed */
    const double *K;
    double *rest;
    uint32_t *used; /* (m) rows with coefficients */
    size_t m;
    double *high, *low; /* (m, k) high and low parts of the coefficients */
    struct dd *s;
    size_t first_task; /* of this process */
    size_t n_workers;
    struct worker *workers;
};

static int open_work(struct work *work, struct threads *threads, struct error *err) {
    const struct kernel_rows *rows = work->evaluation.rows;
    work->n_workers = threads_count(threads);
    work->workers = memory_zeros(work->n_workers, sizeof *work->workers, "kernel values", err);
    for (size_t w = 0; w < work->n_workers; w++) {
        struct worker *worker = work->workers ? &work->workers[w] : NULL;
        size_t width = work->evaluation.width;
        if (!worker ||
            !(worker->u = memory_array(width, 2 * sizeof *worker->u, "kernel values", err)) ||
            !(worker->sum = memory_array(work->k, 2 * sizeof *worker->sum, "scores", err))) {
            return -1;
        }
        worker->v = worker->u + width;
        worker->error = worker->sum + work->k;
    }
    if (work->evaluation.function != FUNCTION_RATIO) {
        return 0;
    }
    struct dd *norm = memory_array(rows->data->n_rows, sizeof *norm, "norms", err);
    for (size_t a = 0; norm && a < work->n; a++) {
        size_t i = work->at[a];
        norm[i] = sum_of(&work->evaluation, i, i, work->workers);
    }
    work->evaluation.norm = norm;
    return norm ? 0 : -1;
}

static void close_work(struct work *work) {
    for (size_t w = 0; work->workers && w < work->n_workers; w++) {
        free(work->workers[w].u);
        free(work->workers[w].sum);
    }
    free(work->workers);
    free(work->evaluation.norm);
    free(work->used);
    free(work->high);
    free(work->low);
}

/* ---- scores ---- */

/* sum + lost (k) += value * (high + low) */
DISPATCH static void add_products(struct dd value, const double *restrict high,
                                  const double *restrict low, size_t k, double *restrict sum,
                                  double *restrict error) {
    for (size_t o = 0; o < k; o++) {
        double p = value.hi * high[o], s = sum[o] + p, v = s - sum[o];
        double rest = fma(value.hi, high[o], -p) + (value.hi * low[o] + value.lo * high[o]);
        error[o] += ((sum[o] - (s - v)) + (p - v)) + rest;
        sum[o] = s;
    }
}

/* s (k) += the sums of the worker, which are reset: sums of fewer terms have smaller errors. */
static void flush_sums(struct worker *worker, size_t k, struct dd *s) {
    for (size_t o = 0; o < k; o++) {
        s[o] = dd_add(s[o], dd_two_sum(worker->sum[o], worker->error[o]));
        worker->sum[o] = worker->error[o] = 0;
    }
}

static void score_rows(void *argument, size_t number, size_t which) {
    struct work *work = argument;
    struct worker *worker = &work->workers[which];
    size_t first = (work->first_task + number) * ROWS, k = work->k;
    for (size_t a = first; a < first + ROWS && a < work->n; a++) {
        memset(worker->sum, 0, k * sizeof *worker->sum);
        memset(worker->error, 0, k * sizeof *worker->error);
        for (size_t c = 0; c < work->m; c += COLUMNS) {
            size_t n = work->m - c < COLUMNS ? work->m - c : COLUMNS;
            evaluate(&work->evaluation, work->at[a], work->used + c, n, worker);
            for (size_t j = 0; j < n; j++) {
                size_t from = (c + j) * k;
                add_products(worker->value[j], work->high + from, work->low + from, k, worker->sum,
                             worker->error);
                if ((j + 1) % TERMS == 0 || j + 1 == n) {
                    flush_sums(worker, k, work->s + a * k);
                }
            }
        }
    }
}

/* Lists the rows with coefficients, and copies these. */
static int copy_coefficients(struct work *work, const struct dd *b, struct error *err) {
    size_t n = work->n, k = work->k;
    work->used = memory_array(n, sizeof *work->used, "coefficients", err);
    work->high = memory_array(n, k * sizeof *work->high, "coefficients", err);
    work->low = memory_array(n, k * sizeof *work->low, "coefficients", err);
    if (!work->used || !work->high || !work->low) {
        return -1;
    }
    for (size_t a = 0; a < n; a++) {
        bool any = false;
        for (size_t o = 0; o < k; o++) {
            struct dd own = b[a * k + o];
            any = any || own.hi != 0;
            work->high[work->m * k + o] = own.hi;
            work->low[work->m * k + o] = own.lo;
        }
        if (any) {
            work->used[work->m++] = work->at[a];
        }
    }
    return 0;
}

int kernel_scores_dd(const struct kernel_rows *rows, const uint32_t *at, size_t n,
                     const struct dd *b, size_t k, struct dd *s, struct threads *threads,
                     struct error *err) {
    struct work work = {.evaluation = plan_evaluation(rows), .at = at, .n = n, .k = k, .s = s};
    size_t tasks = (n + ROWS - 1) / ROWS;
    size_t ranks = cluster_size(rows->cluster), rank = cluster_rank(rows->cluster);
    int status =
        open_work(&work, threads, err) < 0 || copy_coefficients(&work, b, err) < 0 ? -1 : 0;
    if (status == 0) {
        memset(s, 0, n * k * sizeof *s); /* rows of other processes count as 0 in the sum */
        work.first_task = tasks * rank / ranks;
        threads_run(threads, tasks * (rank + 1) / ranks - work.first_task, score_rows, &work);
        cluster_sum(rows->cluster, &s->hi, 2 * n * k);
    }
    close_work(&work);
    return status;
}

/* ---- errors of values in double ---- */

static void find_rest(void *argument, size_t a, size_t which) {
    struct work *work = argument;
    struct worker *worker = &work->workers[which];
    for (size_t c = 0; c < work->n; c += COLUMNS) {
        size_t n = work->n - c < COLUMNS ? work->n - c : COLUMNS, from = a * work->n + c;
        evaluate(&work->evaluation, work->at[a], work->at + c, n, worker);
        for (size_t j = 0; j < n; j++) {
            struct dd value = worker->value[j];
            work->rest[from + j] = (value.hi - work->K[from + j]) + value.lo;
        }
    }
}

int kernel_remainder_dd(const struct kernel_rows *rows, const uint32_t *at, size_t n,
                        const double *K, double *rest, struct threads *threads, struct error *err) {
    struct work work = {
        .evaluation = plan_evaluation(rows), .at = at, .n = n, .k = 1, .K = K, .rest = rest};
    int status = open_work(&work, threads, err);
    if (status == 0) {
        threads_run(threads, n, find_rest, &work);
    }
    close_work(&work);
    return status;
}

/* ---- bounds ---- */

/* The bound, derived in units of u^2 relative to the sum of magnitudes. A lane of p terms loses at
 * most p / u, or with the low parts of squares 10 / u, which are themselves summed with p + 1
 * roundings; a single term loses nothing. Adding the 8 lanes adds 24, and for squares 24 more.
 * Relative to |x||z| (kernel_rounding), a polynomial has `degree` times that error, 8 from its base
 * and 10 from its products. A ratio a / (s - a), |a| <= s / 2, has 5 times that and 30; exp(-t) has
 * t exp(-t) < 1 times that and the 2^-90 of the exponential, and tanh likewise. The sums of TERMS
 * products in a score lose TERMS + 2 times 1 / u, summed with TERMS + 1 roundings, and 7; and 3 for
 * each addition of two of them. */
double kernel_rounding_dd(const struct kernel_rows *rows, size_t m) {
    const double unit = 0x1p-106, exponential = 0x1p-88;
    struct evaluation evaluation = plan_evaluation(rows);
    enum kernel_type type = rows->kernel->type;
    double terms = (double)(evaluation.width / LANES) * (evaluation.kind == SQUARES ? 2 : 1);
    double sums =
        (terms > 1 ? (terms + 1) * (terms + 10) : 0) + (evaluation.kind == SQUARES ? 48 : 24);
    double blocks = (double)m / TERMS + (double)m / COLUMNS + 2;
    double score = (TERMS + 1) * (TERMS + 2) + 7 + 3 * blocks;
    bool powers = evaluation.function == FUNCTION_POWER;
    bool exponentials =
        evaluation.function == FUNCTION_DECAY || evaluation.function == FUNCTION_TANH;
    double value = powers                       ? fmax(1, rows->kernel->degree) * (sums + 18) * unit
                   : type == KERNEL_PRECOMPUTED ? 0
                                                : (8 * sums + 32) * unit;
    return value + (exponentials ? exponential : 0) + score * unit;
}

double kernel_work_dd(const struct kernel_rows *rows, size_t n, size_t m, size_t k) {
    const double value = 200, output = 1; /* measured, as are the costs of a feature */
    double feature = rows->data->row_start ? 5 : 0.7;
    double length = (double)data_values(rows->data) / fmax(1, (double)rows->data->n_rows);
    return (double)n * (double)m * (value + feature * length + output * (double)k);
}
