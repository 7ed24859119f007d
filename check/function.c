/* Norms and scores by plain loops: for kernels, one row of kernel values at a time, n_all^2 values
 * in total. */
#include "check/function.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

/* A ball of zero bits is 0. */
static struct ball *make_balls(size_t n, size_t k, struct error *err) {
    return memory_zeros(n, k * sizeof(struct ball), "a function", err);
}

int function_create(struct function *f, struct function *g, const struct model *model,
                    const struct points *points, double constant, struct error *err) {
    size_t k = model->n_outputs, d = model->n_columns;
    int half = points->half_unit;
    *f = *g = (struct function){.k = k, .norm = ball_of(0)};
    g->coefficients = make_balls(points->n, k, err);
    f->scores = make_balls(points->n, k, err);
    f->bias = model->bias ? make_balls(1, k, err) : NULL;
    if (model->weights) {
        f->weights = make_balls(points->width > d ? points->width : d, k, err);
    } else {
        f->coefficients = make_balls(points->n_all, k, err);
    }
    if (!g->coefficients || !f->scores || (model->bias && !f->bias) ||
        (!f->weights && !f->coefficients)) {
        return -1;
    }
    for (size_t j = 0; f->weights && j < d * k; j++) {
        f->weights[j] = ball_scale(ball_of(model->weights[j]), -half);
    }
    for (size_t j = 0; f->coefficients && j < model->vectors.n_rows * k; j++) {
        struct ball *to = &f->coefficients[points->point[j / k] * k + j % k];
        *to = ball_add(*to, ball_scale(ball_of(model->coefficients[j]), -2 * half));
    }
    for (size_t c = 0; f->bias && c < k; c++) {
        f->bias[c] = ball_of(model->bias[c]);
        if (constant > 0) {
            struct ball part = ball_divide(f->bias[c], ball_scale(ball_of(constant), half));
            f->norm = ball_add(f->norm, ball_multiply(part, part));
        }
    }
    return 0;
}

void function_free(struct function *function) {
    free(function->weights);
    free(function->coefficients);
    free(function->bias);
    free(function->scores);
    *function = (struct function){0};
}

/* ---- linear ---- */

/* The target of the values of a row: weights, or sums with them. */
struct row_work {
    struct function *function;
    const struct ball *coefficients; /* (k) of the row */
    struct ball_sum *sum;            /* (k) */
};

static void add_to_weights(void *context, size_t column, double value) {
    const struct row_work *work = context;
    size_t k = work->function->k;
    for (size_t c = 0; c < k; c++) {
        struct ball *weight = &work->function->weights[column * k + c];
        struct ball part = ball_multiply(work->coefficients[c], ball_of(value));
        *weight = ball_add(*weight, part);
    }
}

static void add_to_sums(void *context, size_t column, double value) {
    const struct row_work *work = context;
    size_t k = work->function->k;
    for (size_t c = 0; c < k; c++) {
        ball_sum_product(&work->sum[c], work->function->weights[column * k + c], ball_of(value));
    }
}

/* True if a row of coefficients is not 0; NULL is. */
static bool any_of(const struct function *function, const struct ball *row) {
    bool any = false;
    for (size_t c = 0; row && c < function->k; c++) {
        any = any || !ball_is_zero(row[c]);
    }
    return any;
}

/* The weights of g. */
static int add_rows(struct function *g, const struct points *points, struct error *err) {
    g->weights = make_balls(points->width, g->k, err);
    for (size_t i = 0; g->weights && i < points->n; i++) {
        struct row_work work = {.function = g, .coefficients = g->coefficients + i * g->k};
        if (any_of(g, work.coefficients)) {
            points_each(points, i, add_to_weights, &work);
        }
    }
    return g->weights ? 0 : -1;
}

static void add_weights_norm(struct function *function, size_t width) {
    for (size_t j = 0; j < width * function->k; j++) {
        struct ball weight = function->weights[j];
        if (!ball_is_zero(weight)) {
            function->norm = ball_add(function->norm, ball_multiply(weight, weight));
        }
    }
}

static int score_rows(struct function *function, const struct points *points, struct error *err) {
    size_t k = function->k;
    struct ball_sum *sum = memory_array(k, sizeof *sum, "scores", err);
    for (size_t i = 0; sum && i < points->n; i++) {
        struct row_work work = {.function = function, .sum = sum};
        memset(sum, 0, k * sizeof *sum);
        points_each(points, i, add_to_sums, &work);
        for (size_t c = 0; c < k; c++) {
            function->scores[i * k + c] = ball_sum_end(&sum[c]);
        }
    }
    free(sum);
    return sum ? 0 : -1;
}

static int evaluate_linear(struct function *f, struct function *g, const struct points *points,
                           size_t d, bool with_g, struct error *err) {
    add_weights_norm(f, d);
    if (score_rows(f, points, err) < 0 || add_rows(g, points, err) < 0) {
        return -1;
    }
    add_weights_norm(g, points->width);
    return with_g ? score_rows(g, points, err) : 0;
}

/* ---- kernels ---- */

enum { BLOCK = 16 };

struct kernel_work {
    const struct points *points;
    struct function *f, *g;
    bool with_g;
    struct ball *rows; /* (n, k) coefficients of g, aggregated at the first of equal rows */
    uint32_t *used;    /* points with coefficients in f or g */
    size_t n_used;
    struct ball *f_norm, *g_norm; /* contribution of each point */
    double *x;                    /* (workers, width) */
    struct ball_sum *sums;        /* (workers, 2 k) */
};

/* Aggregates over equal rows, so that coefficients that cancel leave no rounding errors. */
static void join_rows(struct kernel_work *work) {
    size_t k = work->g->k;
    for (size_t i = 0; i < work->points->n; i++) {
        for (size_t c = 0; c < k; c++) {
            struct ball *to = &work->rows[work->points->first[i] * k + c];
            *to = ball_add(*to, work->g->coefficients[i * k + c]);
        }
    }
}

/* The coefficients of g at a point; NULL: g has coefficients only at training rows. */
static const struct ball *row_of_g(const struct kernel_work *work, size_t p) {
    return p < work->points->n ? work->rows + p * work->g->k : NULL;
}

/* Computes the scores of a point and its contribution to the norms. */
static void evaluate_point(struct kernel_work *work, size_t p, double *x, struct ball_sum *sums) {
    size_t k = work->f->k, n = work->points->n;
    memset(sums, 0, 2 * k * sizeof *sums);
    points_load(work->points, p, x);
    for (size_t u = 0; u < work->n_used; u++) {
        size_t q = work->used[u];
        struct ball value = points_kernel(work->points, p, x, q);
        value = ball_scale(value, 2 * work->points->half_unit);
        const struct ball *of_f = work->f->coefficients + q * k, *of_g = row_of_g(work, q);
        for (size_t c = 0; c < k; c++) {
            ball_sum_product(&sums[c], of_f[c], value);
            if (of_g) {
                ball_sum_product(&sums[k + c], of_g[c], value);
            }
        }
    }
    const struct ball *of_f = work->f->coefficients + p * k, *of_g = row_of_g(work, p);
    for (size_t c = 0; c < k; c++) {
        struct ball s = ball_sum_end(&sums[c]), t = ball_sum_end(&sums[k + c]);
        work->f_norm[p] = ball_add(work->f_norm[p], ball_multiply(s, of_f[c]));
        if (of_g) {
            work->g_norm[p] = ball_add(work->g_norm[p], ball_multiply(t, of_g[c]));
        }
        if (p < n) {
            work->f->scores[p * k + c] = s;
        }
        if (p < n && work->with_g) {
            work->g->scores[p * k + c] = t;
        }
    }
}

static void evaluate_block(void *argument, size_t task, size_t worker) {
    struct kernel_work *work = argument;
    size_t first = task * BLOCK, n = work->points->n_all;
    for (size_t p = first; p < n && p < first + BLOCK; p++) {
        evaluate_point(work, p, work->x + worker * work->points->width,
                       work->sums + worker * 2 * work->f->k);
    }
}

static int evaluate_kernel(struct function *f, struct function *g, const struct points *points,
                           bool with_g, struct threads *threads, struct error *err) {
    size_t n = points->n_all, workers = threads_count(threads);
    struct kernel_work work = {.points = points, .f = f, .g = g, .with_g = with_g};
    void *block = ARRAYS_CREATE(
        "a function", err, ARRAYS(points->n * g->k, struct ball, &work.rows),
        ARRAYS(n, uint32_t, &work.used), ARRAYS(n, struct ball, &work.f_norm, &work.g_norm),
        ARRAYS(workers * points->width, double, &work.x),
        ARRAYS(workers * 2 * f->k, struct ball_sum, &work.sums));
    if (!block) {
        return -1;
    }
    join_rows(&work);
    for (size_t p = 0; p < n; p++) {
        if (any_of(f, f->coefficients + p * f->k) || any_of(g, row_of_g(&work, p))) {
            work.used[work.n_used++] = (uint32_t)p;
        }
    }
    threads_run(threads, (n + BLOCK - 1) / BLOCK, evaluate_block, &work);
    for (size_t p = 0; p < n; p++) {
        f->norm = ball_add(f->norm, work.f_norm[p]);
        g->norm = ball_add(g->norm, work.g_norm[p]);
    }
    free(block);
    return 0;
}

/* ---- both ---- */

/* Adds the contribution of the constant feature to g. */
static void add_constant(struct function *g, const struct points *points, double constant,
                         bool with_g) {
    size_t k = g->k;
    struct ball own = ball_scale(ball_of(constant), points->half_unit);
    for (size_t c = 0; constant > 0 && c < k; c++) {
        struct ball weight = ball_of(0);
        for (size_t i = 0; i < points->n; i++) {
            weight = ball_add(weight, g->coefficients[i * k + c]);
        }
        weight = ball_multiply(weight, own);
        g->norm = ball_add(g->norm, ball_multiply(weight, weight));
        struct ball part = ball_multiply(weight, own);
        for (size_t i = 0; with_g && i < points->n; i++) {
            g->scores[i * k + c] = ball_add(g->scores[i * k + c], part);
        }
    }
}

int function_evaluate(struct function *f, struct function *g, const struct points *points,
                      double constant, bool with_g, struct threads *threads, struct error *err) {
    size_t k = f->k;
    if (with_g) {
        g->scores = make_balls(points->n, k, err);
        if (!g->scores) {
            return -1;
        }
    }
    size_t d = points->width;
    if ((f->weights ? evaluate_linear(f, g, points, d, with_g, err)
                    : evaluate_kernel(f, g, points, with_g, threads, err)) < 0) {
        return -1;
    }
    add_constant(g, points, constant, with_g);
    for (size_t i = 0; f->bias && i < points->n * k; i++) {
        f->scores[i] = ball_add(f->scores[i], f->bias[i % k]);
    }
    return 0;
}
